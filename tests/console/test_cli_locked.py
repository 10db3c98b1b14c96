"""A store that another program holds: reading goes on, writing waits for a bounded time and says so."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from cli_runner import Runner

from storage import driver
from tests.storage.claude_fixtures import SESSION

ROOT = Path(__file__).resolve().parents[2]
WORKER = ROOT / "tests" / "storage" / "store_worker.py"


@contextmanager
def held(path: Path, seconds: float) -> Iterator[None]:
    """Another program holds the write lock for so long, or until the block ends."""
    process = subprocess.Popen(
        [sys.executable, str(WORKER), "hold", str(path), str(seconds)],
        stdout=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )
    try:
        assert process.stdout is not None
        assert process.stdout.readline() == b'"held"\n'
        yield
    finally:
        process.kill()
        process.communicate()


@pytest.fixture
def store(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    path = tmp_path / "store.db"
    monkeypatch.setenv("AFFIDAVIT_STORE", str(path))
    return path


def test_a_lock_held_longer_than_is_waited_for_stops_writing_only(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, store: Path
) -> None:
    run = Runner(monkeypatch, tmp_path)
    log = str(run.log())
    assert run("import", log).code == 0
    assert run("verify").code == 0
    monkeypatch.setattr(driver, "BUSY_MILLIS", 200)
    reading = [("sessions",), ("show", f"session/{SESSION}"), ("search", "test"), ("verify",), ("doctor",)]
    with held(store, 60):
        for words in (*reading, ("backup", str(tmp_path / "copy.db"))):
            assert run(*words).code == 0, words
        for words in (("import", log), ("record",), ("rebuild",)):
            began = time.monotonic()
            done = run(*words)
            assert (words, done.code, done.raw) == (words, 2, b"")
            assert "another program is writing to the store" in done.err
            assert time.monotonic() - began < 10
    assert run("import", log).code == 0
    assert run("verify").code == 0


@pytest.mark.soak
def test_a_lock_held_for_eight_seconds_is_waited_out(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, store: Path
) -> None:
    run = Runner(monkeypatch, tmp_path)
    log = str(run.log())
    assert run("record").code == 0
    for words in (("import", log), ("rebuild",)):
        with held(store, 8):
            began = time.monotonic()
            assert run(*words).code == 0, words
            assert 5 < time.monotonic() - began < 20
    assert run("verify").code == 0
