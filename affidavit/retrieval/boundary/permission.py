"""The two gates of permission: may the system read this source, and may a model see this text."""

from __future__ import annotations

from affidavit.retrieval.candidate import Redaction
from affidavit.retrieval.pool import Found, Turned
from affidavit.retrieval.request import RetrievalScope
from affidavit.text.masking import secret_spans

SECRET_RULE = "secrets"


def outside_permission(one: Found, scope: RetrievalScope) -> Turned | None:
    """Why a candidate may not be used by this user or shown to a model; ``None``: it may."""
    source, permissions = one.candidate.source, one.candidate.permissions
    if source in scope.denied_sources:
        return Turned("source_denied", f"{source} is denied")
    if source not in scope.allowed_sources:
        return Turned("source_denied", f"{source} is not among the sources allowed")
    if source not in scope.permission_context.readable_sources:
        return Turned("source_denied", f"{source} is not readable for this user")
    if permissions.visibility == "user-only":
        return Turned("user_only")
    if permissions.visibility == "runtime-only":
        return Turned("runtime_only")
    if source not in scope.permission_context.model_visible_sources:
        return Turned("runtime_only", f"texts of {source} are not shown to a model")
    if permissions.outcome == "hidden":
        return Turned("runtime_only", "its text is hidden")
    if permissions.outcome == "summary-only" and not one.candidate.summary:
        return Turned("runtime_only", "only a summary of it may be shown, and there is none")
    return None


def with_secrets_hidden(one: Found) -> Found:
    """The candidate with what can hardly be anything but a secret among its redactions, and its outcome settled."""
    it = one.candidate
    redactions = [r for r in it.permissions.redactions if r.from_ < r.to]
    taken = [(r.from_, r.to) for r in redactions]
    for start, end in secret_spans(it.text):
        first, last = len(it.text[:start].encode()), len(it.text[:end].encode())
        if not any(a <= first and last <= b for a, b in taken):
            redactions.append(
                Redaction.model_validate({"from": first, "to": last, "kind": "secret", "rule": SECRET_RULE})
            )
    redactions.sort(key=lambda r: (r.from_, r.to, r.kind, r.rule, r.applied))
    outcome = it.permissions.outcome or "full"
    if redactions and outcome == "full":
        outcome = "redacted"
    permissions = it.permissions.model_copy(update={"redactions": tuple(redactions), "outcome": outcome})
    return one.but(candidate=it.model_copy(update={"permissions": permissions}), outcome=outcome)
