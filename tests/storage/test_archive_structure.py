"""What a session is made of: turns, lanes, time, jumps, children; and how sessions and events are found by id."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from invented_store import Invented, number

from affidavit.session.event import event_hex
from storage.archive import Archive, Interrupted
from storage.queries.models import Tokens
from storage.store import StoreError


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Invented]:
    invented = Invented(tmp_path)
    yield invented
    invented.close()


def turn(turn: int, n: int, sort: int, parent: int = 0, branch: int = 0) -> dict[str, Any]:
    return {"session": 1, "turn": turn, "key": str(turn), "n": n, "sort": sort, "parent": parent, "branch": branch}


def lane(lane: int, **columns: Any) -> dict[str, Any]:
    return {
        "session": 1, "lane": lane, "name": f"a{lane}", "title": None, "parent": None, "depth": None, "turn": None,
        "spawn": None, "events": 0, **columns,
    }  # fmt: skip


# ------------------------------------------------------------------------------------------------- an event's place


def test_an_event_of_a_sub_agent_has_the_turn_and_branch_its_lane_began_in(store: Invented) -> None:
    store.insert("turn", [turn(1, 10, 10), turn(2, 20, 20, 1, branch=3)])
    store.insert("lane", [lane(0), lane(1, turn=2), lane(2)])
    store.events({"n": 5}, {"n": 10, "turn": 1}, {"n": 20, "turn": 2}, {"n": 30, "lane": 1}, {"n": 40, "lane": 2})
    with Archive.open(store.path) as archive:
        places = {row.key: (row.turn, row.branch, row.lane, row.abandoned) for row in archive.events(1).rows}
    assert places == {
        5: (0, 0, 0, False),
        10: (1, 0, 0, False),
        20: (2, 3, 0, True),
        30: (2, 3, 1, True),
        40: (0, 0, 2, False),
    }


def test_tokens_and_outcomes_are_shown_as_recorded_and_absent_ones_as_absent(store: Invented) -> None:
    store.events({"n": 1, "ok": 0, "flags": "shape nul", "inferred": 1}, {"n": 2, "ok": 1}, {"n": 3})
    store.insert(
        "usage",
        [{"session": 1, "message": 7, "n": 1, "model": "m", "tokens_in": 1, "tokens_out": 2, "cache_read": 3,
          "cache_write": 4}],
    )  # fmt: skip
    with Archive.open(store.path) as archive:
        first, second, third = archive.events(1).rows
    assert first.tokens == Tokens(1, 2, 3, 4)
    assert (first.ok, first.flags, first.inferred) == (False, ("shape", "nul"), True)
    assert (second.ok, second.tokens, second.flags, second.inferred) == (True, None, (), False)
    assert third.ok is None


def test_turns_stand_in_the_order_of_the_timeline_with_their_counts(store: Invented) -> None:
    store.insert("turn", [turn(1, 10, 30), turn(2, 20, 20, 1, branch=1), turn(3, 25, 40)])
    store.insert("lane", [lane(0), lane(1, turn=1)])
    store.events(
        {"n": 1},
        {"n": 10, "sort": 30, "turn": 1, "summary": "do it", "at": None},
        {"n": 11, "sort": 31, "turn": 1, "problem": 1},
        {"n": 20, "sort": 20, "turn": 2},
        {"n": 31, "sort": 32, "lane": 1, "problem": 1},
    )
    with Archive.open(store.path) as archive:
        found = archive.turns(1)
        assert [(row.turn, row.key, row.branch, row.events, row.problems) for row in found] == [
            (0, None, 0, 1, 0),
            (2, 20, 1, 1, 0),
            (1, 10, 0, 3, 2),
            (3, None, 0, 0, 0),
        ]
        assert [(row.summary, row.at) for row in found[1:3]] == [("event 20", 20), ("do it", None)]
        assert sum(row.events for row in found) == len(archive.events(1).rows)
        start = archive.turn_start(1, 2)
        assert start is not None
        assert start.key == 20
        assert archive.turn_start(1, 4) is None


def test_lanes_are_given_as_they_hang_together(store: Invented) -> None:
    store.insert("lane", [lane(1, parent=0, depth=1, turn=2, spawn=99, title="look", events=4), lane(0)])
    with Archive.open(store.path) as archive:
        main, sub = archive.lanes(1)
        assert (main.lane, main.depth, main.parent) == (0, 0, None)
        assert (sub.name, sub.title, sub.parent, sub.depth, sub.turn, sub.events, sub.spawn) == (
            "a1", "look", 0, 1, 2, 4, 99,
        )  # fmt: skip


def test_events_of_one_lane_are_paged_alone(store: Invented) -> None:
    store.insert("lane", [lane(0), lane(1)])
    store.events(*({"n": n, "lane": n % 2} for n in range(1, 21)))
    with Archive.open(store.path) as archive:
        first = archive.lane_events(1, 1, limit=6)
        rest = archive.lane_events(1, 1, cursor=first.after)
        assert [row.key for row in (*first.rows, *rest.rows)] == list(range(1, 21, 2))


# --------------------------------------------------------------------------------------------------------- jumping


def test_jumps_reach_every_problem_and_every_prompt_once_from_either_end(store: Invented) -> None:
    store.events(*({"n": n, "sort": n // 3, "problem": int(n % 5 == 0)} for n in range(1, 61)))
    store.insert("turn", [turn(t, t * 7, t * 7 // 3) for t in range(1, 9)])
    with Archive.open(store.path) as archive:
        for jump, expected in (
            (archive.problem, list(range(5, 61, 5))),
            (archive.prompt, list(range(7, 57, 7))),
        ):
            for direction in ("after", "before"):
                seen, cursor = [], None
                while (row := jump(1, cursor, direction)) is not None:
                    seen.append(row.key)
                    cursor = archive.cursor_of(row)
                assert seen == (expected if direction == "after" else expected[::-1])
        between = archive.cursor_of(archive.event(8))
        after, before = archive.prompt(1, between, "after"), archive.prompt(1, between, "before")
        assert (after and after.key, before and before.key) == (14, 7)


def test_children_are_the_observation_and_what_follows_the_record_even_after_a_rewind(store: Invented) -> None:
    call, other, result, follower = number(1, 0, 1), number(1, 0, 0), number(1, 1), number(1, 2)
    far = number(900, 0)
    parent = 4242
    store.events(
        {"n": other, "sort": 1, "id": parent, "turn": 1},
        {"n": call, "sort": 1, "kind": "tool.intent", "pair": result, "turn": 1},
        {"n": result, "sort": 2, "kind": "tool.finished", "pair": call, "parent": parent, "turn": 1},
        {"n": follower, "sort": 3, "parent": 77, "turn": 1},
        *({"n": number(2, n // 3, n % 3), "sort": 5, "parent": 77, "turn": 1} for n in range(3_000)),
        *({"n": number(3, n // 3, n % 3), "sort": 5, "parent": 77, "turn": 1} for n in range(3_000)),
        {"n": far, "sort": 9, "parent": parent, "turn": 2},
    )
    store.insert("turn", [turn(1, other, 1), turn(2, far, 9, parent=1)])
    with Archive.open(store.path) as archive:
        assert [row.key for row in archive.children(call)] == [result, far]
        assert [row.key for row in archive.children(other)] == [result, far]
        assert archive.children(result) == []


# ------------------------------------------------------------------------------------------------------------ time


@given(
    sorts=st.lists(st.integers(0, 50) | st.just(-(1 << 62)), max_size=40),
    slices=st.integers(1, 20),
)
def test_density_counts_every_event_once_in_the_part_its_time_lies_in(
    sorts: list[int], slices: int, tmp_path_factory: pytest.TempPathFactory
) -> None:
    store = Invented(tmp_path_factory.mktemp("density"))
    store.events(*({"n": n + 1, "sort": sort, "problem": n % 3 // 2} for n, sort in enumerate(sorts)))
    with Archive.open(store.path) as archive:
        found = archive.density(1, slices)
    store.close()
    timed = [sort for sort in sorts if sort >= 0]
    start, length = (min(timed), max(timed) - min(timed)) if timed else (0, 0)
    expected = [[0, 0] for _ in range(slices)]
    for n, sort in enumerate(sorts):
        part = 0 if sort < 0 or not length else min((sort - start) * slices // length, slices - 1)
        expected[part][0] += 1
        expected[part][1] += n % 3 // 2
    assert [list(part) for part in found] == expected


# --------------------------------------------------------------------------------------------------------- finding


def test_a_session_is_found_by_the_beginning_of_either_id_and_a_whole_id_means_itself(store: Invented) -> None:
    store.sessions(
        {"no": 1, "native": "abc"},
        {"no": 2, "native": "abcdef"},
        {"no": 3, "native": "ABC9", "format": "claude-code"},
        {"no": 4, "native": "a%c"},
    )
    with Archive.open(store.path) as archive:
        uids = {row.key: row.uid for row in archive.sessions().rows}
        assert {row.key for row in archive.find_sessions("ab")} == {1, 2}
        assert [row.key for row in archive.find_sessions("abc")] == [1]
        assert [row.key for row in archive.find_sessions("ABC")] == [3]
        assert [row.key for row in archive.find_sessions("a%")] == [4]
        for key, uid in uids.items():
            assert [row.key for row in archive.find_sessions(uid[:9].upper())] == [key]
        for nothing in ("", "zz", "%", "\ud800", "\0", "a" * 100_000):
            assert archive.find_sessions(nothing) == []


def test_at_most_twenty_sessions_are_found(store: Invented) -> None:
    store.sessions(*({"no": no, "native": f"same-{no}"} for no in range(1, 40)))
    with Archive.open(store.path) as archive:
        assert len(archive.find_sessions("same-")) == 20


@given(ids=st.sets(st.integers(-(1 << 63), (1 << 63) - 1), min_size=1, max_size=8), digits=st.integers(1, 16))
def test_an_event_is_found_by_any_beginning_of_its_hex_digits(
    ids: set[int], digits: int, tmp_path_factory: pytest.TempPathFactory
) -> None:
    store = Invented(tmp_path_factory.mktemp("ids"))
    store.events(*({"n": n + 1, "id": id} for n, id in enumerate(sorted(ids))))
    store.events({"n": 100, "id": min(ids), "session": 2})
    with Archive.open(store.path) as archive:
        for id in ids:
            prefix = event_hex(id)[:digits]
            expected = {other for other in ids if event_hex(other).startswith(prefix)}
            assert {row.id for row in archive.find_event(1, prefix.upper())} == expected
            found = archive.event_by_id(id)
            assert found is not None
            assert found.id == id
    store.close()


def test_an_event_is_looked_for_by_its_id_and_not_through_its_whole_session(store: Invented) -> None:
    with Archive.open(store.path) as archive:
        asked = []
        plain = archive._link.rows
        archive._link.rows = lambda sql, values=(): asked.append((sql, values)) or []  # type: ignore[method-assign]
        archive.find_event(1, "abc")
        ((sql, values),) = asked
        steps = [step[3] for step in plain("EXPLAIN QUERY PLAN " + sql, values)]
    assert steps[0].startswith("SEARCH e USING INDEX event_by_id")
    assert not any("TEMP B-TREE" in step for step in steps)


def test_what_is_no_hex_finds_no_event(store: Invented) -> None:
    store.events({"n": 1})
    with Archive.open(store.path) as archive:
        for nothing in ("", "g", "0" * 17, "-1", "٣", " 1"):
            assert archive.find_event(1, nothing) == []


def test_facets_count_what_a_filter_of_the_same_value_finds(store: Invented) -> None:
    from storage.archive import SessionFilter

    store.sessions(
        {"no": 1, "project": "a", "checked": "passed"},
        {"no": 2, "project": "a"},
        {"no": 3, "checked": "failed", "format": "claude-code"},
        {"no": 4, "project": "b"},
        {"no": 5, "project": "a"},
    )
    with Archive.open(store.path) as archive:
        assert archive.facet("project") == [("a", 3), ("", 1), ("b", 1)]
        assert archive.facet("check") == [("none", 3), ("failed", 1), ("passed", 1)]
        assert archive.facet("agent") == [("affidavit", 4), ("claude-code", 1)]
        for name in ("project", "check", "agent"):
            for value, count in archive.facet(name):  # type: ignore[arg-type]
                assert archive.count_sessions(SessionFilter(**{name: value})).value == count


# ------------------------------------------------------------------------------------------------------- the store


def test_what_is_not_there_is_a_key_error(store: Invented) -> None:
    with Archive.open(store.path) as archive:
        for ask in (archive.session, archive.event, archive.detail, archive.raw, archive.children):
            with pytest.raises(KeyError):
                ask(12)
        assert archive.event_by_id(5) is None
        assert archive.events(7).rows == ()
        assert archive.density(7, 3) == [(0, 0)] * 3
        assert archive.turns(7) == archive.lanes(7) == []
        assert archive.problem(7, None, "after") is None


def test_a_changed_table_does_not_break_the_list_of_sessions(store: Invented) -> None:
    store.sessions({"no": 1, "models": "not json"}, {"no": 2, "models": "5"}, {"no": 3, "models": '["m", "n"]'})
    with Archive.open(store.path) as archive:
        assert {row.key: row.models for row in archive.sessions().rows} == {1: (), 2: (), 3: ("m", "n")}


def test_a_missing_or_foreign_file_is_refused_and_none_is_made(tmp_path: Path) -> None:
    with pytest.raises(StoreError):
        Archive.open(str(tmp_path / "none.db"))
    assert list(tmp_path.iterdir()) == []
    (tmp_path / "text.db").write_text("no database at all, but long enough to be looked at" * 40)
    with pytest.raises(StoreError) as refused:
        Archive.open(str(tmp_path / "text.db"))
    assert refused.value.hint


def test_another_writers_commit_changes_the_data_version(store: Invented) -> None:
    with Archive.open(store.path) as archive:
        before = archive.data_version()
        assert archive.data_version() == before
        store.events({"n": 1})
        assert archive.data_version() != before
        assert [row.key for row in archive.events(1).rows] == [1]


def test_a_running_query_is_interrupted_from_another_thread_and_the_next_one_runs(store: Invented) -> None:
    store.events(*({"n": n, "summary": "É" * 150} for n in range(1, 60_001)))
    from storage.archive import EventFilter

    with Archive.open(store.path) as archive:
        stop = threading.Event()

        def keep_interrupting() -> None:
            while not stop.wait(0.002):
                archive.interrupt()

        def ask_often() -> None:
            for _ in range(200):
                archive.count_events(1, EventFilter(text="é" * 151))

        thread = threading.Thread(target=keep_interrupting)
        thread.start()
        began = time.monotonic()
        try:
            with pytest.raises(Interrupted):
                ask_often()
        finally:
            stop.set()
            thread.join()
        assert time.monotonic() - began < 5
        assert archive.count_events(1, EventFilter(text="é" * 150)).value == 60_000
    archive.interrupt()


def test_nothing_an_archive_does_can_write(store: Invented) -> None:
    with Archive.open(store.path) as archive, pytest.raises(StoreError):
        archive._link.rows("DELETE FROM event")
