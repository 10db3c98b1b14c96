"""How a session is built: its turns and lanes with their counts, where in time its events lie, what led to what."""

from __future__ import annotations

from typing import Final

from storage.numbers import record_number
from storage.queries.connection import ReadConnection, Row
from storage.queries.models import EventRow, LaneRow, TurnRow
from storage.queries.timeline import COLUMNS, TABLES, event_row

NEAR: Final = 5_000
"""How many events after an event are looked at for what follows from it, besides turns and the other half of a pair."""

MOST_CHILDREN: Final = 100
OBSERVATIONS: Final = ("tool.finished", "verification", "permission.decision")

_TIMELESS: Final = -(1 << 61)
"""Sort keys below this are of events before the first time that their file tells."""


def lanes(link: ReadConnection, session: int) -> list[LaneRow]:
    """Main lane first, then sub-agents in the order they appeared."""
    sql = """SELECT lane, name, title, parent, depth, turn, events, spawn FROM lane WHERE session = ? ORDER BY lane"""
    found = link.rows(sql, (session,))
    depths = _depths({row[0]: (row[3], row[4]) for row in found})
    return [
        LaneRow(lane, name, title, parent, depths[lane], turn, events, spawn)
        for lane, name, title, parent, _, turn, events, spawn in found
    ]


def _depths(places: dict[int, tuple[int | None, int | None]]) -> dict[int, int]:
    """How deep each lane lies, from (lane it hangs on, depth stated of it); one deep if nothing is known."""
    depths: dict[int, int] = {}
    for lane in places:
        above: list[int] = []
        walk: int | None = lane
        while walk is not None and walk in places and walk not in depths:
            depths[walk] = 0
            above.append(walk)
            walk = places[walk][0]
        depth = depths.get(walk, 0) if walk is not None else None
        while above:
            number = above.pop()
            stated = places[number][1]
            if depth is not None:
                depth += 1
            else:
                depth = 0 if not number else 1 if stated is None else stated
            depths[number] = depth
    return depths


def turns(link: ReadConnection, session: int) -> list[TurnRow]:
    """Turns as they follow in the timeline; turn 0, what came before the first prompt, only if it has events.

    Events of sub-agents count for the turn they were started in.
    """
    began: dict[int, int] = dict(link.rows("SELECT lane, coalesce(turn, 0) FROM lane WHERE session = ?", (session,)))
    counts: dict[int, list[int]] = {}
    for column, only in enumerate(("", " AND problem = 1")):
        sql = f"SELECT lane, turn, count(*) FROM event WHERE session = ?{only} GROUP BY lane, turn"
        for lane, turn, number in link.rows(sql, (session,)):
            counts.setdefault(began.get(lane, 0) if lane else turn, [0, 0])[column] += number
    found = [TurnRow(0, None, 0, None, "", counts[0][0], counts[0][1])] if 0 in counts else []
    sql = """SELECT t.turn, e.n, t.branch, e.at, coalesce(e.summary, '') FROM turn t LEFT JOIN event e ON e.n = t.n
        WHERE t.session = ? ORDER BY t.sort, t.n"""
    for turn, key, branch, at, summary in link.rows(sql, (session,)):
        events, problems = counts.get(turn, (0, 0))
        found.append(TurnRow(turn, key, branch, at, summary, events, problems))
    return found


def density(link: ReadConnection, session: int, slices: int) -> list[tuple[int, int]]:
    """(events, problems) in each of ``slices`` equal parts of the time from the first event to the last.

    Events that come before any recorded time count for the first part, so that the parts add up to all events.
    """
    ends = link.row(
        """SELECT (SELECT sort FROM event WHERE session = ?1 AND sort > ?2 ORDER BY sort LIMIT 1),
        (SELECT sort FROM event WHERE session = ?1 ORDER BY sort DESC LIMIT 1)""",
        (session, _TIMELESS),
    )
    first, last = ends if ends is not None else (None, None)
    slices = max(slices, 1)
    start, length = (0, 0) if first is None else (first, last - first)
    counts = []
    lower = -(1 << 63)
    for part in range(1, slices + 1):
        # A boundary belongs to the part it begins; the end of time to the last.
        upper = (1 << 63) - 1 if part == slices else start + max(-(-length * part // slices), 1)
        counts.append(_between(link, session, lower, upper))
        lower = upper
    return counts


def _between(link: ReadConnection, session: int, lower: int, upper: int) -> tuple[int, int]:
    row = link.row(
        """SELECT (SELECT count(*) FROM event WHERE session = ?1 AND sort >= ?2 AND sort < ?3),
        (SELECT count(*) FROM event WHERE session = ?1 AND problem = 1 AND sort >= ?2 AND sort < ?3)""",
        (session, lower, upper),
    )
    assert row is not None
    return (row[0], row[1])


def children(link: ReadConnection, row: EventRow) -> list[EventRow]:
    """What an event led to: the observation of an intent, and what follows the event's record.

    A record's followers name its first event, so every event of a record has the same ones. They are looked for
    among the next :data:`NEAR` events and, for a rewind, among the prompts of all turns; at most
    :data:`MOST_CHILDREN`, in order.
    """
    first = link.row("SELECT id FROM event WHERE n = ?", (record_number(row.key),))
    if first is None:
        return []
    after = (row.session, row.sort, row.sort, row.key)
    keys = {row.pair} if row.pair is not None and row.kind not in OBSERVATIONS else set()
    near = """SELECT n, parent FROM event WHERE session = ? AND sort >= ? AND (sort > ? OR n > ?)
        ORDER BY sort, n LIMIT ?"""
    keys.update(n for (n,) in _found(link, f"SELECT n FROM ({near}) WHERE parent = ?", (*after, NEAR, first[0])))
    prompts = "SELECT e.n FROM turn t JOIN event e ON e.n = t.n WHERE t.session = ? AND t.parent = ? AND e.parent = ?"
    keys.update(n for (n,) in _found(link, prompts, (row.session, row.turn, first[0])))
    keys.discard(row.key)
    sql = f"SELECT {COLUMNS} FROM {TABLES} WHERE e.n IN ({','.join('?' * len(keys))}) ORDER BY e.sort, e.n"
    return [event_row(found) for found in link.rows(sql, tuple(keys))]


def _found(link: ReadConnection, sql: str, values: Row) -> list[Row]:
    return link.rows(f"{sql} LIMIT {MOST_CHILDREN}", values)
