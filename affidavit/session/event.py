"""Events: what a session's log says happened, one block with one kind each.

A reader turns one stored record into a :class:`Reading` of zero or more :class:`Draft` events. Nothing here
knows a file or a table; what several records mean together (turns, lanes, pairs, branches, usage) is worked
out in :mod:`affidavit.session.derive`.
"""

from __future__ import annotations

from hashlib import sha256
from typing import Any, Literal

Kind = Literal[
    "session.opened",
    "session.closed",
    "user.message",
    "model.request",
    "model.message",
    "model.reasoning",
    "tool.intent",
    "permission.decision",
    "tool.finished",
    "retrieval.request",
    "retrieval.snapshot.created",
    "context.projected",
    "context.injected",
    "compaction",
    "memory.candidate.proposed",
    "memory.read",
    "memory.write",
    "verification",
    "lifecycle",
    "error",
    "note",
    "unknown",
]
"""What an event is. ``context.injected`` and ``lifecycle`` extend the founding list."""

KINDS: tuple[str, ...] = Kind.__args__  # type: ignore[attr-defined]

Actor = Literal["user", "agent", "subagent", "tool", "runtime"]
ACTORS: tuple[str, ...] = Actor.__args__  # type: ignore[attr-defined]

Status = Literal["mapped", "unknown", "unreadable"]
"""How a record was read. ``unknown``: valid JSON of a type no reader knows, kept whole as an ``unknown`` event."""


class Draft:
    """One event as one block of a record gives it, before anything is known of its neighbours.

    ``path`` names the block inside its record; the first draft of a record must have path ``""``, so that a
    child record can name its parent's first event without reading it. ``text`` is the whole text a person may
    read or search (never cut). ``call`` is the tool-call id that joins a ``tool.intent`` to its observation;
    ``command`` is set on intents that run a shell command. ``ok`` is the outcome of an observation (``None``:
    not recorded). ``millis`` is a duration the log itself states. ``spawns`` names the lane (sub-agent id) this
    block says it started. ``told`` stands for what ``command`` or ``text`` would tell of a check where they were
    erased.
    """

    __slots__ = (
        "actor", "call", "command", "flags", "inferred", "kind", "millis", "ok", "path", "refs", "spawns",
        "summary", "text", "told", "tool",
    )  # fmt: skip

    def __init__(
        self,
        kind: str,
        actor: str,
        text: str = "",
        *,
        path: str = "",
        summary: str | None = None,
        tool: str | None = None,
        call: str | None = None,
        command: str | None = None,
        ok: bool | None = None,
        millis: int | None = None,
        refs: tuple[str, ...] = (),
        flags: tuple[str, ...] = (),
        inferred: bool = False,
        spawns: str | None = None,
        told: str | None = None,
    ) -> None:
        self.kind = kind
        self.actor = actor
        self.text = text
        self.path = path
        self.summary = summary
        self.tool = tool
        self.call = call
        self.command = command
        self.ok = ok
        self.millis = millis
        self.refs = refs
        self.flags = flags
        self.inferred = inferred
        self.spawns = spawns
        self.told = told


class Usage:
    """Tokens of one model message, as the provider reported them. Later reports of a message replace earlier."""

    __slots__ = ("cache_read", "cache_write", "input", "message", "model", "output")

    def __init__(
        self, message: str, model: str | None, input: int, output: int, cache_read: int, cache_write: int
    ) -> None:
        self.message = message
        self.model = model
        self.input = input
        self.output = output
        self.cache_read = cache_read
        self.cache_write = cache_write


class Reading:
    """What one record says.

    ``session`` is the agent's own id of the session (``None``: take the source's). ``lane`` is ``""`` for the
    main agent, else the sub-agent's id. ``native`` and ``parent`` are record ids as the agent wrote them.
    ``at`` is the time exactly as recorded. ``prompt`` is set where a person's message begins a turn: records
    that share a prompt key share the turn. ``leaf`` says that the record can be the end of the main chain
    (user or assistant, not meta). ``queue``: what happens to a message typed while the agent worked, as (operation,
    64-bit hash of the text): ``enqueue`` (``wait`` for one no person typed), ``remove`` (into the running turn),
    ``clear``, or ``said`` where the text itself stands; or what another stream of its log may say, too, as (stream,
    hashes), see :mod:`affidavit.session.echoes`; or what holds from here on, see :mod:`affidavit.session.policies` and
    :mod:`affidavit.session.progress`.
    ``kept``: what the record holds besides events, as (table, columns), see :data:`KEPT`; without drafts it is of no
    session. ``facts`` are statements about the session (title,
    cwd, version …), see :data:`FACTS`; ``lane_facts`` the same about its lane.
    """

    __slots__ = (
        "at", "drafts", "facts", "flags", "kept", "lane", "lane_facts", "leaf", "native", "parent", "prompt",
        "queue", "session", "status", "usage",
    )  # fmt: skip

    def __init__(
        self,
        status: str = "mapped",
        *,
        session: str | None = None,
        native: str | None = None,
        parent: str | None = None,
        lane: str = "",
        at: str | None = None,
        prompt: str | None = None,
        leaf: bool = False,
        drafts: list[Draft] | None = None,
        usage: Usage | None = None,
        facts: dict[str, str] | None = None,
        lane_facts: dict[str, str] | None = None,
        flags: tuple[str, ...] = (),
        kept: tuple[str, tuple[Any, ...]] | None = None,
        queue: tuple[str, Any] | None = None,
    ) -> None:
        self.queue = queue
        self.kept = kept
        self.status = status
        self.session = session
        self.native = native
        self.parent = parent
        self.lane = lane
        self.at = at
        self.prompt = prompt
        self.leaf = leaf
        self.drafts = drafts if drafts is not None else []
        self.usage = usage
        self.facts = facts
        self.lane_facts = lane_facts
        self.flags = flags


