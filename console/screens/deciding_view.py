"""What views share in which people decide: a thing drawn whole, a reason, a decision bound to what was drawn."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from textual import on
from textual.app import ComposeResult
from textual.containers import Container

from console.actions import Situation
from console.screens.list_view import ListView
from console.screens.view import Place
from console.services import Asked, Decided
from console.widgets.bar import Bar
from console.widgets.ink import Ink, Line
from console.widgets.source import Source
from console.widgets.text_view import TextView
from console.widgets.virtual_list import VirtualList
from storage.queries.governed import GovernedFilter

if TYPE_CHECKING:
    from storage.archive import Archive


@dataclass(frozen=True, slots=True)
class Shown:
    """A thing as it was drawn: its id, and the digest of what of it stands on the screen."""

    id: str
    hash: str


class DecidingView(ListView):
    """See the module. A key acts only on what is drawn; nothing is decided without a reason."""

    def __init__(self) -> None:
        super().__init__()
        self.text = TextView(id=f"{self.NAME}-text")
        self._shown: Shown | None = None
        self._asked: Asked | None = None
        self._wants = ""
        """What the line that is typed answers: ``content``, ``scope``, ``confirm`` or ``reason``."""
        self._last: str | None = None
        """The decision that ``undo`` takes back."""
        self._filter = self.EVERYTHING
        self._count: int | None = None
        self._return_to = 0
        """The row the cursor goes back to once the list was read anew."""
        self._heading = Bar(id=f"{self.NAME}-heading")

    EVERYTHING = GovernedFilter()
    """The list without a filter of the person's own."""

    def compose(self) -> ComposeResult:
        yield self._heading
        with Container(id=f"{self.NAME}-body"):
            yield self._list_pane
            yield self.text

    # what the views differ in

    def source(self, filter: GovernedFilter) -> Source[Any]:
        """Where the rows of a filter come from."""
        raise NotImplementedError

    def counted(self, archive: Archive, filter: GovernedFilter) -> int:
        """How many rows a filter leaves. Runs in a reading thread."""
        raise NotImplementedError

    def heading(self, room: int) -> Line:
        """The names of the columns in so many cells."""
        raise NotImplementedError

    def reading(self) -> Callable[[Archive], Any] | None:
        """What reads the thing under the cursor whole, in a reading thread; ``None``: nothing stands there."""
        raise NotImplementedError

    def drawn(self, whole: Any) -> Shown | None:
        """Draw a thing that was read, and say what of it stands on the screen; ``None``: nothing to decide about."""
        raise NotImplementedError

    @property
    def now_shown(self) -> Shown | None:
        """What is drawn whole, of the row under the cursor."""
        return self._shown

    # reading

    def arrive(self, place: Place) -> None:  # noqa: ARG002
        self.reload()
        self.focus_main()

    def grown(self, sessions: frozenset[int]) -> None:  # noqa: ARG002
        if not self.console_app.shell.prompting:
            self.reload()

    def reload(self) -> None:
        """Read the list anew, the cursor staying where it is."""
        app, wanted = self.console_app, self._filter
        self._shown, self._return_to = None, self._rows.cursor
        self._rows.show(self.source(wanted))
        self._say_heading()

        def done(count: int) -> None:
            self._count = self._rows.total = count
            self._list_pane.settle()
            app.shell.hint(self.preview_hint())
            self.tell()

        app.pool.ask(
            (self, "count"), lambda archive: self.counted(archive, wanted), done, lambda _error: None, slow=True
        )

    def on_resize(self) -> None:
        self.call_after_refresh(self._say_heading)

    def _say_heading(self) -> None:
        room = self._rows.size.width - VirtualList.GUTTER
        self._heading.say((Ink("text", " " * VirtualList.GUTTER), *self.heading(max(room - 1, 20))))

    @on(VirtualList.Changed)
    def _changed(self) -> None:
        if self._return_to and self._rows.rows and not self._rows.reading:
            to, self._return_to = min(self._return_to, len(self._rows.rows) - 1), 0
            self._rows.move(to)

    @on(VirtualList.Moved)
    def _moved(self) -> None:
        self._shown = None
        read, item, rows = self.reading(), self._rows.item, self._rows
        if read is None:
            self.text.show((), ())
            return

        def show(whole: Any) -> None:
            if rows.item is not None and rows.source is not None and rows.source.key(rows.item) == key:
                self._shown = self.drawn(whole)
                self.tell()

        key = rows.source.key(item) if rows.source is not None else None
        self.console_app.pool.ask((self, "whole"), read, show, self.console_app.failed)

    # the filter

    @property
    def filtered(self) -> bool:
        """Whether the person narrowed the list down."""
        return self._filter != self.EVERYTHING

    @property
    def filter_text(self) -> str:
        return self._filter.text

    def preview(self, text: str) -> None:
        self._filter = replace(self._filter, text=text)
        self.reload()

    def preview_hint(self) -> Line:
        return () if self._count is None else (Ink("quiet", f"{self._count} fit"),)

    def situation(self, now: Situation) -> Situation:
        rows = self._rows
        return replace(
            now,
            row=rows.item is not None,
            loading=rows.reading or (rows.item is not None and self._shown is None),
            undoable=self._last is not None,
            filtered=self.filtered,
            transient=now.transient or self.has_class("-whole") or self.filtered,
        )

    # asking

    def decide(self, verb: str, **given: Any) -> None:
        """Begin a decision about what is drawn: ask for what it needs, the reason last."""
        if self._shown is None:
            self.console_app.shell.flash("it is still being read; nothing was decided", "person")
            return
        self._asked = Asked(verb, self._shown.id, "", self._shown.hash, **given)
        needs = {"rewrite": "content", "rescope": "scope", "forget": "confirm"}.get(verb, "reason")
        self._want(needs)

    def _want(self, what: str) -> None:
        assert self._asked is not None
        self._wants = what
        short = self._asked.object[:8]
        label, value, hint = {
            "content": (f"rewrite {short} as: ", self.words(), "its new words"),
            "scope": (f"rescope {short} to: ", self.scope(), "LEVEL:KEY, such as repo:acme/app"),
            "confirm": (f"forget {short} for good: type its id: ", "", self._asked.object),
            "reason": (f"{self._asked.verb} {short}, because: ", "", "why; it is kept with the decision"),
        }[what]
        self.console_app.shell.ask("decide", label, value, hint)

    def words(self) -> str:
        """What the thing drawn says, to begin a rewrite from."""
        return ""

    def scope(self) -> str:
        """Where the thing drawn applies, to begin a rescope from."""
        return ""

    def answered(self, value: str) -> None:
        asked, shell = self._asked, self.console_app.shell
        if asked is None:
            return
        value = value.strip()
        if self._wants == "confirm":
            if value != asked.object:
                shell.flash("that is not its id; nothing was forgotten", "person")
                self._asked = None
                return
        elif not value:
            self._asked = None
            shell.flash("nothing was decided: a reason is needed", "person")
            return
        elif self._wants == "content":
            self._asked = replace(asked, content=value)
        elif self._wants == "scope":
            self._asked = replace(asked, scope=value)
        else:
            self._carry_out(replace(asked, reason=value))
            return
        self.call_after_refresh(self._want, "reason")

    def _carry_out(self, asked: Asked) -> None:
        self._asked = None
        app = self.console_app
        app.shell.flash(f"{asked.verb} …")

        def done(decided: Decided) -> None:
            if decided.refused is not None:
                app.shell.flash(f"✗ {decided.words}", "fails")
            else:
                self._last = None if asked.verb == "undo" else decided.decision or self._last
                undo = (
                    " · u takes it back" if decided.decision and asked.verb not in ("claim", "release", "undo") else ""
                )
                app.shell.flash(f"✓ {decided.words}{undo}", "holds")
            self.reload()

        services = app.services
        app.pool.ask((self, "decide", asked), lambda _archive: services.decide(asked), done, app.failed, slow=True)

    # verbs that views share

    def do_rewrite(self) -> None:
        self.decide("rewrite")

    def do_rescope(self) -> None:
        self.decide("rescope")

    def do_forget(self) -> None:
        self.decide("forget")

    def do_claim(self) -> None:
        if self._shown is not None:
            self._carry_out(Asked("release" if self.claimed() else "claim", self._shown.id, ""))

    def claimed(self) -> bool:
        """Whether somebody claims the thing drawn."""
        return False

    def do_undo(self) -> None:
        if self._last is not None:
            self._asked = Asked("undo", self._last, "")
            self._want("reason")

    def do_open(self) -> None:
        self.set_class(not self.has_class("-whole"), "-whole")
        (self.text if self.has_class("-whole") else self._rows).focus()

    def leave(self) -> bool:
        if self.has_class("-whole"):
            self.remove_class("-whole")
            self._rows.focus()
            return True
        if self._rows.error is not None or self.filtered:
            self._filter = self.EVERYTHING
            self.reload()
            return True
        return False
