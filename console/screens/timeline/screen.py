"""Timeline: one session, one line an event, the event under the cursor whole beside it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, ClassVar

from textual.app import ComposeResult
from textual.binding import BindingType

from affidavit.session.event import event_hex
from console.actions import Action, Situation
from console.screens.timeline.source import EventItem, LaneItem, row_of
from console.screens.timeline.steps import Steps
from console.screens.timeline.telling import counts, crumbs, lane_counts, lane_crumb, missing, to_sessions
from console.screens.view import Copy, Place, bindings, dot
from console.widgets import figures
from console.widgets.chooser import Chooser
from console.widgets.ink import Ink, Line
from console.widgets.notice import Notice

if TYPE_CHECKING:
    from console.saved_filters import Part
    from storage.queries.snapshots import SnapshotRow


class TimelineView(Steps):
    """See the module."""

    NAME = "timeline"
    TITLE = "the timeline"
    WHAT = "the timeline"
    BINDINGS: ClassVar[list[BindingType]] = [*bindings("timeline")]
    filter_hint = "words of an event or the name of a tool"

    def compose(self) -> ComposeResult:
        yield self._strip
        yield from self.body()

    # states

    def _say_failed(self, notice: Notice, error: Exception) -> None:
        self.console_app.show_error(notice, "This session could not be read", error)

    def _say_empty(self, notice: Notice) -> None:
        if self.outlook.narrowed:
            keys = (("leave", "take the filter away"), ("filter", "change it"))
            hidden = (Ink("text", f"{self._hidden()} hidden by the filter."),)
            notice.say(Ink("head", "No event fits"), [hidden], keys)
        elif self.session is not None and self.session.events:
            keys = (("hidden", "show it"), ("back", "go back"))
            told = (Ink("text", "All that is recorded are the client's own notes, which are hidden at first."),)
            notice.say(Ink("head", "Nobody said or did anything here"), [told], keys)
        else:
            keys = (("back", "go back"), ("facets", "show every kind"))
            notice.say(Ink("head", "This session holds no events"), (), keys)
        self.pane.say(())

    # chrome

    def crumbs(self) -> tuple[Line, Line]:
        outside, session = self.console_app.outside, self.session
        if session is None:
            return (*to_sessions(), Ink("quiet", outside.line(self._place.session))), ()
        outlook = self.outlook
        within = lane_crumb(outlook.alone, self.shape, outlook.filter.branches_only, outside)
        return crumbs(session, within, self.size.width, outside)

    def second(self) -> None:
        text = self.outlook.filter.text
        end: Line = ()
        if text:
            end = (Ink("key", "/ ", "filter"), Ink("hit", self.console_app.outside.line(text, 30), "filter"))
        if self.session is None:
            self._strip.say((), ())
            return
        lanes, alone = self.shape.lanes, self.outlook.alone
        lane = lanes.get(alone) if alone is not None else None
        if lane is not None:
            parent = lanes.get(lane.parent) if lane.parent is not None else None
            self._strip.say(lane_counts(lane, parent, self.console_app.outside), end)
        else:
            self._strip.say((*counts(self.session), *self.news()), end)

    def _hidden(self) -> str:
        if self._all is None or self._fitting is None:
            return "some"
        return figures.number(self._all.value - self._fitting.value)

    def missing(self) -> Line:
        session = self.session
        if session is None or (self._rows.reading and not self._rows.rows):
            return (Ink("quiet", "reading …"),)
        parts = missing(session, self.outlook, self._hidden())
        if self._rows.marked:
            parts.append(f"{len(self._rows.marked)} marked")
        if self.pane.has_focus and not self.pane.fits:
            parts.append(f"text {self.pane.fraction:.0%}")
        return (*self.below(), *dot(*parts))

    def situation(self, now: Situation) -> Situation:
        rows = self._rows
        return replace(
            now,
            row=rows.item is not None,
            loading=rows.reading,
            filtered=bool(self.outlook.filter.text),
            lanes=len(self.shape.lanes) or 1,
            new=self.session is not None and self.session.key in self.console_app.arrivals.touched,
            branches=self.session.branches if self.session is not None else 1,
            transient=now.transient
            or self.outlook.narrowed
            or self.has_class("-whole")
            or self.pane.has_focus
            or bool(rows.marked)
            or rows.error is not None,
            facets=self.session is not None,
        )

    def why(self, action: Action, now: Situation) -> str | None:
        if action.id in ("fold", "fold.all") and self.outlook.searches:
            return "nothing is folded while a filter is on"
        return super().why(action, now)

    # the filter

    @property
    def filter_text(self) -> str:
        return self.outlook.filter.text

    def preview(self, text: str) -> None:
        self.again(replace(self.outlook, filter=replace(self.outlook.filter, text=text)))

    def preview_hint(self) -> Line:
        if self._fitting is None or self._all is None:
            return ()
        return dot(
            f"{figures.number(self._fitting.value)} of {figures.number(self._all.value)} · {self._hidden()} hidden"
        )

    def filter_parts(self) -> dict[str, Part]:
        from console.screens.timeline.facets import parts_of

        return parts_of(self.outlook.filter)

    def use_parts(self, parts: Mapping[str, Part]) -> None:
        from console.screens.timeline.facets import from_parts

        self.again(replace(self.outlook, filter=from_parts(parts), alone=None))

    def leave(self) -> bool:
        if self.has_class("-whole"):
            self.set_whole(False)
        elif self._rows.error is not None:
            self.session = None
            self.arrive(self._place)
        elif self.pane.has_focus:
            self.focus_main()
        elif self._rows.marked:
            self._rows.unmark()
        elif self.outlook.narrowed:
            self.again(self.outlook.unnarrowed())
        else:
            return False
        return True

    def do_facets(self) -> None:
        from console.screens.timeline.facets import choices

        session, outlook, lanes = self.session, self.outlook, tuple(self.shape.lanes.values())
        if session is None:
            return
        outside = self.console_app.outside

        def offer(kinds: list[tuple[str, int]]) -> None:
            found = choices(outlook, kinds, lanes, session.problems, outside)
            self.app.push_screen(Chooser("Narrow the timeline down", found, at_checked=False), self._narrowed)

        self.console_app.pool.ask(
            (self, "facets"), lambda archive: archive.kinds(session.key), offer, self.console_app.failed
        )

    def _narrowed(self, choice: str | None) -> None:
        from console.screens.timeline.facets import narrowed

        if choice is not None:
            self.again(narrowed(self.outlook, choice))

    # history

    def place(self) -> Place:
        if self.session is None:
            return self._place
        outlook, anchor = self.outlook, self.anchor_here()
        if anchor is not None:
            outlook = replace(outlook, cursor=anchor.cursor, key=anchor.key, line=anchor.line)
        return Place("timeline", self.session.uid, state=replace(outlook, whole=self.has_class("-whole")))

    # going through

    def do_open(self) -> None:
        item = self.item
        if isinstance(item, LaneItem) or (isinstance(item, EventItem) and item.folded):
            self.do_fold()
        elif self.pane.error:
            self._follow(now=True)
        else:
            self.set_whole(not self.has_class("-whole"))

    # the event itself

    def do_context(self) -> None:
        session, item, app = self.session, self.item, self.console_app
        if session is None or item is None:
            return
        row = row_of(item)
        seen = Place("context", session=session.uid, event=event_hex(row.id))
        if row.kind != "retrieval.snapshot.created":
            app.go(seen)
            return

        def found(snapshot: SnapshotRow | None) -> None:
            app.go(seen if snapshot is None else Place("snapshot", session=snapshot.uid))

        app.pool.ask((self, "snapshot"), lambda archive: archive.snapshots.row(row.key), found, app.failed)

    def do_rules(self) -> None:
        if self.session is not None and self.item is not None:
            event = event_hex(row_of(self.item).id)
            self.console_app.go(Place("rules", session=self.session.uid, event=event))

    def do_raw(self) -> None:
        form = self.pane.turn_over()
        words = {"text": "the text", "record": "the recorded bytes as text", "hex": "the recorded bytes as hex"}
        self.console_app.shell.flash(f"showing {words[form]}")

    def prepare_copies(self, give: Callable[[Sequence[Copy]], None]) -> None:
        session, item = self.session, self.item
        if session is None or item is None:
            return
        marked = [each for each in self._rows.marked.values() if isinstance(each, EventItem)]
        keys = [each.row.key for each in marked] or [row_of(item).key]
        if self.pane.error:
            give([Copy("error", "this error", self.pane.error)])
        else:
            self.offer_copies(give, lambda _archive: (session, keys))
