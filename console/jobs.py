"""Work a person starts from the console: imports, verifications, the demo. One at a time."""

from __future__ import annotations

from typing import TYPE_CHECKING

from console.screens.view import Place
from console.services import WAITING
from console.widgets import figures
from console.widgets.chooser import Choice, Chooser
from console.widgets.ink import Ink, Line
from console.working import Job

if TYPE_CHECKING:
    from collections.abc import Sequence

    from console.app import AffidavitApp
    from console.services import Found, ImportResult, OpenArchive, VerifyResult


class Jobs:
    """The one job that may run, and what is done when it ends."""

    def __init__(self, app: AffidavitApp) -> None:
        self._app = app
        self.job: Job | None = None
        self.found: Sequence[Found] | None = None
        """Folders an agent left on this machine; ``None`` until looked for."""

    @property
    def busy(self) -> str:
        """The name of what is running, or nothing."""
        return self.job.name if self.job else ""

    @property
    def waiting(self) -> bool:
        """Whether what is running waits for another program to end writing: the store can only be read now."""
        return self.job is not None and self.job.stage == WAITING

    def line(self) -> Line:
        """What is running and how far it is, for the bottom line."""
        job = self.job
        if job is None:
            return ()
        of = f" of {figures.number(job.total)}" if job.total else ""
        inks = [Ink("accent", f"{job.name} "), Ink("text", self._app.outside.line(job.stage, 50))]
        if job.done or job.total:
            inks.append(Ink("text", f" {figures.number(job.done)}{of}"))
        inks.append(Ink("quiet", "  stopping …" if job.stopping else "  esc stops it"))
        return tuple(inks)

    def _begin(self, name: str) -> Job:
        self.job = Job(name, self._app.call_later, self._told)
        self._app.tell()
        return self.job

    def _told(self) -> None:
        if self.job is not None:
            self._app.tell()
            view = self._app.view
            if view is not None:
                view.worked()

    def _end(self) -> None:
        self.job = None
        self._app.tell()

    def _failed(self, error: Exception) -> None:
        self._end()
        self._app.failed(error)

    # finding and importing

    def look(self) -> None:
        """Look for folders of known agents, once."""
        if self.found is None:
            app = self._app
            job = Job("looking", app.call_later, lambda: None)
            job.start(lambda _progress, _cancelled: app.services.discover(), self._looked, self._not_looked)

    def _looked(self, found: Sequence[Found]) -> None:
        self.found = found
        if self._app.view is not None:
            self._app.view.worked()

    def _not_looked(self, _error: Exception) -> None:
        self._looked(())

    def do_import(self) -> None:
        """Offer the folders that were found, and any other."""
        app = self._app

        def offer(found: Sequence[Found]) -> None:
            self.found = found
            choices = [
                Choice(
                    f"folder:{one.folder}",
                    f"{app.outside.line(one.agent)}  {app.outside.line(one.folder, 44)}",
                    note=f"{figures.plural(one.sessions, 'session file')} · {figures.size(one.bytes)}",
                )
                for one in found
            ]
            choices.append(Choice("other:", "another file or folder …"))
            app.push_screen(Chooser("Import sessions from", choices), self._import_chosen)

        if self.found is not None:
            offer(self.found)
            return
        job = Job("looking", app.call_later, lambda: None)
        job.start(lambda _progress, _cancelled: app.services.discover(), offer, app.failed)

    def _import_chosen(self, choice: str | None) -> None:
        if choice is None:
            return
        kind, _, folder = choice.partition(":")
        if kind == "folder":
            self.start_import(folder)
        else:
            self._app.shell.ask("folder", "import", "", "a file or folder with sessions")

    def start_import(self, folder: str) -> None:
        """Import a file or folder; the sessions appear when it is done."""
        if self.job is not None:
            return
        app = self._app
        self._begin("import").start(
            lambda progress, cancelled: app.services.import_(folder, progress, cancelled),
            self._imported,
            self._failed,
        )

    def _imported(self, result: ImportResult) -> None:
        self._end()
        self._app.open_store()
        files = f" from {figures.plural(result.files, 'file')}" if result.files else ""
        parts = [
            figures.plural(result.sessions, "session") + files,
            figures.plural(result.events, "event"),
            f"{figures.number(result.unreadable)} unreadable",
        ]
        if result.unknown:
            parts.append(f"{figures.number(result.unknown)} unknown")
        if result.skipped:
            many = len(result.reasons) > 1
            why = ", ".join(f"{figures.number(count)} {why}" if many else why for why, count in result.reasons.items())
            other = figures.plural(result.skipped, "other file")
            parts.append(f"{other} ({why or 'skipped'})")
        began = "stopped; kept: " if result.cancelled else "imported: "
        self._app.shell.flash(began + " · ".join(parts), "text")

    # the demo

    def do_demo(self) -> None:
        """Make and open the demo store."""
        if self.job is not None:
            return
        app = self._app

        def opened(open_archive: OpenArchive) -> None:
            self._end()
            app.open_store(open_archive)

        self._begin("demo").start(lambda _progress, _cancelled: app.services.demo(), opened, self._failed)

    # verifying

    def do_verify_run(self) -> None:
        self._verify(full=True)

    def do_verify_new(self) -> None:
        self._verify(full=False)

    def _verify(self, *, full: bool) -> None:
        app = self._app
        if app.view is None or app.view.NAME != "verify":
            app.go(Place("verify"))

        def verified(result: VerifyResult) -> None:
            self._end()
            app.standing.learn(result)
            if app.view is not None:
                app.view.worked()

        self._begin("verify").start(
            lambda progress, cancelled: app.services.verify(progress, cancelled, full=full), verified, self._failed
        )
