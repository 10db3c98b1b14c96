"""The closed lists of retrieval and what each word means: sources, authority, stages, reasons.

No models, so that it costs nothing to load. A foreign snapshot may use words that are not here; they are kept
as they came.
"""

from __future__ import annotations

from typing import Final, Literal, NamedTuple, get_args

Purpose = Literal["fix-test", "explain-code", "review-risk", "answer-question"]
PURPOSES: tuple[str, ...] = get_args(Purpose)

AuthorityClass = Literal["current-workspace", "project-doc", "verified-memory", "session-event"]
"""What kind of source vouches for a text: the words of a scope's accepted authority."""

AUTHORITY_CLASSES: tuple[AuthorityClass, ...] = get_args(AuthorityClass)

Level = Literal["low", "medium", "high"]
LEVELS: dict[str, int] = {"low": 0, "medium": 1, "high": 2}
LEVEL_SCORES: dict[str, float] = {"low": 0.3, "medium": 0.6, "high": 1.0}
"""The authority part of a score, by level."""

Trust = Literal["untrusted-observation", "evidence", "instruction"]
TRUSTS: tuple[Trust, ...] = get_args(Trust)
"""Weakest first. Retrieval may lower a text's trust and never raises it."""

FOREIGN_TRUSTS: dict[str, Trust] = {
    "trusted": "instruction",
    "fact": "evidence",
    "untrusted": "untrusted-observation",
    "untrusted_text": "untrusted-observation",
}
"""Other words for the three, read as them."""

Visibility = Literal["model-visible", "runtime-only", "user-only"]
Outcome = Literal["full", "redacted", "summary-only", "weak-hint", "hidden"]
"""What a model may get of a text."""

Form = Literal[
    "excerpt", "summary", "structured-fact", "citation-list", "conflict-notice", "weak-signal", "runtime-only-note"
]
"""The shape a text has in the block a model is given."""

SubQueryIntent = Literal["find-error", "find-code", "find-rule", "find-memory", "find-decision"]
MergePolicy = Literal["interleave-by-relevance", "authority-first", "evidence-balanced"]
OutputShape = Literal["context-block", "citation-pack", "model-brief"]

EVIDENCE_KINDS: tuple[str, ...] = ("doc", "code", "test-log", "memory", "session-event", "decision-record")

REQUIRED_EVIDENCE: dict[str, tuple[str, ...]] = {
    "current-code": ("code",),
    "test-log": ("test-log",),
    "project-rule": ("doc", "decision-record"),
    "verified-memory": ("memory",),
}
"""Which kinds of evidence answer to what an intent requires."""


class Source(NamedTuple):
    """A place that is searched: its authority, the most trust a text from it can have, and the trust it has by itself.

    ``authority`` is ``None`` where nothing vouches for it: such a text is unverified.
    """

    name: str
    authority: AuthorityClass | None
    level: Level
    most_trust: Trust
    trust: Trust


SOURCES: dict[str, Source] = {
    source.name: source
    for source in (
        Source("current-session", "session-event", "high", "instruction", "untrusted-observation"),
        Source("past-sessions", "session-event", "low", "untrusted-observation", "untrusted-observation"),
        Source("artifact-store", "session-event", "medium", "untrusted-observation", "untrusted-observation"),
        Source("workspace-index", "current-workspace", "high", "instruction", "evidence"),
        Source("verified-memory", "verified-memory", "medium", "evidence", "evidence"),
        Source("user-preferences", "verified-memory", "medium", "evidence", "evidence"),
        Source("team-rules", "project-doc", "high", "instruction", "evidence"),
        Source("project-documents", "project-doc", "medium", "instruction", "evidence"),
        Source("decision-records", "project-doc", "high", "evidence", "evidence"),
        Source("candidate-ledger", None, "low", "untrusted-observation", "untrusted-observation"),
        Source("external", None, "low", "untrusted-observation", "untrusted-observation"),
        Source("mcp", None, "low", "untrusted-observation", "untrusted-observation"),
    )
}
"""Every source by name. The ledger of memory candidates is for the runtime only; external ones come by adapter."""

