"""The tables of a store, declared once.

Four kinds. *Durable* tables hold what was recorded and are the only ones that are migrated. *Fold* tables are a
pure function of the durable ones and are rebuilt, never altered; their names stand in :data:`FOLDS` in the
order ``verify`` compares them. *Index* tables begin with ``ix_`` and are never evidence. Personal things are
files in the user's folders and have no table.

Importing this module loads SQLModel; it is needed only to create, migrate or rebuild a store. Reads and bulk
writes go through the driver with tuples. Times are UTC microseconds since 1970.
"""

from __future__ import annotations

from sqlalchemy import Column, Index, Integer, LargeBinary, Text
from sqlalchemy import text as sql
from sqlmodel import Field, SQLModel

from affidavit.memory.transitions import OPEN
from storage.folds import FOLDS

__all__ = ["DURABLE", "FOLDS", "SQLModel"]

STRICT = {"sqlite_strict": True}
KEYED = {"sqlite_strict": True, "sqlite_with_rowid": False}


def _key(kind: type) -> Column:  # type: ignore[type-arg]
    return Column(kind, primary_key=True, nullable=False)


def _text(null: bool = False, unique: bool = False) -> Column:  # type: ignore[type-arg]
    return Column(Text, nullable=null, unique=unique)


def _int(null: bool = False) -> Column:  # type: ignore[type-arg]
    return Column(Integer, nullable=null)


def _blob(null: bool = False) -> Column:  # type: ignore[type-arg]
    return Column(LargeBinary, nullable=null)


# ---------------------------------------------------------------------------------------------- durable


class StoreKey(SQLModel, table=True):
    """What makes this store itself: ``ws`` (its random id) and ``lookup`` (key of path and name look-ups)."""

    __tablename__ = "store_key"
    __table_args__ = KEYED
    name: str = Field(sa_column=_key(Text))
    value: bytes = Field(sa_column=_blob())


class LedgerEntry(SQLModel, table=True):
    """One entry: its exact RFC 8785 bytes and ``leaf`` = SHA-256(0x00 ‖ entry). ``idx`` is gapless from 0."""

    __tablename__ = "ledger_entry"
    __table_args__ = STRICT
    idx: int = Field(sa_column=_key(Integer))
    id: str = Field(sa_column=_text(unique=True))
    entry: bytes = Field(sa_column=_blob())
    leaf: bytes = Field(sa_column=_blob())


class Tile(SQLModel, table=True):
    """A full tile of 256 hashes of the tree, so that a proof reads a handful of rows."""

    __tablename__ = "tile"
    __table_args__ = KEYED
    level: int = Field(sa_column=_key(Integer))
    n: int = Field(sa_column=_key(Integer))
    hashes: bytes = Field(sa_column=_blob())


class Segment(SQLModel, table=True):
    """The bytes of 1 to 1,000 consecutive records of one revision of one source.

    ``entry``: its ledger entry. ``source``: ledger index of its ``import.revision``. ``start``, ``line``: byte
    offset and line number (from 1) of the first byte. ``cuts``: length of each record's span, 4 bytes little
    endian each. ``data``: the spans, zstd; ``digest``: SHA-256 of ``data`` as stored. ``salts``, ``commits``:
    32 bytes a record; a withheld record's salt and value are zero bytes.
    """

    __tablename__ = "segment"
    __table_args__ = (Index("segment_by_source", "source", "start"), STRICT)
    entry: int = Field(sa_column=_key(Integer))
    source: int = Field(sa_column=_int())
    start: int = Field(sa_column=_int())
    size: int = Field(sa_column=_int())
    line: int = Field(sa_column=_int())
    records: int = Field(sa_column=_int())
    cuts: bytes = Field(sa_column=_blob())
    data: bytes = Field(sa_column=_blob())
    digest: bytes = Field(sa_column=_blob())
    salts: bytes = Field(sa_column=_blob())
    commits: bytes = Field(sa_column=_blob())


