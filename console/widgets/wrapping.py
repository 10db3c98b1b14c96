"""Breaking text into rows of a given width, only where it is looked at.

A *piece* is one line of a text, or a part of a very long one. Its rows are (start, end) offsets. Pieces of plain
ASCII longer than :data:`LONG` are broken by arithmetic alone, so a line of a megabyte costs nothing to show.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import overload

from console.widgets.ink import Ink, Line, cells, take

LONG = 4_096
"""Characters from which a line is broken at the edge instead of between words."""

Rows = Sequence[tuple[int, int]]

_WORD = re.compile(r"\S+\s*|\s+")


class _Even(Sequence[tuple[int, int]]):
    """Rows of equal length, computed when asked for."""

    def __init__(self, length: int, room: int) -> None:
        self._length = length
        self._room = room

    def __len__(self) -> int:
        return max(-(-self._length // self._room), 1)

    @overload
    def __getitem__(self, index: int) -> tuple[int, int]: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[tuple[int, int]]: ...
    def __getitem__(self, index: int | slice) -> tuple[int, int] | Sequence[tuple[int, int]]:
        if isinstance(index, slice):
            return [self[number] for number in range(*index.indices(len(self)))]
        if not 0 <= index < len(self):
            raise IndexError(index)
        start = index * self._room
        return start, min(start + self._room, self._length)


def pieces(text: str) -> list[str]:
    """The lines of a text, with very long ones that are not ASCII cut so that none is slow to measure."""
    lines = text.split("\n")
    if all(len(line) <= LONG or line.isascii() for line in lines):
        return lines
    return [part for line in lines for part in _parts(line)]


def _parts(line: str) -> Iterable[str]:
    if len(line) <= LONG or line.isascii():
        return (line,)
    return (line[start : start + LONG] for start in range(0, len(line), LONG))


def rows(piece: str, room: int) -> Rows:
    """How a piece is broken into rows of at most ``room`` cells: between words, or within one that is too long."""
    room = max(room, 1)
    if piece.isascii():
        if len(piece) <= room:
            return ((0, len(piece)),)
        if len(piece) > LONG:
            return _Even(len(piece), room)
    elif cells(piece) <= room:
        return ((0, len(piece)),)
    return _between_words(piece, room)


def _between_words(piece: str, room: int) -> list[tuple[int, int]]:
    broken: list[tuple[int, int]] = []
    start = used = 0
    for match in _WORD.finditer(piece):
        word = match.group()
        visible = cells(word.rstrip())
        if used and used + visible > room:
            broken.append((start, match.start()))
            start, used = match.start(), 0
        while visible > room:
            head = take(piece[start : match.end()], room)
            slash = head.rfind("/") + 1
            if slash > len(head) // 2:
                head = head[:slash]
            broken.append((start, start + max(len(head), 1)))
            start += max(len(head), 1)
            rest = piece[start : match.end()]
            visible, word = cells(rest.rstrip()), rest
        used += cells(word)
    broken.append((start, len(piece)))
    return broken


def wrapped(line: Line, room: int, indent: int = 0) -> list[Line]:
    """A line of inks broken into several of at most ``room`` cells; those after the first are indented."""
    out: list[Line] = []
    current: list[Ink] = []
    left = room
    for ink in line:
        text = ink.text
        while text:
            part = take(text, left)
            if part and (len(part) == len(text) or left > room // 3 or not current):
                at = len(part) if len(part) == len(text) else _break_at(part)
                current.append(ink._replace(text=text[:at]))
                left -= cells(text[:at])
                text = text[at:]
            if text:
                out.append(tuple(current))
                current = [Ink("text", " " * indent)] if indent else []
                left = max(room - indent, 1)
                if not take(text, left):
                    return out
    out.append(tuple(current))
    return out


def _break_at(part: str) -> int:
    """Where to break a part that is followed by more: after its last blank, slash or hyphen, if not too early."""
    for sign in (" ", "/", "-"):
        at = part.rfind(sign) + 1
        if at > len(part) // 2:
            return at
    return len(part)
