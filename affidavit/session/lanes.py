"""Lanes: the main agent and its sub-agents, nested as the log says who started whom.

What is known of a lane may come in any order: its own records, a note of who started it, the call that did. Each is
taken in at once; the turns that follow from it are worked out by :func:`settle`, once for a whole batch, so that a lane
that many notes move is moved once. How deep a lane lies follows from what it hangs on, whenever that is asked. Every
function returns the numbers of the lanes it changed.
"""

from __future__ import annotations

from bisect import bisect_left

from affidavit.session.prepare import SUMMARY_CELLS
from affidavit.session.state import LaneState, SessionState
from affidavit.text.marks import marked


def open_lane(state: SessionState, name: str) -> tuple[int, list[int]]:
    """The number of a lane by the agent's id for it, made if it is new."""
    number = state.lane_names.get(name)
    if number is not None:
        return number, []
    number = len(state.lanes)
    state.lanes[number] = LaneState(marked(name))
    state.lane_names[name] = number
    return number, [number]


def began(state: SessionState, number: int, sort: int, n: int) -> list[int]:
    """A lane's event: until the call that started it is known, the lane belongs to the turn that ran at its first."""
    lane = state.lanes[number]
    if not number or (lane.began is not None and lane.began <= sort):
        return []
    if lane.began is None:
        state.live_lanes += 1
    lane.began, lane.first = sort, n
    state.lane_reach = sort if state.lane_reach is None else max(state.lane_reach, sort)
    state.unsettled.add(number)
    return [number]


def stated(state: SessionState, number: int, facts: dict[str, str]) -> list[int]:
    """What the log says of a lane: what it is called, who started it, how deep it lies."""
    lane = state.lanes[number]
    if facts == lane.stated:
        return []
    lane.stated = facts
    title, parent, depth = facts.get("title"), facts.get("parent"), facts.get("depth", "")
    if title is not None:
        lane.title = marked(title[:SUMMARY_CELLS])
    changed = [number]
    if number and lane.parent is None and lane.spawn is None:
        if parent is not None:
            above, opened = open_lane(state, marked(parent))
            changed += opened
            if not _is_below(state, above, number):
                _hang(state, number, above)
        elif depth.isascii() and depth.isdigit() and len(depth) < 4:
            lane.depth = int(depth)
    return changed


def spawned(state: SessionState, name: str, n: int, above: int, turn: int | None) -> list[int]:
    """Event ``n`` of lane ``above`` says that it started lane ``name``: hang that, and what hangs below, on it."""
    number, changed = open_lane(state, name)
    lane = state.lanes[number]
    if lane.spawn is not None or _is_below(state, above, number):
        return changed
    _hang(state, number, above)
    lane.spawn = n
    if not above:
        lane.turn = turn
    return [*changed, number]


def _hang(state: SessionState, number: int, above: int) -> None:
    lane = state.lanes[number]
    if lane.parent is not None:
        del state.lanes[lane.parent].below[number]
    lane.parent = above
    state.lanes[above].below[number] = None
    state.unsettled.add(number)


def _is_below(state: SessionState, number: int, other: int) -> bool:
    """Whether lane ``number`` is ``other`` or hangs below it.

    Looked for from both ends by turns, which costs as much as the shorter way: a lane without lanes of its own, and
    one that hangs on nothing, are told at once.
    """
    lanes = state.lanes
    walk: int | None = number
    waiting = [other]
    while walk is not None and waiting:
        down = waiting.pop()
        if walk == other or down == number:
            return True
        walk = lanes[walk].parent
        waiting.extend(lanes[down].below)
    return False


def settle(state: SessionState) -> list[int]:
    """Give lanes the turn that follows from what a batch told, from the top down and only as far as any changes."""
    unsettled, lanes = state.unsettled, state.lanes
    since, state.turned = state.turned, None
    if since is not None and state.lane_reach is not None and since <= state.lane_reach:
        unsettled.update(
            number for number, lane in lanes.items() if number and lane.began is not None and lane.began >= since
        )
    changed: list[int] = []
    seen: set[int] = set()
    for number in unsettled:
        path = []
        walk: int | None = number
        while walk is not None and walk not in seen:
            path.append(walk)
            walk = lanes[walk].parent
        while path:
            waiting = [path.pop()]
            if waiting[0] not in unsettled:
                seen.add(waiting.pop())
            while waiting:
                number = waiting.pop()
                seen.add(number)
                if _placed(state, number):
                    changed.append(number)
                    waiting.extend(lanes[number].below)
    state.unsettled = set()
    return changed


def _placed(state: SessionState, number: int) -> bool:
    """Work out a lane's turn from the lane above it; whether it changed.

    It is that of the lane it hangs on; that of the call that started it, where that is the main agent's; else the one
    that ran when it began.
    """
    lane = state.lanes[number]
    before = lane.turn
    above = state.lanes[lane.parent].turn if lane.parent else None
    if above is not None:
        lane.turn = above
    elif lane.spawn is None or lane.parent:
        lane.turn = _running(state, lane)
    return before != lane.turn


def _running(state: SessionState, lane: LaneState) -> int | None:
    """The turn that ran when a lane began: the last to begin before its first event."""
    if lane.began is None or lane.first is None:
        return None
    place = bisect_left(state.turn_order, (lane.began, lane.first))
    return state.turn_order[place - 1][2] if place else None