class Payload(SQLModel, table=True):
    """Content an entry commits to: ``commit`` = HMAC-SHA-256(``salt``, bytes). Erased only by a redaction."""

    __tablename__ = "payload"
    __table_args__ = (Index("payload_by_digest", "sha256"), STRICT)
    commit: bytes = Field(sa_column=_key(LargeBinary))
    salt: bytes = Field(sa_column=_blob())
    sha256: bytes = Field(sa_column=_blob())
    media: str = Field(sa_column=_text())
    size: int = Field(sa_column=_int())


class PayloadChunk(SQLModel, table=True):
    """1 MiB of a payload's bytes; the last chunk may be shorter."""

    __tablename__ = "payload_chunk"
    __table_args__ = STRICT
    commit: bytes = Field(sa_column=_key(LargeBinary))
    no: int = Field(sa_column=_key(Integer))
    data: bytes = Field(sa_column=_blob())


# ------------------------------------------------------------------------------------------------ folds


class Fold(SQLModel, table=True):
    """How far the folds have come: the version of the fold and the number of entries folded."""

    __tablename__ = "fold"
    __table_args__ = KEYED
    name: str = Field(sa_column=_key(Text))
    version: int = Field(sa_column=_int())
    entries: int = Field(sa_column=_int())


class Source(SQLModel, table=True):
    """One revision of one file or stream. ``no`` is the ledger index of its ``import.revision`` entry.

    ``cursor``: bytes taken so far; ``line``: number of the line that stands there; ``sort``: running maximum of
    its instants. ``key``: HMAC of its full path under the store's key. ``native``, ``lane``: the session and
    lane it speaks of unless a record says otherwise; ``session``: that session's row. ``entries``, ``last``:
    number of ledger entries of its stream and index of the newest.
    """

    __tablename__ = "source"
    __table_args__ = (
        Index("source_by_key", "key", "revision"),
        Index("source_replaced", "revision", "key", sqlite_where=Column("revision", Integer) > 1),
        STRICT,
    )
    no: int = Field(sa_column=_key(Integer))
    id: str = Field(sa_column=_text())
    revision: int = Field(sa_column=_int())
    key: bytes = Field(sa_column=_blob())
    path: str = Field(sa_column=_text())
    format: str = Field(sa_column=_text())
    native: str = Field(sa_column=_text())
    lane: str = Field(sa_column=_text())
    session: int | None = Field(sa_column=_int(null=True))
    cursor: int = Field(sa_column=_int())
    line: int = Field(sa_column=_int())
    sort: int = Field(sa_column=_int())
    entries: int = Field(sa_column=_int())
    last: int = Field(sa_column=_int())
    records: int = Field(sa_column=_int())
    mapped: int = Field(sa_column=_int())
    unknown: int = Field(sa_column=_int())
    duplicates: int = Field(sa_column=_int())
    unreadable: int = Field(sa_column=_int())
    turn: int = Field(sa_column=_int())


