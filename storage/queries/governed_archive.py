"""The read side of governance: lists, single things and their checks, through an archive's connection."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import TYPE_CHECKING, Any, NamedTuple

from storage.folds.governed_rows import (
    CandidateRow,
    CandidateVersionRow,
    ClaimRow,
    DecisionRow,
    MemoryRow,
    MemoryVersionRow,
)
from storage.queries import governed
from storage.queries.connection import ReadConnection
from storage.queries.filters import Direction
from storage.queries.governed import GovernedFilter
from storage.queries.models import Page, Total
from storage.queries.paging import Cursor

if TYPE_CHECKING:
    from affidavit.gate.hit import MemoryHit, RecallQuery
    from affidavit.memory.candidate import MemoryCandidate
    from affidavit.memory.checks import CheckReport
    from affidavit.memory.health import Ailment
    from affidavit.memory.record import GovernanceMemoryRecord
    from affidavit.memory.settings import GovernancePolicy
    from storage.queries.records import Records
    from storage.queries.surroundings import Checker


class Checked(NamedTuple):
    """A candidate with its check. ``status``: as the check leaves it; ``shown``: what a decision is bound to, and
    ``shown_hash`` its digest."""

    row: CandidateRow
    candidate: MemoryCandidate
    report: CheckReport
    status: str
    shown: dict[str, Any]
    shown_hash: str
    claim: ClaimRow | None


class Governed:
    """See the module. Times are given by whoever asks."""

    def __init__(self, link: ReadConnection, records: Callable[[], Records]) -> None:
        self._link = link
        self._records = records
        self._checker: tuple[int, GovernancePolicy, Checker] | None = None

    # ------------------------------------------------------------------------------------------- lists

    def candidates(
        self,
        filter: GovernedFilter,
        *,
        by_risk: bool = False,
        cursor: Cursor | None = None,
        direction: Direction = "after",
        inclusive: bool = False,
        limit: int = 100,
    ) -> Page[CandidateRow]:
        """Candidates, the newest first; ``by_risk``: the riskiest first."""
        listing = governed.candidates(filter, by_risk=by_risk)
        return governed.page(self._link, listing, CandidateRow, cursor, direction, limit, inclusive)

    def count_candidates(self, filter: GovernedFilter) -> Total:
        """How many candidates there are."""
        return governed.count(self._link, governed.candidates(filter))

    def memories(
        self,
        filter: GovernedFilter,
        *,
        cursor: Cursor | None = None,
        direction: Direction = "after",
        inclusive: bool = False,
        limit: int = 100,
    ) -> Page[MemoryRow]:
        """Memories, the last changed first."""
        return governed.page(self._link, governed.memories(filter), MemoryRow, cursor, direction, limit, inclusive)

    def count_memories(self, filter: GovernedFilter) -> Total:
        """How many memories there are."""
        return governed.count(self._link, governed.memories(filter))

    # ------------------------------------------------------------------------------------ single things

    def find_candidates(self, prefix: str) -> list[CandidateRow]:
        """Candidates whose id or native id is this, or else whose id begins so; at most 20."""
        return governed.find_candidates(self._link, prefix)

    def find_memories(self, prefix: str) -> list[MemoryRow]:
        """Memories whose id begins so; at most 20."""
        return governed.find_memories(self._link, prefix)

    def candidate(self, id: str, version: int) -> MemoryCandidate | None:
        """A version of a candidate; ``None`` where there is none, or its text was erased."""
        return governed.read_candidate(self._link, id, version)

    def candidate_versions(self, id: str) -> list[CandidateVersionRow]:
        """Every version of a candidate."""
        return governed.candidate_versions(self._link, id)

    def memory(self, id: str, version: int) -> GovernanceMemoryRecord | None:
        """A version of a memory; ``None`` where there is none, or its text was erased."""
        return governed.read_memory(self._link, id, version)

    def memory_versions(self, id: str) -> list[MemoryVersionRow]:
        """Every version of a memory."""
        return governed.memory_versions(self._link, id)

    def claim(self, object: str) -> ClaimRow | None:
        """Who last said they decide about something."""
        return governed.claim(self._link, object)

    def decisions(self, *objects: str) -> list[DecisionRow]:
        """What was decided about these, the first decision first."""
        return governed.decisions(self._link, objects)

    def batch(self, id: str) -> list[DecisionRow]:
        """The decisions that were taken together."""
        return governed.batch(self._link, id)

    def find_decisions(self, prefix: str) -> list[DecisionRow]:
        """Decisions whose id begins so; at most 20."""
        return governed.decision(self._link, prefix)

    # ------------------------------------------------------------------------------------------- checks

    def settings(self) -> GovernancePolicy:
        """The settings in force: those of the applied policy, else the defaults."""
        from affidavit.memory.settings import GovernancePolicy
        from storage.queries.policy import policy

        applied = policy(self._link).policy
        return applied.governance if applied is not None else GovernancePolicy()

    def check(self, row: CandidateRow, now: datetime) -> Checked | None:
        """A candidate with its check as of ``now``; ``None`` where its text was erased."""
        from storage.queries.checking import checked

        candidate = governed.read_candidate(self._link, row.id, row.version)
        if candidate is None:
            return None
        return checked(self.checker(), row, candidate, now)

    def memory_shown(self, row: MemoryRow) -> tuple[dict[str, Any], str] | None:
        """What of a memory is shown, and its digest; ``None`` where its text was erased."""
        from affidavit.memory.shown import digest
        from storage.queries.checking import memory_shown

        record = governed.read_memory(self._link, row.id, row.version)
        if record is None:
            return None
        shown = memory_shown(self.checker(), row, record)
        return shown, digest(shown)

    def hits(self, query: RecallQuery, now: datetime) -> list[MemoryHit]:
        """Memories of a query's scope that match it, the best first, whatever state they are in: for the gate."""
        from storage.queries.recalling import memory_hits

        return memory_hits(self._link, query, now)

    def scope_hits(self, query: RecallQuery, now: datetime) -> list[MemoryHit]:
        """Every memory of a query's scope, as if it matched wholly, whatever state it is in: for the gate."""
        from storage.queries.recalling import scope_hits

        return scope_hits(self._link, query, now)

    def health(self, now: datetime) -> list[Ailment]:
        """What of the active memories is worth a look."""
        from storage.queries.governed_health import ailments

        return ailments(self.checker(), now)

    def checker(self) -> Checker:
        """What checks, made again when something was written."""
        from storage.queries.surroundings import Checker

        version = self._link.value("PRAGMA data_version")
        settings = self.settings()
        if self._checker is None or self._checker[:2] != (version, settings):
            self._checker = version, settings, Checker(self._link, self._records(), settings)
        return self._checker[2]
