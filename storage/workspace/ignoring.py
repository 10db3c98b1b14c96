"""What a folder's ``.gitignore`` files leave out, as git reads them (gitignore(5)).

A pattern is matched against one entry at a time: whoever walks a tree never enters an ignored folder, so nothing
below it is asked. Every expression made here runs in time linear in its star-separated pieces: a tree's own patterns
are as foreign as its files.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final, NamedTuple

MOST_PATTERNS: Final = 20_000
"""Patterns of one file that count."""

LONGEST: Final = 4_096
"""Characters of a pattern; a longer one matches nothing."""

_CLASSES: Final = {
    "alpha": "a-zA-Z",
    "digit": "0-9",
    "alnum": "a-zA-Z0-9",
    "upper": "A-Z",
    "lower": "a-z",
    "space": r"\s",
    "blank": r" \t",
    "punct": r"!-/:-@\[-`{-~",
    "xdigit": "0-9A-Fa-f",
    "word": r"\w",
}


class _Never(Exception):
    """A pattern git would never match."""


class _Rule(NamedTuple):
    """One line: ``whole`` patterns are matched against the path from the rules' own folder, others the last name."""

    place: int
    keeps: bool
    folders: bool
    whole: bool
    pattern: re.Pattern[str] | None


class Rules:
    """The patterns of one file. The last that matches decides."""

    def __init__(self, lines: Iterable[str]) -> None:
        self._names: dict[str, list[_Rule]] = {}
        self._endings: dict[str, list[_Rule]] = {}
        self._others: list[_Rule] = []
        for place, line in enumerate(lines):
            if place >= MOST_PATTERNS:
                break
            self._add(place, line)
        self._others.reverse()

    @classmethod
    def of(cls, text: str) -> Rules:
        """The rules a file's text states."""
        return cls(line.removesuffix("\r") for line in text.removeprefix("\ufeff").split("\n"))

    def __bool__(self) -> bool:
        return bool(self._names or self._endings or self._others)

    def decide(self, path: str, name: str, folder: bool) -> bool | None:
        """Whether an entry is ignored; ``None`` where no pattern says. ``path``: from the rules' own folder."""
        best: _Rule | None = None
        for rule in self._names.get(name, ()):
            if folder or not rule.folders:
                best = rule
        dot = name.rfind(".")
        if dot >= 0 and self._endings:
            for rule in self._endings.get(name[dot:], ()):
                if (folder or not rule.folders) and (best is None or rule.place > best.place):
                    best = rule
        for rule in self._others:
            if best is not None and rule.place < best.place:
                break
            fits = rule.pattern.match(path if rule.whole else name) if rule.pattern is not None else None
            if fits and (folder or not rule.folders):
                best = rule
                break
        return None if best is None else not best.keeps

    def _add(self, place: int, line: str) -> None:
        if not line or line.startswith("#"):
            return
        line = _trimmed(line)
        keeps = line.startswith("!")
        line = line[1:] if keeps else line
        folders = line.endswith("/")
        line = line[:-1] if folders else line
        if not line or len(line) > LONGEST:
            return
        whole = "/" in line
        if not whole and not set(line) & set("*?[\\"):
            self._names.setdefault(line, []).append(_Rule(place, keeps, folders, False, None))
            return
        if not whole and re.fullmatch(r"\*\.[\w-]+", line):
            self._endings.setdefault(line[1:], []).append(_Rule(place, keeps, folders, False, None))
            return
        try:
            pattern = re.compile(_expression(line.removeprefix("/")), re.DOTALL)
        except (_Never, re.error, RecursionError):
            return
        self._others.append(_Rule(place, keeps, folders, whole, pattern))


def _trimmed(line: str) -> str:
    """Without the blanks at its end, but for one behind a backslash."""
    bare = line.rstrip(" ")
    slashes = len(bare) - len(bare.rstrip("\\"))
    return bare + " " if slashes % 2 and len(bare) < len(line) else bare


def _expression(pattern: str) -> str:
    """A pattern as an expression for a whole path without slashes at its ends.

    A star takes the nearest place where what follows it fits, for good: where each piece has one length, going back
    would find nothing more.
    """
    parts = pattern.split("/")
    groups: list[list[str]] = [[]]
    for part in parts:
        if part == "**":
            groups.append([])
        else:
            groups[-1].append(_segment(part))
    if len(groups) == 1:
        return "/".join(groups[0]) + r"\Z"
    head, *middles, tail = groups
    text = "".join(f"{segment}/" for segment in head)
    for middle in middles:
        if middle:
            text += f"(?>(?:[^/]++/)*?{''.join(f'{segment}/' for segment in middle)})"
    if not tail:
        return text + r".+\Z"
    return text + "(?:[^/]++/)*" + "/".join(tail) + r"\Z"


def _segment(part: str) -> str:
    """What stands between two slashes. Raises :class:`_Never`."""
    pieces = [""]
    at = 0
    while at < len(part):
        character = part[at]
        at += 1
        if character == "*":
            pieces.append("")
        elif character == "?":
            pieces[-1] += "[^/]"
        elif character == "[":
            text, at = _bracket(part, at)
            pieces[-1] += text
        elif character == "\\":
            if at == len(part):
                raise _Never
            pieces[-1] += re.escape(part[at])
            at += 1
        else:
            pieces[-1] += re.escape(character)
    first, *others = pieces
    if not others:
        return first
    *middles, last = others
    return first + "".join(f"(?>[^/]*?{piece})" for piece in middles if piece) + f"[^/]*{last}(?![^/])"


def _bracket(part: str, at: int) -> tuple[str, int]:
    """A class of characters from behind its ``[`` on, and where it ends."""
    negated = part[at : at + 1] in ("!", "^") and at < len(part)
    at += negated
    items: list[str] = []
    first = True
    while True:
        if at >= len(part):
            raise _Never
        character = part[at]
        if character == "]" and not first:
            break
        first = False
        if part.startswith("[:", at) and (end := part.find(":]", at)) > 0:
            known = _CLASSES.get(part[at + 2 : end])
            if known is None:
                raise _Never
            items.append(known)
            at = end + 2
            continue
        low, at = _member(part, at)
        if part[at : at + 1] == "-" and part[at + 1 : at + 2] not in ("]", ""):
            high, at = _member(part, at + 1)
            if low <= high:
                items.append(f"{re.escape(low)}-{re.escape(high)}")
        else:
            items.append(re.escape(low))
    if not items:
        return ("[^/]" if negated else "(?!)"), at + 1
    inside = "".join(items)
    return (f"[^/{inside}]" if negated else f"(?!/)[{inside}]"), at + 1


def _member(part: str, at: int) -> tuple[str, int]:
    if part[at] == "\\":
        at += 1
        if at >= len(part):
            raise _Never
    return part[at], at + 1
