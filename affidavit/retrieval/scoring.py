"""The named parts of a score that do not depend on other candidates: each 0 to 1, or none where it is not known."""

from __future__ import annotations

from collections.abc import Sequence

from affidavit.retrieval.pool import Found, micros
from affidavit.retrieval.request import RetrievalIntent, RetrievalScope
from affidavit.retrieval.signals import Task, anchor, lexical, signals_of
from affidavit.retrieval.words import LEVEL_SCORES, REQUIRED_EVIDENCE, Purpose

DIGITS = 6
"""Decimals of every score."""

HALF_LIVES: dict[str, float | None] = {
    "test-log": 2,
    "session-event": 7,
    "code": 180,
    "memory": 90,
    "doc": 365,
    "decision-record": None,
}
"""Days after which a text of a kind is worth half as recent; ``None``: it does not age. So do rules."""

ACTIONABILITY: dict[Purpose, dict[str, float]] = {
    "fix-test": {
        "test-log": 0.9,
        "code": 0.8,
        "rule": 0.8,
        "decision-record": 0.7,
        "memory": 0.6,
        "session-event": 0.5,
    },
    "explain-code": {"code": 0.9, "doc": 0.7, "rule": 0.5, "decision-record": 0.6, "test-log": 0.3},
    "review-risk": {"rule": 1.0, "decision-record": 1.0, "doc": 0.7, "code": 0.6, "memory": 0.5},
    "answer-question": {"doc": 0.7, "rule": 0.7, "code": 0.6, "decision-record": 0.7, "memory": 0.6},
}
"""How well a kind of evidence supports the next step, by purpose; one that is not named supports it a little. A text of
the rules' source is a ``rule``, whatever else it is."""

UNNAMED = 0.4
RULES = frozenset(("team-rules",))


def with_scores(
    found: Sequence[Found], pool: Sequence[Found], task: Task, intent: RetrievalIntent, scope: RetrievalScope
) -> list[Found]:
    """The candidates with their signals and all parts but diversity, which depends on what else there is.

    How rare a word is, is seen from ``pool``: the candidates within every boundary.
    """
    signals = signals_of(found, pool, task)
    as_of = micros(scope.time_boundary.as_of) or 0
    required = {kind for name in intent.required_evidence for kind in REQUIRED_EVIDENCE.get(name, (name,))}
    scored = []
    for one in found:
        hits = signals[one.id]
        parts: dict[str, float | None] = {
            "semantic": one.candidate.score.semantic,
            "lexical": lexical(hits),
            "authority": LEVEL_SCORES[one.level],
            "recency": recency(one, as_of),
            "actionability": actionability(one, intent.purpose, anchor(hits), required),
            "diversity": None,
            "anchor": anchor(hits),
            "scope": closeness(one, scope),
            "taskRelevance": one.candidate.score.task_relevance,
        }
        rounded = {
            name: None if part is None else round(min(max(part, 0.0), 1.0), DIGITS) for name, part in parts.items()
        }
        scored.append(one.but(parts=rounded, signals={name: round(hit, DIGITS) for name, hit in hits.items()}))
    return scored


def recency(one: Found, as_of: int) -> float | None:
    """1 now, a half after the half life of its kind of evidence; ``None`` where its time is not recorded."""
    half = None if one.candidate.source in RULES else HALF_LIVES.get(one.candidate.evidence_kind, 90.0)
    if half is None:
        return 1.0
    if one.changed is None:
        return None
    days = max(as_of - one.changed, 0) / 86_400_000_000
    return float(0.5 ** (days / half))


def actionability(one: Found, purpose: Purpose, hit: float, required: set[str]) -> float:
    """How well it supports the next step: by its kind, more where it hits what the task names, or is asked for."""
    kind = "rule" if one.candidate.source in RULES else one.candidate.evidence_kind
    base = ACTIONABILITY[purpose].get(kind, UNNAMED)
    if one.candidate.evidence_kind in required:
        base = max(base, 0.8)
    return base / 2 + hit * (1 - base / 2)


def closeness(one: Found, scope: RetrievalScope) -> float:
    """The share of project, workspace and branch that it says to share with the scope."""
    belongs = one.candidate.scope
    fields = ("project_id", "workspace_root", "branch")
    return len([f for f in fields if getattr(belongs, f) is not None and getattr(belongs, f) == getattr(scope, f)]) / 3
