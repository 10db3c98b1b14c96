"""Full text over every event, newest first; what a hit shows is cut from the recorded bytes.

The index holds, under the negative of its row number, the text of each event. It is asked in the order of its rows,
so a page costs what it shows, however often a word occurs.
"""

from __future__ import annotations

import re
from typing import Final

from affidavit.text.search import MAX_WORD, excerpt, match_query
from storage.queries.conditions import Condition, among, both
from storage.queries.connection import ReadConnection, Row
from storage.queries.models import Hit, Page, Total
from storage.queries.paging import Cursor
from storage.queries.records import RecordError, Records
from storage.queries.timeline import event

EXCERPT: Final = 160
"""Characters of an excerpt."""

SMALL: Final = 50_000
"""Events of a session whose first and last are looked for before a search in it."""

SHORTEST_BEGINNING: Final = 3
"""Letters of the last word from which on it is also found as the beginning of longer ones."""

CAP: Final = 10_000
"""Hits are counted up to here."""

_WORDS: Final = re.compile(r"[^\W_]+")


def page(
    link: ReadConnection,
    records: Records,
    text: str,
    kinds: frozenset[str] | None,
    session: int | None,
    cursor: Cursor | None,
    limit: int,
) -> Page[Hit]:
    """The next hits after a cursor. There is no way back: a caller keeps the pages it has shown."""
    text = meant(text)
    query = match_query(text)
    if query is None:
        return Page((), None, None)
    limit = max(limit, 1)
    after = None if cursor is None else cursor[0]
    rows = _matches(link, query, kinds, session, after, limit + 1)
    hits = (_hit(link, records, text, -rowid) for (rowid,) in rows[:limit])
    behind = (rows[limit - 1][0],) if len(rows) > limit else None
    return Page(tuple(hit for hit in hits if hit is not None), None, behind)


def count(link: ReadConnection, text: str, kinds: frozenset[str] | None, session: int | None, cap: int) -> Total:
    """Number of hits, or ``cap`` and not exact where there are more."""
    query = match_query(meant(text))
    if query is None:
        return Total(0, True)
    found = len(_matches(link, query, kinds, session, None, cap + 1))
    return Total(min(found, cap), found <= cap)


def meant(text: str) -> str:
    """``text`` as it is searched: a last word of one or two letters is meant whole, a longer one as a beginning.

    So short a beginning stands for much of the index, which would be gathered before the first hit, and nothing can
    interrupt that.
    """
    words = _WORDS.findall(text[-MAX_WORD:])
    return text + " " if words and len(words[-1]) < SHORTEST_BEGINNING else text


def _matches(
    link: ReadConnection,
    query: str,
    kinds: frozenset[str] | None,
    session: int | None,
    after: object,
    limit: int,
) -> list[Row]:
    """Index rows that match, in order, from behind ``after`` on."""
    tests = [Condition("ix_text MATCH ?", (query,))]
    if after is not None:
        tests.append(Condition("x.rowid > ?", (after,)))
    tables = "ix_text x"
    if kinds is not None or session is not None:
        # CROSS JOIN keeps the index outermost: its order is the answer's, and nothing need be sorted.
        tables += " CROSS JOIN event e ON e.n = -x.rowid"
    if kinds is not None:
        tests.append(among("e.kind", kinds))
    if session is not None:
        tests.append(Condition("e.session = ?", (session,)))
        if (bounds := _bounds(link, session)) is not None:
            tests.append(Condition("x.rowid BETWEEN ? AND ?", bounds))
    where = both(tests)
    return link.rows(f"SELECT x.rowid FROM {tables} WHERE {where.sql} ORDER BY x.rowid LIMIT ?", (*where.values, limit))


def _bounds(link: ReadConnection, session: int) -> Row | None:
    """Where in the index a small session lies; in a large one hits are near each other anyway."""
    if link.value("SELECT events FROM session WHERE no = ?", (session,)) in range(SMALL):
        return link.row("SELECT -max(n), -min(n) FROM event WHERE session = ?", (session,))
    return None


def _hit(link: ReadConnection, records: Records, text: str, key: int) -> Hit | None:
    """A hit as it is shown, its excerpt empty where the bytes cannot be had; ``None`` if there is no such event."""
    row = event(link, key)
    if row is None:
        return None
    uid, title = link.row("SELECT uid, title FROM session WHERE no = ?", (row.session,)) or ("", "")
    try:
        recorded = records.detail(row).text
    except RecordError:
        recorded = ""
    shown, spans = excerpt(recorded, text, EXCERPT)
    return Hit(key, row.id, uid, title, row.kind, row.at, shown, tuple(spans))
