"""The JSON that commands about candidates and memories print: one function a shape."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Any

from affidavit.session.times import iso

if TYPE_CHECKING:
    from storage.folds.governed_rows import CandidateRow, ClaimRow, DecisionRow, MemoryRow
    from storage.queries.governed_archive import Checked

CANDIDATE = (
    "id, nativeId, address, version, status, claimedStatus, kind, scope{level, key}, source, confidence, "
    "authorityAsked, createdAt, expiresAt, risk, content"
)
CHECK = (
    "id, nativeId, version, status, findings[{code, severity, points, evidence[]}], risk, outcome, "
    "likeness[{id, score, verdict, differs[]}], conflicts[{id, key}], shownHash"
)
DECISION = "id, verdict, by, reason, shownHash, at, object, findings[], batch, undoneBy"


def candidate(row: CandidateRow, content: str | None, status: str | None = None) -> dict[str, Any]:
    """A candidate in a list. ``risk`` is what it carries by itself; a check adds what it meets in the store."""
    return {
        "id": row.id,
        "nativeId": row.native,
        "address": f"candidate/{row.id}@{row.version}",
        "version": row.version,
        "status": status or row.status,
        "claimedStatus": row.claimed or None,
        "kind": row.kind,
        "scope": {"level": row.level, "key": row.scope},
        "source": row.source,
        "confidence": row.confidence,
        "authorityAsked": row.authority,
        "createdAt": iso(row.created),
        "expiresAt": iso(row.expires),
        "risk": row.risk,
        "content": content,
        "memory": row.memory,
        "mergedInto": row.merged,
        "askedUntil": None if row.until is None else iso(row.until) or "answered",
    }


def check(found: Checked) -> dict[str, Any]:
    """A candidate's check."""
    report = found.report
    return {
        "id": found.row.id,
        "nativeId": found.row.native,
        "version": found.row.version,
        "status": found.status,
        "findings": [
            {"code": one.code, "severity": one.severity, "points": one.points, "evidence": list(one.evidence)}
            for one in report.findings
        ],
        "risk": report.risk,
        "outcome": report.outcome,
        "likeness": [
            {"id": like.id, "score": like.score, "verdict": like.verdict, "differs": list(like.differs)}
            for like in report.likeness
        ],
        "conflicts": [{"id": conflict.id, "key": conflict.key} for conflict in report.conflicts],
        "shownHash": found.shown_hash,
    }


def claim(row: ClaimRow | None, now: datetime) -> dict[str, Any] | None:
    """Who is deciding about something, if anybody still is."""
    if row is None or row.until <= now.timestamp() * 1_000_000:
        return None
    return {"by": row.by, "at": iso(row.at), "until": iso(row.until)}


def waiting(found: Checked, now: datetime) -> dict[str, Any]:
    """A candidate in the queue: whole, with its check."""
    listed = candidate(found.row, found.candidate.content)
    return {**listed, **check(found), "candidate": found.candidate.document(), "claim": claim(found.claim, now)}


def memory(row: MemoryRow, content: str | None, status: str) -> dict[str, Any]:
    """A memory in a list."""
    return {
        "id": row.id,
        "address": f"memory/{row.id}@{row.version}",
        "version": row.version,
        "status": status,
        "kind": row.kind,
        "scope": {"level": row.level, "key": row.scope},
        "authority": row.authority,
        "confidence": row.confidence,
        "visibility": row.visibility,
        "candidateId": row.candidate,
        "createdAt": iso(row.created),
        "approvedAt": iso(row.approved),
        "updatedAt": iso(row.updated),
        "lastVerifiedAt": iso(row.verified),
        "expiresAt": iso(row.expires),
        "reviewAfter": iso(row.review),
        "content": content,
    }


def decision(row: DecisionRow) -> dict[str, Any]:
    """A decision."""
    return {
        "id": row.id,
        "verdict": row.verb,
        "by": row.by,
        "reason": row.reason,
        "shownHash": row.shown_hash,
        "at": iso(row.at),
        "object": f"{row.what}/{row.object}@{row.version}",
        "findings": row.findings.split(),
        "batch": row.batch,
        "memory": row.memory,
        "undoneBy": row.undone,
    }
