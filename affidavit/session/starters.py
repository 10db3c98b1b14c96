"""Which call started which sub-agent, where something other than the call's result says so.

A result that went well names the sub-agent. One that failed, was refused or never came does not; then a note beside the
sub-agent's log, or what was recorded while it worked, names the call. The two may come in any order.
"""

from __future__ import annotations

from affidavit.session import lanes
from affidavit.session.state import SessionState
from affidavit.text.marks import marked

TOOLS = frozenset({"Task", "Agent"})
"""Tools whose calls start sub-agents."""

MOST = 200
"""Calls, and names of sub-agents, that wait to be matched; they are written down with each batch."""


def called(state: SessionState, call: int, n: int, lane: int, turn: int) -> list[int]:
    """Event ``n`` asks for a sub-agent by this call. Returns the lanes it changed, as all of :mod:`.lanes`."""
    name = state.claims.pop(call, None)
    if name is not None:
        return lanes.spawned(state, name, n, lane, turn or None)
    state.starters[call] = n, lane, turn
    _bound(state.starters)
    return []


def claimed(state: SessionState, name: str, call: int) -> list[int]:
    """The sub-agent ``name`` is said to have been started by this call."""
    name = marked(name)
    number, changed = lanes.open_lane(state, name)
    if not number or state.lanes[number].spawn is not None:
        return changed
    given = state.starters.pop(call, None)
    if given is None:
        state.claims[call] = name
        _bound(state.claims)
        return changed
    n, lane, turn = given
    return changed + lanes.spawned(state, name, n, lane, turn or None)


def _bound(waiting: dict[int, str] | dict[int, tuple[int, int, int]]) -> None:
    if len(waiting) > MOST:
        del waiting[next(iter(waiting))]
