"""A governed memory: what somebody let in, with who, why, until when and in what tone it is told."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any

from pydantic import Field

from affidavit.memory.candidate import EXTENSION, Content, Identity, Instant, Name, ScopeRef
from affidavit.memory.words import Authority, Confidence, Kind, RecordStatus, Visibility


class GovernanceMemoryRecord(Identity):
    """One version of a governed memory."""

    id: Name
    candidate_id: Name
    content: Content
    kind: Kind
    scope: ScopeRef
    confidence: Confidence
    authority: Authority
    source_refs: list[Name]
    version: Annotated[int, Field(ge=1)]
    supersedes: list[Name] = Field([])
    status: RecordStatus
    created_at: Instant
    approved_at: Instant
    last_verified_at: Instant | None = None
    expires_at: Instant | None = None
    review_after: Instant | None = None
    title: str | None = Field(None, max_length=512, json_schema_extra=EXTENSION)
    tags: list[Name] = Field([], json_schema_extra=EXTENSION)
    visibility: Visibility = Field("shared", json_schema_extra=EXTENSION)
    origin: str = Field("", description="Who or what proposed it.", json_schema_extra=EXTENSION)
    updated_at: Instant | None = Field(None, json_schema_extra=EXTENSION)
    valid_from: Instant | None = Field(None, json_schema_extra=EXTENSION)
    valid_until: Instant | None = Field(None, json_schema_extra=EXTENSION)
    conflict_keys: list[Name] = Field([], json_schema_extra=EXTENSION)
    value: Name | None = Field(None, json_schema_extra=EXTENSION)
    decided_by: str = Field("", json_schema_extra=EXTENSION)
    reason: str = Field("", json_schema_extra=EXTENSION)

    def expires(self) -> datetime | None:
        """When it is over: the earlier of its expiry and the end of its validity."""
        times = [self.expires_at, self.valid_until]
        return min((datetime.fromisoformat(at) for at in times if at is not None), default=None)

    def document(self) -> dict[str, Any]:
        """It as JSON."""
        return self.model_dump(by_alias=True, exclude_none=True)
