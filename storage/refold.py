"""Folding a whole ledger again from what is durable, for ``rebuild`` and ``verify``.

Only entries, segments and payloads are read; whatever the present tables say plays no part.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any

import orjson

from affidavit.text.marks import marked
from storage.driver import Connection
from storage.folds.fold import Envelope, Fold, make_ready
from storage.folds.known import Segments
from storage.ledger import payload
from storage.segments import SegmentError, recut, spans_of
from storage.store import path_key

BATCH_RECORDS = 4_000

Progress = Callable[[str, int, int], None]
"""Called with (what is being done, how much of it is done, how much there is)."""

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
    """Applies every ledger entry to a fold, in batches the caller puts into transactions."""

    def __init__(self, connection: Connection, fold: Fold, lookup: bytes) -> None:
        self.connection = connection
        self.fold = fold
        self.lookup = lookup
        self.revisions: dict[str, int] = {}
        self.done = 0

    def batches(self) -> Iterator[int]:
        """Fold what is new since the last call, yielding the number of entries folded after each batch."""
        records = 0
        self.fold.begin()
        waiting = False
        query = "SELECT idx, entry FROM ledger_entry WHERE idx >= ? ORDER BY idx LIMIT 256"
        while rows := self.connection.execute(query, (self.done,)).fetchall():
            for index, entry in rows:
                records += self._apply(index, orjson.loads(entry))
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

    def _apply(self, index: int, entry: dict[str, Any]) -> int:
        kind, body = entry["type"], entry["body"]
        if kind == "import.revision":
            about = self._about(entry)
            self.fold.revision(index, body, path_key(self.lookup, about), about, entry["sseq"] + 1)
            self.revisions[body["source"]] = index
            return 1
        if kind == "import.segment":
            row = self.connection.execute(
                "SELECT data, cuts, size, start, line, records FROM segment WHERE entry = ?", (index,)
            ).fetchone()
            if row is None:
                raise SegmentError(f"the bytes of entry {index} are missing")
            no = self.revisions.get(body["source"])
            if no is None:
                no = self.revisions[body["source"]] = self._revision_of(body["source"])
            spans = spans_of(row[0], row[1], row[2])
            ready = make_ready(recut(spans, row[3], row[4]), self.fold.source(no).voice)
            self.fold.segment(index, no, ready, row[2], sum(span.count(b"\n") for span in spans))
            return int(row[5])
        if kind == "redaction":
            self.fold.redaction(index, [bytes.fromhex(commitment) for commitment in body["commitments"]])
        return 1

    def _revision_of(self, source: str) -> int:
        query = f"SELECT no FROM {self.fold.prefix}source WHERE id = ? ORDER BY revision DESC LIMIT 1"
        return int(self.connection.execute(query, (source,)).fetchone()[0])

    def _about(self, entry: dict[str, Any]) -> dict[str, str]:
        kept = payload(self.connection, bytes.fromhex(entry["refs"][0]["commit"]))
        if kept is None:
            mark = marked("(withheld)")
            return {"format": "withheld", "native": mark, "lane": "", "path": mark, "key": ""}
        about: dict[str, str] = orjson.loads(kept)
        return about


def tables(connection: Connection, lookup: bytes, prefix: str = "", *, search: bool = True) -> Refold:
    """A refold that reads durable tables and writes fold tables through one connection."""
    segments = Segments(connection)
    fold = Fold(connection, segments, prefix, search=search, withheld=withheld_records(connection))
    return Refold(connection, fold, lookup)