class Session(SQLModel, table=True):
    """One session, counted. ``timed`` 0: no time was recorded, ``started`` and ``ended`` mean nothing.

    ``parent``: the agent's own id of the session it came from, as its log says; ``relation``: how, ``fork`` or
    ``sub-agent``. ``state`` is what the fold needs to go on (JSON); ``models`` a JSON list; ``tokens`` input plus
    output.
    """

    __tablename__ = "session"
    __table_args__ = (
        Index("session_by_native", "format", "native"),
        Index("session_by_started", "started", "no"),
        Index("session_by_ended", "ended", "no"),
        Index("session_by_title", "title", "no"),
        Index("session_by_events", "events", "no"),
        Index("session_by_turns", "turns", "no"),
        Index("session_by_tokens", "tokens", "no"),
        Index("session_by_problems", "problems", "no"),
        Index("session_by_parent", "format", "parent", sqlite_where=Column("parent", Text).isnot(None)),
        STRICT,
    )
    no: int = Field(sa_column=_key(Integer))
    uid: str = Field(sa_column=_text(unique=True))
    format: str = Field(sa_column=_text())
    native: str = Field(sa_column=_text())
    title: str = Field(sa_column=_text())
    project: str | None = Field(sa_column=_text(null=True))
    cwd: str | None = Field(sa_column=_text(null=True))
    git_branch: str | None = Field(sa_column=_text(null=True))
    version: str | None = Field(sa_column=_text(null=True))
    timed: int = Field(sa_column=_int())
    started: int = Field(sa_column=_int())
    ended: int = Field(sa_column=_int())
    events: int = Field(sa_column=_int())
    turns: int = Field(sa_column=_int())
    lanes: int = Field(sa_column=_int())
    branches: int = Field(sa_column=_int())
    problems: int = Field(sa_column=_int())
    unreadable: int = Field(sa_column=_int())
    unknown: int = Field(sa_column=_int())
    duplicates: int = Field(sa_column=_int())
    models: str = Field(sa_column=_text())
    tokens: int = Field(sa_column=_int())
    tokens_in: int = Field(sa_column=_int())
    tokens_out: int = Field(sa_column=_int())
    cache_read: int = Field(sa_column=_int())
    cache_write: int = Field(sa_column=_int())
    checked: str | None = Field(sa_column=_text(null=True))
    parent: str | None = Field(sa_column=_text(null=True))
    relation: str | None = Field(sa_column=_text(null=True))
    state: str = Field(sa_column=_text())


class Turn(SQLModel, table=True):
    """A turn of the main lane. ``n``: its first prompt's event. ``branch`` 0 is the main chain.

    ``alias``: the prompt key of a record that says its prompt again, where that had waited in a queue.
    """

    __tablename__ = "turn"
    __table_args__ = KEYED
    session: int = Field(sa_column=_key(Integer))
    turn: int = Field(sa_column=_key(Integer))
    key: str = Field(sa_column=_text())
    n: int = Field(sa_column=_int())
    sort: int = Field(sa_column=_int())
    parent: int = Field(sa_column=_int())
    branch: int = Field(sa_column=_int())
    alias: str | None = Field(sa_column=_text(null=True))


class Lane(SQLModel, table=True):
    """The main agent (lane 0) or a sub-agent. ``spawn``: the event that says it started it, when known.

    ``turn``: of that event; while it is not known, the turn that ran when the lane ``began`` (sort key of its
    ``first`` event). ``depth``: as stated of a lane whose ``parent`` is not known. ``told``: how many of its events
    only progress tells.
    """

    __tablename__ = "lane"
    __table_args__ = KEYED
    session: int = Field(sa_column=_key(Integer))
    lane: int = Field(sa_column=_key(Integer))
    name: str = Field(sa_column=_text())
    title: str | None = Field(sa_column=_text(null=True))
    parent: int | None = Field(sa_column=_int(null=True))
    depth: int | None = Field(sa_column=_int(null=True))
    turn: int | None = Field(sa_column=_int(null=True))
    spawn: int | None = Field(sa_column=_int(null=True))
    events: int = Field(sa_column=_int())
    began: int | None = Field(sa_column=_int(null=True))
    first: int | None = Field(sa_column=_int(null=True))
    told: int = Field(sa_column=_int())


class Event(SQLModel, table=True):
    """One event. ``n`` = ledger entry of its segment ‖ record in it (10 bits) ‖ block (22 bits).

    ``id``: the 64-bit event id. ``sort``: running maximum of the file's instants. ``turn`` 0: before the first
    prompt, or in a sub-agent's lane (there the lane's turn counts). ``pair``: the event it answers or that
    answers it. ``size``: characters of its text. ``problem``: 1 for errors, failed tools and checks, refusals.
    ``flags``: words of ``affidavit.session.event.FLAGS`` between blanks.
    """

    __tablename__ = "event"
    __table_args__ = (
        Index("event_by_id", "id"),
        Index("event_in_order", "session", "sort"),
        Index("event_problem", "session", "sort", sqlite_where=Column("problem", Integer) == 1),
        STRICT,
    )
    n: int = Field(sa_column=_key(Integer))
    id: int = Field(sa_column=_int())
    session: int = Field(sa_column=_int())
    lane: int = Field(sa_column=_int())
    turn: int = Field(sa_column=_int())
    kind: str = Field(sa_column=_text())
    actor: str = Field(sa_column=_text())
    at: int | None = Field(sa_column=_int(null=True))
    sort: int = Field(sa_column=_int())
    parent: int | None = Field(sa_column=_int(null=True))
    pair: int | None = Field(sa_column=_int(null=True))
    tool: str | None = Field(sa_column=_text(null=True))
    model: str | None = Field(sa_column=_text(null=True))
    summary: str = Field(sa_column=_text())
    size: int = Field(sa_column=_int())
    ok: int | None = Field(sa_column=_int(null=True))
    millis: int | None = Field(sa_column=_int(null=True))
    copies: int = Field(sa_column=_int())
    inferred: int = Field(sa_column=_int())
    problem: int = Field(sa_column=_int())
    flags: str = Field(sa_column=_text())


