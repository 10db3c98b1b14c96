"""What stands where a list or a text would stand when there is nothing, nothing yet, or something went wrong."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, cast

from textual import events
from textual.strip import Strip

from console.actions import BY_ID
from console.widgets.bar import Bar
from console.widgets.ink import Ink, Line, left
from console.widgets.inked import Inked
from console.widgets.wrapping import wrapped

if TYPE_CHECKING:
    from console.app import AffidavitApp


class Notice(Inked, can_focus=True):
    """A few calm lines in the upper third: a title, what is known, and which key goes on from here."""

    DEFAULT_CSS = """
    Notice { height: 1fr; width: 1fr; }
    """

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.lines: tuple[Line, ...] = ()

    def say(self, title: Ink, lines: Sequence[Line] = (), keys: Sequence[tuple[str, str]] = ()) -> None:
        """Show a title, lines of explanation, and what to do next: (id of an action or name of a key, what it does).

        Of an action the key stands there that a person has given it, and a click carries it out.
        """
        shown: list[Line] = [(title,), ()] if lines or keys else [(title,)]
        shown.extend(lines)
        if keys:
            if lines:
                shown.append(())
            mapped = cast("AffidavitApp", self.app).keys
            named = [(mapped.text(id), what, id) if id in BY_ID else (id, what, "") for id, what in keys]
            room = max(len(key) for key, _what, _act in named) + 2
            shown.extend((Ink("key", left(key, room), act), Ink("text", what, act)) for key, what, act in named)
        if tuple(shown) != self.lines:
            self.lines = tuple(shown)
            self.refresh()

    @property
    def text(self) -> str:
        """What it says, line by line."""
        return "\n".join("".join(ink.text for ink in line) for line in self.lines)

    def _row(self, y: int) -> Line | None:
        """What stands in a line of the screen, and ``None`` above and below what is said."""
        room, height = self.size
        rows = [row for line in self.lines for row in (wrapped(line, room - self._indent - 2) if line else [()])]
        first = max(min((height - len(rows)) // 3, height - len(rows)), 0)
        return rows[y - first] if 0 <= y - first < len(rows) else None

    @property
    def _indent(self) -> int:
        return 3 if self.size.width < 100 else 6

    def on_click(self, event: events.Click) -> None:
        act = next((ink.act for ink in self._row(event.y) or () if ink.act), "")
        if act:
            event.stop()
            self.post_message(Bar.Pressed(act))

    def render_line(self, y: int) -> Strip:
        row = self._row(y)
        if row is None:
            return self.blank()
        return self.strip((Ink("text", " " * self._indent), *row), self.size.width)
