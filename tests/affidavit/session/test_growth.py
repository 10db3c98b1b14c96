"""What deriving costs: work is counted, not timed, and twice the records cost about twice the work."""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import FrameType
from typing import Any

import pytest

from affidavit.session.derive import Derivation, Taken
from affidavit.session.event import Draft, Reading
from affidavit.session.prepare import Preparer
from affidavit.session.state import SessionState, SourceState

Log = list[Reading]
PAUSE = Reading()
"""Between the records of two files."""


class Nothing:
    """Nothing was derived before."""

    def __getattr__(self, name: str) -> Any:
        return {"awaits": lambda: False, "next_session": lambda: 1, "session": lambda *_: None}.get(name, lambda *_: {})


def note(lane: str = "", **fields: Any) -> Reading:
    return Reading(lane=lane, drafts=[Draft("note", "agent", "x")], **fields)


def starts(lane: str, other: str) -> Reading:
    """Lane ``lane`` says that it started ``other``."""
    return Reading(lane=lane, drafts=[Draft("tool.intent", "agent", "x", spawns=other)])


def prompt(name: str, second: int, after: str | None = None) -> Reading:
    at = f"2026-03-02T{second // 3600:02d}:{second // 60 % 60:02d}:{second % 60:02d}Z"
    return Reading(
        native=name, parent=after, prompt=name, at=at, leaf=True, drafts=[Draft("user.message", "user", "x")]
    )


def chained(n: int, backwards: bool) -> Log:
    links = [starts(f"l{k}", f"l{k + 1}") for k in range(n)]
    return [prompt("u", 1), *(reversed(links) if backwards else links), starts("", "l0")]


def in_pairs(n: int) -> Log:
    """Lanes hung in pairs first, then pair on pair."""
    pairs = [starts(f"l{2 * k}", f"l{2 * k + 1}") for k in range(n // 2)]
    return pairs + [starts(f"l{2 * k + 1}", f"l{2 * k + 2}") for k in range(n // 2 - 1)]


def queued(n: int) -> Log:
    """As many messages wait, half are taken, the rest are dropped."""
    waits = [Reading(queue=("enqueue", k), drafts=[Draft("lifecycle", "user", "x")]) for k in range(1, n)]
    return [*waits, *(Reading(queue=("remove", 0)) for _ in range(n // 2)), Reading(queue=("clear", 0))] * 2


def by_turns(n: int) -> Log:
    """Two chains of turns from one prompt, then records that follow the end of the one and of the other."""
    log = [prompt("p", 0)]
    for chain in "ab":
        after = "p"
        for k in range(n // 3):
            log.append(prompt(f"{chain}{k}", k, after))
            after = f"{chain}{k}"
    ends = [f"a{n // 3 - 1}", f"b{n // 3 - 1}"]
    return log + [note(native=f"n{k}", parent=ends[k % 2], leaf=True) for k in range(n // 3)]


SHAPES: dict[str, Callable[[int], Log]] = {
    "lanes started backwards": lambda n: chained(n, True),
    "lanes started one by the other": lambda n: chained(n, False),
    "lanes hung in pairs": in_pairs,
    "lanes before the turns they ran in": lambda n: [
        *(note(f"l{k}", at="2026-03-02T23:00:00Z") for k in range(n)), PAUSE, *(prompt(f"p{k}", k) for k in range(n))
    ],
    "a lane in every turn": lambda n: [
        one for k in range(n) for one in (prompt(f"p{k}", k), note(f"l{k}"))
    ],
    "a rewind to the first prompt every time": lambda n: [
        prompt("p0", 0), *(prompt(f"p{k}", k, "p0") for k in range(1, n))
    ],
    "a rewind by half every time": lambda n: [
        prompt("p0", 0), *(prompt(f"p{k}", k, f"p{k // 2 if k % 2 else k - 1}") for k in range(1, n))
    ],
    "two programs that go on with one session by turns": by_turns,
    "queued messages": queued,
}  # fmt: skip


def derived(log: Log) -> SessionState:
    """The state of the one session after these records; what stands before a pause is of another file."""
    prepare = Preparer("f", "s").prepare
    derivation = Derivation(Nothing())
    derivation.begin()
    files: list[list[Taken]] = [[]]
    for k, reading in enumerate(log, 1):
        if reading is PAUSE:
            files.append([])
        else:
            files[-1].append((k << 22, prepare(reading, b"%d" % k), None))
    for number, records in enumerate(files):
        derivation.take(SourceState(number, "f", "s", ""), records)
    derivation.finish()
    (state,) = derivation.touched.values()
    return state


def work(log: Log) -> int:
    """Lines of the derivation that deriving these records runs; making them ready counts alike for every record."""
    lines = 0

    def count(frame: FrameType, event: str, _: Any) -> Any:
        nonlocal lines
        if "/affidavit/session/" not in frame.f_code.co_filename:
            return None
        lines += event == "line"
        return count

    sys.settrace(count)
    try:
        derived(log)
    finally:
        sys.settrace(None)
    return lines


@pytest.mark.parametrize("shape", SHAPES)
def test_twice_the_records_cost_about_twice_the_work(shape: str) -> None:
    less, more = work(SHAPES[shape](150)), work(SHAPES[shape](300))
    assert less > 1_000
    assert more / less < 2.4, f"{less} lines, then {more}"


def test_lanes_hang_as_told_whichever_way_they_were_told() -> None:
    """What the counted shapes come to is what they say."""
    for backwards in (True, False):
        state = derived(chained(40, backwards))
        assert {lane.turn for number, lane in state.lanes.items() if number} == {1}
        above = {lane.name: lane.parent for lane in state.lanes.values()}
        assert above["l0"] == 0
        assert all(state.lanes[above[f"l{k + 1}"] or 0].name == f"l{k}" for k in range(40))
    turns = derived(SHAPES["lanes before the turns they ran in"](30))
    assert {lane.turn for number, lane in turns.lanes.items() if number} == {30}
    each = derived(SHAPES["a lane in every turn"](30))
    assert [lane.turn for number, lane in each.lanes.items() if number] == list(range(1, 31))
