"""First run: there is no store yet, or nothing in it. What can be done about that, one key away."""

from __future__ import annotations

from dataclasses import replace
from typing import ClassVar

from textual import events
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.message import Message
from textual.strip import Strip

from console.actions import BY_ID, Action, Situation
from console.screens.view import Place, View, bindings, dot
from console.widgets import figures
from console.widgets.ink import Ink, Line
from console.widgets.inked import Inked

WELCOME = (
    "Affidavit shows what an AI agent saw and did, and proves that none of it was changed afterwards.",
    "There are no sessions here yet.",
)
MOST = 9
"""Folders offered at once."""


class Offers(Inked, can_focus=True):
    """A few words and a few things to choose from."""

    DEFAULT_CSS = "Offers { height: 1fr; width: 1fr; }"

    class Picked(Message):
        """An offer was clicked."""

    def __init__(self) -> None:
        super().__init__()
        self.words: tuple[Line, ...] = ()
        self.offers: tuple[tuple[str, Line], ...] = ()
        self.cursor = 0
        self._moved = False

    def show(self, words: tuple[Line, ...], offers: tuple[tuple[str, Line], ...]) -> None:
        """Show words, and below them (id, line) offers; the cursor stays on its offer once it was moved."""
        here = self.chosen if self._moved else None
        self.words, self.offers = words, offers
        ids = [id for id, _line in offers]
        self.cursor = ids.index(here) if here in ids else 0
        self.refresh()

    @property
    def chosen(self) -> str | None:
        return self.offers[self.cursor][0] if self.cursor < len(self.offers) else None

    @property
    def text(self) -> str:
        lines = [*self.words, *(line for _id, line in self.offers)]
        return "\n".join("".join(ink.text for ink in line) for line in lines)

    @property
    def _first(self) -> int:
        return max((self.size.height - len(self.words) - len(self.offers) - 1) // 3, 0)

    def _move(self, to: int) -> None:
        self._moved = True
        self.cursor = min(max(to, 0), max(len(self.offers) - 1, 0))
        self.refresh()

    def do_down(self) -> None:
        self._move(self.cursor + 1)

    def do_up(self) -> None:
        self._move(self.cursor - 1)

    def do_first(self) -> None:
        self._move(0)

    def do_last(self) -> None:
        self._move(len(self.offers) - 1)

    do_page_down, do_page_up = do_last, do_first

    def on_click(self, event: events.Click) -> None:
        index = event.y - self._first - len(self.words) - 1
        if 0 <= index < len(self.offers):
            self._move(index)
            self.post_message(self.Picked())

    def render_line(self, y: int) -> Strip:
        room, at = self.size.width, y - self._first
        indent = Ink("text", "   " if room < 100 else "      ")
        if 0 <= at < len(self.words):
            return self.strip((indent, *self.words[at]), room)
        index = at - len(self.words) - 1
        if not 0 <= index < len(self.offers):
            return self.blank()
        here = index == self.cursor
        mark = Ink("accent", indent.text[:-2] + "▌ ") if here else indent
        return self.strip((mark, *self.offers[index][1]), room, "cursor" if here else "")


class StartView(View):
    """See the module. Looking for folders happens in a thread; the offers appear when it is done."""

    NAME = "start"
    TITLE = "an empty store"
    BINDINGS: ClassVar[list[BindingType]] = [*bindings("sessions")]

    def __init__(self) -> None:
        super().__init__()
        self._offers = Offers()

    def compose(self) -> ComposeResult:
        yield self._offers

    def focus_main(self) -> None:
        self._offers.focus()

    def arrive(self, place: Place) -> None:  # noqa: ARG002
        self._say()
        self.focus_main()
        self.console_app.jobs.look()

    def worked(self) -> None:
        self._say()

    def masked(self) -> None:
        self._say()

    def on_resize(self) -> None:
        self._say()

    def _say(self) -> None:
        outside, found = self.console_app.outside, self.console_app.jobs.found
        words: list[Line] = [(Ink("head", "Welcome."),), ()]
        words += [(Ink("text", line),) for line in WELCOME]
        offers: list[tuple[str, Line]] = []
        if found is None:
            words.append((Ink("quiet", "Looking for what agents left on this machine …"),))
        elif not found:
            words.append((Ink("quiet", "No agent's sessions were found in the usual places."),))
        width = max(self.size.width - 10, 40)
        for number, one in enumerate((found or ())[:MOST]):
            size = f"{figures.plural(one.sessions, 'session file')} · {figures.size(one.bytes)}"
            what = f"import {outside.line(one.agent)}  "
            offers.append(
                (
                    f"folder:{number}",
                    (
                        Ink("key", "i   " if number == 0 else "    "),
                        Ink("text", what),
                        Ink("head", size + "  "),
                        Ink("outside", outside.line(one.folder, max(width - len(what) - len(size) - 8, 8))),
                    ),
                )
            )
        offers.append(("other", (Ink("key", "    "), Ink("text", "import another file or folder …"))))
        offers.append(
            (
                "demo",
                (Ink("key", "    "), Ink("text", "open the demo: "), Ink("quiet", "three sessions that tell a story")),
            )
        )
        offers.append(("help", (Ink("key", "?   "), Ink("text", "every key that works here"))))
        offers.append(("quit", (Ink("key", "q   "), Ink("text", "leave"))))
        self._offers.show(tuple(words), tuple(offers))

    def missing(self) -> Line:
        return dot("0 sessions")

    def standing(self) -> Line:
        return (Ink("unknown", "? nothing to check yet"),)

    def situation(self, now: Situation) -> Situation:
        return replace(now, row=True, empty=True)

    def why(self, action: Action, now: Situation) -> str | None:
        if action.id in ("copy", "pager", "mark", "sort"):
            return "the store is empty"
        return super().why(action, now)

    def on_offers_picked(self) -> None:
        self.do_open()

    def do_open(self) -> None:
        chosen, jobs = self._offers.chosen or "", self.console_app.jobs
        kind, _, number = chosen.partition(":")
        if kind in ("folder", "other", "demo"):
            action = "demo" if kind == "demo" else "import"
            reason = self.why(BY_ID[action], self.console_app.situation())
            if reason is not None:
                self.console_app.shell.flash(f"{action}: {reason}", "person")
            elif kind == "folder" and jobs.found is not None:
                jobs.start_import(jobs.found[int(number)].folder)
            elif kind == "other":
                self.console_app.shell.ask("folder", "import", "", "a file or folder with sessions")
            else:
                jobs.do_demo()
        elif kind == "help":
            self.console_app.menus.do_help()
        elif kind == "quit":
            self.console_app.do_quit()
