"""Sessions: the list in any offered order, its filters and facets, and finding one by the beginning of its id."""

from __future__ import annotations

import json
from typing import Final

from affidavit.text.marks import marked
from storage.queries import arrivals
from storage.queries.conditions import Condition, both, contains
from storage.queries.connection import ReadConnection, Row
from storage.queries.filters import UNCHECKED, Facet, SessionFilter, SessionSort
from storage.queries.models import SessionRow, Tokens, Total
from storage.queries.paging import Cursor, Listing
from storage.queries.revisions import REPLACED_SESSIONS

COLUMNS: Final = f"""s.no, s.uid, s.native, s.format, s.title, s.project, s.timed, s.started, s.ended, s.events,
 s.turns, s.lanes, s.branches, s.problems, s.unreadable, s.models, s.tokens_in, s.tokens_out, s.cache_read,
 s.cache_write, s.checked, s.cwd, s.git_branch, s.version, s.unknown, s.duplicates,
 s.parent, s.relation, s.no IN {REPLACED_SESSIONS}"""
SORTS: Final = {name: f"s.{name}" for name in SessionSort.__args__}  # type: ignore[attr-defined]
FACETS: Final = {
    "agent": "s.format",
    "project": "coalesce(s.project, '')",
    "check": f"coalesce(s.checked, '{UNCHECKED}')",
}
MOST_FACETS: Final = 100
MOST_FOUND: Final = 20
_LAST: Final = chr(0x10FFFF)


def session_row(row: Row) -> SessionRow:
    """A row of :data:`COLUMNS`. A session that recorded no time is sorted as if at 0, and has none."""
    (key, uid, native, agent, title, project, timed, started, ended, events, turns, lanes, branches, problems,
     unreadable, models, *tokens, check, cwd, git_branch, version, unknown, duplicates, parent,
     relation, replaced) = row  # fmt: skip
    if not timed:
        started = ended = None
    return SessionRow(
        key, uid, native, agent, title, project, started, ended, events, turns, lanes, branches, problems, unreadable,
        _models(models), Tokens(*tokens), check, cwd, git_branch, version, unknown, duplicates,
        parent, relation, ("superseded",) if replaced else (),
    )  # fmt: skip


def _models(listed: str) -> tuple[str, ...]:
    try:
        return tuple(str(model) for model in json.loads(listed))
    except (ValueError, TypeError):
        return ()  # somebody changed the table: verify says so, a list must not fail over it


def listing(filter: SessionFilter, sort: SessionSort, descending: bool) -> Listing:
    """The filtered list in order; raises ``ValueError`` for an order that is not offered."""
    if sort not in SORTS:
        raise ValueError(f"sessions are not sorted by {sort!r}")
    return Listing(COLUMNS, "session s", (SORTS[sort], "s.no"), _where(filter), descending)


def cursor_of(link: ReadConnection, key: int, sort: SessionSort) -> Cursor | None:
    """The cursor of a session in the list of an order, ``None`` if there is no such session."""
    return link.row(f"SELECT {SORTS[sort]}, s.no FROM session s WHERE s.no = ?", (key,))


def count(link: ReadConnection, filter: SessionFilter) -> Total:
    return Total(listing(filter, "started", True).count(link), True)


def session(link: ReadConnection, key: int) -> SessionRow | None:
    row = link.row(f"SELECT {COLUMNS} FROM session s WHERE s.no = ?", (key,))
    return None if row is None else session_row(row)


def facet(link: ReadConnection, name: Facet) -> list[tuple[str, int]]:
    """(value, sessions) of a field, most frequent first; values are those a :class:`SessionFilter` takes."""
    column = FACETS[name]
    found = link.rows(f"SELECT {column}, count(*) FROM session s GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT ?", (MOST_FACETS,))
    return [(value, number) for value, number in found]


def find(link: ReadConnection, prefix: str) -> list[SessionRow]:
    """Sessions whose uid or native id is, or else begins with, ``prefix``; at most :data:`MOST_FOUND`.

    A whole id is meant as it stands: it finds its session even where other ids begin with it.
    """
    prefix = marked(prefix)
    if not prefix:
        return []
    formats = link.rows("SELECT DISTINCT format FROM session ORDER BY 1")
    asked: list[tuple[str, Row, str]] = [("s.uid", (), prefix.lower())]
    asked += [("s.format = ? AND s.native", format, prefix) for format in formats]
    found: dict[int, SessionRow] = {}
    for end in ("", _LAST):
        for column, values, text in asked:
            sql = f"SELECT {COLUMNS} FROM session s WHERE {column} BETWEEN ? AND ? LIMIT ?"
            for row in link.rows(sql, (*values, text, text + end, MOST_FOUND)):
                found.setdefault(row[0], session_row(row))
        if found:
            break
    return list(found.values())[:MOST_FOUND]


def _where(filter: SessionFilter) -> Condition:
    """A filter as SQL on ``session s``. A ``+`` keeps a test from choosing the index: the order has chosen it."""
    tests = []
    if filter.text:
        tests.append(contains(("s.title", "s.project", "s.native", "s.uid"), filter.text))
    if filter.agent is not None:
        tests.append(Condition("+s.format = ?", (filter.agent,)))
    if filter.project is not None:
        tests.append(Condition(f"{FACETS['project']} = ?", (filter.project,)))
    if filter.check is not None:
        tests.append(Condition(f"{FACETS['check']} = ?", (filter.check,)))
    if filter.since is not None:
        tests.append(Condition("s.timed = 1 AND +s.ended >= ?", (filter.since,)))
    if filter.until is not None:
        tests.append(Condition("s.timed = 1 AND +s.started < ?", (filter.until,)))
    if filter.problems_only:
        tests.append(Condition("+s.problems > 0"))
    if filter.newer is not None:
        tests.append(Condition(f"+s.no IN ({arrivals.SESSIONS})", (filter.newer,)))
    return both(tests)
