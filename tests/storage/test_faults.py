"""System calls that fail while a store is written or read: nothing acknowledged is lost, and whatever fails says so.

``strace`` makes one call of the process on one of the store's files fail, or kills the process there.
"""

from __future__ import annotations

import json
import os
import random
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from kept import assert_holds, assert_same, meaning, rows, store_in, take, write
from test_interruption import logs_of, originals

ROOT = Path(__file__).resolve().parents[2]
WORKER = Path(__file__).with_name("store_worker.py")
COMMAND = (sys.executable, "-c", "import sys; from console.main import main; sys.exit(main())")

FAULTS = (
    "pwrite64:error=EIO",
    "pwrite64:error=ENOSPC",
    "pwrite64:retval=0",
    "pwrite64:signal=SIGKILL",
    "fsync:error=EIO",
    "fsync:signal=SIGKILL",
    "ftruncate:error=EIO",
    "ftruncate:signal=SIGKILL",
    "pread64:error=EIO",
    "pread64:retval=0",
    "openat:error=EIO",
    "fcntl:error=EIO",
)
"""What happens to a call: an error, nothing written or read where something was asked for, the end of the process."""

KILLED = (-9, 137)


def strace_works() -> bool:
    strace = shutil.which("strace")
    return (
        strace is not None and subprocess.run([strace, "-qq", "true"], capture_output=True, check=False).returncode == 0
    )


pytestmark = pytest.mark.skipif(not strace_works(), reason="strace is not here, or may not trace")


def faulty(path: str, fault: str, when: int, *words: object) -> subprocess.CompletedProcess[str]:
    """Run a program; the ``when``-th of the calls named in ``fault``, and all after it, fail on this store's files."""
    files = [word for end in ("", "-wal", "-shm", "-journal") for word in ("-P", path + end)]
    call = fault.partition(":")[0]
    lasting = "" if "KILL" in fault else "+"
    inject = f"inject={fault}:when={when}{lasting}"
    return subprocess.run(
        ["strace", "-f", "-qq", "-o", os.devnull, *files, "-e", f"trace={call}", "-e", inject, *map(str, words)],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        timeout=120,
        check=False,
    )


def assert_said(done: subprocess.CompletedProcess[str], *codes: int) -> None:
    """It ended by a kill or with one of these exit codes, and a failure is told in the program's own words."""
    if done.returncode in KILLED:
        return
    assert done.returncode in codes, done.stderr
    assert "Traceback" not in done.stderr
    assert "affidavit.log" not in done.stderr, done.stderr
    if done.returncode == 2:
        assert done.stderr.splitlines()[-1].startswith("affidavit: "), done.stderr


def test_an_import_over_failing_calls_loses_nothing_it_acknowledged(
    tmp_path: Path, figure: Callable[[int, int], int]
) -> None:
    chance = random.Random(11)
    file = write(tmp_path / "logs", logs_of(30))
    with store_in(tmp_path, "whole.db") as whole:
        take(whole, file)
    expected = meaning(whole.path)
    struck = 0
    for turn in range(figure(6, 240)):
        path = str(tmp_path / str(turn) / "store.db")
        if turn % 3:
            store_in(Path(path).parent).close()
        fault, when = FAULTS[(5 * turn + 1) % len(FAULTS)], int(2 ** chance.uniform(0, 7))
        if chance.random() < 0.5:
            done = faulty(path, fault, when, sys.executable, WORKER, "take", path, file)
            said = [json.loads(line) for line in done.stdout.splitlines(keepends=True) if line.endswith("\n")]
            acknowledged = max((one[1] for one in said if isinstance(one, list)), default=0)
        else:
            done = faulty(path, fault, when, *COMMAND, "import", "--store", path, file)
            assert_said(done, 2, 3)
            acknowledged = file.stat().st_size if done.returncode == 3 else 0
        struck += done.returncode not in (0, 3)
        if os.path.exists(path):
            assert_holds(path)
            assert len(originals(path).get(str(file), b"")) >= acknowledged
        assert acknowledged == 0 or os.path.exists(path)
        with store_in(Path(path).parent) as store:
            take(store, file)
        assert_holds(path)
        assert_same(expected, meaning(path))
        assert [one.name for one in Path(path).parent.iterdir() if one.suffix == ".new"] == [] or "KILL" in fault
    assert struck >= figure(2, 100), "most faults were met"


def test_a_verification_over_failing_calls_gives_no_false_alarm_and_no_false_comfort(
    tmp_path: Path, figure: Callable[[int, int], int]
) -> None:
    """Where nothing can be read it is said; the store is as it was, and holds again once the disk does."""
    chance = random.Random(12)
    with store_in(tmp_path) as store:
        take(store, write(tmp_path / "logs", logs_of(30)))
        path = store.path
    ledger = rows(path, "SELECT idx, entry FROM ledger_entry ORDER BY idx")
    struck = 0
    for turn in range(figure(3, 80)):
        fault = ("pread64:error=EIO", "openat:error=EIO", "fcntl:error=EIO", "pread64:signal=SIGKILL")[turn % 4]
        done = faulty(path, fault, int(2 ** chance.uniform(0, 5)), *COMMAND, "verify", "--store", path, "--json")
        assert_said(done, 0, 1, 2)
        if done.returncode == 1:
            assert {one["class"] for one in json.loads(done.stdout)["failures"]} <= {"damaged", "fold_failed"}
        struck += done.returncode != 0
        assert rows(path, "SELECT idx, entry FROM ledger_entry ORDER BY idx") == ledger
        assert_holds(path)
    assert struck >= figure(2, 30), "most faults were met"


def test_a_file_that_may_not_grow_is_said_and_the_store_stays_good(tmp_path: Path) -> None:
    """The system writes a part of what it is given, then refuses: a quota, or a limit of the file system."""
    resource = pytest.importorskip("resource")
    file = write(tmp_path / "logs", logs_of(60))
    with store_in(tmp_path) as store:
        take(store, write(tmp_path / "logs", logs_of(3), "small.jsonl"))
        path = store.path
    size = os.path.getsize(path)
    refused = 0
    for more, words in ((1_000, ("import", file)), (70_000, ("import", file)), (1_000, ("rebuild",))):

        def limited(most: int = size + more) -> None:
            resource.setrlimit(resource.RLIMIT_FSIZE, (most, most))

        before = meaning(path)
        done = subprocess.run(
            [*COMMAND, words[0], "--store", path, *map(str, words[1:])],
            capture_output=True,
            text=True,
            env={**os.environ, "PYTHONPATH": str(ROOT)},
            preexec_fn=limited,
            check=False,
        )
        assert_said(done, 0, 2, 3)
        assert_holds(path)
        refused += done.returncode == 2
        if words == ("rebuild",) or (done.returncode == 2 and more < 4_096):
            assert_same(before, meaning(path))
    assert refused
    with store_in(tmp_path) as store:
        take(store, file)
    assert_holds(path)
    assert len(originals(path)[str(file)]) == file.stat().st_size
