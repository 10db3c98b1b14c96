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
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import zstandard

from storage import driver
from storage.driver import Connection
from storage.folds.sources import Voice
from storage.folds.withheld import Envelope, envelope_of
from storage.ledger import Clock, Content, Draft, Ledger
from storage.numbers import number, place_of
from storage.refold import Progress
from storage.segments import SALT, recut, spans_of, value_of
from storage.store import STALE, Random, Store, refused


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
    payloads: Sequence[bytes] = (),
    allowed: Callable[[Connection], None] | None = None,
) -> Redacted:
    """Erase the records that hold these events (numbers as in the ``event`` table), and ``payloads`` by commitment.

    ``allowed`` is asked first, in the same transaction, and raises where this may not be done.
    Records that were counted as copies of them are erased with them. ``actor`` and ``reason`` stand in the entry's
    erasable payloads. Raises :class:`RedactionError` when a record is not there or was erased before, and
    ``StoreError`` when the store cannot be written; then nothing changes.
    """
    from storage.rebuild import rebuild

    wanted: dict[int, set[int]] = defaultdict(set)
    for n in events:
        entry, record, _ = place_of(n)
        wanted[entry].add(record)
    if not wanted and not payloads:
        raise RedactionError("no record was named")
    connection = store.connection
    try:
        connection.execute("BEGIN IMMEDIATE")
        if allowed is not None:
            allowed(connection)
        erased: list[_Erased] = []
        for entry in sorted(wanted):
            erased += _erase(connection, entry, dict.fromkeys(wanted[entry]))
        erased += _erase_copies(connection, erased)
        erased += _erase_echoes(connection, wanted)
        for commit in payloads:
            connection.execute('DELETE FROM payload_chunk WHERE "commit" = ?', (commit,))
            connection.execute('DELETE FROM payload WHERE "commit" = ?', (commit,))
        index = _append(store, [*erased, *payloads], actor, reason, clock, random)
        connection.execute("UPDATE fold SET version = ? WHERE name = 'sessions'", (STALE,))
        connection.execute("COMMIT")
    except BaseException as error:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        if isinstance(error, driver.Error):
            raise refused(store.path, error) from error
        raise
    rebuild(store, progress=progress)
    return Redacted(index, len(erased))


class _Erased(NamedTuple):
    """One record that was erased: its commitment, what is kept of it, and the bytes it had."""

    commitment: str
    envelope: Envelope
    value: bytes
    copied: bool


def _erase(connection: Connection, entry: int, records: Mapping[int, Envelope | None]) -> list[_Erased]:
    """Overwrite records of a segment; of copies of erased ones the originals' envelopes are given."""
    row = connection.execute(
        "SELECT source, start, size, line, cuts, data, salts, commits FROM segment WHERE entry = ?", (entry,)
    ).fetchone()
    if row is None:
        raise RedactionError(f"entry {entry} holds no records")
    source, start, size, line, cuts, data, salts, commits = row
    spans = spans_of(data, cuts, size)
    about = connection.execute("SELECT format, native, lane FROM source WHERE no = ?", (source,)).fetchone()
    cut = list(recut(spans, start, line))
    salts = bytearray(salts)
    erased = []
    for record in sorted(records):
        part = slice(record * SALT, (record + 1) * SALT)
        if record >= len(spans):
            raise RedactionError(f"entry {entry} has no record {record}")
        if not any(salts[part]):
            raise RedactionError(f"record {record} of entry {entry} was erased before")
        envelope, copied = records[record], False
        if envelope is None:
            query = "SELECT id, copies FROM event WHERE n >= ? AND n < ? ORDER BY n"
            rows = connection.execute(query, (number(entry, record), number(entry, record + 1))).fetchall()
            envelope = envelope_of(entry, record, cut[record], [id for id, _ in rows], Voice(*about))
            copied = any(copies > 1 for _, copies in rows)
        lead, value = value_of(spans[record], start == 0 and record == 0)
        erased.append(_Erased(commits[part].hex(), {**envelope, "entry": entry, "record": record}, value, copied))
        spans[record] = spans[record][:lead] + bytes(len(value)) + spans[record][lead + len(value) :]
        salts[part] = bytes(SALT)
    packed = zstandard.ZstdCompressor(level=3, write_checksum=True).compress(b"".join(spans))
    connection.execute(
        "UPDATE segment SET data = ?, digest = ?, salts = ? WHERE entry = ?",
        (packed, hashlib.sha256(packed).digest(), bytes(salts), entry),
    )
    return erased


def _erase_copies(connection: Connection, originals: Sequence[_Erased]) -> list[_Erased]:
    """Erase every equal record that was counted as a copy and has no event of its own; looked for in all segments."""
    wanted = {original.value: original.envelope for original in originals if original.copied}
    if not wanted:
        return []
    erased = []
    for (entry,) in connection.execute("SELECT entry FROM segment ORDER BY entry").fetchall():
        query = "SELECT data, cuts, size, start FROM segment WHERE entry = ?"
        data, cuts, size, start = connection.execute(query, (entry,)).fetchone()
        copies: dict[int, Envelope | None] = {}
        for place, span in enumerate(spans_of(data, cuts, size)):
            envelope = wanted.get(value_of(span, start == 0 and place == 0)[1])
            first = number(entry, place)
            if (
                envelope is not None
                and not connection.execute(
                    "SELECT 1 FROM event WHERE n >= ? AND n < ?", (first, number(entry, place + 1))
                ).fetchone()
            ):
                copies[place] = envelope
        if copies:
            erased += _erase(connection, entry, copies)
    return erased


def _erase_echoes(connection: Connection, originals: Mapping[int, Iterable[int]]) -> list[_Erased]:
    """Erase every record that says the same in other bytes: in another stream of its log."""
    wanted: dict[int, set[int]] = defaultdict(set)
    for entry, records in originals.items():
        for record in records:
            query = "SELECT n FROM copied WHERE original = ?"
            for (n,) in connection.execute(query, (number(entry, record),)):
                wanted[place_of(n)[0]].add(place_of(n)[1])
    erased = []
    for entry in sorted(wanted):
        (salts,) = connection.execute("SELECT salts FROM segment WHERE entry = ?", (entry,)).fetchone()
        left = [record for record in sorted(wanted[entry]) if any(salts[record * SALT : (record + 1) * SALT])]
        erased += _erase(connection, entry, dict.fromkeys(left)) if left else []
    return erased


def _append(
    store: Store,
    erased: Sequence[_Erased | bytes],
    actor: str,
    reason: str,
    clock: Clock,
    random: Random,
) -> int:
    """Redaction entries, as many as their commitments need; returns the index of the first."""
    ledger = Ledger(store.connection, store.identity.ws)
    first = -1
    for at in range(0, len(erased), _PER_ENTRY):
        part = erased[at : at + _PER_ENTRY]
        stream = random(8).hex()
        envelopes = _json({"records": [one.envelope for one in part if isinstance(one, _Erased)]})
        contents = [
            Content("envelopes", "application/json", envelopes, random(32)),
            Content("reason", "text/plain", reason.encode("utf-8", "replace"), random(32)),
            Content("actor", "text/plain", actor.encode("utf-8", "replace"), random(32)),
        ]
        draft = Draft(
            stream,
            "redaction",
            stream,
            0,
            "",
            {"commitments": [one.commitment if isinstance(one, _Erased) else one.hex() for one in part]},
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
