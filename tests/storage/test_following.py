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
from storage.segments import SEGMENT_BYTES
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


def test_what_is_read_of_a_file_that_grows_is_what_was_appended(
    following: Following, monkeypatch: pytest.MonkeyPatch
) -> None:
    """However large it was: its beginning and its end are compared, and no more of it is read than that."""
    file = following.folder / "a.jsonl"
    file.write_bytes(b"".join(spoken(*(f"{number} {'word ' * 200}" for number in range(1_500)))))
    following.look()
    large = file.stat().st_size
    opened = importing.open_log
    streams: list[Any] = []

    class Counted:
        def __init__(self, stream: Any) -> None:
            self.stream, self.count = stream, 0
            streams.append(self)

        def read(self, size: int = -1) -> bytes:
            data: bytes = self.stream.read(size)
            self.count += len(data)
            return data

        def __getattr__(self, name: str) -> Any:
            return getattr(self.stream, name)

        def __enter__(self) -> Counted:
            return self

        def __exit__(self, *_: object) -> None:
            self.stream.close()

    def noted(path: str) -> Any:
        stream, note = opened(path)
        return Counted(stream), note

    monkeypatch.setattr(importing, "open_log", noted)
    appended = 0
    for number in range(40):
        line = spoken(f"More {number}")[0]
        with file.open("ab") as more:
            appended += more.write(line)
        following.look()
    report = following.ended()
    assert report.bytes == large + appended
    assert large > 1_500_000
    assert sum(stream.count for stream in streams) / 40 < 2 * SEGMENT_BYTES + 2 * 4096


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


NEW = spoken("Three", "Four", "Five", session="later")
HAPPENED = {
    "cut": ["was cut; read as a new revision"],
    "emptied": ["was emptied; what was read of it is kept", "was cut; read as a new revision"],
    "rewritten": ["was rewritten where it stands; read as a new revision"],
    "replaced": ["was replaced by another file; read as a new revision"],
    "rotated": ["was rotated: what it held is {folder}/a.1.jsonl now; read as a new revision"],
}


@pytest.mark.parametrize("how", HAPPENED)
def test_a_file_that_begins_otherwise_is_told_what_happened_to_it_and_read_anew(following: Following, how: str) -> None:
    file = following.folder / "a.jsonl"
    old = b"".join(spoken("One", "Two"))
    file.write_bytes(old)
    following.look()
    if how == "emptied":
        file.write_bytes(b"")
        following.look()
    if how in ("cut", "emptied"):
        file.write_bytes(NEW[0])
    elif how == "rewritten":
        file.write_bytes(b"".join(NEW))
        assert file.stat().st_size > len(old)
    else:
        other = following.folder.parent / "new.jsonl"
        other.write_bytes(b"".join(NEW))
        if how == "rotated":
            file.rename(following.folder / "a.1.jsonl")
        os.replace(other, file)
    following.look()
    assert following.said == [("a.jsonl", said.format(folder=following.folder)) for said in HAPPENED[how]]
    assert {"One", "Two", "Three"} <= set(following.texts())
    assert len([text for text in following.texts() if text == "One"]) == 1
    assert_holds(following.store.path)


def test_a_file_replaced_by_one_that_only_says_more_has_grown(following: Following) -> None:
    file = following.folder / "a.jsonl"
    one, two = spoken("One", "Two")
    file.write_bytes(one)
    following.look()
    other = following.folder.parent / "new.jsonl"
    other.write_bytes(one + two)
    os.replace(other, file)
    assert (following.look(), following.said, following.texts()) == (1, [], ["One", "Two"])


def test_a_folder_that_goes_and_comes_back_is_told_once_and_not_read_again(
    following: Following, monkeypatch: pytest.MonkeyPatch
) -> None:
    project = following.folder / "project"
    project.mkdir()
    for number in range(3):
        (project / f"{number}.jsonl").write_bytes(spoken("Hi", session=f"s{number}")[0])
    following.look()
    project.rename(following.folder.parent / "elsewhere")
    assert [following.look() for _ in range(3)] == [0, 0, 0]
    assert following.said == [("project", "is gone, and 3 files with it; what was read is kept")]
    monkeypatch.setattr(importing, "open_log", lambda _: pytest.fail("a file that had not changed was opened"))
    (following.folder.parent / "elsewhere").rename(project)
    assert [following.look() for _ in range(3)] == [0, 0, 0]
    assert following.said[1:] == [("project", "is there again")]


