"""A text of any length, of which only the rows on screen are ever broken, measured and drawn."""

from __future__ import annotations

import re
from collections.abc import Sequence

from textual import events
from textual.geometry import Region
from textual.message import Message
from textual.strip import Strip

from console.widgets.ink import Ink, Line
from console.widgets.inked import Inked
from console.widgets.wrapping import LONG, Rows, rows, wrapped

_MARKS = re.compile("[\u2400-\u2421\u2424]|\u27e8U\\+[0-9A-F]{4,6}\u27e9")
"""What :func:`affidavit.text.display.display` puts in the place of signs that cannot be seen."""


class TextView(Inked, can_focus=True):
    """Head lines of ours above a text from outside and tail lines below it, scrolled together.

    ``show`` takes text that is already safe, as a sequence of lines: a list, or anything that makes a line when it
    is asked for it.
    """

    DEFAULT_CSS = """
    TextView { height: 1fr; width: 1fr; }
    """

    class Scrolled(Message):
        """Another part of the text is on screen."""

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.head: tuple[Line, ...] = ()
        self.lines: Sequence[str] = ()
        self.tail: tuple[Line, ...] = ()
        self.voice = "text"
        self._hit: re.Pattern[str] | None = None
        self._top = (0, 0)
        self._broken: dict[int, Rows] = {}
        self._head_rows: list[Line] = []
        self._tail_rows: list[Line] = []
        self._drawn: list[Strip] = []
        self._room = 0

    def show(
        self,
        head: Sequence[Line],
        lines: Sequence[str],
        voice: str = "text",
        words: Sequence[str] = (),
        *,
        tail: Sequence[Line] = (),
        keep: bool = False,
    ) -> None:
        """Show another text, from its beginning unless ``keep``; ``words`` are marked in it, ``tail`` follows it."""
        self.head, self.lines, self.tail, self.voice = tuple(head), lines, tuple(tail), voice
        parts = [re.escape(word) for word in sorted(words, key=len, reverse=True) if word]
        self._hit = re.compile("|".join(parts), re.IGNORECASE) if parts else None
        self._lay_out()
        self._top = self._clamp(self._top) if keep else (0, 0)
        self._repaint()

    @property
    def fraction(self) -> float:
        """How far down the last row on screen is, from 0 to 1."""
        last = self._forward(self._top, max(self.size.height - 1, 0))
        total = max(self._count - 1, 1)
        within = last[1] / max(len(self._rows(last[0])), 1)
        return min((last[0] + within) / total, 1.0) if self._forward(last, 1) != last else 1.0

    @property
    def fits(self) -> bool:
        """Whether all of it is on screen."""
        return self._forward((0, 0), self.size.height) == self._forward((0, 0), self.size.height - 1)

    @property
    def text(self) -> str:
        """What is on screen now, row by row."""
        return "\n".join(
            "".join(ink.text for ink in self._row(*place)).rstrip() for place in self._on_screen(self.size.height)
        )

    # laying out

    @property
    def _count(self) -> int:
        return len(self._head_rows) + len(self.lines) + len(self._tail_rows)

    def _lay_out(self) -> None:
        self._room = max(self.size.width - 1, 1)
        self._broken.clear()
        self._head_rows = [row for line in self.head for row in wrapped(line, self._room, indent=8)]
        self._tail_rows = [row for line in self.tail for row in wrapped(line, self._room, indent=8)]

    def _rows(self, piece: int) -> Rows:
        """Rows of a piece; head rows are pieces of one row each."""
        index = piece - len(self._head_rows)
        if index < 0 or index >= len(self.lines):
            return ((0, 0),)
        broken = self._broken.get(piece)
        if broken is None:
            if len(self._broken) > 4_000:
                self._broken.clear()
            broken = self._broken[piece] = rows(self.lines[index], self._room)
        return broken

    def _forward(self, place: tuple[int, int], by: int) -> tuple[int, int]:
        piece, row = place
        while by > 0:
            left = len(self._rows(piece)) - 1 - row
            if by <= left:
                return piece, row + by
            if piece + 1 >= self._count:
                return piece, row + left
            by -= left + 1
            piece, row = piece + 1, 0
        return piece, row

    def _backward(self, place: tuple[int, int], by: int) -> tuple[int, int]:
        piece, row = place
        while by > 0:
            if by <= row:
                return piece, row - by
            if piece == 0:
                return 0, 0
            by -= row + 1
            piece -= 1
            row = len(self._rows(piece)) - 1
        return piece, row

    def _end(self) -> tuple[int, int]:
        if self._count == 0:
            return 0, 0
        last = self._count - 1
        return self._backward((last, len(self._rows(last)) - 1), max(self.size.height - 1, 0))

    def _clamp(self, place: tuple[int, int]) -> tuple[int, int]:
        piece = min(place[0], max(self._count - 1, 0))
        row = min(place[1], len(self._rows(piece)) - 1)
        return min((piece, row), self._end())

    def _on_screen(self, height: int) -> list[tuple[int, int]]:
        places: list[tuple[int, int]] = []
        place = self._top
        while len(places) < height and place[0] < self._count:
            places.append(place)
            after = self._forward(place, 1)
            if after == place:
                break
            place = after
        return places

    # moving

    def _go(self, place: tuple[int, int]) -> None:
        place = self._clamp(place)
        if place != self._top:
            self._top = place
            self._repaint()
            self.post_message(self.Scrolled())

    @property
    def line(self) -> int:
        """The line of the text that the first row on screen is of; less than 0 above the text."""
        return self._top[0] - len(self._head_rows)

    def go_to_line(self, line: int) -> None:
        """Put a line of the text on top of the screen, as far as there is enough below it."""
        self._go((len(self._head_rows) + line, 0))

    def do_down(self) -> None:
        self._go(self._forward(self._top, 1))

    def do_up(self) -> None:
        self._go(self._backward(self._top, 1))

    def do_page_down(self) -> None:
        self._go(self._forward(self._top, max(self.size.height // 2, 1)))

    def do_page_up(self) -> None:
        self._go(self._backward(self._top, max(self.size.height // 2, 1)))

    def do_first(self) -> None:
        self._go((0, 0))

    def do_last(self) -> None:
        self._go(self._end())

    def on_mouse_scroll_down(self, event: events.MouseScrollDown) -> None:
        event.stop()
        self._go(self._forward(self._top, 3))

    def on_mouse_scroll_up(self, event: events.MouseScrollUp) -> None:
        event.stop()
        self._go(self._backward(self._top, 3))

    # drawing

    def on_resize(self) -> None:
        self._lay_out()
        self._top = self._clamp(self._top)
        self._repaint()

    def notify_style_update(self) -> None:
        self._drawn = []
        super().notify_style_update()

    def _draw(self) -> list[Strip]:
        room, height = self.size
        drawn = [self.strip(self._row(*place), room) for place in self._on_screen(height)]
        drawn.extend([self.blank()] * (height - len(drawn)))
        return drawn

    def _repaint(self) -> None:
        """Draw the rows on screen and refresh those that differ from what is there."""
        before, self._drawn = self._drawn, self._draw()
        changed = [y for y, strip in enumerate(self._drawn) if y >= len(before) or strip != before[y]]
        if len(changed) == len(self._drawn) or len(before) != len(self._drawn):
            self.refresh()
        elif changed:
            across = self.outer_size.width
            self.refresh(*(Region(0, y, across, 1) for y in changed))

    def _row(self, piece: int, row: int) -> Line:
        index = piece - len(self._head_rows)
        if index < 0:
            return self._head_rows[piece]
        if index >= len(self.lines):
            return self._tail_rows[index - len(self.lines)]
        text = self.lines[index]
        start, end = self._rows(piece)[row]
        if self._hit is None and text.isascii():
            return (Ink(self.voice, text[start:end].rstrip()),)
        return self._marked(text, start, end)

    def _marked(self, text: str, start: int, end: int) -> Line:
        """A row with matches and visible signs in their own inks, also where they run over its edge."""
        margin = 0 if len(text) <= LONG else 256
        first, last = (0, len(text)) if not margin else (max(start - margin, 0), end + margin)
        spans = [(match.span(), "person") for match in _MARKS.finditer(text, first, last)]
        if self._hit is not None:
            spans += [(match.span(), "hit") for match in self._hit.finditer(text, first, last)]
        inks: list[Ink] = []
        at = start
        for (begin, stop), name in sorted(spans):
            begin, stop = max(begin, at), min(stop, end)
            if begin < stop:
                inks += (Ink(self.voice, text[at:begin]), Ink(name, text[begin:stop]))
                at = stop
        inks.append(Ink(self.voice, text[at:end].rstrip()))
        return tuple(ink for ink in inks if ink.text)

    def render_line(self, y: int) -> Strip:
        if not self._drawn:
            self._drawn = self._draw()
        return self._drawn[y] if y < len(self._drawn) else self.blank()
