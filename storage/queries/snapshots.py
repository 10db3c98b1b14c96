"""Snapshots: the list, the newest first, its filters, finding one by the beginning of its id, and one whole."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import orjson

from affidavit.text.marks import marked
from storage.numbers import record_number
from storage.queries.conditions import Condition, both, contains
from storage.queries.connection import ReadConnection, Row
from storage.queries.filters import Direction
from storage.queries.models import Page, SourceSpan, Total
from storage.queries.paging import Cursor, Listing
from storage.segments import parse

if TYPE_CHECKING:
    from storage.queries.records import Records

COLUMNS: Final = """p.n, p.id, p.uid, s.no, s.uid, s.title, p.request, p.purpose, p.question, p.timed, p.at, p.recalled,
 p.filtered, p.ranked_out, p.trimmed, p.selected, p.redacted, p.sources, p.reasons, p.verdict"""
TABLES: Final = """snapshot p LEFT JOIN session s ON s.no = CASE WHEN p.session > 0 THEN p.session ELSE coalesce(
 (SELECT no FROM session WHERE uid = p.asker),
 (SELECT no FROM session WHERE format IN (SELECT DISTINCT format FROM session) AND native = p.asker LIMIT 1)) END"""
"""Snapshots with the session that asked, by its id where it is of another agent."""
MOST_FOUND: Final = 20
FACETS: Final = {"purpose": "purpose", "source": "sources", "reason": "reasons", "verdict": "verdict"}
"""Fields a list is narrowed down by, with their columns; they are those of :class:`SnapshotFilter`."""

_LAST: Final = chr(0x10FFFF)


@dataclass(frozen=True, slots=True)
class SnapshotRow:
    """One snapshot in a list. ``key``: number of its record; ``session``: row number, uid and title, if it is of one.

    ``at``: UTC microseconds since 1970. Counts are ``None`` where they were not recorded.
    """

    key: int
    id: str
    uid: str
    session: int | None
    session_uid: str | None
    session_title: str | None
    request: str | None
    purpose: str | None
    question: str
    at: int | None
    recalled: int | None
    filtered: int | None
    ranked_out: int | None
    trimmed: int | None
    selected: int | None
    redacted: int | None
    sources: tuple[str, ...]
    reasons: tuple[str, ...]
    verdict: str | None


@dataclass(frozen=True, slots=True)
class SnapshotFilter:
    """Which snapshots. ``session``: row number; ``source``, ``reason``: words that must occur in it."""

    text: str = ""
    session: int | None = None
    purpose: str | None = None
    source: str | None = None
    reason: str | None = None
    verdict: str | None = None
    since: int | None = None
    until: int | None = None


def snapshot_row(row: Row) -> SnapshotRow:
    """A row of :data:`COLUMNS`."""
    *named, timed, at, recalled, filtered, ranked_out, trimmed, selected, redacted, sources, reasons, verdict = row
    counts = (recalled, filtered, ranked_out, trimmed, selected, redacted)
    values = (*named, at if timed else None, *counts, _words(sources), _words(reasons), verdict)
    return SnapshotRow(*values)


def _words(listed: Any) -> tuple[str, ...]:
    try:
        return tuple(str(word) for word in json.loads(listed))
    except (ValueError, TypeError):
        return ()  # somebody changed the table: verify says so, a list must not fail over it


_ALL: Final = SnapshotFilter()


class Snapshots:
    """What a store knows of snapshots, through one connection."""

    def __init__(self, link: ReadConnection, records: Callable[[], Records]) -> None:
        self._link = link
        self._records = records

    def page(
        self,
        filter: SnapshotFilter = _ALL,
        *,
        cursor: Cursor | None = None,
        direction: Direction = "after",
        inclusive: bool = False,
        limit: int = 100,
    ) -> Page[SnapshotRow]:
        """Snapshots, the newest first; without a cursor ``before`` gives the last page."""
        return _listing(filter).page(self._link, snapshot_row, cursor, direction, inclusive, limit)

    def count(self, filter: SnapshotFilter = _ALL) -> Total:
        """Snapshots of the filtered list."""
        return Total(_listing(filter).count(self._link), True)

    def facet(self, name: str) -> list[tuple[str, int]]:
        """Values that a field of :data:`FACETS` has over all snapshots, with their counts, most frequent first."""
        column = FACETS[name]
        tables = f"snapshot p, json_each(p.{column}) j" if column in ("sources", "reasons") else "snapshot p"
        value = "j.value" if column in ("sources", "reasons") else f"p.{column}"
        sql = (
            f"SELECT {value}, count(*) FROM {tables} WHERE {value} IS NOT NULL GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT 100"
        )
        return [(str(found), count) for found, count in self._link.rows(sql)]

    def cursor(self, key: int) -> Cursor | None:
        """Where a snapshot stands in the list, ``None`` if there is no such snapshot."""
        return self._link.row("SELECT at, n FROM snapshot WHERE n = ?", (key,))

    def position(self, key: int, filter: SnapshotFilter = _ALL) -> int:
        """How many of the filtered list stand before one; raises ``KeyError``."""
        cursor = self.cursor(key)
        if cursor is None:
            raise KeyError(f"no snapshot {key}")
        return _listing(filter).position(self._link, cursor)

    def find(self, prefix: str) -> list[SnapshotRow]:
        """Snapshots whose id or uid is, or else begins with, ``prefix``; at most :data:`MOST_FOUND`."""
        prefix = marked(prefix)
        found: dict[int, SnapshotRow] = {}
        for end in ("", _LAST) if prefix else ():
            for column, text in (("p.uid", prefix.lower()), ("p.id", prefix)):
                sql = f"SELECT {COLUMNS} FROM {TABLES} WHERE {column} BETWEEN ? AND ? ORDER BY p.n LIMIT ?"
                for row in self._link.rows(sql, (text, text + end, MOST_FOUND)):
                    found.setdefault(row[0], snapshot_row(row))
            if found:
                break
        return list(found.values())[:MOST_FOUND]

    def row(self, key: int) -> SnapshotRow | None:
        """The snapshot that stands at a record, if one does."""
        row = self._link.row(f"SELECT {COLUMNS} FROM {TABLES} WHERE p.n = ?", (record_number(key),))
        return None if row is None else snapshot_row(row)

    def of_request(self, session: int, request: str) -> list[SnapshotRow]:
        """Snapshots of a session that name a model request as the one they were for, by time."""
        sql = f"SELECT {COLUMNS} FROM {TABLES} WHERE s.no = ? AND p.request = ? ORDER BY p.at, p.n"
        return [snapshot_row(row) for row in self._link.rows(sql, (session, marked(request)))]

    def between(self, session: int, after: int | None, until: int | None) -> list[SnapshotRow]:
        """Snapshots of a session made after one instant, up to another, by time; ``until`` ``None``: none."""
        if until is None:
            return []
        where = "s.no = ? AND p.timed = 1 AND p.at > ? AND p.at <= ?"
        values = (session, -(1 << 62) if after is None else after, until)
        sql = f"SELECT {COLUMNS} FROM {TABLES} WHERE {where} ORDER BY p.at, p.n"
        return [snapshot_row(row) for row in self._link.rows(sql, values)]

    def keys(self, filter: SnapshotFilter = _ALL) -> list[int]:
        """The records of the whole filtered list, the oldest first."""
        where = _where(filter)
        rows = self._link.rows(f"SELECT p.n FROM {TABLES} WHERE {where.sql} ORDER BY p.at, p.n", where.values)
        return [int(key) for (key,) in rows]

    def raw(self, key: int) -> bytes:
        """The bytes of the line a snapshot was recorded in; raises ``RecordError``."""
        return self._records().raw(key)

    def line(self, key: int) -> dict[str, Any]:
        """The line a snapshot was recorded in, read again from its bytes; raises ``RecordError``."""
        value, _, _ = parse(self.raw(key))
        return value if isinstance(value, dict) else {}

    def figures(self, key: int) -> dict[str, Any]:
        """The same in half the time, for counting over many; what is odd about the JSON is not looked for.

        Raises ``RecordError``.
        """
        try:
            value = orjson.loads(self.raw(key))
        except orjson.JSONDecodeError:
            return self.line(key)
        return value if isinstance(value, dict) else {}

    def place(self, key: int) -> SourceSpan:
        """Where that line stands; raises ``RecordError``."""
        return self._records().record(key).place


def _listing(filter: SnapshotFilter) -> Listing:
    return Listing(COLUMNS, TABLES, ("p.at", "p.n"), _where(filter), True)


def _where(filter: SnapshotFilter) -> Condition:
    tests = []
    if filter.text:
        tests.append(contains(("p.id", "p.question", "p.purpose", "s.title"), filter.text))
    if filter.session is not None:
        tests.append(Condition("s.no = ?", (filter.session,)))
    for column, word in (("purpose", filter.purpose), ("verdict", filter.verdict)):
        if word is not None:
            tests.append(Condition(f"p.{column} = ?", (word,)))
    for column, word in (("sources", filter.source), ("reasons", filter.reason)):
        if word is not None:
            tests.append(Condition(f"EXISTS(SELECT 1 FROM json_each(p.{column}) WHERE value = ?)", (word,)))
    if filter.since is not None:
        tests.append(Condition("p.timed = 1 AND +p.at >= ?", (filter.since,)))
    if filter.until is not None:
        tests.append(Condition("p.timed = 1 AND +p.at < ?", (filter.until,)))
    return both(tests)
