"""Candidates, memories and decisions: lists by key, one by the beginning of its id, and what a check needs of them."""

from __future__ import annotations

import hmac
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Protocol

import orjson

from affidavit.memory.transitions import OPEN
from storage.folds.governed_rows import (
    CandidateRow,
    CandidateVersionRow,
    ClaimRow,
    DecisionRow,
    MemoryRow,
    MemoryVersionRow,
)
from storage.queries.conditions import Condition, both
from storage.queries.filters import Direction
from storage.queries.models import Page, Total
from storage.queries.paging import Cursor, Listing

if TYPE_CHECKING:
    from affidavit.memory.candidate import MemoryCandidate
    from affidavit.memory.record import GovernanceMemoryRecord
    from storage.queries.connection import ReadConnection

Row = tuple[Any, ...]

WAITING: Final = f"status IN {OPEN!r}"
MOST_FOUND: Final = 20


class Link(Protocol):
    """A connection that is read through: read-only, or the one of a write transaction."""

    def rows(self, sql: str, values: Sequence[Any] = ()) -> list[Row]: ...
    def row(self, sql: str, values: Sequence[Any] = ()) -> Row | None: ...
    def value(self, sql: str, values: Sequence[Any] = ()) -> Any: ...


@dataclass(frozen=True, slots=True)
class GovernedFilter:
    """Which candidates or memories.

    ``waiting``: only those somebody must decide about, none with an open question whose date lies after ``now`` (UTC
    microseconds).
    """

    text: str = ""
    status: str | None = None
    kind: str | None = None
    level: str | None = None
    scope: str | None = None
    waiting: bool = False
    now: int | None = None


CANDIDATE_COLUMNS: Final = ", ".join(f"g.{name}" for name in CandidateRow._fields)
MEMORY_COLUMNS: Final = ", ".join(f"g.{name}" for name in MemoryRow._fields)


def candidates(filter: GovernedFilter, *, by_risk: bool = False) -> Listing:
    """Candidates, the newest first; ``by_risk``: the riskiest first."""
    keys = ("g.risk", "g.id") if by_risk else ("g.created", "g.id")
    return Listing(CANDIDATE_COLUMNS, "candidate g", keys, _where(filter, "candidate"), descending=True)


def memories(filter: GovernedFilter) -> Listing:
    """Memories, the last changed first."""
    return Listing(MEMORY_COLUMNS, "memory g", ("g.updated", "g.id"), _where(filter, "memory"), descending=True)


def page(
    link: ReadConnection,
    listing: Listing,
    make: Any,
    cursor: Cursor | None,
    direction: Direction,
    limit: int,
    inclusive: bool = False,
) -> Page[Any]:
    """A page of candidates or memories."""
    return listing.page(link, lambda row: make(*row), cursor, direction, inclusive, limit)


def count(link: ReadConnection, listing: Listing) -> Total:
    """How many there are."""
    return Total(listing.count(link), True)


def _where(filter: GovernedFilter, table: str) -> Condition:
    tests = []
    for column in ("status", "kind", "level", "scope"):
        wanted = getattr(filter, column)
        if wanted is not None:
            tests.append(Condition(f"g.{column} = ?", (wanted,)))
    if filter.waiting:
        tests.append(Condition(f"g.{WAITING}", ()))
        if filter.now is not None:
            tests.append(Condition("(g.until IS NULL OR g.until <= ?)", (filter.now,)))
    if filter.text:
        body = (
            f"SELECT 1 FROM {table}_version v WHERE v.{table} = g.id AND v.version = g.version "
            "AND instr(lower(v.body), lower(?)) > 0"
        )
        tests.append(Condition(f"EXISTS ({body})", (filter.text,)))
    return both(tests)


def find_candidates(link: Link, prefix: str) -> list[CandidateRow]:
    """Candidates whose id or native id is this, or else whose id begins so; at most 20."""
    return [CandidateRow(*row) for row in _find(link, "candidate", CANDIDATE_COLUMNS, prefix, native=True)]


def find_memories(link: Link, prefix: str) -> list[MemoryRow]:
    """Memories whose id begins so; at most 20."""
    return [MemoryRow(*row) for row in _find(link, "memory", MEMORY_COLUMNS, prefix, native=False)]


