"""Which of the ranked candidates are handed over, and how many tokens each may take: thresholds, then the budget.

Works on plain JSON objects as a snapshot records candidates; see :mod:`affidavit.retrieval.ranking`.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple

from affidavit.retrieval.ranking import Item, merged, order, totals_of
from affidavit.retrieval.terms import path_of

NEARLY = 0.7
"""Share of the best total from which a text goes before a second one of a source already shown."""

LEAST_SHORTENED = 24
"""Tokens below which an item is left out rather than shortened."""


class Rules(NamedTuple):
    """What decides.

    ``top_k`` and ``shares`` (tokens at first) are by sub-query; ``frame`` is what the block costs without items;
    ``shortens``: items may be shortened; ``diversify``: the diversity part is made here; ``recorded_totals``: totals
    that stand in the items are used as they are.
    """

    weights: Mapping[str, float]
    max_tokens: int
    per_item_max: int | None = None
    min_score: float = 0.0
    top_k: Mapping[str, int] = {}
    shares: Mapping[str, int] = {}
    max_unverified: int | None = None
    merge_policy: str = "interleave-by-relevance"
    shortens: bool = True
    frame: int = 0
    diversify: bool = True
    recorded_totals: bool = False


class Choice(NamedTuple):
    """What was decided of each item, by its place in what was given.

    ``chosen``: places and the tokens each may take, in the order they are handed over. ``refused``: places with reason
    and detail. ``totals`` and ``diversities`` are by place; ``units``: all places in order of rank.
    """

    chosen: list[tuple[int, int]]
    refused: list[tuple[int, str, str]]
    totals: list[float]
    diversities: list[float | None]
    units: list[list[int]]


def choose(items: Sequence[Item], rules: Rules) -> Choice:
    """Rank the items, apply the thresholds, and share out the budget. The order of the items changes nothing."""
    totals, varied = _totals(items, rules)
    units = order(items, totals)
    refused: list[tuple[int, str, str]] = []
    passed = _thresholds(items, units, totals, rules, refused)
    chosen = _share_out(items, merged(items, passed, rules.merge_policy), totals, rules, refused)
    return Choice(chosen, refused, totals, varied, units)


def _totals(items: Sequence[Item], rules: Rules) -> tuple[list[float], list[float | None]]:
    if rules.recorded_totals:
        known = [item["score"].get("total") for item in items]
        if None not in known:
            return known, [None] * len(items)
        made, _ = totals_of(items, rules.weights, diversify=False)
        return [new if one is None else one for one, new in zip(known, made, strict=True)], [None] * len(items)
    return totals_of(items, rules.weights, diversify=rules.diversify)


def _thresholds(
    items: Sequence[Item],
    units: Sequence[list[int]],
    totals: Sequence[float],
    rules: Rules,
    refused: list[tuple[int, str, str]],
) -> list[list[int]]:
    """The units that pass the score, the number of unverified ones and the number of each sub-query."""
    passed = []
    unverified = 0
    counts = dict.fromkeys(rules.top_k, 0)
    for unit in units:
        if len(unit) == 1:  # nearly always, and there may be hundreds of thousands
            item = items[unit[0]]
            best, doubtful, queries = totals[unit[0]], int(item.get("verified") is False), item.get("subQueries") or ()
        else:
            best, doubtful, queries = _together(items, unit, totals)
        if best < rules.min_score:
            refused.extend([(at, "below_min_score", f"at least {rules.min_score:g} is asked for") for at in unit])
            continue
        if doubtful:
            if rules.max_unverified is not None and unverified + doubtful > rules.max_unverified:
                refused.extend([(at, "over_max_unverified", f"{rules.max_unverified} at most") for at in unit])
                continue
            unverified += doubtful
        # Among the best of one of the sub-queries that found it; it counts in all of them.
        within = not queries
        for query in queries:
            if query in counts:
                counts[query] += 1
                within = within or counts[query] <= rules.top_k[query]
            else:
                within = True
        if within:
            passed.append(unit)
        elif len(unit) == 1:
            refused.append((unit[0], "below_top_k", ""))
        else:
            refused.extend([(at, "below_top_k", "") for at in unit])
    return passed


def _together(items: Sequence[Item], unit: list[int], totals: Sequence[float]) -> tuple[float, int, Collection[str]]:
    """A unit's best total, how many of it are unverified, and the sub-queries that found it."""
    queries = {query for at in unit for query in items[at].get("subQueries") or ()}
    return max(totals[at] for at in unit), [items[at].get("verified") for at in unit].count(False), queries


def _share_out(
    items: Sequence[Item],
    units: Sequence[list[int]],
    totals: Sequence[float],
    rules: Rules,
    refused: list[tuple[int, str, str]],
) -> list[tuple[int, int]]:
    """Tokens for each unit: first every sub-query its own share, then what is left to whoever comes next.

    In both rounds a second text of one source waits until other sources of nearly its worth had their turn. The first
    item of a sub-query may take more than its share. A unit that does not fit is passed over, and the next that fits is
    taken.
    """
    left = rules.max_tokens - rules.frame
    given: dict[int, int] = {}
    shares = dict(rules.shares)
    begun: set[str] = set()
    sources = [path_of(items[unit[0]].get("sourceRef") or "") for unit in units]
    shown: set[str] = set()
    enough = NEARLY * max((totals[at] for unit in units for at in unit), default=0.0)
    for own, fresh in ((True, True), (True, False), (False, True), (False, False)):
        if own and not shares:
            continue
        for number, unit in enumerate(units):
            if unit[0] in given or (fresh and (sources[number] in shown or totals[unit[0]] < enough)):
                continue
            first = items[unit[0]]
            if left - first["frameTokens"] < min(first["tokens"], LEAST_SHORTENED):
                continue
            queries = [query for at in unit for query in items[at].get("subQueries") or ()]
            allowed = _allowance(items, unit, left, rules)
            if allowed is None:
                continue
            cost = sum(allowed) + sum([items[at]["frameTokens"] for at in unit])
            if own and not any(query not in begun or cost <= shares.get(query, 0) for query in queries):
                continue
            if own and len(allowed) == 1 and allowed[0] < _wanted(items[unit[0]], rules) and number:
                continue  # what is left may serve others better; it gets it if nobody else does
            left -= cost
            given.update(zip(unit, allowed, strict=True))
            shown.add(sources[number])
            for query in queries:
                begun.add(query)
                shares[query] = shares.get(query, 0) - cost
    chosen = [(at, given[at]) for unit in units for at in unit if at in given]
    refused.extend((at, "over_budget", "") for unit in units for at in unit if at not in given)
    return chosen


def _wanted(item: Item, rules: Rules) -> int:
    """The tokens an item is given where there is room."""
    tokens: int = item["tokens"]
    return tokens if rules.per_item_max is None else min(tokens, rules.per_item_max)


def _allowance(items: Sequence[Item], unit: list[int], left: int, rules: Rules) -> list[int] | None:
    """The tokens for each of a unit's items out of those left; ``None``: it does not fit."""
    left -= sum(items[at]["frameTokens"] for at in unit)
    wanted = [_wanted(items[at], rules) for at in unit]
    if not rules.shortens and any(items[at]["tokens"] > want for at, want in zip(unit, wanted, strict=True)):
        return None
    if any(want < min(items[at]["tokens"], LEAST_SHORTENED) for at, want in zip(unit, wanted, strict=True)):
        return None
    if sum(wanted) <= left:
        return wanted
    if not rules.shortens or len(unit) > 1 or left < LEAST_SHORTENED:
        return None
    return [left]
