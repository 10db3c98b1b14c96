"""Erasing recorded text while every proof stays whole.

A record's bytes and salt are overwritten in its segment and a ``redaction`` entry naming its commitment is appended
in the same transaction. What remains is the record's envelope (ids, kinds, times, calls), kept as the entry's own
payload, so that its place in the timeline, its pairs and its address stay. The derived tables and the search index
are then made again: no word of the text is left in them.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import zstandard

from affidavit.session.event import Reading
from storage.driver import Connection
from storage.folds.fold import Envelope, reading_of
from storage.folds.sources import Voice
from storage.ledger import Clock, Content, Draft, Ledger
from storage.numbers import number, place_of
from storage.refold import Progress
from storage.segments import SALT, recut, spans_of, value_of
from storage.store import Random, Store


class RedactionError(Exception):
    """Nothing was erased; ``args[0]`` says why."""


@dataclass(frozen=True, slots=True)
class Redacted:
    """What a redaction did: the ledger entry that says so, and how many records' texts are gone."""

    entry: int
    records: int


def redact(
    store: Store,
    events: Iterable[int],
    *,
    actor: str,
    reason: str,
    clock: Clock,
    random: Random = os.urandom,
    progress: Progress | None = None,
) -> Redacted:
    """Erase the records that hold these events (numbers as in the ``event`` table).

    ``actor`` and ``reason`` stand in the entry's erasable payloads. Raises :class:`RedactionError` when a record is
    not there or was erased before; then nothing changes.
    """
    from storage.rebuild import rebuild

    wanted: dict[int, set[int]] = defaultdict(set)
    for n in events:
        entry, record, _ = place_of(n)
        wanted[entry].add(record)
    if not wanted:
        raise RedactionError("no record was named")
    connection = store.connection
    connection.execute("BEGIN IMMEDIATE")
    try:
        envelopes: list[Envelope] = []
        commitments: list[str] = []
        for entry in sorted(wanted):
            _erase(connection, entry, sorted(wanted[entry]), envelopes, commitments)
        index = _append(store, envelopes, commitments, actor, reason, clock, random)
        connection.execute("UPDATE fold SET version = 0 WHERE name = 'sessions'")
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise
    rebuild(store, progress=progress)
    return Redacted(index, len(commitments))


def _erase(
    connection: Connection, entry: int, records: Sequence[int], envelopes: list[Envelope], commitments: list[str]
) -> None:
    row = connection.execute(
        "SELECT source, start, size, line, cuts, data, salts, commits FROM segment WHERE entry = ?", (entry,)
    ).fetchone()
    if row is None:
        raise RedactionError(f"entry {entry} holds no records")
    source, start, size, line, cuts, data, salts, commits = row
    spans = spans_of(data, cuts, size)
    about = connection.execute("SELECT format, native, lane FROM source WHERE no = ?", (source,)).fetchone()
    voice = Voice(*about)
    cut = recut(spans, start, line)
    salts = bytearray(salts)
    for record in records:
        if record >= len(spans):
            raise RedactionError(f"entry {entry} has no record {record}")
        if not any(salts[record * SALT : (record + 1) * SALT]):
            raise RedactionError(f"record {record} of entry {entry} was erased before")
        ids = [
            id
            for (id,) in connection.execute(
                "SELECT id FROM event WHERE n >= ? AND n < ? ORDER BY n",
                (number(entry, record), number(entry, record + 1)),
            )
        ]
        envelopes.append(_envelope(entry, record, reading_of(cut[record], voice), ids, voice))
        commitments.append(commits[record * SALT : (record + 1) * SALT].hex())
        lead, value = value_of(spans[record], start == 0 and record == 0)
        spans[record] = spans[record][:lead] + bytes(len(value)) + spans[record][lead + len(value) :]
        salts[record * SALT : (record + 1) * SALT] = bytes(SALT)
    packed = zstandard.ZstdCompressor(level=3, write_checksum=True).compress(b"".join(spans))
    connection.execute(
        "UPDATE segment SET data = ?, digest = ?, salts = ? WHERE entry = ?",
        (packed, hashlib.sha256(packed).digest(), bytes(salts), entry),
    )


def _envelope(entry: int, record: int, reading: Reading | None, ids: list[int], voice: Voice) -> Envelope:
    """What is kept of a record: everything its neighbours need, and no text."""
    kept: dict[str, Any] = {"entry": entry, "record": record, "ids": ids, "first": 0}
    if reading is None or not reading.drafts or len(ids) != len(reading.drafts):
        return {**kept, "ids": [], "status": "mapped", "session": voice.native, "drafts": [], **_BLANK}
    usage = reading.usage
    return {
        **kept,
        "status": reading.status,
        "session": reading.session or voice.native,
        "native": reading.native,
        "parent": reading.parent,
        "lane": reading.lane,
        "at": reading.at,
        "prompt": reading.prompt,
        "leaf": reading.leaf,
        "usage": usage and [usage.message, usage.model, usage.input, usage.output, usage.cache_read, usage.cache_write],
        "drafts": [
            {
                "kind": draft.kind,
                "actor": draft.actor,
                "path": draft.path,
                "tool": draft.tool,
                "call": draft.call,
                "ok": draft.ok,
                "millis": draft.millis,
                "inferred": draft.inferred,
                "spawns": draft.spawns,
            }
            for draft in reading.drafts
        ],
    }


_BLANK = {"native": None, "parent": None, "lane": "", "at": None, "prompt": None, "leaf": False, "usage": None}


def _append(
    store: Store,
    envelopes: list[Envelope],
    commitments: list[str],
    actor: str,
    reason: str,
    clock: Clock,
    random: Random,
) -> int:
    """Redaction entries, as many as their commitments need; returns the index of the first."""
    ledger = Ledger(store.connection, store.identity.ws)
    first = -1
    for at in range(0, len(commitments), _PER_ENTRY):
        stream = random(8).hex()
        contents = [
            Content("envelopes", "application/json", _json({"records": envelopes[at : at + _PER_ENTRY]}), random(32)),
            Content("reason", "text/plain", reason.encode("utf-8", "replace"), random(32)),
            Content("actor", "text/plain", actor.encode("utf-8", "replace"), random(32)),
        ]
        draft = Draft(
            stream,
            "redaction",
            stream,
            0,
            "",
            {"commitments": commitments[at : at + _PER_ENTRY]},
            {"kind": "person", "id": random(8).hex(), "key": ""},
            contents,
        )
        index, _ = ledger.append(draft, clock())
        first = index if first < 0 else first
    return first


_PER_ENTRY = 256


def _json(value: Any) -> bytes:
    """JSON that also holds what a foreign id may contain, half surrogate pairs included."""
    return json.dumps(value, separators=(",", ":")).encode()