def test_all_that_is_followed_may_go_and_come_back(following: Following) -> None:
    one, two = spoken("One", "Two")
    (following.folder / "a.jsonl").write_bytes(one)
    following.look()
    away = following.folder.rename(following.folder.parent / "away")
    following.look()
    with (away / "a.jsonl").open("ab") as more:
        more.write(two)
    away.rename(following.folder)
    assert (following.look(), following.texts()) == (1, ["One", "Two"])
    assert following.said == [
        ("logs", "is gone, and a file with it; what was read is kept"),
        ("logs", "is there again"),
    ]


def test_a_file_that_cannot_even_be_looked_at_for_a_moment_is_neither_lost_nor_said_to_be_gone(
    following: Following, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = following.folder / "a.jsonl"
    one, two = spoken("One", "Two")
    file.write_bytes(one)
    following.look()
    now = [0.0]
    monkeypatch.setattr(following.follower, "_clock", lambda: now[0])

    def failing(path: Any, *values: Any, **named: Any) -> os.stat_result:
        if str(path) == str(file):
            raise OSError(5, "Input/output error")
        return stat(path, *values, **named)

    for name in ("lstat", "stat"):
        stat = getattr(os, name)
        with file.open("ab") as more:
            more.write(two[: len(two) // 2] if name == "lstat" else two[len(two) // 2 :])
        with monkeypatch.context() as patch:
            patch.setattr(os, name, failing)
            following.look()
        now[0] += 10
        following.look()
    assert following.texts() == ["One", "Two"]
    assert following.said == [("a.jsonl", "Input/output error")]


def test_of_many_files_that_go_only_the_number_is_told(following: Following) -> None:
    for number in range(20):
        (following.folder / f"{number}.jsonl").write_bytes(spoken("Hi", session=f"s{number}")[0])
    following.look()
    for number in range(5, 20):
        (following.folder / f"{number}.jsonl").unlink()
    following.look()
    assert following.said == [("logs", "15 files are gone from here; what was read of them is kept")]


@pytest.mark.parametrize("how", ["removed", "renamed"])
def test_a_file_that_goes_is_told(following: Following, how: str) -> None:
    file = following.folder / "a.jsonl"
    file.write_bytes(spoken("One")[0])
    following.look()
    if how == "removed":
        file.unlink()
        told = "is gone; what was read of it is kept"
    else:
        file.rename(following.folder / "b.jsonl")
        told = f"is called {following.folder}/b.jsonl now"
    following.look()
    assert following.said == [("a.jsonl", told)]
    assert following.texts() == ["One"]


def test_what_cannot_be_read_is_said_once_and_tried_again(
    following: Following, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = following.folder / "a.jsonl"
    file.write_bytes(spoken("One")[0])
    now = [0.0]
    monkeypatch.setattr(following.follower, "_clock", lambda: now[0])
    opened = importing.open_log
    tries = []

    def refused(path: str) -> Any:
        tries.append(path)
        raise OSError(5, "Input/output error")

    monkeypatch.setattr(importing, "open_log", refused)
    for _ in range(40):
        following.look()
        now[0] += 1
    assert following.said == [("a.jsonl", "Input/output error")]
    assert 6 <= len(tries) <= 14, "it is tried less and less often"
    monkeypatch.setattr(importing, "open_log", opened)
    now[0] += 100
    following.look()
    assert following.texts() == ["One"]
    assert [one.stopped for one in following.ended().files] == [False]


def test_a_store_somebody_else_holds_is_waited_for(following: Following, monkeypatch: pytest.MonkeyPatch) -> None:
    (following.folder / "a.jsonl").write_bytes(spoken("One")[0])
    paths = Importer.paths

    def held(*_: Any, **__: Any) -> Any:
        raise StoreError("locked", following.store.path, "held")

    monkeypatch.setattr(Importer, "paths", held)
    assert [following.look(), following.look()] == [1, 1]
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
