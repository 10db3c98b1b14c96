"""Importing: foreign bytes into the ledger, then into tables, in short transactions that each leave a good store.

Custody comes first: bytes are cut into records, packed into segments and appended; what they mean is folded in the
same transaction, which also moves the source's cursor. An import can stop anywhere and go on later; what was
acknowledged is there once. Source files are only ever opened for reading.
"""

from __future__ import annotations

import hashlib
import hmac
import os
import stat
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime
from typing import BinaryIO

import orjson

from affidavit.text.marks import marked
from storage.accounting import FileReport, ImportReport
from storage.ahead import Died, can_help, steps_ahead
from storage.detect import Detected, detect, files, head_of
from storage.folds.fold import into_tables
from storage.folds.reading import Ready
from storage.folds.sources import SourceRow, Voice
from storage.ledger import Clock, Content, Draft, Ledger
from storage.making_ready import Step, steps
from storage.quiet import no_collecting
from storage.readers import readers
from storage.segments import BLANK, Packed, SegmentError, spans_of
from storage.store import FOLD_VERSION, STALE, Random, Store, StoreError, fold_version, path_key, refusing

BATCH_BYTES = 4 << 20
BATCH_RECORDS = 4_000
"""What one transaction takes at most: large enough that index pages are written once for many rows, small enough that
no other writer waits a quarter of a second."""

TAIL = 4096
"""Blanks behind the last record of a file, at most, that do not make it a grown one."""

CLOCKS = 2
"""Seconds by which a file system's clock may lag behind ours."""

Progress = Callable[[str, int, int, int], None]
"""Called with (file, bytes done, bytes in all, records so far)."""


class _Moved(Exception):
    """Another importer took bytes of this source, or began it, since we looked."""


