"""Memories that a query may find, with the scope in the question itself: what lies outside of it is never read.

The engine is lexical: a memory's score is the share of the query's idf mass that is found in it, 0 to 1. A word that
``n`` of the ``N`` memories of that scope hold weighs ``ln(1 + N / (1 + n))``. Every state is given, so that a gate can
say why one is withheld.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from datetime import datetime, timedelta
from math import log
from typing import Final

from affidavit.gate.hit import MemoryHit, RecallQuery, Status
from affidavit.memory.likeness import content_words
from affidavit.session.times import EPOCH
from affidavit.text.masking import holds_secret
from storage.folds.governed_rows import MemoryRow
from storage.queries import governed
from storage.queries.checking import conflicts_of
from storage.queries.governed import Link

ENGINE: Final = "affidavit-lexical"
MOST_HITS: Final = 200
LEVELS: Final = ("user", "workspace", "repo", "branch", "module")
_FIELDS: Final = (
    ("user", "user"), ("agent", "agent"), ("space", "memory_space"), ("route", "route"), ("task_type", "task_type"),
    ("risk_mode", "risk_mode"),
)  # fmt: skip


def memory_hits(link: Link, query: RecallQuery, now: datetime, most: int = MOST_HITS) -> list[MemoryHit]:
    """The memories of a query's scope that share a word with it, the best first. ``now``: an instant with its zone."""
    where, values = _scope(query)
    if not where:
        return []
    wanted = sorted(content_words(query.text))
    if not wanted:
        return []
    # Words are kept apart by spaces, in one form or with an s behind: most memories of a scope are never read at all.
    forms = [f" {word}{ending} " for word in wanted for ending in ("", "s")]
    any_form = " OR ".join("instr(said, ?) > 0" for _ in forms)
    kept = f"SELECT id, words, ' ' || words || ' ' AS said FROM memory {where}"
    rows = link.rows(f"SELECT id, words FROM ({kept}) WHERE {any_form} ORDER BY id", (*values, *forms))
    found = [(id, frozenset(words.split())) for id, words in rows]
    every = int(link.value(f"SELECT count(*) FROM memory {where}", values))
    ranked = sorted(_scored(frozenset(wanted), found, every), key=lambda one: (-one[0], one[1]))[:most]
    hits = []
    for score, id in ranked:
        row = governed.memory(link, id)
        hit = None if row is None else _hit(link, row, score, now)
        if hit is not None:
            hits.append(hit)
    return hits


def scope_hits(link: Link, query: RecallQuery, now: datetime) -> list[MemoryHit]:
    """Every memory of a query's scope, as if each matched wholly, by id. ``now``: an instant with its zone."""
    where, values = _scope(query)
    rows = (governed.memory(link, id) for (id,) in link.rows(f"SELECT id FROM memory {where}", values)) if where else ()
    hits = (None if row is None else _hit(link, row, 1.0, now) for row in rows)
    return [hit for hit in hits if hit is not None]


def _scope(query: RecallQuery) -> tuple[str, tuple[str, ...]]:
    """The memories of this scope as SQL: each field a memory sets must be asked for; a private one names its user."""
    named = [(level, key) for level in LEVELS if (key := getattr(query, level)) is not None]
    if not named:
        return "", ()
    tests = ["(" + " OR ".join("(level = ? AND scope = ?)" for _ in named) + ")"]
    values = [one for pair in named for one in pair]
    for column, field in _FIELDS:
        asked = getattr(query, field)
        if asked is None:
            tests.append(f'"{column}" IS NULL')
        else:
            tests.append(f'("{column}" IS NULL OR "{column}" = ?)')
            values.append(asked)
    private = "(level = 'user' AND scope = ?) OR \"user\" = ?"
    tests.append(f"(visibility = 'shared' OR {private})")
    values += [query.user or "", query.user or ""]
    return "WHERE " + " AND ".join(tests), tuple(values)


def _scored(wanted: frozenset[str], found: list[tuple[str, frozenset[str]]], every: int) -> Iterable[tuple[float, str]]:
    """The score of each of ``found``, of ``every`` memories in the scope."""
    kept = [(id, wanted & _stemmed(words)) for id, words in found]
    held = Counter(word for _, words in kept for word in words)
    mass = {word: log(1 + every / (1 + held[word])) for word in wanted}
    total = sum(mass[word] for word in sorted(wanted))
    for id, words in kept:
        if words:
            yield round(sum(mass[word] for word in sorted(words)) / total, 6), id


def _stemmed(words: frozenset[str]) -> frozenset[str]:
    return content_words(" ".join(sorted(words)))


def _hit(link: Link, row: MemoryRow, score: float, now: datetime) -> MemoryHit | None:
    record = governed.read_memory(link, row.id, row.version)
    if record is None:
        return None
    scope = {row.level: row.scope}
    identity = {field: value for column, field in _FIELDS if (value := getattr(row, column)) is not None}
    status: Status = "private" if row.visibility == "private" else "approved"
    if row.status == "revoked":
        status = "rejected"
    elif row.status in ("deprecated", "merged", "superseded"):
        status = "superseded"
    over = record.expires()
    conflicts = conflicts_of(link, row, record) if over is None or over > now else []
    return MemoryHit(
        **{**identity, **scope},
        id=row.id,
        title=record.title or record.content[:80],
        body=record.content,
        score=score,
        updated_at=EPOCH + timedelta(microseconds=row.updated),
        status=status,
        visibility="private" if row.visibility == "private" else "shared",
        source="memory",
        tags=tuple(record.tags),
        engine=ENGINE,
        confidence=record.confidence,
        expires_at=over,
        revoked=row.status == "revoked",
        secret=holds_secret(record.content),
        superseded_by=row.merged,
        conflicts_with=tuple(id for id, _ in conflicts),
    )
