"""What records mean together: turns, lanes, branches, pairs, copies and usage, worked out one record at a time.

The derivation is an incremental fold. Each record adds rows and may correct a few earlier ones that it can name;
what it must remember is a small state per session plus look-ups by id through :class:`Known`. It sees no clock
and no table, and any split of the same records into batches gives the same rows.

- A *turn* begins with a record that has a prompt key; any other record belongs to the turn of the record it
  follows, or, where that is not in the log, to that of the main agent's last record in its file.
- The *main chain* is the chain of turns that ends in the newest leaf. A rewind (a prompt, or a user or agent
  record on a part already abandoned) moves it, and the part of the old chain below the fork gets a number.
- An observation is *paired* with its intent by call id, whichever comes first; the observation of a test, lint or
  build command is a ``verification``.
- A record whose id was seen before is a *copy* when its bytes are equal; otherwise both are kept and flagged.
- Records without an id are told apart by how often their very bytes stood in their file before: the second of a file
  is another record, the second of another file or revision a copy of the second.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from operator import itemgetter
from typing import Any, NamedTuple, Protocol

from affidavit.session import echoes, forks, lanes, policies, progress, sidechains, starters, statements, twins
from affidavit.session.event import event_id, session_uid
from affidavit.session.forks import Fork, Marks
from affidavit.session.inheriting import Inheriting
from affidavit.session.prepare import (
    AT,
    COPIES,
    FLAGS,
    ID,
    KIND,
    LANE,
    MILLIS,
    OK,
    PAIR,
    PROBLEM,
    SESSION,
    SORT,
    SUMMARY,
    TOOL,
    TURN,
    Fields,
    N,
    Prepared,
    Row,
    summarise,
)  # fmt: skip
from affidavit.session.state import MOST_QUEUED, LaneState, SessionState, SourceState
from affidavit.session.summaries import FORMATS, Holders, Summaries, Told, record_id
from affidavit.session.turns import rolled_back, said, swapped, turn_of
from affidavit.text.marks import marked

LONGEST_CIRCLE = 1_000
"""Records a circle of parents may have to be flagged; longer ones are shown like any other record."""

MOST_MET = 600_000
"""Ids remembered of sessions that began here, about 40 MB; beyond, all are looked up in tables."""


class Place(NamedTuple):
    """Where a known record stands: its first event (or record) number, turn, lane and parent id."""

    n: int
    turn: int
    lane: int
    parent: int | None


class Call(NamedTuple):
    """One half of a tool call that waits for the other.

    ``early``: it is the result. ``told``: the kind of check an intent runs, or the outcome a result's text tells, with
    the line that counts what passed.
    """

    n: int
    early: bool
    at: int | None
    told: str | None
    lane: int
    turn: int


_STATES = frozenset({policies.POLICY, policies.ROLLBACK, policies.TOTALS})

Spending = tuple["str | None", int, int, int, int] | None
"""Tokens as a record tells them: (model, input, output, cache read, cache write)."""

Spent = tuple[int, "str | None", int, int, int, int]
"""Tokens of a message as a row keeps them: (first event, model, input, output, cache read, cache write)."""


class Known(Protocol):
    """What the derivation may ask of everything folded before this batch."""

    def places(self, ids: Sequence[int]) -> dict[int, Place]: ...
    def calls(self, session: int, calls: Sequence[int]) -> dict[int, Call]: ...
    def usage(self, session: int, messages: Sequence[int]) -> dict[int, Spent]: ...
    def awaits(self) -> bool: ...
    def awaiting(self, parent: int) -> list[int]: ...
    def ancestors(self, id: int, most: int) -> list[tuple[int, int | None]]: ...
    def event(self, n: int) -> Row: ...
    def record(self, n: int) -> bytes: ...
    def source_of(self, n: int) -> int: ...
    def repeated(self, source: int, id: int) -> int | None: ...
    def session(self, format: str, native: str) -> SessionState | None: ...
    def summaries(self) -> Told: ...
    def holders(self, records: Sequence[int]) -> list[tuple[int, int, str]]: ...
    def sort_of(self, n: int) -> int | None: ...
    def begin_with(self, id: int, most: int) -> list[tuple[int, str]]: ...
    def next_session(self) -> int: ...
    def echo(self, session: int, said: int) -> echoes.Echo | None: ...
    def told(self, session: int, lane: int) -> list[int]: ...
    def forks(self) -> list[Fork]: ...
    def records_of(self, source: int, place: int, newest: int) -> list[int]: ...
    def files_of(self, format: str, native: str) -> list[int]: ...
    def marks(self, n: int) -> Marks | None: ...
    def original(self, n: int) -> int | None: ...
    def message(self, n: int) -> tuple[str, bytes] | None: ...
    def spent_by(self, n: int) -> tuple[int, int] | None: ...


@dataclass(slots=True)
class Changes:
    """Everything a batch adds or corrects, ready to be written."""

    events: dict[int, Row] = field(default_factory=dict)
    corrected: dict[int, Row] = field(default_factory=dict)
    removed: set[int] = field(default_factory=set)
    texts: list[tuple[int, str]] = field(default_factory=list)
    passed: list[tuple[int, int, int, int | None, int]] = field(default_factory=list)
    usage: dict[tuple[int, int], Spent] = field(default_factory=dict)
    calls: dict[tuple[int, int], Call | None] = field(default_factory=dict)
    awaited: dict[int, list[int]] = field(default_factory=dict)
    repeated: dict[tuple[int, int], int] = field(default_factory=dict)
    answered: set[int] = field(default_factory=set)
    copied: list[tuple[int, int]] = field(default_factory=list)
    beginnings: twins.Beginnings = field(default_factory=dict)
    unreadable: list[tuple[int, int, int | None, int, int, int, str]] = field(default_factory=list)
    kept: dict[str, list[tuple[Any, ...]]] = field(default_factory=dict)
    turns: set[tuple[int, int]] = field(default_factory=set)
    lanes: set[tuple[int, int]] = field(default_factory=set)
    summaries: Told = field(default_factory=dict)
    holders: Holders = field(default_factory=list)
    forks: dict[int, Fork] = field(default_factory=dict)
    echoes: echoes.Echoes = field(default_factory=dict)


def _when(row: Row) -> int:
    """A record's instant; one without is later than all."""
    return 1 << 63 if row[AT] is None else int(row[AT])


