"""Model requests of a session: which there are, and which events stood in front of the model in one.

A log that records requests as events is taken at its word. Of others a request begins where the agent first speaks
after it was given something, in each lane by itself; where the tokens of each message are known by its first event,
those are the requests.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from affidavit.context.seen import MODEL_KINDS, OBSERVED, VISIBLE_KINDS
from affidavit.session.event import PARTIAL
from storage.queries.connection import ReadConnection, Row
from storage.queries.models import EventRow
from storage.queries.timeline import COLUMNS, TABLES, TURN, event_row

_MODEL: Final = f"(kind IN ({', '.join(map(repr, MODEL_KINDS))}) AND actor IN ('agent', 'subagent'))"
_VISIBLE: Final = f"kind IN ({', '.join(map(repr, VISIBLE_KINDS))})"
_BEGINNINGS: Final = {
    "recorded": "SELECT n, sort, lane FROM event WHERE session = ?1 AND kind = 'model.request'",
    "messages": f"SELECT e.n, e.sort, e.lane FROM event e JOIN usage u ON u.n = e.n WHERE e.session = ?1 AND {_MODEL}",
    "first words": f"""SELECT n, sort, lane FROM (SELECT n, sort, lane, {_MODEL} AS says,
        lag({_MODEL}, 1, 0) OVER (PARTITION BY lane ORDER BY sort, n) AS said
        FROM event WHERE session = ?1 AND {_VISIBLE}) WHERE says AND NOT said""",
}
"""The first event of each request, by what they are known from."""

MOST_SEEN: Final = 20_000
"""Events that are given at most of what stood in front of a model; more no model takes in."""


_BATCH: Final = 2_000


@dataclass(frozen=True, slots=True)
class Request:
    """A model request: its number in the session (from 1), its first event, and what requests are known from."""

    number: int
    row: EventRow
    known_from: str


class Requests:
    """The requests of one session."""

    def __init__(self, link: ReadConnection, session: int) -> None:
        self._link = link
        self._session = session
        self.known_from = self._known_from()
        self._beginnings = _BEGINNINGS[self.known_from]

    def _known_from(self) -> str:
        has = "SELECT EXISTS(SELECT 1 FROM ({}) LIMIT 1)"
        for known in ("recorded", "messages"):
            if self._link.value(has.format(_BEGINNINGS[known]), (self._session,)):
                return known
        return "first words"

    def count(self) -> int:
        """How many there are."""
        return int(self._link.value(f"SELECT count(*) FROM ({self._beginnings})", (self._session,)))

    def numbered(self, number: int) -> Request | None:
        """The ``number``-th request, from 1."""
        if not 1 <= number < 1 << 53:
            return None
        sql = f"SELECT n FROM ({self._beginnings}) ORDER BY sort, n LIMIT 1 OFFSET ?2"
        key = self._link.value(sql, (self._session, number - 1))
        return None if key is None else Request(number, self._row(key), self.known_from)

    def numbers(self) -> dict[int, int]:
        """The number of every request by its first event."""
        sql = f"SELECT n FROM ({self._beginnings}) ORDER BY sort, n"
        return {key: number for number, (key,) in enumerate(self._link.rows(sql, (self._session,)), 1)}

    def visible(self) -> Iterator[EventRow]:
        """Every event a model gets to see, and those of recorded requests, in order."""
        sql = f"""SELECT {COLUMNS} FROM {TABLES} WHERE e.session = ? AND (e.{_VISIBLE} OR e.kind = 'model.request')
            AND (e.sort > ? OR e.sort = ? AND e.n > ?) ORDER BY e.sort, e.n LIMIT {_BATCH}"""
        after = (-(1 << 63), 0)
        while rows := self._link.rows(sql, (self._session, after[0], *after)):
            for found in rows:
                yield (row := event_row(found))
            after = (row.sort, row.key)

    def at(self, row: EventRow) -> Request | None:
        """The request an event came of, or (of what the model did not say) the first that had it in front."""
        lane = self._link.value("SELECT lane FROM event WHERE n = ?", (row.key,))
        here = (self._session, lane, row.sort, row.key)
        own = (row.kind in MODEL_KINDS and row.actor in ("agent", "subagent")) or row.kind == "model.request"
        if own:
            test = "(sort < ?3 OR sort = ?3 AND n <= ?4) ORDER BY sort DESC, n DESC"
        else:
            test = "(sort > ?3 OR sort = ?3 AND n > ?4) ORDER BY sort, n"
        found = self._link.row(f"SELECT n, sort FROM ({self._beginnings}) WHERE lane = ?2 AND {test} LIMIT 1", here)
        if found is None:
            return None
        before = f"SELECT count(*) FROM ({self._beginnings}) WHERE sort < ?2 OR sort = ?2 AND n < ?3"
        number = int(self._link.value(before, (self._session, found[1], found[0]))) + 1
        return Request(number, self._row(found[0]), self.known_from)

    def of_turn(self, turn: int) -> list[Request]:
        """The requests of a turn, those of sub-agents started in it among them, in order."""
        sql = f"SELECT {COLUMNS} FROM {TABLES} WHERE e.n = ?"
        rows = [(number, self._link.row(sql, (key,))) for key, number in self.numbers().items()]
        found = [Request(number, event_row(row), self.known_from) for number, row in rows if row is not None]
        return [request for request in found if request.row.turn == turn]

    def previous(self, request: Request) -> EventRow | None:
        """The first event of the request before this one in its lane."""
        sql = f"""SELECT n FROM ({self._beginnings}) WHERE lane = ?2 AND (sort < ?3 OR sort = ?3 AND n < ?4)
            ORDER BY sort DESC, n DESC LIMIT 1"""
        key = self._link.value(sql, (self._session, request.row.lane, request.row.sort, request.row.key))
        return None if key is None else self._row(key)

    def replaced(self, request: Request) -> list[EventRow]:
        """What people had said before the last full compaction, and stands no longer in front of the model."""
        where, values, compaction = self._before(request)
        if compaction is None:
            return []
        sql = f"""SELECT {COLUMNS} FROM {TABLES} WHERE {where} AND e.kind = 'user.message' AND (e.sort < ? OR e.sort = ?
            AND e.n < ?) ORDER BY e.sort DESC, e.n DESC LIMIT {_BATCH}"""
        since = (compaction[0], *compaction)
        return [event_row(found) for found in reversed(self._link.rows(sql, (*values, *since)))]

    def in_front(self, request: Request) -> tuple[list[EventRow], int]:
        """The events a model had in front of it, in order, and how many older ones a compaction had replaced.

        They are those of its lane and branch that came before, from the last full compaction on.
        """
        where, values, compaction = self._before(request)
        replaced = 0
        since: tuple[object, ...] = ()
        if compaction is not None:
            older = f"SELECT count(*) FROM {TABLES} WHERE {where} AND (e.sort < ? OR e.sort = ? AND e.n < ?)"
            since = (compaction[0], *compaction)
            replaced = int(self._link.value(older, (*values, *since)))
            where += " AND (e.sort > ? OR e.sort = ? AND e.n >= ?)"
        sql = f"SELECT {COLUMNS} FROM {TABLES} WHERE {where} ORDER BY e.sort DESC, e.n DESC LIMIT {MOST_SEEN}"
        return [event_row(found) for found in reversed(self._link.rows(sql, (*values, *since)))], replaced

    def calls_of(self, rows: Sequence[EventRow]) -> list[EventRow]:
        """The calls whose results are among some events and that are not themselves."""
        known = {row.key for row in rows}
        pairs = {row.pair for row in rows if row.kind in OBSERVED and row.pair is not None}
        return [self._row(key) for key in sorted(pairs - known)]

    def _before(self, request: Request) -> tuple[str, tuple[object, ...], Row | None]:
        """What tells the events of a request's lane and branch before it, and where the last full compaction stands."""
        row = request.row
        where = f"""e.session = ? AND e.lane = ? AND e.{_VISIBLE} AND (e.sort < ? OR e.sort = ? AND e.n < ?)"""
        values: tuple[object, ...] = (self._session, row.lane, row.sort, row.sort, row.key)
        if row.lane == 0:
            turns = self._turns(row)
            where += f" AND {TURN} IN (SELECT value FROM json_each(?))"
            values = (*values, f"[{', '.join(map(str, sorted(turns)))}]")
        compaction = self._link.row(
            f"""SELECT e.sort, e.n FROM {TABLES} WHERE {where} AND e.kind = 'compaction'
            AND instr(e.flags, '{PARTIAL}') = 0 ORDER BY e.sort DESC, e.n DESC LIMIT 1""",
            values,
        )
        return where, values, compaction

    def _turns(self, row: EventRow) -> set[int]:
        """The turns that lead to an event's: of the main chain all, of an abandoned branch those it went on from."""
        known = self._link.rows("SELECT turn, parent, branch FROM turn WHERE session = ?", (self._session,))
        if row.branch == 0:
            return {0, *(turn for turn, _, branch in known if branch == 0)}
        parents = {turn: parent for turn, parent, _ in known}
        found = {0}
        turn = row.turn
        while turn and turn not in found:
            found.add(turn)
            turn = parents.get(turn, 0)
        return found

    def _row(self, key: int) -> EventRow:
        found = self._link.row(f"SELECT {COLUMNS} FROM {TABLES} WHERE e.n = ?", (key,))
        assert found is not None
        return event_row(found)
