"""Claude Code's session logs: JSON Lines under ``~/.claude/projects``, current generation (2.1.x).

Older generations share the envelope and are read as far as they go. A record's type decides who reads it;
a type nobody here knows is kept whole as an ``unknown`` event and counted.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from affidavit.session.event import Draft, Reading
from affidavit.session.sidechains import SIDE
from storage.readers.claude_code import metadata
from storage.readers.claude_code.assistant import read_assistant
from storage.readers.claude_code.attachments import read_attachment
from storage.readers.claude_code.documents import document_at, read_document
from storage.readers.claude_code.history import is_history, read_history
from storage.readers.claude_code.paths import scope_of
from storage.readers.claude_code.system import read_system
from storage.readers.claude_code.user import read_user
from storage.readers.lenient import compact, lines_of, obj, one_line, text

Record = dict[str, Any]
Scope = tuple[str | None, str]


class ClaudeCode:
    """Reads one record of Claude Code at a time; see :class:`storage.readers.Reader`."""

    name = "claude-code"
    title = "Claude Code"

    def claims(self, path: str, samples: Sequence[Any]) -> float:
        """The share of the samples that have Claude Code's envelope, or a form only its flat records have."""
        if len(samples) == 1 and _is_beside(path, samples[0]):
            return 1.0
        return sum(map(_likeness, samples)) / len(samples) if samples else 0.0

    def scope(self, path: str) -> Scope:
        """The session and lane a sub-agent's file or a document belongs to by its place; see :func:`scope_of`."""
        if (document := document_at(path)) is not None:
            return document.session, ""
        return scope_of(path)

    def document(self, path: str, head: bytes) -> str | None:
        """The name of the document a path names by its place, unless it is an empty list."""
        found = document_at(path)
        return found.name if found is not None and head.strip() != b"[]" else None

    def read_document(self, name: str, value: bytes, whole: bytes, scope: Scope) -> Reading:
        """What a document says. Never raises."""
        reading = read_document(name, value, whole)
        reading.session = scope[0]
        return reading

    def read(self, value: Any, scope: Scope) -> Reading:
        """What one record says. Never raises."""
        reading = Reading()
        if type(value) is not dict:
            reading.session, reading.lane = scope
            return _unknown(value, reading, "a record that is no object", ("shape",))
        get = value.get
        session, lane = scope
        named = get("sessionId")
        if type(named) is not str or not named:
            named = _other_session(value, reading)
        if named and (session is None or not lane):
            session = named  # one file can hold records of several sessions; a helper's place says whose it is
        reading.session = session
        agent = get("agentId")
        if type(agent) is str and agent and "isSidechain" in value:
            lane = agent
        elif not lane and get("isSidechain") is True:
            lane = SIDE
        reading.lane = lane
        at = get("timestamp")
        reading.at = at if type(at) is str else None if at is None else compact(at)
        kind = get("type")
        if type(kind) is not str:
            return _untyped(value, reading)
        place = PLACED.get(kind)
        if place is None:
            flat = metadata.READ.get(kind)
            if flat is None:
                return _unknown(value, _envelope(value, reading), f"unknown type {one_line(kind, 80)}", ())
            flat(value, _envelope(value, reading) if "uuid" in value else reading)
            return reading
        place(value, _envelope(value, reading))
        return reading


PLACED: dict[str, Callable[[Record, Reading], None]] = {
    "user": read_user,
    "assistant": read_assistant,
    "system": read_system,
    "attachment": read_attachment,
}
"""Records with a place in the conversation."""


def _other_session(value: Record, reading: Reading) -> str | None:
    other = value.get("session_id")
    if type(other) is str and other:
        return other
    if value.get("sessionId") is not None:
        reading.flags = ("shape",)
    return None


