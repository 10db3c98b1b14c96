"""Fewer bytes for the same picture: what a terminal is told about colours, told only where it changes.

Each run of letters comes with its whole style before it and a reset behind it. On a line of six runs that is ten times
what the letters take, and over a slow line it is what one waits for. Here styles are followed (ECMA-48, SGR), and only
what differs from the style before is sent; of blanks only what can be seen of them. Where it is shorter still, all
cells of one look are sent together, each run with its place.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING, Final

from rich.cells import cell_len

if TYPE_CHECKING:
    from textual.driver import Driver

_STYLE: Final = re.compile(r"\x1b\[([0-9;]*)m")
_PLACE: Final = re.compile(r"(?:\x1b\[[0-9;]*H|[\r\n])*\Z")
"""What only moves the cursor: the style does not matter to it."""

_PLACES: Final = re.compile(r"\x1b\[(\d*);(\d*)H")
_TOKENS: Final = re.compile(r"(\x1b\[[0-9;]*m|\x1b\[\d*;\d*H|\n)")

_OFF: Final = {"1": "22", "2": "22", "3": "23", "4": "24", "5": "25", "7": "27", "8": "28", "9": "29"}
"""What ends an attribute, by what begins it."""

_SEEN_ON_BLANKS: Final = frozenset("4579")
"""Attributes that show where there is no letter."""


@dataclass(frozen=True, slots=True)
class Look:
    """How letters look: attributes, foreground and background, as the parameters that set them (none: default)."""

    attributes: frozenset[str] = frozenset()
    ink: str = ""
    ground: str = ""


PLAIN: Final = Look()


class Unknown(ValueError):
    """A style says something that is not followed here."""


@lru_cache(maxsize=4096)
def after(look: Look, parameters: str) -> Look:
    """The look after a sequence; raises :class:`Unknown`."""
    codes = iter(parameters.split(";"))
    for code in codes:
        if code in ("", "0"):
            look = PLAIN
        elif code in _OFF:
            look = replace(look, attributes=look.attributes | {code})
        elif code in _OFF.values():
            look = replace(look, attributes=frozenset(on for on in look.attributes if _OFF[on] != code))
        elif code in ("38", "48"):
            colour = _colour(code, codes)
            look = replace(look, ink=colour) if code == "38" else replace(look, ground=colour)
        elif code == "39" or (len(code) == 2 and code[0] in "39" and code[1] in "01234567"):
            look = replace(look, ink="" if code == "39" else code)
        elif code == "49" or (len(code) in (2, 3) and code[:-1] in ("4", "10") and code[-1] in "01234567"):
            look = replace(look, ground="" if code == "49" else code)
        else:
            raise Unknown(parameters)
    return look


def _colour(code: str, codes: Iterator[str]) -> str:
    kind = next(codes, "")
    count = {"5": 1, "2": 3}.get(kind)
    if count is None:
        raise Unknown(kind)
    return ";".join([code, kind, *(next(codes, "0") for _ in range(count))])


@lru_cache(maxsize=4096)
def change(now: Look, wanted: Look) -> str:
    """The shortest sequence that makes one look the other."""
    if now == wanted:
        return ""
    if wanted == PLAIN:
        return "\x1b[m"
    gone = now.attributes - wanted.attributes
    ends = sorted({_OFF[on] for on in gone})
    # What ends bold ends faint too: what is still wanted of the two is begun again.
    begun = sorted(on for on in wanted.attributes if on not in now.attributes or _OFF[on] in ends)
    steps = [*ends, *begun]
    if now.ink != wanted.ink:
        steps.append(wanted.ink or "39")
    if now.ground != wanted.ground:
        steps.append(wanted.ground or "49")
    whole = ["0", *sorted(wanted.attributes), *(colour for colour in (wanted.ink, wanted.ground) if colour)]
    return f"\x1b[{min(';'.join(steps), ';'.join(whole), key=len)}m"


def lean(data: str) -> str:
    """The same picture in fewer bytes. It begins and ends in the plain look, as what is given must, too."""
    parts = _STYLE.split(data)
    if len(parts) < 3:
        return data
    out: list[str] = []
    now = wanted = PLAIN
    try:
        for index, part in enumerate(parts):
            if index % 2:
                wanted = after(wanted, part)
            elif part:
                if not _PLACE.match(part):
                    # Letters of blanks cannot be seen: any ink does that is there already.
                    meant = _on_blanks(now, wanted) if part.isspace() and part.strip(" ") == "" else wanted
                    out.append(change(now, meant))
                    now = meant
                out.append(part)
    except Unknown:
        return data
    if wanted != PLAIN:
        return data
    out.append(change(now, PLAIN))
    return "".join(out)


def _on_blanks(now: Look, wanted: Look) -> Look:
    """The look nearest to the present one in which blanks look as they should."""
    if (now.attributes | wanted.attributes) & _SEEN_ON_BLANKS:
        return wanted
    return replace(now, ground=wanted.ground)


@dataclass(slots=True)
class Run:
    """Letters of one look, from a cell on (as the terminal counts, from 1)."""

    line: int
    column: int
    look: Look
    text: str
    end: int


def by_look(data: str) -> str | None:
    """The same cells, all of one look together: to go to another cell is shorter than to take up another colour.

    ``None`` where that cannot be done: what is given holds more than letters, looks and places, or a cell twice.
    """
    runs = _runs(data)
    if runs is None:
        return None
    groups: dict[Look, list[Run]] = {}
    for run in runs:
        groups.setdefault(run.look, []).append(run)
    out: list[str] = []
    now = PLAIN
    for look, members in groups.items():
        out.append(change(now, look))
        now = look
        out += [f"\x1b[{run.line};{run.column}H{run.text}" for run in members]
    last = _PLACES.search(data, max(data.rfind("\x1b"), 0))
    return "".join([*out, change(now, PLAIN), last[0] if last and last.end() == len(data) else ""])


def _runs(data: str) -> list[Run] | None:
    runs: list[Run] = []
    taken: dict[int, int] = {}
    look, line, column = PLAIN, 0, 0
    for token in _TOKENS.split(data):
        if not token:
            continue
        if place := _PLACES.fullmatch(token):
            line, column = int(place[1] or 1), int(place[2] or 1)
        elif style := _STYLE.fullmatch(token):
            look = after(look, style[1])
        elif token == "\n":
            line = 0
        elif not line or not token.isprintable() or column <= taken.get(line, 0):
            return None
        else:
            end = column + cell_len(token)
            _add(runs, Run(line, column, look, token, end))
            taken[line] = end - 1
            column = end
    return runs if look == PLAIN else None


def _add(runs: list[Run], run: Run) -> None:
    """Go on with the run before where that is next to it and may have the same look."""
    before = runs[-1] if runs else None
    if before is not None and (before.line, before.end) == (run.line, run.column):
        blank = run.text.strip(" ") == "" and _on_blanks(before.look, run.look) == before.look
        if before.look == run.look or blank:
            before.text += run.text
            before.end = run.end
            return
    runs.append(run)


def least(data: str) -> str:
    """The shorter of the two."""
    shorter = lean(data)
    try:
        other = by_look(data)
    except Unknown:
        return shorter
    return other if other is not None and len(other) < len(shorter) else shorter


def lean_driver(base: type[Driver]) -> type[Driver]:
    """The driver of a terminal, made to write less."""

    class Lean(base):  # type: ignore[misc, valid-type]
        """See :func:`least`."""

        def write(self, data: str) -> None:
            super().write(least(data))

    return Lean
