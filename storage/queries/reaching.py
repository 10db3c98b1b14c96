"""What a memory reached: who was given it, where it was found and held back, and what came after its revocation.

Read from what was recorded alone: the runs of the recall gate and the snapshots of retrievals. A dry run hands nothing
over and reaches nobody.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

from affidavit.retrieval import recorded

if TYPE_CHECKING:
    from storage.archive import Archive

GAVE_OUT = frozenset({"revoke", "forget", "reject"})
"""Decisions after which no path that feeds a model serves a memory."""


class Reached(NamedTuple):
    """One place a memory came to.

    ``where``: address of the gate run or snapshot; ``how``: ``visible``, or the reason it was held back for;
    ``citation``: its label in a snapshot. ``at``: UTC microseconds since 1970.
    """

    where: str
    session: str | None
    at: int | None
    how: str
    stage: str | None
    citation: str | None


def places(archive: Archive, memory: str) -> Iterator[Reached]:
    """Everywhere a memory came to, gate runs first, each kind by time."""
    yield from _gate_runs(archive, memory)
    yield from _snapshots(archive, memory)


def _gate_runs(archive: Archive, memory: str) -> Iterator[Reached]:
    cursor: tuple[object, ...] | None = None
    while True:
        page = archive.gate_runs.page(cursor=cursor, limit=500)
        for row in page.rows:
            if row.dry:
                continue
            line = _read(archive.gate_runs.line, row.key)
            accepted = line.get("acceptedIds")
            where = f"gate/{row.uid}"
            if isinstance(accepted, list) and memory in accepted:
                yield Reached(where, row.session_uid, row.at, "visible", None, None)
                continue
            for one in recorded.objects(line, "rejected"):
                if one.get("id") == memory:
                    reason = recorded.word(one, "reason") or "not recorded"
                    yield Reached(where, row.session_uid, row.at, reason, "governance", None)
        if page.after is None:
            return
        cursor = page.after


def _snapshots(archive: Archive, memory: str) -> Iterator[Reached]:
    ref = f"memory/{memory}"
    every = archive.snapshots.keys()
    for key in every:
        row = archive.snapshots.row(key)
        body = recorded.body_of(_read(archive.snapshots.line, key))
        if row is None:
            continue
        for name in ("selectedItems", "rejectedItems"):
            for item in recorded.objects(body, name):
                if not _is(item, memory, ref):
                    continue
                chosen = name == "selectedItems"
                how = "visible" if chosen else recorded.word(item, "reason") or "not recorded"
                stage = None if chosen else recorded.stage_of(item)
                yield Reached(
                    f"snapshot/{row.uid}", row.session_uid, row.at, how, stage, recorded.word(item, "citationId")
                )


def _read(line: Callable[[int], dict[str, Any]], key: int) -> dict[str, Any]:
    """A recorded line; of one that was erased nothing."""
    from storage.queries.records import RecordError

    try:
        return line(key)
    except RecordError:
        return {}


def _is(item: dict[str, Any], memory: str, ref: str) -> bool:
    said = recorded.word(item, "sourceRef") or ""
    return item.get("candidateId") == memory or said == ref or said.startswith(f"{ref}@")


def given_out(archive: Archive, candidate: str, memory: str) -> int | None:
    """When a memory was taken out of use, the first time; ``None``: it never was, or that was taken back."""
    times = [
        decision.at
        for decision in archive.governed.decisions(candidate, memory)
        if decision.verb in GAVE_OUT and decision.what == "memory" and not decision.undone
    ]
    return min(times, default=None)
