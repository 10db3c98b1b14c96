"""The words governance uses, each a closed list. No models, so that they cost nothing to load."""

from __future__ import annotations

from typing import Final, Literal

Kind = Literal["user_preference", "project_fact", "task_experience", "procedure_rule"]
Level = Literal["user", "workspace", "repo", "branch", "module", "task"]
RecordLevel = Literal["user", "workspace", "repo", "branch", "module"]
SourceType = Literal["explicit_user", "verified_observation", "repeated_pattern", "tool_output", "agent_reflection"]
Confidence = Literal["low", "medium", "high"]
Authority = Literal["hint", "default", "rule"]
Creator = Literal["runtime", "model", "user", "reviewer"]
Visibility = Literal["private", "shared"]

CandidateStatus = Literal[
    "pending", "needs_review", "quarantined", "approved", "rejected", "merged", "withdrawn", "expired"
]
"""``expired`` is never stored: it is computed from a candidate's time to live and a given now."""
RecordStatus = Literal["active", "deprecated", "revoked", "merged", "superseded", "expired"]
"""``superseded`` is an older version's; ``expired`` is computed like a candidate's."""

Severity = Literal["info", "warning", "danger"]
Outcome = Literal["may_approve", "wait", "needs_person", "narrow_scope", "shorten_ttl", "quarantine", "reject"]
Likeness = Literal["duplicate", "near", "related", "contradicts", "distinct"]
Refusal = Literal["changed", "claimed", "not_allowed", "agent", "four_eyes", "illegal_transition", "not_opened"]

LEVELS: Final[tuple[Level, ...]] = ("user", "workspace", "repo", "branch", "module", "task")
"""Scope levels, the widest first."""

AUTHORITIES: Final[tuple[Authority, ...]] = ("hint", "default", "rule")
CONFIDENCES: Final[tuple[Confidence, ...]] = ("low", "medium", "high")
SOURCES: Final[tuple[SourceType, ...]] = (
    "explicit_user", "verified_observation", "repeated_pattern", "tool_output", "agent_reflection",
)  # fmt: skip
"""Source types, the most trusted first."""

REFUSALS: Final[dict[Refusal, str]] = {
    "changed": "it is not any more what was shown",
    "claimed": "somebody else is deciding about it",
    "not_allowed": "this person may not decide this",
    "agent": "no agent decides what is remembered",
    "four_eyes": "the policy asks for another person than the one who proposed it",
    "illegal_transition": "this cannot be done with what it is now",
    "not_opened": "what hides in it must be opened first",
}
"""Why a decision is refused."""
