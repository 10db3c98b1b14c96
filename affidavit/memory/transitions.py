"""The state machine of candidates and records: every transition there is. What is not named here is refused."""

from __future__ import annotations

from typing import Final, Literal

Thing = Literal["candidate", "memory"]
Verb = Literal[
    "check", "auto-approve", "approve", "reject", "rewrite", "rescope", "ask", "merge", "withdraw",
    "revoke", "deprecate", "renew", "forget", "undo",
]  # fmt: skip

OPEN: Final = ("pending", "needs_review", "quarantined")
"""Statuses in which a candidate waits for somebody."""

RECORD_STATES: Final = ("active", "expired", "deprecated", "revoked", "merged")


def _candidate() -> dict[tuple[Thing, str, Verb], tuple[str, ...]]:
    table: dict[tuple[Thing, str, Verb], tuple[str, ...]] = {
        ("candidate", "pending", "auto-approve"): ("approved",),
        ("candidate", "expired", "rewrite"): ("pending",),
    }
    ends: dict[Verb, str] = {
        "approve": "approved",
        "reject": "rejected",
        "rewrite": "pending",
        "rescope": "pending",
        "ask": "pending",
        "merge": "merged",
        "withdraw": "withdrawn",
    }
    for status in OPEN:
        table["candidate", status, "check"] = OPEN
        for verb, end in ends.items():
            table["candidate", status, verb] = (end,)
    for status in (*OPEN, "expired", "approved", "rejected", "merged", "withdrawn"):
        table["candidate", status, "forget"] = ("withdrawn",)
        table["candidate", status, "undo"] = OPEN
    return table


def _memory() -> dict[tuple[Thing, str, Verb], tuple[str, ...]]:
    table: dict[tuple[Thing, str, Verb], tuple[str, ...]] = {
        ("memory", "active", "rewrite"): ("active",),
        ("memory", "active", "rescope"): ("active",),
        ("memory", "active", "revoke"): ("revoked",),
        ("memory", "active", "deprecate"): ("deprecated",),
        ("memory", "active", "merge"): ("merged",),
    }
    for status in ("active", "expired", "deprecated"):
        table["memory", status, "renew"] = ("active",)
    for status in RECORD_STATES:
        table["memory", status, "forget"] = ("revoked",)
        table["memory", status, "undo"] = ("active", "deprecated", "revoked", "merged")
    return table


TRANSITIONS: Final[dict[tuple[Thing, str, Verb], tuple[str, ...]]] = {**_candidate(), **_memory()}
"""(what, status it has, verb) to the statuses it may have then.

``forget`` of a candidate takes its texts away and withdraws it: nothing of it is left to decide about. ``undo`` names
what was decided about; whether that decision can be undone depends on what was decided after it.
"""

DECIDES: Final[tuple[Verb, ...]] = (
    "approve", "reject", "rewrite", "rescope", "ask", "merge", "withdraw", "revoke", "deprecate", "renew", "forget",
)  # fmt: skip
"""What a person decides, besides undoing it."""


def ends(thing: Thing, status: str, verb: Verb) -> tuple[str, ...]:
    """The statuses a thing may have after ``verb``; empty where that is not to be done with it."""
    return TRANSITIONS.get((thing, status, verb), ())


def verbs(thing: Thing, status: str) -> list[Verb]:
    """What can be done with a thing in this status."""
    return [verb for (what, has, verb) in TRANSITIONS if what == thing and has == status]
