"""Sessions: every session of the store, newest first, one line each."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import BindingType

from console.actions import Situation
from console.screens.list_view import ListView
from console.screens.sessions.columns import AGENTS, heading
from console.screens.sessions.copying import session_copies, session_text
from console.screens.sessions.facets import choices, from_parts, narrowed, parts_of
from console.screens.sessions.node import Node
from console.screens.sessions.tree import NEXT, WORDS, NodeSource, Shape
from console.screens.timeline.folding import Outlook
from console.screens.view import Copy, Place, bindings, dot
from console.widgets import figures
from console.widgets.bar import Bar
from console.widgets.chooser import Choice, Chooser
from console.widgets.ink import Ink, Line
from console.widgets.notice import Notice
from console.widgets.paced import Paced
from console.widgets.source import Anchor
from console.widgets.virtual_list import VirtualList
from storage.archive import SessionFilter
from storage.queries.models import SessionRow, StoreTotals, Total

if TYPE_CHECKING:
    from console.saved_filters import Part
    from storage.archive import Archive

SORTS = {
    "started": ("newest first", True),
    "ended": ("last active first", True),
    "title": ("by title", False),
    "events": ("most events first", True),
    "turns": ("most turns first", True),
    "tokens": ("most tokens first", True),
    "problems": ("most problems first", True),
}


class SessionsView(ListView):
    """See the module."""

    NAME = "sessions"
    TITLE = "Sessions"
    WHAT = "the sessions"
    CSS_FILE: ClassVar[str] = str(Path(__file__).with_suffix(".tcss"))
    BINDINGS: ClassVar[list[BindingType]] = [*bindings("sessions")]
    filter_hint = "words of a title, a project or an id"

    def __init__(self) -> None:
        super().__init__()
        self._filter = SessionFilter()
        self._since = "any"
        self._sort = "started"
        self._descending = True
        self._counts = Paced(self._count)
        self._totals: StoreTotals | None = None
        self._fitting: Total | None = None
        self._shape: Shape = "flat"
        self._toggled: frozenset[Hashable] = frozenset()
        """Rows that are open or folded otherwise than the shape has them."""
        self._tops: int | None = None
        """Sessions of the top level of the tree."""
        self._heading = Bar(id="sessions-heading")

    def compose(self) -> ComposeResult:
        yield self._heading
        yield self._list_pane

    @property
    def node(self) -> Node | None:
        """The session or sub-agent under the cursor."""
        node: Node | None = self._rows.item
        return node

    @property
    def row(self) -> SessionRow | None:
        """The session under the cursor, or that the sub-agent there belongs to."""
        return self.node.row if self.node is not None else None

    # reading

    def arrive(self, place: Place) -> None:  # noqa: ARG002
        if self._rows.source is None or self._rows.error is not None:
            self.reload()
        self.focus_main()

    def judged(self) -> None:
        self._rows.redraw()

    def grown(self, sessions: frozenset[int]) -> None:  # noqa: ARG002
        self._rows.renew(self._source())
        self._counts.ask(self)

    def freshened(self) -> None:
        self._rows.redraw()

    def reload(self, *, around: Node | None = None) -> None:
        """Read the list from its first row, or around a row where it stands."""
        source = self._source()
        at = None
        if around is not None:
            at = Anchor(source.place(around), around.key, self._rows.cursor - self._rows.top)
        self._rows.show(source, at=at, total=self._rows.total if around is not None else None)
        self._say_heading()
        self._count()

    def _source(self) -> NodeSource:
        app = self.console_app
        return NodeSource(
            self._filter, self._sort, self._descending, app.outside, app.now, app.standing.in_session,
            self._shape, self._toggled, self._news,
        )  # fmt: skip

    def _news(self, session: int) -> str:
        arrivals = self.console_app.arrivals
        return "● live" if arrivals.live(session) else "+ new" if session in arrivals.touched else ""

    def _count(self) -> None:
        began = monotonic()
        wanted, nested = self._filter, self._shape != "flat" and not self._filtered

        def count(archive: Archive) -> tuple[StoreTotals, Total, int | None]:
            totals = archive.totals()
            everything = Total(totals.sessions, True)
            fitting = everything if wanted == SessionFilter() else archive.count_sessions(wanted)
            return totals, fitting, archive.count_tops().value if nested else None

        def counted(found: tuple[StoreTotals, Total, int | None]) -> None:
            self._counts.took(monotonic() - began)
            self._totals, self._fitting, self._tops = found
            self._rows.total = found[1].value if found[2] is None else None
            if found[0].sessions == 0:
                self.console_app.found_empty()
            self._list_pane.settle()
            self.console_app.shell.hint(self.preview_hint())
            self.tell()

        self.console_app.pool.ask((self, "count"), count, counted, self._no_count, slow=True)

    def _no_count(self, _error: Exception) -> None:
        self._totals = self._fitting = None
        if self._rows.error is None:
            self.tell()

    @on(VirtualList.Changed)
    def _changed(self) -> None:
        error = self._rows.error
        if error is not None and getattr(error, "reason", "") == "missing":
            self.console_app.found_empty()

    def _say_failed(self, notice: Notice, error: Exception) -> None:
        self.console_app.show_error(notice, "The sessions could not be read", error)

    def _say_empty(self, notice: Notice) -> None:
        if self._filter == SessionFilter():
            notice.say(
                Ink("head", "This store holds no sessions yet"), (), (("import", "import some"), ("help", "every key"))
            )
        else:
            keys = (("leave", "take the filter away"), ("filter", "change it"), ("facets", "narrow down otherwise"))
            hidden = (Ink("text", f"{self._hidden()} hidden by the filter."),)
            notice.say(Ink("head", "No session fits"), [hidden], keys)

    def on_resize(self) -> None:
        self._say_heading()

    def _say_heading(self) -> None:
        width = self.size.width - VirtualList.GUTTER
        self._heading.say((Ink("text", " " * VirtualList.GUTTER), *heading(width - 1, self._sort, self._descending)))

    # chrome

    def second(self) -> tuple[Line, Line]:
        text = self._filter.text
        start: Line = (Ink("key", "/", "filter"), Ink("faint", " filter", "filter"))
        if text:
            start = (Ink("key", "/ ", "filter"), Ink("hit", self.console_app.outside.line(text, 40), "filter"))
        facets: list[Ink] = []
        agent = self._filter.agent
        for name, value in (
            ("agent", AGENTS.get(agent or "", agent)),
            ("project", self._filter.project),
            ("check", self._filter.check),
            ("since", None if self._since == "any" else self._since),
        ):
            said = self.console_app.outside.line(value, 24) if value else "any"
            facets += (
                Ink("quiet", f"{name} ▾ ", "facets"),
                Ink("hit" if value else "text", said, "facets"),
                Ink("text", "   "),
            )
        if self._filter.problems_only:
            facets.append(Ink("hit", "with problems   ", "facets"))
        return (*start, *self._told()), tuple(facets[:-1])

    def _told(self) -> Line:
        """How many sessions are live and how many are new; that only these are shown."""
        arrivals, narrow = self.console_app.arrivals, self.console_app.size.width < 110
        live, new = arrivals.live_count, len(arrivals.touched)
        inks: list[Ink] = []
        if live:
            inks.append(Ink("accent", f"  ● {figures.number(live)}" + ("" if narrow else " live")))
        if self._filter.newer is not None:
            inks += (Ink("text", "  "), Ink("key", "U ", "new"), Ink("hit", "only new", "new"))
        elif new:
            words = f"+ {figures.number(new)}" + ("" if narrow else " new since your last visit")
            inks += (Ink("text", "  "), Ink("accent", words, "new"))
        return tuple(inks)

    def _hidden(self) -> str:
        if self._totals is None or self._fitting is None:
            return "some"
        return figures.number(self._totals.sessions - self._fitting.value)

    def missing(self) -> Line:
        rows = self._rows
        if rows.reading and not rows.rows:
            return (Ink("quiet", "reading …"),)
        if self._fitting is None:
            return dot(f"{figures.number(len(rows.rows))} read" if rows.rows else "")
        parts = [figures.plural(self._fitting.value, "session") + ("" if self._fitting.exact else " or more")]
        nested = self._shape != "flat" and not self._filtered
        if rows.ordinal is not None and not nested and not self._toggled:
            parts.insert(0, f"{figures.number(rows.ordinal)} of")
            parts = [" ".join(parts)]
        if self._totals is not None:
            parts.append(f"{figures.number(self._totals.unreadable)} unreadable")
            parts.append(f"{figures.number(self._totals.unknown)} unknown")
        if nested and self._tops is not None:
            parts.append(f"{figures.number(self._fitting.value - self._tops)} beneath others")
        parts.append(f"{self._hidden()} hidden" + (" by filter" if self.size.width >= 100 else ""))
        if rows.marked:
            parts.append(f"{len(rows.marked)} marked")
        return dot(*parts)

    def situation(self, now: Situation) -> Situation:
        rows = self._rows
        return replace(
            now,
            row=rows.item is not None,
            loading=rows.reading,
            filtered=self._filtered,
            below=self.node.below if self.node is not None else 0,
            transient=now.transient or self._filtered or bool(rows.marked) or rows.error is not None,
            sortable=True,
            facets=True,
            new=bool(self.console_app.arrivals.touched) or self._filter.newer is not None,
        )

    # the filter

    @property
    def _filtered(self) -> bool:
        return self._filter != SessionFilter()

    @property
    def filter_text(self) -> str:
        return self._filter.text

    def preview(self, text: str) -> None:
        self._filter = replace(self._filter, text=text)
        self.reload()

    def preview_hint(self) -> Line:
        if self._fitting is None or self._totals is None:
            return ()
        fitting, every = figures.number(self._fitting.value), figures.number(self._totals.sessions)
        return dot(f"{fitting} of {every} · {self._hidden()} hidden")

    def filter_parts(self) -> dict[str, Part]:
        return parts_of(self._filter, self._since)

    def use_parts(self, parts: Mapping[str, Part]) -> None:
        self._filter, self._since = from_parts(parts, self.console_app.now())
        self.reload()

    def leave(self) -> bool:
        if self._rows.error is not None:
            self.reload()
            return True
        if self._rows.marked:
            self._rows.unmark()
            return True
        if self._filtered:
            self._filter, self._since = SessionFilter(), "any"
            self.reload()
            return True
        return False

    # actions

    def do_open(self) -> None:
        node = self.node
        if node is not None:
            alone = Outlook(alone=node.lane.lane) if node.lane is not None else None
            self.console_app.go(Place("timeline", session=node.row.uid, state=alone))

    def do_below(self) -> None:
        node = self.node
        if node is not None:
            self._toggled ^= {node.key}
            self.reload(around=node)

    def do_tree(self) -> None:
        self._shape, self._toggled = NEXT[self._shape], frozenset()
        self.reload(around=self.node)
        self.console_app.shell.flash(WORDS[self._shape])

    def do_new(self) -> None:
        newer = self.console_app.arrivals.since if self._filter.newer is None else None
        self._filter = replace(self._filter, newer=newer)
        self.reload()

    def do_sort(self) -> None:
        orders = [
            Choice(f"sort:{name}", words, note="now" if name == self._sort else "", checked=name == self._sort)
            for name, (words, _descending) in SORTS.items()
        ]
        self.app.push_screen(Chooser("Put the sessions in order", orders), self._sorted)

    @on(Bar.Pressed, "#sessions-heading")
    def _heading_clicked(self, event: Bar.Pressed) -> None:
        event.stop()
        self._sorted(event.action)
        self.tell()

    def _sorted(self, choice: str | None) -> None:
        if choice is None:
            return
        name = choice.partition(":")[2]
        self._descending = not self._descending if name == self._sort else SORTS[name][1]
        self._sort = name
        self.reload()

    def do_facets(self) -> None:
        def read(archive: Archive) -> dict[str, list[tuple[str, int]]]:
            return {name: archive.facet(name) for name in ("agent", "project", "check")}

        self.console_app.pool.ask((self, "facets"), read, self._choose_facet, self.console_app.failed)

    def _choose_facet(self, facets: dict[str, list[tuple[str, int]]]) -> None:
        outside = self.console_app.outside
        arrivals = self.console_app.arrivals
        found = choices(facets, self._filter, self._since, outside, arrivals.since if arrivals.touched else None)
        self.app.push_screen(Chooser("Narrow the sessions down", found), self._narrowed)

    def _narrowed(self, choice: str | None) -> None:
        if choice is None:
            return
        self._filter, self._since = narrowed(self._filter, self._since, choice, self.console_app.now())
        self.reload()

    def prepare_copies(self, give: Callable[[Sequence[Copy]], None]) -> None:
        marked = list({node.row.key: node.row for node in self._rows.marked.values()}.values())
        rows = marked or ([self.row] if self.row else [])
        give(session_copies(rows, self.console_app.outside))

    def prepare_text(self, give: Callable[[str], None]) -> None:
        if self.row is not None:
            give(session_text(self.row, self.console_app.outside))
