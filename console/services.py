"""What the console asks of the program around it: work that writes, or that lasts, or that knows this machine.

The console itself only reads a store. Verifying, importing, finding what agents left on this machine and opening
the demo are handed in as one :class:`Services` object, so that a screen can be driven by a test with invented
ones. Every callable here is called from a thread that is not the event loop, may block, and must not touch a
widget. One that raises is shown as an error panel with the exception's message.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from console.saved_filters import SavedFilter
    from storage.archive import Archive

OpenArchive = Callable[[], "Archive"]
"""Opens a new read-only connection; called once in each reading thread. Raises ``StoreError`` if it cannot."""

Progress = Callable[[str, int, int | None], None]
"""``progress(stage, done, total)``: ``total`` is ``None`` while it is not known. Cheap to call often."""

Cancelled = Callable[[], bool]
"""Answers whether the person asked to stop. Long work asks it at least every quarter of a second."""


WAITING = "waiting: another program writes to the store"
"""The stage that is told while work waits for a store that is held: until then it can only be read."""


@dataclass(frozen=True, slots=True)
class VerifyFailure:
    """One thing that did not hold. ``address`` is what the console can open; ``kind`` is of verify's closed list."""

    address: str
    kind: str
    detail: str


@dataclass(frozen=True, slots=True)
class VerifyResult:
    """What a verification found.

    ``level`` is the strongest claim the store can make (``self-consistent`` …). ``checked`` counts what was looked
    at, by name, in the order it was done; ``seconds`` how long each took. ``since`` is set when only what is newer
    than an earlier run was checked: entries before that number were not checked again, and failures of an earlier
    run are kept until everything is. ``first`` is the first entry that some run has checked in the file as it was
    when this one ended; ``stale``: the file has changed since. ``cancelled``: the run was stopped, and says nothing
    about what it did not reach.
    """

    holds: bool
    level: str
    entries: int
    checked: Mapping[str, int]
    failures: Sequence[VerifyFailure] = ()
    withheld: int = 0
    seconds: Mapping[str, float] = field(default_factory=dict)
    since: int | None = None
    finished: datetime | None = None
    cancelled: bool = False
    first: int = 0
    stale: bool = False

    def covers(self, number: int) -> bool:
        """Whether an entry was checked in the file as it is now."""
        return not self.stale and self.first <= number < self.entries

    @property
    def whole(self) -> bool:
        """Whether everything was checked in the file as it is now."""
        return not self.stale and self.first == 0


@dataclass(frozen=True, slots=True)
class Found:
    """A folder (or file) of an agent's on this machine. ``agent`` is what people call it; ``sessions`` the files that
    may hold one each, which nobody has looked into; ``bytes`` the size of all ``files`` that are read; ``what`` they
    are: ``sessions``, or what is kept beside them.
    """

    folder: str
    agent: str
    sessions: int
    bytes: int
    what: str = "sessions"
    files: int = 0


@dataclass(frozen=True, slots=True)
class ImportResult:
    """What an import did. ``files`` were read and ``skipped`` were not; ``reasons`` says in words why, and how many.

    ``cancelled``: it stopped early; what it had read so far is kept.
    """

    sessions: int
    events: int
    unreadable: int = 0
    unknown: int = 0
    skipped: int = 0
    cancelled: bool = False
    files: int = 0
    reasons: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Asked:
    """A decision somebody asks for in the console: see ``affidavit.review.commands.Decide``.

    ``object``: id of a candidate or memory, of ``undo`` the id of a decision. ``expect``: digest of what was on screen.
    """

    verb: str
    object: str
    reason: str
    expect: str | None = None
    content: str | None = None
    scope: str | None = None
    into: str | None = None
    opened: bool = False


@dataclass(frozen=True, slots=True)
class Decided:
    """What became of it. ``decision``: its id; ``refused``: the code of a refusal, ``words`` why, both safe to show."""

    words: str
    decision: str | None = None
    refused: str | None = None


class Copied(Protocol):
    """How a text was copied; :class:`console.clipboard.CopyResult` is one. ``note`` is safe to show."""

    @property
    def way(self) -> str: ...
    @property
    def note(self) -> str: ...


class Visit(Protocol):
    """One person's visits to one store."""

    def last(self) -> int | None:
        """How many ledger entries the store had when the person last left it; ``None``: not known."""
        ...

    def leave(self, entries: int) -> None:
        """Remember how many it has now that they leave. Called on the event loop; brief, never raises."""
        ...


class Services(Protocol):
    """The program around the console. See the module for how these are called."""

    def copy(self, text: str, terminal: Callable[[str], object] | None) -> Copied:
        """Copy a text; ``terminal`` writes to the terminal the console stands in. Called on the event loop; brief."""
        ...

    def command(self, address: str) -> str:
        """The shell command that opens an address in this very store, wherever it is typed. Quick."""
        ...

    def verify(self, progress: Progress, cancelled: Cancelled, *, full: bool = False) -> VerifyResult:
        """Check the store: only what is newer than the last run that held, or with ``full`` everything."""
        ...

    def last_verified(self) -> VerifyResult | None:
        """What the last finished run of this user on this store found, or ``None``. Quick: asked every few seconds."""
        ...

    def visit(self) -> Visit:
        """This person's visits to the store in front, which stay those to that store. Quick."""
        ...

    def discover(self) -> Sequence[Found]:
        """Folders with sessions of known agents, in the order they should be offered. Reads no file's content."""
        ...

    def import_(self, folder: str, progress: Progress, cancelled: Cancelled) -> ImportResult:
        """Import a file or folder into the store, which is made if it is missing."""
        ...

    def filters(self) -> Sequence[SavedFilter]:
        """The filters this person has saved, in the order they were. Quick."""
        ...

    def keep_filter(self, saved: SavedFilter) -> str:
        """Save a filter, in the place of one of the same name; why it could not be, or nothing."""
        ...

    def forget_filter(self, name: str) -> str:
        """Take a saved filter away; why it could not be, or nothing."""
        ...

    def decide(self, asked: Asked) -> Decided:
        """Decide about a candidate or memory, or take a decision back. Waits a while for a store that is held."""
        ...

    def demo(self) -> OpenArchive:
        """Make the demo store if it is not there, and say how to open it."""
        ...
