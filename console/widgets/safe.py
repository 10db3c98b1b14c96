"""The console's one door for text that came from outside.

Everything a log, a store, a file system or an exception gave us passes an :class:`Outside` before it becomes part
of a line, a title, a clipboard or a pager. Below it stands a second guard: :func:`printable`, which every widget
applies to what it is about to draw.
"""

from __future__ import annotations

from affidavit.text.display import display, display_block, hidden_count, mask, one_line
from console.widgets.ink import cells


class Outside:
    """Makes text from outside fit to be shown, with what must not be seen by others hidden when ``masked``."""

    def __init__(self, masked: bool = False) -> None:
        self.masked = masked

    def line(self, text: str | None, room: int | None = None) -> str:
        """``text`` as one safe line, cut to ``room`` cells if given."""
        if not text:
            return ""
        if self.masked:
            text = mask(text)
        return display(text) if room is None else one_line(text, room, cells)

    def block(self, text: str) -> str:
        """``text`` made safe with its line breaks kept."""
        return display_block(mask(text) if self.masked else text)


def hidden(text: str) -> int:
    """How many characters of ``text`` are shown as marks because they cannot be seen, or act."""
    return hidden_count(text)


def printable(text: str) -> str:
    """``text`` unless something in it could act on a terminal; then its visible form.

    The last guard before the screen, cheap because ``str.isprintable`` is: it refuses control, format,
    surrogate, private-use and separator characters, of which :func:`display` keeps the harmless ones.
    """
    return text if text.isprintable() else display(text)
