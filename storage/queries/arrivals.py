"""What has come into a store since it was last looked at; it costs what is new, however much there is."""

from __future__ import annotations

from typing import Final

from storage.numbers import number
from storage.queries.connection import ReadConnection
from storage.queries.models import Arrival

SESSIONS: Final = "SELECT session FROM source WHERE last >= ? AND session IS NOT NULL"
"""Numbers of the sessions of whose files something stands in a ledger entry or a later one."""


def arrivals(link: ReadConnection, since: int) -> list[Arrival]:
    """What events came into which sessions with the ledger entry ``since`` and later ones."""
    # By number and by no other index, though one would have the sessions in order: it would be walked whole.
    sql = "SELECT session, count(*), max(at) FROM event NOT INDEXED WHERE n >= ? GROUP BY session"
    return [Arrival(*row) for row in link.rows(sql, (number(since, 0),))]


def touched(link: ReadConnection, since: int) -> frozenset[int]:
    """Sessions of whose files something was recorded in the ledger entry ``since`` or a later one."""
    return frozenset(session for (session,) in link.rows(SESSIONS, (since,)))
