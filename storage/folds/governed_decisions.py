"""Folding what people decided: ``review.decision``, ``review.claim`` and ``review.undo`` entries into rows.

A decision stands by itself: what it was about is read from its own content where no line gives it any more. Of what
was erased since, the statuses stay and the texts are empty.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import orjson

from storage.folds.governed import Governed, micros, words_of
from storage.folds.governed_rows import (
    NO_DATE,
    CandidateRow,
    CandidateVersionRow,
    ClaimRow,
    DecisionRow,
    MemoryRow,
    MemoryVersionRow,
    TombstoneRow,
)

Entry = Mapping[str, Any]
Contents = Mapping[str, bytes | None]

_ENDS = {
    "approve": "approved", "auto-approve": "approved", "reject": "rejected", "rewrite": "pending", "rescope": "pending",
    "ask": "pending", "merge": "merged", "withdraw": "withdrawn", "forget": "withdrawn",
}  # fmt: skip
LETS_IN = ("approve", "auto-approve")
_MEMORY_ENDS = {
    "rewrite": "active", "rescope": "active", "renew": "active", "revoke": "revoked", "deprecate": "deprecated",
    "merge": "merged", "forget": "revoked",
}  # fmt: skip


def fold(governed: Governed, index: int, entry: Entry, contents: Contents) -> None:
    """Take in one entry about a candidate or memory."""
    act = _json(contents.get("act"))
    if act is None:
        return
    at = micros(entry["time"])
    by = _text(contents.get("actor"))
    kind = entry["type"]
    if kind == "review.claim":
        _claim(governed, index, entry, act, by, at)
    elif kind == "review.undo":
        _undo(governed, index, entry, act, by, _text(contents.get("reason")), at)
    else:
        _decision(governed, index, entry, act, contents, by, at)


def _claim(governed: Governed, index: int, entry: Entry, act: Any, by: str, at: int) -> None:
    _head(governed, act["what"], act["id"], index, entry)
    if entry["body"]["verb"] == "release":
        governed.rows.drop("claim", (act["id"],))
    else:
        row = ClaimRow(act["id"], by, at, micros(entry["body"]["until"]), index)
        governed.rows.put("claim", row)


def _head(governed: Governed, what: str, id: str, index: int, entry: Entry) -> None:
    row = governed.rows.get(what, (id,))
    if row is not None:
        governed.rows.put(what, row._replace(stream=entry["stream"], sseq=entry["sseq"], entry=index))


def _decision(governed: Governed, index: int, entry: Entry, act: Any, contents: Contents, by: str, at: int) -> None:
    verb, what, id = entry["body"]["verb"], act["what"], act["id"]
    shown, made = _json(contents.get("shown")), _json(contents.get("made"))
    if what == "candidate" and governed.rows.get("candidate", (id,)) is None:
        _stands_by_itself(governed, act, shown, index)
    before = _before(governed, act)
    if what == "candidate":
        _candidate(governed, verb, act, made, index, entry, at)
    else:
        _memory(governed, verb, act, made, index, entry, at)
    if verb == "merge":
        _into(governed, act["into"], made)
    stone = _json(contents.get("tombstone"))
    if stone is not None:
        words, salt, mac = stone.get("words", ""), stone.get("salt", ""), stone.get("mac", "")
        row = TombstoneRow(entry["id"], index, what, id, act["version"], words, salt, mac, 0)
        governed.rows.put("tombstone", row)
    governed.rows.drop("claim", (id,))
    governed.rows.put(
        "decision",
        DecisionRow(
            id=entry["id"],
            entry=index,
            at=at,
            verb=verb,
            what=what,
            object=id,
            version=act["version"],
            by=by,
            reason=_text(contents.get("reason")),
            shown_hash="" if shown is None else _digest(shown["shown"]),
            findings=" ".join(entry["body"]["findings"]),
            batch=act.get("batch"),
            memory=act.get("memory"),
            before=before,
            undone=None,
        ),
    )


def _digest(value: Any) -> str:
    from affidavit.memory.shown import digest

    return digest(value)


def _stands_by_itself(governed: Governed, act: Any, shown: Any, index: int) -> None:
    """A candidate that no line gives any more, as the decision about it was shown it."""
    about = act["about"]
    document = None if shown is None else shown["document"]
    row = CandidateRow(
        id=act["id"],
        native="" if document is None else document["id"],
        n=0,
        seen=index << 32,
        origin="",
        version=act["version"],
        status="pending",
        claimed="",
        kind=about["kind"],
        level=about["level"],
        scope="" if document is None else document["scope"]["key"],
        source=about["source"],
        confidence=about["confidence"],
        authority=about.get("authorityAsked", about.get("authority", "hint")),
        created=micros(about["createdAt"]),
        expires=None,
        risk=0,
        words="" if document is None else words_of(document["content"]),
        memory=None,
        merged=None,
        until=None,
        stream=None,
        sseq=None,
        entry=None,
    )
    governed.rows.put("candidate", row)
    body = "" if document is None else _canonical(document)
    governed.rows.put("candidate_version", CandidateVersionRow(row.id, row.version, None, body))
    governed.say("candidate", row.id, body)


def _candidate(governed: Governed, verb: str, act: Any, made: Any, index: int, entry: Entry, at: int) -> None:
    row: CandidateRow = governed.rows.get("candidate", (act["id"],))
    head = {"stream": entry["stream"], "sseq": entry["sseq"], "entry": index, "status": _ENDS[verb]}
    if verb in ("rewrite", "rescope"):
        body = "" if made is None else _canonical(made)
        governed.unsay("candidate", row.id, row.version)
        if made is not None:
            row = governed.candidate(row.id, row.native, row.n, row.origin, row.version + 1, body)._replace(
                seen=row.seen
            )
        else:
            row = row._replace(version=row.version + 1, words="")
        governed.rows.put("candidate_version", CandidateVersionRow(row.id, row.version, index, body))
        governed.say("candidate", row.id, body)
    elif verb == "forget":
        governed.unsay("candidate", row.id, row.version)
        row = row._replace(words="", scope="", native="")
    until = act.get("until")
    row = row._replace(
        **head,
        until=None if verb != "ask" else micros(until) if until else NO_DATE,
        merged=act["into"] if verb == "merge" else row.merged,
        memory=act["memory"] if verb in LETS_IN else row.memory,
    )
    governed.rows.put("candidate", row)
    if verb in LETS_IN:
        _let_in(governed, act, made, row, index, entry, at)


def _let_in(governed: Governed, act: Any, made: Any, row: CandidateRow, index: int, entry: Entry, at: int) -> None:
    memory = _memory_row(act["memory"], row.id, 1, "active", act["about"], made, at)
    governed.rows.put("memory", memory)
    body = "" if made is None else _canonical(made)
    governed.rows.put("memory_version", MemoryVersionRow(memory.id, 1, entry["id"], index, "active", body))
    governed.say("memory", memory.id, body)


def _memory_row(id: str, candidate: str, version: int, status: str, about: Any, made: Any, at: int) -> MemoryRow:
    over = [micros(one) for one in (about.get("expiresAt"), (made or {}).get("validUntil")) if one]
    return MemoryRow(
        id=id,
        candidate=candidate,
        version=version,
        status=status,
        kind=about["kind"],
        level=about["level"],
        scope="" if made is None else made["scope"]["key"],
        authority=about["authority"],
        confidence=about["confidence"],
        visibility=about.get("visibility", "shared"),
        user=made.get("user") if made else None,
        agent=made.get("agent") if made else None,
        space=made.get("memorySpace") if made else None,
        route=made.get("route") if made else None,
        task_type=made.get("taskType") if made else None,
        risk_mode=made.get("riskMode") if made else None,
        created=micros(about["createdAt"]),
        approved=micros(about["approvedAt"]),
        verified=_maybe(about.get("lastVerifiedAt")),
        updated=_maybe(about.get("updatedAt")) or at,
        expires=min(over, default=None),
        review=_maybe(about.get("reviewAfter")),
        words="" if made is None else words_of(made["content"]),
        merged=None,
        stream=None,
        sseq=None,
        entry=None,
    )


def _memory(governed: Governed, verb: str, act: Any, made: Any, index: int, entry: Entry, at: int) -> None:
    row: MemoryRow | None = governed.rows.get("memory", (act["id"],))
    if row is None:
        return
    status = _MEMORY_ENDS[verb]
    body = "" if made is None else _canonical(made)
    held: MemoryVersionRow = governed.rows.get("memory_version", (row.id, row.version))
    if verb in ("rewrite", "rescope", "renew"):
        version = row.version + (verb != "renew")
        governed.unsay("memory", row.id, row.version)
        if verb != "renew":
            governed.rows.put("memory_version", held._replace(status="superseded"))
        row = _memory_row(row.id, row.candidate, version, status, act["about"], made, at)
        governed.rows.put("memory_version", MemoryVersionRow(row.id, version, entry["id"], index, status, body))
        governed.say("memory", row.id, body)
    else:
        governed.rows.put("memory_version", held._replace(status=status))
        if verb == "forget":
            governed.unsay("memory", row.id, row.version)
            row = row._replace(words="", scope="")
        row = row._replace(status=status, updated=at, merged=act.get("into", row.merged))
    governed.rows.put("memory", row._replace(stream=entry["stream"], sseq=entry["sseq"], entry=index))


def _into(governed: Governed, id: str, made: Any) -> None:
    """What something was merged into takes over its evidence."""
    if made is None:
        return
    what = "memory" if id[:1] == "m" else "candidate"
    row = governed.rows.get(what, (id,))
    if row is None:
        return
    held = governed.rows.get(f"{what}_version", (id, row.version))
    if held is not None:
        governed.rows.put(f"{what}_version", held._replace(body=_canonical(made)))
    if what == "candidate":  # evidence arrived: an open question is to be looked at again
        governed.rows.put(what, row._replace(until=None))


def _before(governed: Governed, act: Any) -> str:
    """What a decision changes, for undoing it."""
    what, id = act["what"], act["id"]
    row = governed.rows.get(what, (id,))
    found: dict[str, Any] = {"row": list(row) if row is not None else None}
    if act.get("into"):
        other = "memory" if act["into"][:1] == "m" else "candidate"
        target = governed.rows.get(other, (act["into"],))
        held = None if target is None else governed.rows.get(f"{other}_version", (target.id, target.version))
        found["into"] = None if held is None else [other, *held]
    if what == "memory" and row is not None:
        held = governed.rows.get("memory_version", (id, row.version))
        found["version"] = None if held is None else list(held)
    return orjson.dumps(found).decode()


def _undo(governed: Governed, index: int, entry: Entry, act: Any, by: str, reason: str, at: int) -> None:
    decision: DecisionRow | None = governed.rows.get("decision", (act["decision"],))
    if decision is None:
        return
    before = json.loads(decision.before)
    if decision.what == "candidate":
        _restore_candidate(governed, decision, before, index, entry)
    else:
        _restore_memory(governed, decision, before, index, entry, at)
    if before.get("into"):
        other, *held = before["into"]
        kind = MemoryVersionRow if other == "memory" else CandidateVersionRow
        governed.rows.put(f"{other}_version", kind(*held))
    stone = governed.rows.get("tombstone", (decision.id,))
    if stone is not None:
        governed.rows.put("tombstone", stone._replace(undone=1))
    governed.rows.drop("claim", (decision.object,))
    governed.rows.put("decision", decision._replace(undone=entry["id"]))
    row = DecisionRow(
        id=entry["id"], entry=index, at=at, verb="undo", what=decision.what, object=decision.object,
        version=decision.version, by=by, reason=reason, shown_hash="", findings="", batch=None, memory=decision.memory,
        before="", undone=None,
    )  # fmt: skip
    governed.rows.put("decision", row)


def _restore_candidate(governed: Governed, decision: DecisionRow, before: Any, index: int, entry: Entry) -> None:
    now: CandidateRow | None = governed.rows.get("candidate", (decision.object,))
    if now is None:
        return
    was = CandidateRow(*before["row"])
    version = now.version
    if was.version != now.version:
        held = governed.rows.get("candidate_version", (now.id, was.version))
        governed.unsay("candidate", now.id, now.version)
        version += 1
        body = held.body if held is not None else ""
        governed.rows.put("candidate_version", CandidateVersionRow(now.id, version, index, body))
        governed.say("candidate", now.id, body)
    was = was._replace(version=version, n=now.n, seen=now.seen, origin=now.origin)
    governed.rows.put("candidate", was._replace(stream=entry["stream"], sseq=entry["sseq"], entry=index))
    if decision.verb in LETS_IN and decision.memory is not None:
        memory: MemoryRow | None = governed.rows.get("memory", (decision.memory,))
        if memory is not None:
            held = governed.rows.get("memory_version", (memory.id, memory.version))
            governed.rows.put("memory_version", held._replace(status="revoked"))
            governed.rows.put("memory", memory._replace(status="revoked", updated=micros(entry["time"])))


def _restore_memory(governed: Governed, decision: DecisionRow, before: Any, index: int, entry: Entry, at: int) -> None:
    now: MemoryRow | None = governed.rows.get("memory", (decision.object,))
    if now is None:
        return
    was, held = MemoryRow(*before["row"]), MemoryVersionRow(*before["version"])
    version = now.version
    governed.unsay("memory", now.id, now.version)
    if was.version != now.version:
        current = governed.rows.get("memory_version", (now.id, now.version))
        governed.rows.put("memory_version", current._replace(status="superseded"))
        version += 1
        held = held._replace(decision=entry["id"], entry=index)
    body = held.body
    if body:
        body = _canonical({**json.loads(body), "version": version, "status": was.status})
    governed.rows.put("memory_version", held._replace(version=version, status=was.status, body=body))
    governed.say("memory", now.id, body)
    head = {"stream": entry["stream"], "sseq": entry["sseq"], "entry": index}
    governed.rows.put("memory", was._replace(version=version, updated=at, **head))


def _canonical(document: Any) -> str:
    from affidavit.proof.canonical import canonical

    return canonical(document).decode()


def _maybe(time: str | None) -> int | None:
    return None if time is None else micros(time)


def _json(data: bytes | None) -> Any:
    return None if data is None else orjson.loads(data)


def _text(data: bytes | None) -> str:
    return "" if data is None else data.decode("utf-8", "replace")
