"""Being stopped in the middle: by ctrl+c, by a reader that leaves, by a kill. Nothing acknowledged is lost."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.console.cli_runner import own
from tests.journeys.driving import COMMAND, ROOT, Started, affidavit

RECORDS = 24_000


@pytest.fixture
def large(tmp_path: Path) -> Path:
    """A log that takes long enough to import to be stopped in the middle."""
    path = tmp_path / "large.jsonl"
    padding = "word " * 60
    with path.open("wb") as stream:
        for number in range(RECORDS):
            stream.write(own(f"s{number // 3_000}", id=str(number), text=f"event {number} {padding}"))
    return path


def entries() -> int:
    done = affidavit("verify", "--json")
    return int(done.json["entries"]) if done.code == 0 else 0


def test_an_import_stopped_by_ctrl_c_keeps_what_it_counted_and_goes_on_later(large):
    running = Started("import", str(large), "--json")
    store = Path(os.environ["AFFIDAVIT_STORE"])
    end = time.monotonic() + 30
    while not (store.exists() and any(part.stat().st_size > 2_000_000 for part in store.parent.glob("store.db*"))):
        assert time.monotonic() < end
        assert running.process.poll() is None, "it ended before it could be stopped"
        time.sleep(0.01)
    running.interrupt()
    stopped = running.end()
    assert stopped.code == 130
    assert "interrupted" in stopped.err
    first = stopped.json
    assert 0 < first["records"] < RECORDS
    assert first["records"] == first["mapped"]
    assert affidavit("verify").code == 0

    rest = affidavit("import", str(large), "--json")
    assert rest.code == 0
    assert first["records"] + rest.json["records"] == RECORDS
    sessions = affidavit("sessions", "--json").json["sessions"]
    assert sum(session["events"] for session in sessions) == RECORDS
    assert affidavit("verify").code == 0


def test_recording_from_a_silent_program_can_be_stopped():
    running = Started("record", "--json")
    assert running.process.stdin is not None
    running.process.stdin.write(own(text="kept"))
    running.process.stdin.flush()
    time.sleep(1)
    running.interrupt()
    done = running.end()
    assert done.code == 130
    assert affidavit("verify").code in (0, 2)


def test_a_reader_that_has_seen_enough_ends_a_listing_without_a_word(large):
    assert affidavit("import", str(large)).code == 0
    for words in (("show", "session/s0", "--json"), ("show", "session/s0"), ("search", "event", "--json")):
        process = subprocess.Popen([*COMMAND, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=ROOT)
        assert process.stdout is not None
        assert process.stderr is not None
        assert process.stdout.read(100)
        process.stdout.close()
        assert process.wait(60) == 0
        assert process.stderr.read() == b""
        process.stderr.close()


@pytest.mark.skipif(sys.platform != "linux", reason="reads the peak of memory from /proc")
def test_showing_a_large_session_takes_no_more_memory_than_a_small_one(large):
    whole = large.with_name("one-session.jsonl")
    whole.write_bytes(re.sub(rb'"session": "s\d"', b'"session": "large"', large.read_bytes()) + own("small", text="x"))
    assert affidavit("import", str(whole)).code == 0
    peaks = {}
    for session, events in (("small", 1), ("large", RECORDS)):
        code = (
            f"from console.main import main\ncode = main(['show', 'session/{session}', '--json'])\nimport sys\n"
            "print(open('/proc/self/status').read(), file=sys.stderr)\nsys.exit(code)"
        )
        done = subprocess.run([COMMAND[0], "-c", code], capture_output=True, cwd=ROOT, timeout=60, check=True)
        assert len(json.loads(done.stdout)["events"]) == events
        found = re.search(rb"VmHWM:\s+(\d+) kB", done.stderr)
        assert found
        peaks[session] = int(found[1])
    # What is kept at hand is bounded; every event of the large one in memory would be several times this.
    assert peaks["large"] - peaks["small"] < 40_000
