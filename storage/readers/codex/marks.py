"""What of a record tells whether it was copied from another session's log; see :mod:`affidavit.session.forks`."""

from __future__ import annotations

from hashlib import sha256

import orjson

from affidavit.session.forks import Marks, made
from affidavit.session.times import instant
from storage.readers.lenient import obj, text

PLACE = "ordinal"
"""A record's place in its session's log, which the newest versions state."""


def marks_of(value: bytes) -> Marks | None:
    """Of a record's bytes; ``None`` where they cannot be had, or not be read."""
    try:
        record = orjson.loads(value)
        if type(record) is not dict:
            return None
        kind = text(record.get("type"))
        payload = obj(record.get("payload"))
        said = {"type": kind, "payload": payload} if payload else record
        key = sha256(orjson.dumps(said, option=orjson.OPT_SORT_KEYS)).digest()
    except (ValueError, TypeError):
        return None
    place = record.get(PLACE)
    at = record.get("timestamp")
    return Marks(
        text(payload.get("id")) if kind == "session_meta" else None,
        place if type(place) is int else None,
        made(text(payload.get("turn_id"))),
        instant(at)[0] if type(at) is str else None,
        int.from_bytes(key[:8], "big", signed=True),
    )
