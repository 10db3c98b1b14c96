"""Verifying a store: every entry, chain, record, content and table, recomputed and compared.

The verdict says which level it stands on and never more: a store that fits together is *self-consistent*; that
nobody rewrote all of it is a claim only something outside the store can support.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable, Iterator
from itertools import chain

from affidavit.session.event import event_hex
from storage import driver
from storage.driver import Connection
from storage.numbers import number
from storage.quiet import no_collecting
from storage.recorded import Recorded, recorded, recorded_ahead
from storage.refold import Cancelled, Progress
from storage.store import StoreError, check, identity, refused
from storage.verify.entries import Walked, check_entries, check_payloads
from storage.verify.folds import check_folds
from storage.verify.report import FAILURES, NOT_CLAIMED, Failure, Marker, VerifyReport
from storage.verify.workspaces import check_workspaces

__all__ = ["FAILURES", "NOT_CLAIMED", "Failure", "Marker", "VerifyReport", "verify"]


def verify(
    path: str,
    *,
    since: Marker | None = None,
    known: Marker | None = None,
    folds: bool = True,
    progress: Progress | None = None,
    cancel: threading.Event | None = None,
    now: Callable[[], float] = time.perf_counter,
) -> VerifyReport:
    """Check a store whole, or with ``since`` only what is newer than that marker (tables are then not compared).

    ``known``: a state the ledger had when it was last verified; everything is checked, and that it grew from there.
    Raises ``StoreError`` where there is no store to check and :class:`Cancelled` when asked to stop. ``now`` times
    the stages in seconds.
    """
    check(path)
    for damaged_text in (False, True):
        report = VerifyReport()
        try:
            connection = driver.connect_reader(path)
        except driver.Error as error:
            raise refused(path, error) from error
        if damaged_text:
            connection.text_factory = _any_text
        try:
            with no_collecting():
                _verify(connection, path, report, since, known, folds, progress, cancel, now)
            break
        except driver.DatabaseError as error:
            if "UTF-8" in str(error) and not damaged_text:
                continue
            report.fail("entry/0", "damaged", f"SQLite says: {error}")
        finally:
            connection.close()
    return report


def _any_text(stored: bytes) -> str:
    """Text that is no UTF-8 any more, so that the row it stands in can be named; slow, so only where there is some."""
    return stored.decode("utf-8", "surrogateescape")


def _verify(
    connection: Connection,
    path: str,
    report: VerifyReport,
    since: Marker | None,
    known: Marker | None,
    folds: bool,
    progress: Progress | None,
    cancel: threading.Event | None,
    now: Callable[[], float],
) -> None:
    def step(stage: str, done: int, total: int) -> None:
        if progress:
            progress(stage, done, total)
        if cancel is not None and cancel.is_set():
            raise Cancelled

    begun = now()
    try:
        own = identity(connection, path)
    except (StoreError, driver.DatabaseError) as error:
        report.fail("entry/0", "store_key", str(error))
        return
    connection.execute("BEGIN")
    _own_keys(connection, report)
    first = since.size if since else 0
    size = connection.execute("SELECT coalesce(max(idx) + 1, 0) FROM ledger_entry").fetchone()[0]
    try:
        walked = check_entries(
            connection, own.ws, report, since, lambda done, total: step("entries", done, total), known
        )
        check_payloads(connection, walked, report, first)
        report.seconds["entries"] = now() - begun
        began = now()
        checks = _Segments(connection, path, walked, report, first, size)
        if folds and since is None and not any(failure.kind in _STOPS for failure in report.failures):
            check_folds(connection, own.lookup, checks.recall, report, step)
            check_workspaces(connection, report)
        checks.rest(lambda done: step("records", done, size))
        report.seconds["records"] = now() - began
    finally:
        if connection.in_transaction:
            connection.execute("ROLLBACK")


def _own_keys(connection: Connection, report: VerifyReport) -> None:
    """The store's own id and key, and nothing beside them."""
    for name, value in connection.execute("SELECT name, value FROM store_key ORDER BY name").fetchall():
        if len(value) != {"ws": 32, "lookup": 32}.get(name):
            report.fail("entry/0", "store_key", f"{name[:40]!r} is none of its own, or not as long as it was made")


