"""What records mean together: turns, lanes, branches, pairs, copies and usage, worked out one record at a time.

The derivation is an incremental fold. Each record adds rows and may correct a few earlier ones that it can name;
what it must remember is a small state per session plus look-ups by id through :class:`Known`. It sees no clock
and no table, and any split of the same records into batches gives the same rows.

- A *turn* begins with a record that has a prompt key; any other record belongs to the turn of the record it
  follows, or to the newest turn where that is not in the log.
- The *main chain* is the chain of turns that ends in the newest leaf. A rewind (a prompt, or a user or agent
  record on a part already abandoned) moves it, and the part of the old chain below the fork gets a number.
- An observation is *paired* with its intent by call id, whichever comes first; the observation of a test, lint or
  build command is a ``verification``.
- A record whose id was seen before is a *copy* when its bytes are equal; otherwise both are kept and flagged.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any, NamedTuple, Protocol

from affidavit.session.event import Draft, Reading, Usage, event_id, session_uid
from affidavit.session.state import LaneState, SessionState, SourceState, TurnState
from affidavit.session.times import instant
from affidavit.session.verification import classify
from affidavit.text.marks import marked

SUMMARY_CELLS = 200
"""Most characters an event's summary keeps; the whole text stays in the recorded bytes."""

# Positions in an event row, in the order of the table's columns.
(N, ID, SESSION, LANE, TURN, KIND, ACTOR, AT, SORT, PARENT, PAIR, TOOL, MODEL, SUMMARY, SIZE, OK, MILLIS, COPIES,
 INFERRED, PROBLEM, FLAGS) = range(21)  # fmt: skip
EVENT_COLUMNS = (
    "n", "id", "session", "lane", "turn", "kind", "actor", "at", "sort", "parent", "pair", "tool", "model", "summary",
    "size", "ok", "millis", "copies", "inferred", "problem", "flags",
)  # fmt: skip

_FAILS = frozenset({"tool.finished", "verification", "permission.decision"})
_OBSERVES = frozenset({"tool.finished", "permission.decision"})
_INTENDS = frozenset({"tool.intent", "memory.write", "memory.read", "retrieval.request"})
_MAX_CYCLE_WALK = 100_000

Row = list[Any]


class Place(NamedTuple):
    """Where a known record stands: its first event (or record) number, turn, lane and parent id."""

    n: int
    turn: int
    lane: int
    parent: int | None


class Call(NamedTuple):
    """One half of a tool call that waits for the other. ``early``: it is the result. ``checks``: kind of check."""

    n: int
    early: bool
    at: int | None
    checks: str | None
    lane: int
    turn: int


Spent = tuple[int, "str | None", int, int, int, int]
"""Tokens of a message as a row keeps them: (first event, model, input, output, cache read, cache write)."""


class Known(Protocol):
    """What the derivation may ask of everything folded before this batch."""

    def places(self, ids: Sequence[int]) -> dict[int, Place]: ...
    def calls(self, session: int, calls: Sequence[int]) -> dict[int, Call]: ...
    def usage(self, session: int, messages: Sequence[int]) -> dict[int, Spent]: ...
    def awaits(self) -> bool: ...
    def awaiting(self, parent: int) -> list[int]: ...
    def parent_of(self, id: int) -> int | None: ...
    def event(self, n: int) -> Row: ...
    def record(self, n: int) -> bytes: ...
    def session(self, format: str, native: str) -> SessionState | None: ...
    def next_session(self) -> int: ...


@dataclass(slots=True)
class Changes:
    """Everything a batch adds or corrects, ready to be written."""

    events: dict[int, Row] = field(default_factory=dict)
    corrected: dict[int, Row] = field(default_factory=dict)
    texts: list[tuple[int, str]] = field(default_factory=list)
    passed: list[tuple[int, int, int, int | None, int]] = field(default_factory=list)
    usage: dict[tuple[int, int], Spent] = field(default_factory=dict)
    calls: dict[tuple[int, int], Call | None] = field(default_factory=dict)
    awaited: set[tuple[int, int]] = field(default_factory=set)
    answered: set[int] = field(default_factory=set)
    unreadable: list[tuple[int, int, int | None, int, int, int, str]] = field(default_factory=list)
    artifacts: list[tuple[int, int, bytes, str, str | None, int]] = field(default_factory=list)
    turns: set[tuple[int, int]] = field(default_factory=set)
    lanes: set[tuple[int, int]] = field(default_factory=set)


