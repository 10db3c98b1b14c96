"""Long work beside the console: one job at a time, with progress that can be read and a wish to stop."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Any, TypeVar

from console.reading import Post
from console.services import Cancelled, Progress

Result = TypeVar("Result")

_TELL_EVERY = 0.1
"""Seconds between two reports of progress that reach the screen."""


class Job:
    """One piece of work in a thread of its own. ``name`` is the word people know it by."""

    def __init__(self, name: str, post: Post, told: Callable[[], None]) -> None:
        self.name = name
        self.stage = ""
        self.done = 0
        self.total: int | None = None
        self.stopping = False
        self._post = post
        self._told = told
        self._last = 0.0

    def start(
        self,
        work: Callable[[Progress, Cancelled], Result],
        done: Callable[[Result], None],
        failed: Callable[[Exception], None],
    ) -> None:
        """Run ``work`` in a thread; then ``done`` or ``failed`` on the event loop."""

        def run() -> None:
            try:
                result = work(self._progress, self._cancelled)
            except Exception as error:  # shown to the person, whatever it is
                self._hand_over(failed, error)
            else:
                self._hand_over(done, result)

        threading.Thread(target=run, name=self.name, daemon=True).start()

    def stop(self) -> None:
        """Ask the work to stop; it ends when it next looks."""
        self.stopping = True

    def _cancelled(self) -> bool:
        return self.stopping

    def _progress(self, stage: str, done: int, total: int | None) -> None:
        changed = stage != self.stage
        self.stage, self.done, self.total = stage, done, total
        now = time.monotonic()
        if changed or now - self._last >= _TELL_EVERY:
            self._last = now
            self._post(self._told)

    def _hand_over(self, callback: Callable[[Any], None], value: Any) -> None:
        self._post(callback, value)
