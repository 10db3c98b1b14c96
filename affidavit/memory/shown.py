"""What a decision is bound to: a digest of everything about a candidate or memory that was shown."""

from __future__ import annotations

from hashlib import sha256
from typing import Any

from affidavit.memory.candidate import MemoryCandidate
from affidavit.memory.checks import CheckReport
from affidavit.memory.record import GovernanceMemoryRecord
from affidavit.proof.canonical import canonical


def digest(value: Any) -> str:
    """SHA-256 over the RFC 8785 bytes of a JSON value, in hex."""
    return sha256(canonical(value)).hexdigest()


def candidate_shown(
    id: str, version: int, candidate: MemoryCandidate, report: CheckReport, target: tuple[str, int] | None = None
) -> dict[str, Any]:
    """What of a candidate is shown, as far as a decision is bound to it."""
    ttl = candidate.ttl
    return {
        "id": id,
        "version": version,
        "content": candidate.content,
        "kind": candidate.kind,
        "scope": {"key": candidate.scope.key, "level": candidate.scope.level},
        "authority": candidate.authority_asked,
        "ttl": _ttl(ttl.expires_at if ttl else None, ttl.review_after if ttl else None),
        "conflicts": _conflicts(report),
        "target": None if target is None else {"id": target[0], "version": target[1]},
        "findings": report.codes(),
    }


def record_shown(record: GovernanceMemoryRecord, conflicts: list[tuple[str, str]], codes: list[str]) -> dict[str, Any]:
    """What of a memory is shown, as far as a decision is bound to it. ``conflicts``: (address, digest) of others."""
    return {
        "id": record.id,
        "version": record.version,
        "content": record.content,
        "kind": record.kind,
        "scope": {"key": record.scope.key, "level": record.scope.level},
        "authority": record.authority,
        "ttl": _ttl(record.expires_at, record.review_after),
        "conflicts": [{"id": id, "digest": of} for id, of in sorted(conflicts)],
        "target": None,
        "findings": sorted(codes),
    }


def _ttl(expires: str | None, review: str | None) -> dict[str, Any] | None:
    return None if expires is None and review is None else {"expiresAt": expires, "reviewAfter": review}


def _conflicts(report: CheckReport) -> list[dict[str, str]]:
    found = {(conflict.id, conflict.digest) for conflict in report.conflicts}
    return [{"id": id, "digest": of} for id, of in sorted(found)]


def difference(before: dict[str, Any] | None, now: dict[str, Any]) -> list[dict[str, Any]]:
    """In what two shown states differ, field by field; without the former only what is there now."""
    if before is None:
        return [{"field": name, "now": value} for name, value in now.items()]
    return [
        {"field": name, "was": before.get(name), "now": now.get(name)}
        for name in now
        if before.get(name) != now.get(name)
    ]
