"""Lists paged by key: every row exactly once, both ways, under every filter; and never by reading a whole table."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from invented_store import Invented, number

from storage.archive import Archive, EventFilter, SessionFilter
from storage.queries import sessions, timeline
from storage.queries.connection import ReadConnection

KINDS = ("note", "user.message", "tool.intent", "tool.finished", "error")
SORTS = ("started", "ended", "title", "events", "turns", "tokens", "problems")
WORDS = ("", "A%c", "a_c", "ÉTÉ", "plain", "\\")


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Invented]:
    """A session of 300 events on 40 instants, in three lanes, with a rewind, and another session between them."""
    invented = Invented(tmp_path_factory.mktemp("paging"))
    invented.insert(
        "turn",
        [
            {"session": 1, "turn": turn, "key": str(turn), "n": number(turn * 3, 0), "sort": turn, "parent": turn - 1,
             "branch": 1 if turn in (4, 5) else 0}
            for turn in range(1, 11)
        ],
    )  # fmt: skip
    invented.insert(
        "lane",
        [
            {"session": 1, "lane": lane, "name": str(lane), "title": None, "parent": None, "depth": 0, "turn": turn,
             "spawn": None, "events": 0}
            for lane, turn in ((0, None), (1, 4), (2, 7), (3, None))
        ],
    )  # fmt: skip
    invented.events(
        *(
            {
                "n": number(i % 37 + 1, i),
                "session": 1 if i % 7 else 2,
                "sort": i * 11 % 40 if i > 3 else -(1 << 62),
                "lane": i % 9 if i % 9 < 4 else 0,
                "turn": i % 11 if i % 9 in (0, 4, 5, 6, 7, 8) else 0,
                "kind": KINDS[i * 3 % 5],
                "tool": "A%C run" if i % 13 == 0 else None,
                "summary": WORDS[i % 6].lower() + " text",
                "problem": int(i % 8 == 0),
            }
            for i in range(350)
        )
    )
    invented.sessions(
        *(
            {
                "no": no,
                "title": f"{WORDS[no % 6]} {no % 3}",
                "project": ("build", "web", None)[no % 3],
                "started": no % 5 * 100,
                "ended": no % 5 * 100 + no % 4 * 60,
                "timed": int(no % 17 != 0),
                "events": no % 6,
                "turns": no % 2,
                "tokens": no % 4,
                "problems": max(no % 7 - 4, 0),
                "checked": ("passed", "failed", None)[no % 3],
            }
            for no in range(1, 61)
        )
    )
    yield invented
    invented.close()


@pytest.fixture(scope="module")
def archive(store: Invented) -> Iterator[Archive]:
    with Archive.open(store.path) as opened:
        yield opened


def walk(page: Callable[..., Any], limit: int, direction: str) -> list[Any]:
    """Every row of a list, page by page, from one end to the other; in list order."""
    pages = []
    cursor = None
    for _ in range(10_000):
        found = page(cursor=cursor, direction=direction, limit=limit)
        pages.append(found)
        assert len(found.rows) <= limit
        cursor = found.after if direction == "after" else found.before
        first, last = (found.before, found.after) if direction == "after" else (found.after, found.before)
        assert (first is None) == (len(pages) == 1)
        if last is None:
            break
        assert len(found.rows) == limit
    if direction == "before":
        pages.reverse()
    return [row for found in pages for row in found.rows]


EVENT_FILTERS = st.builds(
    EventFilter,
    text=st.sampled_from(["", "a%c", "été", "TEXT", "a_c", "\\", "nothing has this", "a%c run"]),
    kinds=st.none() | st.frozensets(st.sampled_from(KINDS)),
    hide_kinds=st.frozensets(st.sampled_from(KINDS), max_size=3),
    lanes=st.none() | st.frozensets(st.integers(0, 4)),
    abandoned=st.booleans(),
    problems_only=st.booleans(),
)
SESSION_FILTERS = st.builds(
    SessionFilter,
    text=st.sampled_from(["", "a%c", "été", "a_c", "\\", "nothing has this"]),
    project=st.sampled_from([None, "build", ""]),
    since=st.none() | st.integers(0, 500),
    until=st.none() | st.integers(0, 500),
    check=st.sampled_from([None, "passed", "failed", "none"]),
    problems_only=st.booleans(),
)


def keeps(row: Any, turn_of_lane: dict[int, int | None], wanted: EventFilter) -> bool:
    """The meaning of an event filter in plain words, for rows as the table holds them."""
    turn = turn_of_lane[row["lane"]] if row["lane"] else row["turn"]
    words = (row["summary"] + "\n" + (row["tool"] or "")).lower()
    return (
        wanted.text.lower() in words
        and (wanted.kinds is None or row["kind"] in wanted.kinds)
        and row["kind"] not in wanted.hide_kinds
        and (wanted.lanes is None or row["lane"] in wanted.lanes)
        and (wanted.abandoned or turn not in (4, 5))
        and (not wanted.problems_only or bool(row["problem"]))
    )


def expected_events(store: Invented, wanted: EventFilter) -> list[int]:
    columns = ("n", "session", "sort", "lane", "turn", "kind", "summary", "tool", "problem")
    rows = [
        dict(zip(columns, found, strict=True))
        for found in store.connection.execute(f"SELECT {', '.join(columns)} FROM event WHERE session = 1")
    ]
    turns = {0: None, 1: 4, 2: 7, 3: None}
    rows.sort(key=lambda row: (row["sort"], row["n"]))
    return [row["n"] for row in rows if keeps(row, turns, wanted)]


@settings(max_examples=80)
@given(wanted=EVENT_FILTERS, limit=st.integers(1, 40))
def test_paging_events_either_way_gives_every_event_once_in_order(
    store: Invented, archive: Archive, wanted: EventFilter, limit: int
) -> None:
    expected = expected_events(store, wanted)

    def page(**how: Any) -> Any:
        return archive.events(1, wanted, **how)

    assert [row.key for row in walk(page, limit, "after")] == expected
    assert [row.key for row in walk(page, limit, "before")] == expected
    assert archive.count_events(1, wanted).value == len(expected)


@given(wanted=EVENT_FILTERS, limit=st.integers(1, 30), data=st.data())
def test_a_page_from_any_row_of_any_list_stands_around_that_row(
    store: Invented, archive: Archive, wanted: EventFilter, limit: int, data: st.DataObject
) -> None:
    """The cursor's row need not pass the filter: a list is opened where another one stood."""
    every = expected_events(store, EventFilter())
    expected = expected_events(store, wanted)
    here = data.draw(st.sampled_from(every))
    row = archive.event(here)
    cursor = archive.cursor_of(row)
    order = {key: place for place, key in enumerate(every)}
    earlier = [key for key in expected if order[key] < order[here]]
    from_here = [key for key in expected if order[key] >= order[here]]
    later = [key for key in from_here if key != here]

    found = archive.events(1, wanted, cursor=cursor, inclusive=True, limit=limit)
    assert [each.key for each in found.rows] == from_here[:limit]
    if found.rows:
        assert (found.before is not None) == bool(earlier)
        assert (found.after is not None) == (len(from_here) > limit)
    found = archive.events(1, wanted, cursor=cursor, limit=limit)
    assert [each.key for each in found.rows] == later[:limit]
    found = archive.events(1, wanted, cursor=cursor, direction="before", limit=limit)
    assert [each.key for each in found.rows] == earlier[-limit:]
    found = archive.events(1, wanted, cursor=cursor, direction="before", inclusive=True, limit=limit)
    assert [each.key for each in found.rows] == [key for key in expected if key not in later][-limit:]
    assert archive.position(1, row, wanted) == len(earlier)


