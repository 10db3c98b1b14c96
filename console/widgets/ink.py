"""Lines of styled text as plain data, before any terminal or widget is involved.

What a screen draws is built as tuples of :class:`Ink` by pure functions; a widget turns them into a strip. The
width of text is always counted in terminal cells.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from rich.cells import cell_len, split_graphemes


class Ink(NamedTuple):
    """A run of text in one style.

    ``style`` is a name of :data:`INKS`. ``text`` must already be safe to show. ``act`` is the id of the action a
    click on it runs, if any.
    """

    style: str
    text: str
    act: str = ""


Line = tuple[Ink, ...]

INKS: tuple[str, ...] = (
    "text",  # our own words
    "head",  # what a reader looks for first
    "quiet",  # our own words that may be overlooked
    "faint",  # rules, rails, placeholders
    "user",  # the words of the person who worked with the agent
    "agent",  # the agent's words
    "tool",  # a tool's words
    "runtime",  # the words of what runs the agent
    "outside",  # any other text from outside: titles, projects, paths
    "holds",
    "fails",
    "person",
    "guess",
    "unknown",
    "evidence",
    "memory",
    "accent",  # focus, and nothing else
    "key",
    "off",  # an action that cannot be used now
    "hit",  # a match of what was searched for
    "gone",  # abandoned or older, still there
)
"""Every style a line may use. What it looks like is the theme's business."""


def cells(text: str) -> int:
    """Width of one line of text in terminal cells."""
    return len(text) if text.isascii() else cell_len(text)


def width(line: Iterable[Ink]) -> int:
    """Width of a line in terminal cells."""
    return sum(cells(ink.text) for ink in line)


def cut(text: str, room: int) -> str:
    """``text`` in at most ``room`` cells, its end replaced by ``…`` where it does not fit."""
    if room <= 0:
        return ""
    if cells(text) <= room:
        return text
    if room == 1:
        return "…"
    return take(text, room - 1) + "…"


def take(text: str, room: int) -> str:
    """The longest beginning of ``text`` that fits in ``room`` cells, never half of a character as people see it."""
    if text.isascii():
        return text[:room]
    # A character is at least one code point, so nothing beyond this many code points of plain text can matter;
    # joined emoji use more, hence the factor.
    spans, _total = split_graphemes(text[: room * 8 + 16])
    used = 0
    end = 0
    for _start, stop, size in spans:
        if used + size > room:
            break
        used += size
        end = stop
    return text[:end]


def left(text: str, room: int) -> str:
    """``text`` cut and padded to exactly ``room`` cells, flush left."""
    text = cut(text, room)
    return text + " " * (room - cells(text))


def right(text: str, room: int) -> str:
    """``text`` cut and padded to exactly ``room`` cells, flush right."""
    text = cut(text, room)
    return " " * (room - cells(text)) + text


def fit(line: Sequence[Ink], room: int) -> Line:
    """A line cut to at most ``room`` cells, with ``…`` where it was cut."""
    if width(line) <= room:
        return tuple(line)
    kept: list[Ink] = []
    for index, ink in enumerate(line):
        size = cells(ink.text)
        more = index + 1 < len(line) and any(later.text.strip() for later in line[index + 1 :])
        if size > room or (size == room and more):
            kept.append(ink._replace(text=cut(ink.text + (" " if more else ""), room)))
            break
        kept.append(ink)
        room -= size
    return tuple(kept)


def spread(start: Sequence[Ink], end: Sequence[Ink], room: int) -> Line:
    """``start`` flush left and ``end`` flush right in ``room`` cells; where both do not fit, ``start`` is cut.

    ``end`` is left out when it alone would take more than three quarters of the line.
    """
    end_width = width(end)
    if end_width > room * 3 // 4 and width(start) + 2 + end_width > room:
        end, end_width = (), 0
    start = fit(start, room - end_width - (2 if end_width else 0))
    gap = room - width(start) - end_width
    return (*start, Ink("text", " " * max(gap, 0)), *end)
