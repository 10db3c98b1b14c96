"""What goes into the gate: memories a search found, and the query they were found for."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import Annotated, Any, Literal, NamedTuple

from pydantic import AliasChoices, BaseModel, BeforeValidator, ConfigDict, Field, FiniteFloat, ValidationError
from pydantic.alias_generators import to_camel

from affidavit.session.times import EPOCH, instant

Status = Literal["approved", "draft", "rejected", "private", "superseded"]
"""A hit's state of approval, as a memory store says it."""

Confidence = Literal["low", "medium", "high"]


def moment_of(recorded: Any) -> datetime | None:
    """A recorded time as an instant; one that names no zone is taken as UTC, one that cannot be read as none."""
    if isinstance(recorded, datetime):
        return recorded if recorded.tzinfo else None
    at, _ = instant(recorded) if isinstance(recorded, str) else (None, "")
    return None if at is None else EPOCH + timedelta(microseconds=at)


Moment = Annotated[datetime | None, BeforeValidator(moment_of)]


class Shape(BaseModel):
    """JSON in camelCase, snake_case in Python; unknown fields of foreign stores are passed over."""

    model_config = ConfigDict(alias_generator=to_camel, populate_by_name=True, frozen=True, extra="ignore")


class RecallScope(Shape):
    """Who asks, for what and where. Each field of a memory that is set must be set and equal here."""

    user: str | None = Field(default=None, validation_alias=AliasChoices("user", "userId", "user_id"))
    agent: str | None = Field(default=None, validation_alias=AliasChoices("agent", "agentId", "agent_id"))
    memory_space: str | None = Field(
        default=None, validation_alias=AliasChoices("memorySpace", "memorySpaceId", "memory_space", "memory_space_id")
    )
    route: str | None = Field(default=None, validation_alias=AliasChoices("route", "routeId", "route_id"))
    workspace: str | None = None
    repo: str | None = None
    branch: str | None = None
    module: str | None = None
    task_type: str | None = None
    risk_mode: str | None = None


SCOPE_FIELDS: tuple[str, ...] = tuple(RecallScope.model_fields)


class RecallQuery(RecallScope):
    """A query for memories: its text, its scope, and how many at most (``None``: what the settings say)."""

    text: str = ""
    limit: Annotated[int, Field(ge=1)] | None = None

    def scope(self) -> dict[str, str]:
        """The scope's fields that are set, as JSON names them."""
        return {to_camel(name): value for name in SCOPE_FIELDS if (value := getattr(self, name)) is not None}


class MemoryHit(RecallScope):
    """A memory a search found.

    ``score``: how well it matches, in the units of ``engine``. ``updated_at``: an instant, ``None`` where it is not
    recorded or cannot be read. ``expires_at``, ``revoked``, ``secret``, ``superseded_by``, ``confidence``,
    ``contradicted_by`` (the event that contradicts it) and ``conflicts_with`` are what a governed store knows besides.
    """

    id: Annotated[str, Field(min_length=1)]
    title: str = ""
    body: str = ""
    score: FiniteFloat
    updated_at: Moment = None
    status: Status
    visibility: Literal["private", "shared"] = "shared"
    source: str = ""
    tags: tuple[str, ...] = ()
    engine: str = ""
    confidence: Confidence | None = None
    expires_at: Moment = None
    revoked: bool = False
    secret: bool = False
    superseded_by: str | None = None
    contradicted_by: str | None = None
    conflicts_with: tuple[str, ...] = ()

    @property
    def named(self) -> str:
        """Everything of it a model would read."""
        return f"{self.title}\n{self.body}"

    def age_days(self, now: datetime) -> float | None:
        """Days since it was updated, ``None`` where that is not recorded."""
        return None if self.updated_at is None else (now - self.updated_at).total_seconds() / 86_400


class NotAHit(NamedTuple):
    """A value that is no hit: its place in what was given (from 0), its id where it has one, and why."""

    place: int
    id: str
    reason: str


def read_hits(values: Iterable[Any]) -> tuple[list[MemoryHit], list[NotAHit]]:
    """Hits from parsed JSON, and what is none. Of two with one id the second is none."""
    hits: dict[str, MemoryHit] = {}
    others: list[NotAHit] = []
    for place, value in enumerate(values):
        named = value.get("id") if isinstance(value, dict) else None
        id = named if isinstance(named, str) else ""
        try:
            hit = MemoryHit.model_validate(value)
        except ValidationError as error:
            others.append(NotAHit(place, id, told(error)))
            continue
        if hit.id in hits:
            others.append(NotAHit(place, hit.id, "another hit has this id"))
        else:
            hits[hit.id] = hit
    return list(hits.values()), others


def told(error: ValidationError) -> str:
    """What is wrong with a value, field by field, on one line."""
    problems = []
    for problem in error.errors(include_url=False, include_input=False)[:5]:
        where = ".".join(str(part) for part in problem["loc"])
        problems.append(f"{where}: {problem['msg']}" if where else problem["msg"])
    return "; ".join(problems)
