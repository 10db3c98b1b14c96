"""What the derivation asks of the rows folded so far, answered from the fold tables."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from hashlib import sha256

import orjson

from affidavit.session.derive import Call, Place, Spent
from affidavit.session.echoes import Echo
from affidavit.session.forks import Fork, Marks
from affidavit.session.prepare import EVENT_COLUMNS, Row
from affidavit.session.state import LaneState, SessionState, TurnState
from affidavit.text.marks import marked
from storage.driver import Connection
from storage.folds.rows import FORK_COLUMNS, SESSION_COLUMNS, fork_from
from storage.folds.sources import SOURCE_COLUMNS, SourceRow, source_from
from storage.numbers import number as number_of
from storage.numbers import place_of
from storage.readers.codex.marks import marks_of
from storage.segments import spans_of, value_of


class Segments:
    """Decompressed segments by ledger entry, the last few kept."""

    def __init__(self, connection: Connection, keep: int = 8) -> None:
        self.connection = connection
        self._keep = keep
        self._spans: OrderedDict[int, tuple[int, list[bytes]]] = OrderedDict()

    def record(self, n: int) -> bytes:
        """The value bytes of the record an event number names."""
        entry, record, _ = place_of(n)
        found = self._spans.get(entry)
        if found is None:
            row = self.connection.execute(
                "SELECT data, cuts, size, start FROM segment WHERE entry = ?", (entry,)
            ).fetchone()
            found = self._spans[entry] = (row[3], spans_of(row[0], row[1], row[2]))
            if len(self._spans) > self._keep:
                self._spans.popitem(last=False)
        start, spans = found
        return value_of(spans[record], start == 0 and record == 0)[1]

    def forget(self) -> None:
        """Drop what is kept, after stored bytes may have changed."""
        self._spans.clear()


class Tables:
    """:class:`affidavit.session.derive.Known` over the tables of one connection (``prefix``: a shadow set)."""

    def __init__(self, connection: Connection, segments: Segments, prefix: str = "") -> None:
        self.connection = connection
        self.segments = segments
        self.record = segments.record
        self.prefix = prefix
        self._next = 0
        p = prefix
        self._places = (
            f"SELECT id, n, turn, lane, parent FROM {p}event WHERE id IN (SELECT value FROM json_each(?1)) "
            f"UNION ALL SELECT id, n, turn, lane, parent FROM {p}passed WHERE id IN (SELECT value FROM json_each(?1))"
        )
        self._ancestors = (
            "WITH RECURSIVE up(id, parent) AS ("
            f"SELECT id, parent FROM {p}event WHERE id = ?1 AND n <= ?2 "
            f"UNION SELECT id, parent FROM {p}passed WHERE id = ?1 AND n <= ?2 "
            f"UNION SELECT e.id, e.parent FROM up JOIN {p}event e ON e.id = up.parent WHERE e.n <= ?2 "
            f"UNION SELECT q.id, q.parent FROM up JOIN {p}passed q ON q.id = up.parent WHERE q.n <= ?2) "
            "SELECT id, parent FROM up LIMIT ?3"
        )
        self._event = f"SELECT {', '.join(EVENT_COLUMNS)} FROM {p}event WHERE n = ?"
        self._call = (
            f"SELECT call, n, early, at, told, lane, turn FROM {p}open_call "
            "WHERE session = ? AND call IN (SELECT value FROM json_each(?))"
        )
        self._usage = (
            f"SELECT message, n, model, tokens_in, tokens_out, cache_read, cache_write FROM {p}usage "
            "WHERE session = ? AND message IN (SELECT value FROM json_each(?))"
        )

    def begin(self) -> None:
        """A new batch: numbers given out are read from the tables again."""
        self._next = 0

    def places(self, ids: Sequence[int]) -> dict[int, Place]:
        rows = self.connection.execute(self._places, (orjson.dumps(ids).decode(),))
        return {id: Place(n, turn, lane, parent) for id, n, turn, lane, parent in rows}

    def calls(self, session: int, calls: Sequence[int]) -> dict[int, Call]:
        rows = self.connection.execute(self._call, (session, orjson.dumps(calls).decode()))
        return {row[0]: Call(row[1], bool(row[2]), row[3], row[4], row[5], row[6]) for row in rows}

    def usage(self, session: int, messages: Sequence[int]) -> dict[int, Spent]:
        rows = self.connection.execute(self._usage, (session, orjson.dumps(messages).decode()))
        return {row[0]: tuple(row[1:]) for row in rows}

    def awaits(self) -> bool:
        """Whether any record is still named that was never seen."""
        return self.connection.execute(f"SELECT 1 FROM {self.prefix}awaited LIMIT 1").fetchone() is not None

    def awaiting(self, parent: int) -> list[int]:
        query = f"SELECT n FROM {self.prefix}awaited WHERE parent = ? ORDER BY n"
        return [row[0] for row in self.connection.execute(query, (parent,))]

    def ancestors(self, id: int, most: int) -> list[tuple[int, int | None]]:
        """A record and those it follows, nearest first, at most so many: (id, id of the one it follows)."""
        return [tuple(row) for row in self.connection.execute(self._ancestors, (id, self._before(), most))]

    def _before(self) -> int:
        """Records up to this number are known."""
        return (1 << 63) - 1

    def event(self, n: int) -> Row:
        return list(self.connection.execute(self._event, (n,)).fetchone())

    def source_of(self, n: int) -> int:
        """The revision a record was read from."""
        query = "SELECT source FROM segment WHERE entry = ?"
        return int(self.connection.execute(query, (place_of(n)[0],)).fetchone()[0])

    def repeated(self, source: int, id: int) -> int | None:
        query = f"SELECT count FROM {self.prefix}repeated WHERE source = ? AND id = ?"
        row = self.connection.execute(query, (source, id)).fetchone()
        return row and int(row[0])

    def forget(self) -> None:
        """Drop what is kept of stored bytes."""
        self.segments.forget()

    def find_source(self, no: int) -> SourceRow:
        """A source's row."""
        query = f"SELECT {', '.join(SOURCE_COLUMNS)} FROM {self.prefix}source WHERE no = ?"
        return source_from(self.connection.execute(query, (no,)).fetchone())

    def next_session(self) -> int:
        if not self._next:
            query = f"SELECT coalesce(max(no), 0) FROM {self.prefix}session"
            self._next = self.connection.execute(query).fetchone()[0]
        self._next += 1
        return self._next

    def summaries(self) -> dict[tuple[str, str], str]:
        query = f"SELECT format, leaf, summary FROM {self.prefix}summary"
        return {row[:2]: row[2] for row in self.connection.execute(query)}

    def holders(self, records: Sequence[int]) -> list[tuple[int, int, str]]:
        """Sessions that hold these records: (record, session, native id)."""
        query = (
            f"SELECT h.record, h.session, s.native FROM {self.prefix}ix_holder h JOIN {self.prefix}session s "
            "ON s.no = h.session WHERE h.record IN (SELECT value FROM json_each(?)) ORDER BY h.record, h.session"
        )
        return [tuple(row) for row in self.connection.execute(query, (orjson.dumps(records).decode(),))]

    def begin_with(self, id: int, most: int) -> list[tuple[int, str]]:
        """Sessions that begin with a record: (number, native id)."""
        query = (
            f"SELECT b.session, s.native FROM {self.prefix}beginning b JOIN {self.prefix}session s ON s.no = b.session "
            "WHERE b.record = ? ORDER BY b.session LIMIT ?"
        )
        return [(session, native) for session, native in self.connection.execute(query, (id, most))]

    def sort_of(self, n: int) -> int | None:
        row = self.connection.execute(f"SELECT sort FROM {self.prefix}event WHERE n = ?", (n,)).fetchone()
        return row and int(row[0])

    def echo(self, session: int, said: int) -> Echo | None:
        query = f"SELECT n, notices, items FROM {self.prefix}echo WHERE session = ? AND said = ?"
        row = self.connection.execute(query, (session, said)).fetchone()
        return row and (row[0], row[1], row[2])

    def told(self, session: int, lane: int) -> list[int]:
        """Events of a sub-agent that only progress tells of."""
        query = (
            f"SELECT n FROM {self.prefix}event WHERE session = ? AND lane = ? AND instr(flags, 'progress') ORDER BY n"
        )
        return [n for (n,) in self.connection.execute(query, (session, lane))]

    def forks(self) -> list[Fork]:
        """Files that begin with a copy."""
        query = f"SELECT {', '.join(FORK_COLUMNS)} FROM {self.prefix}fork"
        return [fork_from(row) for row in self.connection.execute(query)]

    def records_of(self, source: int, place: int, newest: int) -> list[int]:
        """Numbers of a revision's records from a place in it on, up to the record ``newest``."""
        query = "SELECT entry, records FROM segment WHERE source = ? AND entry <= ? ORDER BY start"
        found = []
        before = 0
        for entry, count in self.connection.execute(query, (source, place_of(newest)[0])):
            found += [number_of(entry, record) for record in range(max(0, place - before), count)]
            before += count
        return [n for n in found if n <= newest]

    def files_of(self, format: str, native: str) -> list[int]:
        """Revisions of files of a session."""
        query = f"SELECT no FROM {self.prefix}source WHERE format = ? AND native = ? ORDER BY no"
        return [no for (no,) in self.connection.execute(query, (format, native))]

    def marks(self, n: int) -> Marks | None:
        """What of a record tells whether it was copied."""
        return marks_of(self.record(n))

    def original(self, n: int) -> int | None:
        """The record that a known one repeats."""
        row = self.connection.execute(f"SELECT original FROM {self.prefix}copied WHERE n = ?", (n,)).fetchone()
        return row and int(row[0])

    def message(self, n: int) -> tuple[str, bytes] | None:
        """The model message a record is a part of: its id, and a digest of all the record holds of it."""
        try:
            record = orjson.loads(self.record(n))
            message = record.get("message") if type(record) is dict else None
            name = message.get("id") if type(message) is dict else None
            whole = orjson.dumps(message, option=orjson.OPT_SORT_KEYS)
        except (ValueError, TypeError):
            return None
        return (name, sha256(whole).digest()) if type(name) is str else None

    def spent_by(self, n: int) -> tuple[int, int] | None:
        """The message, as (session, id), whose tokens stand with an event."""
        row = self.connection.execute(f"SELECT session, message FROM {self.prefix}usage WHERE n = ?", (n,)).fetchone()
        return row and (row[0], row[1])

    def session(self, format: str, native: str) -> SessionState | None:
        """A session's state as its row, turns and lanes hold it."""
        row = self.connection.execute(
            f"SELECT {', '.join(SESSION_COLUMNS)} FROM {self.prefix}session WHERE format = ? AND native = ?",
            (format, marked(native)),
        ).fetchone()
        if row is None:
            return None
        column = dict(zip(SESSION_COLUMNS, row, strict=True))
        state = SessionState(column["no"], column["uid"], format, column["native"])
        state.resume(orjson.loads(column["state"]))
        state.models = orjson.loads(column["models"])
        for name in (
            "events", "problems", "unreadable", "unknown", "duplicates", "tokens_in", "tokens_out", "cache_read",
            "cache_write", "checked",
        ):  # fmt: skip
            setattr(state, name, column[name])
        state.started = column["started"] if column["timed"] else None
        state.ended = column["ended"] if column["timed"] else None
        for turn, key, n, sort, parent, branch, alias in self.connection.execute(
            f"SELECT turn, key, n, sort, parent, branch, alias FROM {self.prefix}turn WHERE session = ? ORDER BY turn",
            (state.no,),
        ):
            state.turns[turn] = TurnState(key, n, sort, parent, branch, alias)
            state.turn_keys[key] = turn
            if alias is not None:
                state.turn_keys[alias] = turn
        state.turn_order = sorted((turn.sort, turn.n, number) for number, turn in state.turns.items())
        for lane, name, title, parent, depth, turn, spawn, events, began, first, told in self.connection.execute(
            f"SELECT lane, name, title, parent, depth, turn, spawn, events, began, first, told FROM {self.prefix}lane "
            "WHERE session = ? ORDER BY lane",
            (state.no,),
        ):
            state.lanes[lane] = LaneState(name, title, parent, depth, turn, spawn, events, began, first, told)
            state.lane_names[name] = lane
        for number, hung in state.lanes.items():
            if hung.parent is not None:
                state.lanes[hung.parent].below[number] = None
            state.live_lanes += bool(number and hung.began is not None)
        state.lane_reach = max((lane.began for lane in state.lanes.values() if lane.began is not None), default=None)
        return state
