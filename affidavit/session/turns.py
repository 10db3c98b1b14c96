"""Turns and branches: which prompt a record answers, and which chain of prompts is the main one."""

from __future__ import annotations

from bisect import bisect_left, insort

from affidavit.session.state import SessionState, Swap, TurnState


def turn_of(
    state: SessionState, prompt: str | None, leaf: bool, n: int, sort: int, above: int
) -> tuple[int, list[int]]:
    """(turn of a main-lane record, turns changed). ``above``: turn of the record it follows.

    A prompt key not seen before begins a turn. A prompt, or a user or agent record (``leaf``) on a part already
    abandoned, makes the chain it stands on the main one.
    """
    if prompt is None:
        return above, lead(state, above) if leaf and above and above != state.head_turn else []
    number = state.turn_keys.get(prompt)
    if number is None:
        number = len(state.turns) + 1
        state.turns[number] = TurnState(prompt, n, sort, above, 0)
        state.turn_keys[prompt] = number
        _in_order(state, number, n, sort)
        return number, [number, *move_head(state, number)]
    return number, lead(state, number)


def said(state: SessionState, number: int, n: int, sort: int) -> None:
    """A turn is found to begin elsewhere: with event ``n``, where the message that began it stands again."""
    turn = state.turns[number]
    del state.turn_order[bisect_left(state.turn_order, (turn.sort, turn.n, number))]
    _lanes_since(state, turn.sort)
    turn.n, turn.sort = n, sort
    _in_order(state, number, n, sort)


def _in_order(state: SessionState, number: int, n: int, sort: int) -> None:
    """Note a turn's place in time among the others."""
    insort(state.turn_order, (sort, n, number))
    _lanes_since(state, sort)


def _lanes_since(state: SessionState, sort: int) -> None:
    """Lanes that began later may belong to another turn now."""
    state.turned = sort if state.turned is None else min(state.turned, sort)


def lead(state: SessionState, turn: int) -> list[int]:
    """A record that makes the chain it stands on the main one stands on ``turn``. Returns the turns that changed.

    Where two programs go on with one session, the head goes to and fro between the ends of two chains, with each
    record perhaps: only whose turn it is is noted then, and the turns are told once (:func:`swapped`).
    """
    if turn == state.head_turn:
        return []
    swap = state.swap
    if swap is not None and turn == swap.other:
        swap.other, state.head_turn = state.head_turn, turn
        swap.open = not swap.open
        return []
    changed = swapped(state)
    return [*changed, *move_head(state, turn)] if state.turns[turn].branch else changed


def swapped(state: SessionState) -> list[int]:
    """Tell the turns of both chains which of them is the main one by now. Returns the turns that changed."""
    swap, state.swap = state.swap, None
    if swap is None or not swap.open:
        return []
    for turn in swap.main:
        state.turns[turn].branch = swap.branch
    for turn in swap.left:
        state.turns[turn].branch = 0
    return [*swap.main, *swap.left]


def move_head(state: SessionState, new: int) -> list[int]:
    """Make the chain that ends in turn ``new`` the main one and number the part of the old one it leaves.

    The cost is the length of the parts that differ. Returns the turns whose branch changed.
    """
    changed = swapped(state)
    turns = state.turns
    old = state.head_turn
    state.head_turn = new
    gained: list[int] = []
    walk = new
    if not old or turns[new].parent == old:
        while walk and turns[walk].branch:  # it had been rolled back, and goes on all the same
            turns[walk].branch = 0
            gained.append(walk)
            walk = turns[walk].parent
        return [*changed, *gained]
    while walk and (turns[walk].branch or walk == new):
        gained.append(walk)
        walk = turns[walk].parent
    lost: list[int] = []
    back = old
    while back and back != walk:
        lost.append(back)
        back = turns[back].parent
    if not lost:
        return changed
    number = turns[gained[-1]].branch or state.next_branch
    if number == state.next_branch:
        state.next_branch += 1
    for turn in gained:
        turns[turn].branch = 0
    for turn in lost:
        turns[turn].branch = number
    state.swap = Swap(gained, lost, number, old)
    return [*changed, *gained, *lost]


def rolled_back(state: SessionState, turns: int) -> list[int]:
    """The last ``turns`` turns of the main chain were taken out: they are an abandoned branch from now on.

    Returns the turns that changed. What comes next goes on from the turn before them, or begins anew.
    """
    changed = swapped(state)
    lost: list[int] = []
    walk = state.head_turn
    while walk and len(lost) < turns:
        lost.append(walk)
        walk = state.turns[walk].parent
    if not lost:
        return changed
    for turn in lost:
        state.turns[turn].branch = state.next_branch
    state.next_branch += 1
    state.head_turn = walk
    return [*changed, *lost]
