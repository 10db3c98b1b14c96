"""Candidates that contradict each other: every side is shown, or none."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from affidavit.retrieval.pool import Found, Turned


def settle_conflicts(found: Sequence[Found]) -> tuple[list[Found], list[tuple[Found, Turned]]]:
    """The candidates with the sides of a conflict in one group, and those whose counterparts are not all here.

    Conflicts reach as far as candidates name each other, whichever of two names the other.
    """
    here = {one.id: one for one in found}
    linked: dict[str, set[str]] = defaultdict(set)
    for one in found:
        for other in one.candidate.conflicts_with:
            if other != one.id:
                linked[one.id].add(other)
                linked[other].add(one.id)
    kept: list[Found] = []
    turned: list[tuple[Found, Turned]] = []
    groups: dict[str, tuple[str, list[str]]] = {}
    for id in sorted(linked):
        if id not in groups:
            sides = _reached(id, linked)
            missing = [side for side in sides if side not in here]
            groups |= dict.fromkeys(sides, (f"conflict:{sides[0]}", missing))
    for one in found:
        group, missing = groups.get(one.id, ("", []))
        refusal = one.candidate.refusal
        if missing:
            turned.append((one, Turned("conflicted", "with " + ", ".join(missing) + ", not among what may be shown")))
        elif not group and refusal is not None and refusal.reason == "conflicted":
            turned.append((one, Turned("conflicted", refusal.detail)))
        else:
            kept.append(one.but(group=group) if group else one)
    return kept, turned


def _reached(start: str, linked: dict[str, set[str]]) -> list[str]:
    """Everything that conflicts with something that conflicts with … ``start``, sorted."""
    seen, waiting = {start}, [start]
    while waiting:
        for other in linked[waiting.pop()] - seen:
            seen.add(other)
            waiting.append(other)
    return sorted(seen)
