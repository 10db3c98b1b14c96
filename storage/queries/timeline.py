"""The events of a session in order: pages, counts, places in the list, and jumps to problems and prompts."""

from __future__ import annotations

from typing import Final

from storage.numbers import number
from storage.queries.conditions import Condition, among, both, contains
from storage.queries.connection import ReadConnection, Row
from storage.queries.filters import Direction, EventFilter
from storage.queries.models import EventRow, Tokens, Total
from storage.queries.paging import Cursor, Listing
from storage.queries.revisions import SUPERSEDED

TURN: Final = "CASE WHEN e.lane > 0 THEN coalesce(l.turn, 0) ELSE e.turn END"
"""The turn an event belongs to: a sub-agent's events stand in the turn that its lane was started in."""

PLACED: Final = f"""event e
 LEFT JOIN lane l ON e.lane > 0 AND l.session = e.session AND l.lane = e.lane
 LEFT JOIN turn t ON t.session = e.session AND t.turn = {TURN}"""
"""Events with their lane and their turn."""

TABLES: Final = f"{PLACED} LEFT JOIN usage u ON u.n = e.n"
COLUMNS: Final = f"""e.n, e.id, e.session, e.kind, e.actor, {TURN}, e.lane, coalesce(t.branch, 0), e.at, e.sort,
 e.parent, e.pair, e.tool, e.summary, e.size, e.ok, e.millis, e.copies, e.inferred, e.flags, e.model,
 {SUPERSEDED}, u.tokens_in, u.tokens_out, u.cache_read, u.cache_write"""
KEYS: Final = ("e.sort", "e.n")
EVERYTHING: Final = EventFilter()


def event_row(row: Row) -> EventRow:
    """A row of :data:`COLUMNS`."""
    (key, id, session, kind, actor, turn, lane, branch, at, sort, parent, pair, tool, summary, size, ok, millis, copies,
     inferred, flags, model, superseded, *tokens) = row  # fmt: skip
    told = (*flags.split(), "superseded") if superseded else tuple(flags.split())
    return EventRow(
        key, id, session, kind, actor, turn, lane, branch, at, sort, parent, pair, tool, summary, size,
        None if ok is None else bool(ok), millis, copies, bool(inferred), told, model,
        None if tokens[0] is None else Tokens(*tokens),
    )  # fmt: skip


def cursor_of(row: EventRow) -> Cursor:
    return (row.sort, row.key)


def listing(link: ReadConnection, session: int, filter: EventFilter) -> Listing:
    """The filtered events in order, with everything a row shows."""
    return Listing(COLUMNS, TABLES, KEYS, _where(link, session, filter))


def count(link: ReadConnection, session: int, filter: EventFilter) -> Total:
    """Events of the filtered list: of the whole session from its own count, else by counting."""
    if filter == EVERYTHING:
        known = link.value("SELECT events FROM session WHERE no = ?", (session,))
        return Total(known or 0, True)
    return Total(_bare(link, session, filter).count(link), True)


def position(link: ReadConnection, session: int, cursor: Cursor, filter: EventFilter) -> int:
    """How many events of the filtered list stand before a cursor."""
    return _bare(link, session, filter).position(link, cursor)


def at(link: ReadConnection, session: int, position: int, filter: EventFilter) -> EventRow | None:
    """The event with that many of the filtered list before it."""
    key = _bare(link, session, filter).key_at(link, position)
    return None if key is None else event(link, key)


def event(link: ReadConnection, key: int) -> EventRow | None:
    row = link.row(f"SELECT {COLUMNS} FROM {TABLES} WHERE e.n = ?", (key,))
    return None if row is None else event_row(row)


def by_id(link: ReadConnection, low: int, high: int, session: int | None, limit: int) -> list[EventRow]:
    """Events whose 64-bit id lies between two bounds, both included, in the order of their ids."""
    test, values = ("", ()) if session is None else (" AND +e.session = ?", (session,))
    sql = f"SELECT {COLUMNS} FROM {TABLES} WHERE e.id BETWEEN ? AND ?{test} ORDER BY e.id, e.n LIMIT ?"
    return [event_row(row) for row in link.rows(sql, (low, high, *values, limit))]


