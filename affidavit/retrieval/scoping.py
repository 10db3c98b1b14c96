"""Scope resolution: what one retrieval is entitled to see, settled before anything is searched."""

from __future__ import annotations

from datetime import datetime
from hashlib import sha256

from affidavit.proof.canonical import canonical
from affidavit.retrieval.pool import micros
from affidavit.retrieval.request import PermissionContext, RetrievalBudget, RetrievalIntent, RetrievalScope
from affidavit.session.times import iso


def resolve_scope(
    intent: RetrievalIntent,
    scope: RetrievalScope,
    permission: PermissionContext | None,
    budget: RetrievalBudget | None,
    now: datetime,
) -> RetrievalScope:
    """The scope with its permissions, its budget, its purpose and the sources that remain.

    A source is allowed only if the scope allows it, does not deny it, and the system may read it. Nobody searches the
    future: a later ``as_of`` than ``now`` is ``now``. Its id is made from what it says.
    """
    permission = permission or scope.permission_context
    readable = set(permission.readable_sources)
    denied = set(scope.denied_sources)
    allowed = tuple(dict.fromkeys(s for s in scope.allowed_sources if s in readable and s not in denied))
    as_of, latest = micros(scope.time_boundary.as_of), round(now.timestamp() * 1_000_000)
    if as_of is None:
        raise ValueError(f"as of: {scope.time_boundary.as_of!r} is no time (write 2026-05-14T10:00:00Z)")
    boundary = scope.time_boundary.model_copy(update={"as_of": iso(min(as_of, latest))})
    for name in ("include_after", "exclude_after"):
        if getattr(boundary, name) is not None and micros(getattr(boundary, name)) is None:
            raise ValueError(f"{name.replace('_', ' ')}: {getattr(boundary, name)!r} is no time")
    resolved = scope.model_copy(
        update={
            "id": None,
            "purpose": intent.purpose,
            "user_id": scope.user_id or permission.user_id,
            "allowed_sources": allowed,
            "permission_context": permission,
            "time_boundary": boundary,
            "budget": budget or scope.budget,
        }
    )
    return resolved.model_copy(update={"id": scope.id or f"scope-{digest_of(resolved.as_json())}"})


def digest_of(value: object) -> str:
    """16 hex digits that tell one JSON value from others."""
    return sha256(canonical(value)).hexdigest()[:16]
