"""Query planning: which questions are asked of which sources. They come from the task, not from the sentence alone."""

from __future__ import annotations

from typing import NamedTuple

from affidavit.retrieval.plan import RetrievalPlan, RetrievalSubQuery
from affidavit.retrieval.request import RetrievalIntent, RetrievalScope, TaskState
from affidavit.retrieval.scoping import digest_of
from affidavit.retrieval.terms import distinct, identifiers, paths, query_words
from affidavit.retrieval.words import MergePolicy, OutputShape, Purpose, SubQueryIntent

MAX_QUERY_WORDS = 48

SEARCHED: dict[SubQueryIntent, tuple[str, ...]] = {
    "find-error": ("current-session", "artifact-store", "past-sessions"),
    "find-code": ("workspace-index",),
    "find-rule": ("team-rules", "project-documents", "user-preferences", "external", "mcp"),
    "find-memory": ("verified-memory", "candidate-ledger"),
    "find-decision": ("decision-records",),
}
"""Where each kind of question looks. Every source stands under one."""


class Weight(NamedTuple):
    """How much a purpose cares for a kind of question: candidates asked for, and its share of the tokens."""

    top_k: int
    share: float


WEIGHING: dict[Purpose, dict[SubQueryIntent, Weight]] = {
    "fix-test": {
        "find-error": Weight(12, 0.25),
        "find-code": Weight(16, 0.35),
        "find-rule": Weight(8, 0.15),
        "find-memory": Weight(8, 0.10),
        "find-decision": Weight(6, 0.15),
    },
    "explain-code": {
        "find-error": Weight(4, 0.05),
        "find-code": Weight(20, 0.55),
        "find-rule": Weight(8, 0.20),
        "find-memory": Weight(6, 0.05),
        "find-decision": Weight(6, 0.15),
    },
    "review-risk": {
        "find-error": Weight(6, 0.10),
        "find-code": Weight(12, 0.25),
        "find-rule": Weight(12, 0.25),
        "find-memory": Weight(6, 0.10),
        "find-decision": Weight(12, 0.30),
    },
    "answer-question": {
        "find-error": Weight(8, 0.15),
        "find-code": Weight(12, 0.25),
        "find-rule": Weight(12, 0.30),
        "find-memory": Weight(8, 0.15),
        "find-decision": Weight(8, 0.15),
    },
}

_REQUIRED: dict[str, SubQueryIntent] = {
    "current-code": "find-code",
    "test-log": "find-error",
    "project-rule": "find-rule",
    "verified-memory": "find-memory",
}


def plan_queries(
    intent: RetrievalIntent,
    scope: RetrievalScope,
    *,
    merge_policy: MergePolicy = "interleave-by-relevance",
    output_shape: OutputShape = "context-block",
) -> RetrievalPlan:
    """The plan of one retrieval. It names only sources the scope allows.

    A kind of evidence that is required is asked for half as much again. What a sub-query asks for comes from the
    anchors and the task's state that concern it, then from the question.
    """
    allowed = set(scope.allowed_sources)
    required = {_REQUIRED[name] for name in intent.required_evidence if name in _REQUIRED}
    asked: list[tuple[SubQueryIntent, tuple[str, ...], float]] = []
    known = {source for sources in SEARCHED.values() for source in sources}
    for kind, sources in SEARCHED.items():
        others = tuple(s for s in scope.allowed_sources if s not in known) if kind == "find-rule" else ()
        here = tuple(source for source in (*sources, *others) if source in allowed)
        if here:
            asked.append((kind, here, WEIGHING[intent.purpose][kind].share * (1.5 if kind in required else 1)))
    whole = sum(share for _, _, share in asked)
    queries = []
    for number, (kind, sources, share) in enumerate(asked, start=1):
        texts = _texts(kind, intent)
        queries.append(
            RetrievalSubQuery(
                id=f"q{number}",
                intent=kind,
                query_text=_query(texts),
                sources=sources,
                top_k=WEIGHING[intent.purpose][kind].top_k * (3 if kind in required else 2) // 2,
                token_budget=round(scope.budget.max_tokens * share / whole),
                terms=tuple(distinct(*map(query_words, texts))[:MAX_QUERY_WORDS]),
                identifiers=distinct(intent.anchors.symbols, *map(identifiers, texts)),
                paths=distinct(intent.anchors.current_files, *map(paths, texts)),
            )
        )
    return RetrievalPlan(
        request_id=intent.id or f"intent-{digest_of(intent.as_json())}",
        scope_id=scope.id or "",
        sub_queries=tuple(queries),
        merge_policy=merge_policy,
        output_shape=output_shape,
    )


def _texts(kind: SubQueryIntent, intent: RetrievalIntent) -> list[str]:
    """What a kind of question is made of, the most telling first."""
    anchors, state = intent.anchors, intent.task_state or TaskState()
    failing, error = anchors.failing_test or "", anchors.error_text or ""
    now = [state.current_failure or "", state.latest_observation or ""]
    files = [*anchors.current_files, *state.modified_files]
    others = [value for value in (anchors.model_extra or {}).values() if isinstance(value, str)]
    asked = [intent.question, state.user_goal or ""]
    texts: dict[SubQueryIntent, list[str]] = {
        "find-error": [failing, error, *now, *others, *asked],
        "find-code": [failing, *files, *anchors.symbols, error, *now, *others, *asked],
        "find-rule": [*asked, *state.active_constraints, error, *others],
        "find-memory": [*asked, error, failing, *now, *others],
        "find-decision": [*asked, *files, *state.active_constraints, *others],
    }
    return [text for text in dict.fromkeys(texts[kind]) if text]


def _query(texts: list[str]) -> str:
    """What to search for, at most :data:`MAX_QUERY_WORDS` words."""
    return " ".join(" ".join(texts).split()[:MAX_QUERY_WORDS])
