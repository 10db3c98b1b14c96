"""Waiting for a store that another program writes to: in short tries, for a bounded time, and said all the while."""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Callable
from typing import TypeVar

from console.services import WAITING, Cancelled, Progress

Result = TypeVar("Result")

TRY = 500
"""Milliseconds one try waits for the other program: no longer, so that a wish to stop is heard soon."""

MOST = 30.0
"""Seconds until it is told that the store could not be written to."""


def patiently(
    work: Callable[[], Result],
    progress: Progress,
    cancelled: Cancelled,
    *,
    clock: Callable[[], float] = time.monotonic,
    chance: Callable[[float, float], float] = random.uniform,
) -> Result | None:
    """Do work that writes, again and again while another program holds the store; ``None`` where it was asked to stop.

    ``work`` must be such that it can be done again after any part of it. The pauses are of different lengths, so that
    two who wait do not keep meeting. Raises what ``work`` raises, a held store only after :data:`MOST` seconds.
    """
    from storage.store import StoreError

    began = clock()
    while True:
        try:
            return work()
        except StoreError as error:
            if error.reason != "locked" or clock() - began > MOST:
                raise
        progress(WAITING, 0, None)
        if cancelled():
            return None
        threading.Event().wait(chance(0.05, 0.25))
