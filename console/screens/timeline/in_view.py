"""A session in view: opened at a place, read, counted, and looked at in one way or another."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from textual import on

from console.screens.event_pane.facts import address
from console.screens.events_view import EventsView
from console.screens.timeline.density import FINE, DensityStrip
from console.screens.timeline.folding import Outlook
from console.screens.timeline.source import EventItem, Item, LaneItem, Shape, TimelineSource, row_of, shape_of
from console.screens.timeline.telling import lane_facts
from console.screens.view import Place
from console.standing import failure_word
from console.widgets.source import Anchor
from console.widgets.virtual_list import VirtualList
from storage.archive import EventFilter
from storage.queries.models import EventRow, SessionRow, Total

if TYPE_CHECKING:
    from storage.archive import Archive


@dataclass(frozen=True)
class _Opened:
    session: SessionRow
    shape: Shape
    target: EventRow | None


def lanes_of(outlook: Outlook) -> frozenset[int] | None:
    """The lanes an outlook counts events of; ``None``: all."""
    return frozenset({outlook.alone}) if outlook.alone is not None else None


def anchor_of(row: EventRow) -> Anchor:
    from storage.archive import Archive

    return Anchor(Archive.cursor_of(row), row.key)


class SessionInView(EventsView):
    """See the module. What is gone through, filtered and said of it is in the classes made from this one."""

    def __init__(self) -> None:
        super().__init__()
        self.session: SessionRow | None = None
        self.shape = Shape()
        self.outlook = Outlook()
        self._place = Place("timeline")
        self._all: Total | None = None
        self._fitting: Total | None = None
        self._counted_to: int | None = None
        """Ledger entries there were when the events were counted."""
        self._outlined = 0
        """Events the session had when its strip was made."""
        self._hit_words: tuple[str, ...] = ()
        """What was searched for in all sessions, when that led here."""
        self._strip = DensityStrip()

    @property
    def item(self) -> Item | None:
        """The row under the cursor."""
        return self._rows.item

    def event_key(self) -> int | None:
        return row_of(self.item).key if self.item is not None else None

    def focus_main(self) -> None:
        if self.has_class("-whole"):
            self.pane.focus()
        else:
            super().focus_main()

    def set_whole(self, whole: bool) -> None:
        if whole != self.has_class("-whole"):
            self.set_class(whole, "-whole")
        if self.console_app.view is self and not self.console_app.shell.prompting:
            self.call_after_refresh(self.focus_main)

    # opening a session

    def arrive(self, place: Place) -> None:
        same = self.session is not None and self.session.uid == place.session
        if same and place.state is None and not place.event:
            self.focus_main()
            return
        self._place = place
        if not same:
            self.session = None
            self._rows.clear()
            self.pane.say(())
            self._strip.show(())
        app = self.console_app

        def read(archive: Archive) -> _Opened:
            from console.finding import event_of, session_of

            row = session_of(archive, place.session)
            target = event_of(archive, row, place.event) if place.event else None
            return _Opened(row, shape_of(archive, row.key), target)

        app.pool.ask((self, "open"), read, self._opened, self._not_opened)
        self.focus_main()

    def _opened(self, opened: _Opened) -> None:
        place = self._place
        fresh = self.session is None or self.session.uid != opened.session.uid
        self.session, self.shape = opened.session, opened.shape
        outlook = place.state if isinstance(place.state, Outlook) else (Outlook() if fresh else self.outlook)
        anchor = None
        if opened.target is not None:
            row = opened.target
            outlook = outlook.showing(self.shape, row)
            anchor = anchor_of(row)
            if outlook.filter.text:
                outlook = replace(outlook, filter=replace(outlook.filter, text=""))
        elif outlook.cursor is not None:
            anchor = Anchor(outlook.cursor, outlook.key, outlook.line)
        hits = self.console_app.finding.hits
        self._hit_words = tuple(hits.text.split()) if hits is not None and place.event else ()
        self.look(outlook, anchor)
        self.set_whole(outlook.whole)
        if fresh:
            self._read_density()
            self._read_turns()

    def _not_opened(self, error: Exception) -> None:
        self._rows.error = error
        self._list_pane.settle()
        self.tell()

    def look(self, outlook: Outlook, anchor: Anchor | None) -> None:
        """Show the session in another way, from its beginning or around an anchor."""
        if self.session is None:
            return
        self.pane.look_for(outlook.filter.text.split() or self._hit_words)
        counted = self.outlook.filter == outlook.filter and self._fitting is not None
        self.outlook = outlook
        source = self.source()
        assert source is not None
        self._rows.show(source, at=anchor)
        if not counted or outlook.alone is not None:
            self._count()
        self.tell()

    def source(self) -> TimelineSource | None:
        """The rows of the session as it is looked at now."""
        if self.session is None:
            return None
        outlook = self.outlook
        return TimelineSource(
            self.session.key,
            self.shape,
            outlook.filter,
            outlook.open_lanes,
            outlook.alone,
            outlook.folded,
            self.console_app.outside,
            self._broken,
            self.session.cwd,
            self.console_app.arrivals.is_new,
        )

    def _broken(self, row: EventRow) -> str:
        """What the last verification found wrong with an event of this session, in a word."""
        from storage.archive import Archive

        session, standing = self.session, self.console_app.standing
        if session is None or standing.result is None or standing.result.holds:
            return ""
        failure = standing.failure(address(session.uid, row), Archive.entry_of(row.key))
        return failure_word(failure.kind) if failure is not None else ""

    def judged(self) -> None:
        self._rows.redraw()
        self.pane.again()

    def again(self, outlook: Outlook) -> None:
        """Show the session in another way, with the cursor where it stands."""
        self.look(outlook, self.anchor_here())

    def anchor_here(self) -> Anchor | None:
        item, source = self.item, self._rows.source
        if item is None or not isinstance(source, TimelineSource):
            return None
        return Anchor(source.cursor(item), source.key(item), self._rows.cursor - self._rows.top)

    def _count(self) -> None:
        session, outlook = self.session, self.outlook
        assert session is not None

        def count(archive: Archive) -> tuple[Total, Total, int]:
            fitting = replace(outlook.filter, lanes=lanes_of(outlook))
            with archive.at_once():
                everything = archive.count_events(session.key, EventFilter())
                return everything, archive.count_events(session.key, fitting), archive.entries()

        def counted(totals: tuple[Total, Total, int]) -> None:
            self._all, self._fitting, self._counted_to = totals
            self._list_pane.settle()
            self.console_app.shell.hint(self.preview_hint())
            self.tell()

        self.console_app.pool.ask((self, "count"), count, counted, self._no_count, slow=True)

    def _no_count(self, _error: Exception) -> None:
        self._all = self._fitting = self._counted_to = None
        self.tell()

    def _read_density(self) -> None:
        session = self.session
        assert session is not None
        self._outlined = session.events

        def read(archive: Archive) -> list[tuple[int, int]]:
            return archive.density(session.key, FINE)

        def failed(_error: Exception) -> None:
            self._strip.show(())

        self.console_app.pool.ask((self, "density"), read, self._show_density, failed, slow=True)

    def _read_turns(self) -> None:
        session, shape = self.session, self.shape
        assert session is not None

        def read(archive: Archive) -> dict[int, tuple[int, int]]:
            return {turn.turn: (turn.events, turn.problems) for turn in archive.turns(session.key)}

        def done(counts: dict[int, tuple[int, int]]) -> None:
            shape.counts.update(counts)
            if self.outlook.folded:
                self._rows.redraw()

        self.console_app.pool.ask((self, "turns"), read, done, lambda _error: None, slow=True)

    def _show_density(self, slices: list[tuple[int, int]]) -> None:
        self._strip.show(slices)
        self._point()

    # following the cursor

    @on(VirtualList.Moved)
    def _moved(self) -> None:
        self._follow()

    def _follow(self, *, now: bool = False) -> None:
        item = self.item
        self._point()
        if isinstance(item, EventItem):
            self.pane.follow(item.row.key, self.session, self.shape.lanes, now=now)
        elif isinstance(item, LaneItem):
            self.pane.say(lane_facts(item, self.console_app.outside))

    def _point(self) -> None:
        item, session = self.item, self.session
        fraction = None
        if item is not None and session is not None and session.started is not None and session.ended is not None:
            at = row_of(item).at
            length = session.ended - session.started
            fraction = None if at is None else (at - session.started) / length if length > 0 else 0.0
        self._strip.point(fraction)
