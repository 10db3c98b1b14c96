"""Gate runs: every recall that was judged, newest first: how much passed, how much was kept back, and why."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TYPE_CHECKING, Any, ClassVar

from textual.app import ComposeResult
from textual.binding import BindingType

from console.actions import Situation
from console.screens.gates.columns import heading, run_line
from console.screens.list_view import ListView
from console.screens.view import Copy, Place, bindings, dot
from console.widgets import figures
from console.widgets.bar import Bar
from console.widgets.chooser import Choice, Chooser
from console.widgets.ink import Ink, Line
from console.widgets.notice import Notice
from console.widgets.safe import Outside
from console.widgets.source import Cursor
from console.widgets.virtual_list import VirtualList
from storage.queries.gate_runs import GateRunFilter, GateRunRow
from storage.queries.models import Page

if TYPE_CHECKING:
    from storage.archive import Archive


@dataclass(frozen=True)
class GateRunSource:
    """Runs of a filter, newest first."""

    filter: GateRunFilter
    outside: Outside
    now: Callable[[], datetime]
    two_way: bool = True

    def load(
        self, archive: Archive, cursor: Cursor | None, direction: Any, inclusive: bool, limit: int
    ) -> Page[GateRunRow]:
        return archive.gate_runs.page(self.filter, cursor=cursor, direction=direction, inclusive=inclusive, limit=limit)

    def key(self, item: GateRunRow) -> Hashable:
        return item.key

    def line(self, item: GateRunRow, room: int) -> Line:
        return run_line(item, room, self.outside, self.now())


class GateRunsView(ListView):
    """See the module."""

    NAME = "gates"
    TITLE = "Gate runs"
    WHAT = "the gate runs"
    BINDINGS: ClassVar[list[BindingType]] = [*bindings("gates")]
    filter_hint = "words of a query, a memory space, a session or an id"

    def __init__(self) -> None:
        super().__init__()
        self._filter = GateRunFilter()
        self._counts: tuple[int, int] | None = None
        """How many fit the filter, and how many there are."""
        self._heading = Bar(id="gates-heading")

    def compose(self) -> ComposeResult:
        yield self._heading
        yield self._list_pane

    @property
    def row(self) -> GateRunRow | None:
        """The run under the cursor."""
        row: GateRunRow | None = self._rows.item
        return row

    # reading

    def arrive(self, place: Place) -> None:  # noqa: ARG002
        if self._rows.source is None or self._rows.error is not None:
            self.reload()
        self.focus_main()

    def grown(self, sessions: frozenset[int]) -> None:  # noqa: ARG002
        if self._rows.cursor == 0 and self._rows.before is None and not self.console_app.shell.prompting:
            self.reload()

    def reload(self) -> None:
        """Read the list from its first row."""
        app, wanted = self.console_app, self._filter
        self._rows.show(GateRunSource(wanted, app.outside, app.now))
        self._say_heading()

        def count(archive: Archive) -> tuple[int, int]:
            every = archive.gate_runs.count().value
            return (every if wanted == GateRunFilter() else archive.gate_runs.count(wanted).value), every

        def counted(counts: tuple[int, int]) -> None:
            self._counts = counts
            self._rows.total = counts[0]
            self._list_pane.settle()
            app.shell.hint(self.preview_hint())
            self.tell()

        app.pool.ask((self, "count"), count, counted, lambda _error: None, slow=True)

    def _say_failed(self, notice: Notice, error: Exception) -> None:
        self.console_app.show_error(notice, "The gate runs could not be read", error)

    def _say_empty(self, notice: Notice) -> None:
        if self._filter == GateRunFilter():
            lines = [
                (Ink("text", "No recall was judged into this store, by Affidavit or by a program that writes to it."),),
                (Ink("text", "affidavit recall QUERY --hits FILE judges what a search of memory found."),),
            ]
            notice.say(Ink("head", "Nothing stored"), lines, (("3", "snapshots"), ("?", "every key")))
        else:
            keys = (("esc", "take the filter away"), ("/", "change it"), ("f", "narrow down otherwise"))
            lines = [(Ink("text", f"{self._hidden()} hidden by the filter."),)]
            notice.say(Ink("head", "No gate run fits"), lines, keys)

    def on_resize(self) -> None:
        self._say_heading()

    def _say_heading(self) -> None:
        width = self.size.width - VirtualList.GUTTER
        self._heading.say((Ink("text", " " * VirtualList.GUTTER), *heading(width - 1)))

    # chrome

    def crumbs(self) -> tuple[Line, Line]:
        return (Ink("accent", "Snapshots", "go.snapshots"), Ink("faint", " ▸ "), Ink("text", "gate runs")), ()

    def second(self) -> tuple[Line, Line]:
        outside = self.console_app.outside
        start: Line = (Ink("key", "/", "filter"), Ink("faint", " filter", "filter"))
        if self._filter.text:
            start = (Ink("key", "/ ", "filter"), Ink("hit", outside.line(self._filter.text, 40), "filter"))
        facets: list[Ink] = []
        for name in ("space", "reason"):
            value = getattr(self._filter, name)
            said = outside.line(value, 20) if value else "any"
            facets += (
                Ink("quiet", f"{name} ▾ ", "facets"), Ink("hit" if value else "text", said, "facets"),
                Ink("text", "   "),
            )  # fmt: skip
        return start, tuple(facets[:-1])

    def _hidden(self) -> str:
        return "some" if self._counts is None else figures.number(self._counts[1] - self._counts[0])

    def missing(self) -> Line:
        rows = self._rows
        if rows.reading and not rows.rows:
            return (Ink("quiet", "reading …"),)
        if self._counts is None:
            return ()
        parts = [figures.plural(self._counts[0], "gate run")]
        if rows.ordinal is not None and rows.rows:
            parts = [f"{figures.number(rows.ordinal)} of {parts[0]}"]
        parts.append(f"{self._hidden()} hidden")
        return dot(*parts)

    @property
    def _filtered(self) -> bool:
        return self._filter != GateRunFilter()

    def situation(self, now: Situation) -> Situation:
        rows = self._rows
        return replace(
            now,
            row=rows.item is not None,
            loading=rows.reading,
            filtered=self._filtered,
            transient=now.transient or self._filtered or bool(rows.marked) or rows.error is not None,
            facets=True,
        )

    # the filter

    @property
    def filter_text(self) -> str:
        return self._filter.text

    def preview(self, text: str) -> None:
        self._filter = replace(self._filter, text=text)
        self.reload()

    def preview_hint(self) -> Line:
        if self._counts is None:
            return ()
        fitting, every = map(figures.number, self._counts)
        return dot(f"{fitting} of {every} · {self._hidden()} hidden")

    def leave(self) -> bool:
        if self._rows.error is not None:
            self.reload()
        elif self._rows.marked:
            self._rows.unmark()
        elif self._filtered:
            self._filter = GateRunFilter()
            self.reload()
        else:
            return False
        return True

    # actions

    def do_open(self) -> None:
        if self.row is not None:
            self.console_app.go(Place("gate", session=self.row.uid))

    def do_gate_runs(self) -> None:
        self.console_app.go(Place("snapshots"))

    def do_facets(self) -> None:
        def read(archive: Archive) -> dict[str, list[tuple[str, int]]]:
            return {name: archive.gate_runs.facet(name) for name in ("space", "reason")}

        self.console_app.pool.ask((self, "facets"), read, self._choose_facet, self.console_app.failed)

    def _choose_facet(self, facets: dict[str, list[tuple[str, int]]]) -> None:
        outside = self.console_app.outside
        choices = [
            Choice(
                f"{name}:{value}", outside.line(value, 50), note=figures.number(count), group=name,
                checked=getattr(self._filter, name) == value,
            )
            for name, values in facets.items()
            for value, count in values
        ]  # fmt: skip
        self.app.push_screen(Chooser("Narrow the gate runs down", choices), self._narrowed)

    def _narrowed(self, choice: str | None) -> None:
        if choice is None:
            return
        name, _, value = choice.partition(":")
        changed: dict[str, Any] = {name: None if getattr(self._filter, name) == value else value}
        self._filter = replace(self._filter, **changed)
        self.reload()

    def prepare_copies(self, give: Callable[[Sequence[Copy]], None]) -> None:
        rows = list(self._rows.marked.values()) or ([self.row] if self.row else [])
        app = self.console_app
        addresses = [f"gate/{row.uid}" for row in rows]
        if addresses:
            give(
                [
                    Copy("address", "address", "\n".join(addresses)),
                    Copy("command", "command that opens it", "\n".join(map(app.services.command, addresses))),
                ]
            )
