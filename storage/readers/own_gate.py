"""What our own lines of type ``recall.audit`` say: one run of the recall gate, and an event where a session recalled.

Only a line that says all of it is taken; any other is unknown, and shown as it is.
"""

from __future__ import annotations

from collections import Counter
from hashlib import sha256
from typing import Any

import orjson

from affidavit.session.event import Draft, Reading
from affidavit.session.times import instant
from storage.readers.lenient import compact, one_line

TYPE = "recall.audit"
Record = dict[str, Any]


def type_of(value: Record) -> str | None:
    """The type of a line that names none, by what it holds: the log of a gate as another program writes it."""
    return TYPE if "acceptedIds" in value and "rejected" in value and "query" in value else None


def run_uid(session: str | None, id: str) -> str:
    """The fixed-form id of a run: ``g`` and 12 hex digits, so that no prefix of it is a number."""
    return "g" + sha256(f"{session or ''}\0{id}".encode("utf-8", "surrogatepass")).hexdigest()[:12]


def audit(value: Record, reading: Reading) -> bool:
    """One run of the gate; whether the line is one."""
    if not _sound(value):
        return False
    named = value.get("id")
    id = named if type(named) is str and named else _digest(value)
    reading.native = reading.native or id
    at, _ = instant(reading.at)
    space = value["scope"].get("memorySpace", value["scope"].get("memorySpaceId"))
    reasons = Counter(one["reason"] for one in value["rejected"])
    dry, policy = value.get("dryRun", False), value.get("policyEntry")
    reading.kept = (
        "gate_run",
        (
            id, run_uid(reading.session, id), one_line(value["query"]), space if type(space) is str else None,
            int(at is not None), at or 0, len(value["acceptedIds"]), len(value["rejected"]), int(dry), policy,
            orjson.dumps(sorted(reasons)).decode(),
        ),
    )  # fmt: skip
    if reading.session is not None:
        reading.drafts.append(_event(value))
    return True


def _digest(value: Record) -> str:
    return "=" + sha256(compact(value).encode("utf-8", "surrogatepass")).hexdigest()[:16]


def _event(value: Record) -> Draft:
    passed, kept = len(value["acceptedIds"]), len(value["rejected"])
    told = [f"{one['reason']}: {one['id']} {one.get('title', '')}".rstrip() for one in value["rejected"]]
    text = "\n".join([value["query"], *(f"accepted: {id}" for id in value["acceptedIds"]), *told])
    dry = ", dry run" if value.get("dryRun") else ""
    return Draft("memory.read", "runtime", text, summary=f"recall gate: {passed} of {passed + kept} passed{dry}")


def _sound(value: Record) -> bool:
    """Whether a line has every field of a run in its shape."""
    policy = value.get("policyEntry")
    return (
        type(value.get("query")) is str
        and _names(value.get("acceptedIds"))
        and type(value.get("scope")) is dict
        and type(value.get("rejected")) is list
        and all(map(_rejected, value["rejected"]))
        and type(value.get("dryRun", False)) is bool
        and (policy is None or (type(policy) is int and 0 <= policy < 1 << 53))
    )


def _names(value: Any) -> bool:
    return type(value) is list and all(type(one) is str and one for one in value)


def _rejected(one: Any) -> bool:
    return type(one) is dict and _names([one.get("id"), one.get("reason")]) and type(one.get("title", "")) is str
