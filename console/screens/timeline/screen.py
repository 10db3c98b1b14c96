"""Timeline: one session, one line an event, the event under the cursor whole beside it."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Container

from affidavit.session.event import event_hex
from console.actions import Action, Situation
from console.screens.event_pane.facts import address
from console.screens.event_pane.pane import EventPane
from console.screens.sessions.columns import AGENTS, project, total
from console.screens.timeline.copying import copies_of, whole_text
from console.screens.timeline.density import FINE, DensityStrip
from console.screens.timeline.folding import Outlook
from console.screens.timeline.source import EventItem, Item, LaneItem, Shape, TimelineSource, row_of, shape_of
from console.screens.view import Copy, Place, View, bindings, dot
from console.standing import failure_word
from console.widgets import figures
from console.widgets.chooser import Chooser
from console.widgets.ink import Ink, Line, width
from console.widgets.list_pane import ListPane
from console.widgets.notice import Notice
from console.widgets.virtual_list import Anchor, VirtualList
from storage.archive import EventFilter
from storage.queries.models import EventRow, SessionRow, Total

if TYPE_CHECKING:
    from storage.archive import Archive


@dataclass(frozen=True)
class _Opened:
    session: SessionRow
    shape: Shape
    target: EventRow | None


class TimelineView(View):
    """See the module."""

    NAME = "timeline"
    TITLE = "the timeline"
    BINDINGS: ClassVar[list[BindingType]] = [*bindings("timeline")]
    filter_hint = "words of an event or the name of a tool"

    def __init__(self) -> None:
        super().__init__()
        self.session: SessionRow | None = None
        self.shape = Shape()
        self.outlook = Outlook()
        self._place = Place("timeline")
        self._all: Total | None = None
        self._fitting: Total | None = None
        self._hit_words: tuple[str, ...] = ()
        """What was searched for in all sessions, when that led here."""
        self._strip = DensityStrip()
        self._rows: VirtualList[Item] = VirtualList(lambda: self.console_app.pool, id="timeline-list")
        self._list_pane = ListPane(
            self._rows, what="the timeline", empty=self._say_empty, failed=self._say_failed, id="timeline-pane"
        )
        self.pane = EventPane()

    def compose(self) -> ComposeResult:
        yield self._strip
        with Container(id="timeline-body"):
            yield self._list_pane
            yield self.pane

    @property
    def main_list(self) -> VirtualList[Any]:
        return self._rows

    @property
    def item(self) -> Item | None:
        """The row under the cursor."""
        return self._rows.item

    def focus_main(self) -> None:
        if self.has_class("-whole"):
            self.pane.focus()
        else:
            self._list_pane.focus_main()

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
            anchor = _anchor_of_event(row)
            if outlook.filter.text:
                outlook = replace(outlook, filter=replace(outlook.filter, text=""))
        elif outlook.cursor is not None:
            anchor = Anchor(outlook.cursor, outlook.key, outlook.line)
        hits = self.console_app.finding.hits
        self._hit_words = tuple(hits.text.split()) if hits is not None and place.event else ()
        self._look(outlook, anchor)
        self._set_whole(outlook.whole)
        if fresh:
            self._read_density()
            self._read_turns()

    def _not_opened(self, error: Exception) -> None:
        self._rows.error = error
        self._list_pane.settle()
        self.tell()

    def _look(self, outlook: Outlook, anchor: Anchor | None) -> None:
        """Show the session in another way, from its beginning or around an anchor."""
        if self.session is None:
            return
        self.pane.look_for(outlook.filter.text.split() or self._hit_words)
        counted = self.outlook.filter == outlook.filter and self._fitting is not None
        self.outlook = outlook
        source = TimelineSource(
            self.session.key,
            self.shape,
            outlook.filter,
            outlook.open_lanes,
            outlook.alone,
            outlook.folded,
            self.console_app.outside,
            self._broken,
            self.session.cwd,
        )
        self._rows.show(source, at=anchor)
        if not counted or outlook.alone is not None:
            self._count()
        self.tell()

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

    def _again(self, outlook: Outlook) -> None:
        """Show the session in another way, with the cursor where it stands."""
        self._look(outlook, self._anchor())

    def _anchor(self) -> Anchor | None:
        item, source = self.item, self._rows.source
        if item is None or not isinstance(source, TimelineSource):
            return None
        return Anchor(source.cursor(item), source.key(item), self._rows.cursor - self._rows.top)

    def _count(self) -> None:
        session, outlook = self.session, self.outlook
        assert session is not None
        lanes = frozenset({outlook.alone}) if outlook.alone is not None else None

        def count(archive: Archive) -> tuple[Total, Total]:
            everything = archive.count_events(session.key, EventFilter())
            return everything, archive.count_events(session.key, replace(outlook.filter, lanes=lanes))

        def counted(totals: tuple[Total, Total]) -> None:
            self._all, self._fitting = totals
            self._list_pane.settle()
            self.console_app.shell.hint(self.preview_hint())
            self.tell()

        self.console_app.pool.ask((self, "count"), count, counted, self._no_count, slow=True)

    def _no_count(self, _error: Exception) -> None:
        self._all = self._fitting = None
        self.tell()

    def _read_density(self) -> None:
        session = self.session
        assert session is not None
        self._strip.show(())

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

    def grown(self) -> None:
        session = self.session
        if session is None or self._rows.error is not None:
            return
        self._rows.go_on()
        key = session.key

        def done(row: SessionRow) -> None:
            if row.events != session.events and self.session is session:
                self.session = row
                self._count()
                self._read_density()
                self.tell()

        self.console_app.pool.ask(
            (self, "grown"), lambda archive: archive.session(key), done, lambda _error: None, slow=True
        )

    # states

    def _say_failed(self, notice: Notice, error: Exception) -> None:
        self.console_app.show_error(notice, "This session could not be read", error)

    def _say_empty(self, notice: Notice) -> None:
        if self.outlook.narrowed:
            keys = (("esc", "take the filter away"), ("/", "change it"))
            hidden = (Ink("text", f"{self._hidden()} hidden by the filter."),)
            notice.say(Ink("head", "No event fits"), [hidden], keys)
        elif self.session is not None and self.session.events:
            keys = (("h", "show it"), ("backspace", "go back"))
            told = (Ink("text", "All that is recorded are the client's own notes, which are hidden at first."),)
            notice.say(Ink("head", "Nobody said or did anything here"), [told], keys)
        else:
            keys = (("backspace", "go back"), ("f", "show every kind"))
            notice.say(Ink("head", "This session holds no events"), (), keys)
        self.pane.say(())

    @on(VirtualList.Moved)
    def _moved(self) -> None:
        self._follow()

    def _follow(self, *, now: bool = False) -> None:
        item = self.item
        self._point()
        if isinstance(item, EventItem):
            self.pane.follow(item.row.key, self.session, self.shape.lanes, now=now)
        elif isinstance(item, LaneItem):
            self.pane.say(self._lane_facts(item))

    def _point(self) -> None:
        item, session = self.item, self.session
        fraction = None
        if item is not None and session is not None and session.started is not None and session.ended is not None:
            at = row_of(item).at
            length = session.ended - session.started
            fraction = None if at is None else (at - session.started) / length if length > 0 else 0.0
        self._strip.point(fraction)

    def _lane_facts(self, item: LaneItem) -> list[Line]:
        outside, lane = self.console_app.outside, item.lane
        return [
            (Ink("head", "sub-agent "), Ink("quiet", f"   lane {lane.lane}, {lane.depth} deep")),
            (Ink("agent", outside.line(item.title)),),
            (Ink("quiet", "id       "), Ink("outside", outside.line(lane.name))),
            (Ink("quiet", "holds    "), Ink("text", figures.plural(item.events, "event"))),
            (),
            (Ink("key", "enter"), Ink("quiet", " closes it" if item.open else " opens it")),
        ]

    @on(EventPane.Settled)
    def _settled(self) -> None:
        self.tell()

    @on(DensityStrip.Asked)
    def _asked(self, event: DensityStrip.Asked) -> None:
        session = self.session
        if session is None:
            return

        def read(archive: Archive) -> EventRow | None:
            return archive.event_at(session.key, event.before)

        self._jump(read, "nothing was recorded there")

    # chrome

    def crumbs(self) -> tuple[Line, Line]:
        outside, session = self.console_app.outside, self.session
        start = [Ink("accent", "Sessions", "go.sessions"), Ink("faint", " ▸ ")]
        if session is None:
            return (*start, Ink("quiet", outside.line(self._place.session))), ()
        start.append(Ink("outside", outside.line(session.title) or "no title"))
        agent = AGENTS.get(session.agent) or outside.line(session.agent)
        parts = [
            f"{agent} {outside.line(session.version, 12)}".strip(),
            outside.line(project(session), 28),
            outside.line(session.git_branch, 24),
            figures.span(session.started, session.ended),
        ]
        # The title comes first: what does not fit beside it is left out, the least telling part before others.
        for least in (2, 1, 0):
            if width(start) + width(dot(*parts)) + 4 > self.size.width:
                parts[least] = ""
        return tuple(start), dot(*parts)

    def second(self) -> None:
        session = self.session
        if session is None:
            self._strip.say((), ())
            return
        text = self.outlook.filter.text
        words = dot(
            figures.plural(session.events, "event"),
            figures.plural(session.turns, "turn"),
            figures.plural(session.lanes, "lane") if session.lanes > 1 else "",
            f"{figures.short(total(session.tokens))} tokens" if total(session.tokens) else "",
        )
        problems = (Ink("fails", f" · ✗ {figures.number(session.problems)}"),) if session.problems else ()
        end: Line = ()
        if text:
            end = (Ink("key", "/ ", "filter"), Ink("hit", self.console_app.outside.line(text, 30), "filter"))
        self._strip.say((*words, *problems), end)

    def _hidden(self) -> str:
        if self._all is None or self._fitting is None:
            return "some"
        return figures.number(self._all.value - self._fitting.value)

    def missing(self) -> Line:
        session = self.session
        if session is None or (self._rows.reading and not self._rows.rows):
            return (Ink("quiet", "reading …"),)
        filter = self.outlook.filter
        why = ["filter"] if filter.text or filter.kinds is not None or filter.problems_only else []
        why += sorted(kind.replace("lifecycle", "runtime") for kind in filter.hide_kinds)
        if self.outlook.alone is not None:
            why.append("other lanes")
        parts = [
            f"{figures.number(session.unreadable)} unreadable",
            f"{figures.number(session.unknown)} unknown",
            f"{self._hidden()} hidden" + (f" ({', '.join(why)})" if why and self._hidden() != "0" else ""),
            "h shows" if filter.hide_kinds and self._hidden() != "0" else "h hides" if not filter.hide_kinds else "",
        ]
        if self._rows.marked:
            parts.append(f"{len(self._rows.marked)} marked")
        if self.pane.has_focus and not self.pane.fits:
            parts.append(f"text {self.pane.fraction:.0%}")
        return dot(*parts)

    def standing(self) -> Line:
        told = self.pane.told
        return self.console_app.standing.entry(told.number, told.address) if told else self.console_app.standing.line()

    def situation(self, now: Situation) -> Situation:
        rows = self._rows
        return replace(
            now,
            row=rows.item is not None,
            loading=rows.reading,
            filtered=bool(self.outlook.filter.text),
            lanes=len(self.shape.lanes) or 1,
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
        self._again(replace(self.outlook, filter=replace(self.outlook.filter, text=text)))

    def preview_hint(self) -> Line:
        if self._fitting is None or self._all is None:
            return ()
        return dot(
            f"{figures.number(self._fitting.value)} of {figures.number(self._all.value)} · {self._hidden()} hidden"
        )

    def leave(self) -> bool:
        if self.has_class("-whole"):
            self._set_whole(False)
        elif self._rows.error is not None:
            self.session = None
            self.arrive(self._place)
        elif self.pane.has_focus:
            self.focus_main()
        elif self._rows.marked:
            self._rows.unmark()
        elif self.outlook.narrowed:
            self._again(self.outlook.unnarrowed())
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
            self._again(narrowed(self.outlook, choice))

    # history

    def place(self) -> Place:
        if self.session is None:
            return self._place
        outlook, anchor = self.outlook, self._anchor()
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
            self._set_whole(not self.has_class("-whole"))

    @on(VirtualList.Opened)
    def _clicked(self, event: VirtualList.Opened) -> None:
        event.stop()
        self.do_open()
        self.tell()

    def _set_whole(self, whole: bool) -> None:
        if whole != self.has_class("-whole"):
            self.set_class(whole, "-whole")
        if self.console_app.view is self and not self.console_app.shell.prompting:
            self.call_after_refresh(self.focus_main)

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
        self._look(outlook, _anchor_of_event(row))

    def _near(self, direction: Any, *, problems: bool) -> None:
        session, item = self.session, self.item
        if session is None or item is None:
            return
        cursor, filter, alone = self._anchor(), self.outlook.filter, self.outlook.alone
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

    # folding

    def do_fold(self) -> None:
        item = self.item
        if isinstance(item, LaneItem):
            self._again(self.outlook.toggled_lane(item.lane.lane))
        elif item is not None and item.row.lane and self.outlook.alone is None:
            lane = self.shape.lanes.get(item.row.lane)
            spawn = lane.spawn if lane is not None else None
            outlook, key = self.outlook.toggled_lane(item.row.lane), ("lane", item.row.lane)
            self._look_around(lambda archive: archive.event(spawn) if spawn is not None else None, key, outlook)
        elif item is not None and item.starts:
            self._again(self.outlook.toggled_turn(item.row.turn))
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
                anchor = _anchor_of_event(row)
                self._look(outlook, anchor if key is None else replace(anchor, key=key))
            elif none:
                self.console_app.shell.flash(none)
            else:
                self._again(outlook)

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
            self._again(outlook)

    def do_fold_none(self) -> None:
        every = frozenset(self.shape.lanes) - {0}
        self._again(replace(self.outlook, folded=frozenset(), open_lanes=every, alone=None))

    def do_hidden(self) -> None:
        self._again(self.outlook.toggled_hidden())

    def do_lanes(self) -> None:
        item = self.item
        if item is None:
            return
        lane = item.lane.lane if isinstance(item, LaneItem) else item.row.lane
        outlook, words = self.outlook.next_lanes(self.shape, lane)
        self._again(outlook)
        self.console_app.shell.flash(f"lanes: {words}")

    # the event itself

    def do_rules(self) -> None:
        if self.session is not None and self.item is not None:
            event = event_hex(row_of(self.item).id)
            self.console_app.go(Place("rules", session=self.session.uid, event=event))

    def do_raw(self) -> None:
        form = self.pane.turn_over()
        words = {"text": "the text", "record": "the recorded bytes as text", "hex": "the recorded bytes as hex"}
        self.console_app.shell.flash(f"showing {words[form]}")

    def masked(self) -> None:
        self._rows.redraw()
        self.pane.again()

    def prepare_copies(self, give: Callable[[Sequence[Copy]], None]) -> None:
        session, item = self.session, self.item
        if session is None or item is None:
            return
        marked = [each for each in self._rows.marked.values() if isinstance(each, EventItem)]
        keys = [each.row.key for each in marked] or [row_of(item).key]
        app = self.console_app
        outside, command = app.outside, app.services.command
        if self.pane.error:
            give([Copy("error", "this error", self.pane.error)])
            return
        app.pool.ask(
            (self, "copy"), lambda archive: copies_of(archive, session, keys, outside, command), give, app.failed
        )

    def prepare_text(self, give: Callable[[str], None]) -> None:
        item, form, outside = self.item, self.pane.form, self.console_app.outside
        if item is not None:
            key = row_of(item).key
            self.console_app.pool.ask(
                (self, "copy"), lambda archive: whole_text(archive, key, form, outside), give, self.console_app.failed
            )


def _anchor_of_event(row: EventRow) -> Anchor:
    from storage.archive import Archive

    return Anchor(Archive.cursor_of(row), row.key)
