"""Candidate recall: every recaller asked what concerns it, and what they found put together."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import NamedTuple

from affidavit.proof.canonical import CanonicalError, canonical
from affidavit.retrieval.candidate import Recaller, RetrievalCandidate
from affidavit.retrieval.plan import RetrievalPlan
from affidavit.retrieval.pool import Found
from affidavit.retrieval.request import RetrievalScope
from affidavit.retrieval.snapshot import RecallerRun


class Recall(NamedTuple):
    """What was found, sorted by id; what each recaller did; sources the plan asks and no recaller searches."""

    found: list[Found]
    runs: tuple[RecallerRun, ...]
    unserved: tuple[str, ...]


def recall_all(plan: RetrievalPlan, scope: RetrievalScope, recallers: Sequence[Recaller], now: datetime) -> Recall:
    """Ask every recaller the sub-queries that name a source of its own, narrowed to those sources.

    A candidate found by several is one. A recaller that fails is recorded with its error; the others go on.
    """
    gathered: dict[tuple[str, bytes], tuple[RetrievalCandidate, set[str], set[str]]] = {}
    runs = []
    for recaller in sorted(recallers, key=lambda recaller: recaller.name):
        count, failed, error = 0, [], None
        for query in plan.sub_queries:
            sources = tuple(source for source in query.sources if source in recaller.sources)
            if not sources:
                continue
            try:
                found = recaller.recall(query.model_copy(update={"sources": sources}), scope, now)
                known = [(_bytes(candidate), candidate) for candidate in found]
            except Exception as problem:  # whatever it is, it is recorded, and the others still answer
                failed.append(query.id)
                error = error or f"{type(problem).__name__}: {problem}"[:500]
                continue
            count += len(known)
            for data, candidate in known:
                entry = gathered.setdefault((candidate.id, data), (candidate, set(), set()))
                entry[1].add(query.id)
                entry[2].add(recaller.name)
        runs.append(
            RecallerRun(
                name=recaller.name,
                sources=tuple(sorted(recaller.sources)),
                recalled=count,
                failed_queries=tuple(failed),
                error=error,
            )
        )
    asked = {source for query in plan.sub_queries for source in query.sources}
    unserved = asked - {source for recaller in recallers for source in recaller.sources}
    return Recall(_named_apart(gathered), tuple(runs), tuple(sorted(unserved)))


def _named_apart(gathered: dict[tuple[str, bytes], tuple[RetrievalCandidate, set[str], set[str]]]) -> list[Found]:
    """The candidates sorted; of several that share an id and differ, all but the first get a number behind it."""
    found: list[Found] = []
    taken = {id for id, _ in gathered}
    before: str | None = None
    for (id, _), (candidate, queries, names) in sorted(gathered.items(), key=lambda item: item[0]):
        if id == before:
            number = next(n for n in range(2, len(gathered) + 2) if f"{id}~{n}" not in taken)
            candidate = candidate.model_copy(update={"id": f"{id}~{number}"})
            taken.add(candidate.id)
        before = id
        found.append(
            Found(candidate, tuple(sorted(queries)), tuple(sorted(names)), labels=tuple(sorted(set(candidate.labels))))
        )
    return found


def _bytes(candidate: RetrievalCandidate) -> bytes:
    """What tells a candidate from another of its id. Raises ``TypeError`` for what is no candidate."""
    if not isinstance(candidate, RetrievalCandidate):
        raise TypeError(f"a recaller gave a {type(candidate).__name__}, not a candidate")
    try:
        return canonical(candidate.as_json())
    except CanonicalError as error:
        raise ValueError(f"candidate {candidate.id}: {error}") from None
