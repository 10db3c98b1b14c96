"""Indexing a workspace: what a walk finds changed enters the ledger and the index, in short transactions.

A walk can stop anywhere, killed or asked to: what was acknowledged is there and whole, and the next walk goes on. What
did not change costs a look at the folder that holds it, no more.
"""

from __future__ import annotations

import hmac
import os
import threading
from collections import Counter
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Final, NamedTuple

from storage.ledger import Clock, Content
from storage.quiet import no_collecting
from storage.store import Store, refusing
from storage.workspace.preparing import Prepared, prepare
from storage.workspace.recording import (
    MOST_TEXTS,
    Change,
    Manifest,
    Random,
    Root,
    append,
    begin_root,
    find_root,
    micros,
    text_content,
)
from storage.workspace.remaking import make_ready
from storage.workspace.walking import Found, Stat, Walk, head_of
from storage.workspace.writing import Rows

BATCH_FILES: Final = 2 * MOST_TEXTS
BATCH_BYTES: Final = 1 << 20
BATCH_GONE: Final = 1_000
"""What one transaction takes at most: no other writer waits long."""

RACY_NANOS: Final = 2_000_000_000
"""A file changed so shortly before it was read may be changed again without a look at it telling so."""

Progress = Callable[[int, int], None]
"""Called with (files met, of them read)."""


@dataclass(slots=True)
class IndexReport:
    """The account of one walk. ``files`` = ``unchanged`` + ``same`` + ``added`` + ``changed``.

    ``same``: read again and found as they were. ``gone``: files that are not there any more. ``left``: how many were
    left out, by reason (``walking.SKIPS``); ``listed``: the first of them by path. ``interrupted``: it did not come to
    its end.
    """

    root: str
    branch: str | None = None
    head: str | None = None
    files: int = 0
    bytes: int = 0
    unchanged: int = 0
    same: int = 0
    added: int = 0
    changed: int = 0
    gone: int = 0
    entries: int = 0
    left: Counter[str] = field(default_factory=Counter)
    listed: list[tuple[str, str]] = field(default_factory=list)
    interrupted: bool = False


class _Known(NamedTuple):
    """A file as it was when it was looked at last."""

    stat: Stat
    looked: int


def index(
    store: Store,
    root: str,
    progress: Progress | None = None,
    *,
    clock: Clock = lambda: datetime.now(UTC),
    random: Random = os.urandom,
    cancel: threading.Event | None = None,
) -> IndexReport:
    """Bring the index of a folder up to date. Raises ``StoreError``, and ``OSError`` where the folder cannot be read.

    Two at once on one folder do each file's work once or twice, and leave the same index.
    """
    with refusing(store.path), no_collecting():
        make_ready(store)
        return _Indexer(store, root, clock, random, cancel or threading.Event()).run(progress)


