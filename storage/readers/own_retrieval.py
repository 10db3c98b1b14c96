"""What our own lines of types ``retrieval.request`` and ``retrieval.snapshot`` say: an event each, and the snapshot.

A line that names no session says nothing of one: its snapshot stands by itself and makes no event.
"""

from __future__ import annotations

from hashlib import sha256
from typing import Any

import orjson

from affidavit.retrieval import recorded
from affidavit.session.event import Draft, Reading
from affidavit.session.times import instant
from storage.readers.lenient import compact, one_line

Record = dict[str, Any]


TYPES = ("retrieval.request", "retrieval.snapshot")


def type_of(value: Record) -> str | None:
    """The type of a line that names none, by what it holds: the objects themselves may stand in a file."""
    if "selectedItems" in value and "candidateStats" in value:
        return "retrieval.snapshot"
    return "retrieval.request" if value.get("kind") == "retrieval.request" and "question" in value else None


def snapshot_uid(session: str | None, id: str) -> str:
    """The fixed-form id of a snapshot: ``r`` and 12 hex digits, so that no prefix of it is a number."""
    return "r" + sha256(f"{session or ''}\0{id}".encode("utf-8", "surrogatepass")).hexdigest()[:12]


def request(value: Record, reading: Reading) -> None:
    """A request to retrieve."""
    reading.session = _name(value, "session") if "session" in value else _name(value, "sessionId")
    if reading.session is None and "session" in value:
        reading.kept = "", ()
        return
    question = _name(value, "question")
    said = question or compact(value)
    draft = Draft("retrieval.request", _asked_by(value, reading), said, summary=one_line(said))
    draft.tool = _name(value, "purpose")
    draft.refs = _files(value)
    reading.drafts.append(draft)


def snapshot(value: Record, reading: Reading) -> None:
    """The record of a retrieval."""
    body = recorded.body_of(value)
    reading.session = _name(value, "session") if "session" in value else _name(body, "sessionId")
    reading.native = reading.native or _name(body, "id")
    at = value.get("at", body.get("createdAt"))
    reading.at = at if type(at) is str or at is None else compact(at)
    turn = value.get("turn", body.get("turnId"))
    if not reading.lane and turn is not None:
        reading.prompt = str(turn) if type(turn) in (str, int) and turn != "" else None
    reading.kept = "snapshot", _columns(value, body, reading)
    if reading.session is None:
        return
    draft = Draft("retrieval.snapshot.created", "runtime", _text(value, body), summary=_summary(value, body))
    draft.refs = tuple(ref for item in recorded.objects(body, "selectedItems") if (ref := _name(item, "sourceRef")))
    verdict = recorded.verdict(value)
    draft.ok = None if verdict is None else verdict != "differs"
    reading.drafts.append(draft)


def _columns(value: Record, body: Record, reading: Reading) -> tuple[Any, ...]:
    """The snapshot's row after session and record, in the order of ``KEPT["snapshot"]``."""
    counts = recorded.counts(body)
    selected, rejected = recorded.objects(body, "selectedItems"), recorded.objects(body, "rejectedItems")
    sources = {one for item in (*selected, *rejected) if (one := _source(item))}
    reasons = {one for item in rejected if (one := _name(item, "reason"))}
    id = _name(body, "id") or "=" + sha256(compact(body).encode("utf-8", "surrogatepass")).hexdigest()[:16]
    when, _ = instant(reading.at)
    scope = recorded.obj(body, "scope")
    return (
        id,
        snapshot_uid(reading.session, id),
        reading.session or _name(body, "sessionId"),
        _name(body, "modelRequestId"),
        _name(scope, "purpose") or _name(recorded.obj(body, "intent"), "purpose"),
        one_line(_question(body)),
        int(when is not None),
        when or 0,
        *(counts[name] for name in recorded.COUNTS),
        orjson.dumps(sorted(sources)).decode(),
        orjson.dumps(sorted(reasons)).decode(),
        recorded.verdict(value),
    )


def _source(item: Record) -> str | None:
    return _name(item, "source") or _name(item, "evidenceKind")


def _question(body: Record) -> str:
    question = _name(recorded.obj(body, "intent"), "question")
    if question is None:
        queries = recorded.objects(recorded.obj(body, "plan"), "subQueries")
        question = " · ".join(text for query in queries if (text := _name(query, "queryText")))
    return question or ""


def _text(value: Record, body: Record) -> str:
    """What was asked, and what of the answer the model saw."""
    block = recorded.block_of(value)
    if block is None:
        items = [f"[{one.citation}] {one.text}" for one in recorded.seen(value) if one.text is not None]
        shown = "\n\n".join(items)
    else:
        shown = block.text
    return "\n\n".join(part for part in (_question(body), shown) if part)


def _summary(value: Record, body: Record) -> str:
    counts = recorded.counts(body)
    found = "? found" if counts["recalled"] is None else f"{counts['recalled']} found"
    visible = "?" if counts["selected"] is None else str(counts["selected"])
    labels = " ".join(f"[{one.citation}]" for one in recorded.seen(value) if one.citation)
    return one_line(f"{found} → {visible} visible  {labels}".rstrip())


def _asked_by(value: Record, reading: Reading) -> str:
    by = value.get("raisedBy")
    return "runtime" if by in ("runtime", "context-policy") else "subagent" if reading.lane else "agent"


def _files(value: Record) -> tuple[str, ...]:
    files = recorded.obj(value, "anchors").get("currentFiles")
    return tuple(one for one in files if type(one) is str) if type(files) is list else ()


def _name(value: Record, key: str) -> str | None:
    said = value.get(key)
    return said if type(said) is str and said else None
