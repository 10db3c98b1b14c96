"""The lines that propose memories; see :mod:`affidavit.lines`."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field

from affidavit.memory.candidate import CandidateSource, MemoryCandidate, Name, ScopeRef, Ttl
from affidavit.memory.record import GovernanceMemoryRecord
from affidavit.memory.words import SourceType


class CandidateLine(MemoryCandidate):
    """A memory somebody proposes. Whatever status it claims, it comes in as pending, and nobody believes it yet."""

    type: Literal["memory.candidate"]
    session: Name | None = Field(
        None, description="The session its event ids are of, where they are ids of that session's own records."
    )


class RecordLine(GovernanceMemoryRecord):
    """A memory of another store. It is read as a candidate, with the status it claims shown."""

    type: Literal["memory.record"]


LINES: dict[str, type[CandidateLine] | type[RecordLine]] = {
    "memory.candidate": CandidateLine,
    "memory.record": RecordLine,
}

NOT_OF_IT = frozenset({"type"})
OUTSIDE: SourceType = "agent_reflection"
"""What a memory of another store is taken from, as far as anybody here knows: the least trusted."""


def candidate_of(value: dict[str, Any]) -> MemoryCandidate:
    """The candidate a line proposes. Raises ``pydantic.ValidationError``."""
    line = LINES[value["type"]].model_validate(value)
    if isinstance(line, RecordLine):
        return _from_record(line)
    fields = {name: one for name, one in line.document().items() if name not in NOT_OF_IT}
    if line.status not in ("pending", "needs_review"):
        fields["claimedStatus"] = line.status
    return MemoryCandidate.model_validate({**fields, "status": "pending"})


def _from_record(line: RecordLine) -> MemoryCandidate:
    ttl = Ttl(expires_at=line.expires_at, review_after=line.review_after)
    given = line.document()
    shared = {
        name: given[name]
        for name in (
            "user", "agent", "memorySpace", "route", "taskType", "riskMode", "title", "tags", "visibility", "validFrom",
            "validUntil", "conflictKeys", "value", "id", "content", "kind", "confidence", "createdAt",
        )
        if name in given
    }  # fmt: skip
    return MemoryCandidate.model_validate(
        {
            **shared,
            "scope": ScopeRef(level=line.scope.level, key=line.scope.key).model_dump(by_alias=True),
            "source": CandidateSource(type=OUTSIDE, event_ids=line.source_refs).model_dump(by_alias=True),
            "ttl": ttl.model_dump(by_alias=True, exclude_none=True),
            "status": "pending",
            "claimedStatus": line.status,
            "authorityAsked": line.authority,
            "createdBy": "runtime",
            "traceRefs": [f"memory.record:{line.id}@{line.version}"],
        }
    )