class _Indexer:
    def __init__(self, store: Store, root: str, clock: Clock, random: Random, cancel: threading.Event) -> None:
        self.store = store
        self.connection = store.connection
        self.clock = clock
        self.random = random
        self.cancel = cancel
        self.walk = Walk(root, _itself(store.path))
        self.report = IndexReport(self.walk.root)
        self.actor = hmac.digest(store.identity.lookup, b"indexer", "sha256").hex()[:16]
        self.batch: list[Prepared] = []
        self.batch_bytes = 0
        self.unfit: list[str] = []
        self.writing: Future[Counter[str]] | None = None

    def run(self, progress: Progress | None) -> IndexReport:
        """Walk once over the root. Files are read and made ready while those before are being written."""
        report = self.report
        self.walk.check()
        known = self._known()
        report.branch, report.head = head_of(self.walk.root)
        with ThreadPoolExecutor(1, "index") as self.writer:
            try:
                self._walk(known, progress)
            finally:
                self._wait()
        if not report.interrupted:
            self._end([*known, *self.unfit])
        if progress is not None:
            progress(report.files, report.files - report.unchanged)
        report.left, report.listed = self.walk.left.counts, self.walk.left.listed
        return report

    def _walk(self, known: dict[str, _Known], progress: Progress | None) -> None:
        report = self.report
        self._flush()
        for found in self.walk:
            if self.cancel.is_set():
                report.interrupted = True
                break
            self._look(found, known.pop(found.path, None))
            if progress is not None and report.files % 64 == 0:
                progress(report.files, report.files - report.unchanged)
        self._flush()

    def _known(self) -> dict[str, _Known]:
        root = find_root(self.connection, self.walk.root)
        if root is None:
            return {}
        rows = self.connection.execute(
            "SELECT path, size, mtime, ctime, looked FROM ix_workspace_file WHERE root = ? AND version IS NOT NULL",
            (root.no,),
        )
        return {path: _Known(Stat(*stat), looked) for path, *stat, looked in rows.fetchall()}

    def _look(self, found: Found, known: _Known | None) -> None:
        """Take a file into the batch, unless it is what it was."""
        report = self.report
        if known is not None and known.stat == found.stat and found.stat.mtime < known.looked * 1_000 - RACY_NANOS:
            report.files += 1
            report.unchanged += 1
            return
        try:
            read = found.read()
        except OSError:
            self.walk.left.add(found.path, "unreadable")
            return
        if read is None:
            self.walk.left.add(found.path, "too_large")
            return
        prepared = prepare(found.path, *read)
        if isinstance(prepared, str):
            self.walk.left.add(found.path, prepared)
            if known is not None:
                self.unfit.append(found.path)
            return
        report.files += 1
        report.bytes += len(prepared.data)
        self.batch.append(prepared)
        self.batch_bytes += len(prepared.data)
        if len(self.batch) >= BATCH_FILES or self.batch_bytes >= BATCH_BYTES:
            self._flush()

    # ------------------------------------------------------------------------------------------ transactions

    def _flush(self) -> None:
        """Have what is in the batch written, once what was given before is."""
        batch, self.batch, self.batch_bytes = self.batch, [], 0
        self._wait()
        self.writing = self.writer.submit(self._write, lambda one: one.take(batch))

    def _wait(self) -> None:
        """Until what was given is acknowledged; raises what went wrong with it."""
        writing, self.writing = self.writing, None
        if writing is not None:
            self._count(writing.result())

    def _count(self, counts: Counter[str]) -> None:
        for name, count in counts.items():
            setattr(self.report, name, getattr(self.report, name) + count)

    def _write(self, take: Callable[[_Batch], Counter[str]]) -> Counter[str]:
        """One transaction."""
        self.connection.execute("BEGIN IMMEDIATE")
        try:
            counts = take(_Batch(self))
            self.connection.execute("COMMIT")
        except BaseException:
            if self.connection.in_transaction:
                self.connection.execute("ROLLBACK")
            raise
        return counts

    def _end(self, gone: list[str]) -> None:
        """What was known and not met is gone."""
        gone = sorted(gone)
        for at in range(0, len(gone), BATCH_GONE):
            some = gone[at : at + BATCH_GONE]
            self._count(self._write(lambda one, some=some: one.leave(some)))  # type: ignore[misc]
        self.connection.execute(
            "UPDATE ix_workspace_root SET checked = ? WHERE path = ?", (micros(self.clock()), self.walk.root)
        )


