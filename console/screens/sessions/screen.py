"""Sessions: every session of the store, newest first, one line each."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import BindingType

from console.actions import Situation
from console.screens.list_view import ListView
from console.screens.sessions.columns import AGENTS, heading, project, session_line
from console.screens.view import Copy, Place, bindings, dot
from console.widgets import figures
from console.widgets.bar import Bar
from console.widgets.chooser import Choice, Chooser
from console.widgets.ink import Ink, Line
from console.widgets.notice import Notice
from console.widgets.safe import Outside
from console.widgets.source import Cursor
from console.widgets.virtual_list import VirtualList
from storage.archive import SessionFilter
from storage.queries.models import Page, SessionRow, StoreTotals, Total

if TYPE_CHECKING:
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
SINCE = {"today": 0, "7 days": 7, "30 days": 30, "a year": 365}


@dataclass(frozen=True)
class SessionSource:
    """Sessions in one order under one filter."""

    filter: SessionFilter
    sort: Any
    descending: bool
    outside: Outside
    now: Callable[[], datetime]
    broken: Callable[[str], str] = lambda _uid: ""
    """What the last verification found wrong with a session, by its uid, in two words."""
    two_way: bool = True

    def load(
        self, archive: Archive, cursor: Cursor | None, direction: Any, inclusive: bool, limit: int
    ) -> Page[SessionRow]:
        return archive.sessions(
            self.filter,
            sort=self.sort,
            descending=self.descending,
            cursor=cursor,
            direction=direction,
            inclusive=inclusive,
            limit=limit,
        )

    def key(self, item: SessionRow) -> Hashable:
        return item.key

    def line(self, item: SessionRow, room: int) -> Line:
        return session_line(item, room, self.outside, self.now(), self.broken(item.uid))


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
        self._more = False
        """Sessions have come in that the list does not show yet."""
        self._totals: StoreTotals | None = None
        self._fitting: Total | None = None
        self._heading = Bar(id="sessions-heading")

    def compose(self) -> ComposeResult:
        yield self._heading
        yield self._list_pane

    @property
    def row(self) -> SessionRow | None:
        """The session under the cursor."""
        item: SessionRow | None = self._rows.item
        return item

    # reading

    def arrive(self, place: Place) -> None:  # noqa: ARG002
        if self._rows.source is None or self._rows.error is not None:
            self.reload()
        self.focus_main()

    def judged(self) -> None:
        self._rows.redraw()

    def grown(self) -> None:
        if self._rows.cursor == 0 and self._rows.before is None and not self.console_app.shell.prompting:
            self.reload()
        else:
            self._more = True
            self._count()

    def do_first(self) -> None:
        if self._more:
            self.reload()
        else:
            self._rows.do_first()

    def reload(self) -> None:
        """Read the list from its first row."""
        self._more = False
        app = self.console_app
        source = SessionSource(
            self._filter, self._sort, self._descending, app.outside, app.now, app.standing.in_session
        )
        self._rows.show(source)
        self._say_heading()
        self._count()

    def _count(self) -> None:
        wanted = self._filter

        def count(archive: Archive) -> tuple[StoreTotals, Total]:
            totals = archive.totals()
            everything = Total(totals.sessions, True)
            return totals, everything if wanted == SessionFilter() else archive.count_sessions(wanted)

        def counted(found: tuple[StoreTotals, Total]) -> None:
            self._totals, self._fitting = found
            self._rows.total = found[1].value
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
            notice.say(Ink("head", "This store holds no sessions yet"), (), (("i", "import some"), ("?", "every key")))
        else:
            keys = (("esc", "take the filter away"), ("/", "change it"), ("f", "narrow down otherwise"))
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
        return start, tuple(facets[:-1])

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
        if rows.ordinal is not None:
            parts.insert(0, f"{figures.number(rows.ordinal)} of")
            parts = [" ".join(parts)]
        if self._totals is not None:
            parts.append(f"{figures.number(self._totals.unreadable)} unreadable")
            parts.append(f"{figures.number(self._totals.unknown)} unknown")
        parts.append(f"{self._hidden()} hidden" + (" by filter" if self.size.width >= 100 else ""))
        if rows.marked:
            parts.append(f"{len(rows.marked)} marked")
        if self._more:
            return (*dot(*parts), Ink("person", " · more has come in: g shows it"))
        return dot(*parts)

    def situation(self, now: Situation) -> Situation:
        rows = self._rows
        return replace(
            now,
            row=rows.item is not None,
            loading=rows.reading,
            filtered=self._filter != SessionFilter(),
            transient=now.transient or self._filter != SessionFilter() or bool(rows.marked) or rows.error is not None,
            sortable=True,
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
        if self._fitting is None or self._totals is None:
            return ()
        fitting, every = figures.number(self._fitting.value), figures.number(self._totals.sessions)
        return dot(f"{fitting} of {every} · {self._hidden()} hidden")

    def leave(self) -> bool:
        if self._rows.error is not None:
            self.reload()
            return True
        if self._rows.marked:
            self._rows.unmark()
            return True
        if self._filter != SessionFilter():
            self._filter, self._since = SessionFilter(), "any"
            self.reload()
            return True
        return False

    # actions

    def do_open(self) -> None:
        if self.row is not None:
            self.console_app.go(Place("timeline", session=self.row.uid))

    def do_sort(self) -> None:
        choices = [
            Choice(f"sort:{name}", words, note="now" if name == self._sort else "", checked=name == self._sort)
            for name, (words, _descending) in SORTS.items()
        ]
        self.app.push_screen(Chooser("Put the sessions in order", choices), self._sorted)

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
        now = {"agent": self._filter.agent, "project": self._filter.project, "check": self._filter.check}
        choices = [
            Choice(
                f"{name}:{value}",
                AGENTS.get(value) or outside.line(value, 60) or "(empty)",
                note=figures.plural(count, "session"),
                group=name,
                checked=now[name] == value,
            )
            for name, values in facets.items()
            for value, count in values
        ]
        choices += [Choice(f"since:{words}", words, group="since", checked=self._since == words) for words in SINCE]
        choices.append(Choice("problems:", "only with problems", group="problems", checked=self._filter.problems_only))
        self.app.push_screen(Chooser("Narrow the sessions down", choices), self._narrowed)

    def _narrowed(self, choice: str | None) -> None:
        if choice is None:
            return
        name, _, value = choice.partition(":")
        kept = self._filter
        if name == "since":
            self._since = "any" if self._since == value else value
            kept = replace(kept, since=None if self._since == "any" else self._start_of(SINCE[value]))
        elif name == "problems":
            kept = replace(kept, problems_only=not kept.problems_only)
        elif name == "agent":
            kept = replace(kept, agent=None if kept.agent == value else value)
        elif name == "project":
            kept = replace(kept, project=None if kept.project == value else value)
        else:
            kept = replace(kept, check=None if kept.check == value else value)
        self._filter = kept
        self.reload()

    def _start_of(self, days: int) -> int:
        today = self.console_app.now().astimezone(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
        return int((today - timedelta(days=days)).timestamp()) * 1_000_000

    def prepare_copies(self, give: Callable[[Sequence[Copy]], None]) -> None:
        rows = list(self._rows.marked.values()) or ([self.row] if self.row else [])
        give(session_copies(rows, self.console_app.outside))

    def prepare_text(self, give: Callable[[str], None]) -> None:
        if self.row is not None:
            give(session_text(self.row, self.console_app.outside))


def session_text(row: SessionRow, outside: Outside) -> str:
    """Everything the list knows of a session, one fact a line."""
    tokens = row.tokens
    facts = [
        ("title", outside.line(row.title)),
        ("address", f"session/{row.uid}"),
        ("native id", outside.line(row.native)),
        ("agent", f"{AGENTS.get(row.agent) or outside.line(row.agent)} {outside.line(row.version)}".strip()),
        ("project", outside.line(project(row))),
        ("folder", outside.line(row.cwd)),
        ("git branch", outside.line(row.git_branch)),
        ("time", figures.span(row.started, row.ended)),
        ("turns", str(row.turns)),
        ("events", str(row.events)),
        ("lanes", str(row.lanes)),
        ("branches", str(row.branches)),
        ("tokens", f"in {tokens.input}, out {tokens.output}, cache {tokens.cache_read} / {tokens.cache_write}"),
        ("models", outside.line(", ".join(row.models))),
        ("check", row.check or "none"),
        ("problems", str(row.problems)),
        ("unreadable", str(row.unreadable)),
        ("unknown", str(row.unknown)),
        ("duplicates", str(row.duplicates)),
        ("files", "replaced or cut since they were first read" if "superseded" in row.flags else "as first read"),
    ]
    return "\n".join(f"{name:<11}{value}" for name, value in facts)


def session_copies(rows: list[SessionRow], outside: Outside) -> list[Copy]:
    """What can be copied of sessions."""
    import json
    import shlex

    if not rows:
        return []
    addresses = [f"session/{row.uid}" for row in rows]
    told = [
        {
            "id": row.uid,
            "agent": row.agent,
            "title": outside.line(row.title),
            "project": outside.line(project(row)),
            "startedAt": figures.iso(row.started),
            "endedAt": figures.iso(row.ended),
            "events": row.events,
            "turns": row.turns,
        }
        for row in rows
    ]
    return [
        Copy("address", "address", "\n".join(addresses)),
        Copy("command", "command that opens it", "\n".join(shlex.join(["affidavit", name]) for name in addresses)),
        Copy("text", "title", "\n".join(outside.line(row.title) for row in rows)),
        Copy("json", "JSON", json.dumps(told if len(told) > 1 else told[0], ensure_ascii=False, indent=2)),
    ]