class Importer:
    """Imports into one store. ``clock`` and ``random`` are the only sources of time and chance."""

    def __init__(
        self,
        store: Store,
        *,
        clock: Clock,
        random: Random = os.urandom,
        progress: Progress | None = None,
        cancel: threading.Event | None = None,
    ) -> None:
        self.store = store
        self.connection = store.connection
        self.clock = clock
        self.random = random
        self.progress = progress
        self.cancel = cancel or threading.Event()
        self.ledger = Ledger(self.connection, store.identity.ws)
        self.fold = into_tables(self.connection)
        self.report = ImportReport()
        self._version = -1
        self._looked_at = 0
        self._actor = hmac.digest(store.identity.lookup, b"importer", "sha256").hex()[:16]

    # -------------------------------------------------------------------------------------------- files

    def paths(self, paths: Iterable[str], format: str | None = None) -> ImportReport:
        """Import files and folders. Counts of what is new are taken from the tables before and after."""
        with self._counted(), no_collecting():
            for path in paths:
                self._path(path, format)
                if self.cancel.is_set():
                    break
        return self.report

    def stream(self, stream: BinaryIO, format: str | None = None, name: str = "-") -> ImportReport:
        """Import what a program writes to us: a source of its own, read to its end."""
        report = FileReport(name, named=True)
        self.report.files.append(report)
        with self._counted():
            self._stream(report, stream, format, name)
        return self.report

    def _stream(self, report: FileReport, stream: BinaryIO, format: str | None, name: str) -> None:
        # Whoever names the format may write on for long: their first line is enough to begin with.
        head, whole = head_of(stream) if format is None else head_of(stream, 1)
        found = detect(name, head, format, whole=whole)
        if found.skip:
            self._skip(report, found.skip, head)
        else:
            key = "stream:" + self.random(16).hex()
            self._take(report, _Joined(head, stream), key, name, found, None, 0)

    @contextmanager
    def _counted(self) -> Iterator[None]:
        """Counts what becomes new meanwhile, and turns the driver's errors into ours."""
        with refusing(self.store.path):
            before = self._counts()
            yield
            after = self._counts()
        self.report.sessions = after[0] - before[0]
        self.report.events = after[1] - before[1]
        self.report.interrupted = self.cancel.is_set()

    def _counts(self) -> tuple[int, int]:
        row = self.connection.execute("SELECT count(*), coalesce(sum(events), 0) FROM session").fetchone()
        return row[0], row[1]

    def _path(self, path: str, format: str | None) -> None:
        try:
            mode = os.stat(path).st_mode
        except OSError as error:
            skip = "missing" if isinstance(error, FileNotFoundError) else "unreadable"
            self.report.files.append(FileReport(path, skipped=skip, named=True))
            return
        if stat.S_ISDIR(mode):
            closed: list[str] = []
            for file in files(path, closed):
                if self.cancel.is_set():
                    return
                self._file(file, format, named=False)
            self.report.files += [FileReport(one, skipped="unreadable", named=one == path) for one in closed]
        elif stat.S_ISREG(mode):
            self._file(path, format, named=True)
        else:
            self.report.files.append(FileReport(path, skipped="not_a_file", named=True))

    def _file(self, path: str, format: str | None, named: bool) -> None:
        report = FileReport(path, named=named)
        self.report.files.append(report)
        full = os.path.realpath(path)
        key = "file:" + os.fsencode(full).hex()
        try:
            with open(path, "rb") as stream:
                while True:
                    try:
                        self._known_or_new(report, stream, key, full, format)
                        return
                    except _Moved:
                        self.fold.forget()
        except SegmentError as error:
            why = f"recorded bytes cannot be read back ({error}); `affidavit verify` says more"
            raise StoreError("damaged", self.store.path, why) from error
        except OSError as error:
            if report.records:
                report.note = f"reading stopped: {error.strerror}"
            else:
                report.skipped = "unreadable"
                report.note = error.strerror

    def _skip(self, report: FileReport, skip: str, head: bytes) -> None:
        """A file that is not taken; one whose first line is still being written is read once that is there."""
        report.skipped = skip
        if skip == "unfinished":
            self.report.pending.append((report.path, head.index(b"{")))

    def _known_or_new(self, report: FileReport, stream: BinaryIO, key: str, path: str, format: str | None) -> None:
        """Read a file on from where its newest revision stands, or begin a revision."""
        size = os.fstat(stream.fileno()).st_size
        self._refresh()
        self._looked_at = self.ledger.size()
        known = self.connection.execute(
            "SELECT no, format, cursor FROM source WHERE key = ? ORDER BY revision DESC LIMIT 1",
            (path_key(self.store.identity.lookup, {"key": key}),),
        ).fetchone()
        if known is not None and size >= known[2] and self._same_start(stream, known[0], known[2]):
            report.format = known[1]
            stream.seek(known[2])
            self._take(report, stream, key, path, None, known[0], size)
            return
        stream.seek(0)
        head, _ = head_of(stream)
        stream.seek(0)
        found = detect(path, head, format, whole=size <= len(head))
        if found.skip:
            self._skip(report, found.skip, head)
            return
        if known is not None:
            report.note = "replaced or cut since the last import; read as a new revision"
        self._take(report, stream, key, path, found, None, size)

    def _same_start(self, stream: BinaryIO, no: int, cursor: int) -> bool:
        """Whether a file still begins with what was taken from it.

        Its first and its last segment are compared; all of it where it has not grown and yet was touched since.
        """
        status = os.fstat(stream.fileno())
        stream.seek(cursor)
        grown = status.st_size - cursor > TAIL or stream.read(TAIL).strip(BLANK)
        touched = max(status.st_mtime, status.st_ctime) >= self._taken_at(no) - CLOCKS
        query = "SELECT entry FROM segment WHERE source = ?1"
        if grown or not touched:
            ends = [f"(SELECT {end}(start) FROM segment WHERE source = ?1)" for end in ("min", "max")]
            query = f"{query} AND start IN ({', '.join(ends)})"
        return all(self._same_segment(stream, entry) for (entry,) in self.connection.execute(query, (no,)).fetchall())

    def _taken_at(self, no: int) -> float:
        """When the newest entry of a source was made, in seconds since 1970."""
        query = "SELECT entry FROM ledger_entry WHERE idx = ?"
        (entry,) = self.connection.execute(query, (self.fold.source(no).last,)).fetchone()
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

    # ----------------------------------------------------------------------------------------- one source

    def _take(
        self,
        report: FileReport,
        stream: BinaryIO | _Joined,
        key: str,
        path: str,
        found: Detected | None,
        no: int | None,
        size: int,
    ) -> None:
        """Read a source to its end in batches."""
        if no is None:
            assert found is not None
            report.format = found.format
            about = self._about(path, key, found)
            row = None
        else:
            row = self.fold.source(no)
            about = {}
        voice = row.voice if row else Voice(about["format"], about["native"], about["lane"])
        live = isinstance(stream, _Joined)
        ahead = self.random is os.urandom and not live and can_help(size - (row.cursor if row else 0))
        while True:
            offset, line = (row.cursor, row.line) if row else (0, 1)
            if ahead:
                reading = steps_ahead(path, offset, line, voice)
            else:
                if not live:
                    stream.seek(offset)
                reading = steps(stream, offset, line, voice, self.random, live=live)
            try:
                self._read(report, reading, row, about, size, live)
                return
            except Died:
                ahead = False
                self.fold.forget()
                row = self.fold.source(row.state.no) if row else self._newest(key)

    def _newest(self, key: str) -> SourceRow | None:
        """A source's newest revision as the tables have it."""
        known = self.connection.execute(
            "SELECT no FROM source WHERE key = ? ORDER BY revision DESC LIMIT 1",
            (path_key(self.store.identity.lookup, {"key": key}),),
        ).fetchone()
        return self.fold.source(known[0]) if known and known[0] >= self._looked_at else None

    def _read(
        self,
        report: FileReport,
        reading: Iterator[Step],
        row: SourceRow | None,
        about: dict[str, str],
        size: int,
        live: bool,
    ) -> None:
        """Take what is read into transactions of a bounded size."""
        waiting: list[tuple[Packed, list[Ready]]] = []
        records = taken = 0
        for step in reading:
            report.bytes += step.bytes
            self.report.bytes += step.bytes
            for segment, ready in step.segments:
                waiting.append((segment, ready))
                records += len(ready)
                taken += segment.size
                if records >= BATCH_RECORDS or taken >= BATCH_BYTES:
                    row = self._commit(report, waiting, row, about, size)
                    waiting, records, taken = [], 0, 0
            if waiting and (live or not step.bytes):
                row = self._commit(report, waiting, row, about, size)
                waiting, records, taken = [], 0, 0
            if step.pending is not None:
                self.report.pending.append((report.path, step.pending))
            if self.cancel.is_set():
                return

    def _about(self, path: str, key: str, found: Detected) -> dict[str, str]:
        """What a revision's entry says of its source, kept as an erasable payload."""
        assert found.format is not None
        reader = readers()[found.format]
        native, lane = reader.scope(path)
        if native is None:
            said = (reader.read(value, (None, "")).session for value in found.samples)
            native = next((session for session in said if session), None)
        if native is None:
            native = "unnamed-" + hashlib.sha256(orjson.dumps(found.samples[0], default=str)).hexdigest()[:16]
        return {
            "format": found.format,
            "key": key,
            "lane": marked(lane),
            "native": marked(native),
            "path": marked(path),
        }

    def _commit(
        self,
        report: FileReport,
        packed: Sequence[tuple[Packed, list[Ready]]],
        row: SourceRow | None,
        about: dict[str, str],
        size: int,
    ) -> SourceRow:
        """One transaction: entries, segments, folds, index and cursor. ``size``: of the whole file, for progress."""
        connection = self.connection
        connection.execute("BEGIN IMMEDIATE")
        try:
            self._refresh()
            if row is not None:
                now = self.fold.source(row.state.no)
                if now.cursor != packed[0][0].start:
                    raise _Moved
                row = now
            self.fold.begin()
            if row is None:
                row = self._begin_source(about)
            before = _counts(row)
            for segment, ready in packed:
                self._append_segment(row, segment, ready)
            self.fold.write(self.ledger.size())
            connection.execute("COMMIT")
        except BaseException:
            if connection.in_transaction:
                connection.execute("ROLLBACK")
            self.fold.forget()
            self._version = -1
            raise
        self._version = connection.execute("PRAGMA data_version").fetchone()[0]
        self.report.unreadable_list += [
            (report.path, record[0], record[1], record[3])
            for _, ready in packed
            for record in ready
            if type(record) is list
        ]
        for name, old, new in zip(_COUNTS, before, _counts(row), strict=True):
            setattr(report, name, getattr(report, name) + new - old)
        if self.progress:
            self.progress(report.path, row.cursor, size, report.records)
        return row

    def _refresh(self) -> None:
        """Forget cached states when another connection has written."""
        version = self.connection.execute("PRAGMA data_version").fetchone()[0]
        if version == self._version:
            return
        self.fold.forget()
        self._version = version
        if fold_version(self.connection) not in (FOLD_VERSION, STALE):
            raise StoreError("needs_rebuild", self.store.path, "another Affidavit rebuilt its tables; use that one")

    def _begin_source(self, about: dict[str, str]) -> SourceRow:
        key = path_key(self.store.identity.lookup, about)
        known = self.connection.execute(
            "SELECT no FROM source WHERE key = ? ORDER BY revision DESC LIMIT 1", (key,)
        ).fetchone()
        if known is None:
            source, revision, sseq, sprev = self.random(8).hex(), 1, 0, ""
        else:
            if known[0] >= self._looked_at:
                raise _Moved
            older = self.fold.source(known[0])
            source, revision, sseq = older.id, older.revision + 1, older.entries
            sprev = self._leaf(older.last)
        content = Content("source", "application/json", orjson.dumps(about), self.random(32))
        draft = Draft(
            f"{source}.{revision}",
            "import.revision",
            source,
            sseq,
            sprev,
            {"source": source, "revision": revision},
            {"kind": "runtime", "id": self._actor, "key": ""},
            [content],
        )
        index, _ = self.ledger.append(draft, self.clock())
        return self.fold.revision(index, draft.body, key, about, sseq + 1)

    def _leaf(self, index: int) -> str:
        leaf: bytes = self.connection.execute("SELECT leaf FROM ledger_entry WHERE idx = ?", (index,)).fetchone()[0]
        return leaf.hex()

    def _append_segment(self, row: SourceRow, segment: Packed, ready: list[Ready]) -> None:
        draft = Draft(
            f"{row.id}.{row.revision}.{segment.start}",
            "import.segment",
            row.id,
            row.entries,
            self._leaf(row.last),
            {
                "source": row.id,
                "revision": row.revision,
                "from": segment.start,
                "bytes": segment.size,
                "records": len(ready),
                "root": segment.root.hex(),
            },
            {"kind": "runtime", "id": self._actor, "key": ""},
        )
        index, _ = self.ledger.append(draft, self.clock())
        self.connection.execute(
            "INSERT INTO segment VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (
                index,
                row.state.no,
                segment.start,
                segment.size,
                segment.line,
                len(ready),
                segment.cuts,
                segment.data,
                segment.digest,
                segment.salts,
                segment.commits,
            ),
        )
        self.fold.segment(index, row.state.no, ready, segment.size, segment.lines)


_COUNTS = ("records", "mapped", "unknown", "duplicates", "unreadable")


def _counts(row: SourceRow) -> tuple[int, ...]:
    state = row.state
    return state.records, state.mapped, state.unknown, state.duplicates, state.unreadable


class _Joined:
    """A stream whose first bytes were read already."""

    def __init__(self, head: bytes, stream: BinaryIO) -> None:
        self.head = head
        self._more: Callable[[int], bytes] = getattr(stream, "read1", stream.read)

    def read(self, size: int, /) -> bytes:
        """What is there by now, at most ``size`` bytes; waits only while there is nothing."""
        if self.head:
            head, self.head = self.head, b""
            return head
        return self._more(size)

    def seek(self, offset: int, /) -> int:
        """A stream cannot go back."""
        raise OSError(f"a stream cannot be read again from {offset}")
