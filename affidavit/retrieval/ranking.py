"""Totals and order of candidates, from the recorded parts of their scores alone.

What is ranked are plain JSON objects as a snapshot records candidates (``candidateId``, ``evidenceKind``, ``score``,
``conflictGroup``, ``governs``), so that a retrieval and a question about a recorded one run the same code.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from affidavit.retrieval.words import DEFAULT_WEIGHTS, PARTS

ENGINE = "affidavit-1"
"""Names the way parts and totals are made; a snapshot says which was used."""

Item = Mapping[str, Any]


def totals_of(
    items: Sequence[Item], weights: Mapping[str, float], *, diversify: bool
) -> tuple[list[float], list[float | None]]:
    """Every item's total, and the diversity part in it.

    A total is the weighted sum of a score's parts, with the weight of those that are null spread over the others;
    rounded to the 6 decimals a snapshot records, so that what is recorded orders as what was computed. With
    ``diversify`` the diversity part is made here: 1 for the best of its kind of evidence by all other parts, a half for
    the second, and so on. Else it is the recorded one.
    """
    scores = [item["score"] for item in items]
    said = [0.0] * len(items)
    everywhere = 0.0
    somewhere: list[float] | None = None
    for name in PARTS:
        weight = weights.get(name, 0.0)
        if not weight or (diversify and name == "diversity"):
            continue
        # By columns and not by rows: this runs over hundreds of thousands of recorded candidates.
        parts = [score.get(name) for score in scores]
        if None not in parts:
            said = [sum + weight * part for sum, part in zip(said, parts, strict=True)]
            everywhere += weight
        elif parts.count(None) < len(parts):
            said = [sum if part is None else sum + weight * part for sum, part in zip(said, parts, strict=True)]
            given = [0.0 if part is None else weight for part in parts]
            somewhere = given if somewhere is None else [a + b for a, b in zip(somewhere, given, strict=True)]
    known = [everywhere] * len(items) if somewhere is None else [everywhere + one for one in somewhere]
    whole = sum(weights.values())
    if not diversify:
        recorded = [score.get("diversity") for score in scores]
        return [round(sum * whole / of, 6) if of else 0.0 for sum, of in zip(said, known, strict=True)], recorded
    spread = weights.get("diversity", 0.0)
    varied = _diversities(items, [round(sum / of, 6) if of else 0.0 for sum, of in zip(said, known, strict=True)])
    totals = [
        round((sum + spread * part) * whole / (of + spread), 6) if of + spread else 0.0
        for sum, of, part in zip(said, known, varied, strict=True)
    ]
    return totals, list(varied)


def _diversities(items: Sequence[Item], bases: Sequence[float]) -> list[float]:
    seen: dict[str, int] = {}
    given = [0.0] * len(items)
    for at in best_first(items, bases):
        kind = items[at]["evidenceKind"]
        seen[kind] = count = seen.get(kind, 0) + 1
        given[at] = _SHARES[count] if count < len(_SHARES) else round(1 / count, 6)
    return given


def best_first(items: Sequence[Item], values: Sequence[float]) -> list[int]:
    """Places of the items by falling value; ties are settled by id."""
    ids = [item["candidateId"] for item in items]
    falling = [-value for value in values]
    places = sorted(range(len(ids)), key=ids.__getitem__)
    places.sort(key=falling.__getitem__)
    return places


_SHARES = [0.0, *(round(1 / count, 6) for count in range(1, 1000))]


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


def order(items: Sequence[Item], totals: Sequence[float]) -> list[list[int]]:
    """Places of the items, best first, in units that stand or fall together: the sides of a conflict are one.

    Ties are settled by id. A decision that forbids something stands before all it is about.
    """
    places = best_first(items, totals)
    if not any("conflictGroup" in item or "governs" in item for item in items):
        return [[at] for at in places]
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
    return _decisions_first(items, units) if any(item.get("governs") for item in items) else units


def _decisions_first(items: Sequence[Item], units: list[list[int]]) -> list[list[int]]:
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
        for decision in sorted({by for at in unit for by in governed_by.get(items[at]["candidateId"], ())}):
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