_STOPS = frozenset({"entry_bytes", "entry_missing"})
"""Failures after which the tables cannot be made again."""


class _Segments:
    """Holds every segment against its entry and its neighbours, as whoever needs it reads it back."""

    def __init__(
        self, connection: Connection, path: str, walked: Walked, report: VerifyReport, first: int, size: int
    ) -> None:
        self.connection = connection
        self.path = path
        self.walked = walked
        self.report = report
        self.first, self.size = first, size
        self.next = first
        self._ends: dict[int, tuple[int, int]] | None = None if first else {}
        self._unseen = {index for index in walked.segments if index >= first}
        report.checked["segments"] = len(self._unseen)
        report.checked["records"] = 0

    def recall(self, first: int, size: int) -> Iterator[Recorded]:
        """Segments in order, proven as they pass, records made ready."""
        return self._pass(recorded_ahead(self.connection, self.path, first, size, prove=True, read=True))

    def rest(self, step: Callable[[int], None]) -> None:
        """Prove the segments nobody read, and say which are missing."""
        middle = (self.next + self.size) // 2
        ahead = recorded_ahead(self.connection, self.path, self.next, middle, prove=True, read=False)
        first = next(ahead, None)
        here = recorded(self.connection, middle, self.size, prove=True, read=False)
        later = list(here) if first is not None else here
        for segment in self._pass(chain([first] if first else [], ahead, later)):
            step(segment.entry)
        for index in sorted(self._unseen):
            self.report.fail(f"entry/{index}", "segment_missing", "its records are not there")

    def _pass(self, segments: Iterable[Recorded]) -> Iterator[Recorded]:
        for segment in segments:
            self._check(segment)
            self.next = segment.entry + 1
            yield segment

    def _check(self, segment: Recorded) -> None:
        report, walked = self.report, self.walked
        self._unseen.discard(segment.entry)
        report.checked["records"] += segment.records
        body = walked.segments.get(segment.entry)
        if body is None:
            report.fail(f"entry/{segment.entry}", "segment_extra", "no entry speaks of these records")
            return
        _fields(report, walked, segment, body, self._ends)
        for place, commitment in segment.erased:
            if commitment not in walked.erased:
                address = _event(self.connection, segment.entry, place)
                report.fail(address, "bytes_missing", f"record {place} of entry {segment.entry} is gone")
        for place, kind, detail in segment.broken:
            address = _event(self.connection, segment.entry, place) if place >= 0 else f"entry/{segment.entry}"
            where = f"record {place} of entry {segment.entry}: " if place >= 0 else ""
            report.fail(address, kind, where + detail)


def _fields(
    report: VerifyReport,
    walked: Walked,
    checked: Recorded,
    body: dict[str, object],
    ends: dict[int, tuple[int, int]] | None,
) -> None:
    address = f"entry/{checked.entry}"
    if checked.root.hex() != body["root"]:
        report.fail(address, "segment_root", "its commitments are not the ones its entry names")
    said = (body["from"], body["bytes"], body["records"])
    revision = walked.revisions.get((str(body["source"]), int(str(body["revision"]))))
    if said != (checked.start, checked.size, checked.records) or revision != checked.source:
        report.fail(address, "segment_fields", "where its records stood is not what its entry says")
    if ends is None:
        return
    before = ends.get(checked.source, (0, 1))
    if before != (checked.start, checked.line):
        report.fail(address, "segment_fields", "it does not begin where the one before it ends")
    ends[checked.source] = (checked.start + checked.size, checked.line + checked.lines)


def _event(connection: Connection, entry: int, record: int) -> str:
    """The address of a record's first event, or of its entry where it has none."""
    row = connection.execute(
        "SELECT s.uid, e.id FROM event e JOIN session s ON s.no = e.session WHERE e.n = ?", (number(entry, record),)
    ).fetchone()
    return f"session/{row[0]}#{event_hex(row[1])}" if row else f"entry/{entry}"
