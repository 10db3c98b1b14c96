"""Lanes: the main agent and its sub-agents, nested as the log says who started whom.

Every function returns the numbers of the lanes it changed. What is known of a lane may come in any order: its own
records, a note of who started it, the call that did.
"""

from __future__ import annotations

from affidavit.session.prepare import SUMMARY_CELLS
from affidavit.session.state import LaneState, SessionState
from affidavit.text.marks import marked


def open_lane(state: SessionState, name: str) -> tuple[int, list[int]]:
    """The number of a lane by the agent's id for it, made if it is new."""
    number = state.lane_names.get(name)
    if number is not None:
        return number, []
    number = len(state.lanes)
    state.lanes[number] = LaneState(marked(name), depth=1)
    state.lane_names[name] = number
    return number, [number]


def began(state: SessionState, number: int, sort: int) -> list[int]:
    """A lane's event: until the call that started it is known, the lane belongs to the turn that ran at its first."""
    lane = state.lanes[number]
    if not number or (lane.began is not None and lane.began <= sort):
        return []
    lane.began = sort
    state.lane_reach = sort if state.lane_reach is None else max(state.lane_reach, sort)
    if lane.spawn is not None or lane.parent:
        return [number]
    turns = [(known.sort, turn) for turn, known in state.turns.items() if known.sort <= sort]
    return [number, *_settle(state, number, max(turns)[1] if turns else None, lane.depth)]


def turn_began(state: SessionState, number: int) -> list[int]:
    """A turn that is new here, though it may have run before lanes that were read first: those belong to it."""
    turn = state.turns[number]
    if state.lane_reach is None or turn.sort >= state.lane_reach:
        return []
    changed: list[int] = []
    for name, lane in state.lanes.items():
        if lane.spawn is None and not lane.parent and lane.began is not None and turn.sort < lane.began:
            known = state.turns[lane.turn].sort if lane.turn is not None else None
            if known is None or known <= turn.sort:
                changed += _settle(state, name, number, lane.depth)
    return changed


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
                lane.parent = above
                changed += _settle(state, number, lane.turn)
        elif depth.isascii() and depth.isdigit() and len(depth) < 4:
            lane.depth = int(depth)
    return changed


def spawned(state: SessionState, name: str, n: int, above: int, turn: int | None) -> list[int]:
    """Event ``n`` of lane ``above`` says that it started lane ``name``: hang that, and what hangs below, on it."""
    number, changed = open_lane(state, name)
    lane = state.lanes[number]
    if lane.spawn is not None or _is_below(state, above, number):
        return changed
    lane.parent, lane.spawn = above, n
    return changed + _settle(state, number, turn)


def _is_below(state: SessionState, number: int, other: int) -> bool:
    """Whether lane ``number`` is ``other`` or hangs below it."""
    walk: int | None = number
    while walk is not None:
        if walk == other:
            return True
        walk = state.lanes[walk].parent
    return False


def _settle(state: SessionState, number: int, turn: int | None, depth: int = 0) -> list[int]:
    """Give a lane and all below it the depth (or that given) and the turn that follow from where it hangs."""
    changed = []
    waiting = [(number, turn)]
    while waiting:
        number, turn = waiting.pop()
        lane = state.lanes[number]
        above = state.lanes[lane.parent or 0]
        lane.depth, depth = depth or above.depth + 1, 0
        if lane.parent:
            turn = above.turn
        if turn is not None:
            lane.turn = turn
        changed.append(number)
        waiting.extend((child, lane.turn) for child, other in state.lanes.items() if child and other.parent == number)
    return changed