class MessageUsage(SQLModel, table=True):
    """Tokens of one model message, last report wins. ``n``: its first event; ``message``: hash of session and id."""

    __tablename__ = "usage"
    __table_args__ = (Index("usage_by_message", "message"), STRICT)
    n: int = Field(sa_column=_key(Integer))
    message: int = Field(sa_column=_int())
    session: int = Field(sa_column=_int())
    model: str | None = Field(sa_column=_text(null=True))
    tokens_in: int = Field(sa_column=_int())
    tokens_out: int = Field(sa_column=_int())
    cache_read: int = Field(sa_column=_int())
    cache_write: int = Field(sa_column=_int())


class OpenCall(SQLModel, table=True):
    """A tool call that waits for its result, or (``n`` of the result, ``early`` 1) a result that came first.

    ``told``: the kind of check the call runs, or the outcome the result's text tells.
    """

    __tablename__ = "open_call"
    __table_args__ = KEYED
    session: int = Field(sa_column=_key(Integer))
    call: int = Field(sa_column=_key(Integer))
    n: int = Field(sa_column=_int())
    early: int = Field(sa_column=_int())
    at: int | None = Field(sa_column=_int(null=True))
    told: str | None = Field(sa_column=_text(null=True))
    lane: int = Field(sa_column=_int())
    turn: int = Field(sa_column=_int())


class Passed(SQLModel, table=True):
    """A record that has an id but no event of its own: what follows it still needs its turn and lane."""

    __tablename__ = "passed"
    __table_args__ = KEYED
    id: int = Field(sa_column=_key(Integer))
    turn: int = Field(sa_column=_int())
    lane: int = Field(sa_column=_int())
    parent: int | None = Field(sa_column=_int(null=True))
    n: int = Field(sa_column=_int())


class Awaited(SQLModel, table=True):
    """A parent that was named before it was seen, by the first event that named it."""

    __tablename__ = "awaited"
    __table_args__ = KEYED
    parent: int = Field(sa_column=_key(Integer))
    n: int = Field(sa_column=_key(Integer))


class Copied(SQLModel, table=True):
    """A record (``n``) that repeats one known before (``original``) and has no event of its own; numbers as of events.

    So it is known where a record stands besides where it was first read: which revisions of which files hold it.
    """

    __tablename__ = "copied"
    __table_args__ = (Index("copied_by_original", "original"), STRICT)
    n: int = Field(sa_column=_key(Integer))
    original: int = Field(sa_column=_int())


class Beginning(SQLModel, table=True):
    """A record a session begins with, by an id (``record``) that is the same in whatever session it stands.

    Of more sessions that begin alike only the first few are kept: they are told to be twins by those.
    """

    __tablename__ = "beginning"
    __table_args__ = (Index("beginning_by_session", "session"), KEYED)
    record: int = Field(sa_column=_key(Integer))
    session: int = Field(sa_column=_key(Integer))


class Repeated(SQLModel, table=True):
    """How often a record without an id has stood in a revision, where its bytes had been seen before.

    ``id``: of the first event of the first such record.
    """

    __tablename__ = "repeated"
    __table_args__ = KEYED
    source: int = Field(sa_column=_key(Integer))
    id: int = Field(sa_column=_key(Integer))
    count: int = Field(sa_column=_int())


