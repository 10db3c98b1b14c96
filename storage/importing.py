"""Importing: foreign bytes into the ledger, then into tables, in short transactions that each leave a good store.

Custody comes first: bytes are cut into records, packed into segments and appended; what they mean is folded in the
same transaction, which also moves the source's cursor. An import can stop anywhere and go on later; what was
acknowledged is there once. Source files are only ever opened for reading.
"""

from __future__ import annotations

import hmac
import os
import stat
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from io import BytesIO
from typing import BinaryIO

import orjson

from storage.accounting import FileReport, ImportReport
from storage.ahead import Died, Readahead, can_help
from storage.detect import Detected, detect, files, head_of
from storage.folds.fold import into_tables
from storage.folds.reading import Ready
from storage.folds.sources import SourceRow
from storage.foreign import MAY_BE_MEMORIES, account_for, foreign_memories, proposed_anew
from storage.ledger import Clock, Content, Draft, Ledger
from storage.making_ready import Step, steps
from storage.opening import open_log
from storage.planning import Plan, Planner, Skipped
from storage.quiet import no_collecting
from storage.readers.memory_stores import Foreign
from storage.readers.rules import is_rules
from storage.rule_imports import Bringing, Home, home_of
from storage.segments import Packed, SegmentError
from storage.store import FOLD_VERSION, STALE, Random, Store, StoreError, fold_version, path_key, refusing

BATCH_BYTES = 4 << 20
BATCH_RECORDS = 4_000
BATCH_FILES = 64
"""What one transaction takes at most: large enough that index pages are written once for many rows, small enough that
no other writer waits a quarter of a second."""

AHEAD_BYTES = 16 << 20
AHEAD_FILES = 64
"""How much is looked at before it is read, so that a second process always has something to read."""

Progress = Callable[[str, int, int, int], None]
"""Called with (file, bytes done, bytes in all, records so far)."""


class _Moved(Exception):
    """Another importer took bytes of this source, or began it, since we looked."""


