"""The frame around every view: two lines on top, two at the bottom, and the line to type into."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Final, Literal, cast

from textual import events, on
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Container
from textual.screen import Screen
from textual.timer import Timer

from console.actions import BY_ID, Situation, keys_line
from console.saved_filters import PARTS
from console.screens.view import View, bindings
from console.widgets.bar import Bar
from console.widgets.ink import Ink, Line
from console.widgets.prompt import Prompt
from console.widgets.virtual_list import VirtualList

if TYPE_CHECKING:
    from console.app import AffidavitApp

Purpose = Literal["filter", "address", "folder", "name", "decide"]
ENTER: Final[dict[Purpose, str]] = {
    "filter": "keep",
    "address": "go there",
    "folder": "import",
    "name": "save",
    "decide": "go on",
}
"""What enter does with what was typed."""

TABS = ("go.queue", "go.sessions", "go.snapshots", "go.memories", "go.verify", "go.search")
"""The views in the bar, in the order of their keys."""

WHOLE = (
    (("open",), "back to list"),
    (("down", "up"), "scroll"),
    (("prompt.next", "prompt.previous"), "prompt"),
    (("problem.next", "problem.previous"), "problem"),
    (("raw",), "raw"),
    (("copy",), "copy"),
    (("help",), "keys"),
)
"""What works in an event that is shown over the whole screen: actions, the first of which a click runs, and words."""

_TYPING = 0.08
"""Seconds of rest after a key before what is typed is tried out."""

_FLASH = 6.0
"""Seconds a passing word stays on the bottom line."""


class Shell(Screen[None]):
    """See the module. It owns no data: what its lines say is asked of the view in front."""

    AUTO_FOCUS = ""
    BINDINGS: ClassVar[list[BindingType]] = [*bindings("", everywhere=True)]

    def __init__(self) -> None:
        super().__init__(id="shell")
        self._purpose: Purpose = "filter"
        self._before = ""
        self._typing: Timer | None = None
        self._flash: Line = ()
        self._flash_end: Timer | None = None
        self._top = Bar(id="top")
        self._second = Bar(id="second")
        self.host = Container(id="host")
        self._status = Bar(id="status")
        self._keys_bar = Bar(id="keys")
        self._prompt = Prompt(id="prompt")

    @property
    def console_app(self) -> AffidavitApp:
        return cast("AffidavitApp", self.app)

    def compose(self) -> ComposeResult:
        yield self._top
        yield self._second
        yield self.host
        yield self._status
        yield self._keys_bar
        yield self._prompt

    def on_resize(self, event: events.Resize) -> None:
        self.set_class(event.size.height >= 30, "-airy")
        self.set_class(event.size.width < 100, "-narrow")
        self.set_class(event.size.width >= 150, "-wide")
        self.call_after_refresh(self.tell)

    # chrome

    def tell(self) -> None:
        """Say anew what the view in front has to say."""
        view = self.console_app.view
        if view is None or not self.is_mounted:
            return
        now = self.console_app.situation()
        crumbs = view.crumbs()
        if crumbs is None:
            self._top.say(self._tabs(view), self._badges())
        else:
            self._top.say((Ink("text", " "), *crumbs[0]), (*crumbs[1], *self._marks(), Ink("text", " ")))
        second = view.second()
        self._second.display = second is not None
        if second is not None:
            self._second.say((Ink("text", " "), *second[0]), (*second[1], Ink("text", " ")))
        self._status.say(
            (Ink("text", " "), *(self._flash or self._work() or view.missing())), (*view.standing(), Ink("text", " "))
        )
        self._keys_bar.say(self._keys(view, now))

    def _tabs(self, view: View) -> Line:
        # Six names do not fit on 80 columns beside ours.
        inks = [Ink("text", " ")]
        if self.size.width >= 100:
            inks += [Ink("head", "Affidavit"), Ink("text", "   ")]
        for index, name in enumerate(TABS):
            action = BY_ID[name]
            front = name == f"go.{view.NAME}" or (name == "go.sessions" and view.NAME == "start")
            if index:
                inks.append(Ink("faint", " │ "))
            inks.append(Ink("accent" if front else "quiet", self.console_app.keys.text(name) + " ", name))
            inks.append(Ink("head" if front else "text", action.label, name))
            if name == "go.verify":
                inks.extend(self.console_app.standing.badge())
        return tuple(inks)

    def _badges(self) -> Line:
        return (*self._marks(), Ink("quiet", " UTC"), Ink("text", " "))

    def _marks(self) -> Line:
        app = self.console_app
        marks = (
            ("read-only", app.read_only),
            ("read-only for now", app.jobs.waiting and not app.read_only),
            ("masked", app.outside.masked),
        )
        words = [word for word, on in marks if on]
        return tuple(Ink("person", f"  ! {word} ") for word in words)

    def _work(self) -> Line:
        return self.console_app.jobs.line()

    def _keys(self, view: View, now: Situation) -> Line:
        inks: list[Ink] = [Ink("text", " ")]
        if self.prompting:
            named = [("enter", ENTER[self._purpose]), ("esc", "leave"), ("↑ ↓", "move in the list")]
            if self._purpose == "filter" and view.NAME in PARTS:
                named.append(("tab", "saved filters"))
            for key, what in named:
                inks += (Ink("key", key), Ink("quiet", f" {what}   "))
            return tuple(inks)
        if view.has_class("-whole"):
            for ids, what in WHOLE:
                key = " ".join(map(self.console_app.keys.text, ids))
                inks += (Ink("key", key, ids[0]), Ink("quiet", f" {what}", ids[0]))
                inks.append(Ink("text", "  " if self.size.width < 100 else "   "))
            return tuple(inks)
        for action in keys_line(view.NAME):
            off = view.why(action, now) is not None
            inks.append(Ink("off" if off else "key", self.console_app.keys.text(action.id), action.id))
            inks.append(Ink("off" if off else "quiet", f" {action.label}", action.id))
            inks.append(Ink("text", "  " if self.size.width < 100 else "   "))
        return tuple(inks)

    def flash(self, words: str, style: str = "text") -> None:
        """Say something on the bottom line for a few seconds. ``words`` must be safe to show."""
        self._flash = (Ink(style, words),)
        if self._flash_end is not None:
            self._flash_end.stop()
        self._flash_end = self.set_timer(_FLASH, self._flash_over)
        self.tell()

    def _flash_over(self) -> None:
        self._flash = ()
        self.tell()

    def unflash(self) -> None:
        """Forget the passing word: the person has gone on."""
        if self._flash:
            if self._flash_end is not None:
                self._flash_end.stop()
            self._flash = ()

    @on(Bar.Pressed)
    def _pressed(self, event: Bar.Pressed) -> None:
        event.stop()
        self.console_app.action_act(event.action)

    # the prompt

    @property
    def prompting(self) -> bool:
        return self.is_mounted and bool(self._prompt.display)

    def ask(self, purpose: Purpose, label: str, value: str, placeholder: str) -> None:
        """Open the line to type into."""
        self._purpose, self._before = purpose, value
        self._prompt.open(label, value, placeholder)
        self.tell()

    def close_prompt(self) -> None:
        """Close it and give the focus back to the view."""
        if self._typing is not None:
            self._typing.stop()
        self._prompt.display = False
        view = self.console_app.view
        if view is not None:
            view.focus_main()
        self.tell()

    def leave_prompt(self) -> None:
        """Close it as if it had not been opened."""
        view = self.console_app.view
        if self._purpose == "filter" and view is not None and view.filter_text != self._before:
            view.preview(self._before)
        self.close_prompt()

    def hint(self, words: Line) -> None:
        """Say to the right of the typed words what they would give."""
        if self.prompting and self._purpose not in ("folder", "name", "decide"):
            self._prompt.hint(words)

    @on(Prompt.Changed)
    def _typed(self, event: Prompt.Changed) -> None:
        event.stop()
        if self._typing is not None:
            self._typing.stop()
        self._typing = self.set_timer(_TYPING, self._try)

    def _try(self) -> None:
        value = self._prompt.value
        view = self.console_app.view
        if not self.prompting or view is None:
            return
        if self._purpose == "filter":
            view.preview(value)
        elif self._purpose == "address":
            self.hint(self.console_app.finding.hint(value))

    @on(Prompt.Submitted)
    def _submitted(self, event: Prompt.Submitted) -> None:
        event.stop()
        view = self.console_app.view
        value, purpose = event.value, self._purpose
        self.close_prompt()
        if purpose == "filter" and view is not None:
            if view.filter_text != value:
                view.preview(value)
        elif purpose == "address":
            self.console_app.finding.go_to(value)
        elif purpose == "decide" and view is not None:
            view.answered(value)
        elif purpose == "name":
            self.console_app.saving.save(value)
        elif purpose == "folder" and value.strip():
            self.console_app.jobs.start_import(value.strip())

    @on(Prompt.Asked)
    def _filters_asked(self, event: Prompt.Asked) -> None:
        """Other filters are asked for while one is typed: that one holds as far as it goes."""
        event.stop()
        view = self.console_app.view
        if self._purpose == "filter" and view is not None:
            value = self._prompt.value
            self.close_prompt()
            if view.filter_text != value:
                view.preview(value)
            self.console_app.saving.do_filters()

    @on(VirtualList.Changed)
    @on(VirtualList.Moved)
    def _list_changed(self) -> None:
        self.tell()
