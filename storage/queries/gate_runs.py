"""Runs of the recall gate: the list, the newest first, its filters, and one whole, read again from its record."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from storage.numbers import record_number
from storage.queries.conditions import Condition, both, contains
from storage.queries.connection import Row
from storage.queries.recorded import Recorded, words


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


class GateRuns(Recorded[GateRunRow, GateRunFilter]):
    """What a store knows of runs of the gate, through one connection."""

    NAME = "gate run"
    TABLE = "gate_run"
    LETTER = "g"
    TABLES = "gate_run g LEFT JOIN session s ON s.no = g.session"
    COLUMNS = """g.n, g.id, g.uid, s.no, s.uid, s.title, g.query, g.space, g.timed, g.at, g.accepted, g.rejected,
 g.dry, g.policy, g.reasons"""
    FACETS: ClassVar = {"space": "space", "reason": "reasons"}
    LISTS = frozenset({"reasons"})
    EVERY = GateRunFilter()

    def before(self, row: GateRunRow) -> GateRunRow | None:
        """The run before of the same query, by time."""
        if not row.query:
            return None
        where = "g.query = ? AND (g.at, g.n) < (?, ?) ORDER BY g.at DESC, g.n DESC LIMIT 1"
        found = self._link.row(self._select(where), (row.query, row.at or 0, record_number(row.key)))
        return None if found is None else self._item(found)

    def _item(self, row: Row) -> GateRunRow:
        *named, timed, at, accepted, rejected, dry, policy, reasons = row
        values = (*named, at if timed else None, accepted, rejected, bool(dry), policy, words(reasons))
        return GateRunRow(*values)

    def _where(self, filter: GateRunFilter) -> Condition:
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
