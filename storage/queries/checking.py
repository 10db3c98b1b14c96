"""A candidate with everything a decision about it is bound to."""

from __future__ import annotations

from datetime import datetime

from affidavit.memory.candidate import MemoryCandidate
from affidavit.memory.shown import candidate_shown, digest
from storage.folds.governed_rows import CandidateRow
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
