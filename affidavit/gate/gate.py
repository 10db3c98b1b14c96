"""The gate itself: a pure function over hits that accepts each or says why not.

Gates are passed in a fixed order and the first that fails gives the reason: scope, the store's state, score,
freshness, approval, supersession, confidence, contradiction, conflict, number. Accepted and rejected together are the
candidates, always; their order does not matter.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from datetime import datetime
from typing import Literal, NamedTuple

from affidavit.gate.hit import SCOPE_FIELDS, MemoryHit, RecallQuery
from affidavit.gate.settings import RecallGateConfig
from affidavit.session.times import iso
from affidavit.text.hidden import hidden_payload
from affidavit.text.masking import holds_secret

Reason = Literal[
    "scope_mismatch", "revoked", "expired", "secret", "hidden_text", "low_score", "stale", "not_approved", "superseded",
    "low_confidence", "contradicts_observation", "conflicted", "over_limit",
]  # fmt: skip
REASONS: dict[Reason, str] = {
    "scope_mismatch": "it belongs to somebody or something else",
    "revoked": "it was revoked",
    "expired": "its time is over",
    "secret": "it holds what looks like a secret",
    "hidden_text": "it holds characters that hide a text",
    "low_score": "it matches too little",
    "stale": "it is too old, or its age is not recorded",
    "not_approved": "nobody approved it",
    "superseded": "another took its place",
    "low_confidence": "too little speaks for it",
    "contradicts_observation": "what this session observed says otherwise",
    "conflicted": "another memory says otherwise",
    "over_limit": "better ones filled the number allowed",
}
"""Why a hit is rejected, in the order of the gates."""

_LEVELS = {"low": 0, "medium": 1, "high": 2}


class Rejected(NamedTuple):
    """A hit that is not handed over: why, and for people what exactly. Its body is not in here."""

    id: str
    title: str
    reason: Reason
    detail: str


class RecallGateResult(NamedTuple):
    """What the gate decided, best first; ``at`` is the time it judged by."""

    at: datetime
    query: RecallQuery
    accepted: list[MemoryHit]
    rejected: list[Rejected]
    dry_run: bool

    def reasons(self) -> dict[str, int]:
        """How many were rejected for each reason: all that a model is told."""
        counted = Counter(rejected.reason for rejected in self.rejected)
        return {reason: counted[reason] for reason in REASONS if reason in counted}

    def audit(self) -> dict[str, object]:
        """The audit record: no bodies, no texts."""
        return {
            "at": iso(_micros(self.at)),
            "query": self.query.text,
            "scope": self.query.scope(),
            "acceptedIds": [hit.id for hit in self.accepted],
            "rejected": [{"id": one.id, "title": one.title, "reason": one.reason} for one in self.rejected],
            "dryRun": self.dry_run,
        }


def recall_gate(
    hits: Iterable[MemoryHit], query: RecallQuery, config: RecallGateConfig, now: datetime, *, dry_run: bool = False
) -> RecallGateResult:
    """Decide about every hit of a query. ``now``: an instant with its zone. A dry run decides alike."""
    accepted: list[MemoryHit] = []
    rejected: list[Rejected] = []
    most = config.max_hits if query.limit is None else min(query.limit, config.max_hits)
    for hit in sorted(hits, key=lambda hit: (-hit.score, hit.id, hit.title, hit.body)):
        refusal = _judge(hit, query, config, now)
        if refusal is None and len(accepted) >= most:
            refusal = "over_limit", f"{most} at most"
        if refusal is None:
            accepted.append(hit)
        else:
            rejected.append(Rejected(hit.id, hit.title, *refusal))
    return RecallGateResult(now, query, accepted, rejected, dry_run)


def _judge(hit: MemoryHit, query: RecallQuery, config: RecallGateConfig, now: datetime) -> tuple[Reason, str] | None:
    """The first gate a hit fails at, and what exactly is wrong; ``None``: it passes all."""
    return (
        _scope(hit, query)
        or _state(hit, now)
        or _score(hit, query, config)
        or _fresh(hit, config, now)
        or _approved(hit, config)
        or _current(hit, config)
        or _trusted(hit, config)
    )


def _scope(hit: MemoryHit, query: RecallQuery) -> tuple[Reason, str] | None:
    for name in SCOPE_FIELDS:
        wanted, asked = getattr(hit, name), getattr(query, name)
        if wanted is not None and wanted != asked:
            told = "the query names none" if asked is None else f"asked for {asked}"
            return "scope_mismatch", f"{name.replace('_', ' ')} {wanted}; {told}"
    return None


def _state(hit: MemoryHit, now: datetime) -> tuple[Reason, str] | None:
    if hit.revoked:
        return "revoked", ""
    if hit.expires_at is not None and hit.expires_at <= now:
        return "expired", f"on {hit.expires_at.date()}"
    if hit.secret or holds_secret(hit.named):
        return "secret", ""
    if found := hidden_payload(hit.named):
        return "hidden_text", f"{found[0].kind} saying {found[0].text!r}" if found[0].text else found[0].kind
    return None


def _score(hit: MemoryHit, query: RecallQuery, config: RecallGateConfig) -> tuple[Reason, str] | None:
    least = config.least_score(hit.engine, query.text)
    return None if hit.score >= least else ("low_score", f"{hit.score:.2f}, at least {least:.2f} is asked for")


def _fresh(hit: MemoryHit, config: RecallGateConfig, now: datetime) -> tuple[Reason, str] | None:
    if any(tag in config.exempt_tags for tag in hit.tags):
        return None
    age = hit.age_days(now)
    if age is None:
        return "stale", "when it was updated is not recorded"
    return None if age <= config.max_age_days else ("stale", f"{age:.0f} days old, {config.max_age_days:g} at most")


def _approved(hit: MemoryHit, config: RecallGateConfig) -> tuple[Reason, str] | None:
    if hit.status == "rejected" or (hit.status == "draft" and not config.allow_draft):
        return "not_approved", hit.status
    return None


def _current(hit: MemoryHit, config: RecallGateConfig) -> tuple[Reason, str] | None:
    if hit.superseded_by is not None or hit.status == "superseded":
        return "superseded", f"by {hit.superseded_by}" if hit.superseded_by else ""
    text = hit.named.casefold()
    said = next((word for word in config.superseded_words if word.casefold() in text), None)
    return None if said is None else ("superseded", f"it says {said!r}")


def _trusted(hit: MemoryHit, config: RecallGateConfig) -> tuple[Reason, str] | None:
    if config.min_confidence and hit.confidence and _LEVELS[hit.confidence] < _LEVELS[config.min_confidence]:
        return "low_confidence", f"{hit.confidence}, at least {config.min_confidence} is asked for"
    if hit.contradicted_by is not None:
        return "contradicts_observation", hit.contradicted_by
    if hit.conflicts_with:
        return "conflicted", "with " + ", ".join(sorted(hit.conflicts_with))
    return None


def _micros(moment: datetime) -> int:
    return round(moment.timestamp() * 1_000_000)
