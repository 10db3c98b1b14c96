"""Opening a store: what it is, whether this program may use it, and how it is created.

A store is one SQLite file that holds everything. A missing, foreign, newer or damaged file is refused with a reason
and a hint; it is never opened for writing.
"""

from __future__ import annotations

import errno
import hmac
import os
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from storage import driver
from storage.driver import Connection

NEW_STORE = Path(__file__).with_name("new_store.sql")
"""Statements, with empty lines between them, that make a new store's tables; made by :mod:`storage.schema`."""

APPLICATION_ID = 0x41464456
"""``AFDV`` in the file's header."""

SCHEMA_VERSION = 1
"""Schema of the durable tables this program writes."""

FOLD_VERSION = 4
"""Version of the derivation. Raised whenever the same records would give other rows; older folds are rebuilt."""

STALE = 0
"""Version of tables that still hold what was erased: whoever opens the store next rebuilds them."""

Random = Callable[[int], bytes]
"""Gives that many random bytes."""


class StoreError(Exception):
    """A store cannot be used. ``reason`` is from :data:`REASONS`; ``hint`` says what to do."""

    def __init__(self, reason: str, path: str, hint: str) -> None:
        super().__init__(f"{path}: {hint}")
        self.reason = reason
        self.path = path
        self.hint = hint


REASONS = {
    "missing": "there is no store there",
    "not_a_store": "the file is not an Affidavit store",
    "newer": "the store was written by a newer Affidavit",
    "damaged": "SQLite finds the file damaged",
    "failing": "the disk gives errors where the store lies",
    "locked": "another program holds the store",
    "read_only": "the store cannot be written where it lies",
    "full": "there is no room left where the store lies",
    "linked": "the file is reached through a link, which SQLite's locks do not survive",
    "needs_rebuild": "the derived tables are of another version",
}
"""Every reason a store is refused for."""


@dataclass(frozen=True, slots=True)
class Identity:
    """What makes a store itself: its random id and the key under which paths and names are looked up."""

    ws: str
    lookup: bytes


