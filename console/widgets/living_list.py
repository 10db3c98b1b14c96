"""A list whose rows change, and come and go, while a person looks at it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from console.widgets.source import Item, LivingSource, Source
from console.widgets.virtual_list import VirtualList
from console.widgets.window import Stretch

if TYPE_CHECKING:
    from storage.archive import Archive


class LivingList(VirtualList[Item]):
    """A list that can be read again in place: what is under the cursor stays there."""

    _coming: LivingSource[Item] | None = None
    """What the rows are just being read again from."""

    def show(self, source: Source[Item], **how: Any) -> None:
        self._coming = None
        self._pool().forget((self, "renew"))
        super().show(source, **how)

    def clear(self) -> None:
        self._coming = None
        self._pool().forget((self, "renew"))
        super().clear()

    def do_last(self) -> None:
        if self._coming is None:
            super().do_last()
        else:  # its end is not the end any more
            self.show(self._coming, end=True, total=self.total, keep_marks=True)

    @property
    def at_end(self) -> bool:
        """Whether the cursor stands on the last row of all."""
        return not self.reading and self.after is None and self.cursor == len(self.rows) - 1

    @property
    def shows_end(self) -> bool:
        """Whether the last row of all is on the screen."""
        return not self.reading and self.after is None and self.top + self.size.height >= len(self.rows)

    def renew(self, source: LivingSource[Item], *, follow: bool = False) -> None:
        """Read again what is around the cursor, while the rows on screen stay; with ``follow`` go to the last row.

        What is under the cursor then stays there. While another question is being read, nothing is done.
        """
        if self.reading or self.error is not None:
            return
        if not self.rows:
            self.show(source, total=self.total, keep_marks=True)
            return
        item, limit = self.rows[self.cursor], self.PAGE
        key = source.key(item)
        self._coming = source

        def read(archive: Archive) -> tuple[Stretch[Item], int]:
            at = None if follow else source.stands(archive, item)
            if at is None:
                page = source.load(archive, None, "before" if follow else "after", False, limit)
                return Stretch(page.rows, page.before, page.after), 0
            below = source.load(archive, at, "after", True, limit)
            above = source.load(archive, at, "before", False, limit // 2)
            return Stretch((*above.rows, *below.rows), above.before, below.after), len(above.rows)

        def done(found: tuple[Stretch[Item], int]) -> None:
            if self.reading or self.error is not None:
                return
            if not self.rows or source.key(self.rows[self.cursor]) != key:
                self.renew(source, follow=follow and self.at_end)  # the person has gone on meanwhile
                return
            self._renewed(source, *found, follow=follow)

        self._pool().ask((self, "renew"), read, done, lambda _error: None)

    def _renewed(self, source: LivingSource[Item], stretch: Stretch[Item], above: int, *, follow: bool) -> None:
        self._pool().forget((self, "more"))
        self._asked.clear()
        self._coming = None
        self.source = source
        if not stretch.rows:
            self.show(source, total=self.total, keep_marks=True)
            return
        before = source.key(self.rows[self.cursor])
        if follow:
            self.fill(stretch, None, end=True)
        else:
            self.refill(stretch, above)
        self.redraw()
        self.post_message(self.Changed(self))
        if source.key(self.rows[self.cursor]) != before or follow:
            self.post_message(self.Moved(self))
        self._read_on()
