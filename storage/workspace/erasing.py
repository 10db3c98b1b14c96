"""Erasing what a workspace's files said: the texts go from payloads and index, every proof still holds."""

from __future__ import annotations

import os
from collections.abc import Iterable

from storage.driver import Connection
from storage.folds.rows import Writer
from storage.ledger import Clock, Content, Draft, Ledger, payload
from storage.store import Store, refusing
from storage.workspace.preparing import Prepared, prepare
from storage.workspace.recording import Random
from storage.workspace.remaking import make_ready
from storage.workspace.walking import Stat

_PER_ENTRY = 256


def erase(
    store: Store, digests: Iterable[bytes], *, actor: str, reason: str, clock: Clock, random: Random = os.urandom
) -> list[int]:
    """Erase texts of indexed files by their SHA-256, in whichever files and versions they stand.

    Gives the numbers of the redaction entries; none where no such text is kept. The index knows an erased text again
    and does not take it back in.
    """
    connection = store.connection
    with refusing(store.path):
        make_ready(store)
        connection.execute("BEGIN IMMEDIATE")
        try:
            commits = [commit for digest in digests for commit in _commits(connection, digest)]
            for commit in commits:
                _forget(connection, commit)
            entries = [
                _append(store, commits[at : at + _PER_ENTRY], actor, reason, clock, random)
                for at in range(0, len(commits), _PER_ENTRY)
            ]
            connection.execute("COMMIT")
        except BaseException:
            if connection.in_transaction:
                connection.execute("ROLLBACK")
            raise
        # No page that held the words stays in the write-ahead log.
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    return entries


def _commits(connection: Connection, digest: bytes) -> list[bytes]:
    rows = connection.execute(
        'SELECT p."commit" FROM payload p WHERE p.sha256 = ? AND EXISTS '
        '(SELECT 1 FROM ix_workspace_version v WHERE v."commit" = p."commit")',
        (digest,),
    )
    return [commit for (commit,) in rows.fetchall()]


def _forget(connection: Connection, commit: bytes) -> None:
    """Take a text out of the index, then its bytes away."""
    data = payload(connection, commit) or b""
    rows = connection.execute(
        "SELECT v.no, f.path FROM ix_workspace_version v JOIN ix_workspace_file f ON f.no = v.file "
        'WHERE v."commit" = ?',
        (commit,),
    ).fetchall()
    for version, path in rows:
        prepared = prepare(path, data, Stat(0, 0, 0))
        if isinstance(prepared, Prepared):
            _unindex(connection, version, prepared)
        connection.execute("UPDATE ix_workspace_version SET withheld = 1 WHERE no = ?", (version,))
    connection.execute('DELETE FROM payload_chunk WHERE "commit" = ?', (commit,))
    connection.execute('DELETE FROM payload WHERE "commit" = ?', (commit,))


def _unindex(connection: Connection, version: int, prepared: Prepared) -> None:
    numbers = [
        no
        for (no,) in connection.execute(
            "SELECT no FROM ix_workspace_passage WHERE version = ? ORDER BY start", (version,)
        ).fetchall()
    ]
    for no, one in zip(numbers, prepared.cuts, strict=False):
        connection.execute(
            "INSERT INTO ix_workspace_text(ix_workspace_text, rowid, text, names, path) VALUES('delete', ?, ?, ?, ?)",
            (no, one.text, one.names, prepared.words),
        )
        connection.executemany(
            "DELETE FROM ix_workspace_symbol WHERE folded = ? AND passage = ?",
            [(symbol[0], no) for symbol in prepared.symbols],
        )
    connection.executemany(
        "DELETE FROM ix_workspace_reference WHERE key = ? AND version = ?",
        [(reference[0], version) for reference in prepared.references],
    )
    connection.execute("DELETE FROM ix_workspace_passage WHERE version = ?", (version,))


def _append(store: Store, commits: list[bytes], actor: str, reason: str, clock: Clock, random: Random) -> int:
    ledger = Ledger(store.connection, store.identity.ws)
    stream = random(8).hex()
    draft = Draft(
        stream,
        "redaction",
        stream,
        0,
        "",
        {"commitments": [commit.hex() for commit in commits]},
        {"kind": "person", "id": random(8).hex(), "key": ""},
        [
            Content("reason", "text/plain", reason.encode("utf-8", "replace"), random(32)),
            Content("actor", "text/plain", actor.encode("utf-8", "replace"), random(32)),
        ],
    )
    index, _ = ledger.append(draft, clock())
    writer = Writer(store.connection)
    writer.withheld(index, commits)
    writer.folded(0, ledger.size())
    return index