class _Batch:
    """One transaction: decides over what the tables say inside it, so that two indexers do not contradict."""

    def __init__(self, indexer: _Indexer) -> None:
        self.indexer = indexer
        self.connection = indexer.connection
        self.root: Root = begin_root(indexer.connection, indexer.walk.root, indexer.random)
        self.rows = Rows(indexer.connection, self.root)
        self.time = indexer.clock()
        self.at = micros(self.time)
        self.counts: Counter[str] = Counter()
        self.texts: list[Content] = []
        self.files: dict[str, tuple[int, bytes | None]] = {}
        self.kept: dict[bytes, tuple[str, bool]] = {}
        self.new: list[tuple[int | None, Change, bytes, Prepared | None]] = []
        self.manifest = Manifest(self.root.path, self.at, head=self._head())

    def take(self, batch: list[Prepared]) -> Counter[str]:
        """Take in files that were read."""
        keys = [hmac.digest(self.indexer.store.identity.lookup, one.digest, "sha256") for one in batch]
        self.files = self._rows_of([one.path for one in batch])
        self.kept = self._kept(keys)
        for prepared, key in zip(batch, keys, strict=True):
            self._decide(prepared, key)
            if len(self.manifest.changes) >= MOST_TEXTS:
                self._write()
        self._write()
        return self.counts

    def leave(self, paths: list[str]) -> Counter[str]:
        """Take in that files are gone."""
        query = "SELECT version, looked FROM ix_workspace_file WHERE root = ? AND path = ?"
        for path in paths:
            row = self.connection.execute(query, (self.root.no, path)).fetchone()
            if row is not None and row[0] is not None:
                self.manifest.gone.append((path, self.at))
        self.counts["gone"] += len(self.manifest.gone)
        self._write()
        return self.counts

    def _head(self) -> tuple[str | None, str | None] | None:
        """What is checked out, if that is news."""
        report = self.indexer.report
        row = self.connection.execute(
            "SELECT branch, head FROM ix_workspace_head WHERE root = ? ORDER BY at DESC LIMIT 1", (self.root.no,)
        ).fetchone()
        now = (report.branch, report.head)
        return None if row == now or (row is None and now == (None, None)) else now

    def _rows_of(self, paths: list[str]) -> dict[str, tuple[int, bytes | None]]:
        """(row, key of what it holds now) of the files that have a row."""
        marks = ",".join("?" * len(paths))
        rows = self.connection.execute(
            "SELECT f.path, f.no, v.key FROM ix_workspace_file f LEFT JOIN ix_workspace_version v ON v.no = f.version "
            f"WHERE f.root = ? AND f.path IN ({marks})",
            (self.root.no, *paths),
        )
        return {path: (no, key) for path, no, key in rows.fetchall()}

    def _kept(self, keys: list[bytes]) -> dict[bytes, tuple[str, bool]]:
        """(commitment, whether it was erased) of the texts that were taken before: they are not taken again."""
        marks = ",".join("?" * len(keys))
        rows = self.connection.execute(
            f'SELECT key, "commit", withheld FROM ix_workspace_version WHERE key IN ({marks}) GROUP BY key', keys
        )
        return {key: (commit.hex(), bool(withheld)) for key, commit, withheld in rows.fetchall()}

    def _decide(self, prepared: Prepared, key: bytes) -> None:
        change = Change(prepared.path, *prepared.stat, since=0, commit="")
        file, held = self.files.get(prepared.path, (None, None))
        if file is not None and held == key:
            self.rows.stat(file, change, self.at)
            self.counts["same"] += 1
            return
        change.since = self._since(prepared.stat, file)
        change.commit, withheld = self.kept.get(key) or self._keep(prepared)
        self.kept[key] = change.commit, withheld
        self.counts["added" if held is None else "changed"] += 1
        self.new.append((file, change, key, None if withheld else prepared))
        self.manifest.changes.append(change)

    def _since(self, stat: Stat, file: int | None) -> int:
        """From when on a text holds: from the file's own time, if nothing that was seen before speaks against it."""
        changed = stat.mtime // 1_000
        seen = self.root.checked or 0
        if file is not None:
            query = "SELECT max(coalesce(until, captured)) FROM ix_workspace_version WHERE file = ?"
            seen = max(seen, self.connection.execute(query, (file,)).fetchone()[0] or 0)
        return changed if seen < changed <= self.at else self.at

    def _keep(self, prepared: Prepared) -> tuple[str, bool]:
        content = text_content(prepared.data, self.indexer.random)
        self.texts.append(content)
        return content.commitment.hex(), False

    def _write(self) -> None:
        if not self.manifest:
            return
        store = self.indexer.store
        entry = append(
            self.connection, store.identity.ws, self.root, self.manifest, self.texts, self.indexer.actor, self.time,
            self.indexer.random,
        )  # fmt: skip
        self.counts["entries"] += 1
        if self.manifest.head:
            self.rows.head(self.at, *self.manifest.head)
        for file, change, key, prepared in self.new:
            self.rows.change(file, change, self.at, entry, key, prepared)
        self.rows.write()
        for path, until in self.manifest.gone:
            self.rows.gone(path, until)
        self.texts, self.new, self.manifest = [], [], Manifest(self.root.path, self.at)


def _itself(path: str) -> frozenset[tuple[int, int]]:
    """The store and the files SQLite keeps beside it, which may lie in the folder they index."""
    found = set()
    for beside in ("", "-wal", "-shm", "-journal"):
        try:
            status = os.stat(path + beside)
        except OSError:
            continue
        found.add((status.st_dev, status.st_ino))
    return frozenset(found)
