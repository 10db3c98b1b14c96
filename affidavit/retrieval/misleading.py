"""The seven ways a retrieval misleads an agent, found in a recorded snapshot.

Each finding says whether it was *caught* (the candidate was turned away for it) or reached the model. A finding points
to where a person should look; of what was not recorded nothing is claimed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, Literal, NamedTuple

from affidavit.retrieval import recorded
from affidavit.retrieval.terms import path_of, query_words, words
from affidavit.retrieval.trimming import forbids
from affidavit.retrieval.words import SOURCES

Object = dict[str, Any]
SourceText = Callable[[Object], bytes | None]
"""The bytes of an item's source in the version it names, ``None`` where they are not at hand."""

Way = Literal[
    "similar_irrelevant", "out_of_date", "out_of_scope", "unverified", "citation_without_text", "budget_cut_key_line",
    "replay_drift",
]  # fmt: skip

WAYS: dict[Way, str] = {
    "similar_irrelevant": "similar but irrelevant",
    "out_of_date": "out of date",
    "out_of_scope": "out of scope or permission",
    "unverified": "unverified candidate",
    "citation_without_text": "citation without its text",
    "budget_cut_key_line": "the budget cut the key line",
    "replay_drift": "replay drift",
}
"""The seven, in the order they are told."""

SIMILAR = 0.5
NAMED = 0.5
UNNAMED = 0.2


class Finding(NamedTuple):
    """One way one candidate misleads, or would have. ``detail``: what exactly, in words."""

    way: Way
    caught: bool
    candidate_id: str
    source_ref: str
    detail: str


def misled(
    line: Object, *, source: SourceText | None = None, others: Iterable[Object] = (), requested_at: str | None = None
) -> list[Finding]:
    """All findings over one recorded snapshot.

    ``source`` gives the sources' bytes, so that cut lines can be read. ``others``: lines of the snapshots of the same
    session. ``requested_at``: when the model request it names was made, ISO 8601.
    """
    body = recorded.body_of(line)
    findings = [
        *_similar(body),
        *_rejected_for(body, "out_of_date", _OLD),
        *_old(body),
        *_rejected_for(body, "out_of_scope", _OUTSIDE),
        *_outside(body),
        *_rejected_for(body, "unverified", _DOUBTFUL),
        *_unverified(body),
        *_without_text(line),
        *_cut(body, source),
        *_drift(line, others, requested_at),
    ]
    order = list(WAYS)
    return sorted(findings, key=lambda one: (order.index(one.way), one.caught, one.candidate_id))


_OLD = frozenset(("stale", "expired", "superseded", "superseded_version", "not_valid_as_of", "revoked"))
_OUTSIDE = frozenset((
    "out_of_project", "out_of_branch", "out_of_workspace", "scope_mismatch", "source_denied", "runtime_only",
    "user_only",
))  # fmt: skip
_DOUBTFUL = frozenset(("unverified", "over_max_unverified", "not_approved", "low_confidence"))


def _rejected_for(body: Object, way: Way, reasons: frozenset[str]) -> Iterator[Finding]:
    for item in recorded.objects(body, "rejectedItems"):
        reason = recorded.word(item, "reason")
        if reason in reasons:
            yield _of(item, way, True, f"turned away: {reason}")


def _similar(body: Object) -> Iterator[Finding]:
    """A look-alike that nothing of the task is named in, before a text that names it."""
    ranked = [
        (item, score)
        for name in ("selectedItems", "rejectedItems")
        for item in recorded.objects(body, name)
        if _part(score := recorded.obj(item, "score"), "total") is not None
    ]
    naming = [one for one in ranked if (_part(one[1], "anchor") or 0) >= NAMED]
    selected = {id(item) for item in recorded.objects(body, "selectedItems")}
    for item, score in ranked:
        likeness = _part(score, "semantic")
        likeness = _part(recorded.obj(item, "signals"), "words") if likeness is None else likeness
        anchor = _part(score, "anchor")
        if anchor is None or anchor >= UNNAMED or (likeness or 0) < SIMILAR:
            continue
        if id(item) not in selected:
            yield _of(item, "similar_irrelevant", True, "alike in words, it names nothing of the task")
            continue
        total = _part(score, "total") or 0
        behind = [other for other, its in naming if (_part(its, "total") or 0) < total or id(other) not in selected]
        if behind:
            missed = recorded.word(behind[0], "sourceRef") or recorded.word(behind[0], "candidateId")
            yield _of(
                item, "similar_irrelevant", False, f"it stands before {missed}, which names what the task is about"
            )


