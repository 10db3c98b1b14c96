"""Search: the text of every event of every session, newest first, while it is typed."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TYPE_CHECKING, Any, ClassVar

from textual import events, on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal
from textual.timer import Timer
from textual.widgets import Input

from affidavit.session.event import KINDS, event_hex
from console.actions import Situation
from console.finding import Hits
from console.screens.events_view import EventsView
from console.screens.search.lines import hit_line
from console.screens.view import Copy, Place, bindings, dot
from console.widgets import figures
from console.widgets.bar import Bar
from console.widgets.chooser import Choice, Chooser
from console.widgets.ink import Ink, Line
from console.widgets.notice import Notice
from console.widgets.prompt import Typed
from console.widgets.safe import Outside
from console.widgets.source import Cursor
from console.widgets.virtual_list import VirtualList
from storage.queries.models import Hit, Page, Total

if TYPE_CHECKING:
    from console.saved_filters import Part
    from storage.archive import Archive
    from storage.queries.models import SessionRow

REST = 0.12
"""Seconds of rest after a key before what is typed is searched for."""


@dataclass(frozen=True)
class HitSource:
    """Hits for some words, of some kinds. Pages go forward only."""

    text: str
    kinds: frozenset[str] | None
    outside: Outside
    now: Callable[[], datetime]
    two_way: bool = False

    def load(self, archive: Archive, cursor: Cursor | None, direction: Any, inclusive: bool, limit: int) -> Page[Hit]:  # noqa: ARG002
        if not self.text.strip() or direction == "before":
            return Page((), None, None)
        return archive.search(self.text, kinds=self.kinds, cursor=cursor, limit=limit)

    def key(self, item: Hit) -> Hashable:
        return item.key

    def line(self, item: Hit, room: int) -> Line:
        return hit_line(item, room, self.outside, self.now())


@dataclass(frozen=True, slots=True)
class _State:
    text: str
    kinds: frozenset[str] | None


class SearchView(EventsView):
    """See the module."""

    NAME = "search"
    TITLE = "Search"
    WHAT = "what fits"
    BINDINGS: ClassVar[list[BindingType]] = [
        *bindings("search"),
        Binding("tab", "swap", show=False),
    ]

    def __init__(self) -> None:
        super().__init__()
        self._text = ""
        self._kinds: frozenset[str] | None = None
        self._total: Total | None = None
        self._typing: Timer | None = None
        self._line = Typed(placeholder="words to find in every session", id="search-input")
        self._counted = Bar(id="search-count")

    def compose(self) -> ComposeResult:
        with Horizontal(id="search-line"):
            yield Bar(id="search-mark")
            yield self._line
            yield self._counted
        yield from self.body()

    def on_mount(self) -> None:
        self.query_one("#search-mark", Bar).say((Ink("key", " ⌕ "),))

    def event_key(self) -> int | None:
        hit: Hit | None = self._rows.item
        return hit.key if hit is not None else None

    def second(self) -> None:
        """The line to type into stands there."""
        kinds = "any kind" if self._kinds is None else ", ".join(sorted(self._kinds))
        words: list[Ink] = []
        if self._total is not None and self._text.strip():
            more = "" if self._total.exact else " or more"
            words.append(Ink("text", figures.plural(self._total.value, "hit") + more + "   "))
        words += [Ink("quiet", "kind ▾ ", "facets"), Ink("text", kinds[:20], "facets"), Ink("text", " ")]
        self._counted.say((), words)

    def focus_main(self) -> None:
        if self.has_class("-whole"):
            self.pane.focus()
        elif self._rows.rows and self._text.strip():
            super().focus_main()
        else:
            self._type()

    def _type(self) -> None:
        # At once, so that the next key is a letter of the search and not a command.
        self.screen.set_focus(self._line, scroll_visible=False)

    # searching

    def arrive(self, place: Place) -> None:
        if isinstance(place.state, _State) and place.state != _State(self._text, self._kinds):
            self._kinds = place.state.kinds
            with self._line.prevent(Input.Changed):
                self._line.value = place.state.text
            self._search(place.state.text)
        elif self._rows.source is None:
            self._search("")
        self.focus_main()

    def place(self) -> Place:
        return Place("search", state=_State(self._text, self._kinds))

    @on(Input.Changed)
    def _changed(self, event: Input.Changed) -> None:
        event.stop()
        if self._typing is not None:
            self._typing.stop()
        self._typing = self.set_timer(REST, lambda: self._search(self._line.value))

    @on(Input.Submitted)
    def _submitted(self, event: Input.Submitted) -> None:
        event.stop()
        if self._typing is not None:
            self._typing.stop()
        if event.value != self._text:
            self._search(event.value)
        if event.value.strip():
            self._list_pane.rows.display = True
            self._list_pane.notice.display = False
            self._rows.focus()

    def _search(self, text: str) -> None:
        self._text, self._total = text, None
        app = self.console_app
        self.pane.look_for(text.split())
        kinds = self._kinds
        self._rows.show(HitSource(text, kinds, app.outside, app.now))

        def count(archive: Archive) -> Total:
            return archive.count_hits(text, kinds=kinds) if text.strip() else Total(0, True)

        def counted(total: Total) -> None:
            self._total = total
            self.tell()

        app.pool.ask((self, "count"), count, counted, lambda _error: None, slow=True)
        self.tell()

    @on(VirtualList.Moved)
    def _moved(self) -> None:
        hit: Hit | None = self._rows.item
        if hit is not None:
            self.pane.follow(hit.key, None, {})
        else:
            self.pane.say(())

    def _say_failed(self, notice: Notice, error: Exception) -> None:
        self.console_app.show_error(notice, "The search could not be made", error)

    def _say_empty(self, notice: Notice) -> None:
        if self._text.strip():
            said = self.console_app.outside.line(self._text.strip(), 60)
            keys = [("tab", "back to the words"), ("facets", "search every kind"), ("leave", "begin again")]
            lines = [(Ink("text", "Words are taken as they stand; all of them must occur."),)]
            notice.say(Ink("head", f"Nothing says “{said}”"), lines, keys)
        else:
            lines = [
                (Ink("text", "Type words. Every event of every session that holds all of them is found,"),),
                (Ink("text", "newest first; nothing in them is an operator."),),
            ]
            keys = [
                ("open", "go to the hits"),
                ("tab", "between words and hits"),
                ("hit.next", "next hit, also in the timeline"),
                ("hit.previous", "previous hit"),
            ]
            notice.say(Ink("head", "Search every session"), lines, keys)

    # chrome

    def missing(self) -> Line:
        rows = self._rows
        if rows.reading and not rows.rows:
            return (Ink("quiet", "searching …"),)
        if not self._text.strip():
            return ()
        parts = [f"hit {figures.number(rows.cursor + 1)}" if rows.rows else ""]
        if self._total is not None:
            more = "" if self._total.exact else " or more"
            parts.append(f"{figures.number(len(rows.rows))} of {figures.number(self._total.value)}{more} read")
        if self._kinds is not None:
            parts.append("other kinds hidden by filter")
        return dot(*parts)

    def situation(self, now: Situation) -> Situation:
        rows = self._rows
        return replace(
            now,
            row=rows.item is not None,
            loading=rows.reading,
            filtered=bool(self._text.strip()),
            transient=now.transient or bool(self._text) or self._kinds is not None or self.has_class("-whole"),
            facets=True,
        )

    # actions

    def action_swap(self) -> None:
        """Go from the words to the hits, to the event, and back."""
        if self._line.has_focus and self._rows.rows:
            self._rows.focus()
        elif self._rows.has_focus and not self.has_class("-whole"):
            self.pane.focus()
        else:
            self._type()

    def on_key(self, event: events.Key) -> None:
        if event.key in ("down", "up") and self._line.has_focus:
            event.stop()
            event.prevent_default()
            if self._rows.rows:
                self._rows.focus()

    def do_filter(self) -> None:
        self._type()

    def do_open(self) -> None:
        rows = self._rows
        hit = rows.item
        if hit is not None:
            self.console_app.finding.hits = Hits(self._text, rows.rows, rows.cursor)
            self.console_app.go(Place("timeline", session=hit.session_uid, event=event_hex(hit.id)))

    def do_facets(self) -> None:
        choices = [Choice(kind, kind, checked=self._kinds == frozenset({kind})) for kind in KINDS]
        self.app.push_screen(Chooser("Search only", choices), self._narrowed)

    def _narrowed(self, kind: str | None) -> None:
        if kind is not None:
            one = frozenset({kind})
            self._kinds = None if self._kinds == one else one
            self._search(self._text)

    def filter_parts(self) -> dict[str, Part]:
        parts: dict[str, Part] = {"text": self._text} if self._text.strip() else {}
        if self._kinds is not None:
            parts["kinds"] = tuple(sorted(self._kinds))
        return parts

    def use_parts(self, parts: Mapping[str, Part]) -> None:
        kinds = parts.get("kinds")
        self._kinds = frozenset(kinds) if isinstance(kinds, tuple) else None
        with self._line.prevent(Input.Changed):
            self._line.value = str(parts.get("text", ""))
        self._search(self._line.value)

    def leave(self) -> bool:
        if self._rows.error is not None:
            self._search(self._text)
        elif self._line.has_focus and self._rows.rows:
            self._rows.focus()
        elif self._kinds is not None or self._text:
            self._kinds = None
            with self._line.prevent(Input.Changed):
                self._line.value = ""
            self._search("")
            self._type()
        else:
            return False
        return True

    def prepare_copies(self, give: Callable[[Sequence[Copy]], None]) -> None:
        hits = list(self._rows.marked.values()) or ([self._rows.item] if self._rows.item else [])

        def find(archive: Archive) -> tuple[SessionRow, Sequence[int]]:
            session = archive.session(archive.event(hits[0].key).session)
            return session, [hit.key for hit in hits if hit.session_uid == session.uid]

        if hits:
            self.offer_copies(give, find)
