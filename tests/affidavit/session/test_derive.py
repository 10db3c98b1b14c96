"""The derivation alone: whatever readings it is given, it never raises, and how they are split changes nothing."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import Any

from hypothesis import example, given
from hypothesis import strategies as st

from affidavit.session.derive import Broken, Call, Changes, Derivation, Place, Spent, Taken
from affidavit.session.echoes import STREAMS
from affidavit.session.event import Draft, Reading, Usage
from affidavit.session.prepare import EVENT_COLUMNS, LANE, PARENT, SORT, TURN, N, Preparer, Row
from affidavit.session.progress import is_told
from affidavit.session.state import SessionState, SourceState

SOURCE = 1


class Memory:
    """What was derived before, kept in dictionaries as the tables keep it: rows are copied in and out."""

    def __init__(self, raw: dict[int, bytes]) -> None:
        self.raw = raw
        self.rows: dict[int, Row] = {}
        self.passed: dict[int, tuple[int, int, int, int | None, int]] = {}
        self.spent: dict[tuple[int, int], Spent] = {}
        self.open: dict[tuple[int, int], Call] = {}
        self.waiting: dict[int, list[int]] = {}
        self.counts: dict[tuple[int, int], int] = {}
        self.states: dict[tuple[str, str], SessionState] = {}
        self.told: dict[tuple[str, str], str] = {}
        self.lost: list[Any] = []
        self.copied: list[tuple[int, int]] = []
        self.begun: dict[int, list[tuple[int, str]]] = {}
        self.echoes: dict[tuple[int, int], tuple[int, int, int]] = {}
        self.sessions = 0

    def places(self, ids: Sequence[int]) -> dict[int, Place]:
        found = {}
        for row in self.rows.values():
            if row[1] in ids:
                found[row[1]] = Place(row[N], row[TURN], row[LANE], row[PARENT])
        for id, turn, lane, parent, n in self.passed.values():
            if id in ids:
                found[id] = Place(n, turn, lane, parent)
        return found

    def calls(self, session: int, calls: Sequence[int]) -> dict[int, Call]:
        return {call: self.open[session, call] for call in calls if (session, call) in self.open}

    def usage(self, session: int, messages: Sequence[int]) -> dict[int, Spent]:
        return {message: self.spent[session, message] for message in messages if (session, message) in self.spent}

    def awaits(self) -> bool:
        return bool(self.waiting)

    def awaiting(self, parent: int) -> list[int]:
        return sorted(self.waiting.get(parent, []))

    def ancestors(self, id: int, most: int) -> list[tuple[int, int | None]]:
        found: dict[int, int | None] = {}
        at: int | None = id
        while at is not None and at not in found and len(found) < most and (place := self.places([at]).get(at)):
            found[at] = place.parent
            at = place.parent
        return list(found.items())

    def event(self, n: int) -> Row:
        return list(self.rows[n])

    def record(self, n: int) -> bytes:
        return self.raw[n >> 22 << 22]

    def source_of(self, n: int) -> int:  # noqa: ARG002
        return SOURCE

    def repeated(self, source: int, id: int) -> int | None:
        return self.counts.get((source, id))

    def session(self, format: str, native: str) -> SessionState | None:
        state = self.states.get((format, native))
        if state is None:
            return None
        state = copy.deepcopy(state)
        carried = state.carried()
        state.resume(
            {**carried, **{kept: [list(pair) for pair in carried[kept]] for kept in ("queued", "joined", "claims")}}
        )
        state.stated = None
        return state

    def begin_with(self, id: int, most: int) -> list[tuple[int, str]]:
        return sorted(self.begun.get(id, []))[:most]

    def summaries(self) -> dict[tuple[str, str], str]:
        return dict(self.told)

    def holders(self, records: Sequence[int]) -> list[tuple[int, int, str]]:  # noqa: ARG002
        return []

    def sort_of(self, n: int) -> int | None:
        return self.rows[n][SORT] if n in self.rows else None

    def next_session(self) -> int:
        self.sessions += 1
        return self.sessions

    def echo(self, session: int, said: int) -> tuple[int, int, int] | None:
        return self.echoes.get((session, said))

    def told(self, session: int, lane: int) -> list[int]:
        return [row[N] for row in self.rows.values() if row[2] == session and row[LANE] == lane and is_told(row)]

    def forks(self) -> list[Any]:
        return []

    def records_of(self, source: int, place: int, newest: int) -> list[int]:  # noqa: ARG002
        return []

    def files_of(self, format: str, native: str) -> list[int]:  # noqa: ARG002
        return []

    def marks(self, n: int) -> None:  # noqa: ARG002
        return None

    def original(self, n: int) -> int | None:
        return dict(self.copied).get(n)

    def message(self, n: int) -> None:  # noqa: ARG002
        return None

    def spent_by(self, n: int) -> tuple[int, int] | None:
        return next((key for key, spent in self.spent.items() if spent[0] == n), None)

    def take_in(self, changes: Changes, states: dict[int, SessionState]) -> None:
        for n, row in (*changes.events.items(), *changes.corrected.items()):
            assert len(row) == len(EVENT_COLUMNS)
            self.rows[n] = list(row)
        for n in changes.removed:
            del self.rows[n]
        for row in changes.passed:
            self.passed.setdefault(row[0], row)
        self.spent.update(changes.usage)
        for key, call in changes.calls.items():
            if call is None:
                self.open.pop(key, None)
            else:
                self.open[key] = call
        for parent in changes.answered:
            self.waiting.pop(parent, None)
        for parent, named in changes.awaited.items():
            self.waiting.setdefault(parent, []).extend(named)
        self.counts.update(changes.repeated)
        self.echoes.update(changes.echoes)
        self.told.update(changes.summaries)
        self.lost += changes.unreadable
        self.copied += changes.copied
        for record, began in changes.beginnings.items():
            self.begun.setdefault(record, []).extend(began)
        for state in states.values():
            self.states[state.format, state.native] = copy.deepcopy(state)

    def said(self) -> Any:
        return (
            self.rows, self.passed, self.spent, self.open, {key: sorted(value) for key, value in self.waiting.items()},
            self.counts, self.lost, self.copied, self.begun,
            {key: told(state) for key, state in self.states.items()},
        )  # fmt: skip


def told(state: SessionState) -> Any:
    """A session's state without what is only kept to save work."""
    lanes = {
        number: (lane.name, lane.parent, lane.depth, lane.turn, lane.spawn, lane.began, lane.first, sorted(lane.below))
        for number, lane in state.lanes.items()
    }
    return state.carried(), state.turns, lanes, state.events, state.tokens_in, state.started, state.checked