def id_bounds(prefix: str) -> tuple[int, int] | None:
    """Smallest and largest signed 64-bit id whose 16 hex digits begin with ``prefix``; ``None`` if none can."""
    digits = prefix.lower()
    if not 1 <= len(digits) <= 16 or not set(digits) <= set("0123456789abcdef"):
        return None
    low, high = (int.from_bytes(bytes.fromhex(digits.ljust(16, fill)), "big", signed=True) for fill in "0f")
    return low, high


def next_problem(link: ReadConnection, session: int, cursor: Cursor | None, direction: Direction) -> EventRow | None:
    """The problem nearest to the cursor in that direction, or the first (last) of all without one."""
    where = both([Condition("e.session = ?", (session,)), Condition("e.problem = 1")])
    rows = Listing(COLUMNS, TABLES, KEYS, where).walk(link, cursor, direction == "before", False, 1)
    return event_row(rows[0][2:]) if rows else None


def next_prompt(link: ReadConnection, session: int, cursor: Cursor | None, direction: Direction) -> EventRow | None:
    """The same for events that begin a turn; those of abandoned branches count too."""
    where = Condition("t.session = ?", (session,))
    turns = Listing("t.n", "turn t", ("t.sort", "t.n"), where)
    rows = turns.walk(link, cursor, direction == "before", False, 1)
    return event(link, rows[0][2]) if rows else None


def kinds(link: ReadConnection, session: int) -> list[tuple[str, int]]:
    """Every kind of event a session holds, with how many, the most frequent first."""
    sql = "SELECT kind, count(*) FROM event WHERE session = ? GROUP BY kind ORDER BY count(*) DESC, kind"
    return [(kind, count) for kind, count in link.rows(sql, (session,))]


def turn_start(link: ReadConnection, session: int, turn: int) -> EventRow | None:
    key = link.value("SELECT n FROM turn WHERE session = ? AND turn = ?", (session, turn))
    return None if key is None else event(link, key)


def _bare(link: ReadConnection, session: int, filter: EventFilter) -> Listing:
    """The filtered events for counting: only the tables that the filter itself needs."""
    tables = "event e" if filter.abandoned and not filter.branches_only else PLACED
    return Listing("1", tables, KEYS, _where(link, session, filter, counting=True))


def _where(link: ReadConnection, session: int, filter: EventFilter, *, counting: bool = False) -> Condition:
    """A filter as SQL on :data:`PLACED`. What is new is counted by its numbers, so that it costs what is new."""
    by_number = counting and filter.newer is not None
    tests = [Condition("+e.session = ?" if by_number else "e.session = ?", (session,))]
    if filter.newer is not None:
        tests.append(Condition("e.n >= ?" if by_number else "+e.n >= ?", (number(filter.newer, 0),)))
    if filter.kinds is not None:
        tests.append(among("e.kind", filter.kinds))
    if filter.hide_kinds:
        kept = among("e.kind", filter.hide_kinds, negated=True)
        if filter.interruptions:
            # Readers infer an interruption from the mark that stands in the person's place.
            spared = "e.kind = 'lifecycle' AND e.actor = 'user' AND e.inferred = 1"
            kept = Condition(f"({kept.sql} OR ({spared}))", kept.values)
        tests.append(kept)
    if filter.lanes is not None:
        tests.append(among("e.lane", filter.lanes))
    if filter.problems_only:
        tests.append(Condition("e.problem = 1"))
    if filter.text:
        tests.append(contains(("e.summary", "e.tool"), filter.text))
    if not filter.abandoned and _has_abandoned(link, session):
        tests.append(Condition("coalesce(t.branch, 0) = 0"))
    if filter.branches_only:
        tests.append(Condition("coalesce(t.branch, 0) <> 0"))
    return both(tests)


def _has_abandoned(link: ReadConnection, session: int) -> bool:
    """Whether any turn was abandoned: if none was, no event need be joined with its turn."""
    return link.row("SELECT 1 FROM turn WHERE session = ? AND branch <> 0 LIMIT 1", (session,)) is not None
