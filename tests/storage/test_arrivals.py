"""What has come into a store since it was looked at: told rightly, and at the cost of what is new."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from invented_store import Invented, number

from storage.archive import Archive, EventFilter, SessionFilter
from storage.queries.connection import ReadConnection
from storage.queries.models import Arrival


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Invented]:
    """Entries 1 to 9 hold an event each, of session 1 where they are odd; three sessions, the third without events."""
    invented = Invented(tmp_path)
    invented.sessions(*({"no": no, "events": 5} for no in (1, 2, 3)))
    invented.source(1, session=1, last=9)
    invented.source(2, session=2, last=8)
    invented.source(3, session=3, last=3)
    invented.source(4, session=None, last=9)
    invented.events(
        *(
            {"n": number(entry, 0), "session": 2 - entry % 2, "sort": 100 - entry, "at": None if entry == 8 else entry}
            for entry in range(1, 10)
        )
    )
    yield invented
    invented.close()


def test_what_came_is_told_by_session_with_the_newest_time_it_recorded(store: Invented) -> None:
    with Archive.open(store.path) as archive:
        assert archive.arrivals(7) == [Arrival(1, 2, 9), Arrival(2, 1, None)]
        assert archive.arrivals(10) == []
        assert archive.touched(4) == {1, 2}
        assert archive.touched(0) == {1, 2, 3}
        assert archive.touched(10) == frozenset()


def test_lists_can_be_narrowed_to_what_is_new(store: Invented) -> None:
    with Archive.open(store.path) as archive:
        assert [row.key for row in archive.sessions(SessionFilter(newer=9)).rows] == [1]
        assert archive.count_sessions(SessionFilter(newer=8)).value == 2
        newer = EventFilter(newer=5)
        rows = archive.events(1, newer).rows
        assert [archive.entry_of(row.key) for row in rows] == [9, 7, 5], "in the order of the session's time"
        assert archive.count_events(1, newer).value == 3
        assert archive.position(1, rows[1], newer) == 1
        assert archive.events(1, newer, cursor=archive.cursor_of(rows[0]), limit=1).rows == rows[1:2]


def test_what_is_asked_at_once_sees_one_moment(store: Invented) -> None:
    with Archive.open(store.path) as archive:
        with archive.at_once():
            before = archive.count_events(1, EventFilter(newer=0)).value
            store.events({"n": number(11, 0), "session": 1, "sort": 1})
            assert archive.count_events(1, EventFilter(newer=0)).value == before
        assert archive.count_events(1, EventFilter(newer=0)).value == before + 1


def test_a_moment_ends_also_where_a_question_was_stopped(store: Invented) -> None:
    with Archive.open(store.path) as archive:
        with pytest.raises(KeyError), archive.at_once():
            archive.session(99)
        with archive.at_once():
            assert archive.session(1).key == 1
        store.events({"n": number(12, 0), "session": 1, "sort": 1})
        assert archive.count_events(1, EventFilter(newer=12)).value == 1


def test_looking_for_what_is_new_walks_only_that(store: Invented, monkeypatch: pytest.MonkeyPatch) -> None:
    link = ReadConnection(store.path)
    plain = link.rows
    steps: list[str] = []

    def planned(sql: str, values: Any = ()) -> list[Any]:
        steps.extend(step[3] for step in plain("EXPLAIN QUERY PLAN " + sql, values))
        return plain(sql, values)

    monkeypatch.setattr(link, "rows", planned)
    monkeypatch.setattr(link, "value", lambda sql, values=(): planned(sql, values)[0][0])
    archive = Archive(link)
    wanted = EventFilter(newer=5, lanes=frozenset({0}), hide_kinds=frozenset({"lifecycle"}))
    for ask in (lambda: archive.arrivals(5), lambda: archive.count_events(1, wanted)):
        steps.clear()
        ask()
        assert [step for step in steps if "event" in step or step.split()[1] == "e"] == [
            step for step in steps if "USING INTEGER PRIMARY KEY (rowid>?)" in step
        ]
        assert steps
    link.close()
