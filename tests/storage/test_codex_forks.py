"""Forks and sub-agents of Codex: the history they took along is theirs, marked as inherited, and paid for once."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import permutations
from pathlib import Path
from typing import Any

import codex_fixtures as log
import pytest
from kept import assert_holds, assert_same, dicts, meaning, rows, store_in, take, write

from storage import importing
from storage.archive import Archive
from storage.rebuild import rebuild
from storage.redact import redact

Records = Sequence[dict[str, Any]]

PARENT = "019aaaaa-0000-7000-8000-000000000009"
"""Made at the same time as the child, so that it tells nothing of the turns' ids."""

CUSTODY = ("source", "repeated", "fork", "copied")


def parent() -> list[dict[str, Any]]:
    """A session of two requests, 50 and 70 tokens out."""
    return [
        log.opened(id=PARENT, cwd="/w/other"),
        log.notice("task_started", 1, turn_id="t1"),
        log.said("user", 2, "Find the parser"),
        log.said("assistant", 3, "It is in src/parse.py"),
        log.spent(4, 1000, 600, 50, (1000, 600, 50)),
        log.said("assistant", 5, "Going on"),
        log.spent(6, 1500, 1200, 70, (2500, 1800, 120)),
    ]


def own() -> list[dict[str, Any]]:
    """What the fork does itself: one request, 9 tokens out, after the last totals are told again."""
    return [
        log.notice("task_started", 100, turn_id="t9"),
        log.spent(100, 1500, 1200, 70, (2500, 1800, 120)),
        log.said("user", 101, "Now test it"),
        log.said("assistant", 102, "It works"),
        log.spent(103, 10, 0, 9, (2510, 1800, 129)),
    ]


def again(records: Records, second: int = 60) -> list[dict[str, Any]]:
    """The same records written anew: at other times."""
    return [{**record, "timestamp": log.at(second)} for record in records]


def numbered(records: Records) -> list[dict[str, Any]]:
    return [{**record, "ordinal": number} for number, record in enumerate(records)]


def opening(**more: Any) -> dict[str, Any]:
    return {**log.opened(**{"timestamp": log.at(60), **more}), "timestamp": log.at(60)}


def spawned(**more: Any) -> dict[str, Any]:
    source = {"subagent": {"thread_spawn": {"parent_thread_id": PARENT, "depth": 1}}}
    return opening(source=source, parent_thread_id=PARENT, **more)


def folds(path: str) -> dict[str, list[Any]]:
    return {name: found for name, found in meaning(path).items() if name not in CUSTODY}


def inherited(path: str, native: str = log.THREAD) -> list[str]:
    """Summaries of a session's inherited events; they are its first."""
    query = "SELECT e.summary, e.flags FROM event e JOIN session s ON s.no = e.session WHERE s.native = ? ORDER BY e.n"
    found = rows(path, query, (native,))
    marked = [summary for summary, flags in found if "inherited" in flags.split()]
    places = [place for place, (_, flags) in enumerate(found) if "inherited" in flags.split()]
    assert not places or places == list(range(places[0], places[0] + len(places)))
    return marked


def tokens(path: str) -> dict[str, tuple[int, int, int]]:
    query = "SELECT native, tokens_in, tokens_out, cache_read FROM session"
    return {native: tuple(counts) for native, *counts in rows(path, query)}


COPIED = [
    f"history copied from session {PARENT}", "task started", "Find the parser", "It is in src/parse.py",
    "tokens: 1000 in (600 from the cache), 50 out", "Going on", "tokens: 1500 in (1200 from the cache), 70 out",
]  # fmt: skip
OWN = (10, 9, 0)
PAID = (700, 120, 1800)


def stored(folder: Path, files: dict[str, Records], order: Sequence[str]) -> str:
    with store_in(folder) as store:
        for name in order:
            take(store, write(folder / "logs", log.written(list(files[name])), name))
        path = store.path
        assert_holds(path)
        as_read = meaning(path)
        rebuild(store)
        assert_same(as_read, meaning(path))
    return path


def test_where_its_own_records_begin_a_log_may_say_itself(tmp_path: Path) -> None:
    records = numbered([spawned(subagent_history_start_ordinal=8), *again(parent()), *again(own())])
    path = stored(tmp_path, {log.NAME: records}, [log.NAME])
    assert inherited(path) == COPIED
    assert tokens(path) == {log.THREAD: OWN}


def test_where_no_places_are_stated_they_are_counted(tmp_path: Path) -> None:
    records = [spawned(subagent_history_start_ordinal=8), *again(parent()), *again(own())]
    path = stored(tmp_path, {log.NAME: records}, [log.NAME])
    assert inherited(path) == COPIED
    assert tokens(path) == {log.THREAD: OWN}


def test_what_is_older_than_the_fork_was_copied(tmp_path: Path) -> None:
    records = [opening(forked_from_id=PARENT), *parent(), *own()]
    path = stored(tmp_path, {log.NAME: records}, [log.NAME])
    assert inherited(path) == COPIED
    assert tokens(path) == {log.THREAD: OWN}
    with Archive.open(path) as archive:
        (session,) = archive.sessions().rows
        flags = [detail.row.flags for detail in archive.iter_events(session.key)]
    assert sum("inherited" in words for words in flags) == len(COPIED)


