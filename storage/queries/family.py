"""How sessions hang together: which came from which, as the log says or as records they share let one infer.

A session hangs on the one its log names (as a fork or a sub-agent), if the store holds it; else on the earliest of
those that begin with records of the same id (a copy: older clients copied a history when it was resumed) and whose
own logs name none. Where logs name each other in a circle, the first of it stands at the top, so that every session
is below exactly one that stands there.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from storage.queries import sessions
from storage.queries.conditions import Condition, both
from storage.queries.connection import ReadConnection
from storage.queries.filters import SessionFilter, SessionSort
from storage.queries.models import Kin, Total
from storage.queries.paging import Listing

MOST_BELOW: Final = 500
"""Sessions shown below one at most."""

_DEEP: Final = 1_000
"""Links of a chain that are followed to see whether it is a circle."""

_NAMED: Final = """EXISTS (SELECT 1 FROM session p WHERE p.format = s.format AND p.native = s.parent
 AND p.no <> s.no)"""
_UP: Final = f"""WITH RECURSIVE up(no, parent) AS (SELECT s.no, s.parent UNION
 SELECT p.no, p.parent FROM up JOIN session p ON p.format = s.format AND p.native = up.parent LIMIT {_DEEP})"""
_CLOSES: Final = f"""s.no = ({_UP} SELECT CASE WHEN count(CASE WHEN parent = s.native THEN 1 END) > 0
 THEN min(no) END FROM up)"""
"""It is the first of a circle of sessions whose logs name each other."""

_EARLIER: Final = """(p.started < s.started OR (p.started = s.started AND p.no < s.no))"""
_ORIGIN: Final = f"""(SELECT p.no FROM beginning b JOIN beginning c ON c.record = b.record AND c.session <> b.session
 JOIN session p ON p.no = c.session AND p.format = s.format AND p.parent IS NULL AND {_EARLIER}
 WHERE b.session = s.no ORDER BY p.started, p.no LIMIT 1)"""
"""The earliest session that holds records this one begins with."""

_TOP: Final = Condition(
    f"""CASE WHEN s.parent IS NOT NULL AND {_NAMED} THEN coalesce({_CLOSES}, 0)
 ELSE s.parent IS NOT NULL OR {_ORIGIN} IS NULL END"""
)


def tops(sort: SessionSort, descending: bool) -> Listing:
    """The sessions that hang on no other, in order."""
    flat = sessions.listing(SessionFilter(), sort, descending)
    return Listing(flat.columns, flat.tables, flat.keys, both([flat.where, _TOP]), descending)


def count(link: ReadConnection) -> Total:
    """How many those are."""
    return Total(tops("started", True).count(link), True)


def below(link: ReadConnection, key: int) -> list[Kin]:
    """The sessions that hang on one directly, in the order they began, at most :data:`MOST_BELOW`."""
    where = f"""(s.parent IS NOT NULL AND EXISTS (SELECT 1 FROM session o WHERE o.no = ?1 AND o.format = s.format
         AND o.native = s.parent AND o.no <> s.no) AND NOT coalesce({_CLOSES}, 0))
        OR (s.parent IS NULL AND {_ORIGIN} = ?1)"""
    sql = f"""SELECT s.relation, {sessions.COLUMNS} FROM session s WHERE s.no IN (
        SELECT c.no FROM session o JOIN session c ON c.format = o.format AND c.parent = o.native WHERE o.no = ?1
        UNION SELECT c.session FROM beginning b JOIN beginning c ON c.record = b.record WHERE b.session = ?1)
        AND s.no <> ?1 AND ({where}) ORDER BY s.started, s.no LIMIT {MOST_BELOW}"""
    return [Kin(sessions.session_row(row[1:]), row[0] or "copy") for row in link.rows(sql, (key,))]


def counts(link: ReadConnection, keys: Sequence[int]) -> dict[int, int]:
    """How many sessions hang on each of some directly, at most :data:`MOST_BELOW`; those without any are left out."""
    found: dict[int, int] = {}
    for key in keys:
        number = len(below(link, key)) if _has_any(link, key) else 0
        if number:
            found[key] = number
    return found


def _has_any(link: ReadConnection, key: int) -> bool:
    """Whether any session may hang on one: a cheap look before an exact one."""
    sql = """SELECT EXISTS (SELECT 1 FROM session o JOIN session c ON c.format = o.format AND c.parent = o.native
        WHERE o.no = ?1 AND c.no <> ?1) OR EXISTS (SELECT 1 FROM beginning b JOIN beginning c ON c.record = b.record
        AND c.session <> ?1 WHERE b.session = ?1)"""
    return bool(link.value(sql, (key,)))
