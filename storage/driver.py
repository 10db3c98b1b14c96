"""The one place that knows which SQLite is linked, and how every connection to a store is set up.

Two SQLite copies in one process lose each other's locks, so no other module imports ``sqlite3`` or ``pysqlite3``.
WAL is used only where the linked library is free of the WAL-reset corruption bug (SQLite 3.7.0 to 3.51.2).
"""

from __future__ import annotations

import os
import urllib.parse
from typing import Any

try:
    from pysqlite3 import dbapi2 as sqlite3

    DRIVER = "pysqlite3"
except ImportError:
    import sqlite3

    DRIVER = "sqlite3"

__all__ = ["DRIVER", "Connection", "DatabaseError", "Error", "OperationalError", "sqlite3"]

Connection = Any
"""A DB-API connection of whichever driver is linked."""

Error = sqlite3.Error
OperationalError = sqlite3.OperationalError
DatabaseError = sqlite3.DatabaseError

BUSY_MILLIS = 10_000
"""How long a connection waits for another writer before it says so."""


def linked_version() -> str:
    """Version of the SQLite library this process runs."""
    return str(sqlite3.sqlite_version)


def wal_is_safe(version: str) -> bool:
    """Whether ``version`` of SQLite has the fix for the WAL-reset corruption (3.51.3, back-ported twice)."""
    parts = tuple(int(part) for part in version.split(".")[:3])
    return parts >= (3, 51, 3) or (3, 50, 7) <= parts < (3, 51) or (3, 44, 6) <= parts < (3, 45)


def journal_mode() -> str:
    """``wal``, or ``delete`` where the linked SQLite could corrupt a WAL database."""
    return "wal" if wal_is_safe(linked_version()) else "delete"


def _address(path: str, mode: str) -> str:
    return f"file:{urllib.parse.quote(os.path.abspath(path))}?mode={mode}"


def _common(connection: Connection) -> None:
    connection.isolation_level = None
    for pragma in (
        "foreign_keys=ON",
        "trusted_schema=OFF",
        "cell_size_check=ON",
        "mmap_size=0",
        f"busy_timeout={BUSY_MILLIS}",
    ):
        connection.execute(f"PRAGMA {pragma}")


def connect_writer(path: str, *, create: bool = False, busy: int | None = None) -> Connection:
    """The connection that appends: full durability, deleted bytes overwritten.

    ``busy``: milliseconds it waits for another writer, if not :data:`BUSY_MILLIS`.
    """
    connection = sqlite3.connect(
        _address(path, "rwc" if create else "rw"), uri=True, check_same_thread=False, cached_statements=256
    )
    _common(connection)
    if busy is not None:
        connection.execute(f"PRAGMA busy_timeout={busy}")
    mode = journal_mode()
    connection.execute(f"PRAGMA journal_mode={mode}")
    connection.execute("PRAGMA synchronous=" + ("FULL" if mode == "wal" else "EXTRA"))
    connection.execute("PRAGMA secure_delete=ON")
    connection.execute("PRAGMA cache_size=-65536")
    connection.execute("PRAGMA wal_autocheckpoint=4000")
    return connection


def connect_reader(path: str) -> Connection:
    """A connection that can only read; works on read-only media (then the file is taken as unchanging)."""
    try:
        connection = sqlite3.connect(_address(path, "ro"), uri=True, check_same_thread=False)
        _common(connection)
        connection.execute("PRAGMA query_only=ON")
        connection.execute("SELECT 1 FROM sqlite_schema").fetchone()
    except OperationalError:
        if os.access(os.path.dirname(os.path.abspath(path)), os.W_OK) or not os.path.exists(path):
            raise
        wal = path + "-wal"
        if os.path.exists(wal) and os.path.getsize(wal):
            raise
        connection = sqlite3.connect(_address(path, "ro") + "&immutable=1", uri=True, check_same_thread=False)
        _common(connection)
        connection.execute("PRAGMA query_only=ON")
    except UnicodeDecodeError as error:  # SQLite quotes the damaged schema in its message
        raise DatabaseError("malformed database schema") from error
    connection.execute("PRAGMA cache_size=-16384")
    return connection


def is_locked(error: BaseException) -> bool:
    """Whether an error says that another process holds the store."""
    text = str(error)
    return isinstance(error, OperationalError) and ("locked" in text or "busy" in text)
