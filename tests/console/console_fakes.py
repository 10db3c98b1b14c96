# ruff: noqa: ARG002 - it has the methods of the real one, arguments it has no use for included
"""An archive made of arithmetic: as many sessions and events as a test wants, none of them stored.

It answers like ``storage.archive.Archive`` for what the console asks. Rows are made when asked for; a test may
change any of them, slow the archive down, or make it fail.
"""

from __future__ import annotations

import threading
import time
from bisect import bisect_left
from collections.abc import Callable, Iterator, Sequence
from contextlib import nullcontext
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from console.saved_filters import SavedFilter
from console.services import Cancelled, Found, ImportResult, OpenArchive, Progress, VerifyFailure, VerifyResult
from storage.archive import EventFilter, SessionFilter
from storage.queries.models import (
    EventDetail,
    EventRow,
    Hit,
    Kin,
    LaneRow,
    Page,
    SessionRow,
    SourceSpan,
    StoreTotals,
    Tokens,
    Total,
    TurnRow,
)

ALL_SESSIONS = SessionFilter()
ALL_EVENTS = EventFilter()
NOW = datetime(2025, 5, 14, 12, 0, tzinfo=UTC)
HOUR = 3_600_000_000
BEGAN = int(datetime(2025, 5, 14, 10, 2, 11, tzinfo=UTC).timestamp()) * 1_000_000

TITLES = (
    "Fix the failing role test",
    "Bump the parser to v4",
    "Why is the invoice total wrong",
    "Dark mode for the settings page",
    "Move the ledger to keyset paging and measure it again",
    "役割のテストが失敗する理由を調べる",
)
PROJECTS = ("build-harness", "billing", "web", "ledger")
STORY = (
    ("user.message", "user", None, "This project's tests fail. Find out why and fix it.", None),
    ("model.reasoning", "agent", None, "The role test is the only one that fails; look at the mock first.", None),
    ("model.message", "agent", None, "I'll run the tests first.", None),
    ("tool.intent", "agent", "Bash", "pnpm test auth/session.test.ts", None),
    ("tool.finished", "tool", "Bash", "FAIL auth/session.test.ts: expected role admin, received undefined", False),
    ("verification", "tool", "Bash", "pnpm test · 1 failed", False),
    ("tool.intent", "agent", "Read", "tests/auth/session.fixture.ts", None),
    ("tool.finished", "tool", "Read", "export const createUserMock = () => ({ id: 1 })", True),
    ("model.message", "agent", None, "The mock sets no role; the rule says that mocks must state it.", None),
    ("tool.intent", "agent", "Edit", "tests/auth/session.fixture.ts", None),
    ("tool.finished", "tool", "Edit", "The file has been updated", True),
    ("context.injected", "runtime", None, "PostToolUse hook: formatted 1 file", None),
    ("tool.intent", "agent", "Bash", "pnpm test auth", None),
    ("verification", "tool", "Bash", "pnpm test · 14 passed", True),
    ("memory.write", "agent", None, "Test mocks state their role explicitly.", None),
    ("model.message", "agent", None, "Done: the mock now states its role, and 14 tests pass.", None),
)