class Named(NamedTuple):
    """The ids a record speaks of: its session, its name, its first event, the record it follows, its message."""

    session: str
    record: str
    first: int
    parent: int
    message: int


_NOTHING = Named("", "", 0, 0, 0)


class Taken(NamedTuple):
    """One record as the derivation takes it: its number, bytes and reading (``None``: it could not be read)."""

    n: int
    raw: bytes
    reading: Reading | None
    line: int
    offset: int
    reason: str = ""
    ids: tuple[int, ...] = ()
    """Ids kept for a withheld record, whose bytes can no longer give them."""


class Derivation:
    """Applies records to states. One batch: :meth:`begin`, :meth:`take`, then read :attr:`changes`."""

    def __init__(self, known: Known) -> None:
        self.known = known
        self.sessions: dict[tuple[str, str], SessionState] = {}
        self.touched: dict[int, SessionState] = {}
        self.changes = Changes()
        self._places: dict[int, Place] = {}
        self._raw: dict[int, bytes] = {}
        self._calls: dict[tuple[int, int], Call] = {}
        self._spent: dict[tuple[int, int], Spent] = {}
        self._call_ids: dict[tuple[str, str], int] = {}
        self._awaits = False
        self._short: dict[str, str] = {}

    def begin(self) -> None:
        """Forget the last batch's changes; states are kept."""
        self.changes = Changes()
        self.touched = {}
        self._places = {}
        self._raw = {}
        self._calls = {}
        self._spent = {}
        self._call_ids = {}
        self._awaits = self.known.awaits()

    # ------------------------------------------------------------------------------------------ a batch

    def take(self, source: SourceState, records: Iterable[Taken]) -> Changes:
        """Derive a run of consecutive records of one source."""
        records = list(records)
        names = self._names(source, records)
        self._look_up(source, records, names)
        for taken, name in zip(records, names, strict=True):
            source.records += 1
            if taken.reading is None:
                self._unreadable(source, taken)
            else:
                self._record(source, taken, taken.reading, name)
        return self.changes

    def _names(self, source: SourceState, records: list[Taken]) -> list[Named]:
        """The ids each record speaks of, see :func:`affidavit.session.event.event_id`."""
        names: list[Named] = []
        append = names.append
        default = source.native
        session = ""
        stem = b""
        known: dict[str, int] = {}
        for taken in records:
            reading = taken.reading
            if reading is None:
                append(_NOTHING)
                continue
            said = reading.session or default
            if said != session:
                session, known = said, {}
                stem = f"{source.format}\0{said}\0".encode("utf-8", "surrogatepass")
            record, first, parent, message = reading.native or "", 0, 0, 0
            if taken.ids:
                first = taken.ids[0]
            elif record:
                first = known[record] = _id(stem, record)
            elif reading.drafts:
                record = "=" + sha256(taken.raw).hexdigest()
                first = _id(stem, record + "#0")
            if reading.parent:
                parent = known.get(reading.parent) or _id(stem, reading.parent)
            if reading.usage is not None:
                message = _id(stem, reading.usage.message, b"\0usage")
            append(Named(session, record, first, parent, message))
        return names

    def _look_up(self, source: SourceState, records: list[Taken], names: list[Named]) -> None:
        """Fetch in a few queries what this batch mentions: places of ids and parents, messages, open calls."""
        wanted = {name.first for name in names} | {name.parent for name in names}
        wanted.discard(0)
        wanted.difference_update(self._places)
        if wanted:
            self._places.update(self.known.places(list(wanted)))
        messages: dict[str, set[int]] = {}
        calls: dict[str, set[int]] = {}
        format = source.format
        for taken, name in zip(records, names, strict=True):
            if taken.reading is None:
                continue
            if name.message:
                messages.setdefault(name.session, set()).add(name.message)
            for draft in taken.reading.drafts:
                if draft.call:
                    key = (name.session, draft.call)
                    call = self._call_ids.get(key)
                    if call is None:
                        call = self._call_ids[key] = event_id(format, name.session, draft.call, "call")
                        calls.setdefault(name.session, set()).add(call)
        for session, ids in messages.items():
            number = self._session(source, session).no
            self._spent.update({(number, id): row for id, row in self.known.usage(number, list(ids)).items()})
        for session, ids in calls.items():
            number = self._session(source, session).no
            self._calls.update({(number, id): call for id, call in self.known.calls(number, list(ids)).items()})

    def _session(self, source: SourceState, native: str) -> SessionState:
        key = (source.format, native)
        state = self.sessions.get(key)
        if state is None:
            state = self.known.session(*key)
            if state is None:
                number = self.known.next_session()
                state = SessionState(number, session_uid(*key), source.format, marked(native))
                state.lanes[0] = LaneState("")
                state.lane_names[""] = 0
                self.changes.lanes.add((number, 0))
            self.sessions[key] = state
        self.touched[state.no] = state
        if source.session is None and native == source.native:
            source.session = state.no
            state.unreadable += source.unreadable
        return state

    def _marked(self, name: str) -> str:
        """A short name that comes again and again (a tool, a model), as tables can hold it."""
        kept = self._short.get(name)
        if kept is None:
            if len(self._short) > 1_000:
                self._short.clear()
            kept = self._short[name] = marked(name[:SUMMARY_CELLS])
        return kept

    def _unreadable(self, source: SourceState, taken: Taken) -> None:
        source.unreadable += 1
        if source.session is not None:
            self._session(source, source.native).unreadable += 1
        self.changes.unreadable.append(
            (taken.n, source.no, source.session, taken.line, taken.offset, len(taken.raw), taken.reason)
        )

    # ----------------------------------------------------------------------------------------- a record

    def _record(self, source: SourceState, taken: Taken, reading: Reading, name: Named) -> None:
        native, record, first, above, message = name
        state = self._session(source, native)
        places = self._places
        if first in places and first:
            first = self._again(source, state, taken, reading, native, record, first)
            if not first:
                return
            record = self._record_name
        elif record[:1] == "=":
            record += "#0"
        if reading.status == "unknown":
            source.unknown += 1
            state.unknown += 1
        else:
            source.mapped += 1
        at, time_flag = instant(reading.at)
        if at is not None and at > source.sort:
            source.sort = at
        lane = 0 if not (reading.lane or source.lane or reading.lane_facts) else self._lane(state, reading, source)
        place = places.get(above) if above else None
        turn = self._turn(state, reading, taken.n, source.sort, lane, place)
        if reading.facts and reading.facts != state.stated:
            self._facts(state, reading.facts)
        drafts = reading.drafts
        flags = reading.flags
        if above and place is None:
            problem = "parent_cycle" if above == first else "parent_missing"
            flags = (*flags, problem)
            if first and above != first:
                self.changes.awaited.add((above, taken.n))
        if reading.artifact is not None:
            digest, media, called, size = reading.artifact
            called = called if called is None else marked(called)
            self.changes.artifacts.append((state.no, taken.n, digest, marked(media), called, size))
        if first:
            places[first] = Place(taken.n, turn, lane, above or None)
            self._raw[taken.n] = taken.raw
        if drafts:
            if reading.usage is not None:
                self._usage(state, reading.usage, message, taken.n)
            if at is not None:
                if state.started is None or state.ended is None:
                    state.started = state.ended = at
                elif at > state.ended:
                    state.ended = at
                elif at < state.started:
                    state.started = at
            if time_flag and (time_flag != "time_missing" or drafts[0].kind != "unknown"):
                flags = (*flags, time_flag)
            self._events(source, state, taken, reading, (native, record, first, above or None), (lane, turn, at), flags)
        elif first:
            self.changes.passed.append((first, turn, lane, above or None, taken.n))
        if first and (self._awaits or self.changes.awaited):
            self._answer_waiting(first, above or None)

    _record_name = ""

    def _again(
        self,
        source: SourceState,
        state: SessionState,
        taken: Taken,
        reading: Reading,
        native: str,
        record: str,
        first: int,
    ) -> int:
        """A record id seen before: count an equal copy (0), or give the other content an id of its own.

        Records without an id are told apart by their occurrence: an equal one is a new record.
        """
        anonymous = record.startswith("=")
        occurrence = 1
        while True:
            place = self._places.get(first)
            if place is None:
                place = self.known.places([first]).get(first)
            if place is None:
                self._record_name = f"{record}#{occurrence - 1}"
                if not anonymous:
                    reading.flags = (*reading.flags, "same_id_differs")
                return first
            if not anonymous and self._bytes(place.n) == taken.raw:
                source.duplicates += 1
                state.duplicates += 1
                if reading.drafts:
                    self._event(place.n)[COPIES] += 1
                return 0
            first = event_id(source.format, native, f"{record}#{occurrence}", "")
            occurrence += 1

    def _bytes(self, n: int) -> bytes:
        raw = self._raw.get(n)
        return raw if raw is not None else self.known.record(n)

    def _event(self, n: int) -> Row:
        """An event row that may be changed: of this batch, or an earlier one to be written back."""
        row = self.changes.events.get(n) or self.changes.corrected.get(n)
        if row is None:
            row = self.changes.corrected[n] = self.known.event(n)
        return row

    # ------------------------------------------------------------------------------- place in the session

    def _lane(self, state: SessionState, reading: Reading, source: SourceState) -> int:
        name = reading.lane or (source.lane if reading.session in (None, source.native) else "")
        number = state.lane_names.get(name)
        if number is None:
            number = self._new_lane(state, name)
        lane = state.lanes[number]
        if number and not lane.events and lane.turn is None and reading.drafts:
            lane.turn = self._turn_at(state, source.sort)
            self.changes.lanes.add((state.no, number))
        if reading.lane_facts and reading.lane_facts != lane.stated:
            self._lane_facts(state, number, lane, reading.lane_facts)
        return number

    def _lane_facts(self, state: SessionState, number: int, lane: LaneState, facts: dict[str, str]) -> None:
        """What the log says of a lane: what it is called, who started it, how deep it lies."""
        lane.stated = facts
        title, parent, depth = facts.get("title"), facts.get("parent"), facts.get("depth", "")
        if title is not None:
            lane.title = marked(title[:SUMMARY_CELLS])
        if number and lane.parent is None and lane.spawn is None:
            if parent is not None:
                above = state.lane_names.get(parent)
                above = self._new_lane(state, parent) if above is None else above
                if not self._is_below(state, above, number):
                    lane.parent = above
                    self._settle_lane(state, number, lane.turn)
            elif depth.isascii() and depth.isdigit() and len(depth) < 4:
                lane.depth = int(depth)
        self.changes.lanes.add((state.no, number))

    @staticmethod
    def _is_below(state: SessionState, number: int, other: int) -> bool:
        """Whether lane ``number`` is ``other`` or hangs below it."""
        walk: int | None = number
        while walk is not None:
            if walk == other:
                return True
            walk = state.lanes[walk].parent
        return False

    def _new_lane(self, state: SessionState, name: str) -> int:
        number = len(state.lanes)
        state.lanes[number] = LaneState(marked(name), depth=1)
        state.lane_names[name] = number
        self.changes.lanes.add((state.no, number))
        return number

    @staticmethod
    def _turn_at(state: SessionState, sort: int) -> int | None:
        """The newest turn of the main chain that had begun by then: where a lane began, until its call is known."""
        found = None
        for number, turn in state.turns.items():
            if turn.sort <= sort and turn.branch == 0:
                found = number
        return found

    def _spawned(self, state: SessionState, name: str, call: Row) -> None:
        """An event says that it started lane ``name``: hang that lane, and what hangs below it, on the event."""
        number = state.lane_names.get(name)
        if number is None:
            number = self._new_lane(state, name)
        lane = state.lanes[number]
        if lane.spawn is not None or number == call[LANE]:
            return
        if self._is_below(state, call[LANE], number):
            return
        lane.parent, lane.spawn = call[LANE], call[N]
        self._settle_lane(state, number, call[TURN] or None)

    def _settle_lane(self, state: SessionState, number: int, turn: int | None) -> None:
        waiting = [(number, turn)]
        while waiting:
            number, turn = waiting.pop()
            lane = state.lanes[number]
            above = state.lanes[lane.parent or 0]
            lane.depth = above.depth + 1
            if lane.parent:
                turn = above.turn
            if turn is not None:
                lane.turn = turn
            self.changes.lanes.add((state.no, number))
            waiting.extend(
                (child, lane.turn) for child, other in state.lanes.items() if child and other.parent == number
            )

    def _answer_waiting(self, first: int, parent: int | None) -> None:
        """A record arrived that others named before it was seen: clear their flag, or mark the circle they close."""
        waiting = [n for above, n in self.changes.awaited if above == first]
        waiting += self.known.awaiting(first) if first not in self.changes.answered else []
        if not waiting:
            return
        self.changes.answered.add(first)
        self.changes.awaited = {pair for pair in self.changes.awaited if pair[0] != first}
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
        seen = {first}
        while parent is not None and parent not in seen and len(seen) < _MAX_CYCLE_WALK:
            seen.add(parent)
            place = self._places.get(parent)
            parent = place.parent if place is not None else self.known.parent_of(parent)
        return seen

    @staticmethod
    def _flag(row: Row, old: str, new: str) -> None:
        flags = [flag for flag in row[FLAGS].split() if flag != old]
        if new and new not in flags:
            flags.append(new)
        row[FLAGS] = " ".join(flags)

    # -------------------------------------------------------------------------------- turns and branches

    def _turn(self, state: SessionState, reading: Reading, n: int, sort: int, lane: int, place: Place | None) -> int:
        if lane:
            return 0
        above = place.turn if place is not None and place.lane == 0 else state.head_turn
        if reading.prompt is None:
            if reading.leaf and above and state.turns[above].branch:
                self._move_head(state, above)
            return above
        number = state.turn_keys.get(reading.prompt)
        if number is None:
            number = len(state.turns) + 1
            state.turns[number] = TurnState(reading.prompt, n, sort, above, 0)
            state.turn_keys[reading.prompt] = number
            self.changes.turns.add((state.no, number))
            self._move_head(state, number)
        elif state.turns[number].branch:
            self._move_head(state, number)
        return number

    def _move_head(self, state: SessionState, new: int) -> None:
        """Make the chain that ends in ``new`` the main one and number the part of the old one it leaves."""
        turns = state.turns
        old = state.head_turn
        state.head_turn = new
        if not old or turns[new].parent == old:
            return
        gained: list[int] = []
        walk = new
        while walk and (turns[walk].branch or walk == new):
            gained.append(walk)
            walk = turns[walk].parent
        lost: list[int] = []
        back = old
        while back and back != walk:
            lost.append(back)
            back = turns[back].parent
        if not lost:
            return
        number = turns[gained[-1]].branch or state.next_branch
        if number == state.next_branch:
            state.next_branch += 1
        for turn in gained:
            turns[turn].branch = 0
        for turn in lost:
            turns[turn].branch = number
        self.changes.turns.update((state.no, turn) for turn in (*gained, *lost))

    # ------------------------------------------------------------------------------------- what is stated

    @staticmethod
    def _facts(state: SessionState, facts: dict[str, str]) -> None:
        state.stated = facts
        for key, value in facts.items():
            if key == "title.prompt" and key in state.facts:
                continue
            state.facts[key] = marked(value[:SUMMARY_CELLS] if key.startswith("title.") else value[:4096])

    def _usage(self, state: SessionState, usage: Usage, message: int, n: int) -> None:
        """Tokens once per message, the last report winning."""
        key = (state.no, message)
        before = self.changes.usage.get(key) or self._spent.get(key)
        model = usage.model if usage.model is None else self._marked(usage.model)
        if before is not None:
            n, model = before[0], model or before[1]
            state.tokens_in -= before[2]
            state.tokens_out -= before[3]
            state.cache_read -= before[4]
            state.cache_write -= before[5]
        state.tokens_in += usage.input
        state.tokens_out += usage.output
        state.cache_read += usage.cache_read
        state.cache_write += usage.cache_write
        self.changes.usage[key] = (n, model, usage.input, usage.output, usage.cache_read, usage.cache_write)
        if model and model not in state.models and len(state.models) < 64:
            state.models.append(model)

    # ------------------------------------------------------------------------------------------- events

    def _events(
        self,
        source: SourceState,
        state: SessionState,
        taken: Taken,
        reading: Reading,
        name: tuple[str, str, int, int | None],
        place: tuple[int, int, int | None],
        record_flags: tuple[str, ...],
    ) -> None:
        native, record, first, parent = name
        lane, turn, at = place
        changes = self.changes
        model = reading.usage.model if reading.usage is not None else None
        if model is not None:
            model = self._marked(model)
        number = taken.n
        texts, ids = changes.texts, taken.ids
        for block, draft in enumerate(reading.drafts):
            n = number + block
            text = draft.text
            flags = (*record_flags, *draft.flags) if draft.flags else record_flags
            ok = draft.ok
            row: Row = [
                n,
                first if not block else ids[block] if ids else event_id(state.format, native, record, draft.path),
                state.no,
                lane,
                turn,
                draft.kind,
                draft.actor,
                at,
                source.sort,
                parent,
                None,
                draft.tool if draft.tool is None else self._marked(draft.tool),
                model,
                summarise(draft.summary if draft.summary is not None else text),
                len(text),
                None if ok is None else int(ok),
                draft.millis,
                1,
                int(draft.inferred),
                int(draft.kind == "error" or (ok is False and draft.kind in _FAILS)),
                " ".join(flags) if flags else "",
            ]
            changes.events[n] = row
            if text:
                texts.append((n, text))
            if draft.call:
                self._pair(state, row, draft, self._call_ids[native, draft.call])
            if draft.spawns:
                call = self._event(row[PAIR]) if row[PAIR] is not None else row
                self._spawned(state, draft.spawns, call)
            if row[PROBLEM]:
                state.problems += 1
        count = len(reading.drafts)
        state.events += count
        state.lanes[lane].events += count
        changes.lanes.add((state.no, lane))

    def _pair(self, state: SessionState, row: Row, draft: Draft, call: int) -> None:
        """Join an intent and its observation, whichever comes second."""
        key = (state.no, call)
        waiting = self.changes.calls[key] if key in self.changes.calls else self._calls.get(key)
        kind = draft.kind
        if kind in _INTENDS:
            checks = classify(draft.command) if draft.command else None
            if waiting is not None and waiting.early:
                result = self._event(waiting.n)
                self._flag(result, "orphan_result", "")
                self._join(state, row, result, checks)
                self.changes.calls[key] = None
            elif waiting is None:
                self.changes.calls[key] = Call(row[N], False, row[AT], checks, row[LANE], row[TURN])
        elif kind in _OBSERVES:
            if waiting is not None and not waiting.early:
                self._join(state, self._event(waiting.n), row, waiting.checks)
                self.changes.calls[key] = None
            elif waiting is None:
                self._flag(row, "", "orphan_result")
                self.changes.calls[key] = Call(row[N], True, row[AT], None, row[LANE], row[TURN])

    def _join(self, state: SessionState, intent: Row, result: Row, checks: str | None) -> None:
        intent[PAIR], result[PAIR] = result[N], intent[N]
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
            if result[OK] is not None and (result[LANE] == 0 or state.checked is None):
                state.checked = "passed" if result[OK] else "failed"


def _id(stem: bytes, record: str, path: bytes = b"\0") -> int:
    """:func:`event_id` with format and session (``stem``) encoded once for many records."""
    name = stem + record.encode("utf-8", "surrogatepass") + path
    return int.from_bytes(sha256(name).digest()[:8], "big", signed=True)


def summarise(text: str) -> str:
    """The first line that says something, on one line, cut at :data:`SUMMARY_CELLS` characters with ``…``."""
    if len(text) <= SUMMARY_CELLS and text.isascii() and text.isprintable() and text[:1] != " " and text[-1:] != " ":
        return text
    head = text[: SUMMARY_CELLS * 4]
    if "\n" in head:
        line = next((part for part in head.split("\n") if part and not part.isspace()), "")
    else:
        line = head
    if len(line) > SUMMARY_CELLS:
        line = line[: SUMMARY_CELLS - 1] + "…"
    return marked(line.strip())
