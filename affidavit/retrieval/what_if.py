"""What a recorded retrieval would have handed over under other settings: the recorded candidates, never a new search.

Works on plain JSON objects as they stand in a store, a thousand snapshots of hundreds of candidates in a second or two.
What would be needed and was not recorded is named, not guessed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from affidavit.retrieval import recorded
from affidavit.retrieval.choosing import Rules, choose
from affidavit.retrieval.frame import frame_tokens
from affidavit.retrieval.ranking import ENGINE, checked_weights
from affidavit.retrieval.words import PARTS, REASONS

Object = dict[str, Any]
Regate = Callable[[Object], Mapping[str, str | None]]
"""Decides anew about a snapshot's memories: by id the reason each is refused, ``None`` where it passes."""

ALLOWABLE = tuple(reason for reason in REASONS if reason not in ("below_top_k", "below_min_score", "over_budget"))
"""Reasons that can be lifted; thresholds and the budget have settings of their own."""

_DECIDED_LATE = frozenset(("below_top_k", "below_min_score", "over_budget", "over_max_unverified"))
_RANKED = _DECIDED_LATE | {"visible"}


@dataclass(frozen=True)
class Changed:
    """Other settings; ``None``: as it was. ``allow``: reasons that turn nobody away; ``regate``: another recall gate.

    Raises ``ValueError`` for weights and reasons that do not exist.
    """

    max_tokens: int | None = None
    per_item_max: int | None = None
    min_score: float | None = None
    weights: Mapping[str, float] | None = None
    top_k: int | None = None
    max_unverified: int | None = None
    allow: frozenset[str] = field(default_factory=frozenset)
    regate: Regate | None = None

    def __post_init__(self) -> None:
        if self.weights is not None:
            checked_weights(self.weights)
        for reason in self.allow:
            if reason not in ALLOWABLE:
                raise ValueError(f"{reason!r} is no reason that can be allowed; there are {', '.join(ALLOWABLE)}")


class Moved(NamedTuple):
    """What became of one candidate: what it was (``visible``, or the reason it was turned away) and would have been."""

    candidate_id: str
    source_ref: str
    before: str
    after: str
    total_before: float | None
    total_after: float | None
    tokens_before: int | None
    tokens_after: int | None


class WhatIf(NamedTuple):
    """A snapshot under other settings.

    ``appeared`` and ``gone``: candidates that would have become visible, and that would not have been; ``resized``:
    visible both ways, with another number of tokens; ``unknown``: candidates about which nothing can be said, with what
    was not recorded of them. ``visible``: ids in the order they would have been handed over; ``tokens``: their sum.
    """

    appeared: list[Moved]
    gone: list[Moved]
    resized: list[Moved]
    unknown: list[tuple[str, str]]
    visible: list[str]
    tokens: int

    @property
    def changed(self) -> bool:
        """Whether the model would have been shown something else."""
        return bool(self.appeared or self.gone or self.resized)


def what_if(body: Object, changed: Changed) -> WhatIf:
    """A recorded snapshot (its body, not its line) under other settings."""
    ours = recorded.obj(body, "ranking").get("engine") == ENGINE
    decide = _decider(body, changed, ours)
    selected = recorded.objects(body, "selectedItems")
    racing = [item for item in selected if decide(item, "visible") is None]
    racing += [item for item in recorded.objects(body, "rejectedItems") if decide(item, item.get("reason")) is None]
    candidates, unknown = _known(racing, changed)
    choice = choose(candidates if ours else list(map(_prepared, candidates)), _rules(body, changed, ours))
    given = {candidates[at]["candidateId"]: (candidates[at], tokens, choice.totals[at]) for at, tokens in choice.chosen}
    shown = {item["candidateId"]: item for item in selected if type(item.get("candidateId")) is str}
    lost = {id: decide(item, "visible") or "not recorded" for id, item in shown.items() if id not in given}
    if lost:
        lost |= {id: reason for at, reason, _ in choice.refused if (id := candidates[at]["candidateId"]) in lost}
    for id, _ in unknown:
        lost.pop(id, None)
    appeared = [
        _moved(item, str(item.get("reason")), "visible", total, tokens)
        for id, (item, tokens, total) in given.items()
        if id not in shown
    ]
    gone = [_moved(shown[id], "visible", reason, None, None) for id, reason in lost.items()]
    resized = [
        _moved(item, "visible", "visible", total, tokens)
        for id, (item, tokens, total) in given.items()
        if id in shown and _resized(item, tokens)
    ]
    return WhatIf(appeared, gone, resized, unknown, list(given), sum(tokens for _, tokens, _ in given.values()))


def _known(items: list[Object], changed: Changed) -> tuple[list[Object], list[tuple[str, str]]]:
    """The candidates that can be ranked, each once, and the others with what was not recorded of them."""
    try:
        ids = [item["candidateId"] for item in items]
        needed = [item["score"]["total" if changed.weights is None else "lexical"] for item in items]
        sizes = [item["tokens"] for item in items]
        if (
            None not in needed
            and {*map(type, ids)} <= {str}
            and {*map(type, sizes)} <= {int}
            and len({*ids}) == len(ids)
        ):
            return items, []
    except (KeyError, TypeError):
        pass  # something was not recorded, or not as we do: each is looked at by itself below
    seen: set[str] = set()
    candidates: list[Object] = []
    unknown: list[tuple[str, str]] = []
    for item in items:
        id = item.get("candidateId")
        if type(id) is not str or id in seen:
            continue
        seen.add(id)
        missing = _missing(item, changed)
        if missing is None:
            candidates.append(item)
        else:
            unknown.append((id, missing))
    return candidates, unknown


