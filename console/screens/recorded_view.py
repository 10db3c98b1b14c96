"""What lists of recorded things share: newest first, filtered by words, narrowed down by what rows have in common."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TYPE_CHECKING, Any, ClassVar, Protocol

from textual.app import ComposeResult

from console.actions import Situation
from console.screens.list_view import ListView
from console.screens.view import Copy, Place, dot
from console.widgets import figures
from console.widgets.bar import Bar
from console.widgets.chooser import Choice, Chooser
from console.widgets.columns import Column, names
from console.widgets.ink import Ink, Line
from console.widgets.notice import Notice
from console.widgets.safe import Outside
from console.widgets.source import Cursor
from console.widgets.virtual_list import VirtualList
from storage.queries.models import Page, Total

if TYPE_CHECKING:
    from storage.archive import Archive


class Kept(Protocol):
    """What a store knows of recorded things of one kind; see ``storage.queries.snapshots.Snapshots``."""

    def page(
        self, filter: Any, *, cursor: Any = None, direction: Any = "after", inclusive: bool = False, limit: int = 100
    ) -> Page[Any]: ...
    def count(self, filter: Any = ..., /) -> Total: ...
    def facet(self, name: str) -> list[tuple[str, int]]: ...


@dataclass(frozen=True)
class RecordedSource:
    """Recorded things of a filter, newest first; ``kept`` finds them in an archive, ``draw`` makes a row a line."""

    kept: Callable[[Archive], Kept]
    filter: Any
    draw: Callable[[Any, int, Outside, datetime], Line]
    outside: Outside
    now: Callable[[], datetime]
    two_way: bool = True

    def load(self, archive: Archive, cursor: Cursor | None, direction: Any, inclusive: bool, limit: int) -> Page[Any]:
        return self.kept(archive).page(
            self.filter, cursor=cursor, direction=direction, inclusive=inclusive, limit=limit
        )

    def key(self, item: Any) -> int:
        key: int = item.key
        return key

    def line(self, item: Any, room: int) -> Line:
        return self.draw(item, room, self.outside, self.now())


class RecordedView(ListView):
    """A list of recorded things. ``EVERYTHING`` is its filter without any wish, ``FACETS`` fields of the filter that it
    is narrowed down by, ``THING`` what one is called, ``OPENS`` the view that shows one, ``COLUMNS`` its columns."""

    EVERYTHING: ClassVar[Any]
    FACETS: ClassVar[Sequence[str]]
    THING: ClassVar[str]
    OPENS: ClassVar[str]
    COLUMNS: ClassVar[Sequence[Column]]

    def __init__(self) -> None:
        super().__init__()
        self._filter = self.EVERYTHING
        self._counts: tuple[int, int] | None = None
        """How many fit the filter, and how many there are."""
        self._heading = Bar(id=f"{self.NAME}-heading")

    def compose(self) -> ComposeResult:
        yield self._heading
        yield self._list_pane

    # what the lists differ in

    def kept(self, archive: Archive) -> Kept:
        """Where the things are found."""
        raise NotImplementedError

    def draw(self, row: Any, room: int, outside: Outside, now: datetime) -> Line:
        """One row as a line."""
        raise NotImplementedError

    def facet_word(self, name: str, value: str) -> str:  # noqa: ARG002
        """How a value that the list is narrowed down by is said."""
        return self.console_app.outside.line(value, 50)

    def say_nothing_stored(self, notice: Notice) -> None:
        """Say that the store holds none of these, and where else to look."""
        raise NotImplementedError

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
        self._rows.show(RecordedSource(self.kept, wanted, self.draw, app.outside, app.now))
        self._say_heading()

        def count(archive: Archive) -> tuple[int, int]:
            kept = self.kept(archive)
            every = kept.count().value
            return (every if wanted == self.EVERYTHING else kept.count(wanted).value), every

        def counted(counts: tuple[int, int]) -> None:
            self._counts = counts
            self._rows.total = counts[0]
            self._list_pane.settle()
            app.shell.hint(self.preview_hint())
            self.tell()

        app.pool.ask((self, "count"), count, counted, lambda _error: None, slow=True)

    def _say_failed(self, notice: Notice, error: Exception) -> None:
        self.console_app.show_error(notice, f"The {self.THING}s could not be read", error)

    def _say_empty(self, notice: Notice) -> None:
        if not self._filtered:
            self.say_nothing_stored(notice)
            return
        keys = (("esc", "take the filter away"), ("/", "change it"), ("f", "narrow down otherwise"))
        lines = [(Ink("text", f"{self._hidden()} hidden by the filter."),)]
        notice.say(Ink("head", f"No {self.THING} fits"), lines, keys)

    def on_resize(self) -> None:
        self._say_heading()

    def _say_heading(self) -> None:
        width = self.size.width - VirtualList.GUTTER
        self._heading.say((Ink("text", " " * VirtualList.GUTTER), *names(self.COLUMNS, width - 1)))

    # chrome

    def second(self) -> tuple[Line, Line]:
        outside = self.console_app.outside
        start: Line = (Ink("key", "/", "filter"), Ink("faint", " filter", "filter"))
        if self._filter.text:
            start = (Ink("key", "/ ", "filter"), Ink("hit", outside.line(self._filter.text, 40), "filter"))
        facets: list[Ink] = []
        for name in self.FACETS:
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
        parts = [figures.plural(self._counts[0], self.THING)]
        if rows.ordinal is not None and rows.rows:
            parts = [f"{figures.number(rows.ordinal)} of {parts[0]}"]
        parts.append(f"{self._hidden()} hidden")
        if rows.marked:
            parts.append(f"{len(rows.marked)} marked")
        return dot(*parts)

    @property
    def _filtered(self) -> bool:
        filtered: bool = self._filter != self.EVERYTHING
        return filtered

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
        text: str = self._filter.text
        return text

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
            self._filter = self.EVERYTHING
            self.reload()
        else:
            return False
        return True

    # actions

    def do_open(self) -> None:
        if self._rows.item is not None:
            self.console_app.go(Place(self.OPENS, session=self._rows.item.uid))

    def do_facets(self) -> None:
        def read(archive: Archive) -> dict[str, list[tuple[str, int]]]:
            kept = self.kept(archive)
            return {name: kept.facet(name) for name in self.FACETS}

        self.console_app.pool.ask((self, "facets"), read, self._choose_facet, self.console_app.failed)

    def _choose_facet(self, facets: dict[str, list[tuple[str, int]]]) -> None:
        choices = [
            Choice(
                f"{name}:{value}", self.facet_word(name, value), note=figures.number(count), group=name,
                checked=getattr(self._filter, name) == value,
            )
            for name, values in facets.items()
            for value, count in values
        ]  # fmt: skip
        self.app.push_screen(Chooser(f"Narrow the {self.THING}s down", choices), self._narrowed)

    def _narrowed(self, choice: str | None) -> None:
        if choice is None:
            return
        name, _, value = choice.partition(":")
        changed: dict[str, Any] = {name: None if getattr(self._filter, name) == value else value}
        self._filter = replace(self._filter, **changed)
        self.reload()

    def prepare_copies(self, give: Callable[[Sequence[Copy]], None]) -> None:
        item, app = self._rows.item, self.console_app
        rows = list(self._rows.marked.values()) or ([item] if item is not None else [])
        addresses = [f"{self.OPENS}/{row.uid}" for row in rows]
        if addresses:
            give(
                [
                    Copy("address", "address", "\n".join(addresses)),
                    Copy("command", "command that opens it", "\n".join(map(app.services.command, addresses))),
                    Copy("id", "id as it was recorded", "\n".join(app.outside.line(row.id) for row in rows)),
                ]
            )