@given(wanted=EVENT_FILTERS, position=st.integers(-2, 320))
def test_event_at_is_the_inverse_of_position(
    store: Invented, archive: Archive, wanted: EventFilter, position: int
) -> None:
    expected = expected_events(store, wanted)
    row = archive.event_at(1, position, wanted)
    if 0 <= position < len(expected):
        assert row is not None
        assert row.key == expected[position]
        assert archive.position(1, row, wanted) == position
    else:
        assert row is None


@settings(max_examples=80)
@given(wanted=SESSION_FILTERS, sort=st.sampled_from(SORTS), descending=st.booleans(), limit=st.integers(1, 25))
def test_paging_sessions_in_any_order_gives_every_session_once(
    archive: Archive, store: Invented, wanted: SessionFilter, sort: Any, descending: bool, limit: int
) -> None:
    def page(**how: Any) -> Any:
        return archive.sessions(wanted, sort=sort, descending=descending, **how)

    forward = walk(page, limit, "after")
    assert [row.key for row in walk(page, limit, "before")] == [row.key for row in forward]
    assert {row.key for row in forward} == {no for no in range(1, 61) if _keeps(archive.session(no), wanted)}
    assert len({row.key for row in forward}) == len(forward) == archive.count_sessions(wanted).value
    order = dict(store.connection.execute(f"SELECT no, {sort} FROM session"))
    keys = [(order[row.key], row.key) for row in forward]
    assert keys == sorted(keys, reverse=descending)
    for place, row in enumerate(forward[:5]):
        assert archive.session_position(row.key, wanted, sort=sort, descending=descending) == place


