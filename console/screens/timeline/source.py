"""A session's events as the rows of a list: sub-agents and turns folded away, or in their place."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from console.screens.timeline.lines import event_line, lane_line
from console.widgets.ink import Line
from console.widgets.safe import Outside
from console.widgets.virtual_list import Cursor
from storage.archive import EventFilter
from storage.queries.models import EventRow, LaneRow, Page, TurnRow

if TYPE_CHECKING:
    from storage.archive import Archive

MOST_PAGES = 40
"""Pages read at most for one page of rows, when folded turns take up most of them."""


@dataclass(frozen=True, slots=True)
class EventItem:
    """An event. ``starts`` is the turn it begins; ``folded`` says that the rest of that turn is folded away."""

    row: EventRow
    starts: TurnRow | None = None
    folded: bool = False
    depth: int = 0


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
    """How a session is built: its turns by their first event, its lanes by what started them."""

    turns: Mapping[int, TurnRow] = field(default_factory=dict)
    """By the key of the event that begins the turn."""
    lanes: Mapping[int, LaneRow] = field(default_factory=dict)
    starts: Mapping[int, tuple[int, ...]] = field(default_factory=dict)
    """Lanes by the key of the event after which their line stands."""
    orphans: tuple[int, ...] = ()
    """Lanes of which nothing says when they began: their lines stand after the first event."""
    keys: Mapping[int, int] = field(default_factory=dict)
    """The key of the event that begins a turn, by the turn's number."""
    totals: Mapping[int, int] = field(default_factory=dict)
    """Events of a lane and of every lane started in it, directly or not."""

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


def shape_of(turns: list[TurnRow], lanes: list[LaneRow]) -> Shape:
    """Brings turns and lanes into the form the rows are made from."""
    by_key = {turn.key: turn for turn in turns if turn.key is not None}
    keys = {turn.turn: turn.key for turn in turns if turn.key is not None}
    starts: dict[int, list[int]] = {}
    orphans = []
    for lane in lanes:
        if lane.lane == 0:
            continue
        after = lane.spawn if lane.spawn is not None else keys.get(lane.turn or 0)
        if after is None:
            orphans.append(lane.lane)
        else:
            starts.setdefault(after, []).append(lane.lane)
    return Shape(
        by_key,
        {lane.lane: lane for lane in lanes},
        {key: tuple(found) for key, found in starts.items()},
        tuple(orphans),
        keys,
        _totals(lanes),
    )


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
    two_way: bool = True

    @property
    def folds(self) -> bool:
        """Whether folds hold now."""
        return not self.filter.text and self.filter.kinds is None and not self.filter.problems_only

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
        kept = 0
        filter = self.effective
        while True:
            page = archive.events(
                self.session, filter, cursor=cursor, direction=direction, inclusive=inclusive, limit=limit
            )
            pages.append(page)
            kept += sum(not self._folded_away(row) for row in page.rows)
            cursor = page.after if direction == "after" else page.before
            inclusive = False
            if cursor is None or kept >= limit // 2 or len(pages) >= MOST_PAGES:
                break
        if direction == "before":
            pages.reverse()
        items: list[Item] = []
        at_start = pages[0].before is None
        for page in pages:
            for row in page.rows:
                first = at_start and not items
                if not self._folded_away(row):
                    items.extend(self._items(row, first))
        return Page(tuple(items), pages[0].before, pages[-1].after)

    def _folded_away(self, row: EventRow) -> bool:
        return bool(self.folded) and self.folds and row.turn in self.folded and row.key not in self.shape.turns

    def _items(self, row: EventRow, first: bool) -> list[Item]:
        turn = self.shape.turns.get(row.key)
        folded = turn is not None and self.folds and turn.turn in self.folded
        items: list[Item] = [EventItem(row, turn, folded, self.shape.depth(row.lane))]
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

    def line(self, item: Item, room: int) -> Line:
        if isinstance(item, LaneItem):
            return lane_line(item.lane, item.title, item.open, item.events, room, self.outside)
        return event_line(item.row, item.starts, item.folded, item.depth, room, self.outside)


def row_of(item: Item) -> EventRow:
    """The event a row is, or stands after."""
    return item.row if isinstance(item, EventItem) else item.after
