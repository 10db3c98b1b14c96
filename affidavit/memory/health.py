"""The health of a store of memories: what is over, due, too wide, without source, in conflict, or never used.

Nothing is changed: cleaning is a decision somebody takes.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import NamedTuple

from affidavit.memory.checks import rule_verdict
from affidavit.memory.record import GovernanceMemoryRecord
from affidavit.memory.surroundings import RuleLine, one_chain
from affidavit.memory.words import Severity

UNUSED_DAYS = 30
"""Days after which a memory that was never retrieved is worth a look; before, it had no chance."""


class Kept(NamedTuple):
    """An active memory as health looks at it. ``said``: (attribute, value) pairs; ``evidence``: its events that are
    there, ``projects``: of their sessions. ``retrieved``, ``cited``: how often, ``None`` where nothing is known."""

    record: GovernanceMemoryRecord
    said: tuple[tuple[str, str], ...]
    evidence: int
    projects: tuple[str, ...]
    retrieved: int | None = None
    cited: int | None = None


class Ailment(NamedTuple):
    """Something found about one memory, or several. ``evidence``: ids, files with lines, dates."""

    code: str
    severity: Severity
    memories: tuple[str, ...]
    evidence: tuple[str, ...]


AILMENTS: dict[str, str] = {
    "expired": "its time is over, and it is still active",
    "review_due": "somebody was to look at it again by now",
    "scope_too_wide": "it reaches further than what speaks for it",
    "no_source": "nothing that speaks for it is in the store",
    "several_active": "more than one is active for what there is one of",
    "contradicts_rule_file": "a rule file says otherwise",
    "restates_rule_file": "a rule file says it already",
    "never_retrieved": "it was never retrieved",
    "always_ignored": "it was given to models, and none ever cited it",
    "lifecycle_unused": "no memory here was ever renewed, deprecated or revoked",
}
"""Every finding and what it means."""


def health(memories: Iterable[Kept], rules: Sequence[RuleLine], now: datetime, *, changed: bool) -> list[Ailment]:
    """Everything worth a look. ``changed``: whether any memory was ever renewed, deprecated, revoked or rewritten."""
    found: list[Ailment] = []
    kept = sorted(memories, key=lambda one: one.record.id)
    for one in kept:
        found += _alone(one, now)
        found += _ruled(one, rules)
    found += _together(kept)
    if kept and not changed and any(_age(one, now) > UNUSED_DAYS for one in kept):
        found.append(Ailment("lifecycle_unused", "info", (), (f"{len(kept)} active",)))
    return sorted(found)


def _age(one: Kept, now: datetime) -> float:
    return (now - datetime.fromisoformat(one.record.approved_at)).total_seconds() / 86_400


def _alone(one: Kept, now: datetime) -> list[Ailment]:
    record, found = one.record, []
    id = (f"memory/{record.id}",)
    over = record.expires()
    if over is not None and over <= now:
        found.append(Ailment("expired", "warning", id, (over.isoformat(),)))
    if record.review_after is not None and datetime.fromisoformat(record.review_after) <= now:
        found.append(Ailment("review_due", "warning", id, (record.review_after,)))
    if one.evidence == 0:
        found.append(Ailment("no_source", "warning", id, tuple(record.source_refs)))
    if record.scope.level in ("user", "workspace") and len(one.projects) == 1 and record.origin != "explicit_user":
        found.append(Ailment("scope_too_wide", "warning", id, one.projects))
    if one.retrieved == 0 and _age(one, now) > UNUSED_DAYS:
        found.append(Ailment("never_retrieved", "info", id, ()))
    if one.retrieved and one.cited == 0:
        found.append(Ailment("always_ignored", "info", id, (str(one.retrieved),)))
    return found


def _ruled(one: Kept, rules: Sequence[RuleLine]) -> list[Ailment]:
    places = defaultdict(list)
    for rule in rules:
        verdict = rule_verdict(one.record.content, rule.text)
        if verdict is not None:
            places[verdict].append(f"{rule.file}:{rule.line}")
    id = (f"memory/{one.record.id}",)
    found = []
    if places["restates"]:
        found.append(Ailment("restates_rule_file", "info", id, tuple(places["restates"])))
    elif places["contradicts"]:
        found.append(Ailment("contradicts_rule_file", "danger", id, tuple(places["contradicts"])))
    return found


def _together(kept: Sequence[Kept]) -> list[Ailment]:
    """Several that say different things about one attribute, in one chain of scopes."""
    by_attribute: dict[str, list[tuple[Kept, str]]] = defaultdict(list)
    for one in kept:
        for attribute, value in one.said:
            if value:
                by_attribute[attribute].append((one, value))
    found = []
    for attribute, said in sorted(by_attribute.items()):
        for place, (one, value) in enumerate(said):
            others = [
                (other.record.id, another)
                for other, another in said[place + 1 :]
                if another != value
                and one_chain(
                    (one.record.scope.level, one.record.scope.key), (other.record.scope.level, other.record.scope.key)
                )
            ]
            if others:
                ids = (one.record.id, *(id for id, _ in others))
                values = (attribute, value, *(another for _, another in others))
                found.append(Ailment("several_active", "danger", tuple(f"memory/{id}" for id in ids), values))
    return found
