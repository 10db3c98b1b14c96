"""``affidavit backup``."""

from __future__ import annotations

from pathlib import Path

import pytest
from cli_runner import Runner


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Runner:
    run = Runner(monkeypatch, tmp_path)
    monkeypatch.setenv("AFFIDAVIT_STORE", str(tmp_path / "store.db"))
    assert run("import", str(run.log())).code == 0
    return run


def test_a_copy_is_written_and_can_be_used_like_the_store(run: Runner, tmp_path: Path) -> None:
    copy = tmp_path / "copy.db"
    done = run("backup", str(copy), "--json")
    assert done.code == 0
    told = done.json
    assert (told["path"], told["holds"], told["bytes"], told["failures"]) == (str(copy), True, copy.stat().st_size, [])
    assert run("sessions", "--json", "--store", str(copy)).json == run("sessions", "--json").json
    assert "verified" in run("backup", str(tmp_path / "other.db")).out


def test_what_is_there_is_never_overwritten(run: Runner, tmp_path: Path) -> None:
    copy = tmp_path / "copy.db"
    copy.write_text("mine")
    done = run("backup", str(copy), "--json")
    assert (done.code, done.raw, copy.read_text()) == (2, b"", "mine")
    assert "something is there already" in done.err


def test_a_place_that_does_not_exist_is_refused(run: Runner, tmp_path: Path) -> None:
    assert run("backup", str(tmp_path / "absent" / "copy.db")).code == 2
