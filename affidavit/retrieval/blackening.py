"""What may be shown of a text, and which bytes of the text that is.

A redacted range is replaced by a mark that says what kind of thing stood there. What is kept of a text are byte ranges
of it; :func:`visible` makes the text a model sees from these and nothing else, so that anybody who has the source can
make it again.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from typing import Final, NamedTuple

GAP: Final = "[…]"
"""Stands on a line of its own where lines of the source were left out, at the beginning and end too."""

Range = tuple[int, int]


class Black(NamedTuple):
    """Bytes ``start`` to ``end`` that are replaced by ``mark``."""

    start: int
    end: int
    mark: str


class Piece(NamedTuple):
    """A run of a text: bytes ``start`` to ``end`` of it, shown as ``shown``."""

    start: int
    end: int
    shown: str
    black: bool


def blacks(redactions: Sequence[tuple[int, int, str]], data: bytes) -> list[Black]:
    """Redactions (start, end, kind) of a text as ranges that are apart, in order and of whole characters; overlapping
    ones are one, with the first's mark."""
    apart: list[Black] = []
    for start, end, kind in sorted((max(a, 0), min(b, len(data)), kind) for a, b, kind in redactions):
        if start >= end:
            continue
        while start > 0 and data[start] & 0xC0 == 0x80:
            start -= 1
        while end < len(data) and data[end] & 0xC0 == 0x80:
            end += 1
        if apart and start < apart[-1].end:
            apart[-1] = apart[-1]._replace(end=max(end, apart[-1].end))
        else:
            apart.append(Black(start, end, f"⟨{_word(kind)} redacted⟩"))
    return apart


def _word(kind: str) -> str:
    """A kind as it stands in a mark: letters, digits and hyphens only, whatever it came as."""
    return "".join(sign for sign in kind[:24] if sign.isascii() and (sign.isalnum() or sign in "-_")) or "text"


def pieces(data: bytes, black: Sequence[Black], start: int = 0, end: int | None = None) -> list[Piece]:
    """Bytes ``start`` to ``end`` of a text as runs that are shown and marks; half a redacted range is a whole mark."""
    end = len(data) if end is None else end
    runs: list[Piece] = []
    at = start
    for one in black:
        if one.end <= start or one.start >= end:
            continue
        if one.start > at:
            runs.append(Piece(at, one.start, _text(data[at : one.start]), False))
        runs.append(Piece(max(one.start, start), min(one.end, end), one.mark, True))
        at = min(one.end, end)
    if at < end:
        runs.append(Piece(at, end, _text(data[at:end]), False))
    return runs


def visible(data: bytes, kept: Sequence[Range], redactions: Sequence[tuple[int, int, str]] = ()) -> str:
    """What a model sees of a text of which the ranges ``kept`` (in order, apart) are kept.

    A gap is told by :data:`GAP` on a line of its own.
    """
    black = blacks(redactions, data)
    shown: list[str] = []
    at = 0
    for start, end in kept:
        if start > at:
            shown.append(GAP + "\n" if not shown else _break(shown[-1]) + GAP + "\n")
        shown.append("".join(piece.shown for piece in pieces(data, black, start, end)))
        at = end
    if at < len(data):
        shown.append((_break(shown[-1]) if shown else "") + GAP)
    return "".join(shown)


def _break(before: str) -> str:
    return "" if not before or before.endswith("\n") else "\n"


def _text(data: bytes) -> str:
    return data.decode("utf-8", "replace")


class Lines:
    """A text as it is shown, line by line, with the bytes of the source each line is."""

    def __init__(self, data: bytes, redactions: Sequence[tuple[int, int, str]] = ()) -> None:
        self.size = len(data)
        self._pieces = pieces(data, blacks(redactions, data))
        self.text = "".join(piece.shown for piece in self._pieces)
        self.lines = self.text.split("\n")
        self.lines = [line + "\n" for line in self.lines[:-1]] + ([self.lines[-1]] if self.lines[-1] else [])
        self._starts: list[int] = []
        at = 0
        for piece in self._pieces:
            self._starts.append(at)
            at += len(piece.shown)

    def source(self, at: int, *, end: bool = False) -> int:
        """The byte of the source where character ``at`` of the shown text stands; inside a mark, its beginning, or
        with ``end`` its end."""
        if at >= len(self.text):
            return self.size
        number = bisect_right(self._starts, at) - 1
        piece = self._pieces[number]
        inside = at - self._starts[number]
        if piece.black:
            return piece.end if end and inside else piece.start
        return piece.start + len(piece.shown[:inside].encode())
