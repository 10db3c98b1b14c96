"""System calls that fail under a follower, a backup and a rebuild: nothing seen is lost, and what fails says so."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from kept import assert_holds, assert_same, meaning, rows, store_in, take, write
from test_faults import COMMAND, KILLED, ROOT, assert_said, strace_works
from test_interruption import logs_of, originals

from storage.archive import Archive
from storage.store import Store, StoreError

pytestmark = pytest.mark.skipif(not strace_works(), reason="strace is not here, or may not trace")

ON_STORE = (
    "pwrite64:error=EIO",
    "pwrite64:error=ENOSPC",
    "pwrite64:retval=0",
    "pwrite64:signal=SIGKILL",
    "fsync:error=EIO",
    "fsync:signal=SIGKILL",
    "ftruncate:error=EIO",
    "pread64:error=EIO",
    "pread64:retval=0",
    "fcntl:error=EIO",
)
ON_LOG = ("read:error=EIO", "openat:error=EACCES", "newfstatat:error=EIO", "openat:error=EMFILE")
"""What happens where a log is read: for a while only, as on a network or a stick that is put back."""


@contextmanager
def struck(
    fault: str, first: int, last: int | None, files: list[str], *words: object
) -> Iterator[subprocess.Popen[str]]:
    """A program whose ``first`` to ``last`` (``None``: every later) calls that ``fault`` names fail on some files."""
    call = fault.partition(":")[0]
    when = str(first) if "KILL" in fault else f"{first}+" if last is None else f"{first}..{last}"
    only = [word for file in files for word in ("-P", file)]
    traced = ["-e", f"trace={call}", "-e", f"inject={fault}:when={when}"]
    process = subprocess.Popen(
        ["strace", "-D", "-f", "-qq", "-o", os.devnull, *only, *traced, *map(str, words)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


def ended(process: subprocess.Popen[str]) -> subprocess.CompletedProcess[str]:
    out, err = process.communicate(timeout=120)
    return subprocess.CompletedProcess((), process.returncode, out, err)


def seen(path: str) -> int:
    """How much of the log the store holds, as somebody sees it who reads it now."""
    try:
        with Archive.open(path) as archive:
            return sum(row.bytes for row in archive.sources())
    except StoreError:
        return 0


def parts_of(data: bytes, count: int) -> list[bytes]:
    """The bytes in pieces that do not end where lines do."""
    step = len(data) // count + 1
    return [data[at : at + step] for at in range(0, len(data), step)]


def followed(process: subprocess.Popen[str], path: str, file: Path, parts: list[bytes]) -> int:
    """Write piece after piece as the one before is read, while the program runs; gives the most that was seen read."""
    most = 0
    for part in parts:
        with file.open("ab") as more:
            more.write(part)
        whole = file.read_bytes().rfind(b"\n") + 1
        end = time.monotonic() + 60
        while process.poll() is None and most < whole:
            assert time.monotonic() < end, "it neither reads on nor ends"
            most = max(most, seen(path))
            time.sleep(0.01)
    return most


def test_a_follower_over_failing_calls_loses_nothing_that_was_seen(
    tmp_path: Path, figure: Callable[[int, int], int]
) -> None:
    chance = random.Random(21)
    data = logs_of(24)
    with store_in(tmp_path, "whole.db") as whole:
        take(whole, write(tmp_path / "logs", data))
    expected = meaning(whole.path)
    file = tmp_path / "logs" / "session.jsonl"
    met = 0
    for turn in range(figure(4, 200)):
        file.write_bytes(b"")
        path = str(tmp_path / str(turn) / "store.db")
        store_in(Path(path).parent).close()
        on_log = turn % 4 == 3
        fault = ON_LOG[turn // 4 % len(ON_LOG)] if on_log else ON_STORE[(7 * turn + 1) % len(ON_STORE)]
        first = int(2 ** chance.uniform(0, 3 if on_log else 6))
        files = [str(file)] if on_log else [path + end for end in ("", "-wal", "-shm", "-journal")]
        words = (*COMMAND, "import", "--follow", "--store", path, file.parent)
        with struck(fault, first, first + 2 if on_log else None, files, *words) as process:
            most = followed(process, path, file, parts_of(data, 5))
            process.send_signal(signal.SIGTERM)
            done = ended(process)
        assert_said(done, 0, 2, 3)
        if on_log:
            assert done.returncode == 3, (fault, first, done.stderr)
            assert len(originals(path)[str(file)]) == len(data), "it went on once the log could be read again"
        met += done.returncode in (2, *KILLED) or "EIO" in done.stderr or "error" in done.stderr
        assert_holds(path)
        assert len(originals(path).get(str(file), b"")) >= most
        file.write_bytes(data)
        with store_in(Path(path).parent) as store:
            take(store, file)
        assert_holds(path)
        assert_same(expected, meaning(path))
    assert met >= figure(1, 80), "most faults were met"


@pytest.fixture(scope="module")
def held(tmp_path_factory: pytest.TempPathFactory) -> str:
    folder = tmp_path_factory.mktemp("held")
    with store_in(folder) as store:
        take(store, write(folder / "logs", logs_of(30)))
        return store.path


def test_a_backup_over_failing_calls_leaves_a_whole_copy_or_none(
    held: str, tmp_path: Path, figure: Callable[[int, int], int]
) -> None:
    chance = random.Random(22)
    before = Path(held).read_bytes()
    met = 0
    faults = (*ON_STORE, "linkat:error=EPERM", "link:error=EPERM", "openat:error=ENOSPC", "fsync:error=ENOSPC")
    for turn in range(figure(4, 60)):
        target = tmp_path / str(turn) / "copy.db"
        target.parent.mkdir()
        fault = faults[(5 * turn) % len(faults)]
        # What is read is the store's; what is written is the copy's, whose name nobody knows beforehand.
        files = [held] if fault.startswith(("pread", "openat", "fcntl")) else []
        first = int(2 ** chance.uniform(0, 5))
        with struck(fault, first, None, files, *COMMAND, "backup", target, "--store", held) as process:
            done = ended(process)
        assert_said(done, 0, 1, 2)
        met += done.returncode != 0
        if done.returncode == 0:
            assert target.exists()
        if target.exists():
            assert_holds(str(target))
        left = [one.name for one in target.parent.iterdir() if one != target]
        assert left == [] or done.returncode in KILLED
        assert Path(held).read_bytes() == before
    assert met >= figure(1, 25), "most faults were met"
    assert_holds(held)


def test_a_rebuild_over_failing_calls_changes_no_meaning(
    held: str, tmp_path: Path, figure: Callable[[int, int], int]
) -> None:
    chance = random.Random(23)
    path = str(tmp_path / "store.db")
    Path(path).write_bytes(Path(held).read_bytes())
    expected = meaning(path)
    ledger = rows(path, "SELECT idx, entry FROM ledger_entry ORDER BY idx")
    files = [path + end for end in ("", "-wal", "-shm", "-journal")]
    met = 0
    for turn in range(figure(4, 60)):
        fault, first = ON_STORE[(3 * turn) % len(ON_STORE)], int(2 ** chance.uniform(0, 7))
        with struck(fault, first, None, files, *COMMAND, "rebuild", "--store", path) as process:
            done = ended(process)
        assert_said(done, 0, 2)
        met += done.returncode != 0
        Store.open(path).close()
        assert rows(path, "SELECT idx, entry FROM ledger_entry ORDER BY idx") == ledger
        assert_same(expected, meaning(path))
        assert_holds(path)
    assert met >= figure(1, 25), "most faults were met"
