"""Two consoles, two importers and a follower on one store while agents write: nothing is lost, everything holds."""

from __future__ import annotations

import os
import random
import signal
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from storage.archive import Archive
from storage.store import Store
from tests.journeys.driving import InTerminal, Started, affidavit

sys.path.insert(0, str(Path(__file__).parent.parent / "storage"))

from claude_fixtures import SESSION
from kept import assert_holds, assert_same, meaning, store_in, take
from test_interruption import logs_of, originals

KEYS = ("j", "j", "k", "\r", "G", "g", "]", "}", "\x7f", "2", "U", "t", "z")
"""What the person at a console presses, over and over: lists, timelines, jumps, filters, ways back."""


class Agents:
    """Agents that write their logs, a piece at a time that ends anywhere, until they are told to stop."""

    def __init__(self, folder: Path, count: int, chance: random.Random) -> None:
        self.files = [folder / f"{number:08x}-0000-4000-8000-{number:012x}.jsonl" for number in range(count)]
        self.chance = chance
        self.stop = threading.Event()
        self.thread = threading.Thread(target=self._write)
        self.rounds = 0

    def _write(self) -> None:
        rest = dict.fromkeys(self.files, b"")
        while not self.stop.wait(0.05):
            file = self.chance.choice(self.files)
            if not rest[file]:
                rest[file] = logs_of(4, 4 * self.rounds).replace(SESSION.encode(), file.stem.encode())
                self.rounds += 1
            cut = self.chance.randrange(1, len(rest[file]) + 1)
            with file.open("ab") as log:
                log.write(rest[file][:cut])
            rest[file] = rest[file][cut:]
        for file, left in rest.items():
            with file.open("ab") as log:
                log.write(left)


def importing(folder: Path, stop: threading.Event, codes: list[int]) -> None:
    """Import the folder again and again, as a person or a timer does."""
    while not stop.is_set():
        codes.append(affidavit("import", str(folder)).code)


def looking(console: InTerminal, stop: threading.Event, chance: random.Random) -> None:
    """Press keys and read what is drawn."""
    while not stop.is_set():
        console.type(chance.choice(KEYS))
        console._read(0.05)


@pytest.mark.skipif(os.name != "posix", reason="needs terminals as POSIX has them")
def test_consoles_importers_and_a_follower_on_one_store(tmp_path: Path, figure: Callable[[int, int], int]) -> None:
    seconds = figure(5, 150)
    logs = tmp_path / "logs"
    logs.mkdir()
    store = os.environ["AFFIDAVIT_STORE"]
    Store.open(store, create=True).close()
    agents = Agents(logs, 6, random.Random(31))
    follower = Started("import", "--follow", str(logs))
    consoles = [InTerminal("--store", store) for _ in range(2)]
    codes: list[int] = []
    stop = threading.Event()
    work = [threading.Thread(target=importing, args=(logs, stop, codes)) for _ in range(2)]
    work += [threading.Thread(target=looking, args=(one, stop, random.Random(at))) for at, one in enumerate(consoles)]
    agents.thread.start()
    for one in work:
        one.start()
    counts: list[int] = []
    end = time.monotonic() + seconds
    try:
        while time.monotonic() < end or not (counts and counts[-1]):
            with Archive.open(store) as archive:
                counts.append(sum(row.events for row in archive.sessions().rows))
            assert affidavit("verify").code == 0
            assert follower.process.poll() is None
    finally:
        agents.stop.set()
        agents.thread.join()
        stop.set()
        for one in work:
            one.join()
    whole = {str(file): file.read_bytes() for file in agents.files if file.exists()}
    end = time.monotonic() + 30
    while originals(store) != whole:
        assert time.monotonic() < end, "the follower does not come to the end"
        time.sleep(0.05)
    follower.process.send_signal(signal.SIGTERM)
    done = follower.end()
    assert done.code in (0, 3), done.err
    for console in consoles:
        console.type("\x1b")
        time.sleep(0.2)
        console.type("q")
        assert console.end() == 0, console.text[-2000:]
    assert set(codes) <= {0, 3}, "3 where an importer met a line that was made unreadable on purpose"
    assert counts == sorted(counts)
    assert counts[-1] > 0
    assert_holds(store)
    with store_in(tmp_path, "whole.db") as at_once:
        take(at_once, logs)
    assert_same(meaning(at_once.path), meaning(store))
