"""Read models: plain, immutable rows for screens and JSON. Times are UTC microseconds since 1970, or ``None``."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Generic, TypeVar

Row = TypeVar("Row")


@dataclass(frozen=True, slots=True)
class Tokens:
    input: int
    output: int
    cache_read: int
    cache_write: int


@dataclass(frozen=True, slots=True)
class SessionRow:
    """One session as a list shows it. ``check``: outcome of the last verification, ``passed failed`` or ``None``."""

    key: int
    uid: str
    native: str
    agent: str
    title: str
    project: str | None
    started: int | None
    ended: int | None
    events: int
    turns: int
    lanes: int
    branches: int
    problems: int
    unreadable: int
    models: tuple[str, ...]
    tokens: Tokens
    check: str | None
    cwd: str | None
    git_branch: str | None
    version: str | None
    unknown: int
    duplicates: int
    parent: str | None = None
    """The agent's own id of the session it came from, where its log names one."""
    relation: str | None = None
    """How it came from there: ``fork`` or ``sub-agent``."""
    flags: tuple[str, ...] = ()
    """``superseded``: a file of it was replaced or cut, so that some of its events may stand in no file any more."""


@dataclass(frozen=True, slots=True)
class Kin:
    """A session that hangs on another. ``relation``: ``fork``, ``sub-agent`` or ``copy``, which is inferred."""

    row: SessionRow
    relation: str


@dataclass(frozen=True, slots=True)
class EventRow:
    """One event as the timeline shows it.

    ``key`` is the event's row number, ``pair`` that of the intent or observation it belongs to, ``parent`` the id
    of the record it follows (its first event's). ``turn`` 0 is before the first prompt; a sub-agent's events have
    the turn their lane was started in. ``millis``: duration. ``copies``: how often the same record stands in the log.
    ``branch`` 0 is the main chain.
    ``summary`` is one line, at most 200 characters, still untrusted.
    """

    key: int
    id: int
    session: int
    kind: str
    actor: str
    turn: int
    lane: int
    branch: int
    at: int | None
    sort: int
    parent: int | None
    pair: int | None
    tool: str | None
    summary: str
    size: int
    ok: bool | None
    millis: int | None
    copies: int
    inferred: bool
    flags: tuple[str, ...]
    model: str | None
    tokens: Tokens | None

    @property
    def abandoned(self) -> bool:
        return self.branch != 0


@dataclass(frozen=True, slots=True)
class SourceSpan:
    """Where a record's bytes stand in the file it came from; ``line`` counts from 1, ``offset`` from 0."""

    file: str
    line: int
    offset: int
    length: int
    entry: int
    record: int


@dataclass(frozen=True, slots=True)
class EventDetail:
    """An event whole: its text re-read from the recorded bytes."""

    row: EventRow
    text: str
    refs: tuple[str, ...]
    source: SourceSpan
    recorded_at: str | None
    withheld_by: int | None
    """The redaction entry that erased the bytes, if one did; ``text`` is then empty."""
    copies: tuple[SourceSpan, ...] = ()
    """Where else the same record stands: the first places of them, in the order in which they were read."""


@dataclass(frozen=True, slots=True)
class LaneRow:
    lane: int
    name: str
    title: str | None
    parent: int | None
    depth: int
    turn: int | None
    events: int
    spawn: int | None


@dataclass(frozen=True, slots=True)
class TurnRow:
    turn: int
    key: int | None
    branch: int
    at: int | None
    summary: str
    events: int
    problems: int


@dataclass(frozen=True, slots=True)
class Hit:
    """One search hit. ``excerpt`` was cut from the recorded text; ``spans`` are the matched parts in it."""

    key: int
    id: int
    session_uid: str
    session_title: str
    kind: str
    at: int | None
    excerpt: str
    spans: tuple[tuple[int, int], ...]


@dataclass(frozen=True, slots=True)
class Total:
    value: int
    exact: bool


@dataclass(frozen=True, slots=True)
class Page(Generic[Row]):
    """A window of a longer list. ``before``, ``after``: cursors for the neighbouring pages, ``None`` at an end."""

    rows: tuple[Row, ...]
    before: tuple[object, ...] | None
    after: tuple[object, ...] | None


@dataclass(frozen=True, slots=True)
class SourceRow:
    """One revision of one file and how its records were read: records = mapped + unknown + duplicates + unreadable.

    ``key``: ledger entry of the revision. ``bytes``: how much of the file was taken. ``session``: uid of the
    session it speaks of, where it speaks of one.
    """

    key: int
    file: str
    format: str
    revision: int
    session: str | None
    bytes: int
    records: int
    mapped: int
    unknown: int
    duplicates: int
    unreadable: int


@dataclass(frozen=True, slots=True)
class StoreTotals:
    """What a store holds in all."""

    sessions: int
    events: int
    records: int
    mapped: int
    unknown: int
    duplicates: int
    unreadable: int
    entries: int
    bytes: int


@dataclass(frozen=True, slots=True)
class Arrival:
    """Events that came into a session (its row number) of late. ``latest``: the newest time any of them recorded."""

    session: int
    events: int
    latest: int | None


@dataclass(frozen=True, slots=True)
class Content:
    """Something kept by its SHA-256 (``digest``, 64 hex digits): an imported payload, or a body inside a record.

    ``event`` is the row number of the record that carries it, ``None`` for a payload of its own. ``part``: (offset,
    size) of it in that body, where it is a section of a rule file.
    """

    digest: str
    media: str
    size: int
    name: str | None
    event: int | None
    part: tuple[int, int] | None = None
