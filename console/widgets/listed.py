"""A list whose rows are all at hand, shown like one that is read page by page."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from console.widgets.ink import Line
from console.widgets.source import Cursor
from storage.queries.models import Page

if TYPE_CHECKING:
    from storage.archive import Archive

Item = TypeVar("Item")


@dataclass(frozen=True)
class Listed(Generic[Item]):
    """Rows in memory; ``name`` gives what stays the same about one, ``draw`` how it looks in so many cells."""

    rows: Sequence[Item]
    name: Callable[[Item], Hashable]
    draw: Callable[[Item, int], Line]
    two_way: bool = True

    def load(self, _archive: Archive, cursor: Cursor | None, direction: Any, inclusive: bool, limit: int) -> Page[Item]:
        """The rows around a place, which is the number of one."""
        here = 0 if cursor is None else int(str(cursor[0]))
        if direction == "before":
            end = len(self.rows) if cursor is None else here + inclusive
            start = max(end - limit, 0)
        else:
            start = 0 if cursor is None else here + (not inclusive)
            end = min(start + limit, len(self.rows))
        before = (start,) if start > 0 else None
        after = (end - 1,) if end < len(self.rows) else None
        return Page(tuple(self.rows[start:end]), before, after)

    def key(self, item: Item) -> Hashable:
        return self.name(item)

    def line(self, item: Item, room: int) -> Line:
        return self.draw(item, room)
