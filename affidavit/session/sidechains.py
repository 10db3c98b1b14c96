"""Sub-agents of versions that wrote their records between the main agent's and named none of them.

A sub-agent's first record follows nothing and repeats the task its call gave; what follows it is the same sub-agent's.
"""

from __future__ import annotations

from typing import Protocol

from affidavit.session import lanes
from affidavit.session.prepare import SUMMARY_CELLS
from affidavit.session.state import SessionState
from affidavit.text.marks import marked

SIDE = "=sidechain"
"""Lane a reader gives a sub-agent's record that stands between the main agent's and names no agent: which sub-agent it
is, its parents tell (:func:`lane_of`)."""

UNTOLD = "sidechain"
"""The lane of such records of which it cannot be told."""

TASK = "="
"""A reader that knows only what a started sub-agent was told gives, in place of its id, this mark, a hash of the task,
a blank and what to call it; :func:`began` finds the sub-agent whose first record repeats that task."""


MOST_TASKS = 200
"""Calls remembered whose sub-agent has not begun: they are written down with each batch."""


class Placed(Protocol):
    """Where a known record stands."""

    @property
    def lane(self) -> int: ...


def lane_of(state: SessionState, record: str, above: Placed | None, follows: bool) -> str:
    """The lane of a record that only says it is a sub-agent's.

    ``above``: where the record it ``follows`` stands. What follows none of a sub-agent's begins a lane of its own,
    named after ``record``; what follows a record that is not in the log, or has no id, cannot be told apart.
    """
    if above is not None and above.lane:
        return state.lanes[above.lane].name
    return UNTOLD if (follows and above is None) or not record or record[0] in "= " else record


def task_given(state: SessionState, task: str, n: int, lane: int, turn: int) -> None:
    """Event ``n`` starts a sub-agent it does not name: remember what it was told, until its records come."""
    told, _, title = task[len(TASK) :].partition(" ")
    state.tasks.append((told, n, lane, turn, title))
    del state.tasks[:-MOST_TASKS]


def began(state: SessionState, name: str, told: str) -> list[int]:
    """Lane ``name`` begins with the task ``told``: hang it on the first call still waiting that gave it."""
    for place, (task, n, above, turn, title) in enumerate(state.tasks):
        if task == told:
            del state.tasks[place]
            changed = lanes.spawned(state, name, n, above, turn)
            lane = state.lanes[state.lane_names[name]]
            lane.title = lane.title or marked(title[:SUMMARY_CELLS]) or None
            return changed
    return []