class Unreadable(SQLModel, table=True):
    """A run of bytes that is no JSON value. ``n`` as in :class:`Event`, block 0."""

    __tablename__ = "unreadable"
    __table_args__ = (Index("unreadable_by_source", "source", "n"), STRICT)
    n: int = Field(sa_column=_key(Integer))
    source: int = Field(sa_column=_int())
    session: int | None = Field(sa_column=_int(null=True))
    line: int = Field(sa_column=_int())
    offset: int = Field(sa_column=_int())
    length: int = Field(sa_column=_int())
    reason: str = Field(sa_column=_text())


class Artifact(SQLModel, table=True):
    """A large body by its digest, where it stands: ``n`` of the record that carries it."""

    __tablename__ = "artifact"
    __table_args__ = (Index("artifact_by_digest", "digest"), KEYED)
    session: int = Field(sa_column=_key(Integer))
    n: int = Field(sa_column=_key(Integer))
    digest: bytes = Field(sa_column=_blob())
    media: str = Field(sa_column=_text())
    name: str | None = Field(sa_column=_text(null=True))
    size: int = Field(sa_column=_int())


class Snapshot(SQLModel, table=True):
    """The record of one retrieval, for lists; what a view shows of it is read again from the record ``n``.

    ``session`` 0: of no session of ours; ``asker``: the session it names as the one that asked, which may be of another
    agent. ``id``: as recorded; ``uid``: its fixed form. ``request``: id of the model request it
    was for. ``timed`` 0: no time was recorded, ``at`` means nothing. Counts are null where they were not recorded.
    ``sources``, ``reasons``: JSON lists of words that occur in it. ``verdict``: the worst of its hash verdicts.
    """

    __tablename__ = "snapshot"
    __table_args__ = (
        Index("snapshot_by_id", "id"),
        Index("snapshot_by_uid", "uid"),
        Index("snapshot_by_at", "at", "n"),
        KEYED,
    )
    session: int = Field(sa_column=_key(Integer))
    n: int = Field(sa_column=_key(Integer))
    id: str = Field(sa_column=_text())
    uid: str = Field(sa_column=_text())
    asker: str | None = Field(sa_column=_text(null=True))
    request: str | None = Field(sa_column=_text(null=True))
    purpose: str | None = Field(sa_column=_text(null=True))
    question: str = Field(sa_column=_text())
    timed: int = Field(sa_column=_int())
    at: int = Field(sa_column=_int())
    recalled: int | None = Field(sa_column=_int(null=True))
    filtered: int | None = Field(sa_column=_int(null=True))
    ranked_out: int | None = Field(sa_column=_int(null=True))
    trimmed: int | None = Field(sa_column=_int(null=True))
    selected: int | None = Field(sa_column=_int(null=True))
    redacted: int | None = Field(sa_column=_int(null=True))
    sources: str = Field(sa_column=_text())
    reasons: str = Field(sa_column=_text())
    verdict: str | None = Field(sa_column=_text(null=True))


class GateRun(SQLModel, table=True):
    """One run of the recall gate, for lists; what a view shows of it is read again from the record ``n``.

    ``session`` 0: of no session. ``id``: as recorded; ``uid``: its fixed form. ``space``: the memory space asked.
    ``timed`` 0: no time was recorded, ``at`` means nothing. ``accepted``, ``rejected``: how many. ``dry`` 1: nothing
    was handed over. ``policy``: the ledger entry whose policy it was judged by. ``reasons``: JSON list of codes.
    """

    __tablename__ = "gate_run"
    __table_args__ = (
        Index("gate_run_by_id", "id"),
        Index("gate_run_by_uid", "uid"),
        Index("gate_run_by_at", "at", "n"),
        KEYED,
    )
    session: int = Field(sa_column=_key(Integer))
    n: int = Field(sa_column=_key(Integer))
    id: str = Field(sa_column=_text())
    uid: str = Field(sa_column=_text())
    query: str = Field(sa_column=_text())
    space: str | None = Field(sa_column=_text(null=True))
    timed: int = Field(sa_column=_int())
    at: int = Field(sa_column=_int())
    accepted: int = Field(sa_column=_int())
    rejected: int = Field(sa_column=_int())
    dry: int = Field(sa_column=_int())
    policy: int | None = Field(sa_column=_int(null=True))
    reasons: str = Field(sa_column=_text())