def _since(before: tuple[int, int, int] | None, now: tuple[int, int, int]) -> Spending:
    """What was spent between two totals; where they began anew, all of the second."""
    took, cached, gave = now
    if before is not None and all(one <= other for one, other in zip(before, now, strict=True)):
        took, cached, gave = (other - one for one, other in zip(before, now, strict=True))
    cached = min(cached, took)
    return (None, took - cached, gave, cached, 0) if took or gave else None


_MENTIONED = itemgetter(*(Fields._fields.index(name) for name in ("session", "first", "above", "message", "joins")))


class Broken(NamedTuple):
    """A record that could not be read: where it stands, how long it is, and why."""

    line: int
    offset: int
    length: int
    reason: str


Taken = tuple[int, "Prepared | None", "Broken | None"]
"""One record as the derivation takes it: its number and what was prepared of it, or what was broken."""


Name = tuple[int, str, str, int, tuple[str, ...]]
"""What a record is called: (number, session, record, id of its first event, paths of its blocks)."""


class Derivation:
    """Applies records to states. One batch: :meth:`begin`, :meth:`take`, then :meth:`finish`."""

    def __init__(self, known: Known) -> None:
        self.known = known
        self.summaries = Summaries(known)
        self.inheriting = Inheriting(known)
        self.sessions: dict[tuple[str, str], SessionState] = {}
        self.touched: dict[int, SessionState] = {}
        self.changes = Changes()
        self._places: dict[int, Place] = {}
        self._calls: dict[tuple[int, int], Call] = {}
        self._spent: dict[tuple[int, int], Spent] = {}
        self._awaits = False
        self._own: set[tuple[str, str]] = set()
        self._said: echoes.Echoes = {}
        self._met: set[int] = set()
        self._fresh: dict[str, set[int]] = {}
        self._newest = 0
        self._echoes: dict[int, int] = {}
        self._displaced = 0

    def begin(self) -> None:
        """Forget the last batch's changes; states are kept."""
        if self.changes.echoes:
            self._said.update(self.changes.echoes)
            if len(self._said) > MOST_MET:
                self._own.clear()
                self._said.clear()
        self.changes = Changes()
        self.touched = {}
        self._places = {}
        self._calls = {}
        self._spent = {}
        self._awaits = self.known.awaits()
        self.inheriting.begin()
        self._echoes = {}

    # ------------------------------------------------------------------------------------------ a batch

    def take(self, source: SourceState, records: Sequence[Taken]) -> Changes:
        """Derive a run of consecutive records of one source."""
        self._look_up(source, records)
        for n, prepared, broken in records:
            source.records += 1
            if prepared is not None:
                self._record(source, n, prepared)
            elif broken is not None:
                self._unreadable(source, n, broken)
        if self._own:
            self._meet(source)
        if records:
            self._newest = records[-1][0]
            self.inheriting.grown(source, records)
        return self.changes

    def finish(self) -> Changes:
        """What only follows from a whole batch; nothing may be taken after it but a new batch."""
        if self.changes.summaries or (self.changes.holders and self.summaries.told):
            self._summarised(self.changes.summaries)
        for fork, copies in self.inheriting.settle(self._newest):
            self._inherited(fork, copies)
        for state in self.touched.values():
            if state.stated:
                statements.settle(state)
            if state.swap is not None:
                self.changes.turns.update((state.no, turn) for turn in swapped(state))
            if state.unsettled or state.turned is not None:
                self._lanes_changed(state, lanes.settle(state))
        return self.changes

    def _look_up(self, source: SourceState, records: Iterable[Taken]) -> None:
        """Fetch in a few queries what this batch mentions: places of ids and parents, messages, open calls."""
        wanted: set[int] = set()
        messages: dict[str, set[int]] = {}
        calls: dict[str, set[int]] = {}
        met = self._met
        self._fresh = {}
        last: str | None = None
        own = False
        for _, prepared, _ in records:
            if prepared is None:
                continue
            session, first, above, message, joins = _MENTIONED(prepared)
            if session != last:
                last = session
                own = (source.format, session) in self._own
                note = self._fresh.setdefault(session, set()).add
            note(first)
            if not own or first in met:
                wanted.add(first)
            if not own or above in met:
                wanted.add(above)
            if message:
                note(message)
                if not own or message in met:
                    messages.setdefault(session, set()).add(message)
            for join in joins:
                call = join[1]
                note(call)
                if not own or call in met:
                    calls.setdefault(session, set()).add(call)
        wanted.discard(0)
        wanted.difference_update(self._places)
        if wanted:
            self._places.update(self.known.places(list(wanted)))
        for session in {**messages, **calls}:
            state = self._known_session(source.format, session)
            if state is None:
                continue
            if spent := messages.get(session):
                rows = self.known.usage(state.no, list(spent))
                self._spent.update({(state.no, id): row for id, row in rows.items()})
            if waiting := calls.get(session):
                self._calls.update(
                    {(state.no, id): call for id, call in self.known.calls(state.no, list(waiting)).items()}
                )

    def _meet(self, source: SourceState) -> None:
        """Remember the ids of sessions that began here: what was not met in them need not be looked for in tables."""
        if len(self._met) > MOST_MET:
            self._own.clear()
            self._met.clear()
            self._said.clear()
        for session, fresh in self._fresh.items():
            if (source.format, session) in self._own:
                self._met |= fresh

    def forget(self) -> None:
        """Drop every state: the tables may have been changed by others."""
        self.changes = Changes()
        self._said.clear()
        self.sessions.clear()
        self._own.clear()
        self._met.clear()
        self.summaries.forget()
        self.inheriting.forget()

    def echo(self, session: int, said: int) -> echoes.Echo | None:
        """What was said in a session that began here."""
        return self._said.get((session, said))

    def _known_session(self, format: str, native: str) -> SessionState | None:
        key = (format, native)
        state = self.sessions.get(key)
        if state is None:
            state = self.known.session(*key)
            if state is not None:
                self.sessions[key] = state
        return state

    def _session(self, source: SourceState, native: str) -> SessionState:
        key = (source.format, native)
        state = self.sessions.get(key) or self._known_session(*key)
        if state is None:
            number = self.known.next_session()
            state = SessionState(number, session_uid(*key), source.format, marked(native))
            state.lanes[0] = LaneState("")
            state.lane_names[""] = 0
            self.changes.lanes.add((number, 0))
            self.sessions[key] = state
            self._own.add(key)
        self.touched[state.no] = state
        if source.session is None and native == source.native:
            source.session = state.no
            state.unreadable += source.unreadable
        return state

    def _unreadable(self, source: SourceState, n: int, broken: Broken) -> None:
        source.unreadable += 1
        if source.session is not None:
            self._session(source, source.native).unreadable += 1
        self.changes.unreadable.append((n, source.no, source.session, *broken))

    # ----------------------------------------------------------------------------------------- a record

    def _record(self, source: SourceState, n: int, prepared: Prepared) -> None:
        (
            native, record, first, above, message, at, name, prompt, leaf, unknown, facts, lane_facts, spent, kept,
            queue, rows, joins, texts, paths,
        ) = prepared  # fmt: skip
        if facts and forks.FROM in facts:
            facts = self.inheriting.declared(source, facts)
        if facts and "leaf" in facts:
            # It says nothing of the session whose file it stands in, and makes none where nothing else stands there.
            self.summaries.add(self.changes.summaries, source.format, facts["leaf"], facts.get("title.summary", ""))
            source.mapped += 1
            return
        if kept is not None and not rows:
            # It is of no session: what it holds stands by itself.
            if kept[0]:  # else there is nothing to keep, or no more
                self._keep(0, n, kept)
            source.mapped += 1
            return
        nested: list[Row] = []
        if queue is not None and queue[0] == progress.PROGRESS:
            nested, rows, joins, texts, paths = rows, [], [], [], ()
        state = self._session(source, native)
        if at is not None and at > source.sort:
            source.sort = at
        places = self._places
        again = False
        self._displaced = 0
        if first in places and first:
            again = record[:1] != "="
            tell = self._again if again else self._repeat
            first = tell(source, state, (n, native, record, first, paths), rows)
            if not first:
                return
        if unknown:
            source.unknown += 1
            state.unknown += 1
        else:
            source.mapped += 1
        lane = 0
        if name or source.lane or lane_facts:
            name = name or (source.lane if native == source.native else "")
            if name == sidechains.SIDE:
                name = sidechains.lane_of(state, record, places.get(above) if above else None, bool(above))
            # When a document was written is not known: it begins no lane, and its lane is nobody's.
            lane = self._lane(state, name, lane_facts, source.sort, n, [] if source.document else rows)
            if lane_facts and "call" in lane_facts:
                call = event_id(source.format, native, lane_facts["call"], "call")
                self._lanes_changed(state, starters.claimed(state, lane_facts.get("lane", name), call))
            if prompt and state.tasks:
                self._lanes_changed(state, sidechains.began(state, name, prompt))
        place = places.get(above) if above else None
        turn, head = 0, state.head_turn
        if queue is not None and queue[0] in echoes.STREAMS:
            known = self if (source.format, native) in self._own else self.known
            original = echoes.heard(queue[0], queue[1], state.no, n, known, self.changes.echoes)
            if original is not None:
                self._echoed(source, first, n, original)
                return
        elif queue is not None and queue[0] in _STATES:
            spent = self._stated(state, queue, rows, spent, source.sort)
        elif nested and not again:
            self._progress(state, queue[1], n, source.sort, nested)
        elif queue is not None and not lane and queue[0] != progress.PROGRESS:
            self._queued(state, queue, prompt, n, source.sort)
        if not lane:
            own = native == source.native
            above_turn = source.turn if own and prompt is None and state.head_turn == head else state.head_turn
            if place and not place.lane:
                above_turn = place.turn
            turn = self._turn(state, prompt, leaf, n, source.sort, above_turn)
            if own:
                source.turn = turn
            if again and self._displaced and turn and state.turns[turn].n == self._displaced:
                said(state, turn, n, source.sort)
                self.changes.turns.add((state.no, turn))
        if facts:
            if facts != state.stated:
                statements.heard(state, facts, source.sort)
            elif source.sort > state.stated_until:
                state.stated_until = source.sort
        problem = ""
        if above and place is None:
            problem = "parent_missing"
            if above == first:
                problem = "parent_cycle"
            elif first and rows:
                self.changes.awaited.setdefault(above, []).append(n)
        if kept is not None:
            self._keep(state.no, n, kept)
        if first:
            places[first] = Place(n, turn, lane, above or None)
        if rows:
            if spent is not None:
                self._usage(state, spent, message, n)
            if at is not None:
                if state.started is None or state.ended is None:
                    state.started = state.ended = at
                elif at > state.ended:
                    state.ended = at
                elif at < state.started:
                    state.started = at
            if problem:
                self._flag(rows[0], "", problem)
            if again:
                for row in rows:
                    self._flag(row, "", "same_id_differs")
            elif not lane and (state.begun < twins.BEGINNING or state.twins) and twins.matter(state, record):
                self._twins(state, n, record, rows, message if spent is not None else 0)
            if leaf and not again and record[0] not in "= " and source.format in FORMATS:
                self.changes.holders.append((record_id(source.format, record), state.no))
            self._events(source, state, n, rows, lane, turn)
            for block, text in texts:
                self.changes.texts.append((n + block, text))
            for join in joins:
                self._pair(state, rows, join)
        elif first:
            self.changes.passed.append((first, turn, lane, above or None, n))
        if first and (self._awaits or self.changes.awaited):
            self._answer_waiting(first, above or None)

    def _again(self, source: SourceState, state: SessionState, name: Name, rows: list[Row]) -> int:
        """A record id seen before: count an equal copy (0), or give the other content ids of its own."""
        n, native, record, first, paths = name
        place, raw = self._places[first], self.known.record(n)
        held = self.known.record(place.n)
        if held == raw:
            return self._copy(source, state, n, place, rows)
        own, its = (f"{record}={sha256(value).hexdigest()}" for value in (raw, held))
        first = event_id(source.format, native, own, "")
        if found := self._places.get(first) or self.known.places([first]).get(first):
            return self._copy(source, state, n, found, rows)
        alone = len(rows) == 1 and self._has_event(place.n) and not self._has_event(place.n + 1)
        if alone and self._keeps_id(source, rows[0], own, place.n, its):
            self._event(place.n)[ID] = other = event_id(source.format, native, its, "")
            self._places[other] = place
            self._displaced = place.n
            first = rows[0][ID]
        else:
            for row, path in zip(rows, paths, strict=True):
                row[ID] = event_id(source.format, native, own, path if row is not rows[0] else "")
        if rows and self._has_event(place.n):
            self._flag(self._event(place.n), "", "same_id_differs")
        return first

    def _keeps_id(self, source: SourceState, row: Row, name: str, other: int, its: str) -> bool:
        """Whether of two records with one id the new one keeps it: the older does, whichever is read first.

        Of equal times the first in a file does, and of two files' the one whose hash is smaller.
        """
        when, before = _when(row), _when(self._event(other))
        return when < before or (when == before and name < its and self.known.source_of(other) != source.no)

    def _repeat(self, source: SourceState, state: SessionState, name: Name, rows: list[Row]) -> int:
        """A record without an id whose bytes stood before: the next of its file, or a copy of another file's (0).

        ``record`` is ``=`` alone where the bytes were erased; then the ids its events had are kept.
        """
        n, native, record, first, paths = name
        key = (source.no, first)
        before = self.changes.repeated.get(key) or self.known.repeated(*key)
        if before is None:
            before = int(self.known.source_of(self._places[first].n) == source.no)
        self.changes.repeated[key] = before + 1
        if before:
            first = rows[0][ID] if record == "=" else event_id(source.format, native, f"{record}#{before}", "")
        if place := self._places.get(first) or self.known.places([first]).get(first):
            return self._copy(source, state, n, place, rows)
        if record != "=":
            for row, path in zip(rows, paths, strict=True):
                row[ID] = event_id(source.format, native, f"{record}#{before}", path if row is not rows[0] else "")
        return first

    def _twins(self, state: SessionState, n: int, record: str, rows: list[Row], message: int) -> None:
        """Flag a record whose id stands in another session, and that other record."""
        record = record[1:] if record[:2] == " =" else record
        for native in twins.begins(state, record, self.known, self.changes.beginnings):
            other = self._known_session(state.format, native)
            if other is not None:
                twins.link(state, native)
                twins.link(other, state.native)
                self.touched[other.no] = other
        for place in twins.of(state, record, self.known, self._places):
            if self._has_event(place.n):
                twin = self._event(place.n)
                self._flag(twin, "", "twin")
                self._flag(rows[0], "", "twin")
                if message:
                    self._paid_once(state, n, rows[0], message, twin)

    def _paid_once(self, state: SessionState, n: int, row: Row, message: int, other: Row) -> None:
        """Two sessions hold one record of one message: it was paid for where it was earlier; where none is, once."""
        copied = next((one for one in self._twinned(state) if one.no == other[SESSION]), None)
        said = self.known.message(other[N]) if copied is not None else None
        if copied is None or said is None or said != self.known.message(n):
            return
        name = said[0]
        if message != event_id(state.format, state.native, name, "usage"):
            return
        first = _when(row), state.native
        unpaid = state if (_when(other), copied.native) < first else copied
        key = unpaid.no, event_id(unpaid.format, unpaid.native, name, "usage")
        if (spent := self._spent_on(key)) is not None:
            self._unspent(unpaid, key, spent)
            self._flag(row if spent[0] == n else self._event(spent[0]), "", "paid_elsewhere")
            self.touched[unpaid.no] = unpaid

    def _twinned(self, state: SessionState) -> Iterable[SessionState]:
        found = (self._known_session(state.format, native) for native in state.twins)
        return (one for one in found if one is not None)

    def _spent_on(self, key: tuple[int, int]) -> Spent | None:
        return self.changes.usage.get(key) or self._spent.get(key) or self.known.usage(key[0], [key[1]]).get(key[1])

    def _echoed(self, source: SourceState, first: int, n: int, original: int) -> None:
        """A record says what another stream of its log said before: it has a place, and no event of its own."""
        self.changes.copied.append((n, original))
        self._echoes[n] = original
        if first:
            self._places[first] = Place(n, source.turn, 0, None)
            self.changes.passed.append((first, source.turn, 0, None, n))

    def _copy(self, source: SourceState, state: SessionState, n: int, place: Place, rows: list[Row]) -> int:
        source.duplicates += 1
        state.duplicates += 1
        if not place.lane and state.no == source.session:
            source.turn = place.turn
        of: int | None = place.n
        if rows and self._has_event(place.n):
            self._event(place.n)[COPIES] += 1
        elif rows:
            of = self._echoes.get(place.n) or self.known.original(place.n)
        self.changes.copied.append((n, place.n if of is None else of))
        return 0

    def _inherited(self, fork: Fork, copies: list[int]) -> None:
        """Records of a file are found to be copied: mark their events, and count their tokens no longer."""
        self.changes.forks[fork.source] = fork
        state = self._known_session(fork.format, marked(fork.native)) if copies else None
        if state is None:
            return
        self.touched[state.no] = state
        originals = dict(self.changes.copied)
        spent = {usage[0]: key for key, usage in self.changes.usage.items()}
        for n in copies:
            if not self._has_event(n):
                found = originals[n] if n in originals else self.known.original(n)
                if found is None or not self._has_event(found):
                    continue
                n = found
            row = self._event(n)
            its = row[SESSION] == state.no and row[KIND] != "session.opened"  # the copied opening is told otherwise
            if its and "inherited" not in row[FLAGS]:
                self._flag(row, "", "inherited")
                block = 1
                while self._has_event(n + block):
                    self._flag(self._event(n + block), "", "inherited")
                    block += 1
                key = spent[n] if n in spent else self.known.spent_by(n)
                if key is not None and (before := self._spent_on(key)) is not None:
                    self._unspent(state, key, before)

    def _unspent(self, state: SessionState, key: tuple[int, int], before: Spent) -> None:
        """Count a message's tokens no longer."""
        state.tokens_in -= before[2]
        state.tokens_out -= before[3]
        state.cache_read -= before[4]
        state.cache_write -= before[5]
        self.changes.usage[key] = self._spent[key] = (before[0], before[1], 0, 0, 0, 0)

    def _is_paid(self, state: SessionState, n: int) -> bool:
        """Whether the tokens of the message that began with event ``n`` count in another session."""
        if not state.twins and not self.inheriting.of(state.format, state.native):
            return False
        row = self.changes.events.get(n) or self.changes.corrected.get(n) or self.known.event(n)
        flags = row[FLAGS].split()
        return "inherited" in flags or "paid_elsewhere" in flags

    def _has_event(self, n: int) -> bool:
        """Whether a known record made any event."""
        return n in self.changes.events or self.known.sort_of(n) is not None

    def _event(self, n: int) -> Row:
        """An event row that may be changed: of this batch, or an earlier one to be written back."""
        row = self.changes.events.get(n) or self.changes.corrected.get(n)
        if row is None:
            row = self.changes.corrected[n] = self.known.event(n)
        return row

    # ------------------------------------------------------------------------------- place in the session

    def _lane(
        self, state: SessionState, name: str, facts: dict[str, str] | None, sort: int, n: int, rows: list[Row]
    ) -> int:
        number, changed = lanes.open_lane(state, name)
        if rows:
            if state.lanes[number].told:
                self._own_log(state, number)
            changed = changed + lanes.began(state, number, sort, n)
        if facts:
            changed = changed + lanes.stated(state, number, facts)
        self._lanes_changed(state, changed)
        return number

    def _stated(
        self, state: SessionState, told: tuple[str, Any], rows: list[Row], spent: Spending, sort: int
    ) -> Spending:
        """A record states what holds from here on. Gives the tokens it tells of."""
        what, value = told
        if what == policies.POLICY:
            after, changed = policies.stated(state.policy, value)
            if changed and rows:
                rows[0][SUMMARY] = summarise(changed)
            if state.policy_at is None or state.policy_at <= sort:
                state.policy, state.policy_at = after, sort
            if (model := value.get("model")) and model not in state.models and len(state.models) < 64:
                state.models.append(marked(model))
            spent = None
        elif what == policies.ROLLBACK:
            self.changes.turns.update((state.no, turn) for turn in rolled_back(state, value))
        else:
            if not value[3]:
                spent = _since(state.totals, value[:3])
            if state.totals_at is None or state.totals_at <= sort:
                state.totals, state.totals_at = value[:3], sort
        return spent

    def _progress(self, state: SessionState, name: str, n: int, sort: int, rows: list[Row]) -> None:
        """A record tells of a sub-agent's message."""
        number, changed = lanes.open_lane(state, marked(name))
        rows = progress.tell(state, number, n, sort, rows) if number else []
        if rows:
            changed = [*changed, *lanes.began(state, number, sort, n), number]
            self.changes.events.update((row[N], row) for row in rows)
        self._lanes_changed(state, changed)

    def _own_log(self, state: SessionState, number: int) -> None:
        """A sub-agent's own log is there: what progress told of it is not shown."""
        mine = [row for row in self.changes.events.values() if row[SESSION] == state.no and row[LANE] == number]
        known = [self.changes.corrected.get(n) or self.known.event(n) for n in self.known.told(state.no, number)]
        rows = [row for row in (*mine, *known) if progress.is_told(row)]
        for row in rows:
            if self.changes.events.pop(row[N], None) is None:
                self.changes.removed.add(row[N])
                self.changes.corrected.pop(row[N], None)
        progress.untell(state, number, rows)

    def _queued(self, state: SessionState, queue: tuple[str, int], prompt: str | None, n: int, sort: int) -> None:
        """A message typed while the agent worked, on its way: it is one turn, wherever its text stands again.

        Taken into the running turn it begins one of its own; where its text comes as a record of its own later, that
        record joins that turn, and where it came before, nothing is left to do.
        """
        operation, text = queue
        if operation == "said":
            state.queued.pop(text, 0)
            turn = state.joined.pop(text, 0)
            if turn and prompt is not None and prompt not in state.turn_keys and state.turns[turn].alias is None:
                state.turn_keys[prompt] = turn
                state.turns[turn].alias = prompt
                self._event(state.turns[turn].n)[KIND] = "lifecycle"
                said(state, turn, n, sort)
                self.changes.turns.add((state.no, turn))
        elif operation == "clear":
            state.queued.clear()
        elif operation == "remove":
            if not state.queued:
                return
            waiting, event = state.queued.popitem(last=False)
            if event:
                row = self._event(event)
                key = f"queued:{waiting:x}:{len(state.turns)}"
                turn = self._turn(state, key, False, event, row[SORT], state.head_turn)
                self._remember(state.joined, waiting, turn)
                row[KIND], row[TURN] = "user.message", turn
        else:
            state.joined.pop(text, 0)
            state.queued.pop(text, 0)
            self._remember(state.queued, text, n if operation == "enqueue" else 0)

    @staticmethod
    def _remember(messages: OrderedDict[int, int], text: int, of: int) -> None:
        messages[text] = of
        if len(messages) > MOST_QUEUED:
            messages.popitem(last=False)

    def _turn(self, state: SessionState, prompt: str | None, leaf: bool, n: int, sort: int, above: int) -> int:
        turn, moved = turn_of(state, prompt, leaf, n, sort, above)
        for number in moved:
            self.changes.turns.add((state.no, number))
        return turn

    def _lanes_changed(self, state: SessionState, numbers: list[int]) -> None:
        self.changes.lanes.update((state.no, number) for number in numbers)

    def _answer_waiting(self, first: int, parent: int | None) -> None:
        """A record arrived that others named before it was seen: clear their flag, or mark the circle they close."""
        waiting = [] if first in self.changes.answered or not self._awaits else self.known.awaiting(first)
        waiting += self.changes.awaited.pop(first, [])
        if not waiting:
            return
        self.changes.answered.add(first)
        ancestors = self._ancestors(first, parent)
        for n in dict.fromkeys(waiting):
            row = self._event(n)
            cycle = row[ID] in ancestors
            self._flag(row, "parent_missing", "parent_cycle" if cycle else "")
            if cycle:
                own = self._places[first].n
                if own in self.changes.events:
                    self._flag(self._event(own), "", "parent_cycle")

    def _ancestors(self, first: int, parent: int | None) -> set[int]:
        """A record and what it follows, as far as a circle can be told."""
        seen = {first}
        while parent is not None and parent not in seen and len(seen) < LONGEST_CIRCLE:
            place = self._places.get(parent)
            walked = (
                [(parent, place.parent)]
                if place is not None
                else self.known.ancestors(parent, LONGEST_CIRCLE - len(seen)) or [(parent, None)]
            )
            for id, above in walked:
                if id in seen:
                    return seen
                seen.add(id)
                parent = above
                if above in self._places:
                    break
        return seen

    def _keep(self, session: int, n: int, kept: tuple[str, tuple[Any, ...]]) -> None:
        table, columns = kept
        row = (session, n, *[marked(value) if type(value) is str else value for value in columns])
        self.changes.kept.setdefault(table, []).append(row)

    @staticmethod
    def _flag(row: Row, old: str, new: str) -> None:
        if not new and old not in row[FLAGS]:
            return
        flags = [flag for flag in row[FLAGS].split() if flag != old]
        if new and new not in flags:
            flags.append(new)
        row[FLAGS] = " ".join(flags)

    # ------------------------------------------------------------------------------------- what is stated

    def _summarised(self, new: Told) -> None:
        """Give sessions the summaries that name a record of theirs."""
        for session, native, leaf, summary in self.summaries.held(new, self.changes.holders):
            found = self.touched.get(session)
            if found is None and native is not None:
                found = next(filter(None, (self._known_session(format, native) for format in FORMATS)), None)
            if found is None:
                continue
            state = found
            id = event_id(state.format, state.native, leaf, "")
            place = self._places.get(id) or self.known.places([id]).get(id)
            if place is not None:
                self.touched[state.no] = state
                self._summary(state, place.n, leaf, summary)

    def _summary(self, state: SessionState, n: int, leaf: str, summary: str) -> None:
        row = self.changes.events.get(n) or self.changes.corrected.get(n)
        sort = row[SORT] if row else self.known.sort_of(n)
        stands = (-(1 << 62) if sort is None else sort, leaf, summary)
        if state.summary is None or state.summary < stands:
            state.summary = stands

    def _usage(self, state: SessionState, spent: tuple[str | None, int, int, int, int], message: int, n: int) -> None:
        """Tokens once per message, the last report winning."""
        model, took, gave, read, wrote = spent
        key = (state.no, message)
        before = self.changes.usage.get(key) or self._spent.get(key)
        if model and model not in state.models and len(state.models) < 64:
            state.models.append(model)
        if before is not None:
            n, model = before[0], model or before[1]
            if not any(before[2:]) and self._is_paid(state, n):
                return
            state.tokens_in -= before[2]
            state.tokens_out -= before[3]
            state.cache_read -= before[4]
            state.cache_write -= before[5]
        state.tokens_in += took
        state.tokens_out += gave
        state.cache_read += read
        state.cache_write += wrote
        self.changes.usage[key] = (n, model, took, gave, read, wrote)

    # ------------------------------------------------------------------------------------------- events

    def _events(self, source: SourceState, state: SessionState, n: int, rows: list[Row], lane: int, turn: int) -> None:
        """Complete a record's event rows and take them in."""
        events = self.changes.events
        number, sort = state.no, source.sort
        for block, row in enumerate(rows):
            row[N] = n + block
            row[SESSION] = number
            row[LANE] = lane
            row[TURN] = turn
            row[SORT] = sort
            events[n + block] = row
            if row[PROBLEM]:
                state.problems += 1
        state.events += len(rows)
        state.lanes[lane].events += len(rows)
        self.changes.lanes.add((number, lane))

    def _pair(self, state: SessionState, rows: list[Row], join: tuple[int, int, bool, str | None, str | None]) -> None:
        """Join an intent and its observation, whichever comes second; hang a lane on what started it."""
        block, call, intends, told, spawns = join
        row = rows[block]
        if call:
            key = (state.no, call)
            waiting = self.changes.calls[key] if key in self.changes.calls else self._calls.get(key)
            if waiting is None:
                if not intends:
                    self._flag(row, "", "orphan_result")
                self.changes.calls[key] = Call(row[N], not intends, row[AT], told, row[LANE], row[TURN])
            elif waiting.early == intends:
                other = self._event(waiting.n)
                intent, result = (row, other) if intends else (other, row)
                self._flag(result, "orphan_result", "")
                checks, tells = (told, waiting.told) if intends else (waiting.told, told)
                self._join(state, intent, result, checks, tells)
                self.changes.calls[key] = None
        if intends and row[TOOL] in starters.TOOLS:
            self._lanes_changed(state, starters.called(state, call, row[N], row[LANE], row[TURN]))
        if spawns and spawns[0] == sidechains.TASK:
            sidechains.task_given(state, spawns, row[N], row[LANE], row[TURN])
        elif spawns:
            state.starters.pop(call, None)
            by = self._event(row[PAIR]) if row[PAIR] is not None else row
            self._lanes_changed(state, lanes.spawned(state, spawns, by[N], by[LANE], by[TURN] or None))

    def _join(self, state: SessionState, intent: Row, result: Row, checks: str | None, tells: str | None) -> None:
        intent[PAIR], result[PAIR] = result[N], intent[N]
        if policies.ESCALATED in intent[FLAGS] and self._has_event(intent[N] + 1):
            policies.decided(self._event(intent[N] + 1), result, refused=result[KIND] == "permission.decision")
        if result[TOOL] is None:
            result[TOOL] = intent[TOOL]
        if result[MILLIS] is None and result[AT] is not None and intent[AT] is not None:
            millis = (result[AT] - intent[AT]) // 1000
            if millis < 0:
                self._flag(result, "", "clock_skew")
            else:
                result[MILLIS] = millis
        if checks is not None and result[KIND] == "tool.finished":
            result[KIND] = "verification"
            tells, _, counted = (tells or "").partition(" ")
            if counted and result[OK] != 0:
                result[SUMMARY] = counted
            if tells == "failed" and not result[PROBLEM]:
                result[OK], result[PROBLEM] = 0, 1
                state.problems += 1
                self._flag(result, "", "printed_failure")
            elif tells == "passed" and result[OK] is None:
                result[OK] = 1
            stands = (int(result[LANE] == 0), result[SORT])
            if result[OK] is not None and (state.checked_at is None or state.checked_at <= stands):
                state.checked, state.checked_at = "passed" if result[OK] else "failed", stands
