"""Snapshots: the list, the newest first, its filters, finding one by the beginning of its id, and one whole."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

import orjson

from affidavit.text.marks import marked
from storage.queries.conditions import Condition, both, contains
from storage.queries.connection import Row
from storage.queries.models import SourceSpan
from storage.queries.recorded import Recorded, words

FACETS: Final = {"purpose": "purpose", "source": "sources", "reason": "reasons", "verdict": "verdict"}
"""Fields a list is narrowed down by, with their columns; they are those of :class:`SnapshotFilter`."""


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


class Snapshots(Recorded[SnapshotRow, SnapshotFilter]):
    """What a store knows of snapshots, through one connection.

    The session of one is that which asked, found by its id where it is of another agent.
    """

    NAME = "snapshot"
    TABLE = "snapshot"
    LETTER = "p"
    TABLES = """snapshot p LEFT JOIN session s ON s.no = CASE WHEN p.session > 0 THEN p.session ELSE coalesce(
 (SELECT no FROM session WHERE uid = p.asker),
 (SELECT no FROM session WHERE format IN (SELECT DISTINCT format FROM session) AND native = p.asker LIMIT 1)) END"""
    COLUMNS = """p.n, p.id, p.uid, s.no, s.uid, s.title, p.request, p.purpose, p.question, p.timed, p.at, p.recalled,
 p.filtered, p.ranked_out, p.trimmed, p.selected, p.redacted, p.sources, p.reasons, p.verdict"""
    FACETS = FACETS
    LISTS = frozenset({"sources", "reasons"})
    EVERY = SnapshotFilter()

    def of_request(self, session: int, request: str) -> list[SnapshotRow]:
        """Snapshots of a session that name a model request as the one they were for, by time."""
        sql = self._select("s.no = ? AND p.request = ? ORDER BY p.at, p.n")
        return [self._item(row) for row in self._link.rows(sql, (session, marked(request)))]

    def between(self, session: int, after: int | None, until: int | None) -> list[SnapshotRow]:
        """Snapshots of a session made after one instant, up to another, by time; ``until`` ``None``: none."""
        if until is None:
            return []
        where = "s.no = ? AND p.timed = 1 AND p.at > ? AND p.at <= ?"
        values = (session, -(1 << 62) if after is None else after, until)
        sql = self._select(f"{where} ORDER BY p.at, p.n")
        return [self._item(row) for row in self._link.rows(sql, values)]

    def keys(self, filter: SnapshotFilter = EVERY) -> list[int]:
        """The records of the whole filtered list, the oldest first."""
        where = self._where(filter)
        rows = self._link.rows(f"SELECT p.n FROM {self.TABLES} WHERE {where.sql} ORDER BY p.at, p.n", where.values)
        return [int(key) for (key,) in rows]

    def figures(self, key: int) -> dict[str, Any]:
        """A line as JSON in half the time, for counting over many; what is odd about the JSON is not looked for.

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

    def _item(self, row: Row) -> SnapshotRow:
        *named, timed, at, recalled, filtered, ranked_out, trimmed, selected, redacted, sources, reasons, verdict = row
        counts = (recalled, filtered, ranked_out, trimmed, selected, redacted)
        values = (*named, at if timed else None, *counts, words(sources), words(reasons), verdict)
        return SnapshotRow(*values)

    def _where(self, filter: SnapshotFilter) -> Condition:
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