class Summary(SQLModel, table=True):
    """What a conversation was about, by the id of the record it ended with, in whichever session that stands."""

    __tablename__ = "summary"
    __table_args__ = KEYED
    format: str = Field(sa_column=_key(Text))
    leaf: str = Field(sa_column=_key(Text))
    summary: str = Field(sa_column=_text())


class RuleSection(SQLModel, table=True):
    """A section of a rule file, from one heading to the next. ``source``: the file's revision; ``n``: its record.

    ``section`` 0 is the whole file, which the others tile. ``heading``: JSON list of the headings it stands under,
    outermost first; ``level`` 0: before the first one. ``first``, ``last``: its lines, from 1. ``offset``, ``size``:
    its bytes. ``digest``: their SHA-256; ``hidden``: runs of hidden characters among them. A file whose text cannot be
    had has section 0 alone, without a digest: it was erased, or is too large to be read.
    """

    __tablename__ = "rule_section"
    __table_args__ = (Index("rule_section_by_digest", "digest"), KEYED)
    source: int = Field(sa_column=_key(Integer))
    section: int = Field(sa_column=_key(Integer))
    n: int = Field(sa_column=_int())
    heading: str = Field(sa_column=_text())
    level: int = Field(sa_column=_int())
    first: int = Field(sa_column=_int())
    last: int = Field(sa_column=_int())
    offset: int = Field(sa_column=_int())
    size: int = Field(sa_column=_int())
    digest: bytes | None = Field(sa_column=_blob(null=True))
    hidden: int = Field(sa_column=_int())


class SaidTwice(SQLModel, table=True):
    """What may stand in two streams of one log, by a hash; ``n``: the event that said it last.

    ``notices``, ``items``: how often each stream did; see :mod:`affidavit.session.echoes`.
    """

    __tablename__ = "echo"
    __table_args__ = KEYED
    session: int = Field(sa_column=_key(Integer))
    said: int = Field(sa_column=_key(Integer))
    n: int = Field(sa_column=_int())
    notices: int = Field(sa_column=_int())
    items: int = Field(sa_column=_int())


class Holder(SQLModel, table=True):
    """An index: the sessions that hold a message, by an id (``record``) that is the same in whatever session it stands.

    What a summary of a conversation is a title of is found by it.
    """

    __tablename__ = "ix_holder"
    __table_args__ = KEYED
    record: int = Field(sa_column=_key(Integer))
    session: int = Field(sa_column=_key(Integer))


class CopiedBeginning(SQLModel, table=True):
    """A revision of a file that begins with a copy of another session's history, as far as that is known.

    The columns are those of :class:`affidavit.session.forks.Fork`.
    """

    __tablename__ = "fork"
    __table_args__ = KEYED
    source: int = Field(sa_column=_key(Integer))
    format: str = Field(sa_column=_text())
    native: str = Field(sa_column=_text())
    parent: str = Field(sa_column=_text())
    since: int | None = Field(sa_column=_int(null=True))
    start: int | None = Field(sa_column=_int(null=True))
    sure: int = Field(sa_column=_int())
    timed: int = Field(sa_column=_int())
    frontier: int = Field(sa_column=_int())
    seen: int = Field(sa_column=_int())
    end: int | None = Field(sa_column=_int(null=True))
    awaits: int | None = Field(sa_column=_int(null=True))


