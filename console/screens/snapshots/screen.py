"""Snapshots: every retrieval that was recorded, newest first: what was found, what was left out, what was seen."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TYPE_CHECKING, Any, ClassVar

from textual.app import ComposeResult
from textual.binding import BindingType

from console.actions import Situation
from console.screens.list_view import ListView
from console.screens.snapshots.columns import HASHES, heading, snapshot_line
from console.screens.view import Copy, Place, bindings, dot
from console.widgets import figures
from console.widgets.bar import Bar
from console.widgets.chooser import Choice, Chooser
from console.widgets.ink import Ink, Line
from console.widgets.notice import Notice
from console.widgets.safe import Outside
from console.widgets.source import Cursor
from console.widgets.virtual_list import VirtualList
from storage.queries.models import Page
from storage.queries.snapshots import FACETS, SnapshotFilter, SnapshotRow

if TYPE_CHECKING:
    from storage.archive import Archive


@dataclass(frozen=True)
class SnapshotSource:
    """Snapshots of a filter, newest first."""

    filter: SnapshotFilter
    outside: Outside
    now: Callable[[], datetime]
    two_way: bool = True

    def load(
        self, archive: Archive, cursor: Cursor | None, direction: Any, inclusive: bool, limit: int
    ) -> Page[SnapshotRow]:
        return archive.snapshots.page(self.filter, cursor=cursor, direction=direction, inclusive=inclusive, limit=limit)

    def key(self, item: SnapshotRow) -> Hashable:
        return item.key

    def line(self, item: SnapshotRow, room: int) -> Line:
        return snapshot_line(item, room, self.outside, self.now())


class SnapshotsView(ListView):
    """See the module."""

    NAME = "snapshots"
    TITLE = "Snapshots"
    WHAT = "the snapshots"
    BINDINGS: ClassVar[list[BindingType]] = [*bindings("snapshots")]
    filter_hint = "words of a question, a purpose, a session or an id"

    def __init__(self) -> None:
        super().__init__()
        self._filter = SnapshotFilter()
        self._counts: tuple[int, int] | None = None
        """How many fit the filter, and how many there are."""
        self._heading = Bar(id="snapshots-heading")

    def compose(self) -> ComposeResult:
        yield self._heading
        yield self._list_pane

    @property
    def row(self) -> SnapshotRow | None:
        """The snapshot under the cursor."""
        row: SnapshotRow | None = self._rows.item
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
        self._rows.show(SnapshotSource(wanted, app.outside, app.now))
        self._say_heading()

        def count(archive: Archive) -> tuple[int, int]:
            every = archive.snapshots.count().value
            return (every if wanted == SnapshotFilter() else archive.snapshots.count(wanted).value), every

        def counted(counts: tuple[int, int]) -> None:
            self._counts = counts
            self._rows.total = counts[0]
            self._list_pane.settle()
            app.shell.hint(self.preview_hint())
            self.tell()

        app.pool.ask((self, "count"), count, counted, lambda _error: None, slow=True)

    def _say_failed(self, notice: Notice, error: Exception) -> None:
        self.console_app.show_error(notice, "The snapshots could not be read", error)

    def _say_empty(self, notice: Notice) -> None:
        if self._filter == SnapshotFilter():
            lines = [
                (
                    Ink(
                        "text",
                        "No retrieval was recorded in this store, by Affidavit or by a program that writes to it.",
                    ),
                ),
                (Ink("text", "What searches and reads put before the model of any session stands in its timeline:"),),
                (Ink("text", "i on a row shows what the model saw there."),),
            ]
            notice.say(Ink("head", "Nothing stored"), lines, (("2", "sessions"), ("?", "every key")))
        else:
            keys = (("esc", "take the filter away"), ("/", "change it"), ("f", "narrow down otherwise"))
            notice.say(
                Ink("head", "No snapshot fits"), [(Ink("text", f"{self._hidden()} hidden by the filter."),)], keys
            )

    def on_resize(self) -> None:
        self._say_heading()

    def _say_heading(self) -> None:
        width = self.size.width - VirtualList.GUTTER
        self._heading.say((Ink("text", " " * VirtualList.GUTTER), *heading(width - 1)))

    # chrome

    def second(self) -> tuple[Line, Line]:
        text = self._filter.text
        start: Line = (Ink("key", "/", "filter"), Ink("faint", " filter", "filter"))
        if text:
            start = (Ink("key", "/ ", "filter"), Ink("hit", self.console_app.outside.line(text, 40), "filter"))
        facets: list[Ink] = []
        for name in FACETS:
            value = getattr(self._filter, name)
            said = self.console_app.outside.line(value, 20) if value else "any"
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
        parts = [figures.plural(self._counts[0], "snapshot")]
        if rows.ordinal is not None and rows.rows:
            parts = [f"{figures.number(rows.ordinal)} of {parts[0]}"]
        parts.append(f"{self._hidden()} hidden")
        if rows.marked:
            parts.append(f"{len(rows.marked)} marked")
        return dot(*parts)

    @property
    def _filtered(self) -> bool:
        return self._filter != SnapshotFilter()

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
            self._filter = SnapshotFilter()
            self.reload()
        else:
            return False
        return True

    # actions

    def do_open(self) -> None:
        if self.row is not None:
            self.console_app.go(Place("snapshot", session=self.row.uid))

    def do_gate_runs(self) -> None:
        self.console_app.go(Place("gates"))

    def do_facets(self) -> None:
        def read(archive: Archive) -> dict[str, list[tuple[str, int]]]:
            return {name: archive.snapshots.facet(name) for name in FACETS}

        self.console_app.pool.ask((self, "facets"), read, self._choose_facet, self.console_app.failed)

    def _choose_facet(self, facets: dict[str, list[tuple[str, int]]]) -> None:
        outside = self.console_app.outside
        choices = []
        for name, values in facets.items():
            on = getattr(self._filter, name)
            for value, count in values:
                word = HASHES[value].text if name == "verdict" and value in HASHES else outside.line(value, 50)
                choices.append(
                    Choice(f"{name}:{value}", word, note=figures.number(count), group=name, checked=on == value)
                )
        self.app.push_screen(Chooser("Narrow the snapshots down", choices), self._narrowed)

    def _narrowed(self, choice: str | None) -> None:
        if choice is None:
            return
        name, _, value = choice.partition(":")
        now = getattr(self._filter, name)
        changed: dict[str, Any] = {name: None if now == value else value}
        self._filter = replace(self._filter, **changed)
        self.reload()

    def prepare_copies(self, give: Callable[[Sequence[Copy]], None]) -> None:
        rows = list(self._rows.marked.values()) or ([self.row] if self.row else [])
        app = self.console_app
        addresses = [f"snapshot/{row.uid}" for row in rows]
        if addresses:
            give(
                [
                    Copy("address", "address", "\n".join(addresses)),
                    Copy("command", "command that opens it", "\n".join(map(app.services.command, addresses))),
                    Copy("id", "id as it was recorded", "\n".join(app.outside.line(row.id) for row in rows)),
                ]
            )
