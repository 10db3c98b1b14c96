"""Memories as candidates: what a search of memory found goes through the recall gate, and comes with its verdict.

The store that is searched comes in as a function, so that there may be one, another, or none.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

from affidavit.gate.gate import recall_gate
from affidavit.gate.hit import MemoryHit, RecallQuery, read_hits
from affidavit.gate.settings import GateSettings
from affidavit.retrieval import recorded
from affidavit.retrieval.candidate import RetrievalCandidate
from affidavit.retrieval.plan import RetrievalSubQuery
from affidavit.retrieval.pool import micros
from affidavit.retrieval.request import RetrievalScope
from affidavit.session.times import EPOCH, iso

Find = Callable[[RecallQuery, datetime], Sequence[MemoryHit]]
"""Searches memory: a query and the present time give hits, in any order, each id once."""

_LEVELS = {"rule": "high", "default": "medium", "hint": "low"}


class MemoryRecaller:
    """Recalls from memory. What the gate refuses comes too, with the gate's reason: it is recorded, never shown."""

    name = "memories"
    sources = ("verified-memory",)

    def __init__(self, find: Find, settings: GateSettings | None = None) -> None:
        self._find = find
        self._settings = settings or GateSettings()

    def recall(self, sub_query: RetrievalSubQuery, scope: RetrievalScope, now: datetime) -> list[RetrievalCandidate]:
        """Every hit of the query as a candidate."""
        query = query_of(scope, sub_query.query_text)
        hits = list(self._find(query, now))
        result = recall_gate(hits, query, self._settings.of(scope.memory_space), now)
        refused = {one.id: {"reason": one.reason, "detail": one.detail} for one in result.rejected}
        return [candidate_of(hit, query, refused.get(hit.id)) for hit in hits]


def query_of(scope: RetrievalScope, text: str) -> RecallQuery:
    """A retrieval's scope as the gate asks for it: its project is the repository."""
    more = scope.model_extra or {}
    return RecallQuery(
        text=text,
        user=scope.user_id,
        agent=scope.agent_id,
        memory_space=scope.memory_space,
        workspace=scope.workspace_root,
        repo=scope.project_id,
        branch=scope.branch,
        task_type=scope.purpose,
        route=more.get("route"),
        module=more.get("module"),
        risk_mode=more.get("riskMode"),
    )


def candidate_of(hit: MemoryHit, query: RecallQuery, refusal: Mapping[str, str] | None) -> RetrievalCandidate:
    """A hit as a candidate. What the gate knew of it, but for title and body, is kept for questions asked later."""
    known = hit.model_dump(mode="json", by_alias=True, exclude={"title", "body"}, exclude_defaults=True)
    updated = None if hit.updated_at is None else iso(round(hit.updated_at.timestamp() * 1_000_000))
    authority = getattr(hit, "authority", None)
    return RetrievalCandidate.model_validate(
        {
            "id": hit.id,
            "source": "verified-memory",
            "source_ref": f"memory/{hit.id}",
            "text": hit.body or hit.title,
            "title": hit.title,
            "evidence_kind": "memory",
            "captured_at": updated,
            "updated_at": updated,
            "authority_level": _LEVELS.get(str(authority)) or ("low" if hit.confidence == "low" else "medium"),
            "confidence": hit.confidence,
            "verified": False if hit.status == "draft" else None,
            "conflicts_with": hit.conflicts_with,
            "recall_score": min(max(hit.score, 0.0), 1.0),
            "refusal": refusal,
            "hit": {**known, "query": query.text},
        }
    )


TEXT_REASONS = frozenset(("secret", "hidden_text", "superseded"))
"""Reasons that follow from a memory's words, which a snapshot does not keep: they stand whatever the settings."""


def gate_anew(settings: GateSettings) -> Callable[[Mapping[str, Any]], dict[str, str | None]]:
    """What decides about a recorded snapshot's memories by other settings: a reason by id, ``None``: it passes.

    Memories of which what the gate knew was not recorded, and those turned away for their words, are left out.
    """

    def decide(body: Mapping[str, Any]) -> dict[str, str | None]:
        held = dict(body)
        items = [*recorded.objects(held, "selectedItems"), *recorded.objects(held, "rejectedItems")]
        known = {
            item["candidateId"]: {**item["hit"], "id": item["candidateId"]}
            for item in items
            if isinstance(item.get("hit"), dict) and item.get("reason") not in TEXT_REASONS
        }
        scope = recorded.obj(held, "scope")
        at = micros(recorded.word(recorded.obj(scope, "timeBoundary"), "asOf"))
        if not known or at is None:
            return {}
        try:
            asked = RetrievalScope.model_validate(scope)
        except ValueError:
            return {}
        hits, _ = read_hits(known.values())
        query = query_of(asked, str(next(iter(known.values())).get("query", "")))
        now = EPOCH + timedelta(microseconds=at)
        result = recall_gate(hits, query, settings.of(asked.memory_space), now)
        verdicts: dict[str, str | None] = {hit.id: None for hit in result.accepted}
        return verdicts | {one.id: one.reason for one in result.rejected}

    return decide