names = st.sampled_from(["a", "b", "c", "d", "=x", "\ud800", "\0"])
maybe = st.none() | names
kinds = st.sampled_from(
    ["user.message", "tool.intent", "tool.finished", "permission.decision", "memory.write", "note", "error"]
)
times = st.sampled_from(["2026-03-02T09:00:00Z", "2026-03-02T10:00:00+05:00", "nonsense", "9999-12-31T00:00:00Z"])
facts = st.dictionaries(st.sampled_from(["title.prompt", "title.ai", "cwd", "version"]), names, max_size=2)
lane_facts = st.dictionaries(
    st.sampled_from(["title", "parent", "depth", "call"]), st.sampled_from(["x", "y", "2", "z"]), max_size=3
)
drafts = st.builds(
    lambda kind, **fields: Draft(kind, "agent", **fields),
    kinds,
    text=st.sampled_from(["", "said", "1 failed", "\ud800\0"]),
    call=maybe,
    command=st.none() | st.sampled_from(["pytest -q", "ls"]),
    ok=st.none() | st.booleans(),
    millis=st.none() | st.integers(0, 2**53),
    spawns=st.none() | names,
    tool=maybe,
    summary=st.none() | st.just("in short"),
)
counts = st.integers(0, 2**53)
readings = st.builds(
    Reading,
    st.sampled_from(["mapped", "mapped", "unknown"]),
    session=st.none() | st.sampled_from(["s", "t", "\ud800"]),
    native=maybe,
    parent=maybe,
    lane=st.sampled_from(["", "", "x", "y", "\ud800"]),
    at=st.none() | times,
    prompt=st.none() | st.sampled_from(["p", "q", "r", "\ud800"]),
    leaf=st.booleans(),
    drafts=st.lists(drafts, max_size=3),
    usage=st.none() | st.builds(Usage, names, st.none() | names, counts, counts, counts, counts),
    facts=st.none() | facts,
    lane_facts=st.none() | lane_facts,
    kept=st.none() | st.just(("artifact", (b"\1" * 32, "text/plain", "a\ud800", 7))),
    queue=st.none()
    | st.tuples(st.sampled_from(["enqueue", "wait", "remove", "clear", "said"]), st.integers(1, 3))
    | st.tuples(st.just("rollback"), st.integers(1, 3))
    | st.tuples(st.just("totals"), st.tuples(*[st.integers(0, 9)] * 3, st.booleans()))
    | st.tuples(st.just("policy"), st.dictionaries(st.sampled_from("ab"), st.sampled_from("xy")))
    | st.tuples(st.sampled_from(sorted(STREAMS)), st.tuples(st.integers(1, 3))),
)  # fmt: skip
Log = list["Reading | None"]
logs: st.SearchStrategy[Log] = st.lists(readings, min_size=1, max_size=12).flatmap(
    lambda known: st.lists(st.sampled_from([*known, None]), max_size=16)
)
"""Readings, some of them again and again: the same bytes are always read alike."""