FACTS = (
    "title.custom", "title.ai", "title.summary", "title.prompt", "cwd", "git_branch", "version", "project",
    "forked_from", "started_by", "leaf",
)  # fmt: skip
"""Keys of :attr:`Reading.facts`. Of the titles the first present in this order is shown; the last stated wins.

``forked_from`` is the agent's own id of the session whose history this one began with, ``started_by`` of the one that
started it as a sub-agent with a log of its own. ``leaf`` is the id of the record a summary stated with it is of: it is
a title of the sessions that hold that record. Facts of :mod:`affidavit.session.forks` declare that the file begins with
a copy of another session's history."""

PARTIAL = "partial_compaction"
"""Flag of a compaction that took only some texts away."""

KEPT = {
    "artifact": ("digest", "media", "name", "size"),
    "snapshot": (
        "id", "uid", "asker", "request", "purpose", "question", "timed", "at", "recalled", "filtered", "ranked_out",
        "trimmed", "selected", "redacted", "sources", "reasons", "verdict",
    ),
    "gate_run": (
        "id", "uid", "query", "space", "timed", "at", "accepted", "rejected", "dry", "policy", "reasons",
    ),
}  # fmt: skip
"""Tables of what records hold besides events, with their columns after ``session`` and ``n`` (the record).

``artifact``: SHA-256, media type, name and size of a large body. ``snapshot``, ``gate_run``: see
``storage.tables``."""

FLAGS = {
    "same_id_differs": "another record carries this id with other content; both are kept",
    "parent_missing": "the record it follows is not in the log",
    "parent_cycle": "the log says it follows itself, directly or through others; the circle was cut here",
    "clock_skew": "it ends before it begins by the recorded clocks",
    "naive_time": "the recorded time names no zone; taken as UTC",
    "time_missing": "no time recorded; placed by its position in the file",
    "time_unreadable": "the recorded time could not be read; placed by its position in the file",
    "shape": "a field does not have the shape this format uses",
    "duplicate_keys": "a JSON object names a key twice; the last one was taken",
    "big_integer": "an integer beyond 2^53; kept as text",
    "not_finite": "NaN or Infinity stands where JSON allows only numbers",
    "lone_surrogate": "half of a UTF-16 pair stands alone in the text; shown as a mark",
    "nul": "a NUL character stands in the text; shown as a mark",
    "withheld_or_empty": "the log holds this block without its text",
    "stored_twice": "the same large value stands twice in this record",
    "truncated_search": "only the first part of this text is searchable",
    "withheld": "its text was erased by a redaction; its place and its pairs are kept",
    "printed_failure": "the command ended well by its exit, but what it printed says that the check failed",
    "superseded": "the file it stood in was replaced or cut, and what stands there now no longer holds it",
    "inherited": "copied from the session this one was forked from, where it happened and was paid for",
    "twin": "another session holds a record with this id, too: its history was copied, or ids were given twice",
    PARTIAL: "only some texts were taken out of the context; the rest stayed",
    "paid_elsewhere": "another session holds the same message from before: its tokens count there",
    "progress": "recorded while its call ran; the sub-agent's own log is not here",
    "escalated": "it asks for more than its sandbox allows; what came of that is told by its result",
    "orphan_result": "a result whose call is not in the log",
}
"""Flags an event may carry, and what each tells a reader of the timeline."""


def event_id(format: str, session: str, record: str, path: str) -> int:
    """The 64-bit id of an event: the first 8 bytes of SHA-256 over its names, as a signed integer.

    ``record`` is the record's native id or, lacking one, ``=`` + SHA-256 hex of its bytes + ``#`` + occurrence.
    Never made from a file, an offset, an index or a reader's version, so that it names the same event in every
    store. Printed as 16 hex digits by :func:`event_hex`.
    """
    names = f"{format}\0{session}\0{record}\0{path}".encode("utf-8", "surrogatepass")
    return int.from_bytes(sha256(names).digest()[:8], "big", signed=True)


def event_hex(id: int) -> str:
    """``#EVENT`` of an address: 16 lower-case hex digits."""
    return (id & 0xFFFFFFFFFFFFFFFF).to_bytes(8, "big").hex()


def session_uid(format: str, native: str) -> str:
    """The fixed-form id of a session: ``s`` and 12 hex digits, so that no prefix of it is a number."""
    names = f"{format}\0{native}".encode("utf-8", "surrogatepass")
    return "s" + sha256(names).hexdigest()[:12]
