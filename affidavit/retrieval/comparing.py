"""Two recorded snapshots side by side: who moved stage, what scored otherwise, budget, and visible text.

Works on lines as they were recorded, whoever wrote them. What one of them did not record is no difference; it is null.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from affidavit.proof.verdict import text_hash
from affidavit.retrieval import recorded
from affidavit.retrieval.links import DiffLine, difference

Object = dict[str, Any]

PLACES = ("visible", "rank", "budget", "governance", "time", "permission", "scope", "absent")
"""Where a candidate can be in a snapshot, the nearest to the model first; ``absent``: it was not found."""


class Side(NamedTuple):
    """A candidate in one of the two: where it was, why, what it scored."""

    place: str
    reason: str | None = None
    citation: str | None = None
    rank: int | None = None
    total: float | None = None
    score: Object | None = None
    tokens: int | None = None
    text: str | None = None
    hash: str | None = None


class Pair(NamedTuple):
    """A candidate in both. ``changes``: of ``place reason rank score tokens text``, those that differ."""

    candidate_id: str
    source_ref: str
    left: Side
    right: Side
    changes: tuple[str, ...]

    def text_difference(self) -> list[DiffLine]:
        """The visible texts line by line; empty where one of them is not recorded or was not visible."""
        return [] if self.left.text is None or self.right.text is None else difference(self.left.text, self.right.text)


class Field(NamedTuple):
    """A setting or count that differs: its path in the snapshot, and what it is in each."""

    path: str
    left: Any
    right: Any


class Comparison(NamedTuple):
    """Two snapshots: the candidates of both, those that moved first; what of question, scope, plan, settings and counts
    differs; whether the block handed over is the same text (``None``: a hash is missing)."""

    pairs: list[Pair]
    fields: list[Field]
    same_block: bool | None

    @property
    def moved(self) -> list[Pair]:
        """Candidates that were in another place, or found in one of the two only."""
        return [pair for pair in self.pairs if "place" in pair.changes]

    @property
    def same(self) -> bool:
        """Whether nothing that was recorded of both differs."""
        return not self.fields and not any(pair.changes for pair in self.pairs) and self.same_block is not False


def compare(left: Object, right: Object) -> Comparison:
    """Compare two recorded lines. Candidates are the same by id, or where ids differ by source, version and range."""
    sides = _sides(left), _sides(right)
    names = dict(sides[0])
    pairs: list[Pair] = []
    rest = dict(sides[1])
    for id, (ref, key, one) in names.items():
        match = (
            id
            if id in rest
            else next((k for k, (_, other, _) in rest.items() if other == key and k not in names), None)
        )
        other = rest.pop(match)[2] if match is not None else Side("absent")
        pairs.append(Pair(id, ref, one, other, _changes(one, other)))
    pairs += [Pair(id, ref, Side("absent"), one, ("place",)) for id, (ref, _, one) in rest.items()]
    pairs.sort(key=_order)
    hashes = [
        recorded.obj(recorded.body_of(line), "contextProjection").get("visibleTextHash") for line in (left, right)
    ]
    same = hashes[0] == hashes[1] if all(isinstance(hash, str) for hash in hashes) else None
    return Comparison(pairs, list(_fields(recorded.body_of(left), recorded.body_of(right))), same)


def _order(pair: Pair) -> tuple[bool, int, int, str]:
    places = [PLACES.index(side.place) if side.place in PLACES else len(PLACES) for side in (pair.left, pair.right)]
    return "place" not in pair.changes, min(places), pair.left.rank or pair.right.rank or 1 << 53, pair.candidate_id


def _sides(line: Object) -> dict[str, tuple[str, tuple[Any, ...], Side]]:
    """Every candidate of a snapshot by id, with its source, what else tells it apart, and where it was."""
    block = recorded.block_of(line)
    found: dict[str, tuple[str, tuple[Any, ...], Side]] = {}
    for name in ("selectedItems", "rejectedItems"):
        for item in recorded.objects(recorded.body_of(line), name):
            visible = name == "selectedItems"
            ref = recorded.word(item, "sourceRef") or ""
            id = recorded.word(item, "candidateId") or ref
            spot = recorded.obj(item, "sourceRange")
            key = (ref, item.get("sourceVersion"), spot.get("from"), spot.get("to"))
            text = recorded.visible_text(item, block) if visible else None
            score = item.get("score") if isinstance(item.get("score"), dict) else None
            side = Side(
                place="visible" if visible else recorded.stage_of(item) or "governance",
                reason=recorded.word(item, "selectedReason" if visible else "reason"),
                citation=recorded.word(item, "citationId"),
                rank=_whole(item.get("rank")),
                total=_number((score or {}).get("total")),
                score=score,
                tokens=_whole(recorded.obj(item, "trimming").get("tokensAfter")) or _whole(item.get("tokens")),
                text=text,
                hash=recorded.word(item, "visibleTextHash") or (None if text is None else text_hash(text)),
            )
            found.setdefault(id, (ref, key, side))
    return found


def _changes(left: Side, right: Side) -> tuple[str, ...]:
    """What differs of a candidate in both; what one of them does not say does not."""
    if left.place != right.place and "absent" in (left.place, right.place):
        return ("place",)
    said = {
        "place": (left.place, right.place),
        "reason": (left.reason, right.reason),
        "rank": (left.rank, right.rank),
        "score": (_parts(left.score), _parts(right.score)),
        "tokens": (left.tokens, right.tokens),
        "text": (left.hash, right.hash),
    }
    return tuple(name for name, (one, other) in said.items() if one is not None and other is not None and one != other)


def _parts(score: Object | None) -> dict[str, float] | None:
    if score is None:
        return None
    return {name: part for name, value in score.items() if (part := _number(value)) is not None}


_COMPARED = (
    "intent.question", "intent.purpose", "intent.anchors", "intent.requiredEvidence", "scope.purpose", "scope.userId",
    "scope.projectId", "scope.workspaceRoot", "scope.branch", "scope.allowedSources", "scope.deniedSources",
    "scope.permissionContext.readableSources", "scope.permissionContext.modelVisibleSources", "scope.timeBoundary.asOf",
    "scope.timeBoundary.includeAfter", "scope.timeBoundary.excludeAfter", "scope.timeBoundary.allowStaleMemory",
    "scope.evidencePolicy", "plan.mergePolicy", "plan.outputShape", "plan.subQueries", "ranking.engine",
    "ranking.weights", "ranking.minScore", "ranking.notComputed", "missingEvidence", "candidateStats.recalled",
    "candidateStats.filtered", "candidateStats.rankedOut", "candidateStats.trimmed", "candidateStats.selected",
    "candidateStats.redacted", "budget.maxTokens", "budget.perItemMax", "budget.trimmingPolicy",
    "budget.estimatedTokens", "budget.tokenMethod",
)  # fmt: skip
"""What of two snapshots is compared besides their candidates."""


def _fields(left: Object, right: Object) -> Iterator[Field]:
    """A field that only one of them has differs if both recorded what it is a part of."""
    for path in _COMPARED:
        one, other = _at(left, path), _at(right, path)
        if one == other:
            continue
        parent = path.rpartition(".")[0]
        if None not in (one, other) or (parent and None not in (_at(left, parent), _at(right, parent))):
            yield Field(path, one, other)


def _at(body: Object, path: str) -> Any:
    value: Any = body
    for part in path.split("."):
        value = value.get(part) if isinstance(value, dict) else None
    return value


def _number(value: Any) -> float | None:
    return value if isinstance(value, int | float) and not isinstance(value, bool) else None


def _whole(value: Any) -> int | None:
    return value if type(value) is int else None