def taken(log: Log) -> tuple[list[Taken], dict[int, bytes]]:
    """Records as the derivation takes them, and their bytes by number."""
    records: list[Taken] = []
    raw = {}
    seen: list[Reading] = []
    for place, reading in enumerate(log, 1):
        n = place << 22
        if reading is None:
            records.append((n, None, Broken(place, place, 3, "syntax")))
            continue
        if not any(reading is one for one in seen):
            seen.append(reading)
        for block, draft in enumerate(reading.drafts):
            draft.path = str(block) if block else ""
        raw[n] = b"%d" % next(number for number, one in enumerate(seen) if one is reading)
        records.append((n, Preparer("f", "s").prepare(reading, raw[n]), None))
    return records, raw


def derived(log: Log, sizes: Sequence[int]) -> Memory:
    """Everything derived of a log in batches of these sizes, with nothing kept between them."""
    records, raw = taken(log)
    memory = Memory(raw)
    source = SourceState(SOURCE, "f", "s", "")
    at = 0
    for size in [*sizes, len(records)]:
        derivation = Derivation(memory)
        derivation.begin()
        part = records[at : at + size]
        derivation.take(source, part)
        memory.take_in(derivation.finish(), derivation.touched)
        at += size
    assert source.records == len(records)
    assert source.records == source.mapped + source.unknown + source.duplicates + source.unreadable
    for state in memory.states.values():
        mine = [row for row in memory.rows.values() if row[2] == state.no]
        assert state.events == len(mine)
        assert state.problems == sum(row[EVENT_COLUMNS.index("problem")] for row in mine)
        assert state.events == sum(lane.events for lane in state.lanes.values())
        assert all(turn.branch < state.next_branch for turn in state.turns.values())
        if state.head_turn:
            assert state.turns[state.head_turn].branch == 0
    ids = [row[1] for row in memory.rows.values()]
    assert len(set(ids)) == len(ids), "an event's id names one event"
    for n, row in memory.rows.items():
        pair = row[EVENT_COLUMNS.index("pair")]
        assert pair is None or pair in memory.rows, (n, pair)
    return memory


@example([Reading(prompt="p"), Reading(queue=("rollback", 1)), Reading(prompt="p")], [])
@given(logs, st.lists(st.integers(1, 4), max_size=8))
def test_any_readings_are_derived_and_any_split_gives_the_same(log: Log, sizes: list[int]) -> None:
    at_once = derived(copy.deepcopy(log), [])
    in_parts = derived(copy.deepcopy(log), sizes)
    assert in_parts.said() == at_once.said()
