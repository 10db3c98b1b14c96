"""A list of any length that holds only what is on screen and a little around it.

Rows come from a :class:`Source` in pages found by key, read in the threads of the pool. The window they form is
contiguous; pages far from the screen are let go and read again when needed. Moving the cursor repaints two lines.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import TYPE_CHECKING, Any

from textual import events
from textual.geometry import Region
from textual.message import Message
from textual.strip import Strip

from console.widgets.ink import Ink, Line, fit, width
from console.widgets.inked import Inked
from console.widgets.source import Anchor, Item, Source
from console.widgets.window import Stretch, Window

if TYPE_CHECKING:
    from console.reading import ReadPool
    from storage.archive import Archive
    from storage.queries.models import Page


class ListMessage(Message):
    """What a list tells the views around it."""

    def __init__(self, list: VirtualList[Any]) -> None:
        super().__init__()
        self.list = list

    @property
    def control(self) -> VirtualList[Any]:
        return self.list


class VirtualList(Inked, Window[Item], can_focus=True):
    """See the module. The view in front of it gives it a source with :meth:`show`."""

    GUTTER = 2

    DEFAULT_CSS = """
    VirtualList { height: 1fr; width: 1fr; }
    """

    class Moved(ListMessage):
        """The cursor stands on another row (or on none). Later moves replace earlier ones not yet handled."""

        def can_replace(self, message: Message) -> bool:
            return isinstance(message, VirtualList.Moved) and message.list is self.list

    class Changed(ListMessage):
        """The list begins to read, has read, or could not."""

    class Opened(ListMessage):
        """A row was double-clicked."""

    def __init__(self, pool: Callable[[], ReadPool], *, id: str | None = None) -> None:
        Window.__init__(self)
        Inked.__init__(self, id=id)
        self._pool = pool
        self.total: int | None = None
        """Length of the whole list, once counted."""
        self.reading = False
        """The rows drawn belong to an earlier question; keys that act on a row are refused."""
        self.error: Exception | None = None
        self.marked: dict[Hashable, Item] = {}
        self._asked: set[str] = set()
        self._strips: OrderedDict[tuple[Hashable, int, str, bool], Strip] = OrderedDict()

    # what stands under the cursor

    @property
    def item(self) -> Item | None:
        """The row under the cursor, if one is drawn there and it answers the present question."""
        if self.reading or not 0 <= self.cursor < len(self.rows):
            return None
        return self.rows[self.cursor]

    @property
    def height(self) -> int:
        return self.size.height

    @property
    def empty(self) -> bool:
        """Nothing to show, and that is the answer."""
        return not self.rows and not self.reading and self.error is None

    # showing a source

    def show(
        self,
        source: Source[Item],
        *,
        at: Anchor | None = None,
        end: bool = False,
        total: int | None = None,
        keep_marks: bool = False,
    ) -> None:
        """Show another source: from its first row, its last with ``end``, or around ``at``.

        The rows on screen stay until the new ones are there.
        """
        self.source = source
        self.reading = True
        self.error = None
        self.total = total
        if not keep_marks:
            self.marked = {}
        self._asked.clear()
        limit = self.PAGE

        def first(archive: Archive) -> Stretch[Item]:
            if at is not None:
                below = source.load(archive, at.cursor, "after", True, limit)
                above = source.load(archive, at.cursor, "before", False, limit // 2)
                return Stretch((*above.rows, *below.rows), above.before, below.after)
            page = source.load(archive, None, "before" if end else "after", False, limit)
            return Stretch(page.rows, page.before if source.two_way else None, page.after)

        def done(stretch: Stretch[Item]) -> None:
            self._replace(stretch, at, end)

        self._pool().forget((self, "more"))
        self._pool().ask((self, "rows"), first, done, self._failed)
        self.post_message(self.Changed(self))

    def again(self) -> None:
        """Read what is on screen again, keeping the cursor where it stands if its row is still there."""
        if self.source is not None:
            self.show(self.source, total=self.total, keep_marks=True)

    def clear(self) -> None:
        """Show nothing, and ask nothing."""
        self._pool().forget((self, "rows"))
        self._pool().forget((self, "more"))
        self.empty_out()
        self.reading, self.error, self.total = False, None, None
        self.redraw()

    def _replace(self, stretch: Stretch[Item], at: Anchor | None, end: bool) -> None:
        self.reading = False
        self.fill(stretch, at, end)
        self.redraw()
        self._told()
        self._read_on()

    def _failed(self, error: Exception) -> None:
        self.reading = False
        self.error = error
        self._asked.clear()
        self.rows = []
        self.redraw()
        self._told()

    def _told(self) -> None:
        self.post_message(self.Changed(self))
        self.post_message(self.Moved(self))

    # reading on

    def _read_on(self) -> None:
        """Ask for the next page in whichever direction the screen comes near an edge."""
        if self.reading or self.source is None:
            return
        direction = self.wants()
        if direction is not None:
            self._ask_more(direction)

    def _ask_more(self, direction: str) -> None:
        if self._asked:
            return
        source, cursor = self.source, self.after if direction == "after" else self.before
        assert source is not None
        self._asked.add(direction)
        limit = self.PAGE

        def more(archive: Archive) -> Page[Item]:
            return source.load(archive, cursor, direction, False, limit)

        def done(page: Page[Item]) -> None:
            self._asked.discard(direction)
            if (self.append if direction == "after" else self.prepend)(page):
                self.redraw()
            self.post_message(self.Changed(self))
            self._read_on()

        self._pool().ask((self, "more"), more, done, self._failed)

    # moving

    def move(self, to: int) -> None:
        """Put the cursor on row ``to`` of the window, scrolling as little as needed."""
        if not self.rows or self.reading:
            return
        to = min(max(to, 0), len(self.rows) - 1)
        if to == self.cursor:
            return
        old, self.cursor = self.cursor, to
        top = self.top
        self.settle()
        if self.top != top:
            self.redraw()
        else:
            self._refresh_rows(old, to)
        self.post_message(self.Moved(self))
        self._read_on()

    def _refresh_rows(self, *rows: int) -> None:
        across = self.size.width
        for row in rows:
            line = row - self.top
            if 0 <= line < self.size.height:
                self.refresh(Region(0, line, across, 1))

    def redraw(self) -> None:
        """Repaint every line."""
        self._strips.clear()
        self.refresh()

    def do_down(self) -> None:
        self.move(self.cursor + 1)

    def do_up(self) -> None:
        self.move(self.cursor - 1)

    def do_page_down(self) -> None:
        self._page(max(self.size.height // 2, 1))

    def do_page_up(self) -> None:
        self._page(-max(self.size.height // 2, 1))

    def _page(self, by: int) -> None:
        if self.rows and not self.reading:
            before = self.top
            self.turn(by)
            self.move(self.cursor + by)
            if self.top != before:
                self.redraw()

    def do_first(self) -> None:
        if self.source is None:
            return
        if self.before is None:
            self.move(0)
        else:
            self.show(self.source, total=self.total, keep_marks=True)

    def do_last(self) -> None:
        if self.source is None:
            return
        if self.after is None or not self.source.two_way:
            self.move(len(self.rows) - 1)
        else:
            self.show(self.source, end=True, total=self.total, keep_marks=True)

    def do_mark(self) -> None:
        item, source = self.item, self.source
        if item is None or source is None:
            return
        key = source.key(item)
        if key in self.marked:
            del self.marked[key]
        else:
            self.marked[key] = item
        self._refresh_rows(self.cursor)
        self.post_message(self.Changed(self))
        self.move(self.cursor + 1)

    def unmark(self) -> None:
        """Take every mark away."""
        self.marked = {}
        self.redraw()
        self.post_message(self.Changed(self))

    # the mouse

    def on_click(self, event: events.Click) -> None:
        row = self.top + event.y
        if not 0 <= row < len(self.rows) or self.reading:
            return
        # The first of two clicks may have scrolled: the second means the row it chose, not what lies there now.
        if event.chain == 1:
            self.move(row)
        elif event.chain == 2:
            self.post_message(self.Opened(self))

    def _wheel(self, by: int) -> None:
        if self.reading or not self.turn(by):
            return
        self.cursor = min(max(self.cursor, self.top), self.top + self.height - 1, len(self.rows) - 1)
        self.redraw()
        self.post_message(self.Moved(self))
        self._read_on()

    def on_mouse_scroll_down(self, event: events.MouseScrollDown) -> None:
        event.stop()
        self._wheel(3)

    def on_mouse_scroll_up(self, event: events.MouseScrollUp) -> None:
        event.stop()
        self._wheel(-3)

    # drawing

    def on_resize(self) -> None:
        self._strips.clear()
        self.settle()
        self._read_on()

    def on_focus(self) -> None:
        self._refresh_rows(self.cursor)

    def on_blur(self) -> None:
        self._refresh_rows(self.cursor)

    def notify_style_update(self) -> None:
        self._strips.clear()
        super().notify_style_update()

    def render_line(self, y: int) -> Strip:
        room = self.size.width
        index = self.top + y
        source = self.source
        if source is None or index >= len(self.rows) or index < 0:
            waits = bool(self.rows) and self.after is not None and index >= len(self.rows)
            return self.strip((Ink("faint", "  ·"),) if waits else (), room)
        item = self.rows[index]
        key = source.key(item)
        ground = ""
        if index == self.cursor:
            ground = "cursor" if self.has_focus else "cursor-off"
        marked = key in self.marked
        cached = (key, room, ground, marked)
        strip = self._strips.get(cached)
        if strip is None:
            strip = self._draw(source.line(item, room - self.GUTTER - 1), room, ground, marked)
            self._strips[cached] = strip
            if len(self._strips) > 512:
                self._strips.popitem(last=False)
        return strip

    def _draw(self, line: Line, room: int, ground: str, marked: bool) -> Strip:
        bar = Ink("accent", "▌") if ground else Ink("text", " ")
        mark = Ink("accent", "•") if marked else Ink("text", " ")
        line = fit(line, room - self.GUTTER - 1)
        pad = Ink("text", " " * (room - self.GUTTER - width(line)))
        return self.strip((bar, mark, *line, pad), room, ground)
