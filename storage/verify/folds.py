"""Checking tables: every fold derived again from the ledger and compared with the stored rows, as typed values.

Nothing is written. Rows are compared as they are derived, in the order of their keys, and what a later record
corrects is compared again when it was. Look-ups of earlier rows are answered from the stored ones: a stored row that
was found equal to the derived one answers alike, and one that was not is kept aside as it should be.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable, Sequence
from typing import Any

from affidavit.session.derive import Call, Changes, Place, Spent
from affidavit.session.event import event_hex
from affidavit.session.prepare import EVENT_COLUMNS, ID, N, Row
from affidavit.session.state import SessionState
from storage import driver
from storage.driver import Connection
from storage.folds.fold import Fold
from storage.folds.known import Segments, Tables
from storage.folds.rows import SESSION_COLUMNS, lane_row, session_row, turn_row
from storage.folds.sources import SOURCE_COLUMNS, SourceRow
from storage.refold import Progress, Recall, Refold, withheld_records
from storage.segments import SegmentError
from storage.verify.report import VerifyReport

SHOWN = 50
"""Rows named per table; the rest are counted."""

RECENT = 20_000
"""Messages whose usage is kept at hand, since lines of one message stand close together."""

_USAGE = "n, model, tokens_in, tokens_out, cache_read, cache_write"


def check_folds(
    connection: Connection, lookup: bytes, recall: Recall, report: VerifyReport, progress: Progress
) -> None:
    """Derive every row again and compare it with the store ``connection`` reads, in its open transaction.

    ``recall`` gives the recorded segments, ``progress`` is called with entries done and may raise to stop.
    """
    total = connection.execute("SELECT coalesce(max(idx) + 1, 0) FROM ledger_entry").fetchone()[0]
    against = Against(connection, report)
    fold = Fold(against, against, withheld_records(connection))
    refold = Refold(connection, fold, lookup, recall)
    try:
        for done in refold.batches():
            progress("tables", done, total)
        if not refold.done:
            fold.write(0)
        against.finish(fold.derivation.sessions.values())
    except driver.DatabaseError as error:
        report.fail("table/event", "damaged", f"SQLite says: {error}")
    except (SegmentError, ValueError, KeyError, TypeError, IndexError, AttributeError) as error:
        report.fail(f"entry/{refold.done}", "fold_failed", f"folding stopped here: {error}")
    report.checked["rows"] = against.rows


class Against(Tables):
    """Both sides of a fold whose rows are compared instead of written."""

    def __init__(self, connection: Connection, report: VerifyReport) -> None:
        super().__init__(connection, Segments(connection))
        self.report = report
        self.rows = 0
        self._named: dict[str, int] = {}
        self._suspect: dict[int, Row] = {}
        self._spent: OrderedDict[tuple[int, int], Spent] = OrderedDict()
        self._odd: dict[tuple[int, int], Spent] = {}
        self._open: dict[tuple[int, int], Call] = {}
        self._awaited: dict[int, list[int]] = {}
        self._sources: dict[int, SourceRow] = {}
        self._withheld: dict[bytes, int] = {}
        self._folded: tuple[int, int] = (0, 0)
        self._last = -1
        self._counts = dict.fromkeys(("event", "passed", "unreadable", "artifact"), 0)
        self._messages = 0
        self._sessions = 0

    # ------------------------------------------------------------- what was derived before (see Known)

    def places(self, ids: Sequence[int]) -> dict[int, Place]:
        """Rows stored up to the last batch; what is stored beyond is still to be derived."""
        return {id: place for id, place in super().places(ids).items() if place.n <= self._last}

    def calls(self, session: int, calls: Sequence[int]) -> dict[int, Call]:
        return {call: self._open[session, call] for call in calls if (session, call) in self._open}

    def usage(self, session: int, messages: Sequence[int]) -> dict[int, Spent]:
        found: dict[int, Spent] = {}
        asked = []
        for message in messages:
            key = (session, message)
            spent = self._odd.get(key) or self._spent.get(key)
            if spent is not None:
                found[message] = spent
            else:
                asked.append(message)
        if asked:
            stored = super().usage(session, asked)
            found.update({message: spent for message, spent in stored.items() if spent[0] <= self._last})
        return found

    def _stored(self, n: int) -> Row | None:
        """An event's row as the store has it."""
        query = f"SELECT {', '.join(EVENT_COLUMNS)} FROM event WHERE n = ?"
        found = self.connection.execute(query, (n,)).fetchone()
        return list(found) if found else None

    def awaits(self) -> bool:
        return bool(self._awaited)

    def awaiting(self, parent: int) -> list[int]:
        return sorted(self._awaited.get(parent, ()))

    def event(self, n: int) -> Row:
        suspect = self._suspect.get(n)
        return suspect if suspect is not None else super().event(n)

    def session(self, format: str, native: str) -> SessionState | None:  # noqa: ARG002
        """A session not at hand is new: states of all sessions are kept."""
        return None

    def find_source(self, no: int) -> SourceRow:
        return self._sources[no]

    def next_session(self) -> int:
        self._sessions += 1
        return self._sessions

    # ------------------------------------------------------------------------- what is derived (see Sink)

    def write(self, changes: Changes, sessions: dict[int, SessionState]) -> None:  # noqa: ARG002
        """Compare a batch's rows."""
        self._events(changes)
        self._plain("passed", ("id", "turn", "lane", "parent", "n"), {row[0]: row for row in changes.passed})
        self._plain("unreadable", _UNREADABLE, {row[0]: row for row in changes.unreadable})
        for row in changes.artifacts:
            self._counts["artifact"] += 1
            self._one("artifact", ("session", "n"), row[:2], ("digest", "media", "name", "size"), row[2:])
        self._use(changes)
        for key, call in changes.calls.items():
            if call is None:
                self._open.pop(key, None)
            else:
                self._open[key] = call
        for parent in changes.answered:
            self._awaited.pop(parent, None)
        for parent, waiting in changes.awaited.items():
            self._awaited.setdefault(parent, []).extend(waiting)

    def _events(self, changes: Changes) -> None:
        for n, row in changes.corrected.items():
            self._suspect[n] = row
        for n in list(changes.corrected):
            if self._stored(n) == self._suspect[n]:
                del self._suspect[n]
        numbers = (*changes.events, *(row[4] for row in changes.passed))
        if not numbers:
            return
        last = max(numbers)
        query = f"SELECT {', '.join(EVENT_COLUMNS)} FROM event WHERE n > ? AND n <= ? ORDER BY n"
        stored = self.connection.execute(query, (self._last, last)).fetchall()
        derived = changes.events
        self.rows += len(derived)
        self._counts["event"] += len(derived)
        for found in stored:
            given = derived.get(found[N])
            if given is None:
                self._fail("event", "fold_extra", f"n={found[N]}", self._event_address(found))
            elif list(found) != given:
                self._suspect[found[N]] = given
        if len(stored) != len(derived):
            have = {found[N] for found in stored}
            for n, row in derived.items():
                if n not in have:
                    self._suspect[n] = row
                    self._fail("event", "fold_missing", f"n={n}", self._event_address(row))
        self._last = last

    def _plain(self, table: str, columns: tuple[str, ...], derived: dict[int, tuple[Any, ...]]) -> None:
        """Compare rows that never change, by their first column."""
        if not derived:
            return
        self.rows += len(derived)
        self._counts[table] += len(derived)
        key = columns[0]
        for value, row in derived.items():
            self._one(table, (key,), (value,), columns[1:], row[1:])

    def _one(
        self, table: str, keys: tuple[str, ...], key: tuple[Any, ...], columns: tuple[str, ...], row: tuple[Any, ...]
    ) -> None:
        where = " AND ".join(f'"{name}" = ?' for name in keys)
        names = ", ".join(f'"{name}"' for name in columns)
        found = self.connection.execute(f"SELECT {names} FROM {table} WHERE {where}", key).fetchone()
        said = " ".join(
            f"{name}={value.hex() if isinstance(value, bytes) else value}"
            for name, value in zip(keys, key, strict=True)
        )
        if found is None:
            self._fail(table, "fold_missing", said)
        elif found != tuple(row):
            self._differ(table, said, columns, tuple(row), found)

    def _use(self, changes: Changes) -> None:
        for key, spent in changes.usage.items():
            self._odd.pop(key, None)
            self._messages += key not in self._spent and spent[0] in changes.events
            self._spent[key] = spent
            self._spent.move_to_end(key)
        while len(self._spent) > RECENT:
            self._settle(*self._spent.popitem(last=False))

    def _settle(self, key: tuple[int, int], spent: Spent) -> None:
        """A message's usage that is let go of must be the stored one; otherwise it is kept as it should be."""
        if super().usage(key[0], [key[1]]).get(key[1]) != spent:
            self._odd[key] = spent

    def source(self, row: SourceRow) -> None:
        self._sources[row.state.no] = row

    def withheld(self, entry: int, commitments: Iterable[bytes]) -> None:
        for commitment in commitments:
            self._withheld.setdefault(commitment, entry)

    def folded(self, version: int, entries: int) -> None:
        self._folded = (version, entries)

    # ------------------------------------------------------------------------------------------ the end

    def finish(self, sessions: Iterable[SessionState]) -> None:
        """Compare what is only known at the end, and look for rows nothing gave."""
        for n, row in self._suspect.items():
            found = self._stored(n)
            if found is None:
                continue
            if found != row:
                self._differ("event", f"n={n}", EVENT_COLUMNS, tuple(row), tuple(found), self._event_address(row))
        for key in list(self._spent):
            self._settle(key, self._spent.pop(key))
        for (session, message), spent in self._odd.items():
            self._one("usage", ("n",), spent[:1], ("session", "message", *_SPENT), (session, message, *spent[1:]))
        self._tables(list(sessions))
        self._extras()
        self._search_index()
        self.report.checked["tables"] = 13

    def _tables(self, sessions: list[SessionState]) -> None:
        """Tables small enough to be held: all their rows, both ways."""
        self._all("fold", ("name",), ("version", "entries"), {("sessions",): self._folded})
        sources = {(row.state.no,): row.columns()[1:] for row in self._sources.values()}
        self._all("source", ("no",), SOURCE_COLUMNS[1:], sources)
        self._all("session", ("no",), SESSION_COLUMNS[1:], {(state.no,): session_row(state)[1:] for state in sessions})
        turns = {(state.no, turn): turn_row(state.no, turn, state)[2:] for state in sessions for turn in state.turns}
        self._all("turn", ("session", "turn"), ("key", "n", "sort", "parent", "branch"), turns)
        lanes = {(state.no, lane): lane_row(state.no, lane, state)[2:] for state in sessions for lane in state.lanes}
        names = ("name", "title", "parent", "depth", "turn", "spawn", "events")
        self._all("lane", ("session", "lane"), names, lanes)
        calls = {key: (call.n, int(call.early), *call[2:]) for key, call in self._open.items()}
        self._all("open_call", ("session", "call"), ("n", "early", "at", "told", "lane", "turn"), calls)
        awaited: dict[Any, tuple[Any, ...]] = {(above, n): () for above, named in self._awaited.items() for n in named}
        self._all("awaited", ("parent", "n"), (), awaited)
        withheld = {(commitment,): (entry,) for commitment, entry in self._withheld.items()}
        self._all("withheld", ("commit",), ("entry",), withheld)

    def _all(
        self,
        table: str,
        keys: tuple[str, ...],
        columns: tuple[str, ...],
        derived: dict[Any, tuple[Any, ...]],
    ) -> None:
        names = ", ".join(f'"{name}"' for name in (*keys, *columns))
        self.rows += len(derived)
        seen = 0
        for found in self.connection.execute(f"SELECT {names} FROM {table}").fetchall():
            key, rest = found[: len(keys)], found[len(keys) :]
            said = " ".join(
                f"{name}={value.hex() if isinstance(value, bytes) else value}"
                for name, value in zip(keys, key, strict=True)
            )
            row = derived.get(key)
            if row is None:
                self._fail(table, "fold_extra", said)
                continue
            seen += 1
            if tuple(row) != rest:
                self._differ(table, said, columns, tuple(row), rest)
        if seen < len(derived):
            order = ", ".join(f'"{name}"' for name in keys)
            have = set(self.connection.execute(f"SELECT {order} FROM {table}").fetchall())
            for key in derived:
                if key not in have:
                    said = " ".join(f"{name}={value}" for name, value in zip(keys, key, strict=True))
                    self._fail(table, "fold_missing", said)

    def _extras(self) -> None:
        """Rows of the large tables that no record gave."""
        query = f"SELECT {', '.join(EVENT_COLUMNS)} FROM event WHERE n > ? ORDER BY n LIMIT {SHOWN}"
        for found in self.connection.execute(query, (self._last,)).fetchall():
            self._fail("event", "fold_extra", f"n={found[N]}", self._event_address(found))
        for table in ("passed", "unreadable", "artifact"):
            stored = self.connection.execute(f"SELECT count(*) FROM {table}").fetchone()[0]
            if stored > self._counts[table]:
                self._fail(table, "fold_extra", f"{stored - self._counts[table]} rows too many")
        stored = self.connection.execute("SELECT count(*) FROM usage").fetchone()[0]
        given = self._messages
        if stored > given:
            self._fail("usage", "fold_extra", f"{stored - given} rows too many")

    def _search_index(self) -> None:
        """The index must know exactly the events that have a text."""
        try:
            wanted = self.connection.execute("SELECT count(*) FROM event WHERE size > 0").fetchone()[0]
            there = self.connection.execute("SELECT count(*) FROM ix_text_docsize").fetchone()[0]
            lacking = self.connection.execute(
                f"SELECT {', '.join(EVENT_COLUMNS)} FROM event WHERE size > 0 AND NOT EXISTS "
                f"(SELECT 1 FROM ix_text_docsize WHERE id = -n) LIMIT {SHOWN}"
            ).fetchall()
        except driver.DatabaseError as error:
            self.report.fail("table/ix_text", "damaged", str(error))
            return
        for row in lacking:
            self.report.fail(self._event_address(row), "index", "it cannot be found by search")
        if there != wanted and not lacking:
            self.report.fail("table/ix_text", "index", f"it holds {there} texts, the events give {wanted}")
        self.report.checked["searchable"] = there

    # ----------------------------------------------------------------------------------------- failures

    def _differ(
        self,
        table: str,
        said: str,
        columns: Sequence[str],
        row: tuple[Any, ...],
        found: tuple[Any, ...],
        address: str = "",
    ) -> None:
        differing = [name for name, one, other in zip(columns, row, found, strict=True) if one != other]
        self._fail(table, "fold_differs", f"{said}: {', '.join(differing)}", address)

    def _fail(self, table: str, kind: str, said: str, address: str = "") -> None:
        count = self._named[table] = self._named.get(table, 0) + 1
        if count > SHOWN:
            self.report.holds = False
            self.report.more += 1
            return
        self.report.fail(address or self._table_address(table, said), kind, f"{table} {said}")

    def _table_address(self, table: str, said: str) -> str:
        head = said.split(" ", 1)[0].split(":", 1)[0]
        if table in {"session", "turn", "lane", "open_call"} and "=" in head:
            number = head.split("=", 1)[1]
            row = self.connection.execute("SELECT uid FROM session WHERE no = ?", (number,)).fetchone()
            if row is not None:
                return f"session/{row[0]}"
        return f"table/{table}"

    def _event_address(self, row: Sequence[Any]) -> str:
        found = self.connection.execute("SELECT uid FROM session WHERE no = ?", (row[2],)).fetchone()
        return f"session/{found[0]}#{event_hex(row[ID])}" if found else "table/event"


_UNREADABLE = ("n", "source", "session", "line", "offset", "length", "reason")
_SPENT = ("model", "tokens_in", "tokens_out", "cache_read", "cache_write")
