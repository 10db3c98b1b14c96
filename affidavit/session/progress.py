"""What the log of a session tells of a sub-agent whose own log is not to be had.

While a sub-agent works, some versions record its messages in the log of whoever called it, too. They are shown in its
lane as long as nothing of its own log is there; once that is read, whichever comes first, they are not.
"""

from __future__ import annotations

from affidavit.session.prepare import FLAGS, LANE, PROBLEM, SESSION, SIZE, SORT, N, Row
from affidavit.session.state import SessionState

PROGRESS = "progress"
"""First of :attr:`affidavit.session.event.Reading.queue` of a record that tells of a sub-agent's message, with the
sub-agent's id; and the flag of the events that are made of it."""


def tell(state: SessionState, number: int, n: int, sort: int, rows: list[Row]) -> list[Row]:
    """The rows of a message of the sub-agent in lane ``number``, unless its own log tells of it."""
    lane = state.lanes[number]
    if lane.events > lane.told:
        return []
    for block, row in enumerate(rows):
        row[N], row[SESSION], row[LANE], row[SORT] = n + block, state.no, number, sort
        row[SIZE] = 0  # it is not searched: its own log may come, and then it is gone
        state.problems += row[PROBLEM]
    lane.told += len(rows)
    lane.events += len(rows)
    state.events += len(rows)
    return rows


def untell(state: SessionState, number: int, rows: list[Row]) -> None:
    """The sub-agent's own log is there: what was told of it (``rows``) is told no longer."""
    lane = state.lanes[number]
    for row in rows:
        state.problems -= row[PROBLEM]
    state.events -= len(rows)
    lane.events -= len(rows)
    lane.told = 0
    if lane.began is not None:
        state.live_lanes -= 1
    lane.began = lane.first = None


def is_told(row: Row) -> bool:
    """Whether an event is made of progress."""
    return PROGRESS in row[FLAGS].split()
