"""What the model saw: every text that stood in front of it in one request, in order, and what is not recorded."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import BindingType

from affidavit.session.event import event_hex
from console.actions import Action, Situation
from console.finding import NotFound, event_of, session_of
from console.screens.context.lines import block_line
from console.screens.events_view import EventsView
from console.screens.snapshots.columns import HASHES
from console.screens.view import Copy, Place, bindings, dot
from console.widgets import figures
from console.widgets.bar import Bar
from console.widgets.chooser import Choice, Chooser
from console.widgets.ink import Ink, Line
from console.widgets.listed import Listed
from console.widgets.notice import Notice
from console.widgets.safe import Outside
from console.widgets.virtual_list import VirtualList

if TYPE_CHECKING:
    from affidavit.context.failures import Found as Finding
    from storage.archive import Archive
    from storage.queries.inputs import Block, ModelInput
    from storage.queries.models import LaneRow, SessionRow


@dataclass(frozen=True)
class Found:
    """A request with what stood in front of the model."""

    session: SessionRow
    lanes: dict[int, LaneRow]
    given: ModelInput
    findings: tuple[Finding, ...]


def read_input(archive: Archive, uid: str, event: str, step: int = 0) -> Found:
    """Reads the request an event came of (or the first that saw it), or the ``step``-th after that."""
    session = session_of(archive, uid)
    inputs = archive.inputs(session.key)
    request = inputs.requests.at(event_of(archive, session, event))
    if request is None:
        raise NotFound("no model request followed this event in its lane")
    if step:
        other = inputs.requests.numbered(request.number + step)
        if other is None:
            raise NotFound("there is no further request" if step > 0 else "this is the first request")
        request = other
    lanes = {lane.lane: lane for lane in archive.lanes(session.key)}
    given = inputs.input(request)
    return Found(session, lanes, given, tuple(inputs.findings(given)))


class ContextView(EventsView):
    """See the module."""

    NAME = "context"
    TITLE = "what the model saw"
    WHAT = "what stood in front of the model"
    BINDINGS: ClassVar[list[BindingType]] = [*bindings("context")]

    def __init__(self) -> None:
        super().__init__()
        self._place = Place("context")
        self._found: Found | None = None
        self._about = Bar(id="context-about")

    def compose(self) -> ComposeResult:
        yield self._about
        yield from self.body()

    def arrive(self, place: Place) -> None:
        if self._found is None or place != self._place:
            self._place, self._found = place, None
            self._rows.clear()
            self._read(place, 0)
        self.focus_main()

    def place(self) -> Place:
        return self._place

    def _read(self, place: Place, step: int) -> None:
        self.console_app.pool.ask(
            (self, "input"),
            lambda archive: read_input(archive, place.session, place.event, step),
            self._show,
            self._fail,
        )

    def _show(self, found: Found) -> None:
        self._found = found
        self._place = Place("context", session=found.session.uid, event=event_hex(found.given.request.row.id))
        blocks = found.given.blocks
        most = max((block.tokens for block in blocks), default=0)
        outside = self.console_app.outside
        draw = partial(_draw, outside=outside, most=most)
        self._rows.show(Listed(blocks, lambda block: block.row.key, draw), end=True, total=len(blocks))
        self._say_about()
        self.tell()

    def _fail(self, error: Exception) -> None:
        if isinstance(error, NotFound | LookupError):
            self.console_app.shell.flash(str(error), "person")
            if self._found is None:
                self.console_app.do_back()
        else:
            self.console_app.failed(error)

    @on(VirtualList.Moved)
    def _moved(self) -> None:
        key = self.event_key()
        if key is not None and self._found is not None:
            self.pane.follow(key, self._found.session, self._found.lanes)

    def event_key(self) -> int | None:
        block: Block | None = self._rows.item
        return block.row.key if block is not None else None

    def _say_empty(self, notice: Notice) -> None:
        lines = [(Ink("text", "The log holds nothing that stood in front of the model in this request."),)]
        notice.say(Ink("head", "Nothing recorded"), lines, (("backspace", "go back"),))

    def _say_failed(self, notice: Notice, error: Exception) -> None:
        self.console_app.show_error(notice, "What the model saw could not be read", error)

    # chrome

    def _say_about(self) -> None:
        if self._found is None:
            return
        given = self._found.given
        start = [Ink("text", "  "), Ink("text", f"about {figures.short(given.tokens)} tokens")]
        if given.reported is not None:
            counted = given.reported.input + given.reported.cache_read + given.reported.cache_write
            start.append(Ink("quiet", f" of {figures.short(counted)} the provider counted"))
        for row in given.snapshots[:3]:
            mark = HASHES.get(row.verdict, HASHES[None])
            start += [Ink("evidence", f" · ⌕ {self.console_app.outside.line(row.id, 24)} "), mark]
        start += [Ink("unknown", f" · ? {missing}") for missing in given.replay.missing]
        self._about.say(tuple(start))

    def crumbs(self) -> tuple[Line, Line]:
        outside = self.console_app.outside
        if self._found is None:
            return (Ink("text", "what the model saw"),), ()
        given, session = self._found.given, self._found.session
        request = given.request
        title = outside.line(session.title, max(self.size.width - 74, 12)) or session.uid
        lane = "" if request.row.lane == 0 else f" · lane {request.row.lane}"
        return (
            Ink("accent", "Timeline", "back"),
            Ink("faint", " ▸ "),
            Ink("outside", title),
            Ink("faint", " ▸ "),
            Ink("text", f"turn {request.row.turn}, request {request.number} of {given.requests}{lane}"),
        ), (Ink("holds" if given.replay.result == "exact" else "guess", f"{_GLYPH[given.replay.result]}"),)

    def second(self) -> tuple[Line, Line]:
        if self._found is None:
            return (), ()
        given = self._found.given
        model = self.console_app.outside.line(given.request.row.model, 30) or "model not recorded"
        words = [model, figures.clock(given.request.row.at) + " UTC"]
        if given.recorded is None:
            words.append("~ worked out from the log")
        if given.replaced:
            words.append(f"{figures.plural(given.replaced, 'older event')} replaced by a compaction")
        return dot(*words), self._warnings()

    def _warnings(self) -> Line:
        """The ways in which this context fails, told loudly enough to be looked at."""
        if self._found is None or not self._found.findings:
            return ()
        from affidavit.context.failures import FAILURES

        kinds = Counter(finding.kind for finding in self._found.findings)
        words = {str(kind): kind.replace("_", " ") for kind in FAILURES}
        said = " · ".join(f"{words.get(kind, kind)} {count}" for kind, count in kinds.items())
        return (Ink("person", f"! {said}"),)

    def missing(self) -> Line:
        if self._found is None:
            return (Ink("quiet", "reading …"),)
        blocks = self._found.given.blocks
        new = sum(block.new for block in blocks)
        lost = sum(block.problem is not None for block in blocks)
        parts = [figures.plural(len(blocks), "text"), f"{figures.number(new)} new (+)", "rejected: not recorded"]
        if lost:
            parts.append(f"{figures.number(lost)} without their text")
        return dot(*parts)

    def why(self, action: Action, now: Situation) -> str | None:
        if action.id == "filter":
            return "the texts stand here as the model had them; 6 searches every session"
        if action.id == "request.snapshot" and (self._found is None or not self._found.given.snapshots):
            return "no retrieval was recorded for this request"
        return super().why(action, now)

    def situation(self, now: Situation) -> Situation:
        rows = self._rows
        return replace(
            now,
            row=rows.item is not None,
            loading=self._found is None or rows.reading,
            transient=now.transient or self.has_class("-whole"),
        )

    # actions

    def do_open(self) -> None:
        block: Block | None = self._rows.item
        if block is not None and self._found is not None:
            self.console_app.go(Place("timeline", session=self._found.session.uid, event=event_hex(block.row.id)))

    def do_request_next(self) -> None:
        self._read(self._place, 1)

    def do_request_previous(self) -> None:
        self._read(self._place, -1)

    def do_request_snapshot(self) -> None:
        snapshots = self._found.given.snapshots if self._found is not None else ()
        if len(snapshots) == 1:
            self._open_snapshot(f"snapshot:{snapshots[0].uid}")
        else:
            outside = self.console_app.outside
            choices = [
                Choice(f"snapshot:{row.uid}", outside.line(row.id, 40), note=HASHES.get(row.verdict, HASHES[None]).text)
                for row in snapshots
            ]
            self.app.push_screen(Chooser("Retrievals made for this request", choices), self._open_snapshot)

    def _open_snapshot(self, choice: str | None) -> None:
        if choice is not None:
            self.console_app.go(Place("snapshot", session=choice.partition(":")[2]))

    def do_raw(self) -> None:
        self.pane.turn_over()

    def masked(self) -> None:
        super().masked()
        self._say_about()

    def prepare_copies(self, give: Callable[[Sequence[Copy]], None]) -> None:
        found, block = self._found, self._rows.item
        if found is None or block is None:
            return
        app = self.console_app
        address = f"context/{found.session.uid}/{found.given.request.number}"
        event = f"session/{found.session.uid}#{event_hex(block.row.id)}"

        def read(archive: Archive) -> list[Copy]:
            text = archive.detail(block.row.key).text
            return [
                Copy("address", "address of this request", address),
                Copy("command", "command that prints it", f"affidavit replay {address}"),
                Copy("event", "address of this text", event),
                Copy("text", "this text", app.outside.block(text)),
            ]

        app.pool.ask((self, "copy"), read, give, app.failed)


_GLYPH = {"exact": "✓ replay: exact", "partial": "~ replay: partial", "not_reconstructable": "? not reconstructable"}


def _draw(block: Block, room: int, *, outside: Outside, most: int) -> Line:
    return block_line(block, room, outside, most)
