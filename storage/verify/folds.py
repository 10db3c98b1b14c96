"""Checking tables: every fold derived again from the ledger and compared with the stored rows, as typed values.

Nothing is written. Rows are compared as they are derived, in the order of their keys, and what a later record
corrects is compared again when it was. Look-ups of earlier rows are answered from the stored ones: a stored row that
was found equal to the derived one answers alike, and one that was not is kept aside as it should be.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Sequence
from typing import Any

import orjson

from affidavit.policy.rows import PolicyRow
from affidavit.session.derive import Call, Changes, Place, Spent
from affidavit.session.echoes import Echo, Echoes
from affidavit.session.event import KEPT, event_hex
from affidavit.session.forks import Fork
from affidavit.session.prepare import EVENT_COLUMNS, ID, LANE, PARENT, SESSION, SIZE, TURN, N, Row
from affidavit.session.progress import is_told
from affidavit.session.state import SessionState
from affidavit.session.summaries import Told
from affidavit.session.twins import Beginnings
from affidavit.text.marks import marked
from storage import driver
from storage.driver import Connection
from storage.folds import FOLDS
from storage.folds.fold import Fold
from storage.folds.governed_rows import GOVERNED, Kept
from storage.folds.known import Segments, Tables
from storage.folds.rows import (
    FORK_COLUMNS,
    SECTION_COLUMNS,
    SESSION_COLUMNS,
    SectionRow,
    fork_row,
    lane_row,
    session_row,
    turn_row,
)
from storage.folds.sources import SOURCE_COLUMNS, SourceRow
from storage.refold import Progress, Recall, Refold, withheld_records
from storage.segments import SegmentError
from storage.verify.report import VerifyReport

SHOWN = 50
"""Rows named per table; the rest are counted."""

_USAGE = "n, model, tokens_in, tokens_out, cache_read, cache_write"
_KNOWN_BEFORE = (
    "SELECT id FROM event WHERE id IN (SELECT value FROM json_each(?1)) AND n <= ?2 "
    "UNION ALL SELECT id FROM passed WHERE id IN (SELECT value FROM json_each(?1)) AND n <= ?2"
)
_SPENT_BEFORE = "SELECT message FROM usage WHERE message IN (SELECT value FROM json_each(?1)) AND n <= ?2"


def check_folds(
    connection: Connection, lookup: bytes, recall: Recall, report: VerifyReport, progress: Progress
) -> None:
    """Derive every row again and compare it with the store ``connection`` reads, in its open transaction.

    ``recall`` gives the recorded segments, ``progress`` is called with entries done and may raise to stop.
    """
    total = connection.execute("SELECT coalesce(max(idx) + 1, 0) FROM ledger_entry").fetchone()[0]
    against = Against(connection, report)
    done = 0
    try:
        fold = Fold(against, against, withheld_records(connection))
        refold = Refold(connection, fold, lookup, recall)
        for done in refold.batches():
            progress("tables", done, total)
        if not refold.done:
            fold.write(0)
        against.finish(fold.derivation.sessions.values())
    except (SegmentError, ValueError, KeyError, TypeError, IndexError, AttributeError) as error:
        report.fail(f"entry/{done}", "fold_failed", f"folding stopped here: {error}")
    report.checked["rows"] = against.rows


class Against(Tables):
    """Both sides of a fold whose rows are compared instead of written."""

    def __init__(self, connection: Connection, report: VerifyReport) -> None:
        super().__init__(connection, Segments(connection))
        self.report = report
        self.rows = 0
        self._named: dict[str, int] = {}
        self._suspect: dict[int, Row] = {}
        self._suspect_ids: dict[int, int] = {}
        self._odd: dict[tuple[int, int], Spent] = {}
        self._open: dict[tuple[int, int], Call] = {}
        self._awaited: dict[int, list[int]] = {}
        self._repeated: dict[tuple[int, int], int] = {}
        self._summaries: Told = {}
        self._beginnings: Beginnings = {}
        self._sources: dict[int, SourceRow] = {}
        self._sections: dict[tuple[int, int], SectionRow] = {}
        self._forks: dict[tuple[int], tuple[Any, ...]] = {}
        self._echoes: Echoes = {}
        self._told: dict[tuple[int, int], list[int]] = {}
        self._unmet: set[int] = set()
        self._held = [0, 0]
        self._policies: dict[int, tuple[Any, ...]] = {}
        self._withheld: dict[bytes, int] = {}
        self.governed = Kept()
        self._folded: tuple[int, int] = (0, 0)
        self._last = -1
        self._given = {table: array("q") for table in _LARGE}
        self._sessions = 0
        self._texts = self._marks = 0

    # ------------------------------------------------------------- what was derived before (see Known)

    def places(self, ids: Sequence[int]) -> dict[int, Place]:
        """Rows stored up to the last batch; what is stored beyond is still to be derived."""
        asked = orjson.dumps(ids).decode()
        known = [id for (id,) in self.connection.execute(_KNOWN_BEFORE, (asked, self._last))]
        found = super().places(known) if known else {}
        for id in ids if self._suspect_ids else ():
            n = self._suspect_ids.get(id)
            if n is not None:
                row = self._suspect[n]
                found[id] = Place(n, row[TURN], row[LANE], row[PARENT])
        return found

    def calls(self, session: int, calls: Sequence[int]) -> dict[int, Call]:
        return {call: self._open[session, call] for call in calls if (session, call) in self._open}

    def usage(self, session: int, messages: Sequence[int]) -> dict[int, Spent]:
        asked = orjson.dumps(messages).decode()
        known = [message for (message,) in self.connection.execute(_SPENT_BEFORE, (asked, self._last))]
        found = super().usage(session, known) if known else {}
        odd = self._odd
        if odd:
            found.update({message: odd[session, message] for message in messages if (session, message) in odd})
        return found

    def _before(self) -> int:
        return self._last

    def ancestors(self, id: int, most: int) -> list[tuple[int, int | None]]:
        if not self._suspect_ids:
            return super().ancestors(id, most)
        found: dict[int, int | None] = {}
        above: int | None = id
        while above is not None and above not in found and len(found) < most:
            place = self.places([above]).get(above)
            if place is None:
                break
            found[above] = place.parent
            above = place.parent
        return list(found.items())

    def _stored(self, n: int) -> Row | None:
        """An event's row as the store has it."""
        query = f"SELECT {', '.join(EVENT_COLUMNS)} FROM event WHERE n = ?"
        found = self.connection.execute(query, (n,)).fetchone()
        return list(found) if found else None

    def awaits(self) -> bool:
        return bool(self._awaited)

    def awaiting(self, parent: int) -> list[int]:
        return sorted(self._awaited.get(parent, ()))

    def repeated(self, source: int, id: int) -> int | None:
        return self._repeated.get((source, id))

    def begin_with(self, id: int, most: int) -> list[tuple[int, str]]:
        return sorted(self._beginnings.get(id, ()))[:most]

    def summaries(self) -> Told:
        return dict(self._summaries)

    def event(self, n: int) -> Row:
        suspect = self._suspect.get(n)
        return suspect if suspect is not None else super().event(n)

    def session(self, format: str, native: str) -> SessionState | None:  # noqa: ARG002
        """A session not at hand is new: states of all sessions are kept."""
        return None

    def echo(self, session: int, said: int) -> Echo | None:
        return self._echoes.get((session, said))

    def told(self, session: int, lane: int) -> list[int]:
        return self._told.pop((session, lane), [])

    def forks(self) -> list[Fork]:
        """None: those met are kept."""
        return []

    def find_source(self, no: int) -> SourceRow:
        return self._sources[no]

    def next_session(self) -> int:
        self._sessions += 1
        return self._sessions

    # ------------------------------------------------------------------------- what is derived (see Sink)

    def write(self, changes: Changes, sessions: dict[int, SessionState]) -> None:  # noqa: ARG002
        """Compare a batch's rows."""
        before = self._last
        self._events(changes)
        self._use(changes, before)
        self._plain("passed", ("id", "turn", "lane", "parent", "n"), {row[0]: row for row in changes.passed})
        self._plain("copied", ("n", "original"), {row[0]: row for row in changes.copied})
        self._plain("unreadable", _UNREADABLE, {row[0]: row for row in changes.unreadable})
        for table, rows in changes.kept.items():
            for row in rows:
                self._given[table].append(row[1])
                self._one(table, ("session", "n"), row[:2], KEPT[table], row[2:])
        for key, call in changes.calls.items():
            if call is None:
                self._open.pop(key, None)
            else:
                self._open[key] = call
        self._repeated.update(changes.repeated)
        self._summaries.update(changes.summaries)
        for record, began in changes.beginnings.items():
            self._beginnings.setdefault(record, []).extend(began)
        self._echoes.update(changes.echoes)
        self._held[0] += len(changes.holders)
        self._held[1] += sum(abs(record) % _PRIME * (session % 1009 + 1) for record, session in changes.holders)
        self._forks.update({(no,): fork_row(fork)[1:] for no, fork in changes.forks.items()})
        for parent in changes.answered:
            self._awaited.pop(parent, None)
        for parent, waiting in changes.awaited.items():
            self._awaited.setdefault(parent, []).extend(waiting)

    def _events(self, changes: Changes) -> None:
        for n in changes.removed:
            row = self._suspect.pop(n, None)
            self._unmet.discard(n)
            self.rows -= 1
            if row is not None:
                self._suspect_ids.pop(row[ID], None)
        for n, row in changes.corrected.items():
            if self._stored(n) != row:
                self._suspects(n, row)
            elif self._suspect.pop(n, None) is not None:
                self._suspect_ids.pop(row[ID], None)
        numbers = (*changes.events, *(row[4] for row in changes.passed))
        if not numbers:
            return
        last = max(numbers)
        query = f"SELECT {', '.join(EVENT_COLUMNS)} FROM event WHERE n > ? AND n <= ? ORDER BY n"
        stored = self.connection.execute(query, (self._last, last)).fetchall()
        derived = changes.events
        for n, row in derived.items():
            if row[SIZE]:
                self._texts += 1
                self._marks += n % _PRIME
        self.rows += len(derived)
        met = 0
        if list(map(list, stored)) == list(derived.values()):
            stored, met = [], len(derived)
        for found in stored:
            given = derived.get(found[N])
            if given is None:
                self._fail("event", "fold_extra", f"n={found[N]}", self._event_address(found))
                continue
            met += 1
            if list(found) != given:
                self._suspects(found[N], given)
        if met != len(derived):
            have = {found[N] for found in stored}
            for n, row in derived.items():
                if n not in have and is_told(row):
                    self._told.setdefault((row[SESSION], row[LANE]), []).append(n)
                    self._suspects(n, row)
                    self._unmet.add(n)
                elif n not in have:
                    self._suspects(n, row)
                    self._fail("event", "fold_missing", f"n={n}", self._event_address(row))
        self._last = last

    def _suspects(self, n: int, row: Row) -> None:
        """Keep an event's row as it should be, where the stored one is not that, or not yet."""
        self._suspect[n] = row
        self._suspect_ids[row[ID]] = n

    def _plain(self, table: str, columns: tuple[str, ...], derived: dict[int, tuple[Any, ...]]) -> None:
        """Compare rows that never change, by their first column."""
        if not derived:
            return
        self.rows += len(derived)
        self._given[table].extend(derived)
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

    def _use(self, changes: Changes, before: int) -> None:
        """Usage is compared when its message is first met, and again whenever a later line corrects it."""
        query = f"SELECT session, message, {_USAGE} FROM usage WHERE n > ? AND n <= ?"
        stored = {row[:2]: row[2:] for row in self.connection.execute(query, (before, self._last))}
        for key, spent in changes.usage.items():
            new = spent[0] > before
            if new:
                self._given["usage"].append(spent[0])
            found = stored.get(key) if new else super().usage(key[0], [key[1]]).get(key[1])
            if found == spent:
                self._odd.pop(key, None)
            else:
                self._odd[key] = spent

    def sections(self, rows: Sequence[SectionRow]) -> None:
        self._sections.update({row[:2]: row for row in rows})

    def policy(self, row: PolicyRow) -> None:
        self._policies[row.entry] = tuple(marked(value) if isinstance(value, str) else value for value in row)

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
        for n in sorted(self._unmet):
            self._fail("event", "fold_missing", f"n={n}", self._event_address(self._suspect[n]))
        for n, row in self._suspect.items():
            found = self._stored(n)
            if found is None:
                continue
            if found != row:
                self._differ("event", f"n={n}", EVENT_COLUMNS, tuple(row), tuple(found), self._event_address(row))
        for (session, message), spent in self._odd.items():
            self._one("usage", ("n",), spent[:1], ("session", "message", *_SPENT), (session, message, *spent[1:]))
        self._tables(list(sessions))
        self._extras()
        self._search_index()
        self._holders()
        self.report.checked["tables"] = len(FOLDS)

    def _tables(self, sessions: list[SessionState]) -> None:
        """Tables small enough to be held: all their rows, both ways."""
        self._all("fold", ("name",), ("version", "entries"), {("sessions",): self._folded})
        sources = {(row.state.no,): row.columns()[1:] for row in self._sources.values()}
        self._all("source", ("no",), SOURCE_COLUMNS[1:], sources)
        self._all("session", ("no",), SESSION_COLUMNS[1:], {(state.no,): session_row(state)[1:] for state in sessions})
        turns = {(state.no, turn): turn_row(state.no, turn, state)[2:] for state in sessions for turn in state.turns}
        self._all("turn", ("session", "turn"), ("key", "n", "sort", "parent", "branch", "alias"), turns)
        lanes = {(state.no, lane): lane_row(state.no, lane, state)[2:] for state in sessions for lane in state.lanes}
        names = ("name", "title", "parent", "depth", "turn", "spawn", "events", "began", "first", "told")
        self._all("lane", ("session", "lane"), names, lanes)
        calls = {key: (call.n, int(call.early), *call[2:]) for key, call in self._open.items()}
        self._all("open_call", ("session", "call"), ("n", "early", "at", "told", "lane", "turn"), calls)
        awaited: dict[Any, tuple[Any, ...]] = {(above, n): () for above, named in self._awaited.items() for n in named}
        self._all("awaited", ("parent", "n"), (), awaited)
        repeated = {key: (count,) for key, count in self._repeated.items()}
        self._all("repeated", ("source", "id"), ("count",), repeated)
        summaries = {key: (summary,) for key, summary in self._summaries.items()}
        beginnings: dict[Any, tuple[Any, ...]] = {
            (record, session): () for record, began in self._beginnings.items() for session, _ in began
        }
        self._all("beginning", ("record", "session"), (), beginnings)
        self._all("summary", ("format", "leaf"), ("summary",), summaries)
        sections = {key: row[2:] for key, row in self._sections.items()}
        self._all("rule_section", SECTION_COLUMNS[:2], SECTION_COLUMNS[2:], sections)
        self._all("echo", ("session", "said"), ("n", "notices", "items"), dict(self._echoes))
        self._all("fork", FORK_COLUMNS[:1], FORK_COLUMNS[1:], self._forks)
        for table, spec in GOVERNED.items():
            rows = {key: tuple(row[spec.keys :]) for key, row in self.governed.rows[table].items()}
            self._all(table, spec.columns[: spec.keys], spec.columns[spec.keys :], rows)
        policies = {(entry,): row[1:] for entry, row in self._policies.items()}
        self._all("policy", ("entry",), PolicyRow._fields[1:], policies)
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
        for table, key in _LARGE.items():
            total = self.connection.execute(f"SELECT count(*) FROM {table}").fetchone()[0]
            given = self._given[table]
            if total == len(given) and not self._named.get(table):
                continue
            derived = set(given)
            for (value,) in self.connection.execute(f"SELECT {key} FROM {table} ORDER BY {key}").fetchall():
                if value not in derived:
                    self._fail(table, "fold_extra", f"{key}={value}")

    def _search_index(self) -> None:
        """The index must know exactly the events that have a text."""
        try:
            there, marks = self.connection.execute(
                f"SELECT count(*), coalesce(sum(-id % {_PRIME}), 0) FROM ix_text_docsize"
            ).fetchone()
            if (there, marks) != (self._texts, self._marks):
                self._name_unsearchable(there)
        except driver.DatabaseError as error:
            self.report.fail("table/ix_text", "damaged", str(error))
            return
        self.report.checked["searchable"] = there

    def _holders(self) -> None:
        """The index of who holds which message must know exactly those that were derived."""
        query = f"SELECT count(*), coalesce(sum(abs(record % {_PRIME}) * (session % 1009 + 1)), 0) FROM ix_holder"
        there = list(self.connection.execute(query).fetchone())
        if there != self._held:
            said = f"it holds {there[0]} messages, there are {self._held[0]}, or others"
            self.report.fail("table/ix_holder", "index", said)

    def _name_unsearchable(self, there: int) -> None:
        lacking = self.connection.execute(
            f"SELECT {', '.join(EVENT_COLUMNS)} FROM event WHERE size > 0 AND NOT EXISTS "
            f"(SELECT 1 FROM ix_text_docsize WHERE id = -n) LIMIT {SHOWN}"
        ).fetchall()
        for row in lacking:
            self.report.fail(self._event_address(row), "index", "it cannot be found by search")
        if not lacking:
            self.report.fail("table/ix_text", "index", f"it holds {there} texts, the events give {self._texts}")

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


_PRIME = 1_000_003
"""Sums of numbers modulo this tell whether the index holds the right ones; it is completeness, not evidence."""

_LARGE = {"passed": "id", "copied": "n", "unreadable": "n", "usage": "n", **dict.fromkeys(KEPT, "n")}
"""Tables compared as they are read, and the column that tells their rows apart."""

_UNREADABLE = ("n", "source", "session", "line", "offset", "length", "reason")
_SPENT = ("model", "tokens_in", "tokens_out", "cache_read", "cache_write")
