"""The pane that shows one event whole, following the cursor of the list beside it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Literal, cast

from textual.message import Message
from textual.timer import Timer

from console.screens.event_pane.bytes import PER_LINE, HexDump, as_text, per_line
from console.screens.event_pane.colours import COLOURS
from console.screens.event_pane.facts import Told, address, facts, origin
from console.screens.timeline.words import told
from console.widgets import figures
from console.widgets.error_panel import describe
from console.widgets.ink import Ink, Line
from console.widgets.safe import Outside
from console.widgets.text_view import TextView
from console.widgets.wrapping import pieces

if TYPE_CHECKING:
    from console.app import AffidavitApp
    from console.services import VerifyFailure
    from console.standing import Standing
    from storage.archive import Archive
    from storage.queries.models import LaneRow, SessionRow

Form = Literal["text", "record", "hex"]

REST = 0.06
"""Seconds the cursor must rest before its event is read."""

PATIENCE = 0.2
"""Seconds an old event may stay in view while another is read."""

_NEXT: dict[Form, Form] = {"text": "record", "record": "hex", "hex": "text"}
_TITLE = {"record": "the recorded bytes, as text", "hex": "the recorded bytes, as hex"}


class EventPane(TextView):
    """See the module."""

    DEFAULT_CSS = """
    EventPane { padding: 0 0 0 1; border-left: solid $ink-faint; }
    EventPane:focus { border-left: solid $ink-accent; }
    """

    class Settled(Message):
        """The event under the cursor is in view (or could not be read)."""

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.told: Told | None = None
        self.form: Form = "text"
        self.words: Sequence[str] = ()
        self.error = ""
        self._wanted: tuple[int, SessionRow | None, Mapping[int, LaneRow]] | None = None
        self._resting: Timer | None = None
        self._late: Timer | None = None

    @property
    def _affidavit(self) -> AffidavitApp:
        return cast("AffidavitApp", self.app)

    def follow(self, key: int, session: SessionRow | None, lanes: Mapping[int, LaneRow], *, now: bool = False) -> None:
        """Show the event of this key once the cursor rests (or ``now``). ``session=None``: find out which."""
        if self._wanted is not None and self._wanted[0] == key and self.told is not None and not now:
            return
        self._wanted = (key, session, lanes)
        if self._resting is not None:
            self._resting.stop()
        if now:
            self._read()
        else:
            self._resting = self.set_timer(REST, self._read)

    def say(self, lines: Sequence[Line]) -> None:
        """Show a few lines of our own instead of an event."""
        self._forget()
        self.show(lines, ())
        self.post_message(self.Settled())

    def _forget(self) -> None:
        for timer in (self._resting, self._late):
            if timer is not None:
                timer.stop()
        self._affidavit.pool.forget((self, "event"))
        self._wanted = self.told = None
        self.error = ""

    def again(self) -> None:
        """Read the same event again: something about how it is shown has changed."""
        if self._wanted is not None:
            self._read(keep=True)

    def look_for(self, words: Sequence[str]) -> None:
        """Mark other words from now on, in the event that is shown too."""
        if tuple(words) != tuple(self.words):
            self.words = tuple(words)
            self.again()

    def turn_over(self) -> Form:
        """Go from text to the recorded bytes, to hex, and back."""
        self.form = _NEXT[self.form]
        self.again()
        return self.form

    def _read(self, keep: bool = False) -> None:
        if self._wanted is None:
            return
        key, session, lanes = self._wanted
        app, form = self._affidavit, self.form
        outside, standing, bytes_a_line = app.outside, app.standing, per_line(self.size.width - 1)
        if self._late is not None:
            self._late.stop()
        self._late = self.set_timer(PATIENCE, self._still_reading)

        def read(archive: Archive) -> Told:
            return read_event(archive, key, session, lanes, form, standing, outside, bytes_a_line)

        def done(told: Told) -> None:
            self._show(told, keep and self.told is not None and self.told.row.key == told.row.key)

        app.pool.ask((self, "event"), read, done, self._failed)

    def on_resize(self) -> None:
        if isinstance(self.lines, HexDump) and self.lines.per_line != per_line(self.size.width - 1):
            self.again()

    def _still_reading(self) -> None:
        self.show(((Ink("quiet", "reading this event …"),),), ())

    def _show(self, told: Told, keep: bool) -> None:
        if self._late is not None:
            self._late.stop()
        self.told, self.error = told, ""
        words = self.words if self.form == "text" else ()
        self.show(told.head, told.lines, told.voice, words, tail=told.tail, keep=keep)
        self.post_message(self.Settled())

    def _failed(self, error: Exception) -> None:
        if self._late is not None:
            self._late.stop()
        self.told = None
        self.error = describe(error, self._affidavit.outside)
        lines: list[Line] = [(Ink("fails", "✗ this event could not be read"),), ()]
        lines += [(Ink("text", line),) for line in self.error.split("\n")]
        lines += [
            (),
            (Ink("key", "y"), Ink("quiet", " copies this   "), Ink("key", "enter"), Ink("quiet", " tries again")),
        ]
        self.show(lines, ())
        self.post_message(self.Settled())


def read_event(
    archive: Archive,
    key: int,
    session: SessionRow | None,
    lanes: Mapping[int, LaneRow],
    form: Form,
    standing: Standing,
    outside: Outside,
    bytes_a_line: int = PER_LINE,
) -> Told:
    """Reads an event and makes it ready to be shown. Runs in a reading thread."""
    failure = standing.failure
    detail = archive.detail(key)
    row = detail.row
    colours = 0
    if row.actor == "tool" and form == "text":
        text, colours = COLOURS.subn("", detail.text)
        detail = replace(detail, text=text)
    if session is None:
        session = archive.session(row.session)
        lanes = {lane.lane: lane for lane in archive.lanes(row.session)} if row.lane else {}
    pair = archive.event(row.pair) if row.pair is not None else None
    where = address(session.uid, row)
    head = (*_broken(failure(where, detail.source.entry)), *facts(detail, lanes.get(row.lane), pair, outside))
    tail = origin(detail, session, standing.entry, outside)
    if form == "text":
        if colours:
            codes = "colour code is" if colours == 1 else "colour codes are"
            words = f"{figures.number(colours)} {codes} not shown here; r has the bytes"
            head = (*head[:-1], (Ink("quiet", words),), ())
        lines: Sequence[str] = pieces(outside.block(detail.text)) if detail.text else ()
        if not lines and detail.withheld_by is None:
            head = (*head, (Ink("faint", "no text recorded"),))
        return Told(row, head, tail, lines, told(row).voice, detail.source.entry, where)
    data = archive.raw(key)
    lines = as_text(data, outside) if form == "record" else HexDump(data, bytes_a_line)
    return Told(row, (*head, (Ink("person", _TITLE[form]),), ()), tail, lines, "outside", detail.source.entry, where)


def _broken(failure: VerifyFailure | None) -> tuple[Line, ...]:
    """What the last verification found wrong with an event: stands above everything else."""
    if failure is None:
        return ()
    if failure.kind == "record":
        words = "these bytes are not the ones that were recorded"
    else:
        from storage.verify import FAILURES

        words = FAILURES.get(failure.kind, "this does not hold")
    return ((Ink("fails", f"✗ {words} ({failure.kind.replace('_', ' ')})"),), ())