class World:
    """What the fake archives of one test share.

    ``session`` and ``event`` make rows by their number and may be replaced; ``texts`` gives whole texts by event
    key. ``delay`` slows every answer down, ``error`` makes every question fail.
    """

    def __init__(self, sessions: int = 40, events: int = 320, lanes: int = 3, turn: int = len(STORY)) -> None:
        self.sessions = sessions
        self.events = events
        self.lanes = lanes
        self.turn = turn
        self.texts: dict[int, str] = {}
        self.raws: dict[int, bytes] = {}
        self.overrides: dict[int, dict[str, Any]] = {}
        self.session_overrides: dict[int, dict[str, Any]] = {}
        self.families: dict[int, tuple[int, str]] = {}
        """Sessions that came from another: that one's number, and how."""
        self.delay = 0.0
        self.error: Exception | None = None
        self.asked: list[str] = []
        self.threads: set[int] = set()

    def open(self) -> FakeArchive:
        if self.error is not None:
            raise self.error
        return FakeArchive(self)

    def session(self, number: int) -> SessionRow:
        started = BEGAN - number * 7 * HOUR
        row = SessionRow(
            key=number,
            uid=f"s{number * 2654435761 % 2**48:012x}",
            native=f"{number:08x}-0000-4000-8000-000000000000",
            agent="claude-code" if number % 3 else "affidavit",
            title=TITLES[number % len(TITLES)],
            project=PROJECTS[number % len(PROJECTS)],
            started=started,
            ended=started + 17 * 60_000_000,
            events=self.events,
            turns=max(self.events // self.turn, 1),
            lanes=self.lanes,
            branches=1,
            problems=number % 4,
            unreadable=2 if number % 9 == 5 else 0,
            models=("example-large-4",),
            tokens=Tokens(28_000 + number * 900, 3_400, 120_000, 0),
            check=("passed", "failed", None)[number % 3],
            cwd="/home/user/src/" + PROJECTS[number % len(PROJECTS)],
            git_branch="main" if number % 2 else "fix/role-in-mock",
            version="2.1.7",
            unknown=number % 2,
            duplicates=0,
        )
        return replace(row, **self.session_overrides.get(number, {}))

    def event(self, session: int, number: int) -> EventRow:
        kind, actor, tool, summary, ok = STORY[number % len(STORY)]
        in_lane = self.lanes > 1 and number % 40 in (20, 21, 22)
        lane = 1 + (number // 40) % (self.lanes - 1) if in_lane else 0
        at = BEGAN - session * 7 * HOUR + number * 3_000_000
        row = EventRow(
            key=session * 10_000_000 + number,
            id=(session * 10_000_019 + number * 2_654_435_761) % 2**63,
            session=session,
            kind=kind,
            actor="subagent" if in_lane and actor == "agent" else actor,
            turn=number // self.turn + 1,
            lane=lane,
            branch=1 if number % 160 in (150, 151) else 0,
            at=at,
            sort=at,
            parent=None,
            pair=None,
            tool=tool,
            summary=summary,
            size=len(summary),
            ok=ok,
            millis=2_400 + number if kind in ("tool.finished", "verification") else None,
            copies=4 if number % 97 == 60 else 1,
            inferred=False,
            flags=("clock_skew",) if number % 101 == 70 else (),
            model="example-large-4" if actor == "agent" else None,
            tokens=Tokens(1_200, 340, 31_000, 0) if kind == "model.message" else None,
        )
        return replace(row, **self.overrides.get(row.key, {}))

    def is_prompt(self, row: EventRow) -> bool:
        return row.kind == "user.message" and row.lane == 0 and row.key % 10_000_000 % self.turn == 0

    def is_problem(self, row: EventRow) -> bool:
        return row.ok is False or row.kind == "error"


class FakeArchive:
    """See the module."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.stop = threading.Event()

    def _asked(self, what: str) -> None:
        world = self.world
        world.asked.append(what)
        world.threads.add(threading.get_ident())
        if world.error is not None:
            raise world.error
        if world.delay:
            self.stop.clear()
            if self.stop.wait(world.delay):
                raise RuntimeError("interrupted")

    def close(self) -> None: ...

    def interrupt(self) -> None:
        self.stop.set()

    def data_version(self) -> int:
        return 1

    # sessions

    def _fits(self, row: SessionRow, filter: SessionFilter) -> bool:
        words = f"{row.title} {row.project} {row.native} {row.uid}".casefold()
        return (
            filter.text.casefold() in words
            and filter.agent in (None, row.agent)
            and filter.project in (None, row.project)
            and filter.check in (None, row.check or "none")
            and (filter.since is None or (row.ended or 0) >= filter.since)
            and (not filter.problems_only or row.problems > 0)
        )

    def _numbers(self, filter: SessionFilter, sort: str, descending: bool) -> Sequence[int]:
        world = self.world
        if filter == ALL_SESSIONS and sort == "started":
            numbers: Sequence[int] = range(world.sessions)
            return numbers if descending else numbers[::-1]
        rows = [row for row in map(world.session, range(world.sessions)) if self._fits(row, filter)]
        values: dict[str, Callable[[SessionRow], Any]] = {
            "started": lambda row: row.started,
            "ended": lambda row: row.ended,
            "title": lambda row: row.title,
            "events": lambda row: row.events,
            "turns": lambda row: row.turns,
            "tokens": lambda row: row.tokens.input,
            "problems": lambda row: row.problems,
        }
        rows.sort(key=values[sort], reverse=descending)
        return [row.key for row in rows]

    def sessions(
        self,
        filter: SessionFilter = ALL_SESSIONS,
        *,
        sort: str = "started",
        descending: bool = True,
        cursor: tuple[Any, ...] | None = None,
        direction: str = "after",
        inclusive: bool = False,
        limit: int = 100,
    ) -> Page[SessionRow]:
        self._asked("sessions")
        numbers = self._numbers(filter, sort, descending)
        start, end = _window(len(numbers), cursor, direction, inclusive, limit)
        rows = tuple(self.world.session(numbers[at]) for at in range(start, end))
        return _page(rows, start, end, len(numbers))

    def session_cursor(self, key: int, sort: str = "started") -> tuple[Any, ...]:
        return (self._numbers(ALL_SESSIONS, sort, sort != "title").index(key),)

    def _origin(self, number: int) -> int | None:
        """The session one came from, as the world's ``families`` say."""
        return self.world.families.get(number, (None, ""))[0]

    def tops(self, *, sort: Any = "started", descending: bool = True, **paging: Any) -> Page[SessionRow]:
        self._asked("tops")
        numbers = self._numbers(ALL_SESSIONS, sort, descending)
        kept = [at for at, number in enumerate(numbers) if self._origin(number) is None]
        cursor = paging.pop("cursor")
        start, end = _window(len(kept), None if cursor is None else (bisect_left(kept, cursor[0]),), **paging)
        page = _page(tuple(self.world.session(numbers[at]) for at in kept[start:end]), start, end, len(kept))
        before, after = ((kept[edge[0]],) if edge else None for edge in (page.before, page.after))
        return replace(page, before=before, after=after)

    def count_tops(self) -> Total:
        return Total(self.world.sessions - len(self.world.families), True)

    def below(self, key: int) -> list[Kin]:
        found = sorted(number for number, (origin, _how) in self.world.families.items() if origin == key)
        return [Kin(self.world.session(number), self.world.families[number][1]) for number in found]

    def below_counts(self, keys: Sequence[int]) -> dict[int, int]:
        return {key: len(self.below(key)) for key in keys if self.below(key)}

    def count_sessions(self, filter: SessionFilter = ALL_SESSIONS) -> Total:
        self._asked("count_sessions")
        return Total(len(self._numbers(filter, "started", True)), True)

    def session(self, key: int) -> SessionRow:
        self._asked("session")
        return self.world.session(key)

    def find_sessions(self, prefix: str) -> list[SessionRow]:
        self._asked("find_sessions")
        rows = [self.world.session(number) for number in range(min(self.world.sessions, 2_000))]
        exact = [row for row in rows if prefix in (row.uid, row.native)]
        return exact or [row for row in rows if row.uid.startswith(prefix) or row.native.startswith(prefix)][:20]

    def facet(self, name: str) -> list[tuple[str, int]]:
        self._asked("facet")
        counts: dict[str, int] = {}
        for number in range(min(self.world.sessions, 2_000)):
            value = getattr(self.world.session(number), name) or "none"
            counts[value] = counts.get(value, 0) + 1
        return sorted(counts.items(), key=lambda pair: -pair[1])

    # events

    def _event_numbers(self, session: int, filter: EventFilter) -> Sequence[int]:
        world = self.world
        if filter == ALL_EVENTS:
            return range(world.events)
        plain = replace(filter, hide_kinds=frozenset(), interruptions=False)
        if plain == ALL_EVENTS and not world.overrides and not filter.hide_kinds & {story[0] for story in STORY}:
            return range(world.events)
        found = []
        for number in range(world.events):
            row = world.event(session, number)
            words = f"{row.summary} {row.tool or ''}".casefold()
            if (
                filter.text.casefold() in words
                and (filter.kinds is None or row.kind in filter.kinds)
                and (row.kind not in filter.hide_kinds or (filter.interruptions and row.inferred))
                and (filter.lanes is None or row.lane in filter.lanes)
                and (filter.abandoned or row.branch == 0)
                and (not filter.branches_only or row.branch != 0)
                and (not filter.problems_only or world.is_problem(row))
            ):
                found.append(number)
        return found

    def events(
        self,
        session: int,
        filter: EventFilter = ALL_EVENTS,
        *,
        cursor: tuple[Any, ...] | None = None,
        direction: str = "after",
        inclusive: bool = False,
        limit: int = 200,
    ) -> Page[EventRow]:
        self._asked("events")
        cursor = None if cursor is None else (cursor[-1] % 10_000_000,)
        numbers = self._event_numbers(session, filter)
        if isinstance(numbers, range):
            start, end = _window(len(numbers), cursor, direction, inclusive, limit)
        else:
            from bisect import bisect_left, bisect_right

            if cursor is None:
                start, end = _window(len(numbers), None, direction, inclusive, limit)
            elif direction == "after":
                start = (bisect_left if inclusive else bisect_right)(numbers, cursor[0])
                end = min(start + limit, len(numbers))
            else:
                end = (bisect_right if inclusive else bisect_left)(numbers, cursor[0])
                start = max(end - limit, 0)
        rows = tuple(self.world.event(session, numbers[at]) for at in range(start, end))
        before = self.cursor_of(rows[0]) if rows and start > 0 else None
        after = self.cursor_of(rows[-1]) if rows and end < len(numbers) else None
        return Page(rows, before, after)

    @staticmethod
    def cursor_of(row: EventRow) -> tuple[Any, ...]:
        return (row.sort, row.key)

    def count_events(self, session: int, filter: EventFilter = ALL_EVENTS) -> Total:
        self._asked("count_events")
        return Total(len(self._event_numbers(session, filter)), True)

    def kinds(self, session: int) -> list[tuple[str, int]]:
        self._asked("kinds")
        counts: dict[str, int] = {}
        for number in range(min(self.world.events, 2_000)):
            kind = self.world.event(session, number).kind
            counts[kind] = counts.get(kind, 0) + 1
        return sorted(counts.items(), key=lambda pair: -pair[1])

    def position(self, session: int, row: EventRow, filter: EventFilter = ALL_EVENTS) -> int:
        self._asked("position")
        number = row.key % 10_000_000
        return sum(1 for other in self._event_numbers(session, filter) if other < number)

    def event_at(self, session: int, position: int, filter: EventFilter = ALL_EVENTS) -> EventRow | None:
        numbers = self._event_numbers(session, filter)
        return self.world.event(session, numbers[position]) if 0 <= position < len(numbers) else None

    def event(self, key: int) -> EventRow:
        self._asked("event")
        return self.world.event(*divmod(key, 10_000_000))

    def find_event(self, session: int, prefix: str) -> list[EventRow]:
        from affidavit.session.event import event_hex

        rows = (self.world.event(session, number) for number in range(min(self.world.events, 5_000)))
        return [row for row in rows if event_hex(row.id).startswith(prefix)][:20]

    def detail(self, key: int) -> EventDetail:
        self._asked("detail")
        row = self.event(key)
        number = key % 10_000_000
        source = SourceSpan(
            "/home/user/.claude/projects/acme/0001.jsonl", number + 1, number * 600, 512, number // 20, 3
        )
        text = self.world.texts.get(key, row.summary + "\n\nand the rest of it, on a line of its own.")
        return EventDetail(row, text, (), source, "2025-05-14T10:02:11.000Z", None)

    def raw(self, key: int) -> bytes:
        self._asked("raw")
        return self.world.raws.get(key, b'{"type":"assistant","message":{"content":"invented"}}')

    def _next(self, session: int, cursor: Any, direction: str, wanted: Callable[[EventRow], bool]) -> EventRow | None:
        step = 1 if direction == "after" else -1
        number = (-1 if step > 0 else self.world.events) if cursor is None else cursor[-1] % 10_000_000
        while 0 <= (number := number + step) < self.world.events:
            row = self.world.event(session, number)
            if wanted(row):
                return row
        return None

    def problem(self, session: int, cursor: Any, direction: str) -> EventRow | None:
        self._asked("problem")
        return self._next(session, cursor, direction, self.world.is_problem)

    def prompt(self, session: int, cursor: Any, direction: str) -> EventRow | None:
        self._asked("prompt")
        return self._next(session, cursor, direction, self.world.is_prompt)

    def turn_start(self, session: int, turn: int) -> EventRow | None:
        number = (turn - 1) * self.world.turn if turn else -1
        return self.world.event(session, number) if 0 <= number < self.world.events else None

    def turns(self, session: int) -> list[TurnRow]:
        self._asked("turns")
        found = []
        for number in range(0, self.world.events, self.world.turn):
            row = self.world.event(session, number)
            if row.lane == 0:
                found.append(TurnRow(row.turn, row.key, 0, row.at, row.summary, self.world.turn, 2))
        return found

    def lanes(self, session: int) -> list[LaneRow]:
        self._asked("lanes")
        rows = [LaneRow(0, "", None, None, 0, None, self.world.events, None)]
        for lane in range(1, self.world.lanes):
            spawn = (lane - 1) * 40 + 19
            rows.append(
                LaneRow(lane, f"agent-{lane:04x}", "look for other fixtures", 0, 1, spawn // self.world.turn + 1, 3,
                        session * 10_000_000 + spawn)
            )  # fmt: skip
        return rows

    def density(self, session: int, slices: int) -> list[tuple[int, int]]:
        self._asked("density")
        events, bounds = self.world.events, [0] * (slices + 1)
        for at in range(1, slices + 1):
            bounds[at] = events * at // slices
        return [
            (bounds[at + 1] - bounds[at], 1 if bounds[at + 1] > bounds[at] and at % 9 == 4 else 0)
            for at in range(slices)
        ]

    # everything

    def search(
        self, text: str, *, kinds: Any = None, session: Any = None, cursor: Any = None, limit: int = 50
    ) -> Page[Hit]:
        self._asked("search")
        words = text.casefold().split()
        hits = []
        for one in range(min(self.world.sessions, 5)):
            row = self.world.session(one)
            for number in range(min(self.world.events, 400)):
                event = self.world.event(one, number)
                at = event.summary.casefold().find(words[0]) if words else -1
                if at >= 0 and (kinds is None or event.kind in kinds):
                    spans = ((at, at + len(words[0])),)
                    hits.append(
                        Hit(event.key, event.id, row.uid, row.title, event.kind, event.at, event.summary, spans)
                    )
        start = 0 if cursor is None else cursor[0]
        after = (start + limit,) if start + limit < len(hits) else None
        return Page(tuple(hits[start : start + limit]), None, after)

    def count_hits(self, text: str, *, kinds: Any = None, session: Any = None, cap: int = 10_000) -> Total:
        return Total(len(self.search(text, kinds=kinds, limit=cap).rows), True)

    def unreadable(self, session: int | None = None) -> Iterator[tuple[str, int, int, str]]:
        yield from (("/home/user/x.jsonl", 12, 900, "syntax"), ("/home/user/x.jsonl", 19, 1900, "syntax"))

    def totals(self) -> StoreTotals:
        count = self.world.sessions * self.world.events
        return StoreTotals(self.world.sessions, count, count + 5, count, 3, 0, 2, count // 20, count * 600)

    def entries(self) -> int:
        return 1204

    def arrivals(self, since: int) -> list[Any]:
        return []

    def touched(self, since: int) -> frozenset[int]:
        return frozenset()

    def at_once(self) -> Any:
        return nullcontext()

    def entry(self, idx: int) -> bytes | None:
        return b'{"body":{"records":20},"type":"import.segment","v":1}' if idx < 1204 else None

    @staticmethod
    def entry_of(key: int) -> int:
        return key % 10_000_000 // 20

    def contents(self, _prefix: str) -> list[Any]:
        return []


def _window(count: int, cursor: Any, direction: str, inclusive: bool, limit: int) -> tuple[int, int]:
    if direction == "after":
        start = 0 if cursor is None else cursor[0] + (0 if inclusive else 1)
        return start, min(start + limit, count)
    end = count if cursor is None else cursor[0] + (1 if inclusive else 0)
    return max(end - limit, 0), end


def _page(rows: tuple[SessionRow, ...], start: int, end: int, count: int) -> Page[SessionRow]:
    return Page(rows, (start,) if rows and start > 0 else None, (end - 1,) if rows and end < count else None)


class FakeCopied:
    def __init__(self, way: str, note: str) -> None:
        self.way = way
        self.note = note


class FakeVisit:
    """Visits to one store, of which nothing is kept on a disk."""

    def __init__(self, entries: int | None = None) -> None:
        self.entries = entries

    def last(self) -> int | None:
        return self.entries

    def leave(self, entries: int) -> None:
        self.entries = entries


class FakeServices:
    """Services that do nothing outside the test, and remember what they were asked."""

    def __init__(self, world: World | None = None) -> None:
        self.world = world
        self.copied: list[str] = []
        self.found: list[Found] = [Found("/home/user/.claude/projects", "Claude Code", 12, 34_000_000)]
        self.imported: list[str] = []
        self.saved: dict[str, SavedFilter] = {}
        self.verified: VerifyResult | None = None
        self.result = VerifyResult(
            holds=True,
            level="self-consistent",
            entries=1204,
            checked={"entries": 1204, "tree": 1204, "chains": 40, "segments": 1200, "payloads": 96, "folds": 11},
            seconds={"entries": 0.4, "tree": 0.2},
            finished=NOW,
        )
        self.error: Exception | None = None
        self.pace = 0.0
        self.visits = FakeVisit()

    def copy(self, text: str, terminal: Callable[[str], object] | None) -> FakeCopied:
        self.copied.append(text)
        return FakeCopied("osc52", "sent to the terminal, which does not say whether it took it")

    def command(self, address: str) -> str:
        return f"affidavit --store '/home/user/my stores/a.db' '{address}'"

    def verify(self, progress: Progress, cancelled: Cancelled, *, full: bool = False) -> VerifyResult:
        if self.error is not None:
            raise self.error
        for done in range(0, 1205, 301):
            progress("entries", done, 1204)
            if cancelled():
                return replace(self.result, cancelled=True)
            time.sleep(self.pace)
        self.verified = self.result
        return self.result

    def last_verified(self) -> VerifyResult | None:
        return self.verified

    def visit(self) -> FakeVisit:
        return self.visits

    def discover(self) -> Sequence[Found]:
        return self.found

    def import_(self, folder: str, progress: Progress, cancelled: Cancelled) -> ImportResult:
        self.imported.append(folder)
        if self.error is not None:
            raise self.error
        for done in range(0, 101, 20):
            progress("session files", done, 100)
            if cancelled():
                return ImportResult(1, 20, cancelled=True)
            time.sleep(self.pace)
        if self.world is not None:
            self.world.sessions = max(self.world.sessions, 12)
            self.world.error = None
        return ImportResult(12, 3_840, unreadable=2, skipped=2, files=14, reasons={"empty": 2})

    def filters(self) -> Sequence[SavedFilter]:
        return list(self.saved.values())

    def keep_filter(self, saved: SavedFilter) -> str:
        self.saved[saved.name] = saved
        return ""

    def forget_filter(self, name: str) -> str:
        del self.saved[name]
        return ""

    def demo(self) -> OpenArchive:
        world = World(3, 48)
        return world.open  # type: ignore[return-value]


BROKEN = VerifyFailure(
    "session/s000000000000#0011223344556677", "payload_differs", "bytes differ from what was recorded"
)
