"""Rows of the governed tables: candidates, memories, their versions, claims, decisions, tombstones, what each says.

``entry``: index of a ledger entry. Times are UTC microseconds since 1970. Texts stand in the bodies, JSON, which are
empty where they were erased.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from storage.driver import Connection


class CandidateRow(NamedTuple):
    """A candidate. ``n``: record of its newest line; ``seen``: of its first. ``risk``: points it carries by itself.

    ``origin``: SHA-256 of the line's body, by which the same line is known again. ``until``: an open question is asked
    until then, :data:`NO_DATE` where that has no date. ``stream``, ``sseq``, ``entry``: the newest entry about it, none
    before the first decision.
    """

    id: str
    native: str
    n: int
    seen: int
    origin: str
    version: int
    status: str
    claimed: str
    kind: str
    level: str
    scope: str
    source: str
    confidence: str
    authority: str
    created: int
    expires: int | None
    risk: int
    words: str
    memory: str | None
    merged: str | None
    until: int | None
    stream: str | None
    sseq: int | None
    entry: int | None


NO_DATE = 253_402_300_800_000_000
"""The year 10000: an open question that comes back only when something answers it."""


class CandidateVersionRow(NamedTuple):
    """One version of a candidate."""

    candidate: str
    version: int
    entry: int | None
    body: str


class CandidateLineRow(NamedTuple):
    """A record that proposes a candidate, copies too."""

    n: int
    candidate: str


class MemoryRow(NamedTuple):
    """A governed memory, as its current version says. ``user`` to ``risk_mode``: whom and what it is for, if said."""

    id: str
    candidate: str
    version: int
    status: str
    kind: str
    level: str
    scope: str
    authority: str
    confidence: str
    visibility: str
    user: str | None
    agent: str | None
    space: str | None
    route: str | None
    task_type: str | None
    risk_mode: str | None
    created: int
    approved: int
    verified: int | None
    updated: int
    expires: int | None
    review: int | None
    words: str
    merged: str | None
    stream: str | None
    sseq: int | None
    entry: int | None


class MemoryVersionRow(NamedTuple):
    """One version of a memory, with the decision that made it."""

    memory: str
    version: int
    decision: str
    entry: int
    status: str
    body: str


class ClaimRow(NamedTuple):
    """Who is deciding about something, until when."""

    object: str
    by: str
    at: int
    until: int
    entry: int


class DecisionRow(NamedTuple):
    """A decision. ``before``: what it changed, as JSON, for undoing it. ``undone``: id of what undid it."""

    id: str
    entry: int
    at: int
    verb: str
    what: str
    object: str
    version: int
    by: str
    reason: str
    shown_hash: str
    findings: str
    batch: str | None
    memory: str | None
    before: str
    undone: str | None


class SaidRow(NamedTuple):
    """What a candidate or memory says of an attribute; ``key``: the whole conflict key."""

    what: str
    id: str
    key: str
    attribute: str
    value: str


class TombstoneRow(NamedTuple):
    """Something that is not to come back. ``salt``, ``mac``: HMAC of its normal form under a salt of its own, where it
    was forgotten; else its ``words`` in order."""

    id: str
    entry: int
    what: str
    object: str
    version: int
    words: str
    salt: str
    mac: str
    undone: int


class Spec(NamedTuple):
    """A table: its row and how many of its columns are the key."""

    row: type[Any]
    keys: int

    @property
    def columns(self) -> tuple[str, ...]:
        names: tuple[str, ...] = self.row._fields
        return names


GOVERNED: Mapping[str, Spec] = {
    "candidate": Spec(CandidateRow, 1),
    "candidate_version": Spec(CandidateVersionRow, 2),
    "candidate_line": Spec(CandidateLineRow, 1),
    "memory": Spec(MemoryRow, 1),
    "memory_version": Spec(MemoryVersionRow, 2),
    "claim": Spec(ClaimRow, 1),
    "decision": Spec(DecisionRow, 1),
    "said": Spec(SaidRow, 3),
    "tombstone": Spec(TombstoneRow, 1),
}
"""The governed tables."""

Key = tuple[Any, ...]


class Kept:
    """The rows of a fold from nothing, all of them held: what a verification compares."""

    def __init__(self) -> None:
        self.rows: dict[str, dict[Key, Any]] = {table: {} for table in GOVERNED}

    def get(self, table: str, key: Key) -> Any:
        """A row, ``None`` where there is none."""
        return self.rows[table].get(key)

    def put(self, table: str, row: Any) -> None:
        """Add a row or change it."""
        self.rows[table][tuple(row[: GOVERNED[table].keys])] = row

    def drop(self, table: str, key: Key) -> None:
        """Take a row away."""
        self.rows[table].pop(key, None)

    def begin(self) -> None:
        """A batch begins."""

    def write(self) -> None:
        """A batch ends."""


class Stored(Kept):
    """Rows in tables (``prefix``: a shadow set): a batch's changes are held and written at its end."""

    def __init__(self, connection: Connection, prefix: str = "") -> None:
        super().__init__()
        self.connection = connection
        self.prefix = prefix

    def get(self, table: str, key: Key) -> Any:
        held = self.rows[table]
        if key in held:
            return held[key]
        spec = GOVERNED[table]
        where = " AND ".join(f'"{name}" = ?' for name in spec.columns[: spec.keys])
        query = f"SELECT {_names(spec)} FROM {self.prefix}{table} WHERE {where}"
        found = self.connection.execute(query, key).fetchone()
        return None if found is None else spec.row(*found)

    def drop(self, table: str, key: Key) -> None:
        self.rows[table][key] = None

    def begin(self) -> None:
        for held in self.rows.values():
            held.clear()

    def write(self) -> None:
        for table, held in self.rows.items():
            if not held:
                continue
            spec = GOVERNED[table]
            where = " AND ".join(f'"{name}" = ?' for name in spec.columns[: spec.keys])
            gone = [key for key, row in held.items() if row is None]
            if gone:
                self.connection.executemany(f"DELETE FROM {self.prefix}{table} WHERE {where}", gone)
            holes = ", ".join("?" * len(spec.columns))
            self.connection.executemany(
                f"INSERT OR REPLACE INTO {self.prefix}{table}({_names(spec)}) VALUES({holes})",
                [row for row in held.values() if row is not None],
            )
        self.begin()


def _names(spec: Spec) -> str:
    return ", ".join(f'"{name}"' for name in spec.columns)
