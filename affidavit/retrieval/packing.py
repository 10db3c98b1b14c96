"""Evidence packing: the form each candidate is shown in, its text, what that costs, and what it is recorded as."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from affidavit.retrieval.blackening import visible
from affidavit.retrieval.pool import Found
from affidavit.retrieval.projection import header
from affidavit.retrieval.terms import path_of, stem
from affidavit.retrieval.trimming import forbids
from affidavit.retrieval.words import Form, OutputShape
from affidavit.text.tokens import estimate_tokens

LABEL_RESERVE = "0" * 24
"""Stands for a label that is not yet given when an item's cost is estimated."""


class Packed(NamedTuple):
    """A candidate as it would be shown whole.

    ``data``: the bytes its text is cut from; ``of``: what these are (``source``, ``text``: its place in the source is
    not recorded, ``summary``, ``title``). ``redactions`` are ranges of them. ``item``: how the snapshot records it.
    """

    found: Found
    form: Form
    data: bytes
    of: str
    redactions: tuple[tuple[int, int, str], ...]
    item: dict[str, Any]


def pack(found: Sequence[Found], shape: OutputShape) -> list[Packed]:
    """The candidates with their forms and costs, and what decisions are about."""
    governed = _governed(found)
    return [packed_alone(one, shape, governed.get(one.id, ())) for one in found]


def packed_alone(one: Found, shape: OutputShape, governs: Sequence[str] = ()) -> Packed:
    """One candidate; ``governs``: ids of those a decision is about."""
    it = one.candidate
    form, text, of = _shown_as(one, shape)
    redactions: tuple[tuple[int, int, str], ...] = ()
    if of in ("source", "text"):
        redactions = tuple((r.from_, r.to, r.kind) for r in it.permissions.redactions if not r.applied)
    data = text.encode()
    shown = visible(data, [(0, len(data))] if data else [], redactions)
    frame = estimate_tokens(header(LABEL_RESERVE, one, form) + f"\n[/{LABEL_RESERVE}]\n\n")
    item = recorded(one) | {"tokens": estimate_tokens(shown), "frameTokens": frame}
    if governs:
        item["governs"] = list(governs)
    return Packed(one, form, data, of, redactions, item)


def _shown_as(one: Found, shape: OutputShape) -> tuple[Form, str, str]:
    """The form, the text and what the text is: ``source``, ``text``, ``summary`` or ``title``."""
    it = one.candidate
    applied = any(redaction.applied for redaction in it.permissions.redactions)
    spot, size = it.byte_range, len(it.text.encode())
    own = "source" if spot is not None and spot.to - spot.from_ == size and not applied else "text"
    if one.group is not None:
        return "conflict-notice", it.text, own
    if one.outcome == "summary-only":
        return "summary", it.summary or "", "summary"
    if one.outcome == "weak-hint" or (it.evidence_kind == "memory" and one.level == "low"):
        return ("weak-signal", it.summary, "summary") if it.summary else ("weak-signal", it.text, own)
    if shape == "citation-pack":
        return "citation-list", it.title or it.source_ref, "title"
    if shape == "model-brief" and it.summary:
        return "summary", it.summary, "summary"
    return "excerpt", it.text, own


def recorded(one: Found) -> dict[str, Any]:
    """What the snapshot says of a candidate whatever becomes of it; its text is not in here."""
    it = one.candidate
    item: dict[str, Any] = {
        "candidateId": one.id,
        "source": it.source,
        "sourceRef": it.source_ref,
        "sourceVersion": it.source_version,
        "sourceDigest": it.source_digest,
        "sourceRange": {"from": it.byte_range.from_, "to": it.byte_range.to} if it.byte_range else None,
        "capturedAt": it.captured_at,
        "updatedAt": it.updated_at,
        "title": it.title or None,
        "evidenceKind": it.evidence_kind,
        "authorityClass": one.authority_class,
        "authority": one.level,
        "trust": one.trust,
        "visibility": it.permissions.visibility,
        "outcome": one.outcome,
        "redactions": [redaction.as_json() for redaction in it.permissions.redactions] or None,
        "subQueries": list(one.sub_queries),
        "recallers": list(one.recallers),
        "labels": list(one.labels) or None,
        "verified": one.verified,
        "conflictGroup": one.group,
        "belongs": {name: value for name, value in it.scope.as_json().items() if value is not None} or None,
        "hit": it.hit,
    }
    if one.parts:
        item["score"] = dict(one.parts)
        item["signals"] = {name: hit for name, hit in one.signals.items() if hit}
    return {name: value for name, value in item.items() if value is not None}


def _governed(found: Sequence[Found]) -> dict[str, list[str]]:
    """For every decision that forbids something: ids of the candidates it is about, sorted.

    It is about a file that it names as governed, by path or pattern, or whose path its text says.
    """
    from fnmatch import fnmatchcase

    about: dict[str, list[str]] = {}
    files = [(one, path_of(one.candidate.source_ref)) for one in found if one.candidate.evidence_kind == "code"]
    for one in found:
        it = one.candidate
        if it.evidence_kind != "decision-record" or not (forbids(it.text) if it.forbids is None else it.forbids):
            continue
        ids = [
            file.id
            for file, path in files
            if any(path == pattern or fnmatchcase(path, pattern) for pattern in it.governs)
            or (stem(path) and len(path) > 3 and path in it.text)
        ]
        if ids:
            about[one.id] = sorted(ids)
    return about
