"""The floors: what the fastest plain program reaches here, from ``../shared/floors/floors.py`` where that stands."""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

FLOORS = Path(__file__).resolve().parents[2] / "shared" / "floors" / "floors.py"

RUN = """
import importlib.util, json, sys
spec = importlib.util.spec_from_file_location("floors", sys.argv[1])
floors = importlib.util.module_from_spec(spec)
spec.loader.exec_module(floors)
timed, times = floors.timed, []
def keeping(*words, **more):
    times.append(timed(*words, **more))
    return times[-1]
floors.timed = keeping
getattr(floors, sys.argv[2])(*[int(word) if word.isdigit() else word for word in sys.argv[3:]])
print(json.dumps(times))
"""
"""Runs one of the floors in an interpreter of its own, so that nothing of ours is loaded beside it."""


def stand() -> bool:
    """Whether the floors are here."""
    return FLOORS.is_file()


def call(name: str, *arguments: str | int) -> list[float]:
    """Seconds of everything a floor timed."""
    os.sync()  # what was written before is not to be waited for here
    words = [sys.executable, "-c", RUN, str(FLOORS), name, *map(str, arguments)]
    done = subprocess.run(words, check=True, capture_output=True, text=True)
    return [float(seconds) for seconds in json.loads(done.stdout.splitlines()[-1])]


def import_floor(path: Path) -> float | None:
    """Seconds to parse every line of a file and insert it."""
    return call("import_floor", str(path))[0] if stand() else None


def verify_floor(rows: int) -> float | None:
    """Seconds to read stored rows of 500 bytes and hash each."""
    return call("verify_floor", rows)[0] if stand() else None


def start_floor() -> float:
    """Seconds for a fresh interpreter to import what the console cannot do without."""
    return median(lambda: subprocess.run([sys.executable, "-c", "import textual.app, sqlmodel"], check=True), 5)


def median(work: Callable[[], object], runs: int) -> float:
    """Median seconds of a piece of work."""
    seconds = []
    for _ in range(runs):
        start = time.perf_counter()
        work()
        seconds.append(time.perf_counter() - start)
    return statistics.median(seconds)
