"""Totals and order of candidates, from the recorded parts of their scores alone.

What is ranked are plain JSON objects as a snapshot records candidates (``candidateId``, ``evidenceKind``, ``score``,
``conflictGroup``, ``governs``), so that a retrieval and a question about a recorded one run the same code.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from affidavit.retrieval.words import DEFAULT_WEIGHTS, PARTS

ENGINE = "affidavit-1"
"""Names the way parts and totals are made; a snapshot says which was used."""

Item = Mapping[str, Any]
Total = Callable[[Mapping[str, Any]], float]


def total_by(weights: Mapping[str, float]) -> Total:
    """The weighted sum of a score's parts, with the weight of those that are null spread over the others.

    Rounded to the 6 decimals a snapshot records, so that what is recorded orders as what was computed.
    """
    used = [(name, weights[name]) for name in PARTS if weights.get(name)]
    whole = sum(weight for _, weight in used)

    def total(score: Mapping[str, Any]) -> float:
        said = known = 0.0
        for name, weight in used:
            part = score.get(name)
            if part is not None:
                said += weight * part
                known += weight
        return round(said * whole / known, 6) if known else 0.0

    return total


def checked_weights(weights: Mapping[str, float] | None) -> dict[str, float]:
    """The default weights with those given in their place. Raises ``ValueError`` for unknown names and sums of 0."""
    given = dict(weights or {})
    for name, weight in given.items():
        if name not in PARTS:
            raise ValueError(f"there is no part {name!r} of a score; there are {', '.join(PARTS)}")
        if not 0 <= weight <= 1000:
            raise ValueError(f"the weight of {name} is {weight}, not between 0 and 1000")
    result = {name: float(given.get(name, DEFAULT_WEIGHTS[name])) for name in PARTS}
    if not sum(result.values()):
        raise ValueError("all weights are 0")
    return result


def effective_weights(weights: Mapping[str, float], missing: Sequence[str]) -> dict[str, float]:
    """The weights with those of parts nobody computed spread over the others in proportion."""
    whole = sum(weights.values())
    known = sum(weight for name, weight in weights.items() if name not in missing)
    scale = whole / known if known else 0.0
    return {name: 0.0 if name in missing else round(weight * scale, 6) for name, weight in weights.items()}


def diversities(items: Sequence[Item], weights: Mapping[str, float]) -> list[float]:
    """How much each adds another kind of evidence: 1 for the best of its kind, a half for the second, and so on."""
    total = total_by({**weights, "diversity": 0.0})
    seen: dict[str, int] = {}
    given = [0.0] * len(items)
    bases = [total(item["score"]) for item in items]
    for at in sorted(range(len(items)), key=lambda at: (-bases[at], items[at]["candidateId"])):
        kind = items[at]["evidenceKind"]
        seen[kind] = seen.get(kind, 0) + 1
        given[at] = round(1 / seen[kind], 6)
    return given


def order(items: Sequence[Item], totals: Sequence[float]) -> list[list[int]]:
    """Places of the items, best first, in units that stand or fall together: the sides of a conflict are one.

    Ties are settled by id. A decision that forbids something stands before all it is about.
    """
    ids = [item["candidateId"] for item in items]
    places = sorted(range(len(items)), key=lambda at: (-totals[at], ids[at]))
    units: list[list[int]] = []
    groups: dict[str, list[int]] = {}
    for at in places:
        group = items[at].get("conflictGroup")
        if group is None:
            units.append([at])
        elif group in groups:
            groups[group].append(at)
        else:
            groups[group] = [at]
            units.append(groups[group])
    if any(item.get("governs") for item in items):
        units = _decisions_first(items, ids, units)
    return units


def _decisions_first(items: Sequence[Item], ids: list[str], units: list[list[int]]) -> list[list[int]]:
    """The units with every decision moved up to stand before the first thing it is about."""
    governed_by: dict[str, list[int]] = {}
    home: dict[int, int] = {}
    for number, unit in enumerate(units):
        for at in unit:
            home[at] = number
            for id in items[at].get("governs") or ():
                governed_by.setdefault(id, []).append(number)
    moved: list[list[int]] = []
    placed: set[int] = set()
    for number, unit in enumerate(units):
        for decision in sorted({by for at in unit for by in governed_by.get(ids[at], ())}):
            if decision not in placed:
                placed.add(decision)
                moved.append(units[decision])
        if number not in placed:
            placed.add(number)
            moved.append(unit)
    return moved


def merged(items: Sequence[Item], units: Sequence[list[int]], policy: str) -> list[list[int]]:
    """The units in the order a merge policy takes them: by score, by authority first, or by turns of each kind."""
    if policy == "authority-first":
        levels = {"high": 0, "medium": 1, "low": 2}
        return sorted(units, key=lambda unit: min(levels.get(items[at].get("authority") or "low", 2) for at in unit))
    if policy == "evidence-balanced":
        seen: dict[str, int] = {}
        turns = []
        for unit in units:
            kind = items[unit[0]]["evidenceKind"]
            seen[kind] = seen.get(kind, 0) + 1
            turns.append(seen[kind])
        return [unit for _, unit in sorted(zip(turns, units, strict=True), key=lambda pair: pair[0])]
    return list(units)
