"""Verifying a store: every entry, chain, record, content and table, recomputed and compared.

The verdict says which level it stands on and never more: a store that fits together is *self-consistent*; that
nobody rewrote all of it is a claim only something outside the store can support.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

from affidavit.session.event import event_hex
from storage import driver
from storage.driver import Connection
from storage.folds.known import number
from storage.refold import Cancelled, Progress
from storage.store import StoreError, check, identity, refused
from storage.verify.entries import Walked, check_entries, check_payloads
from storage.verify.folds import check_folds
from storage.verify.report import FAILURES, NOT_CLAIMED, Failure, Marker, VerifyReport
from storage.verify.segments import Checked, SegmentChecks

__all__ = ["FAILURES", "NOT_CLAIMED", "Failure", "Marker", "VerifyReport", "verify"]


def verify(
    path: str,
    *,
    since: Marker | None = None,
    folds: bool = True,
    progress: Progress | None = None,
    cancel: threading.Event | None = None,
    now: Callable[[], float] = time.perf_counter,
) -> VerifyReport:
    """Check a store whole, or with ``since`` only what is newer than that marker (tables are then not compared).

    Raises ``StoreError`` where there is no store to check and :class:`Cancelled` when asked to stop. ``now`` times
    the stages in seconds.
    """
    check(path)
    report = VerifyReport()
    try:
        connection = driver.connect_reader(path)
    except driver.Error as error:
        raise refused(path, error) from error
    try:
        _verify(connection, path, report, since, folds, progress, cancel, now)
    except driver.DatabaseError as error:
        report.fail("entry/0", "damaged", f"SQLite says: {error}")
    finally:
        connection.close()
    return report


def _verify(
    connection: Connection,
    path: str,
    report: VerifyReport,
    since: Marker | None,
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
    first = since.size if since else 0
    size = connection.execute("SELECT coalesce(max(idx) + 1, 0) FROM ledger_entry").fetchone()[0]
    compare = folds and since is None
    checks = SegmentChecks(connection, path, first, size, alone=not compare)
    try:
        walked = check_entries(connection, own.ws, report, since, lambda done, total: step("entries", done, total))
        check_payloads(connection, walked, report, first)
        report.seconds["entries"] = now() - begun
        if compare and not any(failure.kind in _STOPS for failure in report.failures):
            began = now()
            check_folds(path, own.lookup, report, step, cancel)
            report.seconds["tables"] = now() - began
        began = now()
        _segments(connection, checks, walked, report, first, size, step)
        report.seconds["records"] = now() - began
    except BaseException:
        checks.stop()
        raise
    finally:
        if connection.in_transaction:
            connection.execute("ROLLBACK")


_STOPS = frozenset({"entry_bytes", "entry_missing"})
"""Failures after which the tables cannot be made again."""


def _segments(
    connection: Connection,
    checks: SegmentChecks,
    walked: Walked,
    report: VerifyReport,
    first: int,
    size: int,
    step: Progress,
) -> None:
    """Hold every segment against its entry and its neighbours."""
    ends: dict[int, tuple[int, int]] = {}
    unseen = {index for index in walked.segments if index >= first}
    records = 0
    for checked in checks:
        unseen.discard(checked.entry)
        records += checked.records
        body = walked.segments.get(checked.entry)
        if body is None:
            report.fail(f"entry/{checked.entry}", "segment_extra", "no entry speaks of these records")
            continue
        _fields(report, walked, checked, body, ends if not first else None)
        for place, commitment in checked.erased:
            if commitment not in walked.erased:
                address = _event(connection, checked.entry, place)
                report.fail(address, "bytes_missing", f"record {place} of entry {checked.entry} is gone")
        for place, kind, detail in checked.broken:
            address = _event(connection, checked.entry, place) if place >= 0 else f"entry/{checked.entry}"
            where = f"record {place} of entry {checked.entry}: " if place >= 0 else ""
            report.fail(address, kind, where + detail)
        step("records", checked.entry, size)
    for index in sorted(unseen):
        report.fail(f"entry/{index}", "segment_missing", "its records are not there")
    report.checked["segments"] = len(walked.segments) if not first else len([i for i in walked.segments if i >= first])
    report.checked["records"] = records


def _fields(
    report: VerifyReport,
    walked: Walked,
    checked: Checked,
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
