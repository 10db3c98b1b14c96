"""Going through a session: from prompt to prompt, problem to problem, hit to hit; turns and sub-agents folded."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from textual import on

from console.screens.timeline.density import DensityStrip
from console.screens.timeline.folding import Outlook
from console.screens.timeline.growing import Growing
from console.screens.timeline.in_view import anchor_of
from console.screens.timeline.source import EventItem, LaneItem, row_of
from console.screens.view import Place
from storage.queries.models import EventRow

if TYPE_CHECKING:
    from storage.archive import Archive


class Steps(Growing):
    """See the module."""

    def _jump(self, read: Callable[[Archive], EventRow | None], none: str) -> None:
        """Go to the event that is found, opening what hides it."""

        def done(row: EventRow | None) -> None:
            if row is None:
                self.console_app.shell.flash(none)
            else:
                self.go_to_event(row)

        self.console_app.pool.ask((self, "jump"), read, done, self.console_app.failed)

    def go_to_event(self, row: EventRow) -> None:
        """Put the cursor on an event, opening what hides it."""
        outlook = self.outlook.showing(self.shape, row)
        if outlook == self.outlook:
            for index, item in enumerate(self._rows.rows):
                if isinstance(item, EventItem) and item.row.key == row.key:
                    self._rows.move(index)
                    return
        self.look(outlook, anchor_of(row))

    def _near(self, direction: Any, *, problems: bool) -> None:
        session, item = self.session, self.item
        if session is None or item is None:
            return
        cursor, filter, alone = self.anchor_here(), self.outlook.filter, self.outlook.alone
        assert cursor is not None

        def read(archive: Archive) -> EventRow | None:
            if not problems:
                return archive.prompt(session.key, cursor.cursor, direction)
            lanes = None if alone is None else frozenset({alone})
            only = replace(filter, problems_only=True, lanes=lanes)
            rows = archive.events(session.key, only, cursor=cursor.cursor, direction=direction, limit=1).rows
            return rows[0] if rows else None

        where = "after" if direction == "after" else "before"
        self._jump(read, f"no {'problem' if problems else 'prompt'} {where} this row")

    def do_prompt_next(self) -> None:
        self._near("after", problems=False)

    def do_prompt_previous(self) -> None:
        self._near("before", problems=False)

    def do_problem_next(self) -> None:
        self._near("after", problems=True)

    def do_problem_previous(self) -> None:
        self._near("before", problems=True)

    def do_new(self) -> None:
        """Go to the next event that is new since the last visit."""
        session, here, since = self.session, self.anchor_here(), self.console_app.arrivals.since
        if session is not None and here is not None and since is not None:
            only = replace(self.outlook.filter, newer=since)

            def read(archive: Archive) -> EventRow | None:
                return next(iter(archive.events(session.key, only, cursor=here.cursor, limit=1).rows), None)

            self._jump(read, "no event after this row is new since your last visit")

    def do_hit_next(self) -> None:
        self._hit(1)

    def do_hit_previous(self) -> None:
        self._hit(-1)

    def _hit(self, by: int) -> None:
        if self.outlook.filter.text:
            self._rows.move(self._rows.cursor + by)
        else:
            finding = self.console_app.finding
            (finding.do_hit_next if by > 0 else finding.do_hit_previous)()

    @on(DensityStrip.Asked)
    def _asked(self, event: DensityStrip.Asked) -> None:
        session = self.session
        if session is None:
            return

        def read(archive: Archive) -> EventRow | None:
            return archive.event_at(session.key, event.before)

        self._jump(read, "nothing was recorded there")

    # folding

    def do_fold(self) -> None:
        item = self.item
        if isinstance(item, LaneItem):
            self.again(self.outlook.toggled_lane(item.lane.lane))
        elif item is not None and item.row.lane and self.outlook.alone is None:
            lane = self.shape.lanes.get(item.row.lane)
            spawn = lane.spawn if lane is not None else None
            outlook, key = self.outlook.toggled_lane(item.row.lane), ("lane", item.row.lane)
            self._look_around(lambda archive: archive.event(spawn) if spawn is not None else None, key, outlook)
        elif item is not None and item.starts:
            self.again(self.outlook.toggled_turn(item.row.turn))
        elif item is not None:
            self._fold_turn(item.row.turn, self.outlook.toggled_turn(item.row.turn))

    def _fold_turn(self, turn: int, outlook: Outlook) -> None:
        """Look differently, with the cursor on the event that begins a turn."""
        session = self.session
        assert session is not None
        none = "what came before the first prompt is not folded"
        self._look_around(lambda archive: archive.turn_start(session.key, turn), None, outlook, none)

    def _look_around(
        self, read: Callable[[Archive], EventRow | None], key: Hashable, outlook: Outlook, none: str = ""
    ) -> None:
        """Look differently, with the cursor on (or by ``key``: beside) an event that has to be read first."""

        def done(row: EventRow | None) -> None:
            if row is not None:
                anchor = anchor_of(row)
                self.look(outlook, anchor if key is None else replace(anchor, key=key))
            elif none:
                self.console_app.shell.flash(none)
            else:
                self.again(outlook)

        self.console_app.pool.ask((self, "jump"), read, done, self.console_app.failed)

    def do_fold_all(self) -> None:
        item, session = self.item, self.session
        if item is None or session is None:
            return
        every = frozenset(self.shape.counts) or frozenset(range(1, session.turns + 1))
        outlook = replace(self.outlook, folded=every - {0}, open_lanes=frozenset(), alone=None)
        turn = row_of(item).turn
        if turn:
            self._fold_turn(turn, outlook)
        else:
            self.again(outlook)

    def do_fold_none(self) -> None:
        every = frozenset(self.shape.lanes) - {0}
        self.again(replace(self.outlook, folded=frozenset(), open_lanes=every, alone=None))

    def do_hidden(self) -> None:
        self.again(self.outlook.toggled_hidden())

    def do_lanes(self) -> None:
        item = self.item
        if item is None:
            return
        lane = item.lane.lane if isinstance(item, LaneItem) else item.row.lane
        outlook, words = self.outlook.next_lanes(self.shape, lane)
        self._turn_to(outlook, alone=outlook.alone is not None)
        self.console_app.shell.flash(f"lanes: {words}")

    def do_branches(self) -> None:
        outlook, words = self.outlook.next_branches()
        self._turn_to(outlook, alone=outlook.filter.branches_only)
        self.console_app.shell.flash(f"abandoned branches: {words}")

    def _turn_to(self, outlook: Outlook, *, alone: bool) -> None:
        """Look differently; at a part ``alone`` as at a place of its own, so that going back restores the whole."""
        session, anchor = self.session, self.anchor_here()
        if not alone or session is None:
            self.again(outlook)
            return
        if anchor is not None:
            outlook = replace(outlook, cursor=anchor.cursor, key=anchor.key, line=anchor.line)
        self.console_app.go(Place("timeline", session.uid, state=outlook))