def _keeps(row: Any, wanted: SessionFilter) -> bool:
    words = "\n".join((row.title, row.project or "", row.native, row.uid)).lower()
    return (
        wanted.text.lower() in words
        and (wanted.project is None or wanted.project == (row.project or ""))
        and (wanted.since is None or (row.ended is not None and row.ended >= wanted.since))
        and (wanted.until is None or (row.started is not None and row.started < wanted.until))
        and (wanted.check is None or wanted.check == (row.check or "none"))
        and (not wanted.problems_only or row.problems > 0)
    )


def test_a_page_of_sessions_can_begin_with_a_chosen_one(archive: Archive) -> None:
    cursor = archive.session_cursor(17, "events")
    found = archive.sessions(sort="events", cursor=cursor, inclusive=True, limit=3)
    assert found.rows[0].key == 17
    assert archive.session_cursor(4_000) is None


def test_thirty_events_with_a_boundary_that_has_no_parent_are_all_reached_in_order(tmp_path: Path) -> None:
    """A compaction boundary follows nothing; a window of ten around it must neither lose nor move anything."""
    store = Invented(tmp_path)
    store.events(
        *(
            {"n": number(1, i), "sort": 1_000 + i, "kind": "compaction" if i == 14 else "note",
             "parent": None if i == 14 else i - 1}
            for i in range(30)
        )
    )  # fmt: skip
    with Archive.open(store.path) as archive:
        boundary = archive.event(number(1, 14))
        for direction in ("after", "before"):
            rows = walk(lambda **how: archive.events(1, **how), 10, direction)
            assert [row.key for row in rows] == [number(1, i) for i in range(30)]
        around = archive.events(1, cursor=archive.cursor_of(boundary), direction="before", limit=10)
        assert [row.sort for row in around.rows] == list(range(1_004, 1_014))
    store.close()


def test_instants_order_events_whatever_zone_they_were_written_in(tmp_path: Path) -> None:
    """2026-01-01T00:30+09:00 is earlier than 2025-12-31T20:00Z, though its text sorts later."""
    store = Invented(tmp_path)
    tokyo, london = 1_767_195_000_000_000, 1_767_211_200_000_000
    store.events({"n": number(1, 0), "sort": london}, {"n": number(2, 0), "sort": tokyo})
    store.sessions({"no": 1, "started": london, "ended": london}, {"no": 2, "started": tokyo, "ended": tokyo})
    with Archive.open(store.path) as archive:
        assert [row.sort for row in archive.events(1).rows] == [tokyo, london]
        assert [row.key for row in archive.sessions(descending=False).rows] == [2, 1]
        assert [row.key for row in archive.sessions(SessionFilter(since=tokyo + 1)).rows] == [1]
        assert [row.key for row in archive.sessions(SessionFilter(until=london)).rows] == [2]
    store.close()


