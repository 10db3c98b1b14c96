"""A session's events as the rows of a list: sub-agents and turns folded away, or in their place."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from console.screens.timeline.lines import event_line, lane_line
from console.widgets import figures
from console.widgets.ink import Line
from console.widgets.safe import Outside
from console.widgets.source import Cursor
from storage.archive import EventFilter
from storage.queries.models import EventRow, LaneRow, Page

if TYPE_CHECKING:
    from storage.archive import Archive

MOST_PAGES = 40
"""Pages read at most for one page of rows, when folded turns take up most of them."""

MOST_TITLED = 500
"""Lanes whose beginnings are looked up for a title."""

LARGE = 3
"""Pages in a row that a folded turn fills before the rest of it is jumped over instead of read."""


@dataclass(frozen=True, slots=True)
class EventItem:
    """An event. ``starts``: it begins its turn; ``folded``: the rest of that turn is folded away."""

    row: EventRow
    starts: bool = False
    folded: bool = False
    depth: int = 0
    day: str = ""
    """The date, if the row above it is of another day."""


@dataclass(frozen=True, slots=True)
class LaneItem:
    """The line that stands for a sub-agent, after the event that started it. ``events``: its own lanes' too."""

    lane: LaneRow
    open: bool
    events: int
    after: EventRow

    @property
    def title(self) -> str:
        """What the sub-agent was asked, as far as the log says."""
        asked = self.after.summary if self.lane.spawn == self.after.key else ""
        return self.lane.title or asked or self.lane.name


Item = EventItem | LaneItem


@dataclass(frozen=True)
class Shape:
    """How a session is built: its lanes by what started them, and of its turns what is known so far.

    ``begins`` and ``counts`` grow while the session is looked at: to count the events of every turn takes a walk
    through all of them, which nothing waits for.
    """

    lanes: Mapping[int, LaneRow] = field(default_factory=dict)
    starts: Mapping[int, tuple[int, ...]] = field(default_factory=dict)
    """Lanes by the key of the event after which their line stands."""
    orphans: tuple[int, ...] = ()
    """Lanes of which nothing says when they began: their lines stand after the first event."""
    totals: Mapping[int, int] = field(default_factory=dict)
    """Events of a lane and of every lane started in it, directly or not."""
    begins: dict[int, int | None] = field(default_factory=dict)
    """The key of the event that begins a turn, by the turn's number; ``None`` where none does."""
    counts: dict[int, tuple[int, int]] = field(default_factory=dict)
    """(events, problems) of a turn."""

    def begin(self, archive: Archive, session: int, turn: int) -> int | None:
        """The key of the event that begins a turn, looked up once."""
        if turn not in self.begins:
            row = archive.turn_start(session, turn)
            self.begins[turn] = row.key if row is not None else None
        return self.begins[turn]

    def above(self, lane: int) -> frozenset[int]:
        """A lane and the lanes it was started from, without the main lane."""
        found: set[int] = set()
        at: int | None = lane
        while at and at not in found:
            found.add(at)
            row = self.lanes.get(at)
            at = row.parent if row is not None else None
        return frozenset(found)

    def depth(self, lane: int) -> int:
        row = self.lanes.get(lane)
        return row.depth if row is not None else (1 if lane else 0)


def titled(archive: Archive, lanes: list[LaneRow]) -> list[LaneRow]:
    """Lanes by what they were asked, where they have no title and the log says what started them."""
    return [
        replace(lane, title=archive.event(lane.spawn).summary or None)
        if lane.spawn is not None and not lane.title and number < MOST_TITLED
        else lane
        for number, lane in enumerate(lanes)
    ]


def shape_of(archive: Archive, session: int) -> Shape:
    """Reads how a session is built."""
    lanes = titled(archive, archive.lanes(session))
    shape = Shape(lanes={lane.lane: lane for lane in lanes}, totals=_totals(lanes))
    starts: dict[int, list[int]] = {}
    orphans = []
    for lane in lanes:
        if lane.lane == 0:
            continue
        after = lane.spawn
        if after is None and lane.turn:
            after = shape.begin(archive, session, lane.turn)
        if after is None:
            orphans.append(lane.lane)
        else:
            starts.setdefault(after, []).append(lane.lane)
    found = {key: tuple(lanes) for key, lanes in starts.items()}
    return replace(shape, starts=found, orphans=tuple(orphans))


def _totals(lanes: list[LaneRow]) -> dict[int, int]:
    totals = {lane.lane: lane.events for lane in lanes}
    for lane in sorted(lanes, key=lambda lane: -lane.depth):
        if lane.parent is not None and lane.parent in totals and lane.parent != lane.lane:
            totals[lane.parent] += totals[lane.lane]
    return totals


