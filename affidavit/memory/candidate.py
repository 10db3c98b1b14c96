"""A memory candidate: something that was proposed to be remembered, and is believed by nobody yet."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, JsonValue
from pydantic.alias_generators import to_camel

from affidavit.memory.words import (
    Authority,
    CandidateStatus,
    Confidence,
    Creator,
    Kind,
    Level,
    SourceType,
    Visibility,
)

EXTENSION: dict[str, JsonValue] = {"x-extension": True}
"""Marks in the schema what is added to the shape this one is taken from."""

LONGEST_CONTENT = 16_384
"""Characters a memory may have: what is longer is a document, and belongs in one."""


def _with_zone(at: str) -> str:
    moment = datetime.fromisoformat(at)
    if moment.tzinfo is None:
        raise ValueError("names no time zone (write Z or an offset)")
    return at


Instant = Annotated[str, Field(max_length=64, examples=["2026-05-14T10:02:11.000Z"]), AfterValidator(_with_zone)]
"""A time in ISO 8601 with its zone."""
Name = Annotated[str, Field(min_length=1, max_length=512)]
Content = Annotated[str, Field(min_length=1, max_length=LONGEST_CONTENT, pattern=r"\S")]


class Shape(BaseModel):
    """A JSON object with camelCase keys; fields that are not declared are kept and written out again."""

    model_config = ConfigDict(
        alias_generator=to_camel, validate_by_name=True, validate_by_alias=True, frozen=True, extra="allow", strict=True
    )


class ScopeRef(Shape):
    """Where something applies: a level and the key of what is meant on it. Without a key nobody knows where."""

    level: Level
    key: Annotated[str, Field(max_length=512)]

    def __str__(self) -> str:
        return f"{self.level}:{self.key}"


class CandidateSource(Shape):
    """What a candidate was taken from. ``event_ids``: events that speak for it; ``artifact_refs``: bodies, paths."""

    type: SourceType
    event_ids: list[Name]
    artifact_refs: list[Name] = []


class Ttl(Shape):
    """How long it is to be believed, and when somebody should look at it again."""

    expires_at: Instant | None = None
    review_after: Instant | None = None


class Identity(Shape):
    """Whom and what it is for, beside its scope: each field that is set must be asked for to find it."""

    user: Name | None = Field(None, json_schema_extra=EXTENSION)
    agent: Name | None = Field(None, json_schema_extra=EXTENSION)
    memory_space: Name | None = Field(None, json_schema_extra=EXTENSION)
    route: Name | None = Field(None, json_schema_extra=EXTENSION)
    task_type: Name | None = Field(None, json_schema_extra=EXTENSION)
    risk_mode: Name | None = Field(None, json_schema_extra=EXTENSION)


IDENTITY: tuple[str, ...] = tuple(Identity.model_fields)


class MemoryCandidate(Identity):
    """One candidate as a program proposes it."""

    id: Name = Field(description="The proposer's own id: a line with an id and content seen before adds nothing.")
    content: Content = Field(description="What is to be remembered, in one or a few sentences.")
    kind: Kind
    scope: ScopeRef
    source: CandidateSource
    confidence: Confidence = "low"
    ttl: Ttl | None = None
    status: CandidateStatus = Field(
        "pending", description="What the proposer says it is. Shown, never believed: it comes in as pending."
    )
    conflict_keys: list[Name] = Field([], description="level:key:attribute, such as repo:build-harness:test-command.")
    created_at: Instant
    created_by: Creator
    value: Name | None = Field(
        None, description="The value it gives its conflict keys, such as pnpm test.", json_schema_extra=EXTENSION
    )
    trace_refs: list[Name] = Field(
        [], description="What it can be traced by: a rule's name, a run, a snapshot.", json_schema_extra=EXTENSION
    )
    authority_asked: Authority = Field(
        "hint", description="The tone it asks to be told with.", json_schema_extra=EXTENSION
    )
    title: str | None = Field(None, max_length=512, json_schema_extra=EXTENSION)
    tags: list[Name] = Field([], json_schema_extra=EXTENSION)
    visibility: Visibility = Field("shared", json_schema_extra=EXTENSION)
    session: Name | None = Field(None, json_schema_extra=EXTENSION)
    proposed_by: Name | None = Field(
        None, description="The person who proposed it, or rewrote it.", json_schema_extra=EXTENSION
    )
    proposed_by_agent: Name | None = Field(
        None, description="The agent that proposed it; it cannot approve it.", json_schema_extra=EXTENSION
    )
    claimed_status: Name | None = Field(None, json_schema_extra=EXTENSION)
    valid_from: Instant | None = Field(None, json_schema_extra=EXTENSION)
    valid_until: Instant | None = Field(None, json_schema_extra=EXTENSION)

    def expires(self) -> datetime | None:
        """When it is over: the earlier of its time to live and its validity."""
        times = [self.ttl.expires_at if self.ttl else None, self.valid_until]
        return min((datetime.fromisoformat(at) for at in times if at is not None), default=None)

    def own(self, **changes: Any) -> MemoryCandidate:
        """The same with some fields changed, checked again."""
        return type(self).model_validate({**self.model_dump(by_alias=True), **changes})

    def document(self) -> dict[str, Any]:
        """It as JSON."""
        return self.model_dump(by_alias=True, exclude_none=True)
