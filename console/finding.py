"""From an address or a name to a place: what the address bar, the palette and the command line open."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from affidavit.session.address import (
    Address,
    AddressError,
    ContextAddress,
    EntryAddress,
    GateAddress,
    PayloadAddress,
    SessionAddress,
    SnapshotAddress,
    TurnAddress,
    parse,
)
from affidavit.session.event import event_hex
from console.screens.view import Place
from console.widgets import figures
from console.widgets.chooser import Choice
from console.widgets.error_panel import ErrorPanel
from console.widgets.ink import Ink, Line

if TYPE_CHECKING:
    from console.app import AffidavitApp
    from storage.archive import Archive
    from storage.queries.models import EventRow, Hit, SessionRow


class NotFound(Exception):
    """Nothing in this store has that address. The words are safe but for what they quote."""


@dataclass
class Hits:
    """What a search found, to be gone through from the timeline too."""

    text: str
    rows: Sequence[Hit]
    at: int = 0


class Finding:
    """Resolves addresses in a reading thread and goes there."""

    def __init__(self, app: AffidavitApp) -> None:
        self._app = app
        self.hits: Hits | None = None

    def hint(self, text: str) -> Line:
        """What is wrong with an address as far as it is typed, or what it names."""
        if not text.strip():
            return ()
        try:
            return (Ink("quiet", _what(parse(text))),)
        except AddressError as error:
            return (Ink("person", self._app.outside.line(error.hint or error.reason, 60)),)

    def go_to(self, text: str, *, first: bool = False) -> None:
        """Open what an address names. ``first``: the console has just begun, so sessions are shown if it cannot."""
        app = self._app
        try:
            address = parse(text)
        except AddressError as error:
            self._refused(f"{error.reason}; {error.hint}" if error.hint else error.reason, first)
            return

        def failed(error: Exception) -> None:
            if isinstance(error, NotFound | LookupError):
                self._refused(str(error), first)
            elif first:
                self._refused("", first)
            else:
                app.failed(error)

        app.pool.ask("address", lambda archive: resolve(archive, address), app.go, failed)

    def _refused(self, why: str, first: bool) -> None:
        words = self._app.outside.line(why, 160)
        if first:
            # A passing word would be overlooked by who has just come: what they asked for is not what they see.
            self._app.go(Place("sessions"))
            if why:
                more = "What it does hold is listed behind this. To open another store:\naffidavit --store PATH ADDRESS"
                self._app.push_screen(ErrorPanel("This store does not hold what was asked for", f"{words}\n\n{more}"))
        elif why:
            self._app.shell.flash(words, "person")

    def do_hit_next(self) -> None:
        self._step(1)

    def do_hit_previous(self) -> None:
        self._step(-1)

    def _step(self, by: int) -> None:
        """Go to the next or previous hit of the last search."""
        hits = self.hits
        if hits is None or not hits.rows:
            return
        to = hits.at + by
        if not 0 <= to < len(hits.rows):
            self._app.shell.flash("no further hit" if by > 0 else "this is the first hit")
            return
        hits.at = to
        hit = hits.rows[to]
        self._app.go(Place("timeline", session=hit.session_uid, event=event_hex(hit.id)))
        self._app.shell.flash(f"hit {to + 1} of {len(hits.rows)}")

    def find(self, typed: str, give: Callable[[Sequence[Choice]], None]) -> None:
        """Addresses and sessions that typed words may mean, for the palette."""
        app = self._app
        choices: list[Choice] = []
        try:
            address = parse(typed)
            choices.append(Choice(f"address:{address}", f"go to {app.outside.line(str(address), 60)}", group="Address"))
        except AddressError:
            pass  # most of what is typed is no address; it may still be words of a title

        def read(archive: Archive) -> Sequence[SessionRow]:
            from storage.archive import SessionFilter

            return archive.sessions(SessionFilter(text=typed.strip()), limit=8).rows

        def done(rows: Sequence[SessionRow]) -> None:
            outside = app.outside
            choices.extend(
                Choice(
                    f"address:session/{row.uid}",
                    outside.line(row.title, 56) or "no title",
                    note=figures.day(row.started, app.now()),
                    group="Sessions",
                )
                for row in rows
            )
            give(choices)

        app.pool.ask("palette", read, done, lambda _error: give(choices))


def _what(address: Address) -> str:
    match address:
        case SessionAddress(event=None):
            return "a session"
        case SessionAddress():
            return "an event of a session"
        case TurnAddress():
            return f"turn {address.number} of a session"
        case ContextAddress():
            return f"what the model saw in request {address.number} of a session"
        case SnapshotAddress():
            return "a retrieval" if address.citation is None else "a citation of a retrieval"
        case GateAddress():
            return "a gate run"
        case EntryAddress():
            return "a ledger entry"
        case PayloadAddress():
            return "recorded bytes"
        case _:
            return "not in this console yet"


def resolve(archive: Archive, address: Address) -> Place:
    """The place an address names. Raises :class:`NotFound`, also where a prefix is not unique."""
    match address:
        case SessionAddress(id=id, event=event):
            row = session_of(archive, id)
            if event is None:
                return Place("timeline", session=row.uid)
            return Place("timeline", session=row.uid, event=event_hex(event_of(archive, row, event).id))
        case TurnAddress(session=id, number=number):
            row = session_of(archive, id)
            start = archive.turn_start(row.key, number)
            if start is not None:
                return Place("timeline", session=row.uid, event=event_hex(start.id))
            raise NotFound(f"session {row.uid} has no turn {number}: it has {row.turns}")
        case ContextAddress(session=id, number=number):
            row = session_of(archive, id)
            requests = archive.inputs(row.key).requests
            request = requests.numbered(number)
            if request is None:
                raise NotFound(f"session {row.uid} has no model request {number}: it has {requests.count()}")
            return Place("context", session=row.uid, event=event_hex(request.row.id))
        case SnapshotAddress(id=id, citation=citation):
            return Place("snapshot", session=id, event=citation or "")
        case GateAddress(id=id):
            return Place("gate", session=id)
        case EntryAddress() | PayloadAddress():
            return Place("entry", session=str(address))
        case _:
            raise NotFound(f"{address} names something this console does not show yet")


def session_of(archive: Archive, id: str) -> SessionRow:
    """The one session whose uid or native id begins with ``id``."""
    near = archive.find_sessions(id)
    if len(near) > 1:
        raise NotFound(f"session/{id} may mean {len(near)} sessions; write more of its id")
    if not near:
        raise NotFound(f"this store holds no session whose id begins with {id}")
    return near[0]


def event_of(archive: Archive, session: SessionRow, prefix: str) -> EventRow:
    """The one event of a session whose id begins with ``prefix``."""
    near = archive.find_event(session.key, prefix)
    if len(near) > 1:
        raise NotFound(f"#{prefix} may mean {len(near)} events; write more of it")
    if not near:
        raise NotFound(f"session {session.uid} holds no event #{prefix}")
    return near[0]
