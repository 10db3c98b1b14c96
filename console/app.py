"""The console: a frame, the views in it, and the way a person has gone through them.

It opens on an archive and only reads; what writes or lasts is handed in as :class:`console.services.Services`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, ClassVar

from rich.segment import Segment, Segments
from textual.app import App
from textual.binding import BindingType
from textual.driver import Driver
from textual.filter import Monochrome, NoColor
from textual.screen import Screen
from textual.widget import AwaitMount

from console.actions import BY_ID, DETAILS, Situation
from console.arrivals import Arrivals, Glance
from console.finding import Finding
from console.history import History
from console.jobs import Jobs
from console.key_map import Keys
from console.lean import lean_driver
from console.menus import Menus
from console.reading import ReadPool
from console.saving import Saving
from console.screens.shell.screen import Shell
from console.screens.view import Place, View
from console.services import OpenArchive, Services, VerifyResult
from console.standing import Standing
from console.themes import LOOKS, PLAIN
from console.widgets.error_panel import ErrorPanel, describe
from console.widgets.ink import Ink, Line
from console.widgets.notice import Notice
from console.widgets.safe import Outside

_FOLDER = Path(__file__).parent

GLANCE = 1.0
"""Seconds between two looks at whether another program has added to the store."""


def _now() -> datetime:
    return datetime.now(UTC)


class AffidavitApp(App[None]):
    """See the module.

    ``start`` is an address to open at. ``read_only`` refuses whatever would write; ``mask`` begins with paths,
    mails, hosts and secrets hidden; ``mouse`` is for :meth:`open`. ``keys`` are those of every action; ``told`` is
    said once the console is there. ``now`` is the only clock.
    """

    CSS_PATH: ClassVar[list[Any]] = sorted(_FOLDER.rglob("*.tcss"))
    BINDINGS: ClassVar[list[BindingType]] = []
    ENABLE_COMMAND_PALETTE = False
    ALLOW_SELECT = False
    TITLE = "Affidavit"

    def __init__(
        self,
        open_archive: OpenArchive,
        *,
        services: Services,
        start: str | None = None,
        read_only: bool = False,
        mouse: bool = True,
        mask: bool = False,
        theme: str | None = None,
        keys: Keys | None = None,
        told: Sequence[str] = (),
        now: Callable[[], datetime] = _now,
    ) -> None:
        super().__init__()
        self.animation_level = "none"
        self.pool = ReadPool(open_archive, self.call_later)
        self.services = services
        self.read_only = read_only
        self.mouse = mouse
        self.outside = Outside(mask)
        self.now = now
        self.keys = keys if keys is not None else Keys()
        self.set_keymap(self.keys.textual)
        self._told = tuple(told)
        self.history = History()
        self.jobs = Jobs(self)
        self.standing = Standing(self)
        self.arrivals = Arrivals(now)
        self.finding = Finding(self)
        self.menus = Menus(self)
        self.saving = Saving(self)
        self.last_error = ""
        self.view: View | None = None
        self.arriving = False
        """A view is being made; keys go to it as soon as it is there."""
        self._start = start
        self._views: dict[str, View] = {}
        self._take_theme(theme)

    def open(self) -> None:
        """Run until the person leaves."""
        self.run(mouse=self.mouse)

    # looks

    def get_driver_class(self) -> type[Driver]:
        return lean_driver(super().get_driver_class())

    def get_theme_variable_defaults(self) -> dict[str, str]:
        return PLAIN.variables() | {"cursor-style": "none"}

    def _take_theme(self, theme: str | None) -> None:
        for name, look in LOOKS.items():
            self.register_theme(look.theme(name))
        self.register_theme(PLAIN.theme("plain"))
        if self.no_color:
            self._filters = [NoColor() if isinstance(one, Monochrome) else one for one in self._filters]
            self.theme = "plain"
        else:
            self.theme = theme if theme in LOOKS else "dark"

    def do_theme(self) -> None:
        names = ["plain"] if self.no_color else list(LOOKS)
        at = names.index(self.theme) if self.theme in names else -1
        self.choose_theme(names[(at + 1) % len(names)])

    def choose_theme(self, name: str) -> None:
        """Change the theme and say so."""
        self.theme = name
        title = LOOKS[name].title if name in LOOKS else PLAIN.title
        why = "; NO_COLOR is set, so there is no other" if self.no_color else ""
        self.shell.flash(f"theme: {title}{why}")

    # the frame

    def get_default_screen(self) -> Screen[Any]:
        return Shell()

    @property
    def shell(self) -> Shell:
        """The frame around the views; panels may stand over it."""
        shell = self.screen_stack[0]
        assert isinstance(shell, Shell)
        return shell

    def on_mount(self) -> None:
        # The frame is painted before anything is read, or any view loaded.
        self.call_after_refresh(self._begin)
        self.set_interval(GLANCE, self._glance)

    def _begin(self) -> None:
        self.standing.read()
        self.arrivals.read(self.pool, self.services.visit(), self._arrived)
        if self._start is None:
            self.go(Place("sessions"))
        else:
            self.finding.go_to(self._start, first=True)
        if self._told:
            self.push_screen(ErrorPanel("Something in your files was left out", "\n".join(self._told)))

    def _glance(self) -> None:
        """Ask whether the store has grown or was changed, when nothing else is asked."""
        if self.view is not None and not self.jobs.busy and len(self.screen_stack) == 1 and self.pool.idle:
            last, glance = self.services.last_verified, self.arrivals.glance

            def seen(found: tuple[Glance | None, VerifyResult | None]) -> None:
                self.standing.refresh(found[1])
                self._glanced(found[0])

            self.pool.ask("glance", lambda archive: (glance(archive), last()), seen, lambda _error: None)

    def _glanced(self, glance: Glance | None) -> None:
        if glance is None:
            self.arrivals.read(self.pool, self.services.visit(), self._arrived)
            return
        if self.arrivals.take(glance):
            sessions = frozenset(new.session for new in glance.new)
            for view in self._views.values():
                if view is self.view:
                    view.grown(sessions)
                else:
                    view.behind |= sessions
        if self.arrivals.changed():
            self._arrived()

    def _arrived(self) -> None:
        """What is live, or new since the last visit, has changed."""
        for view in self._views.values():
            if view.is_mounted:
                view.freshened()
        self.tell()

    async def on_unmount(self) -> None:
        self.arrivals.leave()
        if self.jobs.job is not None:
            self.jobs.job.stop()
        self.pool.close()

    def judged(self) -> None:
        """What is known of the integrity of what is shown has changed."""
        for view in self._views.values():
            if view.is_mounted:
                view.judged()
        self.tell()

    def tell(self) -> None:
        """Have the frame say anew what has changed."""
        if self.screen_stack and self.is_running:
            self.shell.tell()

    # going places

    def go(self, place: Place) -> None:
        """Go to a place, and remember where this was."""
        if self.view is not None:
            self.history.leave(self.view.place())
        self.history.enter(place)
        self._arrive(place)

    def _arrive(self, place: Place) -> None:
        if self.shell.prompting:
            self.shell.close_prompt()
        view = self._views.get(place.view)
        mounting = None
        if view is None:
            view = self._views[place.view] = _make(place.view)
            mounting = self.shell.host.mount(view)
        if self.view is not view:
            if self.view is not None:
                self.view.display = False
            view.display = True
            self.view = view
        self.shell.unflash()
        if mounting is None:
            view.arrive(place)
            if view.behind:
                sessions, view.behind = view.behind, frozenset()
                view.grown(sessions)
            self.tell()
        else:
            self.arriving = True
            self.call_next(self._settle_in, mounting, view, place)

    async def _settle_in(self, mounting: AwaitMount, view: View, place: Place) -> None:
        await mounting
        self.arriving = False
        if self.view is view:
            view.arrive(place)
            self.tell()

    def do_back(self) -> None:
        if self.view is not None and (place := self.history.back(self.view.place())):
            self._arrive(place)

    def do_forward(self) -> None:
        if self.view is not None and (place := self.history.forward(self.view.place())):
            self._arrive(place)

    def do_go_sessions(self) -> None:
        self.go(Place("sessions"))

    def do_go_queue(self) -> None:
        self.go(Place("queue"))

    def do_go_memories(self) -> None:
        self.go(Place("memories"))

    def do_go_snapshots(self) -> None:
        self.go(Place("snapshots"))

    def do_go_gates(self) -> None:
        self.go(Place("gates"))

    def do_go_verify(self) -> None:
        self.go(Place("verify"))

    def do_go_search(self) -> None:
        self.go(Place("search"))

    def found_empty(self) -> None:
        """The store is missing or empty: show what can be done about it."""
        if self.view is not None and self.view.NAME == "sessions":
            self._arrive(Place("start"))

    def open_store(self, open_archive: OpenArchive | None = None) -> None:
        """Read everything anew, from another store if one is given, and begin at its sessions."""
        if open_archive is not None:
            self.arrivals.leave()
        self.pool.reopen(open_archive)
        for name in list(self._views):
            self._views.pop(name).remove()
        self.view = None
        self.history = History()
        self.standing.forget()
        self.standing.read()
        self.arrivals.read(self.pool, self.services.visit(), self._arrived)
        self.go(Place("sessions"))

    # actions

    def situation(self) -> Situation:
        """What the reasons of actions are worked out from, now."""
        now = Situation(
            view=self.view.NAME if self.view else "",
            back=self.history.can_back,
            forward=self.history.can_forward,
            read_only=self.read_only,
            busy=self.jobs.busy,
            hits=self.finding.hits is not None,
            transient=self.shell.prompting or self.jobs.job is not None,
        )
        return self.view.situation(now) if self.view else now

    def action_act(self, id: str) -> None:
        """Carry out an action of the registry, or say why it cannot be."""
        action = BY_ID[id]
        if self.view is None or (len(self.screen_stack) > 1 and id not in ("quit", "theme")):
            return
        reason = self.view.why(action, self.situation())
        if reason is not None:
            self.shell.flash(f"{action.label}: {reason}", "person")
            return
        self.shell.unflash()
        view, own = self.view, (self, self.menus, self.saving, self.jobs, self.finding)
        for target in (view, self.focused, view.main_list, *own):
            method = getattr(target, action.method, None)
            if method is not None:
                method()
                break
        self.tell()

    def do_filter(self) -> None:
        if self.view is not None:
            self.shell.ask("filter", "/", self.view.filter_text, self.view.filter_hint)

    def do_address(self) -> None:
        self.shell.ask("address", ":", "", "session/ID  session/ID#EVENT  turn/SESSION/7  entry/1234  payload/SHA256")

    def do_leave(self) -> None:
        if self.shell.prompting:
            self.shell.leave_prompt()
        elif self.view is not None and self.view.leave():
            return
        elif self.jobs.job is not None:
            self.jobs.job.stop()
        elif self.view is not None and self.view.NAME in DETAILS:
            self.do_back()

    def do_mask(self) -> None:
        self.outside.masked = not self.outside.masked
        for view in self._views.values():
            view.masked()
        self.standing.read()

    def do_quit(self) -> None:
        job = self.jobs.job
        if job is not None and not job.stopping:
            job.stop()
            self.shell.flash(f"stopping the {job.name}; what it has done so far is kept. q again leaves", "person")
            return
        self.exit()

    def action_help_quit(self) -> None:
        """ctrl+c: say how to leave instead of leaving, because it is easily pressed by mistake."""
        self.shell.flash("q leaves the console, y copies", "person")

    # what went wrong

    def show_error(self, notice: Notice, title: str, error: BaseException) -> None:
        """Say in a notice what went wrong, and keep it for copying."""
        words = describe(error, self.outside)
        self.last_error = words
        lines: list[Line] = [(Ink("text", line),) for line in words.split("\n")[:12]]
        notice.say(
            Ink("fails", f"✗ {title}"),
            lines,
            [("copy", "copy this"), ("leave", "try again"), ("address", "go elsewhere")],
        )

    def failed(self, error: BaseException) -> None:
        """Show an error over everything; the console goes on."""
        self.push_screen(ErrorPanel("Something could not be done", describe(error, self.outside)))

    def _fatal_error(self) -> None:
        # Textual's own report prints every local variable, which here hold what sessions said.
        self._exit_renderables.append(Segments([Segment("")]))
        self._close_messages_no_wait()

    @property
    def crash(self) -> Exception | None:
        """The error that ended the console, for the caller to report; ``None`` if a person ended it."""
        return self._exception


def _make(name: str) -> View:
    """A view, its module loaded only now."""
    if name == "timeline":
        from console.screens.timeline.screen import TimelineView

        return TimelineView()
    if name == "search":
        from console.screens.search.screen import SearchView

        return SearchView()
    if name == "verify":
        from console.screens.verify.screen import VerifyView

        return VerifyView()
    if name == "entry":
        from console.screens.entry.screen import EntryView

        return EntryView()
    if name == "queue":
        from console.screens.queue.screen import QueueView

        return QueueView()
    if name == "memories":
        from console.screens.memories.screen import MemoriesView

        return MemoriesView()
    if name == "snapshots":
        from console.screens.snapshots.screen import SnapshotsView

        return SnapshotsView()
    if name == "gates":
        from console.screens.gates.screen import GateRunsView

        return GateRunsView()
    if name == "gate":
        from console.screens.gate.screen import GateView

        return GateView()
    if name == "snapshot":
        from console.screens.snapshot.screen import SnapshotView

        return SnapshotView()
    if name == "context":
        from console.screens.context.screen import ContextView

        return ContextView()
    if name == "rules":
        from console.screens.rules.screen import RulesView

        return RulesView()
    if name == "start":
        from console.screens.start.screen import StartView

        return StartView()
    from console.screens.sessions.screen import SessionsView

    return SessionsView()
