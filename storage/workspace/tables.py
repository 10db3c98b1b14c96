"""The tables of the workspace index: made when a workspace is first indexed, made again from the ledger when what is
taken of a text changes. They are never evidence: whatever a hit shows is read from a payload of the ledger.

Times are UTC microseconds since 1970, those of files nanoseconds.
"""

from __future__ import annotations

from typing import Final

from storage.driver import Connection
from storage.workspace.preparing import PREPARATION

SHAPE: Final = 1
"""Version of the tables themselves."""

VERSION: Final = SHAPE * 1_000 + PREPARATION
"""What the index in a store must say to be used."""

TABLES: Final = (
    # ``path``: the real path of the folder. ``id``: opaque, the stream of its entries; ``entries``, ``last``: how many
    # those are and the newest's number. ``checked``: when a walk over it last came to its end.
    """CREATE TABLE ix_workspace_root (no INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, path TEXT NOT NULL UNIQUE,
    entries INTEGER NOT NULL, last INTEGER NOT NULL, checked INTEGER) STRICT""",
    # What was checked out from ``at`` on.
    """CREATE TABLE ix_workspace_head (root INTEGER NOT NULL, at INTEGER NOT NULL, branch TEXT, head TEXT,
    PRIMARY KEY (root, at)) WITHOUT ROWID, STRICT""",
    # ``version``: the one that holds now, NULL where the file is gone. ``stem``: its bare name, which its test shares.
    """CREATE TABLE ix_workspace_file (no INTEGER PRIMARY KEY, root INTEGER NOT NULL, path TEXT NOT NULL,
    stem TEXT NOT NULL, size INTEGER NOT NULL, mtime INTEGER NOT NULL, ctime INTEGER NOT NULL,
    looked INTEGER NOT NULL, version INTEGER, UNIQUE (root, path)) STRICT""",
    "CREATE INDEX ix_workspace_file_by_stem ON ix_workspace_file (root, stem)",
    # ``key``: HMAC of the text's SHA-256 under the store's key. ``commit``: its payload. It held from ``since`` until
    # ``until`` (NULL: still); ``captured``: when it was read. ``withheld`` 1: its text was erased.
    """CREATE TABLE ix_workspace_version (no INTEGER PRIMARY KEY, file INTEGER NOT NULL, key BLOB NOT NULL,
    "commit" BLOB NOT NULL, entry INTEGER NOT NULL, language TEXT NOT NULL, kind TEXT NOT NULL,
    since INTEGER NOT NULL, until INTEGER, captured INTEGER NOT NULL, withheld INTEGER NOT NULL DEFAULT 0) STRICT""",
    "CREATE INDEX ix_workspace_version_by_file ON ix_workspace_version (file, since)",
    "CREATE INDEX ix_workspace_version_by_key ON ix_workspace_version (key)",
    """CREATE INDEX ix_workspace_version_by_commit ON ix_workspace_version ("commit")""",
    # Bytes ``start`` to ``stop`` and lines ``first`` to ``last`` of a version.
    """CREATE TABLE ix_workspace_passage (no INTEGER PRIMARY KEY, version INTEGER NOT NULL, start INTEGER NOT NULL,
    stop INTEGER NOT NULL, first INTEGER NOT NULL, last INTEGER NOT NULL, anchor TEXT NOT NULL) STRICT""",
    "CREATE INDEX ix_workspace_passage_by_version ON ix_workspace_passage (version, start)",
    """CREATE TABLE ix_workspace_symbol (folded TEXT NOT NULL, passage INTEGER NOT NULL, line INTEGER NOT NULL,
    name TEXT NOT NULL, kind TEXT NOT NULL, PRIMARY KEY (folded, passage, line)) WITHOUT ROWID, STRICT""",
    """CREATE TABLE ix_workspace_reference (key TEXT NOT NULL, version INTEGER NOT NULL, line INTEGER NOT NULL,
    target TEXT NOT NULL, PRIMARY KEY (key, version, line)) WITHOUT ROWID, STRICT""",
    # Contentless: its words cannot be read back, and the rows are erased by telling it what they held.
    """CREATE VIRTUAL TABLE ix_workspace_text USING fts5(text, names, path, content='', tokenize='unicode61')""",
    "INSERT INTO ix_workspace_text(ix_workspace_text, rank) VALUES('secure-delete', 1)",
    "CREATE VIRTUAL TABLE ix_workspace_words USING fts5vocab(ix_workspace_text, 'row')",
    # ``upto``: ledger entries taken in while it is made from the ledger; ``whole`` 1: it is made.
    "CREATE TABLE ix_workspace (version INTEGER NOT NULL, upto INTEGER NOT NULL, whole INTEGER NOT NULL) STRICT",
)

NAMES: Final = (
    "ix_workspace", "ix_workspace_words", "ix_workspace_text", "ix_workspace_reference", "ix_workspace_symbol",
    "ix_workspace_passage", "ix_workspace_version", "ix_workspace_file", "ix_workspace_head", "ix_workspace_root",
)  # fmt: skip
"""Every table, in the order they are dropped."""


def made(connection: Connection) -> tuple[int, int] | None:
    """(version, 1 if it is whole) of the workspace index in a store, ``None`` where there is none."""
    if connection.execute("SELECT 1 FROM sqlite_schema WHERE name = 'ix_workspace'").fetchone() is None:
        return None
    row = connection.execute("SELECT version, whole FROM ix_workspace").fetchone()
    return (row[0], row[1]) if row else (0, 0)


def usable(connection: Connection) -> bool:
    """Whether the index can be asked."""
    return made(connection) == (VERSION, 1)


def make(connection: Connection) -> None:
    """Create the tables, in the caller's transaction; what stood there before is dropped. They are not whole yet."""
    for name in NAMES:
        connection.execute(f"DROP TABLE IF EXISTS {name}")
    for statement in TABLES:
        connection.execute(statement)
    connection.execute("INSERT INTO ix_workspace VALUES(?, 0, 0)", (VERSION,))
