"""Work that is worth doing again after every change, but not more often than it can be afforded."""

from __future__ import annotations

from collections.abc import Callable
from time import monotonic

from textual.timer import Timer
from textual.widget import Widget

REST = 20
"""How many times as long as the work took is waited before it is done again."""


class Paced:
    """Does some work when asked; asked more often, once after a rest. What it took has to be told with ``took``."""

    def __init__(self, work: Callable[[], None]) -> None:
        self._work = work
        self._due = 0.0
        self._timer: Timer | None = None

    def took(self, seconds: float) -> None:
        """The work has been done, and took so long."""
        self._due = monotonic() + REST * seconds

    def ask(self, widget: Widget) -> None:
        """Have the work done as soon as it may be."""
        if self._timer is not None:
            return
        wait = self._due - monotonic()
        if wait <= 0:
            self._work()
        else:
            self._timer = widget.set_timer(wait, self._rested)

    def _rested(self) -> None:
        self._timer = None
        self._work()
