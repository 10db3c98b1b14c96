"""A program that runs for long and writes a line now and then: each line is kept as soon as it was written."""

from __future__ import annotations

import os
import time

from storage.archive import Archive
from storage.store import StoreError
from tests.console.cli_runner import own
from tests.journeys.driving import PATIENCE, Started, affidavit

SOON = 1.0
"""Seconds after which a line that was written must be durable."""


def texts() -> list[str]:
    """What another process finds in the store."""
    try:
        with Archive.open(os.environ["AFFIDAVIT_STORE"]) as archive:
            return [event.text for row in archive.sessions().rows for event in archive.iter_events(row.key)]
    except StoreError:
        return []


def write(running: Started, data: bytes) -> None:
    assert running.process.stdin is not None
    running.process.stdin.write(data)
    running.process.stdin.flush()


def found_within(seconds: float, expected: list[str]) -> None:
    end = time.monotonic() + seconds
    while texts() != expected:
        assert time.monotonic() < end, f"found only {texts()}"
        time.sleep(0.02)


def line(number: int) -> bytes:
    return own("slow", id=str(number), text=f"line {number}", at=f"2026-05-14T10:00:{number:02}Z")


def test_each_line_is_durable_within_a_second_and_the_end_gives_the_account():
    running = Started("record", "--json")
    write(running, line(0))
    found_within(PATIENCE, ["line 0"])
    for number in range(1, 4):
        write(running, line(number))
        found_within(SOON, [f"line {one}" for one in range(number + 1)])
        assert running.process.poll() is None
    write(running, own("slow", kind="nothing") + line(4)[:20])
    time.sleep(0.2)
    assert len(texts()) == 4
    write(running, line(4)[20:])
    found_within(SOON, [f"line {one}" for one in range(5)])
    done = running.end()
    assert done.code == 3
    account = done.json
    assert (account["sessions"], account["events"], account["records"]) == (1, 5, 6)
    assert (account["mapped"], account["unknown"], account["duplicates"], account["unreadable"]) == (5, 0, 0, 1)
    assert [refused["line"] for refused in account["unreadableList"]] == [5]
    assert affidavit("verify").code == 0


def test_a_kill_loses_nothing_that_was_kept_and_another_program_may_record_meanwhile():
    running, beside = Started("record"), Started("record", "--json")
    write(running, line(0))
    found_within(PATIENCE, ["line 0"])
    write(beside, own("beside", text="from beside", at="2026-05-14T09:00:00Z"))
    found_within(PATIENCE, ["line 0", "from beside"])
    write(running, line(1))
    found_within(SOON, ["line 0", "line 1", "from beside"])
    running.process.kill()
    running.end()
    assert texts() == ["line 0", "line 1", "from beside"]
    assert beside.end().json["mapped"] == 1
    assert affidavit("verify").code == 0
