"""A candidate with everything a decision about it is bound to."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from affidavit.memory.candidate import MemoryCandidate
from affidavit.memory.record import GovernanceMemoryRecord
from affidavit.memory.shown import candidate_shown, digest, record_shown
from affidavit.memory.surroundings import one_chain
from storage.folds.governed_rows import CandidateRow, MemoryRow
from storage.queries import governed
from storage.queries.governed_archive import Checked
from storage.queries.surroundings import Checker


def checked(checker: Checker, row: CandidateRow, candidate: MemoryCandidate, now: datetime) -> Checked:
    """Check a candidate, and take down what of it is shown."""
    report = checker.check(row, candidate, now)
    shown = candidate_shown(row.id, row.version, candidate, report)
    over = candidate.expires()
    status = report.status(row.status)
    if over is not None and over <= now and status != "quarantined" and row.status == "pending":
        status = "expired"
    claim = governed.claim(checker.link, row.id)
    return Checked(row, candidate, report, status, shown, digest(shown), claim)


def memory_shown(checker: Checker, row: MemoryRow, record: GovernanceMemoryRecord) -> dict[str, Any]:
    """What of a memory is shown: with those in the store that say otherwise."""
    found = conflicts_of(checker.link, row, record)
    return record_shown(record, found, ["conflict"] if found else [])


def conflicts_of(link: governed.Link, row: MemoryRow, record: GovernanceMemoryRecord) -> list[tuple[str, str]]:
    """Other active memories with another value for a key of this one: (id, digest)."""
    if row.status != "active":
        return []
    query = (
        "SELECT DISTINCT o.id, m.version FROM said s JOIN said o ON o.attribute = s.attribute AND o.value <> s.value "
        "JOIN memory m ON m.id = o.id WHERE s.what = 'memory' AND s.id = ? AND o.what = 'memory' AND o.id <> s.id "
        "AND s.value <> '' AND o.value <> '' AND m.status = 'active' ORDER BY o.id"
    )
    found = []
    for id, version in link.rows(query, (row.id,)):
        other = governed.read_memory(link, id, version)
        if other is None or not one_chain((record.scope.level, record.scope.key), (other.scope.level, other.scope.key)):
            continue
        found.append((id, digest({"id": id, "version": version, "content": other.content})))
    return found
