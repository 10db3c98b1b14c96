"""The closed lists of context policy: kinds of sources and their order on the page, phases, shares, reasons."""

from __future__ import annotations

from typing import Literal, get_args

SourceKind = Literal[
    "system_rules", "repository_instructions", "user_goal", "recent_tail", "state_summary", "latest_observation",
    "retrieval_result", "memory", "tool_schema",
]  # fmt: skip
SOURCE_KINDS: tuple[SourceKind, ...] = get_args(SourceKind)

Action = Literal["include", "summarize", "reference", "exclude"]
Mode = Literal["full", "excerpt", "summary", "reference"]

Phase = Literal["diagnosing", "planning", "editing", "verifying", "summarizing", "blocked"]
PHASES: tuple[Phase, ...] = get_args(Phase)

PLACES = (
    "system_rules", "repository_instructions", "user_goal", "state", "latest_observation", "recent_tail",
    "retrieval_result", "memory", "older_summary",
)  # fmt: skip
"""The order on the page: rules above observation, present above history, fact above guess."""

Part = Literal["rules", "userGoal", "state", "latestObservation", "recentTail", "retrieval", "memory", "tools"]
PARTS: tuple[Part, ...] = get_args(Part)

PART_OF: dict[str, Part] = {
    "system_rules": "rules",
    "repository_instructions": "rules",
    "user_goal": "userGoal",
    "state": "state",
    "latest_observation": "latestObservation",
    "recent_tail": "recentTail",
    "retrieval_result": "retrieval",
    "memory": "memory",
    "older_summary": "recentTail",
}
"""Which part of the budget pays for what stands at a place."""

WHOLE: frozenset[str] = frozenset(("rules", "userGoal", "state"))
"""Parts that are kept whole, whatever the budget."""

SHARES: dict[Part, float] = {
    "rules": 0.12,
    "userGoal": 0.05,
    "state": 0.08,
    "latestObservation": 0.25,
    "recentTail": 0.15,
    "retrieval": 0.20,
    "memory": 0.05,
    "tools": 0.10,
}
"""Shares of a budget whose parts are not set."""

PHASE_WEIGHTS: dict[Phase, dict[Part, float]] = {
    "diagnosing": {"retrieval": 1.4, "latestObservation": 1.2},
    "planning": {"retrieval": 1.5, "rules": 1.5, "latestObservation": 0.6},
    "editing": {"retrieval": 1.3, "rules": 1.5, "latestObservation": 0.8},
    "verifying": {"latestObservation": 1.8, "retrieval": 0.5, "recentTail": 1.2},
    "summarizing": {"recentTail": 1.8, "latestObservation": 1.2, "retrieval": 0.4, "tools": 0.3},
    "blocked": {"recentTail": 1.5, "tools": 0.5},
}
"""How a phase changes the shares: diagnosing searches and reads, planning and editing need sources and constraints,
verifying the test log and the diff, summarizing results and what changed."""

Effect = Literal["read", "search", "execute", "write", "external"]
"""What a tool does to the world."""

TOOLS_IN: dict[Phase, frozenset[str]] = {
    "diagnosing": frozenset(("read", "search", "execute")),
    "planning": frozenset(("read", "search")),
    "editing": frozenset(("read", "search", "execute", "write")),
    "verifying": frozenset(("read", "search", "execute")),
    "summarizing": frozenset(("read",)),
    "blocked": frozenset(("read", "search")),
}
"""Which tools a phase makes visible; an external one only where it is asked for."""

REASONS: dict[str, str] = {
    "not_relevant": "it does not concern the task",
    "other_folder": "it is about another part of the project",
    "stale": "its file changed after it was read",
    "expired": "its time is over",
    "runtime_only": "only the runtime may see it",
    "not_governed": "nobody approved it",
    "low_confidence": "too little speaks for it",
    "no_source": "it does not say where it is from",
    "no_snapshot": "it did not come by a recorded retrieval",
    "no_original": "a summary without what it is a summary of",
    "generated": "it is generated, and not for editing",
    "older_than_tail": "it is older than what the recent tail keeps",
    "over_budget": "there was no room for it",
    "empty": "there is nothing in it",
}
"""Why something is left out."""

TAIL_LEAST, TAIL_USUAL, TAIL_MOST = 6, 8, 10
"""How many events the recent tail keeps."""
