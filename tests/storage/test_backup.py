"""A copy of a store: whole, verified, and never in anybody's way."""

from __future__ import annotations

import os
import threading
from pathlib import Path
from typing import Any

import claude_fixtures as log
import pytest
from kept import assert_holds, assert_same, imported, meaning, rows, store_in, take, write

from storage import backup as backing
from storage import driver
from storage.backup import NotWhole, backup
from storage.refold import Cancelled
from storage.store import Store, StoreError


@pytest.fixture
def path(tmp_path: Path) -> str:
    return imported(tmp_path, log.lines(log.session()))[0]


def left(tmp_path: Path) -> list[str]:
    return sorted(name for name in os.listdir(tmp_path) if ".new" in name or name.startswith("copy"))


def test_a_copy_says_the_same_and_goes_on_alone(path: str, tmp_path: Path) -> None:
    copy = tmp_path / "copy.db"
    report = backup(path, str(copy))
    assert report.holds
    assert_same(meaning(path), meaning(str(copy)))
    assert left(tmp_path) == ["copy.db"]
    assert copy.stat().st_mode & 0o077 == 0
    ledger = "SELECT idx, entry FROM ledger_entry ORDER BY idx"
    assert rows(path, ledger) == rows(str(copy), ledger)
    more = write(tmp_path / "more", log.lines(log.chain(log.person("More", "p9"))))
    with Store.open(str(copy)) as store:
        take(store, more)
    assert_holds(str(copy))
    assert len(rows(path, "SELECT 1 FROM ledger_entry")) < len(rows(str(copy), "SELECT 1 FROM ledger_entry"))


def test_what_was_committed_when_it_began_is_in_it_while_others_write(path: str, tmp_path: Path) -> None:
    with store_in(tmp_path) as store:
        store.connection.execute("BEGIN IMMEDIATE")
        report = backup(path, str(tmp_path / "copy.db"))
        store.connection.execute("ROLLBACK")
    assert (report.holds, left(tmp_path)) == (True, ["copy.db"])


@pytest.mark.parametrize("kind", ["file", "folder", "dangling link"])
def test_nothing_is_ever_overwritten(path: str, tmp_path: Path, kind: str) -> None:
    copy = tmp_path / "copy.db"
    if kind == "file":
        copy.write_text("mine")
    elif kind == "folder":
        copy.mkdir()
    else:
        copy.symlink_to(tmp_path / "nowhere")
    with pytest.raises(FileExistsError):
        backup(path, str(copy))
    assert left(tmp_path) == ["copy.db"]
    assert kind != "file" or copy.read_text() == "mine"


def test_a_name_that_is_taken_meanwhile_is_left_alone(
    path: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    copy = tmp_path / "copy.db"
    verify = backing.verify

    def slow(*words: Any, **more: Any) -> Any:
        copy.write_text("theirs")
        return verify(*words, **more)

    monkeypatch.setattr(backing, "verify", slow)
    with pytest.raises(FileExistsError):
        backup(path, str(copy))
    assert (copy.read_text(), left(tmp_path)) == ("theirs", ["copy.db"])


def test_a_copy_that_does_not_hold_is_not_kept(path: str, tmp_path: Path) -> None:
    connection = driver.sqlite3.connect(path)
    connection.execute("UPDATE event SET summary = 'another' WHERE kind = 'user.message'")
    connection.commit()
    connection.close()
    with pytest.raises(NotWhole) as refused:
        backup(path, str(tmp_path / "copy.db"))
    assert {failure.kind for failure in refused.value.report.failures} == {"fold_differs"}
    assert left(tmp_path) == []


def test_it_can_be_stopped(path: str, tmp_path: Path) -> None:
    stop = threading.Event()
    stop.set()
    with pytest.raises(Cancelled):
        backup(path, str(tmp_path / "copy.db"), cancel=stop)
    assert left(tmp_path) == []


def test_places_that_cannot_be_written_and_stores_that_are_none_are_refused(path: str, tmp_path: Path) -> None:
    with pytest.raises(OSError, match="No such file"):
        backup(path, str(tmp_path / "absent" / "copy.db"))
    with pytest.raises(StoreError) as refused:
        backup(str(tmp_path / "none.db"), str(tmp_path / "copy.db"))
    assert refused.value.reason == "missing"
    assert left(tmp_path) == []