class Store:
    """A store opened for writing. One thread at a time.

    ``rebuilt``: ledger entries its tables were made again from when it was opened, ``None`` where they were not.
    """

    def __init__(self, path: str, connection: Connection, identity: Identity) -> None:
        self.path = path
        self.connection = connection
        self.identity = identity
        self.rebuilt: int | None = None

    @classmethod
    def open(
        cls,
        path: str,
        *,
        random: Random = os.urandom,
        create: bool = False,
        busy: int | None = None,
        progress: Callable[[str, int, int], None] | None = None,
    ) -> Store:
        """Open for writing; with ``create`` a missing store is made.

        ``busy``: milliseconds to wait for another program that writes, if not those of the driver. Folds of another
        version are rebuilt first, which takes as long as they are large: ``progress`` is told.
        """
        if not _is_there(path):
            if not create:
                raise StoreError("missing", path, "there is no store here; import something first")
            return cls._create(path, random)
        check(path)
        with refusing(path):
            connection = driver.connect_writer(path, busy=busy)
        try:
            with refusing(path):
                connection.execute("BEGIN IMMEDIATE")
                connection.execute("ROLLBACK")
                if connection.execute("PRAGMA user_version").fetchone()[0] < SCHEMA_VERSION:
                    cls._migrate(path, connection)
                store = cls(path, connection, identity(connection, path))
                stale = fold_version(connection) != FOLD_VERSION
                replaced = connection.execute("SELECT 1 FROM sqlite_schema WHERE name GLOB 'old_*' LIMIT 1").fetchone()
            if stale or replaced:
                from storage.rebuild import rebuild, sweep

                if stale:
                    store.rebuilt = rebuild(store, progress=progress)
                else:
                    sweep(store)
        except BaseException:
            connection.close()
            raise
        return store

    @classmethod
    def _create(cls, path: str, random: Random) -> Store:
        building = f"{path}.{random(4).hex()}.new"
        try:
            os.makedirs(os.path.dirname(os.path.abspath(path)), exist_ok=True)
            os.close(os.open(building, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
            connection = driver.connect_writer(building)
            connection.execute("BEGIN IMMEDIATE")
            for statement in NEW_STORE.read_text(encoding="utf-8").split("\n\n"):
                connection.execute(statement)
            connection.executemany(
                "INSERT INTO store_key VALUES(?, ?)", [("ws", random(16).hex().encode()), ("lookup", random(32))]
            )
            connection.execute("INSERT INTO fold VALUES('sessions', ?, 0)", (FOLD_VERSION,))
            connection.execute(f"PRAGMA application_id={APPLICATION_ID}")
            connection.execute(f"PRAGMA user_version={SCHEMA_VERSION}")
            connection.execute("COMMIT")
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
            connection.close()
            try:
                os.link(building, path)
            except FileExistsError:
                pass  # another command made one meanwhile: that is the store
            except OSError:
                os.rename(building, path)
        except OSError as error:
            reason = "full" if error.errno == errno.ENOSPC else "read_only"
            raise StoreError(reason, path, f"cannot create a store here: {error.strerror}") from error
        except driver.Error as error:
            raise refused(path, error) from error
        finally:
            for leftover in (building, building + "-wal", building + "-shm"):
                if os.path.exists(leftover):
                    os.unlink(leftover)
        return cls.open(path, random=random)

    @staticmethod
    def _migrate(path: str, connection: Connection) -> None:
        from storage import schema

        saved = f"{path}.before-{SCHEMA_VERSION}"
        if os.path.exists(saved):
            os.unlink(saved)  # of a migration that was killed: the store is still as it was then
        connection.execute("VACUUM INTO ?", (saved,))
        schema.migrate(connection)
        connection.execute(f"PRAGMA user_version={SCHEMA_VERSION}")

    def close(self) -> None:
        """Close the connection; everything acknowledged is on disk already."""
        self.connection.close()

    def __enter__(self) -> Store:
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()


def identity(connection: Connection, path: str = "") -> Identity:
    """The store's id and look-up key."""
    found = dict(connection.execute("SELECT name, value FROM store_key"))
    if "ws" not in found or "lookup" not in found:
        raise StoreError("damaged", path, "the store's own id or key is missing")
    return Identity(found["ws"].decode("ascii", "replace"), found["lookup"])


def path_key(lookup: bytes, about: dict[str, str]) -> bytes:
    """The key under which a source is found again: an HMAC, so that the table names no path once it is erased."""
    return hmac.digest(lookup, about["key"].encode("utf-8", "surrogatepass"), "sha256")


def fold_version(connection: Connection) -> int | None:
    """Version of the folds a store holds, ``None`` where they are missing."""
    try:
        row = connection.execute("SELECT version FROM fold WHERE name='sessions'").fetchone()
    except driver.OperationalError as error:
        if "no such" in str(error):
            return None
        raise
    return row[0] if row else None


def _is_there(path: str) -> bool:
    try:
        os.lstat(path)
    except (FileNotFoundError, NotADirectoryError):
        return False
    except (OSError, ValueError) as error:
        why = error.strerror if isinstance(error, OSError) else "no file can be called that"
        raise StoreError("read_only", path, f"cannot look at it: {why}") from error
    return True


def check(path: str) -> None:
    """Refuse what is no store of ours, without opening it for writing."""
    if not _is_there(path):
        raise StoreError("missing", path, "there is no store here; import something first")
    status = os.lstat(path)
    if stat.S_ISREG(status.st_mode) and status.st_nlink > 1:
        _forget_birth(path)
        if os.lstat(path).st_nlink > 1:
            raise StoreError("linked", path, "the file has a second name (a hard link); use a copy of its own")
    if stat.S_ISLNK(status.st_mode):
        raise StoreError("linked", path, "this is a symbolic link; name the file it points to")
    if not stat.S_ISREG(status.st_mode):
        raise StoreError("not_a_store", path, "this is not a file")
    try:
        connection = driver.connect_reader(path)
        try:
            application = connection.execute("PRAGMA application_id").fetchone()[0]
            version = connection.execute("PRAGMA user_version").fetchone()[0]
        finally:
            connection.close()
    except driver.Error as error:
        raise refused(path, error) from error
    if application != APPLICATION_ID:
        raise StoreError("not_a_store", path, "this is a database, but not an Affidavit store")
    if version > SCHEMA_VERSION:
        raise StoreError(
            "newer", path, f"the store has schema {version}, this Affidavit knows {SCHEMA_VERSION}: use a newer one"
        )


def _forget_birth(path: str) -> None:
    """Remove the name a store was made under, where its maker was killed before it could."""
    folder, name = os.path.split(os.path.abspath(path))
    for other in os.listdir(folder):
        if other.startswith(f"{name}.") and other.endswith(".new"):
            with suppress(OSError):
                if os.path.samefile(path, os.path.join(folder, other)):
                    os.unlink(os.path.join(folder, other))


def open_reader(path: str) -> Connection:
    """A checked read-only connection to a store whose folds this program understands."""
    check(path)
    try:
        connection = driver.connect_reader(path)
        version = fold_version(connection)
    except driver.Error as error:
        raise refused(path, error) from error
    if version != FOLD_VERSION:
        connection.close()
        raise StoreError("needs_rebuild", path, "its tables are of another version: run `affidavit rebuild` once")
    return connection


@contextmanager
def refusing(path: str) -> Iterator[None]:
    """Turns the driver's errors into :class:`StoreError`."""
    try:
        yield
    except driver.Error as error:
        raise refused(path, error) from error


def refused(path: str, error: BaseException) -> StoreError:
    """SQLite's own refusal in our words."""
    text = str(error)
    if driver.is_locked(error):
        return StoreError("locked", path, "another program is writing to the store; try again in a moment")
    if "readonly" in text or "read-only" in text:
        return StoreError("read_only", path, "the store cannot be written here (read-only place or missing rights)")
    if "is full" in text:
        return StoreError("full", path, "no room is left on the disk; nothing of the last step was kept")
    if "disk I/O error" in text:
        return StoreError("failing", path, "the disk gave an error; nothing of the last step was kept")
    if "not a database" in text:
        return StoreError("not_a_store", path, "this is not a database")
    if "unable to open" in text:
        return StoreError(
            "read_only",
            path,
            "the store cannot be written, or not even opened, here (a read-only place, or missing rights?)",
        )
    return StoreError("damaged", path, f"SQLite says: {text}")
