"""Reads happen in two threads; only the newest question of a channel is ever answered."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Any

import pytest
from console_fakes import World

from console.reading import ReadPool


class Loop:
    """Stands for the event loop: what is posted is done when the test says so."""

    def __init__(self) -> None:
        self.posted: list[tuple[Callable[..., Any], tuple[Any, ...]]] = []

    def post(self, callback: Callable[..., Any], *args: Any) -> None:
        self.posted.append((callback, args))

    def run(self) -> None:
        posted, self.posted = self.posted, []
        for callback, args in posted:
            callback(*args)


def wait_for(holds: Callable[[], bool]) -> None:
    end = time.monotonic() + 3
    while not holds():
        assert time.monotonic() < end
        time.sleep(0.002)


@pytest.fixture
def loop() -> Loop:
    return Loop()


def fail(error: Exception) -> None:
    raise AssertionError(error)


def test_an_answer_comes_back_on_the_loop(loop: Loop) -> None:
    pool = ReadPool(World().open, loop.post)  # type: ignore[arg-type]
    got: list[Any] = []
    where: list[int] = []
    pool.ask("rows", lambda archive: (where.append(threading.get_ident()), archive.entries())[1], got.append, fail)
    wait_for(lambda: bool(loop.posted))
    assert got == []
    loop.run()
    assert got == [1204]
    assert where != [threading.get_ident()]
    pool.close()


def test_an_older_question_is_interrupted_and_never_answered(loop: Loop) -> None:
    world = World()
    world.delay = 30
    pool = ReadPool(world.open, loop.post)  # type: ignore[arg-type]
    got: list[Any] = []
    pool.ask("rows", lambda archive: archive.session(0).title, got.append, fail)
    wait_for(lambda: bool(world.asked))
    world.delay = 0
    pool.ask("rows", lambda archive: archive.session(1).title, got.append, fail)
    wait_for(lambda: bool(loop.posted))
    loop.run()
    assert got == ["Bump the parser to v4"]
    pool.close()


def test_an_answer_on_its_way_is_dropped_when_the_question_changes(loop: Loop) -> None:
    pool = ReadPool(World().open, loop.post)  # type: ignore[arg-type]
    got: list[Any] = []
    pool.ask("rows", lambda _archive: "old", got.append, fail)
    wait_for(lambda: bool(loop.posted))
    pool.ask("rows", lambda _archive: "new", got.append, fail)
    wait_for(lambda: len(loop.posted) == 2)
    loop.run()
    assert got == ["new"]
    pool.close()


def test_a_slow_count_does_not_hold_up_rows(loop: Loop) -> None:
    release = threading.Event()
    pool = ReadPool(World().open, loop.post)  # type: ignore[arg-type]
    got: list[str] = []
    for channel in ("count", "density", "other"):
        pool.ask(channel, lambda _archive: release.wait(5), lambda _done: got.append("slow"), fail, slow=True)
    pool.ask("rows", lambda _archive: "rows", got.append, fail)
    wait_for(lambda: bool(loop.posted))
    loop.run()
    assert got == ["rows"]
    assert not pool.idle
    release.set()
    wait_for(lambda: len(loop.posted) == 3)
    assert not pool.idle
    loop.run()
    assert pool.idle
    pool.close()


def test_an_error_is_handed_over_and_the_thread_goes_on(loop: Loop) -> None:
    pool = ReadPool(World().open, loop.post)  # type: ignore[arg-type]
    got: list[Any] = []

    def broken(_archive: Any) -> None:
        raise ZeroDivisionError("no")

    for _ in range(3):
        pool.ask("rows", broken, fail, got.append)
        wait_for(lambda: bool(loop.posted))
        loop.run()
    pool.ask("rows", lambda _archive: "fine", got.append, fail)
    wait_for(lambda: bool(loop.posted))
    loop.run()
    assert [type(each) for each in got] == [ZeroDivisionError] * 3 + [str]
    pool.close()


def test_two_threads_read_each_with_a_connection_of_its_own(loop: Loop) -> None:
    world = World()
    opened: list[int] = []

    def opener() -> Any:
        opened.append(threading.get_ident())
        return world.open()

    pool = ReadPool(opener, loop.post)
    for number in range(40):
        pool.ask(number, lambda archive: archive.session(0), lambda _row: None, fail)
    wait_for(lambda: len(loop.posted) == 40)
    loop.run()
    assert pool.idle
    assert len(set(opened)) == len(opened) <= 2
    pool.close()


def test_reopening_answers_from_the_new_store_only(loop: Loop) -> None:
    small, large = World(3), World(9)
    pool = ReadPool(small.open, loop.post)  # type: ignore[arg-type]
    got: list[int] = []
    pool.ask("count", lambda archive: archive.count_sessions().value, got.append, fail)
    wait_for(lambda: bool(loop.posted))
    pool.reopen(large.open)  # type: ignore[arg-type]
    pool.ask("again", lambda archive: archive.count_sessions().value, got.append, fail)
    wait_for(lambda: len(loop.posted) == 2)
    loop.run()
    assert got == [9]
    pool.close()


def test_a_closed_pool_answers_nothing(loop: Loop) -> None:
    pool = ReadPool(World().open, loop.post)  # type: ignore[arg-type]
    pool.close()
    pool.ask("rows", lambda _archive: 1, fail, fail)
    assert pool.idle
