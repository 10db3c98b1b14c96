"""How far long work has come, on one line of a terminal; silent anywhere else."""

from __future__ import annotations

import time
from collections.abc import Callable

from console.output import Output, cut_left
from console.words import number, size

INTERVAL = 0.1
"""Seconds between two drawings."""


class Meter:
    """Draws at most ten times a second, however often it is told. ``clock`` gives seconds that only go forward."""

    def __init__(self, output: Output, clock: Callable[[], float] = time.monotonic) -> None:
        self._output = output
        self._clock = clock
        self._wanted = output.shows_progress
        self._drawn_at = float("-inf")
        self._drawn = False

    def show(self, what: str, done: int, total: int, also: str = "") -> None:
        """``done`` of ``total`` bytes of ``what``; a ``total`` of 0 is one that nobody knows."""
        if self._due():
            share = f"{min(100, 100 * done // total):3d}% of {size(total)}" if total else size(done)
            known = "  ".join(part for part in (share, also, "") if part)
            self._draw(known + "  " + cut_left(what, max(10, self._output.width - len(known) - 3)))

    def count(self, what: str, done: int, total: int | None) -> None:
        """``done`` of ``total`` things (``None``: nobody knows how many) of the kind ``what``."""
        if self._due():
            share = f"{min(100, 100 * done // total):3d}% of {number(total)}" if total else number(done)
            self._draw(f"{share}  {what}")

    def clear(self) -> None:
        """Removes the line."""
        if self._drawn:
            self._output.progress("")
            self._drawn = False

    def _due(self) -> bool:
        return self._wanted and self._clock() - self._drawn_at >= INTERVAL

    def _draw(self, text: str) -> None:
        self._output.progress(text)
        self._drawn_at = self._clock()
        self._drawn = True
