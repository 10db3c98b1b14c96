"""Affidavit's own JSON Lines: what any program may write to have its session kept (``affidavit record``).

The lines and what their fields mean are described by the models of :mod:`affidavit.lines`, which check what
``record`` takes in. Here the same lines are read as leniently as any other log, without those models.
"""

from __future__ import annotations

from base64 import b64decode
from binascii import Error as Base64Error
from collections.abc import Sequence
from hashlib import sha256
from typing import Any

from affidavit.proof.parsing import Unreadable, loads_lenient
from affidavit.session.event import ACTORS, KINDS, Draft, Reading, Usage
from storage.readers import own_context, own_gate, own_memory, own_retrieval
from storage.readers.lenient import compact, count, one_line

Record = dict[str, Any]
Scope = tuple[str | None, str]

KNOWN_KINDS = frozenset(KINDS)
KNOWN_ACTORS = frozenset(ACTORS)
MODEL_KINDS = frozenset(
    {"model.message", "model.reasoning", "tool.intent", "memory.read", "memory.write", "retrieval.request"}
)
TOOL_KINDS = frozenset({"tool.finished", "verification", "retrieval.snapshot.created"})


class Own:
    """Reads one line of our own at a time; see :class:`storage.readers.Reader`."""

    name = "affidavit"
    title = "Affidavit JSON Lines"

    def claims(self, path: str, samples: Sequence[Any]) -> float:  # noqa: ARG002
        """The share of the samples that are lines of ours."""
        ours = sum(type(value) is dict and _is_ours(value) for value in samples)
        return ours / len(samples) if samples else 0.0

    def document(self, path: str, head: bytes) -> str | None:  # noqa: ARG002
        """``object`` for a file that is one object of ours over several lines, as far as ``head`` holds it whole."""
        if head.lstrip().partition(b"\n")[0].strip() != b"{":
            return None
        try:
            value = loads_lenient(head)[0]
        except Unreadable:
            return None
        return "object" if type(value) is dict and _is_ours(value) else None

    def read_document(self, name: str, value: bytes, whole: bytes, scope: Scope) -> Reading:  # noqa: ARG002
        """What such a file says. Never raises."""
        try:
            return self.read(loads_lenient(value)[0], scope)
        except Unreadable:
            return _unknown(value.decode("utf-8", "replace"), Reading(), "an object that cannot be read")

    def scope(self, path: str) -> Scope:  # noqa: ARG002
        """Nothing: every line names its session and lane."""
        return None, ""

    def read(self, value: Any, scope: Scope) -> Reading:  # noqa: ARG002
        """What one line says. Never raises."""
        reading = Reading()
        if type(value) is not dict:
            reading.flags = ("shape",)
            return _unknown(value, reading, "a record that is no object")
        reading.session = _named(value, "session", reading)
        reading.native = _named(value, "id", reading)
        reading.parent = _named(value, "parent", reading)
        reading.lane = _named(value, "lane", reading) or ""
        at = value.get("at", value.get("createdAt"))
        reading.at = at if type(at) is str or at is None else compact(at)
        kind = _kind(value)
        if kind == "session.event":
            _event(value, reading)
        elif kind == "artifact":
            _artifact(value, reading)
        elif kind == "retrieval.request":
            own_retrieval.request(value, reading)
        elif kind == "retrieval.snapshot":
            own_retrieval.snapshot(value, reading)
        elif kind == own_gate.TYPE:
            if not own_gate.audit(value, reading):
                return _unknown(value, reading, f"not a {kind} that Affidavit takes")
        elif kind == own_context.TYPE:
            own_context.projected(value, reading)
        elif kind in own_memory.TYPES and not own_memory.candidate(value, reading):
            return _unknown(value, reading, f"not a {kind} that Affidavit takes")
        elif kind not in own_memory.TYPES:
            return _unknown(value, reading, f"unknown type {str(kind)[:80]}")
        return reading


def _is_ours(value: Record) -> bool:
    kind = _kind(value)
    if kind in ("session.event", "artifact", own_context.TYPE):
        return type(value.get("session")) is str
    return kind == own_gate.TYPE or kind in own_retrieval.TYPES or kind in own_memory.TYPES


def _kind(value: Record) -> str | None:
    """The type of a line, as it names it or as its shape tells; ``None`` where that is no word."""
    kind = value.get("type", _type_of(value))
    return kind if type(kind) is str else None


def _type_of(value: Record) -> str | None:
    return own_retrieval.type_of(value) or own_gate.type_of(value) or own_context.type_of(value)


def _unknown(value: Any, reading: Reading, summary: str) -> Reading:
    reading.status = "unknown"
    reading.drafts.append(Draft("unknown", "runtime", compact(value), summary=summary))
    return reading


def _odd(reading: Reading) -> None:
    if "shape" not in reading.flags:
        reading.flags = (*reading.flags, "shape")


def _named(value: Record, key: str, reading: Reading) -> str | None:
    """A name a line gives: text, or nothing."""
    said = value.get(key)
    if type(said) is str:
        return said or None
    if said is not None:
        _odd(reading)
    return None


def _count(value: Any, reading: Reading) -> int:
    amount = count(value)
    if amount is None:
        _odd(reading)
    return amount or 0