def plans(link: ReadConnection, ask: Callable[[], object], monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The steps SQLite takes for every query that ``ask`` makes."""
    asked: list[tuple[str, Any]] = []
    plain = link.rows

    def noted(sql: str, values: Any = ()) -> list[Any]:
        asked.append((sql, values))
        return plain(sql, values)

    with monkeypatch.context() as patch:
        patch.setattr(link, "rows", noted)
        ask()
    assert asked
    return [step[3] for sql, values in asked for step in plain("EXPLAIN QUERY PLAN " + sql, values)]


@pytest.mark.parametrize("direction", ["after", "before"])
@pytest.mark.parametrize("descending", [True, False])
@pytest.mark.parametrize("sort", SORTS)
def test_every_order_of_sessions_walks_an_index(
    store: Invented, monkeypatch: pytest.MonkeyPatch, sort: Any, descending: bool, direction: str
) -> None:
    link = ReadConnection(store.path)
    for wanted in (SessionFilter(), SessionFilter(text="x", agent="affidavit", since=5, check="none")):
        for cursor in (None, sessions.cursor_of(link, 30, sort)):
            listing = sessions.listing(wanted, sort, descending)

            def ask(listing: Any = listing, cursor: Any = cursor) -> object:
                return listing.page(link, sessions.session_row, cursor, direction, True, 20)

            steps = plans(link, ask, monkeypatch)
            walks = [step for step in steps if re.match(r"(SCAN|SEARCH) s\b", step)]
            for step in walks:
                assert re.search(rf"USING (COVERING )?INDEX session_by_{sort}\b", step), step
            assert walks
            assert not [step for step in steps if step not in walks and ("SCAN" in step or "TEMP B-TREE" in step)]
    link.close()


@pytest.mark.parametrize("direction", ["after", "before"])
@pytest.mark.parametrize(
    "wanted",
    [
        EventFilter(),
        EventFilter(text="x", kinds=frozenset(KINDS), hide_kinds=frozenset({"note"}), lanes=frozenset({1})),
        EventFilter(abandoned=False),
        EventFilter(problems_only=True),
    ],
    ids=["all", "words", "main chain", "problems"],
)
def test_every_list_of_events_walks_an_index(
    store: Invented, monkeypatch: pytest.MonkeyPatch, wanted: EventFilter, direction: str
) -> None:
    link = ReadConnection(store.path)
    index = "event_problem" if wanted.problems_only else "event_in_order"
    for cursor in (None, (20, number(3, 3))):

        def ask(cursor: Any = cursor) -> object:
            listing = timeline.listing(link, 1, wanted)
            return listing.page(link, timeline.event_row, cursor, direction, False, 20)

        steps = plans(link, ask, monkeypatch)
        assert [step for step in steps if step.startswith(f"SEARCH e USING INDEX {index} (session=?")]
        assert not [step for step in steps if step.startswith("SCAN") or "TEMP B-TREE" in step]
    link.close()


def test_a_page_among_rows_of_one_instant_is_found_by_its_row_number(
    store: Invented, monkeypatch: pytest.MonkeyPatch
) -> None:
    link = ReadConnection(store.path)
    listing = timeline.listing(link, 1, EventFilter())
    steps = plans(link, lambda: listing.walk(link, (20, number(3, 3)), False, False, 5), monkeypatch)
    assert any(re.search(r"session=\? AND sort=\? AND (n|rowid)>\?", step) for step in steps), steps
    link.close()
