"""What stands where a list or a text would stand when there is nothing, nothing yet, or something went wrong."""

from __future__ import annotations

from collections.abc import Sequence

from textual.strip import Strip

from console.widgets.ink import Ink, Line, left
from console.widgets.inked import Inked
from console.widgets.wrapping import wrapped


class Notice(Inked, can_focus=True):
    """A few calm lines in the upper third: a title, what is known, and which key goes on from here."""

    DEFAULT_CSS = """
    Notice { height: 1fr; width: 1fr; }
    """

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.lines: tuple[Line, ...] = ()

    def say(self, title: Ink, lines: Sequence[Line] = (), keys: Sequence[tuple[str, str]] = ()) -> None:
        """Show a title, lines of explanation, and (key, what it does) for what to do next."""
        shown: list[Line] = [(title,), ()] if lines or keys else [(title,)]
        shown.extend(lines)
        if keys:
            if lines:
                shown.append(())
            room = max(len(key) for key, _what in keys) + 2
            shown.extend((Ink("key", left(key, room)), Ink("text", what)) for key, what in keys)
        if tuple(shown) != self.lines:
            self.lines = tuple(shown)
            self.refresh()

    @property
    def text(self) -> str:
        """What it says, line by line."""
        return "\n".join("".join(ink.text for ink in line) for line in self.lines)

    def render_line(self, y: int) -> Strip:
        room, height = self.size
        indent = 3 if room < 100 else 6
        rows = [row for line in self.lines for row in (wrapped(line, room - indent - 2) if line else [()])]
        first = max(min((height - len(rows)) // 3, height - len(rows)), 0)
        index = y - first
        if not 0 <= index < len(rows):
            return self.blank()
        return self.strip((Ink("text", " " * indent), *rows[index]), room)
