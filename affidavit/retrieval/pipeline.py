"""The whole of a scoped retrieval in one call.

    scope resolution → query planning → candidate recall → boundary filtering → task-aware reranking → evidence packing
    → budget trimming → citation binding → projection → audit snapshot

It is a pure function of what it is given: recallers look where they may, everything else is computed here.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Any, NamedTuple

from affidavit.retrieval.binding import bind, cut_all
from affidavit.retrieval.boundary import filter_all
from affidavit.retrieval.candidate import Recaller
from affidavit.retrieval.choosing import Choice, Rules, choose
from affidavit.retrieval.frame import frame_tokens
from affidavit.retrieval.packing import pack, packed_alone, recorded
from affidavit.retrieval.plan import RetrievalPlan
from affidavit.retrieval.planning import plan_queries
from affidavit.retrieval.pool import Found, Turned
from affidavit.retrieval.ranking import ENGINE, checked_weights, effective_weights
from affidavit.retrieval.recalling import Recall, recall_all
from affidavit.retrieval.record import budget_of, missing_evidence, rejected_item, stats_of
from affidavit.retrieval.request import PermissionContext, RetrievalBudget, RetrievalIntent, RetrievalScope
from affidavit.retrieval.scoping import resolve_scope
from affidavit.retrieval.scoring import with_scores
from affidavit.retrieval.signals import task_of
from affidavit.retrieval.snapshot import RetrievalAuditSnapshot, RetrievalObservation, RetrievedContextBlock
from affidavit.retrieval.words import PARTS, STAGES, MergePolicy, OutputShape
from affidavit.session.times import iso
from affidavit.text.tokens import METHOD, estimate_tokens

UNREAD = frozenset(("out_of_project", "out_of_branch", "out_of_workspace", "scope_mismatch", "source_denied"))
"""Reasons after which a text is not looked at any more: no part of its score is computed."""


class Retrieved(NamedTuple):
    """A retrieval's record, what a model may be given once the record is written, and the answer to who asked."""

    snapshot: RetrievalAuditSnapshot
    block: RetrievedContextBlock
    observation: RetrievalObservation


def retrieve(
    intent: RetrievalIntent,
    scope: RetrievalScope,
    permission: PermissionContext | None,
    budget: RetrievalBudget | None,
    weights: Mapping[str, float] | None,
    recallers: Sequence[Recaller],
    now: datetime,
    new_id: Callable[[], str],
    *,
    min_score: float = 0.0,
    merge_policy: MergePolicy = "interleave-by-relevance",
    output_shape: OutputShape = "context-block",
) -> Retrieved:
    """Run one retrieval. ``now``: an instant with its zone; ``new_id`` is called once, for the snapshot's id.

    ``permission`` and ``budget`` take the place of the scope's; ``weights`` that of the default ones, by name. Raises
    ``ValueError`` for weights that do not exist and times that are none. What recallers do wrong is recorded.
    Candidates in another order give the same bytes.
    """
    used = checked_weights(weights)
    scope = resolve_scope(intent, scope, permission, budget, now)
    plan = plan_queries(intent, scope, merge_policy=merge_policy, output_shape=output_shape)
    recall = recall_all(plan, scope, recallers, now)
    kept, turned = filter_all(recall.found, plan, scope)
    task = task_of(intent, plan)
    snapshot_id = new_id()
    looked_at = [one for one, why in turned if why.reason not in UNREAD]
    scored = {one.id: one for one in with_scores([*kept, *looked_at], kept, task, intent, scope)}
    packed = pack([scored[one.id] for one in kept], plan.output_shape)
    choice = choose([one.item for one in packed], _rules(plan, scope, used, min_score, snapshot_id))
    ranks = {at: rank for rank, at in enumerate((at for unit in choice.units for at in unit), start=1)}
    items = [_ranked(one.item, choice, at, ranks[at]) for at, one in enumerate(packed)]
    cuts, unfit = cut_all(packed, choice.chosen, scope.budget.trimming_policy, task)
    block, selected = bind(snapshot_id, [(packed[at], items[at], cut) for at, cut in cuts], scope.budget)
    refused = [*choice.refused, *((at, "over_budget", "no part of it fits") for at in unfit)]
    rejected = [rejected_item(items[at], Turned(reason, detail)) for at, reason, detail in refused]
    rejected += [rejected_item(item, why) for item, why in _filtered(turned, scored, plan.output_shape)]
    rejected.sort(key=lambda item: (STAGES.index(item["stage"]), item.get("rank", 0), item["candidateId"]))
    missing = missing_evidence(intent.required_evidence, [packed[at].found for at, _ in cuts])
    snapshot = _snapshot(
        Asked(snapshot_id, intent, scope, plan, recall, used, min_score, now), items, selected, rejected, block, missing
    )
    observation = RetrievalObservation(
        snapshot_id=snapshot_id,
        context_block=block,
        citation_map=snapshot.context_projection.citation_map,
        missing_evidence=missing,
    )
    return Retrieved(snapshot, block, observation)


