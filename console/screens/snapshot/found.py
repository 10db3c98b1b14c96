"""One snapshot read for its view: the recorded object, its items with their texts, what is odd about it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from affidavit.retrieval import recorded
from console.finding import NotFound

if TYPE_CHECKING:
    from affidavit.retrieval.misleading import Finding
    from storage.archive import Archive
    from storage.queries.models import SourceSpan
    from storage.queries.snapshots import SnapshotRow

Object = dict[str, Any]

MOST_BESIDE = 50
"""Snapshots of the same session that are held beside one, to see whether a question was answered twice."""


@dataclass(frozen=True)
class Item:
    """A candidate of a snapshot. ``seen``: what the model was given of it, ``None`` where it was turned away."""

    number: int
    body: Object
    seen: recorded.Seen | None

    @property
    def label(self) -> str:
        """Its citation, or the id of the candidate."""
        if self.seen is not None and self.seen.citation:
            return f"[{self.seen.citation}]"
        return self.word("candidateId") or "?"

    def word(self, name: str) -> str:
        return recorded.word(self.body, name) or ""

    @property
    def stage(self) -> str:
        return recorded.stage_of(self.body) or "?"

    @property
    def score(self) -> float | None:
        """Its total score."""
        return number(recorded.obj(self.body, "score").get("total"))


@dataclass(frozen=True)
class Found:
    """A snapshot as its view shows it."""

    row: SnapshotRow
    body: Object
    place: SourceSpan
    selected: tuple[Item, ...]
    rejected: tuple[Item, ...]
    counts: dict[str, int | None]
    block: recorded.Seen | None
    findings: tuple[Finding, ...]

    def told_of(self, item: Item) -> list[Finding]:
        """Ways in which a candidate misleads, or would have."""
        names = (item.word("candidateId"), item.word("citationId"))
        return [finding for finding in self.findings if finding.candidate_id and finding.candidate_id in names]


def number(value: Any) -> float | None:
    """A number, ``None`` for anything else."""
    return float(value) if isinstance(value, (int, float)) and not isinstance(value, bool) else None


def read_snapshot(archive: Archive, id: str) -> Found:
    """Reads a snapshot by its id. Raises :class:`NotFound`, also where a prefix is not unique."""
    from affidavit.retrieval.misleading import misled
    from storage.queries.snapshots import SnapshotFilter

    near = archive.snapshots.find(id)
    if not near:
        raise NotFound(f"this store holds no snapshot whose id begins with {id}")
    if len(near) > 1:
        raise NotFound(f"snapshot/{id} may mean {len(near)} snapshots; write more of its id")
    row = near[0]
    line = archive.snapshots.line(row.key)
    beside = [] if row.session is None else archive.snapshots.keys(SnapshotFilter(session=row.session))[:MOST_BESIDE]
    others = [archive.snapshots.line(key) for key in beside if key != row.key]
    body = recorded.body_of(line)
    items = recorded.objects(body, "selectedItems")
    selected = [Item(at, item, seen) for at, (item, seen) in enumerate(zip(items, recorded.seen(line), strict=True))]
    rejected = [Item(at, item, None) for at, item in enumerate(recorded.objects(body, "rejectedItems"))]
    return Found(
        row,
        body,
        archive.snapshots.place(row.key),
        tuple(selected),
        tuple(rejected),
        recorded.counts(body),
        recorded.block_seen(line),
        tuple(misled(line, others=others)),
    )