def _envelope(value: Record, reading: Reading) -> Reading:
    """Take the record's id and parent, and where the session stood: folder, branch, version."""
    get = value.get
    native = get("uuid")
    if type(native) is str and native:
        reading.native = native
    elif native is not None:
        reading.flags = (*reading.flags, "shape")
    parent = get("parentUuid")
    if type(parent) is str and parent:
        reading.parent = parent
    facts = {}
    if "forkedFrom" in value:
        reading.flags = (*reading.flags, "inherited")
        if origin := text(obj(value["forkedFrom"]).get("sessionId")):
            facts["forked_from"] = origin
    cwd, branch, version = get("cwd"), get("gitBranch"), get("version")
    if type(cwd) is str and cwd:
        facts["cwd"] = cwd
    if type(branch) is str and branch:
        facts["git_branch"] = branch
    if type(version) is str and version:
        facts["version"] = version
    if facts:
        if reading.lane:
            reading.lane_facts = facts
        else:
            reading.facts = facts
    return reading


def _unknown(value: Any, reading: Reading, summary: str, flags: tuple[str, ...]) -> Reading:
    reading.status = "unknown"
    reading.drafts.append(Draft("unknown", "runtime", compact(value), summary=summary, flags=flags))
    return reading


def _untyped(value: Record, reading: Reading) -> Reading:
    """A record without a type: one of the small documents that lie beside the logs, or unknown."""
    if is_history(value):
        read_history(value, reading)
        return reading
    if type(value.get("agentType")) is str:
        about = text(value.get("description"))
        depth = value.get("spawnDepth")
        reading.lane_facts = {"title": value["agentType"] + (f": {about}" if about else "")}
        if type(depth) is int:
            reading.lane_facts["depth"] = str(depth)
        for fact, key in (("parent", "parentAgentId"), ("call", "toolUseId")):
            if stated := text(value.get(key)):
                reading.lane_facts[fact] = stated
        return reading
    if len(value) == 1 and type(value.get("customTitle")) is str:
        reading.facts = {"title.custom": value["customTitle"]}
        return reading
    kind = value.get("type")
    flags = () if kind is None else ("shape",)
    name = "a record without a type" if kind is None else f"unknown type {one_line(lines_of(kind), 80)}"
    return _unknown(value, _envelope(value, reading), name, flags)


def _is_beside(path: str, value: Any) -> bool:
    """Whether a one-document file is one of those Claude Code keeps beside its logs."""
    if type(value) is not dict or "type" in value:
        return False
    name = path.replace("\\", "/").rpartition("/")[2]
    if name.startswith("agent-") and name.endswith(".meta.json"):
        return type(value.get("agentType")) is str
    return name == "custom-title.json" and set(value) == {"customTitle"}


FLAT = {
    "summary": ("summary", "leafUuid"),
    "file-history-snapshot": ("snapshot", "messageId"),
    "file-history-delta": ("trackingPath", "messageId"),
    "queue-operation": ("operation", "sessionId"),
    "started": ("key", "agentId"),
    "result": ("key", "agentId"),
}
"""Keys that flat records without ``sessionId``, or with a common type, have besides."""


ENVELOPE = (
    "uuid", "parentUuid", "sessionId", "timestamp", "isSidechain", "userType", "cwd", "version", "gitBranch",
)  # fmt: skip
"""Keys of a record with a place in the conversation."""


def _likeness(value: Any) -> float:
    """How much one value looks like a record of Claude Code, 0 to 1."""
    if type(value) is not dict:
        return 0.0
    kind = value.get("type")
    if type(kind) is not str:
        return float(kind is None and is_history(value))
    if kind in FLAT:
        return float(all(key in value for key in FLAT[kind]))
    if kind in metadata.READ and "uuid" not in value:
        return float("sessionId" in value or kind == "launched")
    message = value.get("message")
    if type(message) is dict and "parts" in message and "content" not in message:
        return 0.0
    agent = value.get("agent")
    if type(agent) is str and "claude" not in agent:
        return 0.0
    if sum(key in value for key in ENVELOPE) >= 7:
        return 1.0
    if kind not in PLACED or "sessionId" not in value or "uuid" not in value:
        return 0.0
    return 0.8 if kind not in ("user", "assistant") or "message" in value else 0.2
