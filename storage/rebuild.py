"""Making every fold and index again from the ledger, beside the present ones, and swapping them in at the end.

Readers go on reading the old tables meanwhile and importers go on importing: what they add is folded before the swap.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from functools import partial

from storage import driver
from storage.quiet import no_collecting
from storage.recorded import Recorded, recorded_ahead
from storage.refold import Cancelled, Progress, Refold, tables, withheld_records
from storage.segments import SegmentError
from storage.store import FOLD_VERSION, Store, StoreError, refused, refusing

SHADOW = "new_"
"""Tables under work begin with this and a token of their own, so that two rebuilds never write into each other's."""

OLD = "old_"
"""What the tables that were replaced begin with until they are dropped, before the same token."""


def rebuild(store: Store, *, progress: Progress | None = None, cancel: threading.Event | None = None) -> int:
    """Rebuild a store's folds and search index; returns the number of ledger entries folded.

    An interrupted rebuild leaves the present tables as they are. Of two at the same time the later one goes on and
    the other raises ``StoreError`` (``locked``), as it does where the ledger cannot be folded (``damaged``).
    """
    shadow = f"{SHADOW}{os.urandom(4).hex()}_"
    try:
        while (done := _rebuild(store, shadow, progress, cancel)) is None:
            pass
    except BaseException as error:
        overtaken = _undo(store, shadow)
        if overtaken and "no such table" in str(error):
            raise StoreError("locked", store.path, "another program is rebuilding the tables; try again") from error
        if isinstance(error, driver.OperationalError):
            raise refused(store.path, error) from error
        if isinstance(error, (driver.Error, SegmentError, ValueError, LookupError, TypeError, AttributeError)):
            why = "the ledger cannot be folded; `affidavit verify` says what is wrong with it"
            raise StoreError("damaged", store.path, why) from error
        raise
    sweep(store)
    return done


def sweep(store: Store) -> None:
    """Drop the tables that were replaced, and let no page of theirs stay in the write-ahead log."""
    with refusing(store.path):
        _drop(store, OLD)
        store.connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")


def _rebuild(store: Store, shadow: str, progress: Progress | None, cancel: threading.Event | None) -> int | None:
    """Fold into shadow tables and swap them in; ``None`` if something was erased meanwhile, so that it is to be done
    again: what was folded may still hold its text.
    """
    from storage import schema

    connection = store.connection
    _drop(store, SHADOW)
    connection.execute("BEGIN IMMEDIATE")
    total = connection.execute("SELECT coalesce(max(idx) + 1, 0) FROM ledger_entry").fetchone()[0]
    schema.create_folds(connection, shadow, "_" + shadow.split("_")[1])
    connection.execute(f"INSERT INTO {shadow}fold VALUES('sessions', ?, 0)", (FOLD_VERSION,))
    refold = tables(connection, store.identity.lookup, partial(_recall, store), shadow)
    connection.execute("COMMIT")
    with no_collecting():
        _fold(store, refold, total, progress, cancel)
    connection.execute("BEGIN IMMEDIATE")
    if len(withheld_records(connection)) != len(refold.fold.withheld):
        connection.execute("ROLLBACK")
        return None
    for _ in refold.batches():
        pass
    if not refold.done:
        refold.fold.write(0)
    _swap(store, shadow)
    connection.execute("COMMIT")
    return refold.done


def _undo(store: Store, shadow: str) -> bool:
    """Drop what was begun; whether it was gone already, dropped by another rebuild."""
    if store.connection.in_transaction:
        store.connection.execute("ROLLBACK")
    try:
        begun = _names(store, shadow)
        _drop(store, shadow)
    except driver.Error:
        return False
    return not begun


def _recall(store: Store, first: int, size: int) -> Iterator[Recorded]:
    return recorded_ahead(store.connection, store.path, first, size, prove=False, read=True)


def _fold(store: Store, refold: Refold, total: int, progress: Progress | None, cancel: threading.Event | None) -> None:
    batches = refold.batches()
    while True:
        store.connection.execute("BEGIN IMMEDIATE")
        done = next(batches, None)
        store.connection.execute("COMMIT")
        if done is None:
            return
        if progress:
            progress("tables", done, total)
        if cancel is not None and cancel.is_set():
            raise Cancelled


def _names(store: Store, prefix: str) -> list[str]:
    rows = store.connection.execute(
        "SELECT name FROM sqlite_schema WHERE type = 'table' AND name LIKE ? ESCAPE '\\' "
        "AND (sql LIKE 'CREATE TABLE%' OR sql LIKE 'CREATE VIRTUAL%') ORDER BY name",
        (prefix.replace("_", "\\_") + "%",),
    )
    return [name for (name,) in rows if "ix_text_" not in name]


def _swap(store: Store, shadow: str) -> None:
    """Put the shadow tables in the place of the present ones, inside the caller's transaction."""
    for name in _names(store, shadow):
        plain = name.removeprefix(shadow)
        if store.connection.execute("SELECT 1 FROM sqlite_schema WHERE name = ?", (plain,)).fetchone():
            old = OLD + name.removeprefix(SHADOW)
            store.connection.execute(f"ALTER TABLE {plain} RENAME TO {old}")
        store.connection.execute(f"ALTER TABLE {name} RENAME TO {plain}")


def _drop(store: Store, prefix: str) -> None:
    for name in _names(store, prefix):
        store.connection.execute(f"DROP TABLE IF EXISTS {name}")
