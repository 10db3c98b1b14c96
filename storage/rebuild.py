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
from storage.refold import Cancelled, Progress, Refold, tables
from storage.store import Store, refused

SHADOW = "new_"


def rebuild(store: Store, *, progress: Progress | None = None, cancel: threading.Event | None = None) -> int:
    """Rebuild a store's folds and search index; returns the number of ledger entries folded.

    An interrupted rebuild leaves the present tables as they are.
    """
    from storage import schema

    connection = store.connection
    total = connection.execute("SELECT coalesce(max(idx) + 1, 0) FROM ledger_entry").fetchone()[0]
    try:
        _drop(store, SHADOW)
        connection.execute("BEGIN IMMEDIATE")
        schema.create_folds(connection, SHADOW, "_" + os.urandom(4).hex())
        connection.execute("COMMIT")
        recall = partial(_recall, store)
        refold = tables(connection, store.identity.lookup, recall, SHADOW)
        with no_collecting():
            _fold(store, refold, total, progress, cancel)
        connection.execute("BEGIN IMMEDIATE")
        for _ in refold.batches():
            pass
        if not refold.done:
            refold.fold.write(0)
        _swap(store)
        connection.execute("COMMIT")
    except BaseException as error:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        _drop(store, SHADOW)
        if isinstance(error, driver.OperationalError):
            raise refused(store.path, error) from error
        raise
    _drop(store, "old_")
    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    return refold.done


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


def _swap(store: Store) -> None:
    """Put the shadow tables in the place of the present ones, inside the caller's transaction."""
    for name in _names(store, SHADOW):
        plain = name.removeprefix(SHADOW)
        if store.connection.execute("SELECT 1 FROM sqlite_schema WHERE name = ?", (plain,)).fetchone():
            store.connection.execute(f"ALTER TABLE {plain} RENAME TO old_{plain}")
        store.connection.execute(f"ALTER TABLE {name} RENAME TO {plain}")


def _drop(store: Store, prefix: str) -> None:
    for name in _names(store, prefix):
        store.connection.execute(f"DROP TABLE {name}")
