"""Logs that grow are read on as they do: each complete line once, half of one when its rest is there."""

from __future__ import annotations

import os
import threading
import time
from pathlib import Path
from typing import Any

import claude_fixtures as log
import pytest
from kept import Clock, assert_closed, assert_holds, assert_same, events, meaning, store_in, take

from storage import importing
from storage.following import Follower
from storage.importing import Importer
from storage.store import Store, StoreError


class Following:
    """A follower of a folder, looked with by hand."""

    def __init__(self, tmp_path: Path) -> None:
        self.folder = tmp_path / "logs"
        self.folder.mkdir()
        self.store = store_in(tmp_path)
        self.said: list[tuple[str, str]] = []
        self.follower = Follower(
            Importer(self.store, clock=Clock()),
            [str(self.folder)],
            None,
            lambda file, said: self.said.append((Path(file).name, said)),
        )

    def look(self) -> int:
        return self.follower.look()

    def texts(self) -> list[str]:
        return [row["summary"] for row in events(self.store.path)]

    def ended(self) -> Any:
        stop = threading.Event()
        stop.set()
        report = self.follower.run(stop)
        assert_closed(report)
        return report


@pytest.fixture
def following(tmp_path: Path) -> Following:
    return Following(tmp_path)


def spoken(*texts: str, session: str = log.SESSION) -> list[bytes]:
    data = log.lines(log.chain(*(log.person(text, f"p-{text}") for text in texts)))
    return data.replace(log.SESSION.encode(), session.encode()).splitlines(keepends=True)


def test_what_is_appended_is_read_and_nothing_else(following: Following, monkeypatch: pytest.MonkeyPatch) -> None:
    file = following.folder / "a.jsonl"
    one, two, three = spoken("One", "Two", "Three")
    file.write_bytes(one)
    assert (following.look(), following.look()) == (1, 0)
    opened: list[str] = []
    plan = Importer._plan

    def noted(self: Importer, report: Any) -> Any:
        opened.append(Path(report.path).name)
        return plan(self, report)

    monkeypatch.setattr(Importer, "_plan", noted)
    (following.folder / "b.jsonl").write_bytes(spoken("Beside", session="other")[0])
    with file.open("ab") as more:
        more.write(two)
    assert (following.look(), sorted(opened)) == (2, ["a.jsonl", "b.jsonl"])
    with file.open("ab") as more:
        more.write(three)
    assert (following.look(), opened[2:]) == (1, ["a.jsonl"])
    assert sorted(following.texts()) == ["Beside", "One", "Three", "Two"]
    report = following.ended()
    assert (report.total("records"), report.sessions, report.events, len(report.files)) == (4, 2, 4, 2)
    assert_holds(following.store.path)


def test_half_a_line_waits_for_its_rest(following: Following) -> None:
    file = following.folder / "a.jsonl"
    one, two = spoken("One", "Two")
    file.write_bytes(one + two[:40])
    following.look()
    assert following.texts() == ["One"]
    assert following.ended().pending == [(str(file), len(one))]
    with file.open("ab") as more:
        more.write(two[40:])
    following.look()
    assert following.texts() == ["One", "Two"]
    assert following.ended().pending == []


@pytest.mark.parametrize("how", ["cut", "replaced", "rotated"])
def test_a_file_that_is_cut_replaced_or_rotated_is_told_and_read_anew(following: Following, how: str) -> None:
    file = following.folder / "a.jsonl"
    file.write_bytes(b"".join(spoken("One", "Two")))
    following.look()
    new = b"".join(spoken("Three", "Four", "Five", session="later"))
    if how == "cut":
        file.write_bytes(new[: len(spoken("Three", session="later")[0])])
    else:
        other = following.folder.parent / "new.jsonl"
        other.write_bytes(new)
        if how == "rotated":
            file.rename(following.folder / "a.1.jsonl")
        os.replace(other, file)
    following.look()
    assert ("a.jsonl", "replaced or cut since the last import; read as a new revision") in following.said
    assert {"One", "Two", "Three"} <= set(following.texts())
    assert len([text for text in following.texts() if text == "One"]) == 1
    assert_holds(following.store.path)


def test_a_store_somebody_else_holds_is_waited_for(following: Following, monkeypatch: pytest.MonkeyPatch) -> None:
    (following.folder / "a.jsonl").write_bytes(spoken("One")[0])
    paths = Importer.paths

    def held(*_: Any, **__: Any) -> Any:
        raise StoreError("locked", following.store.path, "held")

    monkeypatch.setattr(Importer, "paths", held)
    assert following.look() == 1
    assert following.said == [("store.db", "another program holds the store; trying again")]
    monkeypatch.setattr(Importer, "paths", paths)
    assert (following.look(), following.texts()) == (1, ["One"])


def test_what_was_followed_means_what_it_means_at_once(following: Following, tmp_path: Path) -> None:
    data = log.lines(log.session())
    file = following.folder / "a.jsonl"
    file.write_bytes(b"")
    for at in range(0, len(data), 700):
        with file.open("ab") as more:
            more.write(data[at : at + 700])
        following.look()
    with store_in(tmp_path, "whole.db") as whole:
        take(whole, following.folder)
        assert_same(meaning(whole.path), meaning(following.store.path))


def test_it_looks_until_it_is_asked_to_stop(following: Following, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("storage.following.SOONEST", 0.01)
    stop = threading.Event()
    done: list[Any] = []
    path = following.store.path
    following.store.close()

    def work() -> None:
        with Store.open(path) as store:
            follower = Follower(Importer(store, clock=Clock(), cancel=stop), [str(following.folder)], None, print)
            done.append(follower.run(stop))

    thread = threading.Thread(target=work)
    thread.start()
    try:
        for number in range(3):
            with (following.folder / "a.jsonl").open("ab") as more:
                more.write(spoken("One", "Two", "Three")[number])
            until(path, number + 1)
    finally:
        stop.set()
        thread.join(10)
    assert (done[0].total("records"), done[0].events) == (3, 3)


def until(path: str, count: int) -> None:
    """Wait until a store has so many events."""
    end = time.monotonic() + 20
    while len(events(path)) != count:
        assert time.monotonic() < end
        time.sleep(0.01)


def test_many_files_that_rest_are_not_opened(following: Following, monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(50):
        (following.folder / f"{number}.jsonl").write_bytes(spoken("Hi", session=f"s{number}")[0])
    assert following.look() == 50
    monkeypatch.setattr(importing, "open_log", lambda _: pytest.fail("a file that had not changed was opened"))
    assert [following.look() for _ in range(5)] == [0] * 5