def _old(body: Object) -> Iterator[Finding]:
    newer: dict[str, Object] = {}
    for item in recorded.objects(body, "rejectedItems"):
        if recorded.word(item, "reason") in ("not_valid_as_of", "superseded_version"):
            newer[path_of(recorded.word(item, "sourceRef") or "")] = item
    for item in recorded.objects(body, "selectedItems"):
        labels = item.get("labels")
        if isinstance(labels, list) and "stale" in labels:
            yield _of(item, "out_of_date", False, "shown, labelled stale")
            continue
        other = newer.get(path_of(recorded.word(item, "sourceRef") or ""))
        if other is not None and (_time(other) or 0) > (_time(item) or 1 << 62):
            yield _of(
                item,
                "out_of_date",
                False,
                f"a newer version was there: {other.get('sourceVersion') or 'recorded later'}",
            )


def _outside(body: Object) -> Iterator[Finding]:
    scope = recorded.obj(body, "scope")
    permission = recorded.obj(scope, "permissionContext")
    allowed, denied = scope.get("allowedSources"), scope.get("deniedSources")
    shown = permission.get("modelVisibleSources")
    for item in recorded.objects(body, "selectedItems"):
        source = recorded.word(item, "source")
        if recorded.word(item, "visibility") in ("runtime-only", "user-only"):
            yield _of(item, "out_of_scope", False, f"it is {item['visibility']}")
        elif source and ((isinstance(denied, list) and source in denied) or (allowed and source not in allowed)):
            yield _of(item, "out_of_scope", False, f"the scope does not allow {source}")
        elif source and isinstance(shown, list) and shown and source not in shown:
            yield _of(item, "out_of_scope", False, f"texts of {source} are not shown to a model")
        else:
            for name, its in recorded.obj(item, "belongs").items():
                if isinstance(its, str) and scope.get(name) != its:
                    yield _of(item, "out_of_scope", False, f"{name} {its}; the scope is {scope.get(name) or 'open'}")
                    break


def _unverified(body: Object) -> Iterator[Finding]:
    for item in recorded.objects(body, "selectedItems"):
        labels = item.get("labels")
        doubtful = item.get("verified") is False or (isinstance(labels, list) and "unverified" in labels)
        source = SOURCES.get(recorded.word(item, "source") or "")
        if doubtful or (source is not None and source.name == "candidate-ledger"):
            yield _of(item, "unverified", False, "shown though nothing vouches for it")


def _without_text(line: Object) -> Iterator[Finding]:
    """A label that leads to no text, or to one that is not the text that was hashed."""
    body = recorded.body_of(line)
    items = recorded.objects(body, "selectedItems")
    for item, seen in zip(items, recorded.seen(line), strict=True):
        if seen.text is None:
            yield _of(item, "citation_without_text", False, f"[{seen.citation}]: its text was not recorded")
        elif seen.verdict == "differs":
            yield _of(
                item, "citation_without_text", False, f"[{seen.citation}]: the text is not the one that was hashed"
            )
    labels = {recorded.word(item, "citationId") for item in items}
    for label, cited in recorded.obj(recorded.obj(body, "contextProjection"), "citationMap").items():
        if label not in labels:
            ref = recorded.word(cited, "sourceRef") if isinstance(cited, dict) else None
            yield Finding("citation_without_text", False, label, ref or "", f"[{label}] leads to no item")


