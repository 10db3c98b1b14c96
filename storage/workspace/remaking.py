"""The workspace index from the ledger: made where there is none, made again where another version of it stands.

Only ``workspace.version`` entries and their payloads are read. Each entry is a transaction of its own that says how far
it came, so it may be stopped and go on, and two at once share the work.
"""

from __future__ import annotations

import hmac
from typing import Any, Final

import orjson

from storage.driver import Connection
from storage.ledger import payload
from storage.store import Store, StoreError
from storage.workspace import tables
from storage.workspace.preparing import Prepared, prepare
from storage.workspace.recording import TYPE, Change, Manifest, Root, begin_root
from storage.workspace.walking import Stat
from storage.workspace.writing import Rows

_OURS: Final = f'"type":"{TYPE}"'.encode()


def remake(store: Store) -> bool:
    """Make the index again from the ledger, where there is one; whether there is. What was begun goes on next time."""
    connection = store.connection
    if tables.made(connection) is None:
        return False
    connection.execute("BEGIN IMMEDIATE")
    tables.make(connection)
    connection.execute("COMMIT")
    make_ready(store)
    return True


def make_ready(store: Store) -> None:
    """See that the tables are there, whole and of this version. Raises ``StoreError`` where the ledger is damaged."""
    connection = store.connection
    while tables.made(connection) != (tables.VERSION, 1):
        connection.execute("BEGIN IMMEDIATE")
        try:
            found = tables.made(connection)
            if found is None or found[0] != tables.VERSION:
                tables.make(connection)
            elif not found[1]:
                _step(store)
            connection.execute("COMMIT")
        except BaseException as error:
            if connection.in_transaction:
                connection.execute("ROLLBACK")
            if isinstance(error, (ValueError, KeyError, TypeError)):
                why = "the workspaces' entries cannot be read; `affidavit verify` says what is wrong"
                raise StoreError("damaged", store.path, why) from error
            raise


def _step(store: Store) -> None:
    """Take in the next entry that is one of ours."""
    connection = store.connection
    (upto,) = connection.execute("SELECT upto FROM ix_workspace").fetchone()
    row = connection.execute(
        "SELECT idx, entry FROM ledger_entry WHERE idx >= ? AND instr(entry, ?) > 0 ORDER BY idx LIMIT 1",
        (upto, _OURS),
    ).fetchone()
    if row is None:
        connection.execute("UPDATE ix_workspace SET whole = 1")
        return
    index, entry = row
    read = orjson.loads(entry)
    if read["type"] == TYPE:
        _take(store, index, read)
    connection.execute("UPDATE ix_workspace SET upto = ?", (index + 1,))


def _take(store: Store, index: int, entry: dict[str, Any]) -> None:
    connection = store.connection
    held = next((ref["commit"] for ref in entry["refs"] if ref["role"] == "manifest"), None)
    data = payload(connection, bytes.fromhex(held)) if held else None
    if data is None:
        return  # the whole entry was withheld
    manifest = Manifest.load(data)
    root = _root(connection, manifest.root, index, entry)
    rows = Rows(connection, root)
    if manifest.head:
        rows.head(manifest.at, *manifest.head)
    for change in manifest.changes:
        prepared = _prepared(connection, change)
        # An erased text has no key: nothing is left to make one of.
        digest = prepared.digest if prepared is not None else bytes.fromhex(change.commit)
        row = connection.execute(
            "SELECT no FROM ix_workspace_file WHERE root = ? AND path = ?", (root.no, change.path)
        ).fetchone()
        key = hmac.digest(store.identity.lookup, digest, "sha256")
        rows.change(row[0] if row else None, change, manifest.at, index, key, prepared)
    rows.write()
    for path, until in manifest.gone:
        rows.gone(path, until)


def _root(connection: Connection, path: str, index: int, entry: dict[str, Any]) -> Root:
    root = begin_root(connection, path, lambda _: bytes.fromhex(entry["stream"]))
    connection.execute(
        "UPDATE ix_workspace_root SET entries = ?, last = ? WHERE no = ?", (entry["sseq"] + 1, index, root.no)
    )
    return root


def _prepared(connection: Connection, change: Change) -> Prepared | None:
    data = payload(connection, bytes.fromhex(change.commit))
    if data is None:
        return None
    prepared = prepare(change.path, data, Stat(change.size, change.mtime, change.ctime))
    return prepared if isinstance(prepared, Prepared) else None
