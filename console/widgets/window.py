"""The rows a list holds of all it could show: one run without gaps, with the screen and the cursor in it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Generic

from console.widgets.source import Anchor, Cursor, Item, Source

if TYPE_CHECKING:
    from storage.queries.models import Page


@dataclass(frozen=True, slots=True)
class Stretch(Generic[Item]):
    """Rows as they were read, and where to read on before and after them; ``None`` where the list ends."""

    rows: tuple[Item, ...]
    before: Cursor | None
    after: Cursor | None


class Window(Generic[Item]):
    """See the module. It grows at both ends as pages come in, and lets go of what is far from the screen."""

    PAGE = 200
    KEEP = 2_000
    """Rows kept around the screen before far pages are let go."""
    NEAR = 100
    """Rows left beyond the screen when the next page is asked for."""

    def __init__(self) -> None:
        self.source: Source[Item] | None = None
        self.rows: list[Item] = []
        self.before: Cursor | None = None
        self.after: Cursor | None = None
        self.top = 0
        """The row in the first line of the screen."""
        self.cursor = 0
        self.first: int | None = None
        """How many rows of the whole list stand before ``rows[0]``, where that is known."""

    @property
    def height(self) -> int:
        """Lines of the screen."""
        raise NotImplementedError

    @property
    def ordinal(self) -> int | None:
        """The place of the cursor in the whole list, from 1, where it is known."""
        return None if self.first is None or not self.rows else self.first + self.cursor + 1

    def empty_out(self) -> None:
        """Hold nothing, of no source."""
        self.source, self.rows, self.before, self.after, self.first = None, [], None, None, None
        self.top = self.cursor = 0

    def fill(self, stretch: Stretch[Item], at: Anchor | None, end: bool) -> None:
        """Hold other rows, with the cursor on their first, on their last (``end``) or on the row of ``at``."""
        self.rows, self.before, self.after = list(stretch.rows), stretch.before, stretch.after
        if at is not None:
            self.cursor = self._nearest(at)
            self.first = 0 if self.before is None else None
            middle = self.height // 3 if at.line is None else at.line
            self.top = self.cursor - middle
        elif end:
            self.cursor = len(self.rows) - 1
            self.top = len(self.rows)
            self.first = 0 if self.before is None else None
        else:
            self.cursor = self.top = 0
            self.first = 0
        self.settle()

    def refill(self, stretch: Stretch[Item], above: int) -> None:
        """Hold the same rows read again, with what is under the cursor where it is on the screen.

        From the top of a list its new first rows are seen, and the cursor goes down with its row. ``above``: where the
        row of the cursor stood, if it is not among the rows any more.
        """
        source, rows = self.source, stretch.rows
        assert source is not None
        key = source.key(self.rows[self.cursor])
        at_top = self.top == 0 and self.before is None and stretch.before is None
        line = self.cursor - self.top
        cursor = next((index for index, item in enumerate(rows) if source.key(item) == key), None)
        self.cursor = min(above, len(rows) - 1) if cursor is None else cursor
        self.rows, self.before, self.after = list(rows), stretch.before, stretch.after
        self.first = 0 if self.before is None else None
        hidden = not self.height  # behind another view: it gets its lines back when it is shown
        self.top = 0 if at_top and (hidden or self.cursor < self.height) else self.cursor - line
        self.top = max(min(self.top, len(self.rows) - self.height), 0)

    def _nearest(self, at: Anchor) -> int:
        source = self.source
        assert source is not None
        for index, item in enumerate(self.rows):
            if source.key(item) == at.key:
                return index
        # The row itself is not in this list: the first row at or after its place.
        return min(self.PAGE // 2, max(len(self.rows) - 1, 0)) if self.before is not None else 0

    def wants(self) -> str | None:
        """The direction in which the screen comes near an edge that is not the list's end."""
        if self.after is not None and len(self.rows) - (self.top + self.height) < self.NEAR:
            return "after"
        if self.before is not None and self.top < self.NEAR:
            return "before"
        return None

    def append(self, page: Page[Item]) -> bool:
        """Take in the page after the last row. Whether some of it is on the screen."""
        source = self.source
        assert source is not None
        known = len(self.rows)
        self.rows.extend(page.rows)
        self.after = page.after
        seen = self.top + self.height > known
        excess = len(self.rows) - self.KEEP
        if source.two_way and excess > self.PAGE and self.top > excess:
            self._let_go_above(excess)
        return seen

    def _let_go_above(self, count: int) -> None:
        cursor_of = getattr(self.source, "cursor", None)
        if cursor_of is None or self.cursor < count:
            return
        self.before = cursor_of(self.rows[count])
        del self.rows[:count]
        self.top -= count
        self.cursor -= count
        if self.first is not None:
            self.first += count

    def prepend(self, page: Page[Item]) -> bool:
        """Take in the page before the first row. Whether some of it is on the screen."""
        count = len(page.rows)
        self.rows[:0] = page.rows
        self.before = page.before
        self.top += count
        self.cursor += count
        if self.before is None:
            self.first = 0
        elif self.first is not None:
            self.first -= count
        cursor_of = getattr(self.source, "cursor", None)
        keep_to = self.KEEP
        if (
            len(self.rows) - keep_to > self.PAGE
            and cursor_of is not None
            and keep_to > max(self.top + self.height, self.cursor + 1)
        ):
            del self.rows[keep_to:]
            self.after = cursor_of(self.rows[-1])
        return self.top - count < 0

    def settle(self) -> None:
        """Bring the cursor onto the screen and the screen onto the rows."""
        height = max(self.height, 1)
        margin = min(3, max((height - 1) // 2, 0))
        self.top = min(self.top, self.cursor - margin)
        self.top = max(self.top, self.cursor - height + 1 + margin)
        self.top = max(min(self.top, len(self.rows) - height), 0)

    def turn(self, by: int) -> bool:
        """Move the screen by some rows, the cursor where it stands or taken along. Whether it moved."""
        top = max(min(self.top + by, len(self.rows) - self.height), 0)
        moved, self.top = top != self.top, top
        return moved
