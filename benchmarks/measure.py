"""Runs one command of ours and measures it; says how a figure stands to its limit."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

COMMAND = str(Path(sys.executable).with_name("affidavit"))


@dataclass(frozen=True)
class Run:
    """``peak``: most bytes of memory it, or a process it waited for, ever held."""

    seconds: float
    peak: int
    code: int
    output: str


@dataclass(frozen=True)
class Figure:
    """One row of the table. ``value`` and ``limit`` share ``unit``; ``floor`` is what ``value`` was divided by."""

    name: str
    value: float
    unit: str
    limit: float | None = None
    aim: float | None = None
    note: str = ""
    floor: float | None = None

    @property
    def standing(self) -> str:
        """``aim`` reached, ``limit`` kept, ``over``, or nothing where there is no limit to hold."""
        if self.limit is None:
            return ""
        if self.value <= (self.aim if self.aim is not None else self.limit):
            return "aim" if self.aim is not None else "ok"
        return "ok" if self.value <= self.limit else "over"


def environment(folder: Path) -> dict[str, str]:
    """An environment in which nothing of the person's own is read or written, on any system."""
    places = {f"XDG_{name}_HOME": str(folder / name.lower()) for name in ("CACHE", "CONFIG", "DATA", "STATE")}
    return {**os.environ, **places, "HOME": str(folder), "AFFIDAVIT_STORE": str(folder / "none.db")}


def run(*words: str, store: Path, allow: Sequence[int] = (0,)) -> Run:
    """Runs ``affidavit`` on a store, with its output in a file, so that a long document costs no memory here."""
    surroundings = {**environment(store.parent), "NO_COLOR": "1", "AFFIDAVIT_STORE": str(store)}
    os.sync()  # what was written before is not to be waited for here
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        start = time.perf_counter()
        process = subprocess.Popen(
            [COMMAND, *words], stdin=subprocess.DEVNULL, stdout=out, stderr=err, env=surroundings
        )
        _, status, usage = os.wait4(process.pid, 0)
        seconds = time.perf_counter() - start
        process.returncode = os.waitstatus_to_exitcode(status)
        out.seek(0)
        err.seek(0)
        output, errors = out.read().decode(), err.read().decode()
    if process.returncode not in allow:
        raise RuntimeError(f"affidavit {' '.join(words)}: exit {process.returncode}\n{errors[-2000:]}")
    peak = usage.ru_maxrss * (1 if sys.platform == "darwin" else 1024)
    return Run(seconds, peak, process.returncode, output)


def ratio(name: str, seconds: float, floor: float | None, limit: float, aim: float, note: str = "") -> Figure:
    """A time as a multiple of its floor; as plain seconds, with no limit, where there is no floor."""
    if floor is None:
        return Figure(name, seconds, "s", note=f"no floor here. {note}".strip())
    return Figure(name, seconds / floor, "×", limit, aim, f"{seconds:.2f} s. {note}".strip(), floor)


def store_bytes(path: Path) -> int:
    """Size of a store on disk, with whatever SQLite keeps beside it."""
    return sum(part.stat().st_size for part in path.parent.glob(path.name + "*"))
