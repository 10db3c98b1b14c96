"""Where reading a file goes on: whether it is known, still begins as it did, and what a new one is."""

from __future__ import annotations

import hashlib
import os
from dataclasses import dataclass
from datetime import datetime
from typing import BinaryIO

import orjson

from affidavit.text.marks import marked
from storage.accounting import FileReport
from storage.detect import Detected, detect, head_of
from storage.folds.fold import Fold
from storage.folds.sources import SourceRow, Voice
from storage.readers import base_of, is_document, readers
from storage.readers.rules import is_rules
from storage.rule_places import placed
from storage.segments import BLANK, spans_of
from storage.store import Store, path_key

TAIL = 4096
"""Blanks behind the last record of a file, at most, that do not make it a grown one."""

CLOCKS = 2
"""Seconds by which a file system's clock may lag behind ours."""


@dataclass(slots=True)
class Plan:
    """What is to be read of one file: from ``offset`` and ``line`` on, spoken in ``voice``.

    ``no``: the revision it continues, ``None`` for one that begins, of which ``about`` says what its entry will.
    ``looked_at``: entries in the ledger when this was found out. ``size``: the file's bytes then. ``asked``: its number
    with the process that reads ahead, 0 where nobody was asked.
    """

    report: FileReport
    key: str
    about: dict[str, str]
    no: int | None
    voice: Voice
    offset: int
    line: int
    size: int
    looked_at: int
    asked: int = 0


class Planner:
    """Finds out for one store's importer what there is to read."""

    def __init__(self, store: Store, fold: Fold) -> None:
        self.store = store
        self.connection = store.connection
        self.fold = fold

    def plan(self, report: FileReport, stream: BinaryIO, format: str | None, looked_at: int) -> Plan | Skipped:
        """Read a file on from where its newest revision stands, or begin a revision."""
        path = placed(report.path)
        key = "file:" + os.fsencode(path).hex()
        size = os.fstat(stream.fileno()).st_size
        row = self.newest(key)
        goes_on = row is not None and (size == row.cursor if is_document(row.voice.format) else size >= row.cursor)
        if row is not None and goes_on and self._same_start(stream, row):
            report.format = row.voice.format
            return Plan(report, key, {}, row.state.no, row.voice, row.cursor, row.line, size, looked_at)
        stream.seek(0)
        head, _ = head_of(stream)
        if format is None and row is not None and is_rules(row.voice.format):
            format = row.voice.format  # one that a rule file brought in has nothing of its own to be known by
        found = detect(path, head, format, whole=size <= len(head))
        if found.skip:
            return Skipped(found.skip, head)
        if row is not None:
            report.anew = True
            told = "replaced or cut since the last import; read as a new revision"
            report.note = f"{report.note}; {told}" if report.note else told
        return self.begin(report, key, path, found, size, looked_at)

    def begin(self, report: FileReport, key: str, path: str, found: Detected, size: int, looked_at: int) -> Plan:
        """A revision that begins with what was found at the start of a file or stream."""
        report.format = found.format
        about = about_source(path, key, found)
        voice = Voice(about["format"], about["native"], about["lane"])
        return Plan(report, key, about, None, voice, 0, 1, size, looked_at)

    def newest(self, key: str) -> SourceRow | None:
        """A source's newest revision as the tables have it."""
        known = self.connection.execute(
            "SELECT no FROM source WHERE key = ? ORDER BY revision DESC LIMIT 1",
            (path_key(self.store.identity.lookup, {"key": key}),),
        ).fetchone()
        return self.fold.source(known[0]) if known else None

    def _same_start(self, stream: BinaryIO, row: SourceRow) -> bool:
        """Whether a file still begins with what was taken from it.

        Its first and its last segment are compared; all of it where it has not grown and yet was touched since.
        """
        status = os.fstat(stream.fileno())
        stream.seek(row.cursor)
        grown = status.st_size - row.cursor > TAIL or stream.read(TAIL).strip(BLANK)
        touched = max(status.st_mtime, status.st_ctime) >= self._taken_at(row) - CLOCKS
        query = "SELECT entry FROM segment WHERE source = ?1"
        if grown or not touched:
            ends = [f"(SELECT {end}(start) FROM segment WHERE source = ?1)" for end in ("min", "max")]
            query = f"{query} AND start IN ({', '.join(ends)})"
        entries = self.connection.execute(query, (row.state.no,)).fetchall()
        return all(self._same_segment(stream, entry) for (entry,) in entries)

    def _taken_at(self, row: SourceRow) -> float:
        """When the newest entry of a source was made, in seconds since 1970."""
        query = "SELECT entry FROM ledger_entry WHERE idx = ?"
        (entry,) = self.connection.execute(query, (row.last,)).fetchone()
        return datetime.fromisoformat(orjson.loads(entry)["time"]).timestamp()

    def _same_segment(self, stream: BinaryIO, entry: int) -> bool:
        query = "SELECT data, cuts, size, start, salts FROM segment WHERE entry = ?"
        data, cuts, size, start, salts = self.connection.execute(query, (entry,)).fetchone()
        stream.seek(start)
        now = stream.read(size)
        at = 0
        for place, span in enumerate(spans_of(data, cuts, size)):
            kept = any(salts[place * 32 : place * 32 + 32])
            if kept and now[at : at + len(span)] != span:
                return False
            at += len(span)
        return True


@dataclass(slots=True)
class Skipped:
    """A file that is not taken: why (a key of ``SKIPS``), and how it begins."""

    why: str
    head: bytes


def about_source(path: str, key: str, found: Detected) -> dict[str, str]:
    """What a revision's entry says of its source, kept as an erasable payload."""
    assert found.format is not None
    reader = readers()[base_of(found.format)]
    native, lane = reader.scope(path)
    if native is None:
        said = (reader.read(value, (None, "")).session for value in found.samples)
        native = next((session for session in said if session), None)
    if native is None:
        first = found.samples[0] if found.samples else key
        native = "unnamed-" + hashlib.sha256(orjson.dumps(first, default=str)).hexdigest()[:16]
    return {
        "format": marked(found.format),
        "key": key,
        "lane": marked(lane),
        "native": marked(native),
        "path": marked(path),
    }
