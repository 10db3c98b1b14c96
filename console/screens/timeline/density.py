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
"""Slices of time at most."""


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
        self.slices: Sequence[tuple[int, int]] = ()
        self.at: int | None = None
        self.words: Line = ()
        self.end: Line = ()

    @property
    def room(self) -> int:
        """How many slices there is room for."""
        return max(min(self.size.width // 2, MOST), 8)

    def show(self, slices: Sequence[tuple[int, int]]) -> None:
        self.slices = slices
        self.refresh()

    def say(self, words: Line, end: Line) -> None:
        """Show these words behind the strip and at its end."""
        if (words, end) != (self.words, self.end):
            self.words, self.end = words, end
            self.refresh()

    def point(self, fraction: float | None) -> None:
        """Mark where in the session's time the cursor is."""
        at = None
        if fraction is not None and self.slices:
            at = min(max(int(fraction * len(self.slices)), 0), len(self.slices) - 1)
        if at != self.at:
            self.at = at
            self.refresh()

    def render_line(self, y: int) -> Strip:
        if y:
            return self.blank()
        room = self.size.width
        start = (
            Ink("text", " "),
            *strip_line(self.slices, self.at),
            Ink("text", "  " if self.slices else ""),
            *self.words,
        )
        return self.strip(spread(start, (*self.end, Ink("text", " ")), room), room)

    def on_click(self, event: events.Click) -> None:
        slice = event.x - 1
        if 0 <= slice < len(self.slices):
            self.post_message(self.Asked(sum(count for count, _problems in self.slices[:slice])))
