"""Pages by key: a list in the order of two columns, walked from any place in it in either direction."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

from storage.queries.conditions import Condition
from storage.queries.connection import ReadConnection, Row
from storage.queries.filters import Direction
from storage.queries.models import Page

Cursor = tuple[object, ...]
Item = TypeVar("Item")


@dataclass(frozen=True, slots=True)
class Listing:
    """A list to be paged.

    ``columns`` are what each row gives, ``tables`` the FROM clause, ``keys`` two columns that order the rows and
    together tell any two apart, the second being the row number that ends every index.
    """

    columns: str
    tables: str
    keys: tuple[str, str]
    where: Condition
    descending: bool = False

    def walk(self, link: ReadConnection, cursor: Cursor | None, back: bool, inclusive: bool, limit: int) -> list[Row]:
        """Up to ``limit`` rows from the cursor on, each with its two keys in front, in walking order."""
        first, second = self.keys
        down = self.descending != back
        than, way = ("<", " DESC") if down else (">", "")
        select = f"SELECT {first}, {second}, {self.columns} FROM {self.tables} WHERE {self.where.sql}"
        values = self.where.values
        order = f" ORDER BY {first}{way}, {second}{way} LIMIT ?"
        if cursor is None:
            return link.rows(select + order, (*values, limit))
        # Two questions, because SQLite narrows a comparison of pairs by the first column alone: among a million
        # rows of one instant a page would cost a million steps.
        major, minor = cursor
        equal = f" AND {first} = ? AND {second} {than}{'=' if inclusive else ''} ? ORDER BY {second}{way} LIMIT ?"
        rows = link.rows(select + equal, (*values, major, minor, limit))
        if len(rows) < limit:
            rows += link.rows(f"{select} AND {first} {than} ?{order}", (*values, major, limit - len(rows)))
        return rows

    def page(
        self,
        link: ReadConnection,
        make: Callable[[Row], Item],
        cursor: Cursor | None,
        direction: Direction,
        inclusive: bool,
        limit: int,
    ) -> Page[Item]:
        """A page of at most ``limit`` rows that begins (or, going ``before``, ends) at the cursor."""
        limit = max(limit, 1)
        back = direction == "before"
        rows = self.walk(link, cursor, back, inclusive, limit + 1)
        ahead = len(rows) > limit
        rows = rows[:limit]
        behind = False
        if cursor is not None and rows:
            behind = bool(self.walk(link, rows[0][:2], not back, False, 1))
        if back:
            rows.reverse()
            ahead, behind = behind, ahead
        return Page(
            tuple(make(row[2:]) for row in rows),
            _cursor(rows[0]) if behind else None,
            _cursor(rows[-1]) if ahead else None,
        )

    def count(self, link: ReadConnection) -> int:
        """Number of rows in the whole list."""
        return int(link.value(f"SELECT count(*) FROM {self.tables} WHERE {self.where.sql}", self.where.values))

    def position(self, link: ReadConnection, cursor: Cursor) -> int:
        """Number of rows before the cursor's."""
        first, second = self.keys
        than = ">" if self.descending else "<"
        select = f"SELECT count(*) FROM {self.tables} WHERE {self.where.sql} AND {first}"
        values = self.where.values
        earlier = link.value(f"{select} {than} ?", (*values, cursor[0]))
        return int(earlier + link.value(f"{select} = ? AND {second} {than} ?", (*values, *cursor)))

    def key_at(self, link: ReadConnection, position: int) -> Any:
        """The second key of the row with that many before it, or ``None`` past the end."""
        if position < 0:
            return None
        first, second = self.keys
        way = " DESC" if self.descending else ""
        return link.value(
            f"SELECT {second} FROM {self.tables} WHERE {self.where.sql} "
            f"ORDER BY {first}{way}, {second}{way} LIMIT 1 OFFSET ?",
            (*self.where.values, position),
        )


def _cursor(row: Row) -> Cursor:
    return (row[0], row[1])
