"""Cutting a text into passages: parts small enough to be shown, large enough to be understood."""

from __future__ import annotations

from bisect import bisect_right
from itertools import accumulate
from typing import Final, NamedTuple

from storage.workspace.languages import PROSE, Symbol

MOST_LINES: Final = 60
MOST_BYTES: Final = 4_096
"""A passage is at most this long; a line that is longer alone is cut inside."""

LEAST_BYTES: Final = 160
"""A section of prose shorter than this stays with the one before."""


class Passage(NamedTuple):
    """Bytes ``start`` to ``stop`` of a text, its lines ``first`` to ``last`` (from 1), and what it is called.

    ``anchor``: the heading or definition it stands under, where there is one.
    """

    start: int
    stop: int
    first: int
    last: int
    anchor: str


def cut(data: bytes, language: str, symbols: list[Symbol]) -> list[Passage]:
    """The passages of a text, which tile it; none of an empty one. ``symbols`` in the order of their lines."""
    if not data:
        return []
    lines = data.split(b"\n")
    starts = [0, *accumulate(len(line) + 1 for line in lines)]
    starts[-1] = len(data)
    if not lines[-1]:
        lines.pop()
        starts.pop()
    prose = language in PROSE
    begins = sorted({symbol.line for symbol in symbols if not prose or symbol.kind == "heading"})
    names = sorted((symbol.line, place, symbol.name) for place, symbol in enumerate(symbols))
    found = []
    for first, after in _ranges(starts, begins, prose):
        anchor = _anchor(names, first, after, prose)
        if starts[after] - starts[first] <= MOST_BYTES:
            found.append(Passage(starts[first], starts[after], first + 1, after, anchor))
        else:
            found += _long(data, starts[first], starts[after], first + 1, anchor)
    return found


def _ranges(starts: list[int], begins: list[int], prose: bool) -> list[tuple[int, int]]:
    """Line ranges: at each heading of prose; of code at definitions, where a part would grow too long."""
    count = len(starts) - 1
    if not prose and count <= MOST_LINES and starts[count] <= MOST_BYTES:
        return [(0, count)]
    ranges = []
    first = 0
    edges = set(begins)
    while first < count:
        limit = min(first + MOST_LINES, bisect_right(starts, starts[first] + MOST_BYTES) - 1, count)
        limit = max(limit, first + 1)
        after = limit
        if prose:
            after = next(
                (line for line in range(first + 1, limit) if line in edges and _size(starts, first, line)), limit
            )
        elif limit < count:
            after = next((line for line in range(limit, first + (limit - first) // 3, -1) if line in edges), limit)
        ranges.append((first, after))
        first = after
    return ranges


def _size(starts: list[int], first: int, after: int) -> bool:
    return starts[after] - starts[first] >= LEAST_BYTES


def _anchor(names: list[tuple[int, int, str]], first: int, after: int, prose: bool) -> str:
    """The heading above or in a part; of code the first definition in it, else the one it lies in."""
    place = bisect_right(names, (first, len(names), ""))
    if prose or not (place < len(names) and names[place][0] < after):
        if place:
            return names[place - 1][2]
        return names[0][2] if names and names[0][0] < after else ""
    return names[place - 1][2] if place and names[place - 1][0] == first else names[place][2]


def _long(data: bytes, start: int, stop: int, line: int, anchor: str) -> list[Passage]:
    """A line too long for one passage, cut between characters."""
    parts = []
    while start < stop:
        end = min(start + MOST_BYTES, stop)
        while end < stop and end > start + MOST_BYTES - 4 and data[end] & 0xC0 == 0x80:
            end -= 1
        parts.append(Passage(start, end, line, line, anchor))
        start = end
    return parts
