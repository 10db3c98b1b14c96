"""What is known of the integrity of what is shown: the last verification, and how far it reaches."""

from __future__ import annotations

from typing import TYPE_CHECKING

from console.widgets import figures
from console.widgets.ink import Ink, Line
from console.working import Job

if TYPE_CHECKING:
    from console.app import AffidavitApp
    from console.services import VerifyResult


class Standing:
    """The last verification of the store in front, read once in a thread and after each run."""

    def __init__(self, app: AffidavitApp) -> None:
        self._app = app
        self.result: VerifyResult | None = None

    def read(self) -> None:
        """Find out what the last run found."""
        app = self._app
        self.result = None
        job = Job("looking", app.call_later, lambda: None)
        job.start(lambda _progress, _cancelled: app.services.last_verified(), self.learn, lambda _error: None)

    def learn(self, result: VerifyResult | None) -> None:
        """Take over what a run found. A run that was stopped says nothing."""
        if result is None or not result.cancelled:
            self.result = result
            self._app.tell()

    def badge(self) -> Line:
        """The state of the whole store, for the bar."""
        if self.result is None:
            return ()
        return (Ink("holds", " ✓"),) if self.result.holds else (Ink("fails", " ✗"),)

    def line(self) -> Line:
        """The state of the whole store in words."""
        result = self.result
        if result is None:
            return (Ink("unknown", "? not checked yet"),)
        when = f"verified {figures.ago(result.finished, self._app.now())} · " if result.finished else ""
        if result.holds:
            return (Ink("quiet", when), Ink("holds", "✓ "), Ink("text", result.level))
        count = figures.plural(len(result.failures), "failure")
        return (Ink("quiet", when), Ink("fails", f"✗ {count}"))

    def entry(self, number: int | None, address: str = "") -> Line:
        """The state of what stands in one ledger entry, in words. ``address`` names the event in it."""
        result = self.result
        if number is None:
            return self.line()
        named = Ink("quiet", f"entry {figures.number(number)}  ")
        if result is None or number >= result.entries:
            return (named, Ink("unknown", "? not checked yet"))
        if result.holds:
            return (named, Ink("holds", "✓ "), Ink("text", result.level))
        here = (address, f"entry/{number}")
        for failure in result.failures:
            if failure.address in here:
                return (named, Ink("fails", f"✗ {self._app.outside.line(failure.kind, 24)}"))
        count = figures.plural(len(result.failures), "failure")
        return (named, Ink("quiet", "no failure here, "), Ink("fails", f"✗ {count} elsewhere"))
