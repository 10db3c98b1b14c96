"""A copy of a store that is whole: taken at one moment, verified, and only then given its name."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable

from storage import driver
from storage.refold import Progress
from storage.store import Random, StoreError, check, refused
from storage.verify import VerifyReport, verify


class NotWhole(Exception):
    """The copy does not verify, so it was not kept; ``report`` says what does not hold."""

    def __init__(self, report: VerifyReport) -> None:
        super().__init__("the copy does not hold")
        self.report = report


def backup(
    path: str,
    target: str,
    *,
    random: Random = os.urandom,
    progress: Progress | None = None,
    cancel: threading.Event | None = None,
) -> VerifyReport:
    """Copy a store to ``target``, which must not exist, while others may read and write it.

    The copy holds what was committed when it began, nothing that was erased before, and no page nobody uses. Raises
    ``StoreError`` where the store cannot be read, ``FileExistsError``, other ``OSError`` where the copy cannot be
    written, :class:`NotWhole` and ``Cancelled``; then nothing is left behind.
    """
    check(path)
    if os.path.lexists(target):
        raise FileExistsError(target)
    building = f"{target}.{random(4).hex()}.new"
    try:
        os.close(os.open(building, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
        _copy(path, building)
        _synced(building)
        report = verify(building, progress=progress, cancel=cancel)
        if not report.holds:
            raise NotWhole(report)
        _named(building, target)
        return report
    finally:
        for left in (building, building + "-journal", building + "-wal", building + "-shm"):
            _removed(left)


def _copy(path: str, building: str) -> None:
    try:
        connection = driver.connect_reader(path)
    except driver.Error as error:
        raise refused(path, error) from error
    try:
        connection.execute("PRAGMA query_only=OFF")
        connection.execute("VACUUM INTO ?", (building,))
    except driver.Error as error:
        full = "full" in str(error) or "disk I/O" in str(error)
        if full:
            raise StoreError("full", building, "no room is left for the copy") from error
        raise refused(path, error) from error
    finally:
        connection.close()


def _named(building: str, target: str) -> None:
    """Give the copy its name, unless somebody has taken that meanwhile."""
    try:
        os.link(building, target)
    except FileExistsError:
        raise
    except OSError:  # a file system without links: nobody but us is likely to take the name in this moment
        if os.path.lexists(target):
            raise FileExistsError(target) from None
        os.rename(building, target)
    _synced(os.path.dirname(os.path.abspath(target)))


def _synced(path: str) -> None:
    """Have the system write a file, or a folder's list of names, to the disk."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _removed(path: str, remove: Callable[[str], None] = os.unlink) -> None:
    try:
        remove(path)
    except FileNotFoundError:
        return