class Candidate(SQLModel, table=True):
    """A memory candidate and where it stands. See ``storage.folds.governed_rows``, which names every column."""

    __tablename__ = "candidate"
    __table_args__ = (
        Index("candidate_waiting", "risk", "id", sqlite_where=sql(f"status IN {OPEN!r}")),
        Index("candidate_by_status", "status", "created", "id"),
        Index("candidate_by_created", "created", "id"),
        Index("candidate_by_scope", "level", "scope"),
        Index("candidate_by_words", "words"),
        STRICT,
    )
    id: str = Field(sa_column=_key(Text))
    native: str = Field(sa_column=_text())
    n: int = Field(sa_column=_int())
    seen: int = Field(sa_column=_int())
    origin: str = Field(sa_column=_text())
    version: int = Field(sa_column=_int())
    status: str = Field(sa_column=_text())
    claimed: str = Field(sa_column=_text())
    kind: str = Field(sa_column=_text())
    level: str = Field(sa_column=_text())
    scope: str = Field(sa_column=_text())
    source: str = Field(sa_column=_text())
    confidence: str = Field(sa_column=_text())
    authority: str = Field(sa_column=_text())
    created: int = Field(sa_column=_int())
    expires: int | None = Field(sa_column=_int(null=True))
    risk: int = Field(sa_column=_int())
    words: str = Field(sa_column=_text())
    memory: str | None = Field(sa_column=_text(null=True))
    merged: str | None = Field(sa_column=_text(null=True))
    until: int | None = Field(sa_column=_int(null=True))
    stream: str | None = Field(sa_column=_text(null=True))
    sseq: int | None = Field(sa_column=_int(null=True))
    entry: int | None = Field(sa_column=_int(null=True))


class CandidateVersion(SQLModel, table=True):
    """One version of a candidate; ``entry``: the decision that made it, null where a line did."""

    __tablename__ = "candidate_version"
    __table_args__ = KEYED
    candidate: str = Field(sa_column=_key(Text))
    version: int = Field(sa_column=_key(Integer))
    entry: int | None = Field(sa_column=_int(null=True))
    body: str = Field(sa_column=_text())


class CandidateLine(SQLModel, table=True):
    """A record (``n``) that proposes a candidate, copies too: what is to be erased where it is forgotten."""

    __tablename__ = "candidate_line"
    __table_args__ = (Index("candidate_line_of", "candidate"), STRICT)
    n: int = Field(sa_column=_key(Integer))
    candidate: str = Field(sa_column=_text())


class Memory(SQLModel, table=True):
    """A governed memory as its current version says."""

    __tablename__ = "memory"
    __table_args__ = (
        Index("memory_by_status", "status", "id"),
        Index("memory_by_updated", "updated", "id"),
        Index("memory_by_scope", "level", "scope"),
        Index("memory_by_words", "words"),
        STRICT,
    )
    id: str = Field(sa_column=_key(Text))
    candidate: str = Field(sa_column=_text())
    version: int = Field(sa_column=_int())
    status: str = Field(sa_column=_text())
    kind: str = Field(sa_column=_text())
    level: str = Field(sa_column=_text())
    scope: str = Field(sa_column=_text())
    authority: str = Field(sa_column=_text())
    confidence: str = Field(sa_column=_text())
    visibility: str = Field(sa_column=_text())
    user: str | None = Field(sa_column=_text(null=True))
    agent: str | None = Field(sa_column=_text(null=True))
    space: str | None = Field(sa_column=_text(null=True))
    route: str | None = Field(sa_column=_text(null=True))
    task_type: str | None = Field(sa_column=_text(null=True))
    risk_mode: str | None = Field(sa_column=_text(null=True))
    created: int = Field(sa_column=_int())
    approved: int = Field(sa_column=_int())
    verified: int | None = Field(sa_column=_int(null=True))
    updated: int = Field(sa_column=_int())
    expires: int | None = Field(sa_column=_int(null=True))
    review: int | None = Field(sa_column=_int(null=True))
    words: str = Field(sa_column=_text())
    merged: str | None = Field(sa_column=_text(null=True))
    stream: str | None = Field(sa_column=_text(null=True))
    sseq: int | None = Field(sa_column=_int(null=True))
    entry: int | None = Field(sa_column=_int(null=True))


