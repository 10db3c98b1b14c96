"""Budget: parts that are kept whole, parts that shrink, and what is cut first."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from affidavit.context.choice import Left, Piece
from affidavit.context.shapes import ContextBudget
from affidavit.context.words import PART_OF, PARTS, PHASE_WEIGHTS, SHARES, WHOLE, Part, Phase
from affidavit.retrieval.blackening import visible
from affidavit.retrieval.trimming import keep_lines
from affidavit.text.tokens import estimate_tokens

Cost = Callable[[Piece], int]

SMALLEST = 40
"""Tokens below which nothing useful is left of an observation."""


def shares_of(budget: ContextBudget, phase: Phase) -> dict[Part, int]:
    """Tokens for each part: as reserved, or its share of the whole in this phase."""
    weights = PHASE_WEIGHTS[phase]
    wanted = {part: SHARES[part] * weights.get(part, 1.0) for part in PARTS}
    whole = sum(wanted.values())
    reserved = budget.reserved
    said = {
        "rules": reserved.rules,
        "userGoal": reserved.user_goal,
        "state": reserved.state,
        "latestObservation": reserved.latest_observation,
        "recentTail": reserved.recent_tail,
        "retrieval": reserved.retrieval,
        "memory": reserved.memory,
        "tools": reserved.tools,
    }
    return {
        part: round(budget.max_tokens * wanted[part] / whole) if said[part] is None else int(said[part] or 0)
        for part in PARTS
    }


def fit(
    pieces: Sequence[Piece], most: int, shares: dict[Part, int], cost: Cost
) -> tuple[list[Piece], list[Left], bool]:
    """The pieces within ``most`` tokens, what was left out for it, and whether even what must be whole is too much.

    First each part shrinks to its share, the old tail before retrieval before memory before the observation; then,
    if that is not enough, the same give up all they have.
    """
    kept = list(pieces)
    left: list[Left] = []
    for floor in (shares, dict.fromkeys(PARTS, 0)):
        for part in ("recentTail", "retrieval", "memory", "latestObservation"):
            _shrink(kept, left, part, floor[part], most, cost)
    return kept, left, sum(map(cost, kept)) > most


def _shrink(kept: list[Piece], left: list[Left], part: Part, floor: int, most: int, cost: Cost) -> None:
    """Take pieces of a part away, the least first, until all fit or the part is down to its floor."""
    total = sum(map(cost, kept))
    for piece in _least_first([one for one in kept if PART_OF[one.place] == part]):
        here = sum(cost(one) for one in kept if PART_OF[one.place] == part)
        if total <= most or here <= floor:
            return
        before = cost(piece)
        room = max(before - (total - most), floor - (here - before))
        if part == "latestObservation" and _shorten(piece, room, cost):
            total += cost(piece) - before
            continue
        if part != "recentTail" and here - before < floor < before:
            continue  # one alone is more than the share: it goes only if nothing else can
        kept.remove(piece)
        left.append(Left(piece.id, piece.kind, "older_than_tail" if part == "recentTail" else "over_budget"))
        total -= before


def _least_first(pieces: list[Piece]) -> list[Piece]:
    """What goes first: older summaries, then by weight; of equals the older."""
    return sorted(pieces, key=lambda piece: (piece.place != "older_summary", piece.weight))


def _shorten(piece: Piece, room: int, cost: Cost) -> bool:
    """Keep the lines of an observation that say most within the room; ``False``: nothing useful fits."""
    overhead = cost(piece) - estimate_tokens(piece.text)
    tokens = room - overhead
    if tokens < SMALLEST or piece.original is None:
        return False
    data = piece.text.encode()
    kept = keep_lines(data, (), tokens, "keep-matched-lines", _failing, trusted=False)
    text = visible(data, kept)
    if not kept or estimate_tokens(text) > tokens:
        return False
    piece.text, piece.mode = text, "excerpt"
    return True


_TELLING = ("fail", "error", "expected", "received", "assert", "exception", "traceback", "panic", "✗", "×", "not ok")


def _failing(line: str) -> float:
    """How much a line of output says about what went wrong."""
    plain = line.lower()
    return float(sum(word in plain for word in _TELLING))


assert set(PART_OF.values()) | {"tools"} == set(PARTS)
assert set(PARTS) >= WHOLE
