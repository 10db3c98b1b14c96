"""A list of things that each stand in one recorded line, the newest first, and one of them whole."""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, ClassVar, Final, Generic, TypeVar

from affidavit.text.marks import marked
from storage.numbers import record_number
from storage.queries.conditions import Condition
from storage.queries.connection import ReadConnection, Row
from storage.queries.filters import Direction
from storage.queries.models import Page, Total
from storage.queries.paging import Cursor, Listing
from storage.segments import parse

if TYPE_CHECKING:
    from storage.queries.records import Records

MOST_FOUND: Final = 20
_LAST: Final = chr(0x10FFFF)

Item = TypeVar("Item")
Filter = TypeVar("Filter")


class Recorded(ABC, Generic[Item, Filter]):
    """What a store knows of one kind of recorded thing, through one connection.

    A class of this names its ``TABLE`` (with ``n``, ``at``, ``uid`` and ``id``), the letter it has in ``TABLES``
    (the FROM clause), the ``COLUMNS`` of a row, the first of which is ``n``, the filter that keeps ``EVERY`` one, and
    the ``FACETS`` a list is narrowed down by, with their columns; ``LISTS`` are those that hold a JSON list.
    """

    NAME: ClassVar[str]
    TABLE: ClassVar[str]
    LETTER: ClassVar[str]
    TABLES: ClassVar[str]
    COLUMNS: ClassVar[str]
    FACETS: ClassVar[dict[str, str]]
    LISTS: ClassVar[frozenset[str]]
    EVERY: ClassVar[Any]

    def __init__(self, link: ReadConnection, records: Callable[[], Records]) -> None:
        self._link = link
        self._records = records

    @abstractmethod
    def _item(self, row: Row) -> Item:
        """A row of the columns."""

    @abstractmethod
    def _where(self, filter: Filter) -> Condition:
        """A filter as SQL on the tables."""

    def page(
        self,
        filter: Filter | None = None,
        *,
        cursor: Cursor | None = None,
        direction: Direction = "after",
        inclusive: bool = False,
        limit: int = 100,
    ) -> Page[Item]:
        """A page of the filtered list, the newest first; without a cursor ``before`` gives the last one."""
        return self._listing(filter).page(self._link, self._item, cursor, direction, inclusive, limit)

    def count(self, filter: Filter | None = None) -> Total:
        """How many the filtered list has."""
        return Total(self._listing(filter).count(self._link), True)

    def cursor(self, key: int) -> Cursor | None:
        """Where one stands in the list, ``None`` if there is no such one."""
        return self._link.row(f"SELECT at, n FROM {self.TABLE} WHERE n = ?", (key,))

    def position(self, key: int, filter: Filter | None = None) -> int:
        """How many of the filtered list stand before one; raises ``KeyError``."""
        cursor = self.cursor(key)
        if cursor is None:
            raise KeyError(f"no {self.NAME} {key}")
        return self._listing(filter).position(self._link, cursor)

    def find(self, prefix: str) -> list[Item]:
        """Those whose id or uid is, or else begins with, ``prefix``; at most :data:`MOST_FOUND`."""
        prefix = marked(prefix)
        letter = self.LETTER
        found: dict[int, Item] = {}
        for end in ("", _LAST) if prefix else ():
            for column, text in (("uid", prefix.lower()), ("id", prefix)):
                where = f"{letter}.{column} BETWEEN ? AND ? ORDER BY {letter}.n LIMIT ?"
                for row in self._link.rows(self._select(where), (text, text + end, MOST_FOUND)):
                    found.setdefault(row[0], self._item(row))
            if found:
                break
        return list(found.values())[:MOST_FOUND]

    def row(self, key: int) -> Item | None:
        """The one that stands at a record, if one does."""
        row = self._link.row(self._select(f"{self.LETTER}.n = ?"), (record_number(key),))
        return None if row is None else self._item(row)

    def facet(self, name: str) -> list[tuple[str, int]]:
        """Values a field of ``FACETS`` has over all of them, with their counts, most frequent first."""
        column = f"{self.LETTER}.{self.FACETS[name]}"
        tables = f"{self.TABLE} {self.LETTER}"
        if self.FACETS[name] in self.LISTS:
            tables, column = f"{tables}, json_each({column}) j", "j.value"
        values = f"SELECT {column}, count(*) FROM {tables} WHERE {column} IS NOT NULL"
        rows = self._link.rows(f"{values} GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT 100")
        return [(str(found), count) for found, count in rows]

    def raw(self, key: int) -> bytes:
        """The bytes of the line one was recorded in; raises ``RecordError``."""
        return self._records().raw(key)

    def line(self, key: int) -> dict[str, Any]:
        """That line as JSON, read again from its bytes; raises ``RecordError``."""
        value, _, _ = parse(self.raw(key))
        return value if isinstance(value, dict) else {}

    def _select(self, where: str) -> str:
        return f"SELECT {self.COLUMNS} FROM {self.TABLES} WHERE {where}"

    def _listing(self, filter: Filter | None) -> Listing:
        where = self._where(self.EVERY if filter is None else filter)
        return Listing(self.COLUMNS, self.TABLES, (f"{self.LETTER}.at", f"{self.LETTER}.n"), where, True)


def words(listed: Any) -> tuple[str, ...]:
    """The words of a column that holds a JSON list."""
    try:
        return tuple(map(str, json.loads(listed)))
    except (ValueError, TypeError):
        return ()  # somebody changed the table: verify says so, a list must not fail over it