@dataclass(frozen=True)
class TimelineSource:
    """Events under a filter, with folds. Folds hold only while no words are looked for: a filter searches all."""

    session: int
    shape: Shape
    filter: EventFilter
    open_lanes: frozenset[int]
    alone: int | None
    folded: frozenset[int]
    outside: Outside
    broken: Callable[[EventRow], str] = lambda _row: ""
    """What the last verification found wrong with an event, in a word."""
    cwd: str | None = None
    """The folder the session ran in: paths are shown from there."""
    is_new: Callable[[int], bool] = lambda _event: False
    """Whether an event, by its number, is new since the person's last visit."""
    two_way: bool = True

    @property
    def folds(self) -> bool:
        """Whether folds hold now."""
        filter = self.filter
        return not (filter.text or filter.kinds is not None or filter.problems_only or filter.branches_only)

    @property
    def effective(self) -> EventFilter:
        """The filter with the lanes that are in view."""
        if self.alone is not None:
            return replace(self.filter, lanes=frozenset({self.alone}))
        if not self.folds or len(self.open_lanes) >= len(self.shape.lanes) - 1:
            return self.filter
        shown = {lane for lane in self.open_lanes if self.shape.above(lane) <= self.open_lanes}
        return replace(self.filter, lanes=frozenset({0, *shown}))

    def load(self, archive: Archive, cursor: Cursor | None, direction: Any, inclusive: bool, limit: int) -> Page[Item]:
        pages: list[Page[EventRow]] = []
        kept = full = 0
        filter = self.effective
        while True:
            page = archive.events(
                self.session, filter, cursor=cursor, direction=direction, inclusive=inclusive, limit=limit
            )
            pages.append(page)
            visible = sum(not self._folded_away(archive, row) for row in page.rows)
            kept += visible
            full = 0 if visible else full + 1
            cursor, inclusive = page.after if direction == "after" else page.before, False
            if cursor is not None and full >= LARGE:
                cursor, inclusive = self._beyond(archive, page.rows, cursor, direction), True
            if cursor is None or kept >= limit // 2 or (len(pages) >= MOST_PAGES and not inclusive):
                break
        before = pages[0].before if direction == "after" else cursor
        after = cursor if direction == "after" else pages[0].after
        if direction == "before":
            pages.reverse()
        items: list[Item] = []
        last = self._day_before(archive, pages, before)
        for page in pages:
            for row in page.rows:
                if not self._folded_away(archive, row):
                    begun = self._items(archive, row, before is None and not items)
                    day = figures.date(row.at)
                    if day and last and day != last and isinstance(begun[0], EventItem):
                        begun[0] = replace(begun[0], day=day)
                    last = day or last
                    items.extend(begun)
        return Page(tuple(items), before, after)

    def _day_before(self, archive: Archive, pages: list[Page[EventRow]], before: Cursor | None) -> str:
        """The date of the event above those of some pages; empty where there is none."""
        first = next((page.rows[0] for page in pages if page.rows), None)
        if first is None or before is None:
            return ""
        above = archive.events(
            self.session, self.effective, cursor=archive.cursor_of(first), direction="before", limit=1
        ).rows
        return figures.date(above[0].at) if above else ""

    def _beyond(self, archive: Archive, rows: tuple[EventRow, ...], cursor: Cursor, direction: str) -> Cursor | None:
        """Where the list goes on beyond a large folded turn: at the next prompt, or at its own."""
        if direction == "after":
            row = archive.prompt(self.session, cursor, "after")
        else:
            row = archive.turn_start(self.session, rows[0].turn)
        return archive.cursor_of(row) if row is not None else None

    def _starts(self, archive: Archive, row: EventRow) -> bool:
        if row.kind != "user.message" or row.lane:
            return False
        return self.shape.begin(archive, self.session, row.turn) == row.key

    def _folded_away(self, archive: Archive, row: EventRow) -> bool:
        return bool(self.folded) and self.folds and row.turn in self.folded and not self._starts(archive, row)

    def _items(self, archive: Archive, row: EventRow, first: bool) -> list[Item]:
        starts = self._starts(archive, row)
        folded = starts and self.folds and row.turn in self.folded
        items: list[Item] = [EventItem(row, starts, folded, self.shape.depth(row.lane))]
        if folded or not self.folds or self.alone is not None:
            return items
        lanes = self.shape.starts.get(row.key, ())
        if first:
            lanes = (*self.shape.orphans, *lanes)
        items.extend(
            LaneItem(self.shape.lanes[lane], lane in self.open_lanes, self.shape.totals[lane], row) for lane in lanes
        )
        return items

    def key(self, item: Item) -> Hashable:
        return item.row.key if isinstance(item, EventItem) else ("lane", item.lane.lane)

    def cursor(self, item: Item) -> Cursor:
        """Where a row stands among the events."""
        from storage.archive import Archive

        return Archive.cursor_of(row_of(item))

    def stands(self, _archive: Archive, item: Item) -> Cursor | None:
        return self.cursor(item)

    def line(self, item: Item, room: int) -> Line:
        if isinstance(item, LaneItem):
            return lane_line(item.lane, item.title, item.open, item.events, room, self.outside)
        counts = self.shape.counts.get(item.row.turn) if item.folded else None
        return event_line(
            item.row, item.starts, item.folded, counts, item.depth, room, self.outside, self.broken(item.row),
            item.day, self.cwd, self.is_new(item.row.key),
        )  # fmt: skip


def row_of(item: Item) -> EventRow:
    """The event a row is, or stands after."""
    return item.row if isinstance(item, EventItem) else item.after
