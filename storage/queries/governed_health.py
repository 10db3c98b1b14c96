"""The memories of a store as a health check looks at them."""

from __future__ import annotations

from datetime import datetime

from affidavit.memory.health import Ailment, Kept, health
from storage.folds.governed_rows import MemoryRow
from storage.queries import governed
from storage.queries.surroundings import Checker

_CHANGED = (
    "SELECT 1 FROM decision WHERE verb IN ('renew', 'deprecate', 'revoke', 'rewrite', 'forget') AND what = 'memory'"
)


def ailments(checker: Checker, now: datetime) -> list[Ailment]:
    """Everything about the active memories of a store that is worth a look."""
    link = checker.link
    columns = governed.MEMORY_COLUMNS
    kept = []
    for values in link.rows(f"SELECT {columns} FROM memory g WHERE g.status = 'active' ORDER BY g.id"):
        one = _kept(checker, MemoryRow(*values))
        if one is not None:
            kept.append(one)
    changed = link.row(_CHANGED + " LIMIT 1") is not None
    return health(kept, checker.every_rule_line(), now, changed=changed)


def _kept(checker: Checker, row: MemoryRow) -> Kept | None:
    record = governed.read_memory(checker.link, row.id, row.version)
    if record is None:
        return None
    query = "SELECT attribute, value FROM said WHERE what = 'memory' AND id = ? ORDER BY attribute, value"
    said = tuple((attribute, value) for attribute, value in checker.link.rows(query, (row.id,)))
    first = governed.read_candidate(checker.link, row.candidate, 1)
    session = None if first is None else first.session
    evidence = [one for ref in record.source_refs if (one := checker.evidence(ref, session)) is not None]
    projects = tuple(sorted({one.project for one in evidence if one.project}))
    return Kept(record, said, len(evidence), projects)
