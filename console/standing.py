"""What is known of the integrity of what is shown: the last verification, and how far it reaches."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING

from console.widgets import figures
from console.widgets.ink import Ink, Line
from console.working import Job

if TYPE_CHECKING:
    from console.app import AffidavitApp
    from console.services import VerifyFailure, VerifyResult

_IN_ENTRY = ("segment_", "entry_", "bytes_", "record")
"""How the failures begin that concern whatever stands in the entry they name."""

_WORDS = {"bytes_missing": "missing", "segment_missing": "missing", "bytes_left": "left over"}


TABLE = "table differs"
"""The word for what the ledger proves, but a table tells otherwise."""


def failure_word(kind: str) -> str:
    """A failure in a word, for the row it stands in."""
    if kind.startswith("fold_") or kind == "index":
        return TABLE
    return _WORDS.get(kind, "altered")


class Standing:
    """The last verification of the store in front, read in a thread now and then, and after each run."""

    def __init__(self, app: AffidavitApp) -> None:
        self._app = app
        self.result: VerifyResult | None = None
        self._failures: dict[str, VerifyFailure] = {}
        self._altered: Counter[str] = Counter()
        self._touched: set[str] = set()

    def read(self) -> None:
        """Find out what the last run found."""
        app = self._app
        job = Job("looking", app.call_later, lambda: None)
        job.start(lambda _progress, _cancelled: app.services.last_verified(), self.refresh, lambda _error: None)

    def forget(self) -> None:
        """Another store is in front now."""
        self._take(None)

    def refresh(self, result: VerifyResult | None) -> None:
        """Take over what is remembered of the last run. Of one that is known here already, only how it stands now:
        what is remembered has no details.
        """
        mine = self.result
        if mine is not None and result is not None and _second(mine) == _second(result):
            result = replace(mine, stale=result.stale)
        if result != mine:
            self._take(result)

    def learn(self, result: VerifyResult) -> None:
        """Take over what a run found. A run that was stopped says nothing."""
        if not result.cancelled:
            self._take(result)

    def _take(self, result: VerifyResult | None) -> None:
        self.result = result
        failures = result.failures if result is not None else ()
        self._failures = {failure.address: failure for failure in reversed(failures)}
        self._touched = {address.partition("#")[0] for address in self._failures}
        self._altered = Counter(
            address.partition("#")[0]
            for address, failure in self._failures.items()
            if failure_word(failure.kind) != TABLE
        )
        self._app.judged()

    def badge(self) -> Line:
        """The state of the whole store, for the bar."""
        result = self.result
        if result is None or (result.holds and not result.whole):
            return ()
        return (Ink("holds", " ✓"),) if result.holds else (Ink("fails", " ✗"),)

    def line(self) -> Line:
        """The state of the whole store in words."""
        result = self.result
        if result is None:
            return (Ink("unknown", "? not checked yet"),)
        ago = figures.ago(result.finished, self._app.now()) if result.finished else ""
        if not result.holds:
            count = figures.plural(len(result.failures), "failure")
            return (Ink("quiet", f"verified {ago} · " if ago else ""), Ink("fails", f"✗ {count}"))
        if result.stale:
            return (Ink("quiet", f"verified {ago} · " if ago else ""), Ink("unknown", "? changed since then"))
        if not result.whole:
            first = figures.number(result.first)
            return (Ink("quiet", f"from entry {first} on: "), Ink("holds", "✓ "), Ink("text", result.level),
                    Ink("unknown", " · ? the rest not checked again"))  # fmt: skip
        return (Ink("quiet", f"verified {ago} · " if ago else ""), Ink("holds", "✓ "), Ink("text", result.level))

    def failure(self, address: str, number: int | None = None) -> VerifyFailure | None:
        """What the last run found wrong with an event, or with the ledger entry it stands in."""
        found = self._failures.get(address)
        if found is None and number is not None:
            found = self._failures.get(f"entry/{number}")
            if found is not None and address and not found.kind.startswith(_IN_ENTRY):
                return None
        return found

    def in_session(self, uid: str) -> str:
        """What the last run found wrong with a session, in two words; empty if nothing."""
        altered = self._altered[f"session/{uid}"]
        if altered:
            return f"{figures.short(altered)} altered"
        return "tables differ" if f"session/{uid}" in self._touched else ""

    def entry(self, number: int | None, address: str = "") -> Line:
        """The state of what stands in one ledger entry, in words. ``address`` names the event in it."""
        result = self.result
        if number is None:
            return self.line()
        named = Ink("quiet", f"entry {figures.number(number)}  ")
        failure = self.failure(address, number)
        if failure is not None:
            return (named, Ink("fails", f"✗ {self._app.outside.line(failure.kind, 24)}"))
        if result is None or number >= result.entries:
            return (named, Ink("unknown", "? not checked yet"))
        if result.stale:
            return (named, Ink("unknown", "? not checked since the store changed"))
        if not result.covers(number):
            return (named, Ink("unknown", "? not checked again"))
        if result.holds:
            return (named, Ink("holds", "✓ "), Ink("text", result.level))
        count = figures.plural(len(result.failures), "failure")
        return (named, Ink("quiet", "no failure here, "), Ink("fails", f"✗ {count} elsewhere"))


def _second(result: VerifyResult) -> object:
    """When a run ended, as exactly as it is remembered."""
    return result.finished.replace(microsecond=0) if result.finished is not None else None