class Asked(NamedTuple):
    """Everything a snapshot says of the request and the search."""

    id: str
    intent: RetrievalIntent
    scope: RetrievalScope
    plan: RetrievalPlan
    recall: Recall
    weights: dict[str, float]
    min_score: float
    now: datetime


def _rules(
    plan: RetrievalPlan, scope: RetrievalScope, weights: dict[str, float], min_score: float, snapshot_id: str
) -> Rules:
    return Rules(
        weights=weights,
        max_tokens=scope.budget.max_tokens,
        per_item_max=scope.budget.per_item_max,
        min_score=min_score,
        top_k={query.id: query.top_k for query in plan.sub_queries},
        shares={query.id: query.token_budget for query in plan.sub_queries if query.token_budget is not None},
        max_unverified=scope.evidence_policy.max_unverified_items,
        merge_policy=plan.merge_policy,
        shortens=scope.budget.trimming_policy != "drop",
        frame=frame_tokens(snapshot_id),
    )


def _ranked(item: dict[str, Any], choice: Choice, at: int, rank: int) -> dict[str, Any]:
    """A candidate with its total and rank."""
    score = {**item["score"], "diversity": choice.diversities[at], "total": choice.totals[at]}
    return {**item, "score": score, "rank": rank}


def _filtered(
    turned: Sequence[tuple[Found, Turned]], scored: Mapping[str, Found], shape: OutputShape
) -> list[tuple[dict[str, Any], Turned]]:
    """What was turned away before ranking, with its cost, and the parts of its score where it was looked at at all."""
    return [
        (
            packed_alone(scored[one.id], shape).item
            if one.id in scored
            else recorded(one) | {"tokens": estimate_tokens(one.candidate.text)},
            why,
        )
        for one, why in turned
    ]


def _snapshot(
    asked: Asked,
    ranked: Sequence[Mapping[str, Any]],
    selected: list[dict[str, Any]],
    rejected: list[dict[str, Any]],
    block: RetrievedContextBlock,
    missing: tuple[str, ...],
) -> RetrievalAuditSnapshot:
    """The record of it all."""
    absent = [name for name in PARTS if ranked and all(item["score"].get(name) is None for item in ranked)]
    budget = asked.scope.budget
    return RetrievalAuditSnapshot.model_validate(
        {
            "id": asked.id,
            "session_id": asked.scope.session_id,
            "turn_id": asked.scope.turn_id,
            "model_request_id": asked.scope.model_request_id,
            "created_at": iso(round(asked.now.timestamp() * 1_000_000)),
            "intent": asked.intent,
            "scope": asked.scope,
            "plan": asked.plan,
            "candidate_stats": stats_of(selected, rejected),
            "selected_items": selected,
            "rejected_items": rejected,
            "budget": {
                "maxTokens": budget.max_tokens,
                "trimmingPolicy": budget.trimming_policy,
                "perItemMax": budget.per_item_max,
                "tokenMethod": METHOD,
                **budget_of(selected, rejected, estimate_tokens(block.rendered)),
            },
            "context_projection": {
                "messageBlockRef": f"payload/{(block.visible_text_hash or '').removeprefix('sha256:')}",
                "visibleTextHash": block.visible_text_hash,
                "blockBytes": len(block.rendered.encode()),
                "citationMap": {
                    item["citationId"]: {
                        "snapshotItemId": item["id"],
                        "sourceRef": item["sourceRef"],
                        "visibleTextHash": item["visibleTextHash"],
                        "authority": item["authority"],
                        "evidenceKind": item["evidenceKind"],
                    }
                    for item in selected
                },
            },
            "missing_evidence": missing,
            "ranking": {
                "engine": ENGINE,
                "weights": asked.weights,
                "effectiveWeights": effective_weights(asked.weights, absent),
                "notComputed": absent,
                "minScore": asked.min_score,
            },
            "recallers": asked.recall.runs,
            "unserved_sources": asked.recall.unserved,
        }
    )
