"""Killed at any moment, crowded by others or out of room: what was acknowledged is there once, and work goes on."""

from __future__ import annotations

import json
import os
import random
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import claude_fixtures as log
import pytest
from kept import Clock, assert_holds, assert_same, meaning, rows, store_in, take, write

from storage import driver
from storage.archive import Archive
from storage.importing import Importer
from storage.rebuild import rebuild
from storage.store import Store, StoreError
from storage.verify import verify

ROOT = Path(__file__).resolve().parents[2]
WORKER = Path(__file__).with_name("store_worker.py")


@contextmanager
def worker(*words: object) -> Iterator[subprocess.Popen[str]]:
    """Another program at work, ended when the block ends."""
    process = subprocess.Popen(
        [sys.executable, str(WORKER), *map(str, words)],
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


def next_said(process: subprocess.Popen[str]) -> Any:
    assert process.stdout is not None
    line = process.stdout.readline()
    assert line, process.stderr and process.stderr.read()
    return json.loads(line)


def all_said(process: subprocess.Popen[str]) -> list[Any]:
    """Everything a program that ends by itself said; it must have ended well."""
    assert process.stdout is not None
    out = process.stdout.read()  # through the same buffer as what was heard before
    _, err = process.communicate(timeout=120)
    assert process.returncode == 0, err
    return [json.loads(line) for line in out.splitlines()]


def logs_of(count: int, first: int = 0) -> bytes:
    """Invented records: prompts, answers, calls and results, copies and nonsense."""
    found = []
    for number in range(first, first + count):
        found += log.chain(
            log.person(f"Prompt {number} " + "word " * 20, f"p{number}"),
            log.calls("Bash", f"t{number}", {"id": f"m{number}"}, command="pytest -q"),
            log.result("1 failed" if number % 3 else "3 passed in 1s", f"t{number}", error=bool(number % 3)),
            log.flat("permission-mode", permissionMode="plan"),
            start=4 * number + 1,
            after=f"r{4 * number - 1}" if number else None,
        )
    data = log.lines(found)
    return data + data[: data.index(b"\n") + 1] + b"nonsense\n"


def originals(path: str) -> dict[str, bytes]:
    """The bytes taken of each file's newest revision."""
    with Archive.open(path) as archive:
        return {row.file: b"".join(archive.original(row.key)) for row in archive.sources()}


def killed_after(process: subprocess.Popen[str], count: int, seconds: float) -> list[Any]:
    """Let a program work until it has said so many things and that long more, kill it, and return what it said."""
    said: list[str] = []
    assert process.stdout is not None
    reading = threading.Thread(target=lambda out: said.extend(out), args=(process.stdout,))
    reading.start()
    deadline = time.monotonic() + 60
    while len(said) < count and reading.is_alive() and time.monotonic() < deadline:
        time.sleep(0.001)
    time.sleep(seconds)
    process.kill()
    reading.join()
    return [json.loads(line) for line in said if line.endswith("\n")]


def test_a_killed_import_keeps_what_was_acknowledged_and_goes_on(
    tmp_path: Path, figure: Callable[[int, int], int]
) -> None:
    chance = random.Random(6)
    logs = tmp_path / "logs"
    path = str(tmp_path / "store.db")
    killed = 0
    for turn in range(figure(6, 200)):
        for name in ("one.jsonl", "two.jsonl") if turn % 10 == 0 else ("one.jsonl",):
            file = logs / (f"{turn // 10}-{name}")
            before = file.read_bytes() if file.exists() else b""
            more = logs_of(240, 240 * turn).replace(log.SESSION.encode(), file.stem.encode())
            write(logs, before + more, file.name)
        with worker("take", path, logs) as process:
            said = killed_after(process, chance.randrange(26), chance.uniform(0, 0.02))
            killed += process.returncode != 0
        if said == []:
            continue
        assert_holds(path)
        acknowledged: dict[str, int] = {}
        for one in said:
            if isinstance(one, list):
                acknowledged[one[0]] = one[1]
        taken = originals(path)
        for file, cursor in acknowledged.items():
            assert len(taken[file]) >= cursor
        for file, data in taken.items():
            assert Path(file).read_bytes().startswith(data)
    assert killed >= figure(3, 100), "most were killed before they were done"
    with store_in(tmp_path) as store:
        take(store, logs)
        assert all(Path(file).read_bytes().startswith(data) for file, data in originals(path).items())
        assert_holds(path)
        with store_in(tmp_path, "whole.db") as whole:
            take(whole, logs)
        assert_same(meaning(whole.path), meaning(path))


def test_a_killed_creation_leaves_no_store_or_a_good_one(tmp_path: Path, figure: Callable[[int, int], int]) -> None:
    file = write(tmp_path / "logs", logs_of(3))
    made = 0
    for turn in range(figure(3, 100)):
        path = tmp_path / str(turn) / "store.db"
        with worker("take", path, file):
            time.sleep(random.Random(turn).uniform(0.1, 0.9))
        made += path.exists()
        if path.exists():
            assert_holds(str(path))
        with Store.open(str(path), create=True) as store:
            take(store, file)
        assert_holds(str(path))
    assert made >= figure(0, 10)


@pytest.mark.parametrize("work", ["again", "erase"])
def test_a_killed_rebuild_or_erasure_is_finished_by_whoever_comes_next(
    tmp_path: Path, figure: Callable[[int, int], int], work: str
) -> None:
    chance = random.Random(work)
    with store_in(tmp_path) as store:
        take(store, write(tmp_path / "logs", logs_of(60)))
        path = store.path
    before = meaning(path)
    erased = 0
    for _ in range(figure(2, 60)):
        with worker(work, path) as process:
            said = killed_after(process, chance.randrange(1, 4), chance.uniform(0, 0.1))
        erased += sum(isinstance(one, int) for one in said)
        Store.open(path).close()
        assert assert_holds(path).withheld >= erased
        left = rows(path, "SELECT count(*) FROM sqlite_schema WHERE name LIKE 'new\\_%' ESCAPE '\\'")
        assert left == [(0,)] or work == "again"
    if work == "again":
        assert_same(before, meaning(path))
        with Store.open(path) as store:
            rebuild(store)
        assert rows(path, "SELECT count(*) FROM sqlite_schema WHERE name LIKE 'new\\_%' ESCAPE '\\'") == [(0,)]


def test_two_importers_and_readers_at_the_same_time(tmp_path: Path) -> None:
    logs = tmp_path / "logs"
    for number in range(4):
        write(logs, logs_of(60, 60 * number), f"{number}.jsonl")
    path = str(tmp_path / "store.db")
    seen = []
    with worker("take", path, logs) as one, worker("take", path, logs) as two:
        assert next_said(one) == next_said(two) == "open"
        while one.poll() is None or two.poll() is None:
            with Archive.open(path) as archive:
                seen.append(sum(row.events for row in archive.sessions().rows))
                totals = archive.totals()
                assert totals.events >= seen[-1]
            assert verify(path).holds
            if one.poll() is None and len(seen) > 200:
                break
        reports = [all_said(one)[-1], all_said(two)[-1]]
    assert seen == sorted(seen)
    assert_holds(path)
    with store_in(tmp_path, "whole.db") as whole:
        report = take(whole, logs)
    assert_same(meaning(whole.path), meaning(path))
    for name in ("records", "mapped", "unknown", "duplicates", "unreadable"):
        assert sum(said[name] for said in reports) == report.total(name)


def test_an_import_and_rebuilds_at_the_same_time(tmp_path: Path) -> None:
    logs = tmp_path / "logs"
    with store_in(tmp_path) as store:
        take(store, write(logs, logs_of(60), "first.jsonl"))
        path = store.path
        with worker("again", path) as process:
            assert next_said(process) == "open"
            for number in range(1, 9):
                take(store, write(logs, logs_of(20, 100 * number), f"{number}.jsonl"))
            assert next_said(process) == "rebuilt"
    assert_holds(path)
    with Store.open(path) as store:
        rebuild(store)
    with store_in(tmp_path, "whole.db") as whole:
        take(whole, *(logs / file.name for file in sorted(logs.iterdir(), key=lambda file: file.stat().st_mtime_ns)))
    assert_same(meaning(whole.path), meaning(path))


def test_of_two_rebuilds_one_is_told_and_the_store_is_good(tmp_path: Path) -> None:
    with store_in(tmp_path) as store:
        take(store, write(tmp_path / "logs", logs_of(60)))
        before = meaning(store.path)
        with worker("again", store.path) as one, worker("again", store.path) as two:
            said = [next_said(process) for process in (one, two) for _ in range(3)]
        assert set(said) <= {"open", "rebuilt", "locked"}
        assert "rebuilt" in said
    Store.open(store.path).close()
    assert_same(before, meaning(store.path))
    assert_holds(store.path)


def test_a_held_lock_is_waited_for_and_its_end_used(tmp_path: Path) -> None:
    with store_in(tmp_path) as store:
        with worker("hold", store.path, 0.8) as process:
            assert next_said(process) == "held"
            began = time.monotonic()
            report = take(store, write(tmp_path / "logs", logs_of(5)))
        assert report.total("records") == 22
        assert 0.1 < time.monotonic() - began < 8
        assert_holds(store.path)


def test_a_lock_held_too_long_is_said_and_nothing_is_lost(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store_in(tmp_path).close()
    monkeypatch.setattr(driver, "BUSY_MILLIS", 200)
    file = write(tmp_path / "logs", logs_of(5))
    with store_in(tmp_path) as store:
        with worker("hold", store.path, 30) as process:
            assert next_said(process) == "held"
            began = time.monotonic()
            for attempt in (lambda: take(store, file), lambda: Store.open(store.path), lambda: rebuild(store)):
                with pytest.raises(StoreError) as held:
                    attempt()
                assert held.value.reason == "locked"
            assert time.monotonic() - began < 10
            with Archive.open(store.path) as archive:
                assert archive.sessions().rows == ()
            assert_holds(store.path)
        assert take(store, file).total("records") == 22
        assert_holds(store.path)


def test_a_full_store_refuses_and_stays_good(tmp_path: Path) -> None:
    file = write(tmp_path / "logs", logs_of(400))
    with store_in(tmp_path) as store:
        take(store, write(tmp_path / "logs", logs_of(3), "small.jsonl"))
        pages = store.connection.execute("PRAGMA page_count").fetchone()[0]
        for more in (0, 1, 3, 10):
            store.connection.execute(f"PRAGMA max_page_count={pages + more}")
            with pytest.raises(StoreError) as full:
                Importer(store, clock=Clock()).paths([str(file)])
            assert full.value.reason == "full"
            assert_holds(store.path)
            with pytest.raises(StoreError) as full:
                rebuild(store)
            assert full.value.reason == "full"
            assert_holds(store.path)
        store.connection.execute("PRAGMA max_page_count=1000000")
        assert take(store, file).total("records") == 1_602
        assert rebuild(store)
        assert_holds(store.path)


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A disk of 4 MiB."""
    place = tmp_path / "disk"
    place.mkdir()
    if os.geteuid() != 0 or not shutil.which("mount"):
        pytest.skip("only root can make a small disk")
    made = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=4m", "tmpfs", str(place)], capture_output=True, check=False
    )
    if made.returncode:
        pytest.skip("no small disk can be made here")
    try:
        yield place
    finally:
        subprocess.run(["umount", "-l", str(place)], check=True)


def endlessly(do: Callable[[bytes], object], what: bytes) -> None:
    while True:
        do(what)


def fill(file: Path) -> None:
    """Write until there is no room."""
    descriptor = os.open(file, os.O_CREAT | os.O_WRONLY)
    with pytest.raises(OSError, match="No space"), os.fdopen(descriptor, "wb", buffering=0) as stream:
        endlessly(stream.write, bytes(4096))


def test_a_full_disk_leaves_a_good_store(small_disk: Path, tmp_path: Path) -> None:
    file = write(tmp_path / "logs", b"".join(logs_of(50, 1_000 * n) for n in range(50)))
    path = str(small_disk / "store.db")
    with pytest.raises(StoreError) as full, Store.open(path, create=True) as store:
        Importer(store, clock=Clock()).paths([str(file)])
    assert full.value.reason == "full"
    report = assert_holds(path)
    assert report.checked["records"] > 0
    filler = small_disk / "filler"
    fill(filler)
    with pytest.raises(StoreError) as full:
        Store.open(str(small_disk / "other.db"), create=True)
    assert full.value.reason == "full"
    assert sorted(one.name for one in small_disk.iterdir() if one.suffix == ".new") == []
    filler.unlink()
    subprocess.run(["mount", "-o", "remount,size=64m", str(small_disk)], check=True)
    with Store.open(path) as store:
        take(store, file)
    assert_holds(path)
    with store_in(tmp_path, "whole.db") as whole:
        take(whole, file)
    assert_same(meaning(whole.path), meaning(path))


def test_an_interrupted_import_stops_between_transactions_and_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from storage import importing

    monkeypatch.setattr(importing, "BATCH_RECORDS", 50)
    file = write(tmp_path / "logs", b"".join(logs_of(200, 1_000 * n) for n in range(8)))
    cancel = threading.Event()
    with store_in(tmp_path) as store:
        first = Importer(store, clock=Clock(), cancel=cancel, progress=lambda *_: cancel.set()).paths([str(file)])
        assert first.interrupted
        taken = first.total("records")
        assert 0 < taken < 6_400
        assert_holds(store.path)
        rest = take(store, file)
        assert not rest.interrupted
        assert taken + rest.total("records") == 8 * 802
        assert_holds(store.path)
