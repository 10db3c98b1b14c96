"""What an agent runs under and may do without asking, turn after turn: its model, approvals, sandbox, folder.

A record states it whole or in part; what it changes is told against what stood before.
"""

from __future__ import annotations

from affidavit.session.prepare import INFERRED, OK, PAIR, SUMMARY, N, Row, summarise

POLICY, ROLLBACK, TOTALS = "policy", "rollback", "totals"
"""Firsts of :attr:`affidavit.session.event.Reading.queue` of records that state a policy, by name; that take so many
turns out of the conversation; that state the session's tokens so far, as (in, of those from the cache, out, whether the
last request's are told, too)."""

ESCALATED = "escalated"
"""Flag of an intent that asks for more than its sandbox allows; the next event of its record is the request."""

ASKS, ALLOWED, REFUSED = "asks to", "allowed to", "not allowed to"
"""How a request's summary begins, until its outcome is known and after."""


def stated(before: dict[str, str], now: dict[str, str]) -> tuple[dict[str, str], str]:
    """The policy from here on, and what changed (``""``: nothing, or nothing was known before)."""
    after = {**before, **now}
    if not before:
        return after, ""
    changed = [
        f"{name} {before.get(name) or 'not stated'} → {value}"
        for name, value in now.items()
        if before.get(name) != value
    ]
    return after, " · ".join(changed)


def decided(request: Row, result: Row, *, refused: bool) -> None:
    """What came of a request, as the result of its call shows: no decision is recorded."""
    summary = request[SUMMARY]
    if summary.startswith(ASKS):
        request[SUMMARY] = summarise((REFUSED if refused else ALLOWED) + summary[len(ASKS) :])
    request[OK], request[INFERRED], request[PAIR] = int(not refused), 1, result[N]
