"""The snapshot put together: what became of every candidate, with sums that close."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from affidavit.proof.canonical import canonical
from affidavit.retrieval.pool import Found, Turned
from affidavit.retrieval.snapshot import RetrievalAuditSnapshot
from affidavit.retrieval.words import (
    FILTER_STAGES,
    PARTS,
    REASONS,
    REQUIRED_EVIDENCE,
    SELECTED_REASONS,
    SOURCES,
    STAGES,
)


def rejected_item(item: Mapping[str, Any], told: Turned) -> dict[str, Any]:
    """A candidate that was turned away, by name, without its text."""
    reason = REASONS.get(told.reason)
    result = {**item, "stage": reason.stage if reason else "governance", "reason": told.reason}
    result["score"] = full_score(item.get("score"))
    if told.detail:
        result["detail"] = told.detail
    if told.kept_instead:
        result["keptInstead"] = told.kept_instead
    return result


def full_score(score: Mapping[str, Any] | None) -> dict[str, Any]:
    """A score with every part, null where it was not computed."""
    score = score or {}
    return {**dict.fromkeys((*PARTS, "total")), **score}


def stats_of(selected: Sequence[Mapping[str, Any]], rejected: Sequence[Mapping[str, Any]]) -> dict[str, int]:
    """The counts: recalled = filtered + rankedOut + trimmed + selected."""
    stages = Counter(item["stage"] for item in rejected)
    return {
        "recalled": len(selected) + len(rejected),
        "filtered": sum(count for stage, count in stages.items() if stage in FILTER_STAGES),
        "rankedOut": stages["rank"],
        "trimmed": stages["budget"],
        "selected": len(selected),
        "redacted": sum(bool(item.get("redactions")) for item in (*selected, *rejected)),
    }


def budget_of(
    selected: Sequence[Mapping[str, Any]], rejected: Sequence[Mapping[str, Any]], block_tokens: int
) -> dict[str, int]:
    """The token sums: recalled = filtered + ranked out + trimmed + cut + those of the items handed over."""
    by_stage: Counter[str] = Counter()
    for item in rejected:
        by_stage[item["stage"]] += item.get("tokens", 0)
    shown = sum(item["trimming"]["tokensAfter"] if "trimming" in item else item["tokens"] for item in selected)
    whole = sum(item["tokens"] for item in selected)
    return {
        "estimatedTokens": block_tokens,
        "itemTokens": shown,
        "frameTokens": block_tokens - shown,
        "recalledTokens": whole + sum(by_stage.values()),
        "filteredTokens": sum(by_stage[stage] for stage in STAGES if stage in FILTER_STAGES),
        "rankedOutTokens": by_stage["rank"],
        "trimmedTokens": by_stage["budget"],
        "cutTokens": whole - shown,
    }


def selected_reason(one: Found) -> str:
    """The one phrase that says best why a candidate was chosen."""
    kind, source, hits = one.candidate.evidence_kind, one.candidate.source, one.signals
    conditions = (
        hits.get("testName", 0) >= 0.8,
        hits.get("errorText", 0) >= 0.75,
        kind == "code" and one.authority_class == "current-workspace",
        kind == "doc" and (source == "team-rules" or one.level == "high"),
        source in ("current-session", "artifact-store"),
        kind == "decision-record" and one.level == "high",
        kind == "memory" and one.verified,
        kind == "doc" and one.authority_class == "project-doc",
    )
    if one.group is not None:
        return "side of a conflict"
    return next((SELECTED_REASONS[n] for n, holds in enumerate(conditions) if holds), SELECTED_REASONS[-1])


def missing_evidence(required: Sequence[str], selected: Sequence[Found]) -> tuple[str, ...]:
    """What was required and is not among what is handed over."""
    kinds = {one.candidate.evidence_kind for one in selected if one.verified}
    return tuple(name for name in dict.fromkeys(required) if not kinds & set(REQUIRED_EVIDENCE.get(name, (name,))))


def snapshot_bytes(snapshot: RetrievalAuditSnapshot) -> bytes:
    """The snapshot as it is stored: RFC 8785, without the visible texts, which stand once in the rendered block.

    Of what was turned away it says only what does not go without saying (see :class:`Recorded`).
    """
    stored = lean(snapshot.as_json())
    scope = stored["scope"]
    for item in stored["selectedItems"]:
        item.pop("visibleText", None)
    stored["selectedItems"] = [_elsewhere(item, scope) for item in stored["selectedItems"]]
    stored["rejectedItems"] = [_elsewhere(_sparing(item), scope) for item in stored["rejectedItems"]]
    return canonical(stored)


_NEVER = object()
_USUAL: dict[str, Any] = {
    "visibility": "model-visible", "outcome": "full", "verified": True, "title": "", "detail": "", "redactions": [],
    "labels": [], "governs": [], "signals": {},
}  # fmt: skip


def _sparing(item: dict[str, Any]) -> dict[str, Any]:
    """A rejected item without what is so for nearly all, or follows from its source."""
    source = SOURCES.get(item.get("source", ""))
    usual = {**_USUAL, "authorityClass": source.authority, "trust": source.trust} if source else _USUAL
    spared = {name: value for name, value in item.items() if usual.get(name, _NEVER) != value}
    if len(item.get("recallers", ())) == 1:
        spared.pop("recallers")
    return spared


def _elsewhere(item: dict[str, Any], scope: Mapping[str, Any]) -> dict[str, Any]:
    """An item that says where it belongs only where that is not what the scope says."""
    belongs = {name: value for name, value in item.pop("belongs", {}).items() if scope.get(name) != value}
    return {**item, "belongs": belongs} if belongs else item


def lean(value: Any) -> Any:
    """A JSON value without members that are null, but for a score's parts."""
    if isinstance(value, dict):
        return {
            name: full_score(item) if name == "score" and isinstance(item, dict) else lean(item)
            for name, item in value.items()
            if item is not None
        }
    return [lean(item) for item in value] if isinstance(value, list) else value