@dataclass(slots=True)
class _Part:
    """What was read of one file and waits for its transaction; ``row``: where its revision stands, if it began."""

    plan: Plan
    row: SourceRow | None
    segments: list[tuple[Packed, list[Ready]]]


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
        home: Home | None = None,
    ) -> None:
        self.store = store
        self.connection = store.connection
        self.clock = clock
        self.random = random
        self.progress = progress
        self.cancel = cancel or threading.Event()
        self.home = home or home_of()
        self.ledger = Ledger(self.connection, store.identity.ws)
        self.fold = into_tables(self.connection)
        self.report = ImportReport()
        self._version = -1
        self.planner = Planner(store, self.fold)
        self._readahead: Readahead | None = None
        self._helpful = True
        self._format: str | None = None
        self._parts: list[_Part] = []
        self._records = self._bytes = 0
        self._actor = hmac.digest(store.identity.lookup, b"importer", "sha256").hex()[:16]

    # -------------------------------------------------------------------------------------------- files

    def paths(self, paths: Iterable[str], format: str | None = None) -> ImportReport:
        """Import files and folders."""
        with self._counted(), no_collecting():
            bringing = Bringing(self.home, self.report.files)
            try:
                self._format = format
                for plan in self._plans(paths, bringing):
                    self._take(plan)
                    if self.cancel.is_set():
                        break
                self._flush()
            finally:
                bringing.finish()
                if self._readahead is not None:
                    self._readahead.stop()
                    self._readahead = None
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
            self._skip(report, Skipped(found.skip, head))
            return
        plan = self.planner.begin(report, "stream:" + self.random(16).hex(), name, found, 0, self.ledger.size())
        self._read(plan, steps(_Joined(head, stream), 0, 1, plan.voice, self.random, live=True), None, live=True)

    def _remember(self, report: FileReport, foreign: Foreign) -> None:
        """Take what another tool's memory store holds as candidates; what was proposed before is a copy."""
        self._flush()
        fresh = proposed_anew(self.connection, foreign)
        if fresh:
            stream = BytesIO(b"".join(fresh))
            found = Detected("affidavit", [orjson.loads(fresh[0])], None)
            key = "stream:" + self.random(16).hex()
            plan = self.planner.begin(report, key, report.path, found, 0, self.ledger.size())
            self._read(plan, steps(stream, 0, 1, plan.voice, self.random, live=True), None, live=True)
        account_for(report, foreign, len(fresh))

    @contextmanager
    def _counted(self) -> Iterator[None]:
        """Turns the driver's errors into ours, and says whether it was asked to stop meanwhile."""
        with refusing(self.store.path):
            yield
        self.report.interrupted = self.cancel.is_set()

    def _files(self, path: str) -> Iterator[FileReport]:
        """The files to look at below a path, each with the account that will be given of it."""
        try:
            mode = os.stat(path).st_mode
        except OSError as error:
            skip = "missing" if isinstance(error, FileNotFoundError) else "unreadable"
            note = None if skip == "missing" else error.strerror
            self.report.files.append(FileReport(path, skipped=skip, named=True, note=note, stopped=note is not None))
            return
        if stat.S_ISDIR(mode):
            closed: list[str] = []
            for file in files(path, closed):
                self.report.files.append(FileReport(file))
                yield self.report.files[-1]
            self.report.files += [FileReport(one, skipped="unreadable", named=one == path) for one in closed]
        elif stat.S_ISREG(mode):
            self.report.files.append(FileReport(path, named=True))
            yield self.report.files[-1]
        else:
            self.report.files.append(FileReport(path, skipped="not_a_file", named=True))

    def _plans(self, paths: Iterable[str], bringing: Bringing) -> Iterator[Plan]:
        """What there is to read, found out a little ahead of whoever reads it."""
        waiting: deque[Plan] = deque()
        size = 0
        for path in paths:
            for report in bringing.behind(self._files(path)):
                if self.cancel.is_set():
                    return
                plan = self._plan(report)
                if plan is None:
                    continue
                waiting.append(plan)
                size += plan.size - plan.offset
                self._ask(waiting, size)
                while waiting and (size > AHEAD_BYTES or len(waiting) > AHEAD_FILES):
                    size -= waiting[0].size - waiting[0].offset
                    yield waiting.popleft()
        while waiting and not self.cancel.is_set():
            yield waiting.popleft()

    def _ask(self, waiting: Iterable[Plan], size: int) -> None:
        """Have a second process read what waits, where that is enough to be worth one."""
        if self.random is not os.urandom or not self._helpful:
            return
        try:
            if self._readahead is None:
                if not can_help(size):
                    return
                self._readahead = Readahead()
            for plan in waiting:
                if not plan.asked:
                    plan.asked = self._readahead.ask(plan.report.path, plan.offset, plan.line, plan.voice)
        except Died:
            self._without_help()

    def _without_help(self) -> None:
        self._helpful = False
        if self._readahead is not None:
            self._readahead.stop()
            self._readahead = None

    def _plan(self, report: FileReport) -> Plan | None:
        """What is to be read of a file, ``None`` where it is skipped."""
        with self._opening(report):
            stream, report.note = open_log(report.path)
            with stream:
                self._refresh()
                told = report.format if report.format and is_rules(report.format) else self._format
                plan = self.planner.plan(report, stream, told, self.ledger.size())
                if isinstance(plan, Plan):
                    return plan
                foreign = foreign_memories(report.path, stream) if plan.why in MAY_BE_MEMORIES else None
            if foreign is None:
                self._skip(report, plan)
            else:
                self._remember(report, foreign)
        return None

    @contextmanager
    def _opening(self, report: FileReport) -> Iterator[None]:
        """Says in a file's account why it could not be read, or not to its end."""
        try:
            yield
        except SegmentError as error:
            why = f"recorded bytes cannot be read back ({error}); `affidavit verify` says more"
            raise StoreError("damaged", self.store.path, why) from error
        except OSError as error:
            self._flush()
            report.stopped = True
            if report.records:
                report.note = f"reading stopped: {error.strerror}"
            else:
                report.skipped = "unreadable"
                report.note = error.strerror

    def _skip(self, report: FileReport, skipped: Skipped) -> None:
        """A file that is not taken; one whose first line is still being written is read once that is there."""
        report.skipped = skipped.why
        if skipped.why == "unfinished":
            self.report.pending.append((report.path, skipped.head.index(b"{")))

    # ----------------------------------------------------------------------------------------- one source

    def _take(self, plan: Plan) -> None:
        """Read a file to its end in batches; where another importer took of it since it was looked at, look again."""
        with self._opening(plan.report):
            todo: Plan | None = plan
            while todo is not None:
                try:
                    self._take_once(todo)
                    return
                except _Moved:
                    self.fold.forget()
                    todo = self._plan(plan.report)

    def _take_once(self, plan: Plan) -> None:
        row = None if plan.no is None else self.fold.source(plan.no)
        if plan.asked and self._readahead is not None:
            try:
                self._read(plan, self._readahead.steps(plan.asked), row)
                return
            except Died:
                self._without_help()
                self._flush(plan)
                newest = self.planner.newest(plan.key)
                if newest is not None and (plan.no is not None or newest.state.no >= plan.looked_at):
                    row = newest
        stream, _ = open_log(plan.report.path)
        with stream:
            offset, line = (row.cursor, row.line) if row else (plan.offset, plan.line)
            stream.seek(offset)
            self._read(plan, steps(stream, offset, line, plan.voice, self.random), row)

    def _read(self, plan: Plan, reading: Iterator[Step], row: SourceRow | None, *, live: bool = False) -> None:
        """Take what is read into transactions of a bounded size, small files together."""
        part: _Part | None = None
        for step in reading:
            plan.report.bytes += step.bytes
            self.report.bytes += step.bytes
            for segment, ready in step.segments:
                if part is None:
                    if any(other.plan.key == plan.key for other in self._parts):
                        self._flush()  # a file named twice: what was begun is known only from its transaction on
                    part = _Part(plan, row, [])
                    self._parts.append(part)
                part.segments.append((segment, ready))
                self._records += len(ready)
                self._bytes += segment.size
                if self._records >= BATCH_RECORDS or self._bytes >= BATCH_BYTES:
                    row, part = self._flush(plan), None
            if live and part is not None:
                row, part = self._flush(plan), None
            if step.pending is not None:
                self.report.pending.append((plan.report.path, step.pending))
            if self.cancel.is_set():
                return
        if len(self._parts) >= BATCH_FILES:
            self._flush()

    def _flush(self, reading: Plan | None = None) -> SourceRow | None:
        """Commit what waits; gives where its last source stands now.

        Where another importer took of a source meanwhile, the others are committed one by one and it is looked at
        again; of the one that is being ``reading`` that is told by :class:`_Moved`.
        """
        parts, self._parts = self._parts, []
        self._records = self._bytes = 0
        if not parts:
            return None
        try:
            return self._commit(parts)
        except _Moved:
            if len(parts) == 1 and parts[0].plan is reading:
                raise
        row = None
        for part in parts:
            try:
                row = self._commit([part])
            except _Moved:
                if part.plan is reading:
                    raise
                self._again(part.plan)
        return row

    def _again(self, plan: Plan) -> None:
        """Look again at a file of which another importer took."""
        path = plan.report.path
        self.report.pending = [pending for pending in self.report.pending if pending[0] != path]
        again = self._plan(plan.report)
        if again is not None:
            self._take(again)

    def _commit(self, parts: Sequence[_Part]) -> SourceRow:
        """One transaction: entries, segments, folds, index and cursors."""
        connection = self.connection
        taken: list[tuple[_Part, SourceRow, tuple[int, ...]]] = []
        connection.execute("BEGIN IMMEDIATE")
        try:
            self._refresh()
            self.fold.begin()
            newest = connection.execute("SELECT coalesce(max(no), 0) FROM session").fetchone()[0]
            for part in parts:
                row = self._row(part)
                taken.append((part, row, _counts(row)))
                for segment, ready in part.segments:
                    self._append_segment(row, segment, ready)
            self.fold.write(self.ledger.size())
            begun = connection.execute("SELECT count(*) FROM session WHERE no > ?", (newest,)).fetchone()[0]
            connection.execute("COMMIT")
        except BaseException:
            if connection.in_transaction:
                connection.execute("ROLLBACK")
            self.fold.forget()
            self._version = -1
            raise
        self._version = connection.execute("PRAGMA data_version").fetchone()[0]
        self.report.sessions += begun
        self.report.events += len(self.fold.derivation.changes.events)
        for part, row, before in taken:
            self._account(part, row, before)
        return row

    def _row(self, part: _Part) -> SourceRow:
        """The revision a part belongs to, begun where it is new."""
        if part.row is None:
            return self._begin_source(part.plan)
        row = self.fold.source(part.row.state.no)
        if row.cursor != part.segments[0][0].start:
            raise _Moved
        return row

    def _account(self, part: _Part, row: SourceRow, before: tuple[int, ...]) -> None:
        """Count what of a file is acknowledged now."""
        report = part.plan.report
        self.report.unreadable_list += [
            (report.path, record[0], record[1], record[3])
            for _, ready in part.segments
            for record in ready
            if type(record) is list
        ]
        for name, old, new in zip(_COUNTS, before, _counts(row), strict=True):
            setattr(report, name, getattr(report, name) + new - old)
        if self.progress:
            self.progress(report.path, row.cursor, part.plan.size, report.records)

    def _refresh(self) -> None:
        """Forget cached states when another connection has written."""
        version = self.connection.execute("PRAGMA data_version").fetchone()[0]
        if version == self._version:
            return
        self.fold.forget()
        self._version = version
        if fold_version(self.connection) not in (FOLD_VERSION, STALE):
            raise StoreError("needs_rebuild", self.store.path, "another Affidavit rebuilt its tables; use that one")

    def _begin_source(self, plan: Plan) -> SourceRow:
        key = path_key(self.store.identity.lookup, plan.about)
        older = self.planner.newest(plan.key)
        if older is None:
            source, revision, sseq, sprev = self.random(8).hex(), 1, 0, ""
        else:
            if older.state.no >= plan.looked_at:
                raise _Moved
            source, revision, sseq = older.id, older.revision + 1, older.entries
            sprev = self._leaf(older.last)
        content = Content("source", "application/json", orjson.dumps(plan.about), self.random(32))
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
        return self.fold.revision(index, draft.body, key, plan.about, sseq + 1)

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