class MemoryVersion(SQLModel, table=True):
    """One version of a governed memory and the decision that made it."""

    __tablename__ = "memory_version"
    __table_args__ = KEYED
    memory: str = Field(sa_column=_key(Text))
    version: int = Field(sa_column=_key(Integer))
    decision: str = Field(sa_column=_text())
    entry: int = Field(sa_column=_int())
    status: str = Field(sa_column=_text())
    body: str = Field(sa_column=_text())


class Claim(SQLModel, table=True):
    """Who is deciding about a candidate or memory (``object``), until when."""

    __tablename__ = "claim"
    __table_args__ = KEYED
    object: str = Field(sa_column=_key(Text))
    by: str = Field(sa_column=_text())
    at: int = Field(sa_column=_int())
    until: int = Field(sa_column=_int())
    entry: int = Field(sa_column=_int())


class Decision(SQLModel, table=True):
    """A decision about a candidate or memory (``object``), with what stood before it, for undoing it."""

    __tablename__ = "decision"
    __table_args__ = (Index("decision_about", "object", "entry"), Index("decision_by_batch", "batch"), STRICT)
    id: str = Field(sa_column=_key(Text))
    entry: int = Field(sa_column=_int())
    at: int = Field(sa_column=_int())
    verb: str = Field(sa_column=_text())
    what: str = Field(sa_column=_text())
    object: str = Field(sa_column=_text())
    version: int = Field(sa_column=_int())
    by: str = Field(sa_column=_text())
    reason: str = Field(sa_column=_text())
    shown_hash: str = Field(sa_column=_text())
    findings: str = Field(sa_column=_text())
    batch: str | None = Field(sa_column=_text(null=True))
    memory: str | None = Field(sa_column=_text(null=True))
    before: str = Field(sa_column=_text())
    undone: str | None = Field(sa_column=_text(null=True))


class Said(SQLModel, table=True):
    """What a candidate or memory says of an attribute: two that say otherwise are found by it."""

    __tablename__ = "said"
    __table_args__ = (Index("said_of", "attribute", "value"), KEYED)
    what: str = Field(sa_column=_key(Text))
    id: str = Field(sa_column=_key(Text))
    key: str = Field(sa_column=_key(Text))
    attribute: str = Field(sa_column=_text())
    value: str = Field(sa_column=_text())


class Tombstone(SQLModel, table=True):
    """Something that is not to come back. ``undone`` 1: it may again."""

    __tablename__ = "tombstone"
    __table_args__ = (Index("tombstone_by_words", "words"), KEYED)
    id: str = Field(sa_column=_key(Text))
    entry: int = Field(sa_column=_int())
    what: str = Field(sa_column=_text())
    object: str = Field(sa_column=_text())
    version: int = Field(sa_column=_int())
    words: str = Field(sa_column=_text())
    salt: str = Field(sa_column=_text())
    mac: str = Field(sa_column=_text())
    undone: int = Field(sa_column=_int())


class PolicyChange(SQLModel, table=True):
    """One change of the store's policy; the newest acts. ``entry``: its ledger entry, ``stream``, ``sseq``: its chain.

    ``document``: the policy as RFC 8785 JSON, defaults written out. ``actor``: who decided, ``reason``: why. Each of
    the three is null once it was erased.
    """

    __tablename__ = "policy"
    __table_args__ = STRICT
    entry: int = Field(sa_column=_key(Integer))
    id: str = Field(sa_column=_text())
    stream: str = Field(sa_column=_text())
    sseq: int = Field(sa_column=_int())
    time: int = Field(sa_column=_int())
    actor: str | None = Field(sa_column=_text(null=True))
    reason: str | None = Field(sa_column=_text(null=True))
    document: str | None = Field(sa_column=_text(null=True))


class Withheld(SQLModel, table=True):
    """A commitment whose content was erased, and the redaction entry that says so."""

    __tablename__ = "withheld"
    __table_args__ = KEYED
    commit: bytes = Field(sa_column=_key(LargeBinary))
    entry: int = Field(sa_column=_int())


DURABLE = ("store_key", "ledger_entry", "tile", "segment", "payload", "payload_chunk")