def _decider(body: Object, changed: Changed, ours: bool) -> Callable[[Object, Any], str | None]:
    """What says of a candidate and its recorded reason why it stays turned away; ``None``: it is ranked anew."""
    if ours and not changed.allow and changed.regate is None:
        return lambda _, reason: None if reason in _RANKED else reason
    verdicts = changed.regate(body) if changed.regate is not None else {}
    return lambda item, reason: _standing(item, str(reason), changed, ours, verdicts)


def _standing(
    item: Object, reason: str, changed: Changed, ours: bool, verdicts: Mapping[str, str | None]
) -> str | None:
    """The reason a candidate stays turned away whatever the ranking; ``None``: it is ranked with the others."""
    id = item.get("candidateId")
    if type(id) is str and id in verdicts:
        refused = verdicts[id]
        if refused is not None and refused not in changed.allow:
            return refused
        if refused is None and reason in REASONS and REASONS[reason].stage in ("governance", "scope"):
            return None
    if reason == "visible" or reason in changed.allow:
        return None
    if reason not in _DECIDED_LATE:
        return reason
    if ours:
        return None
    # How another program ranked is not known: only what a setting decides on directly is decided anew.
    settled = {
        "below_top_k": changed.top_k is None and changed.weights is None,
        "below_min_score": changed.min_score is None and changed.weights is None,
        "over_budget": changed.max_tokens is None and changed.per_item_max is None,
        "over_max_unverified": changed.max_unverified is None,
    }
    return reason if settled[reason] else None


def _missing(item: Object, changed: Changed) -> str | None:
    """What would have to be known of a candidate and was not recorded."""
    score = item.get("score")
    if type(score) is not dict:
        return "score"
    needs_parts = changed.weights is not None or score.get("total") is None
    if needs_parts and score.get("lexical") is None and all(score.get(name) is None for name in PARTS):
        return "score parts"
    return None if type(item.get("tokens")) is int else "tokens"


def _prepared(item: Object) -> Object:
    """A candidate with everything ranking looks at."""
    return {"evidenceKind": "", "frameTokens": 0, **item, "verified": item.get("verified")}


def _rules(body: Object, changed: Changed, ours: bool) -> Rules:
    """The recorded settings with the changes."""
    budget, ranking = recorded.obj(body, "budget"), recorded.obj(body, "ranking")
    policy = recorded.obj(recorded.obj(body, "scope"), "evidencePolicy")
    plan = recorded.obj(body, "plan")
    queries = [query for query in recorded.objects(plan, "subQueries") if isinstance(query.get("id"), str)]
    weights = {**recorded.obj(ranking, "weights"), **(changed.weights or {})}
    most = changed.max_tokens if changed.max_tokens is not None else _number(budget.get("maxTokens"), 1 << 53)
    if not ours and changed.max_tokens is None and changed.per_item_max is None:
        most = 1 << 53  # another program's way of counting: what fitted fits
    was = _number(budget.get("maxTokens"), 0)
    shares = {query["id"]: _number(query.get("tokenBudget"), 0) for query in queries if query.get("tokenBudget")}
    if changed.max_tokens is not None and was:
        shares = {id: round(share * most / was) for id, share in shares.items()}
    per_item = changed.per_item_max if changed.per_item_max is not None else budget.get("perItemMax")
    return Rules(
        weights=checked_weights({name: weight for name, weight in weights.items() if name in PARTS}),
        max_tokens=most,
        per_item_max=per_item if type(per_item) is int else None,
        min_score=changed.min_score if changed.min_score is not None else _share(ranking.get("minScore")),
        top_k={
            query["id"]: _number(query.get("topK"), 1 << 53) if changed.top_k is None else changed.top_k
            for query in queries
        },
        shares=shares if ours else {},
        max_unverified=changed.max_unverified if changed.max_unverified is not None else _maybe(policy, ours),
        merge_policy=str(plan.get("mergePolicy") or "interleave-by-relevance"),
        shortens=budget.get("trimmingPolicy") != "drop",
        frame=frame_tokens(str(body.get("id"))) if ours else 0,
        diversify=ours and (changed.weights is not None or bool(changed.allow) or changed.regate is not None),
        recorded_totals=changed.weights is None and not changed.allow and changed.regate is None,
    )


def _maybe(policy: Object, ours: bool) -> int | None:
    most = policy.get("maxUnverifiedItems")
    return most if ours and type(most) is int else None


def _number(value: Any, default: int) -> int:
    return value if type(value) is int and value >= 0 else default


def _share(value: Any) -> float:
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else 0.0


def _moved(item: Object, before: str, after: str, total: float | None, tokens: int | None) -> Moved:
    was, ref = recorded.obj(item, "score").get("total"), item.get("sourceRef")
    return Moved(
        item["candidateId"],
        ref if isinstance(ref, str) else "",
        before,
        after,
        was if isinstance(was, int | float) else None,
        total,
        _shown(item) if before == "visible" else None,
        tokens,
    )


def _shown(item: Object) -> int | None:
    """The tokens an item was shown with."""
    cut = recorded.obj(item, "trimming").get("tokensAfter")
    tokens = cut if type(cut) is int else item.get("tokens")
    return tokens if type(tokens) is int else None


def _resized(item: Object, given: int) -> bool:
    """Whether an item would have been shown with more or less of its text.

    What may be taken is seldom taken to the last token, so a shortened item is the same while its room is.
    """
    shown, whole = _shown(item), item.get("tokens")
    if shown is None:
        return False
    if not item.get("shortened"):
        return given != whole
    room = recorded.obj(item, "trimming").get("allowed")
    return given != room if type(room) is int else given < shown or given == whole