def _find(link: Link, table: str, columns: str, prefix: str, *, native: bool) -> list[Row]:
    exact = "g.id = ?1 OR g.native = ?1" if native else "g.id = ?1"
    found = link.rows(f"SELECT {columns} FROM {table} g WHERE {exact} ORDER BY g.id LIMIT {MOST_FOUND}", (prefix,))
    if found or not prefix:
        return found
    query = f"SELECT {columns} FROM {table} g WHERE g.id >= ? AND g.id < ? ORDER BY g.id LIMIT {MOST_FOUND}"
    return link.rows(query, (prefix, prefix + "\U0010ffff"))


def candidate(link: Link, id: str) -> CandidateRow | None:
    """One candidate."""
    row = link.row(f"SELECT {CANDIDATE_COLUMNS} FROM candidate g WHERE g.id = ?", (id,))
    return None if row is None else CandidateRow(*row)


def memory(link: Link, id: str) -> MemoryRow | None:
    """One memory."""
    row = link.row(f"SELECT {MEMORY_COLUMNS} FROM memory g WHERE g.id = ?", (id,))
    return None if row is None else MemoryRow(*row)


def candidate_versions(link: Link, id: str) -> list[CandidateVersionRow]:
    """Every version of a candidate, the first one first."""
    query = "SELECT candidate, version, entry, body FROM candidate_version WHERE candidate = ? ORDER BY version"
    return [CandidateVersionRow(*row) for row in link.rows(query, (id,))]


def memory_versions(link: Link, id: str) -> list[MemoryVersionRow]:
    """Every version of a memory, the first one first."""
    query = (
        "SELECT memory, version, decision, entry, status, body FROM memory_version WHERE memory = ? ORDER BY version"
    )
    return [MemoryVersionRow(*row) for row in link.rows(query, (id,))]


def read_candidate(link: Link, id: str, version: int) -> MemoryCandidate | None:
    """A version of a candidate whole; ``None`` where it is not there or its text was erased."""
    from affidavit.memory.candidate import MemoryCandidate

    body = link.value("SELECT body FROM candidate_version WHERE candidate = ? AND version = ?", (id, version))
    return MemoryCandidate.model_validate(orjson.loads(body)) if body else None


def read_memory(link: Link, id: str, version: int) -> GovernanceMemoryRecord | None:
    """A version of a memory whole; ``None`` where it is not there or its text was erased."""
    from affidavit.memory.record import GovernanceMemoryRecord

    body = link.value("SELECT body FROM memory_version WHERE memory = ? AND version = ?", (id, version))
    return GovernanceMemoryRecord.model_validate(orjson.loads(body)) if body else None


def claim(link: Link, object: str) -> ClaimRow | None:
    """Who last said they decide about something; whether that still holds is a question of the time."""
    query = f"SELECT {_columns(ClaimRow)} FROM claim WHERE object = ?"
    row = link.row(query, (object,))
    return None if row is None else ClaimRow(*row)


def decisions(link: Link, objects: Iterable[str]) -> list[DecisionRow]:
    """Decisions about these candidates and memories, the first one first."""
    among = "object IN (SELECT value FROM json_each(?))"
    query = f"SELECT {_columns(DecisionRow)} FROM decision WHERE {among} ORDER BY entry, id"
    return [DecisionRow(*row) for row in link.rows(query, (orjson.dumps(list(objects)).decode(),))]


def decision(link: Link, prefix: str) -> list[DecisionRow]:
    """Decisions whose id begins so; at most 20."""
    query = f"SELECT {_columns(DecisionRow)} FROM decision WHERE id >= ? AND id < ? ORDER BY id LIMIT {MOST_FOUND}"
    return [DecisionRow(*row) for row in link.rows(query, (prefix, prefix + "\U0010ffff"))]


def batch(link: Link, id: str) -> list[DecisionRow]:
    """The decisions of a batch, in the order they were taken."""
    return [
        DecisionRow(*row)
        for row in link.rows(f"SELECT {_columns(DecisionRow)} FROM decision WHERE batch = ? ORDER BY entry", (id,))
    ]


def _columns(row: type[Any]) -> str:
    return ", ".join(f'"{name}"' for name in row._fields)


def tombstones(link: Link, words: str) -> list[str]:
    """Addresses of what said this and is not to come back."""
    found = link.rows("SELECT what, object, version FROM tombstone WHERE words = ? AND undone = 0", (words,))
    forgotten = link.rows("SELECT what, object, version, salt, mac FROM tombstone WHERE salt <> '' AND undone = 0")
    for what, object, version, salt, mac in forgotten:
        if hmac.compare_digest(hmac.digest(bytes.fromhex(salt), words.encode(), "sha256").hex(), mac):
            found.append((what, object, version))
    return sorted(f"{what}/{object}@{version}" for what, object, version in found)
