"""The evidence policy and what gates before the pipeline decided: what counts as evidence at all."""

from __future__ import annotations

import re

from affidavit.retrieval.plan import RetrievalPlan
from affidavit.retrieval.pool import Found, Turned, micros
from affidavit.retrieval.request import RetrievalScope
from affidavit.retrieval.words import LEVELS
from affidavit.text.hidden import Payload, hidden_payload

_DURATION = re.compile(r"P(?:(\d{1,6})W)?(?:(\d{1,6})D)?(?:T(?:(\d{1,6})H)?(?:(\d{1,6})M)?(?:(\d{1,6})S)?)?")
_LIFTED = frozenset(("stale", "conflicted"))


def outside_evidence(one: Found, plan: RetrievalPlan, scope: RetrievalScope) -> tuple[Found, Turned | None]:
    """The candidate with the labels it gets, and why it is no evidence here; ``None``: it is.

    A refusal of a gate before keeps its code. What is too old is labelled ``stale`` where the scope allows that. Of
    memories in conflict it is decided later, all sides together.
    """
    refusal, policy = one.candidate.refusal, scope.evidence_policy
    if refusal is not None and refusal.reason not in _LIFTED:
        return one, Turned(refusal.reason, refusal.detail)
    late = Turned("stale", refusal.detail) if refusal is not None and refusal.reason == "stale" else None
    late = late or _too_old(one, plan, scope)
    if late is not None:
        if not (scope.time_boundary.allow_stale_memory and one.candidate.evidence_kind == "memory"):
            return one, late
        one = one.labelled("stale")
    if one.candidate.source == "candidate-ledger":
        return one, Turned("unverified", "a memory nobody has approved yet")
    if one.candidate.source == "past-sessions" and not one.verified:
        return one, Turned("unverified", "of past sessions only governed summaries are evidence")
    if one.authority_class is not None and one.authority_class not in policy.accepted_authority:
        return one, Turned("authority_too_low", f"{one.authority_class} is not accepted")
    least = min((LEVELS[q.min_authority] for q in plan.sub_queries if q.id in one.sub_queries), default=0)
    if LEVELS[one.level] < least:
        return one, Turned("authority_too_low", f"{one.level}")
    if hidden := _hidden(one.candidate.text):
        said = hidden[0].text
        return one, Turned("hidden_text", f"{hidden[0].kind} saying {said!r}" if said else hidden[0].kind)
    if policy.require_citation and not one.candidate.source_ref.strip():
        return one, Turned("no_citation", "it names no source")
    return (one if one.verified else one.labelled("unverified")), None


def _hidden(text: str) -> list[Payload]:
    """What hides in a text; the tags that make a flag an English or a Scottish one hide nothing."""
    return [run for run in hidden_payload(text) if text[max(run.start - 1, 0) : run.start] != "\U0001f3f4"]


def _too_old(one: Found, plan: RetrievalPlan, scope: RetrievalScope) -> Turned | None:
    """Whether it is older than every sub-query that found it wants."""
    ages = [q.max_age for q in plan.sub_queries if q.id in one.sub_queries]
    if not ages or any(age is None for age in ages):
        return None
    if one.changed is None:
        return Turned("stale", "its age is not recorded")
    as_of = micros(scope.time_boundary.as_of) or 0
    longest = max(duration(age or "") for age in ages)
    if as_of - one.changed <= longest:
        return None
    return Turned("stale", f"{(as_of - one.changed) / 86_400_000_000:.0f} days old")


def duration(text: str) -> int:
    """Microseconds of an ISO 8601 duration of weeks, days, hours, minutes and seconds (``P30D``, ``PT36H``).

    Raises ``ValueError`` for any other.
    """
    found = _DURATION.fullmatch(text)
    if found is None or not any(found.groups()):
        raise ValueError(f"{text!r} is no duration in days (write P30D)")
    weeks, days, hours, minutes, seconds = (int(number or 0) for number in found.groups())
    return (((weeks * 7 + days) * 24 + hours) * 3600 + minutes * 60 + seconds) * 1_000_000
