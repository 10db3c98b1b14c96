"""Which memories leave the store: those the recall gate hands over, scope by scope, with their store's own fields."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime

from affidavit.gate.gate import RecallGateResult, recall_gate
from affidavit.gate.hit import RecallQuery
from affidavit.gate.settings import RecallGateConfig
from affidavit.memory.export import Out, safe
from storage.archive import Archive
from storage.queries.governed import GovernedFilter

Scope = tuple[str, str]


def scopes_held(archive: Archive) -> list[Scope]:
    """The scopes of the active memories, in order."""
    found: set[Scope] = set()
    cursor: tuple[object, ...] | None = None
    while True:
        page = archive.governed.memories(GovernedFilter(status="active"), cursor=cursor, limit=500)
        found |= {(row.level, row.scope) for row in page.rows}
        if page.after is None:
            return sorted(found)
        cursor = page.after


def judged(
    archive: Archive, scopes: Iterable[Scope], config: RecallGateConfig, now: datetime, why: str
) -> list[RecallGateResult]:
    """What the gate says of every memory of each scope. ``why``: what stands in the record as the question.

    Nothing is searched for, so every memory matches and there is no limit; all other gates hold.
    """
    results = []
    for level, key in scopes:
        question = RecallQuery.model_validate({"text": why, level: key})
        hits = archive.governed.scope_hits(question, now)
        results.append(recall_gate(hits, question, config.model_copy(update={"max_hits": len(hits)}), now))
    return results


def outgoing(archive: Archive, results: Iterable[RecallGateResult]) -> list[Out]:
    """The memories that were handed over, as they are to be written."""
    found = []
    for id in sorted({hit.id for result in results for hit in result.accepted}):
        (row,) = archive.governed.find_memories(id)
        record = archive.governed.memory(row.id, row.version)
        if record is None or row.status != "active":
            continue
        first = archive.governed.candidate(row.candidate, 1)
        foreign = None if first is None else safe((first.model_extra or {}).get("foreign"))
        found.append(Out(record, foreign, first is not None and first.content == record.content))
    return found
