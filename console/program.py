"""The program around the console: what it asks for that writes, that lasts, or that knows this machine."""

from __future__ import annotations

import os
import threading
from collections import Counter
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from console import saved_filters
from console.saved_filters import SavedFilter
from console.services import Asked, Cancelled, Decided, Found, ImportResult, OpenArchive, Progress, VerifyResult
from console.settings import Settings, filters_file, state_folder, store_path
from console.state import Verified
from console.visits import Visits

if TYPE_CHECKING:
    from console.clipboard import CopyResult
    from storage.accounting import ImportReport
    from storage.archive import Archive
    from storage.verify import VerifyReport


SKIPPED = {
    "empty": "empty",
    "unfinished": "still being written",
    "not_a_log": "no log",
    "utf16": "UTF-16",
    "unknown_format": "of another format",
    "nothing_conforms": "of another format",
    "unreadable": "not readable here",
}
"""Why files were not imported, in a word or two."""


class Program:
    """See :class:`console.services.Services`, whose one production form this is.

    ``store`` is the path of the store in front. The ``demo`` store takes no imports, so that it stays the same.
    """

    def __init__(self, store: str, settings: Settings, *, demo: bool = False) -> None:
        self._store = store
        self._settings = settings
        self._demo = demo
        self._looked: object = None
        self._last: VerifyResult | None = None

    def copy(self, text: str, terminal: Callable[[str], object] | None) -> CopyResult:
        """Copies a text in the first way this machine offers."""
        from console.clipboard import copy

        return copy(text, folder=state_folder(), command=self._settings.copy_command, terminal=terminal)

    def command(self, address: str) -> str:
        """The command that opens an address, quoted for a shell; with the store, unless it is the default one."""
        from affidavit.session.address import parse, shell_command

        usual = {store_path(None, self._settings), store_path(None, self._settings, {})}
        here = () if usual == {self._store} else ("--store", self._store)
        return shell_command(parse(address), *here)

    def verify(self, progress: Progress, cancelled: Cancelled, *, full: bool = False) -> VerifyResult:
        """Checks what is new since the last run, or with ``full`` everything; remembers what was found."""
        from storage import refold
        from storage.verify import verify

        known = Verified(self._store)
        marker, stamp = known.marker(), known.stamp()
        since = None if full else marker
        try:
            report: VerifyReport = verify(
                self._store, since=since, known=marker, progress=progress, cancel=_Asked(cancelled)
            )
        except refold.Cancelled:
            return VerifyResult(holds=False, level="none", entries=0, checked={}, cancelled=True)
        return known.remember(report, datetime.now(UTC), stamp)

    def last_verified(self) -> VerifyResult | None:
        """What the last finished run of this user on this store found, and whether the file is still the same."""
        known = Verified(self._store)
        now = (self._store, known.stamp(), known.written())
        if now != self._looked:
            self._looked = now
            self._last = known.last() if os.path.exists(self._store) else None
        return self._last

    def visit(self) -> Visits:
        """This person's visits to the store in front."""
        return Visits(self._store)

    def discover(self) -> Sequence[Found]:
        """Folders of known agents on this machine; what is kept beside the sessions is read along with them."""
        from console.discover import discover

        return [found for found in discover() if found.sessions]

    def import_(self, folder: str, progress: Progress, cancelled: Cancelled) -> ImportResult:
        """Imports a file or folder; a missing store is made. Raises :class:`InDemo` while the demo is in front."""
        if self._demo:
            raise InDemo
        from console.discover import beside
        from console.patience import TRY, patiently
        from storage.accounting import ImportReport
        from storage.importing import Importer
        from storage.store import Store

        asked = _Asked(cancelled)
        report = ImportReport()

        def take() -> None:
            # What a try before this one took is in its report already; this one goes on from there.
            with Store.open(self._store, create=True, busy=TRY) as store:
                importer = Importer(
                    store,
                    clock=lambda: datetime.now(UTC),
                    progress=lambda file, done, total, _records: progress(os.path.basename(file), done, total or None),
                    cancel=asked,
                )
                importer.report = report
                importer.paths([folder, *beside(folder)])

        patiently(take, progress, cancelled)
        return _result(report, cancelled=asked.is_set())

    def filters(self) -> Sequence[SavedFilter]:
        """The saved filters that can be used."""
        return saved_filters.read(filters_file())[0]

    def keep_filter(self, saved: SavedFilter) -> str:
        """Saves a filter in the person's folder of settings."""
        return saved_filters.keep(filters_file(), saved)

    def forget_filter(self, name: str) -> str:
        """Takes one away."""
        return saved_filters.forget(filters_file(), name)

    def decide(self, asked: Asked) -> Decided:
        """Decides as this user; no agent does, wherever this console runs."""
        from console.deciding import decide

        return decide(self._store, self._settings, asked)

    def demo(self) -> OpenArchive:
        """Makes the demo beside the store, and says how to open it. From then on this is the store in use."""
        from sample_sessions.demo import build

        made = build(os.path.dirname(os.path.abspath(self._store))).store
        self._store = made
        self._demo = True

        def archive() -> Archive:
            from storage.archive import Archive

            return Archive.open(made)

        return archive


def _result(report: ImportReport, *, cancelled: bool) -> ImportResult:
    """An import's account as the console tells it; a file that was looked at in several tries counts once."""
    files = {file.path: file.skipped for file in report.files}
    taken = {file.path for file in report.files if file.skipped is None}
    skipped = [why for path, why in files.items() if why is not None and path not in taken]
    return ImportResult(
        sessions=report.sessions,
        events=report.events,
        unreadable=report.total("unreadable"),
        unknown=report.total("unknown"),
        skipped=len(skipped),
        files=len(taken),
        reasons=Counter(SKIPPED.get(why, "not read") for why in skipped),
        cancelled=cancelled,
    )


class InDemo(Exception):
    """An import was asked for while the demo is in front."""

    def __str__(self) -> str:
        return "This is the demo, which stays as it is. Leave it, open affidavit on your own store, and import there."


class _Asked(threading.Event):
    """A request to stop that is looked up when it is asked for."""

    def __init__(self, asked: Cancelled) -> None:
        super().__init__()
        self._asked = asked

    def is_set(self) -> bool:
        return self._asked()
