"""Where the rows of a list come from, and the places in it."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from console.widgets.ink import Line

if TYPE_CHECKING:
    from storage.archive import Archive
    from storage.queries.models import Page

Item = TypeVar("Item")
Cursor = tuple[object, ...]


class Source(Protocol[Item]):
    """Where a list's rows come from. ``load`` runs in a reading thread; the rest on the event loop.

    A source is never changed once a list shows it: another filter or order is another source.
    """

    @property
    def two_way(self) -> bool:
        """Whether ``load`` can go backwards. A source that cannot keeps every row it has given."""
        ...

    def load(self, archive: Archive, cursor: Cursor | None, direction: Any, inclusive: bool, limit: int) -> Page[Item]:
        """A page of rows; ``cursor=None`` begins at the first row, or ends at the last when going ``before``."""
        ...

    def key(self, item: Item) -> Hashable:
        """What stays the same about a row when it is read again."""
        ...

    def line(self, item: Item, room: int) -> Line:
        """How a row looks in so many cells, without its cursor and mark."""
        ...


class LivingSource(Source[Item], Protocol):
    """A source whose rows may change, and come and go, while they are shown."""

    def stands(self, archive: Archive, item: Item) -> Cursor | None:
        """Where a row stands now, ``None`` if it is not there any more. Runs in a reading thread."""
        ...


@dataclass(frozen=True, slots=True)
class Anchor:
    """A place to begin at: the page around ``cursor``, with the row of ``key`` on screen line ``line``."""

    cursor: Cursor
    key: Hashable
    line: int | None = None
