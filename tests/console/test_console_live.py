"""Sessions that are still being written: what comes into the store is seen, and nothing moves under the cursor."""

from __future__ import annotations

import asyncio
import sys
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from console_driver import Stage

from console import app as app_module
from console.app import AffidavitApp
from console.program import Program
from console.settings import Settings
from console.visits import Visits
from storage.archive import Archive
from storage.importing import Importer
from storage.store import Store

sys.path.insert(0, str(Path(__file__).parent.parent / "storage"))

import claude_fixtures as log

NOW = datetime(2026, 5, 21, 9, 0, tzinfo=UTC)


class Logs:
    """A folder of logs, and the store that another program reads them into."""

    def __init__(self, tmp_path: Path) -> None:
        self.folder = tmp_path / "logs"
        self.folder.mkdir()
        self.store = str(tmp_path / "store.db")
        self.said: dict[str, int] = {}
        self.now = NOW

    def write(self, name: str, count: int, *, ago: timedelta = timedelta(minutes=5)) -> None:
        """So many more prompts in a session; the first said so long before now."""
        file = self.folder / f"{name}.jsonl"
        done = self.said.get(name, 0)
        self.said[name] = done + count
        records = []
        for number in range(done, done + count):
            at = (NOW - ago + timedelta(milliseconds=number)).isoformat(timespec="milliseconds").replace("+00:00", "Z")
            after = f"{name}-{number - 1}" if number else None
            record = log.person(f"{name} says {number}", f"p-{name}-{number}")
            record |= {"uuid": f"{name}-{number}", "parentUuid": after, "timestamp": at, "sessionId": name}
            records.append(record)
        with file.open("ab") as stream:
            stream.write(log.lines(records))

    def take(self) -> None:
        """Another program reads what was written."""
        with Store.open(self.store, create=True) as store:
            Importer(store, clock=lambda: self.now).paths([str(self.folder)])


@pytest.fixture
def logs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Logs:
    monkeypatch.setattr(app_module, "GLANCE", 0.05)
    made = Logs(tmp_path)
    for number in range(8):
        made.write(f"old{number}", 60 if number == 3 else 3, ago=timedelta(days=1, hours=number))
    made.take()
    return made


@asynccontextmanager
async def console(logs: Logs, size: tuple[int, int] = (120, 30), **options: Any) -> AsyncIterator[Stage]:
    app = AffidavitApp(
        lambda: Archive.open(logs.store), services=Program(logs.store, Settings()), now=lambda: logs.now, **options
    )
    async with app.run_test(size=size) as pilot:
        it = Stage(app, pilot, None)  # type: ignore[arg-type]
        await it.until(lambda: app.view is not None and app.arrivals.entries is not None, "it did not come up")
        await it.settled()
        yield it


async def test_a_session_that_begins_is_seen_as_live_and_nothing_moves_under_the_cursor(logs: Logs) -> None:
    async with console(logs) as it:
        await it.play("row old0 says 0\ngone live")
        logs.write("fresh", 2)
        logs.take()
        await it.play("see ● live\nrow old0 says 0\nsecond ● 1 live\nsecond + 1 new since your last visit")
        assert "fresh says 0" in it.lines[it.lines.index(it.row) - 1]
        await it.play("press k\nrow fresh says 0\nrow ● live")
        logs.write("fresh", 3)
        logs.take()
        await it.until(lambda: " 5 " in it.row, "its events are not counted in place")


async def test_an_old_log_that_is_imported_is_new_but_not_live(logs: Logs) -> None:
    async with console(logs) as it:
        logs.write("late", 2, ago=timedelta(hours=3))
        logs.take()
        await it.play("see late says 0\nsee + new\ngone ● live\ngone ● 1")


async def test_a_session_is_live_until_nothing_has_come_for_a_minute(logs: Logs) -> None:
    async with console(logs) as it:
        logs.write("fresh", 2)
        logs.take()
        await it.play("see ● live")
        logs.now = NOW + timedelta(seconds=59)
        await asyncio.sleep(0.2)
        await it.play("see ● live")
        logs.now = NOW + timedelta(seconds=61)
        await it.play("gone ● live\nsee + new")


async def test_rows_above_the_screen_come_without_a_jump(logs: Logs) -> None:
    for number in range(40):
        logs.write(f"more{number:02}", 1, ago=timedelta(hours=2, minutes=number))
    logs.take()
    async with console(logs, (100, 24)) as it:
        await it.play("press ctrl+d ctrl+d ctrl+d")
        before = it.lines[3:-2]
        logs.write("fresh", 2)
        logs.take()
        await it.play("second ● 1")
        await it.settled()
        assert it.lines[3:-2] == before
        await it.play("press g\nrow fresh says 0")


async def test_a_timeline_follows_at_its_end(logs: Logs) -> None:
    async with console(logs) as it:
        await it.play("press j j j enter G\nrow old3 says 59")
        for count in range(60, 63):
            logs.write("old3", 1)
            logs.take()
            await it.play(f"row old3 says {count}")
        await it.play("second 63 events\nsecond ● live\ngone new below")


