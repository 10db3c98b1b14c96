"""The strip along the top of a timeline: how much happened when, where it went wrong, where the cursor is."""

from __future__ import annotations

from collections.abc import Sequence

from textual import events
from textual.message import Message
from textual.strip import Strip

from console.widgets.ink import Ink, Line, spread
from console.widgets.inked import Inked

BLOCKS = "▁▂▃▄▅▆▇█"
MOST = 96
"""Columns at most."""

FINE = 2_048
"""Slices of time asked for; those in which nothing happened are then taken together."""


def columns(slices: Sequence[tuple[int, int]], room: int) -> tuple[list[tuple[int, int]], list[int]]:
    """At most ``room`` columns of (events, problems), and for each slice the column it is in.

    A pause of any length is one column, because a session that was taken up again a week later would show nothing
    but the pause; what is left is divided evenly.
    """
    kept: list[tuple[int, int]] = []
    place: list[int] = []
    for index, slice in enumerate(slices):
        pause = index > 0 and not slice[0] and not slices[index - 1][0]
        if not pause:
            kept.append(slice)
        place.append(len(kept) - 1)
    if len(kept) <= room:
        return kept, place
    found = [(0, 0)] * room
    for index, (count, problems) in enumerate(kept):
        at = index * room // len(kept)
        found[at] = (found[at][0] + count, found[at][1] + problems)
    return found, [index * room // len(kept) for index in place]


def strip_line(slices: Sequence[tuple[int, int]], at: int | None) -> Line:
    """One block a slice: its height is the share of the fullest slice, red where something failed."""
    most = max((count for count, _problems in slices), default=0)
    inks = []
    for index, (count, problems) in enumerate(slices):
        block = BLOCKS[min(count * len(BLOCKS) // (most + 1), len(BLOCKS) - 1)] if count else "·"
        ink = "fails" if problems else ("text" if count else "faint")
        inks.append(Ink("accent" if index == at else ink, "┃" if index == at and not count else block))
    return tuple(inks)


class DensityStrip(Inked):
    """Draws the slices and some words behind them; a click asks to go to that time."""

    DEFAULT_CSS = """
    DensityStrip { height: 1; width: 1fr; }
    """

    class Asked(Message):
        """A slice was clicked: so many events stand before it."""

        def __init__(self, before: int) -> None:
            super().__init__()
            self.before = before

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._slices: Sequence[tuple[int, int]] = ()
        self.columns: list[tuple[int, int]] = []
        self._place: list[int] = []
        self._fraction: float | None = None
        self.at: int | None = None
        self.words: Line = ()
        self.end: Line = ()

    def show(self, slices: Sequence[tuple[int, int]]) -> None:
        """Show these equal slices of time."""
        self._slices = slices
        self._lay_out()

    def on_resize(self) -> None:
        self._lay_out()

    def _lay_out(self) -> None:
        self.columns, self._place = columns(self._slices, max(min(self.size.width // 2, MOST), 8))
        self.point(self._fraction)
        self.refresh()

    def say(self, words: Line, end: Line) -> None:
        """Show these words behind the strip and at its end."""
        if (words, end) != (self.words, self.end):
            self.words, self.end = words, end
            self.refresh()

    def point(self, fraction: float | None) -> None:
        """Mark where in the session's time the cursor is."""
        self._fraction = fraction
        at = None
        if fraction is not None and self._place:
            at = self._place[min(max(int(fraction * len(self._place)), 0), len(self._place) - 1)]
        if at != self.at:
            self.at = at
            self.refresh()

    def render_line(self, y: int) -> Strip:
        if y:
            return self.blank()
        room = self.size.width
        start = (
            Ink("text", " "),
            *strip_line(self.columns, self.at),
            Ink("text", "  " if self.columns else ""),
            *self.words,
        )
        return self.strip(spread(start, (*self.end, Ink("text", " ")), room), room)

    def on_click(self, event: events.Click) -> None:
        column = event.x - 1
        if 0 <= column < len(self.columns):
            self.post_message(self.Asked(sum(count for count, _problems in self.columns[:column])))
