"""Runs of the recall gate: the list, the newest first, its filters, and one whole, read again from its record."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from affidavit.text.marks import marked
from storage.numbers import record_number
from storage.queries.conditions import Condition, both, contains
from storage.queries.connection import ReadConnection, Row
from storage.queries.filters import Direction
from storage.queries.models import Page, Total
from storage.queries.paging import Cursor, Listing
from storage.segments import parse

if TYPE_CHECKING:
    from storage.queries.records import Records

COLUMNS: Final = """g.n, g.id, g.uid, s.no, s.uid, s.title, g.query, g.space, g.timed, g.at, g.accepted, g.rejected,
 g.dry, g.policy, g.reasons"""
TABLES: Final = "gate_run g LEFT JOIN session s ON s.no = g.session"
MOST_FOUND: Final = 20
_LAST: Final = chr(0x10FFFF)


@dataclass(frozen=True, slots=True)
class GateRunRow:
    """One run in a list. ``key``: number of its record; ``session``: row number, uid and title, if it is of one.

    ``at``: UTC microseconds since 1970. ``accepted``, ``rejected``: how many. ``policy``: the ledger entry whose
    policy was used. ``reasons``: codes that occur, sorted.
    """

    key: int
    id: str
    uid: str
    session: int | None
    session_uid: str | None
    session_title: str | None
    query: str
    space: str | None
    at: int | None
    accepted: int
    rejected: int
    dry: bool
    policy: int | None
    reasons: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class GateRunFilter:
    """Which runs. ``session``: row number; ``reason``: a code that must occur; ``dry``: dry runs only, or none."""

    text: str = ""
    session: int | None = None
    space: str | None = None
    reason: str | None = None
    dry: bool | None = None
    since: int | None = None
    until: int | None = None


_ALL: Final = GateRunFilter()


def gate_run_row(row: Row) -> GateRunRow:
    """A row of :data:`COLUMNS`."""
    *named, timed, at, accepted, rejected, dry, policy, reasons = row
    try:
        codes = tuple(map(str, json.loads(reasons)))
    except (ValueError, TypeError):
        codes = ()  # somebody changed the table: verify says so, a list must not fail over it
    values = (*named, at if timed else None, accepted, rejected, bool(dry), policy, codes)
    return GateRunRow(*values)


class GateRuns:
    """What a store knows of runs of the gate, through one connection."""

    def __init__(self, link: ReadConnection, records: Callable[[], Records]) -> None:
        self._link = link
        self._records = records

    def page(
        self,
        filter: GateRunFilter = _ALL,
        *,
        cursor: Cursor | None = None,
        direction: Direction = "after",
        inclusive: bool = False,
        limit: int = 100,
    ) -> Page[GateRunRow]:
        """Runs, the newest first; without a cursor ``before`` gives the last page."""
        return _listing(filter).page(self._link, gate_run_row, cursor, direction, inclusive, limit)

    def count(self, filter: GateRunFilter = _ALL) -> Total:
        """Runs of the filtered list."""
        return Total(_listing(filter).count(self._link), True)

    def cursor(self, key: int) -> Cursor | None:
        """Where a run stands in the list, ``None`` if there is no such run."""
        return self._link.row("SELECT at, n FROM gate_run WHERE n = ?", (key,))

    def position(self, key: int, filter: GateRunFilter = _ALL) -> int:
        """How many of the filtered list stand before one; raises ``KeyError``."""
        cursor = self.cursor(key)
        if cursor is None:
            raise KeyError(f"no gate run {key}")
        return _listing(filter).position(self._link, cursor)

    def find(self, prefix: str) -> list[GateRunRow]:
        """Runs whose id or uid is, or else begins with, ``prefix``; at most :data:`MOST_FOUND`."""
        prefix = marked(prefix)
        found: dict[int, GateRunRow] = {}
        for end in ("", _LAST) if prefix else ():
            for column, text in (("g.uid", prefix.lower()), ("g.id", prefix)):
                sql = f"SELECT {COLUMNS} FROM {TABLES} WHERE {column} BETWEEN ? AND ? ORDER BY g.n LIMIT ?"
                for row in self._link.rows(sql, (text, text + end, MOST_FOUND)):
                    found.setdefault(row[0], gate_run_row(row))
            if found:
                break
        return list(found.values())[:MOST_FOUND]

    def row(self, key: int) -> GateRunRow | None:
        """The run that stands at a record, if one does."""
        row = self._link.row(f"SELECT {COLUMNS} FROM {TABLES} WHERE g.n = ?", (record_number(key),))
        return None if row is None else gate_run_row(row)

    def before(self, row: GateRunRow) -> GateRunRow | None:
        """The run before of the same query, by time."""
        sql = f"SELECT {COLUMNS} FROM {TABLES} WHERE g.query = ? AND (g.at, g.n) < (?, ?) ORDER BY g.at DESC, g.n DESC"
        found = self._link.row(sql + " LIMIT 1", (row.query, row.at or 0, record_number(row.key)))
        return None if found is None or not row.query else gate_run_row(found)

    def facet(self, name: str) -> list[tuple[str, int]]:
        """Values of ``space`` or ``reason`` over all runs, with their counts, most frequent first."""
        tables = "gate_run g, json_each(g.reasons) j" if name == "reason" else "gate_run g"
        value = "j.value" if name == "reason" else "g.space"
        sql = (
            f"SELECT {value}, count(*) FROM {tables} WHERE {value} IS NOT NULL GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT 100"
        )
        return [(str(found), count) for found, count in self._link.rows(sql)]

    def raw(self, key: int) -> bytes:
        """The bytes of the line a run was recorded in; raises ``RecordError``."""
        return self._records().raw(key)

    def line(self, key: int) -> dict[str, Any]:
        """That line as JSON; raises ``RecordError``."""
        value, _, _ = parse(self.raw(key))
        return value if isinstance(value, dict) else {}


def _listing(filter: GateRunFilter) -> Listing:
    return Listing(COLUMNS, TABLES, ("g.at", "g.n"), _where(filter), True)


def _where(filter: GateRunFilter) -> Condition:
    tests = []
    if filter.text:
        tests.append(contains(("g.id", "g.query", "g.space", "s.title"), filter.text))
    if filter.session is not None:
        tests.append(Condition("g.session = ?", (filter.session,)))
    if filter.space is not None:
        tests.append(Condition("g.space = ?", (filter.space,)))
    if filter.reason is not None:
        tests.append(Condition("EXISTS(SELECT 1 FROM json_each(g.reasons) WHERE value = ?)", (filter.reason,)))
    if filter.dry is not None:
        tests.append(Condition("g.dry = ?", (int(filter.dry),)))
    if filter.since is not None:
        tests.append(Condition("g.timed = 1 AND +g.at >= ?", (filter.since,)))
    if filter.until is not None:
        tests.append(Condition("g.timed = 1 AND +g.at < ?", (filter.until,)))
    return both(tests)
