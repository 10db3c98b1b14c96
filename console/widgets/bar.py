"""One line of chrome: words to the left, words to the right, some of them to be clicked."""

from __future__ import annotations

from collections.abc import Sequence

from textual import events
from textual.geometry import Region
from textual.message import Message
from textual.strip import Strip
from textual.widget import Widget

from console.widgets.ink import Ink, cells, spread
from console.widgets.inked import Inked


class Bar(Inked):
    """Repaints only when what it says changes."""

    DEFAULT_CSS = """
    Bar { height: 1; width: 1fr; }
    """

    class Pressed(Message):
        """Words that stand for an action were clicked."""

        def __init__(self, action: str, bar: Widget | None = None) -> None:
            super().__init__()
            self.action = action
            self._bar = bar

        @property
        def control(self) -> Widget | None:
            return self._bar

    def __init__(self, *, id: str | None = None, classes: str | None = None, ground: str = "") -> None:
        super().__init__(id=id, classes=classes)
        self.start: tuple[Ink, ...] = ()
        self.end: tuple[Ink, ...] = ()
        self._ground = ground

    def say(self, start: Sequence[Ink], end: Sequence[Ink] = ()) -> None:
        """Show these words from now on."""
        start, end = tuple(start), tuple(end)
        if (start, end) != (self.start, self.end):
            before = self._marks()
            self.start, self.end = start, end
            self._repaint(before, self._marks())

    def _marks(self) -> list[tuple[str, str]]:
        """What stands in the line, letter by letter, each with its ink."""
        line = spread(self.start, self.end, self.size.width)
        return [(letter, ink.style) for ink in line for letter in ink.text]

    def _repaint(self, before: list[tuple[str, str]], after: list[tuple[str, str]]) -> None:
        """Only from the first to the last letter that changed: every cell sent counts over a slow line.

        Letters stand for cells as long as each is one cell wide; otherwise the whole line is drawn.
        """
        width = self.size.width
        if len(before) != width or len(after) != width or any(cells(letter) != 1 for letter, _ in (*before, *after)):
            self.refresh()
            return
        changed = [at for at in range(width) if before[at] != after[at]]
        if changed:
            self.refresh(Region(changed[0], 0, changed[-1] - changed[0] + 1, 1))

    @property
    def text(self) -> str:
        """What it says now, as plain text in its present width."""
        return "".join(ink.text for ink in spread(self.start, self.end, self.size.width))

    def render_line(self, y: int) -> Strip:
        if y:
            return self.blank()
        return self.strip(spread(self.start, self.end, self.size.width), self.size.width, self._ground)

    def on_click(self, event: events.Click) -> None:
        at = 0
        for ink in spread(self.start, self.end, self.size.width):
            at += cells(ink.text)
            if event.x < at:
                if ink.act:
                    event.stop()
                    self.post_message(self.Pressed(ink.act, self))
                return