def _event(value: Record, reading: Reading) -> None:
    kind = value.get("kind")
    if type(kind) is not str or kind not in KNOWN_KINDS:
        _unknown(value, reading, f"unknown kind {str(kind)[:80]}")
        return
    actor = value.get("actor")
    if type(actor) is not str or actor not in KNOWN_ACTORS:
        if actor is not None:
            _odd(reading)
        actor = default_actor(kind, reading.lane)
    draft = Draft(kind, actor, _said(value, reading), summary=_named(value, "summary", reading))
    draft.tool = _named(value, "tool", reading)
    draft.call = _named(value, "call", reading)
    draft.command = _named(value, "command", reading)
    draft.spawns = _named(value, "spawns", reading)
    draft.inferred = value.get("inferred") is True
    draft.ok = _ok(value, reading)
    if value.get("millis") is not None:
        draft.millis = _count(value["millis"], reading)
    refs = value.get("refs")
    if type(refs) is list:
        draft.refs = tuple(ref for ref in refs if type(ref) is str)
    elif refs is not None:
        _odd(reading)
    reading.drafts.append(draft)
    reading.leaf = kind == "user.message" or kind.startswith(("model.", "tool."))
    _turn(value, kind, actor, draft, reading)
    _tokens(value, reading)
    _facts(value, reading)


def default_actor(kind: str, lane: str) -> str:
    """Who did it where a line does not say."""
    if kind == "user.message":
        return "agent" if lane else "user"
    if kind in MODEL_KINDS:
        return "subagent" if lane else "agent"
    return "tool" if kind in TOOL_KINDS else "runtime"


def _said(value: Record, reading: Reading) -> str:
    """The event's text; lacking one, its payload as JSON."""
    said = value.get("text")
    if type(said) is str:
        return said
    if said is not None:
        _odd(reading)
        return compact(said)
    payload = value.get("payload")
    if payload is None:
        command = value.get("command")
        return command if type(command) is str else ""
    return payload if type(payload) is str else compact(payload)


def _ok(value: Record, reading: Reading) -> bool | None:
    ok = value.get("ok")
    if type(ok) is bool:
        return ok
    if ok is not None:
        _odd(reading)
    code = value.get("exitCode")
    return code == 0 if type(code) is int else None


def _turn(value: Record, kind: str, actor: str, draft: Draft, reading: Reading) -> None:
    """A stated turn holds for any event; without one, a person's message to the main agent begins it."""
    if reading.lane:
        return
    turn = value.get("turn", value.get("turnId"))
    if type(turn) is int:
        turn = str(turn)
    if type(turn) is str and turn:
        reading.prompt = turn
    elif kind == "user.message" and actor == "user":
        names = f"{reading.at}\0{draft.text}".encode("utf-8", "surrogatepass")
        reading.prompt = reading.native or "=" + sha256(names).hexdigest()[:32]
    if turn is not None and type(turn) is not str:
        _odd(reading)


def _tokens(value: Record, reading: Reading) -> None:
    model = _named(value, "model", reading)
    tokens = value.get("tokens")
    if type(tokens) is not dict:
        if tokens is not None:
            _odd(reading)
        if model is None:
            return
        tokens = {}
    message = _named(value, "message", reading) or reading.native or reading.at or ""
    get = tokens.get
    reading.usage = Usage(
        message,
        model,
        _count(get("input"), reading),
        _count(get("output"), reading),
        _count(get("cacheRead"), reading),
        _count(get("cacheWrite"), reading),
    )


_FACTS = (
    ("title", "title.custom"),
    ("cwd", "cwd"),
    ("gitBranch", "git_branch"),
    ("version", "version"),
    ("project", "project"),
)


def _facts(value: Record, reading: Reading) -> None:
    facts = {fact: said for key, fact in _FACTS if (said := _named(value, key, reading))}
    draft = reading.drafts[0]
    if draft.kind == "user.message" and draft.actor == "user" and not reading.lane and draft.text.strip():
        facts["title.prompt"] = one_line(draft.text)
    if reading.lane:
        title = _named(value, "laneTitle", reading)
        if title:
            reading.lane_facts = {"title": title}
        facts = {fact: said for fact, said in facts.items() if fact.startswith("title.")}
    reading.facts = facts or None


def artifact_bytes(value: Record) -> bytes | None:
    """The bytes an ``artifact`` line carries, ``None`` if it carries none that can be read."""
    said = value.get("text")
    if type(said) is str:
        return said.encode("utf-8", "surrogatepass")
    coded = value.get("base64")
    if type(coded) is str and coded.isascii():
        try:
            return b64decode(coded, validate=True)
        except (Base64Error, ValueError):
            return None
    return None


def _held(value: Record) -> bytes | None:
    """The bytes an artifact carries."""
    said = value.get("text")
    if type(said) is str:
        return said.encode("utf-8", "surrogatepass")
    coded = value.get("base64")
    if type(coded) is str and coded.isascii():
        try:
            return b64decode(coded, validate=True)
        except (Base64Error, ValueError):
            return None
    return None


def _artifact(value: Record, reading: Reading) -> None:
    """An artifact is shown as a note where it was recorded; its digest is what events refer to."""
    held = _held(value)
    if held is None:
        _odd(reading)
        reading.drafts.append(Draft("note", "runtime", compact(value), summary="an artifact without content"))
        return
    digest = sha256(held).digest()
    media = _named(value, "media", reading) or "application/octet-stream"
    name = _named(value, "name", reading)
    reading.kept = "artifact", (digest, media, name, len(held))
    stated = value.get("digest")
    if stated is not None and stated != f"sha256:{digest.hex()}":
        _odd(reading)
    said = value.get("text")
    summary = f"artifact {name or digest.hex()[:12]} ({media}, {len(held)} bytes)"
    text = said if type(said) is str else f"[{media}, {len(held)} bytes]"
    reading.drafts.append(Draft("note", "runtime", text, summary=summary, refs=(f"sha256:{digest.hex()}",)))
