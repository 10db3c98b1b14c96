"""Folding the ledger into tables."""

FOLDS = (
    "fold", "source", "session", "turn", "lane", "event", "usage", "open_call", "passed", "awaited", "copied",
    "beginning", "repeated", "unreadable", "artifact", "snapshot", "gate_run", "summary", "rule_section",
    "fork", "echo", "candidate", "candidate_version", "candidate_line", "memory", "memory_version", "claim",
    "decision", "said", "tombstone", "policy", "withheld",
)  # fmt: skip
"""The fold tables, in the order ``verify`` compares them."""

INDEXES = ("ix_holder",)
"""Index tables that are filled with them."""