def _cut(body: Object, source: SourceText | None) -> Iterator[Finding]:
    """What the budget left out that the task needed: a line of a shortened item, or a whole item before weaker ones."""
    selected = recorded.objects(body, "selectedItems")
    asked = set(query_words(" ".join(_asked(body))))
    for item in selected:
        if item.get("shortened") is not True:
            continue
        told = _cut_lines(item, source(item) if source else None, asked)
        if told is not None:
            yield _of(item, "budget_cut_key_line", False, told)
    weakest = min((_part(recorded.obj(item, "score"), "total") or 0 for item in selected), default=0)
    for item in recorded.objects(body, "rejectedItems"):
        if recorded.stage_of(item) != "budget":
            continue
        score = recorded.obj(item, "score")
        if (_part(score, "anchor") or 0) >= NAMED or (selected and (_part(score, "total") or 0) > weakest):
            yield _of(item, "budget_cut_key_line", False, "there was no room for it, and for weaker ones there was")


def _cut_lines(item: Object, data: bytes | None, asked: set[str]) -> str | None:
    """What a shortened item lost; ``None``: nothing of weight. Without its source that is not known, and said."""
    trimming = recorded.obj(item, "trimming")
    if data is None or trimming.get("of") != "source":
        return "shortened; what was cut is not at hand"
    for part in recorded.objects(trimming, "cut"):
        first, last = part.get("from"), part.get("to")
        if type(first) is not int or type(last) is not int:
            continue
        for text in data[first:last].decode("utf-8", "replace").split("\n"):
            if forbids(text) or (asked and len(asked & set(words(text))) * 2 > len(asked)):
                return f"cut: {text.strip()[:200]}"
    return None


def _asked(body: Object) -> list[str]:
    anchors = recorded.obj(recorded.obj(body, "intent"), "anchors")
    return [text for name in ("errorText", "failingTest") if (text := recorded.word(anchors, name))]


def _drift(line: Object, others: Iterable[Object], requested_at: str | None) -> Iterator[Finding]:
    """A snapshot made after the request it names, or another answer to the same request."""
    from affidavit.session.times import instant

    body = recorded.body_of(line)
    id, request = recorded.word(body, "id") or "", recorded.word(body, "modelRequestId")
    made, asked = instant(recorded.word(body, "createdAt"))[0], instant(requested_at)[0]
    if made is not None and asked is not None and made > asked:
        yield Finding("replay_drift", False, id, "", "it was made after the model request it names")
    mine = recorded.obj(body, "contextProjection").get("visibleTextHash")
    for other_line in others:
        other = recorded.body_of(other_line)
        if other is body or recorded.word(other, "id") == id or not _same_question(body, other, request):
            continue
        its = recorded.obj(other, "contextProjection").get("visibleTextHash")
        if mine is not None and its is not None and mine != its:
            detail = f"{recorded.word(other, 'id') or 'another snapshot'} answers the same request with another text"
            yield Finding("replay_drift", False, id, "", detail)


def _same_question(body: Object, other: Object, request: str | None) -> bool:
    """Whether two snapshots answer one request: the same intent, or the same question for one model request."""
    intents = recorded.obj(body, "intent"), recorded.obj(other, "intent")
    ids = [recorded.word(one, "id") for one in intents]
    if ids[0] is not None and ids[0] == ids[1]:
        return True
    questions = [recorded.word(one, "question") for one in intents]
    same = questions[0] is not None and questions[0] == questions[1]
    return same and request is not None and recorded.word(other, "modelRequestId") == request


def _of(item: Object, way: Way, caught: bool, detail: str) -> Finding:
    id = recorded.word(item, "candidateId") or recorded.word(item, "citationId") or ""
    return Finding(way, caught, id, recorded.word(item, "sourceRef") or "", detail)


def _part(score: Object, name: str) -> float | None:
    value = score.get(name)
    return value if isinstance(value, int | float) and not isinstance(value, bool) else None


def _time(item: Object) -> int | None:
    from affidavit.session.times import instant

    return instant(recorded.word(item, "updatedAt") or recorded.word(item, "capturedAt"))[0]