Stage = Literal["scope", "permission", "time", "governance", "rank", "budget"]
STAGES: tuple[Stage, ...] = get_args(Stage)
"""Where a candidate can be turned away, in the order it passes them."""

FILTER_STAGES: Final = frozenset(("scope", "permission", "time", "governance"))
"""The stages counted as *filtered*; ``rank`` is *ranked out*, ``budget`` is *trimmed*."""


class Reason(NamedTuple):
    """Why a candidate was turned away: the stage it belongs to, and in words."""

    stage: Stage
    words: str


REASONS: dict[str, Reason] = {
    "out_of_project": Reason("scope", "it belongs to another project"),
    "out_of_branch": Reason("scope", "it belongs to another branch"),
    "out_of_workspace": Reason("scope", "it lies outside the workspace"),
    "scope_mismatch": Reason("scope", "it belongs to somebody or something else"),
    "source_denied": Reason("permission", "its source may not be read here"),
    "runtime_only": Reason("permission", "only the runtime may see it"),
    "user_only": Reason("permission", "only a person may see it"),
    "not_valid_as_of": Reason("time", "it was not valid at the time asked for"),
    "superseded_version": Reason("time", "another version of it was valid at the time asked for"),
    "stale": Reason("governance", "it is too old, or its age is not recorded"),
    "revoked": Reason("governance", "it was revoked"),
    "expired": Reason("governance", "its time is over"),
    "secret": Reason("governance", "it holds what looks like a secret"),
    "hidden_text": Reason("governance", "it holds characters that hide a text"),
    "low_score": Reason("governance", "it matches too little for the recall gate"),
    "not_approved": Reason("governance", "nobody approved it"),
    "superseded": Reason("governance", "another took its place"),
    "low_confidence": Reason("governance", "too little speaks for it"),
    "contradicts_observation": Reason("governance", "what this session observed says otherwise"),
    "unverified": Reason("governance", "nothing vouches for it"),
    "over_max_unverified": Reason("governance", "as many unverified items as are allowed rank before it"),
    "authority_too_low": Reason("governance", "its source has too little authority for this question"),
    "conflicted": Reason("governance", "another says otherwise, and both sides cannot be shown"),
    "no_citation": Reason("governance", "it cannot be cited"),
    "duplicate": Reason("governance", "the same text stands in another candidate"),
    "over_limit": Reason("governance", "better memories filled the number allowed"),
    "below_top_k": Reason("rank", "better ones filled the number its query asks for"),
    "below_min_score": Reason("rank", "its score is too low"),
    "over_budget": Reason("budget", "there was no room for it"),
}
"""The closed list of reasons, those of the recall gate among them, each with its one stage."""

SELECTED_REASONS: tuple[str, ...] = (
    "matched failing test name",
    "matched error text",
    "current workspace file",
    "verified project rule",
    "recent session observation",
    "high authority decision record",
    "verified memory",
    "project document",
    "side of a conflict",
    "relevant to the question",
)
"""Why an item was chosen: the phrases used here. Other programs have their own."""

Part = Literal["semantic", "lexical", "authority", "recency", "actionability", "diversity"]
PARTS: tuple[str, ...] = (
    "semantic", "lexical", "authority", "recency", "actionability", "diversity", "anchor", "scope", "taskRelevance",
)  # fmt: skip
"""A score's named parts as JSON has them, each 0 to 1 or null where it was not computed."""

DEFAULT_WEIGHTS: dict[str, float] = {
    "semantic": 0.20,
    "lexical": 0.20,
    "authority": 0.20,
    "recency": 0.15,
    "actionability": 0.15,
    "diversity": 0.10,
    "anchor": 0.0,
    "scope": 0.0,
    "taskRelevance": 0.0,
}
