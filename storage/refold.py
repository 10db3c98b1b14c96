"""Folding a whole ledger again from what is durable, for ``rebuild`` and ``verify``.

Only entries, segments and payloads are read; whatever the present tables say plays no part.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any

import orjson

from affidavit.policy.rows import POLICY_CHANGE, folded
from storage.driver import Connection
from storage.folds.fold import Fold, into_tables
from storage.folds.withheld import Envelope
from storage.ledger import contents_of, micros, payload
from storage.recorded import Recorded, about_source
from storage.segments import SegmentError
from storage.store import path_key

BATCH_RECORDS = 4_000

Progress = Callable[[str, int, int], None]
"""Called with (what is being done, how much of it is done, how much there is)."""

Recall = Callable[[int, int], Iterator[Recorded]]
"""Gives the recorded segments of the entries from one index to another."""

REVIEWS = ("review.decision", "review.claim", "review.undo")

REDACTION = b'"type":"redaction"'


class Cancelled(Exception):
    """The person asked to stop."""


def withheld_records(connection: Connection) -> dict[tuple[int, int], Envelope]:
    """Envelopes of every redacted record, by (segment entry, record), from the redactions' own payloads."""
    found: dict[tuple[int, int], Envelope] = {}
    rows = connection.execute("SELECT entry FROM ledger_entry WHERE instr(entry, ?) > 0", (REDACTION,))
    for (entry,) in rows.fetchall():
        read = orjson.loads(entry)
        if read["type"] != "redaction":
            continue
        for ref in read["refs"]:
            if ref["role"] != "envelopes":
                continue
            kept = payload(connection, bytes.fromhex(ref["commit"]))
            if kept is None:
                continue
            for envelope in json.loads(kept)["records"]:
                found[envelope["entry"], envelope["record"]] = envelope
    return found


class Refold:
    """Applies every ledger entry to a fold, in batches the caller puts into transactions.

    ``segments`` gives the recorded segments of a range of entries in order, records made ready.
    """

    def __init__(self, connection: Connection, fold: Fold, lookup: bytes, segments: Recall) -> None:
        self.connection = connection
        self.fold = fold
        self.lookup = lookup
        self.segments = segments
        self.revisions: dict[str, int] = {}
        self.done = 0

    def batches(self) -> Iterator[int]:
        """Fold what is new since the last call, yielding the number of entries folded after each batch."""
        records = 0
        self.fold.begin()
        waiting = False
        size = self.connection.execute("SELECT coalesce(max(idx) + 1, 0) FROM ledger_entry").fetchone()[0]
        segments = self.segments(self.done, size)
        query = "SELECT idx, entry FROM ledger_entry WHERE idx >= ? AND idx < ? ORDER BY idx LIMIT 256"
        while rows := self.connection.execute(query, (self.done, size)).fetchall():
            for index, entry in rows:
                records += self._apply(index, orjson.loads(entry), segments)
                waiting = True
                self.done = index + 1
                if records >= BATCH_RECORDS:
                    self.fold.write(self.done)
                    yield self.done
                    self.fold.begin()
                    records, waiting = 0, False
        if waiting:
            self.fold.write(self.done)
            yield self.done

    def _apply(self, index: int, entry: dict[str, Any], segments: Iterator[Recorded]) -> int:
        kind, body = entry["type"], entry["body"]
        if kind == "import.revision":
            about = about_source(self.connection, entry)
            self.fold.revision(index, body, path_key(self.lookup, about), about, entry["sseq"] + 1)
            self.revisions[body["source"]] = index
        elif kind == "import.segment":
            segment = next(segments, None)
            if segment is None or segment.entry != index or segment.ready is None:
                raise SegmentError(f"the records of entry {index} cannot be had")
            self.fold.segment(index, self.revisions[body["source"]], segment.ready, segment.size, segment.lines)
            return segment.records
        elif kind in REVIEWS:
            self.fold.review(index, entry, contents_of(self.connection, entry))
        elif kind == POLICY_CHANGE:
            self.fold.policy(folded(index, entry, micros(entry["time"]), contents_of(self.connection, entry)))
        elif kind == "redaction":
            self.fold.redaction(index, [bytes.fromhex(commitment) for commitment in body["commitments"]])
        return 1


def tables(connection: Connection, lookup: bytes, segments: Recall, prefix: str = "") -> Refold:
    """A refold that reads entries and writes fold tables through one connection."""
    return Refold(connection, into_tables(connection, prefix, withheld_records(connection)), lookup, segments)
