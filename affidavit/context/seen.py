"""What a model had in front of it, told from the events of a log.

A log of another program holds no model input, only what happened; the input of a request is worked out from it: what
stands before the request in its lane and on its branch, from the last compaction on. That is inferred, and what no log
holds (the system's own rules, the tools' descriptions) is named as not recorded.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Final, NamedTuple, Protocol

from affidavit.session.event import PARTIAL

MODEL_KINDS: Final = (
    "model.message", "model.reasoning", "tool.intent", "memory.read", "memory.write", "memory.candidate.proposed",
    "retrieval.request",
)  # fmt: skip
"""What a model gives back, where the agent or a sub-agent is the actor."""

VISIBLE_KINDS: Final = (
    *MODEL_KINDS, "user.message", "tool.finished", "verification", "permission.decision", "context.injected",
    "compaction",
)  # fmt: skip
"""Events whose text a model gets to see. Everything else is for people and the runtime."""

OBSERVED: Final = ("tool.finished", "verification")
"""What a tool gave back."""

NOT_RECORDED: Final = ("system rules", "tool descriptions")
"""What stands in a model's input and in no log."""

SEARCHES: Final = frozenset({
    "read", "grep", "glob", "ls", "webfetch", "websearch", "notebookread", "toolsearch", "readmcpresourcetool",
    "listmcpresourcestool", "web_search", "web_search_call", "tool_search", "tool_search_call", "read_file", "list_dir",
    "grep_files", "view_image", "search_files", "codebase_search",
})  # fmt: skip
"""Tools (in small letters) that fetch a text for the model: the retrievals of a foreign log."""

READS: Final = frozenset({"read", "read_file", "notebookread", "view"})
"""Tools that show a file."""

EDITS: Final = frozenset(
    {"edit", "multiedit", "write", "notebookedit", "apply_patch", "write_file", "replace", "update"}
)
"""Tools that change files."""

READING: Final = re.compile(
    r"^\s*(?:\$ ?)?(?:cd [^&;|]+ && )?"
    r"(?:cat|head|tail|less|sed -n|rg|grep|find|ls|tree|nl|git (?:grep|show|log|diff|blame))\b"
)
"""Shell commands that fetch a text."""

RULE_FILE: Final = re.compile(
    r"(?:^|[/\\])(?:CLAUDE(?:\.local)?\.md|AGENTS(?:\.override)?\.md|GEMINI\.md|\.cursorrules|copilot-instructions\.md"
    r"|[^/\\]+\.mdc|\.claude[/\\]rules[/\\][^/\\]+\.md)$",
    re.IGNORECASE,
)


class Row(Protocol):
    """What has to be known of an event."""

    @property
    def key(self) -> int: ...
    @property
    def kind(self) -> str: ...
    @property
    def actor(self) -> str: ...
    @property
    def pair(self) -> int | None: ...
    @property
    def tool(self) -> str | None: ...
    @property
    def summary(self) -> str: ...
    @property
    def flags(self) -> tuple[str, ...]: ...


class Placed(NamedTuple):
    """How a text stands in the input: its kind of source (spec of context policies), how far it is trusted (``None``:
    the agent's own words), in which mode, and whether it was fetched for the model."""

    source: str
    trust: str | None
    mode: str
    fetched: bool


def said_by_model(row: Row) -> bool:
    """Whether a model gave this."""
    return row.kind in MODEL_KINDS and row.actor in ("agent", "subagent")


def is_full_compaction(row: Row) -> bool:
    """Whether everything before this event was replaced by it and what follows."""
    return row.kind == "compaction" and PARTIAL not in row.flags


def placed(rows: Iterable[Row], more: Iterable[Row] = ()) -> Iterator[Placed]:
    """How each of the events in front of a model stands in its input, in order.

    ``more``: calls whose results are among them, and that a compaction took away.
    """
    rows = list(rows)
    intents = {row.key: row for row in (*more, *rows) if row.kind not in OBSERVED}
    last = max((at for at, row in enumerate(rows) if row.kind in OBSERVED), default=-1)
    for at, row in enumerate(rows):
        yield _placed(row, intents, latest=at == last)


def _placed(row: Row, intents: dict[int, Row], latest: bool) -> Placed:
    kind = row.kind
    if said_by_model(row):
        return Placed("recent_tail", None, "full", False)
    if kind == "user.message":
        return Placed("user_goal", "instruction", "full", False)
    if kind == "compaction":
        return Placed("state_summary", "evidence", "summary", False)
    if kind == "context.injected":
        if names_rule_file((row.summary,)):
            return Placed("repository_instructions", "instruction", "full", True)
        return Placed("injected", UNTRUSTED, "full", True)
    if kind == "memory.read":
        return Placed("memory", "evidence", "full", True)
    fetched = is_fetched(row, intents)
    source = "retrieval_result" if fetched else "latest_observation" if latest else "recent_tail"
    return Placed(source, UNTRUSTED, "full", fetched)


UNTRUSTED: Final = "untrusted-observation"


def is_fetched(row: Row, intents: Mapping[int, Row]) -> bool:
    """Whether a text was put before the model by a search, a read, a fetch or the runtime; ``intents`` by key."""
    if row.kind in ("context.injected", "memory.read"):
        return not said_by_model(row)
    return row.kind in OBSERVED and fetches(row, intents.get(row.pair) if row.pair is not None else None)


def fetches(result: Row, intent: Row | None) -> bool:
    """Whether an observation is what a search, a read or a fetch gave."""
    tool = (result.tool or (intent.tool if intent is not None else None) or "").lower()
    if tool in SEARCHES:
        return True
    return intent is not None and READING.match(intent.summary) is not None


def names_rule_file(texts: Collection[str]) -> bool:
    """Whether one of some texts ends in the path of a file of rules."""
    return any(RULE_FILE.search(text.split("\n", 1)[0].rstrip(" :)\"'")) for text in texts)