@pytest.mark.parametrize("meta", [True, False])
def test_turns_made_before_the_fork_were_copied(tmp_path: Path, *, meta: bool) -> None:
    """Ids of turns have their time in them, whatever time stands beside them."""
    before, after = "019aaaa9-ffff-7000-8000-00000000000a", "019aaaaa-0001-7000-8000-00000000000b"
    copied = [{**record, "payload": {**record["payload"], "turn_id": before}} if place == 1 else record
              for place, record in enumerate(parent())]  # fmt: skip
    new = own()
    new[0]["payload"]["turn_id"] = after
    records = [opening(forked_from_id=PARENT), *again(copied[0 if meta else 1 :]), *again(new)]
    path = stored(tmp_path, {log.NAME: records}, [log.NAME])
    assert inherited(path) == COPIED[0 if meta else 1 :]
    assert tokens(path) == {log.THREAD: OWN}


def test_a_fork_alone_whose_log_does_not_tell_keeps_all_as_its_own(tmp_path: Path) -> None:
    """Nothing is counted twice where the other log is not there; what is sure is marked."""
    records = [opening(forked_from_id=PARENT), *again(parent()), *again(own())]
    path = stored(tmp_path, {log.NAME: records}, [log.NAME])
    assert inherited(path) == COPIED[:1]
    assert tokens(path) == {log.THREAD: (710, 129, 1800)}


def family() -> dict[str, Records]:
    """A session, a fork of it that was written anew, a copy of the fork's log made early, and a fork of the fork."""
    fork = [opening(forked_from_id=PARENT), *again(parent()), *again(own(), 61)]
    name = log.THREAD[:-1] + "2"
    second = [
        {**log.opened(id=name, forked_from_id=log.THREAD, timestamp=log.at(200)), "timestamp": log.at(200)},
        *again(fork, 200),
        *[{**record, "timestamp": log.at(201)} for record in (log.notice("task_started", 1, turn_id="t77"),)],
        log.spent(202, 3, 0, 2, (2513, 1800, 131)),
    ]
    return {
        "parent.jsonl": parent(),
        log.NAME: fork,
        "early.jsonl": fork[:5],
        f"rollout-2026-05-14T11-00-00-{name}.jsonl": second,
    }


@pytest.mark.parametrize("batch", [1, 3, 4_000])
def test_the_other_sessions_own_records_tell_in_whatever_order_they_are_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, batch: int
) -> None:
    files = family()
    last = list(files)[-1]
    first = None
    for order in list(permutations(files))[:: 1 if batch == 4_000 else 5]:
        monkeypatch.setattr(importing, "BATCH_RECORDS", batch)
        folder = tmp_path / "-".join(str(list(files).index(name)) for name in order)
        path = stored(folder, files, order)
        assert inherited(path) == COPIED
        assert tokens(path) == {PARENT: PAID, log.THREAD: OWN, last[28:-6]: (3, 2, 0)}
        assert len(inherited(path, last[28:-6])) == 1 + len(COPIED) + len(own())
        told = {
            name: [row.replace(str(folder), "") for row in rows if name != "event"]
            for name, rows in folds(path).items()
        }
        marks = sorted(rows_of(path))
        first = first or (told["session"] and None, marks)
        assert marks == first[1]


def rows_of(path: str) -> list[tuple[Any, ...]]:
    query = "SELECT s.native, e.id, e.flags, e.turn, e.copies FROM event e JOIN session s ON s.no = e.session"
    return rows(path, query)


def test_a_log_read_as_it_grows_says_what_it_says_at_once(tmp_path: Path) -> None:
    fork = log.written([opening(forked_from_id=PARENT), *again(parent()), *again(own(), 61)])
    other = log.written(parent())
    with store_in(tmp_path, "once.db") as once, store_in(tmp_path, "grown.db") as grown:
        for part in (3, 5, 6):
            take(grown, write(tmp_path / "logs", fork[: len(fork) * part // 6], log.NAME))
            take(grown, write(tmp_path / "logs", other[: len(other) * part // 6], "parent.jsonl"))
        take(once, write(tmp_path / "logs", fork, log.NAME))
        take(once, write(tmp_path / "logs", other, "parent.jsonl"))
        assert_same(folds(once.path), folds(grown.path))
        assert inherited(grown.path) == COPIED
        assert_holds(grown.path)


def test_a_sub_agent_that_took_nothing_along_inherits_nothing(tmp_path: Path) -> None:
    """It begins with the same instructions as the one that started it, and those are its own."""
    rules = log.said("developer", 61, "Follow the rules")
    records = [spawned(), rules, *again(own(), 62)]
    other = [*parent()[:2], {**rules, "timestamp": log.at(1)}, *parent()[2:]]
    path = stored(tmp_path, {log.NAME: records, "parent.jsonl": other}, ["parent.jsonl", log.NAME])
    assert inherited(path) == []
    assert tokens(path)[log.THREAD] == (310, 79, 1200)


def test_what_was_erased_changes_nothing_of_what_its_log_tells(tmp_path: Path) -> None:
    records = numbered([spawned(subagent_history_start_ordinal=8), *again(parent()), *again(own())])
    path = stored(tmp_path, {log.NAME: records}, [log.NAME])
    (first, third) = (dicts(path, "SELECT n FROM event ORDER BY n")[place]["n"] for place in (0, 3))
    with store_in(tmp_path) as store:
        redact(store, [first, third], actor="ada", reason="test", clock=log.clock())
    assert len(inherited(path)) == len(COPIED)
    assert tokens(path) == {log.THREAD: OWN}
    assert_holds(path)
