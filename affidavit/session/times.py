"""Recorded times: read as an instant where they can be, said plainly where they cannot."""

from __future__ import annotations

from datetime import UTC, datetime

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_NAIVE_EPOCH = datetime(1970, 1, 1)


def instant(recorded: str | None) -> tuple[int | None, str]:
    """UTC microseconds since 1970 of an ISO 8601 time, and a flag (``""`` when all is well).

    Flags: ``time_missing``, ``time_unreadable``, ``naive_time`` (no zone named; taken as UTC).
    """
    if not recorded:
        return None, "time_missing"
    try:
        moment = datetime.fromisoformat(recorded)
    except (ValueError, TypeError, OverflowError):
        try:
            moment = datetime.fromisoformat(recorded.upper())  # RFC 3339 allows "t" and "z"
        except (ValueError, TypeError, OverflowError, AttributeError):
            return None, "time_unreadable"
    if moment.tzinfo is None:
        span = moment - _NAIVE_EPOCH
        return span.days * 86_400_000_000 + span.seconds * 1_000_000 + span.microseconds, "naive_time"
    try:
        span = moment - EPOCH
    except OverflowError:
        return None, "time_unreadable"
    return span.days * 86_400_000_000 + span.seconds * 1_000_000 + span.microseconds, ""


def iso(micros: int | None) -> str | None:
    """An instant as ``2026-05-14T10:02:11.000Z`` (milliseconds; microseconds only where they are recorded)."""
    if micros is None:
        return None
    days, rest = divmod(micros, 86_400_000_000)
    try:
        moment = datetime.fromordinal(_NAIVE_EPOCH.toordinal() + days)
    except (ValueError, OverflowError):
        return None
    seconds, fraction = divmod(rest, 1_000_000)
    clock = f"{seconds // 3600:02d}:{seconds // 60 % 60:02d}:{seconds % 60:02d}"
    digits = f"{fraction:06d}"
    return f"{moment.date().isoformat()}T{clock}.{digits[:3] if digits.endswith('000') else digits}Z"