async def test_elsewhere_it_says_how_many_are_new_below_and_g_goes_there(logs: Logs) -> None:
    async with console(logs) as it:
        await it.play("press j j j enter ctrl+d")
        before = it.lines[2:-2]
        logs.write("old3", 2)
        logs.take()
        await it.play("status 2 new below G")
        logs.write("old3", 5)
        logs.take()
        await it.play("status 7 new below G\nsecond 67 events")
        assert [line[:50] for line in it.lines[2:-2]] == [line[:50] for line in before]
        await it.play("press G\nrow old3 says 66\ngone new below")
        logs.write("old3", 1)
        logs.take()
        await it.play("row old3 says 67")


async def test_what_is_below_can_be_clicked(logs: Logs) -> None:
    async with console(logs) as it:
        await it.play("press j j j enter")
        logs.write("old3", 2)
        logs.take()
        await it.play("status 2 new below\nclick 28 4\nrow old3 says 61")


async def test_an_event_that_is_read_whole_is_not_taken_away(logs: Logs) -> None:
    async with console(logs) as it:
        await it.play("press j j j enter G enter\nsee old3 says 59")
        logs.write("old3", 2)
        logs.take()
        await it.play("status 2 new below\nsee old3 says 59\ngone old3 says 61")
        await it.play("press enter\nrow old3 says 59")


async def test_what_came_while_another_view_was_in_front_is_there_on_coming_back(logs: Logs) -> None:
    async with console(logs) as it:
        await it.play("press j j j enter")
        logs.write("fresh", 2)
        logs.take()
        await it.until(lambda: bool(it.app._views["sessions"].behind), "it was not noticed")
        await it.play("press backspace\nsee fresh says 0\nrow old3 says 0")


async def test_what_is_new_since_the_last_visit_is_marked_found_and_forgotten(logs: Logs) -> None:
    async with console(logs) as it:
        await it.play("gone + new\npress U\nstatus nothing here is new since your last visit")
    logs.write("old3", 4, ago=timedelta(hours=20))
    logs.take()
    async with console(logs) as it:
        await it.play("see + new\nsecond + 1 new since your last visit")
        await it.play("press U\nstatus 1 of 1 session\nsecond U only new\nrow old3 says 0\npress escape\ngone only new")
        await it.play("press U enter\nsecond + new\npress U\nrow old3 says 60\nrow +")
        await it.play("press k\nrow old3 says 59")
        assert "+" not in it.row
        await it.play("press G U\nstatus no event after this row is new since your last visit")
    async with console(logs) as it:
        await it.play("gone + new")


async def test_an_import_of_one_s_own_takes_no_mark_away(logs: Logs) -> None:
    async with console(logs) as it:
        await it.settled()
    logs.write("old3", 4, ago=timedelta(hours=20))
    logs.take()
    async with console(logs) as it:
        await it.play("second + 1 new since your last visit")
        logs.write("mine", 2, ago=timedelta(hours=3))
        it.app.jobs.start_import(str(logs.folder))
        await it.play("status imported: 1 session\nsecond + 2 new since your last visit")


async def test_a_filter_keeps_what_fits_as_it_comes(logs: Logs) -> None:
    async with console(logs) as it:
        await it.play("press j j j enter slash\ntype says 5\npress enter G\nrow old3 says 59\nstatus 49 hidden")
        logs.write("old3", 3)
        logs.take()
        await it.play("status 52 hidden\nrow old3 says 59\ngone new below")


async def test_counts_are_right_whatever_comes_while_they_are_made(logs: Logs) -> None:
    async with console(logs) as it:
        await it.play("press j j j enter")
        for _ in range(10):
            logs.write("old3", 7)
            logs.take()
            await asyncio.sleep(0.01)
        await it.play("second 130 events\nstatus 0 hidden\nstatus 70 new below")


async def test_looking_at_a_store_at_rest_reads_no_list_again(logs: Logs) -> None:
    async with console(logs) as it:
        asked: list[str] = []
        sessions = Archive.sessions

        def noted(self: Archive, *values: Any, **named: Any) -> Any:
            asked.append("sessions")
            return sessions(self, *values, **named)

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(Archive, "sessions", noted)
            await asyncio.sleep(0.3)
        assert asked == []
        await it.play("row old0 says 0")


def test_visits_are_kept_for_each_store_and_a_broken_file_counts_as_none(tmp_path: Path) -> None:
    file = tmp_path / "state" / "visits.json"
    one, two = (Visits(str(tmp_path / name), file) for name in ("one.db", "two.db"))
    assert one.last() is None
    one.leave(12)
    assert (one.last(), two.last()) == (12, None)
    assert Visits(str(tmp_path / "one.db"), file).last() == 12
    for broken in ("", "[]", '{" ' + str(tmp_path) + '/one.db": {"entries": "x"}}', '{"x": 1'):
        file.write_text(broken)
        assert one.last() is None
    began = time.monotonic()
    file.parent.chmod(0o500)
    one.leave(13)
    assert time.monotonic() - began < 1
