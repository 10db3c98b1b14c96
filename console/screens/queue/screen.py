"""Queue: what waits for a person's decision, the riskiest first, with everything the decision rests on beside it."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, cast

from textual import on
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Container

from console.screens.deciding_view import DecidingView, Shown
from console.screens.queue.lines import candidate_line, heading, whole
from console.screens.view import Copy, Place, bindings, dot
from console.widgets import figures
from console.widgets.bar import Bar
from console.widgets.chooser import Choice, Chooser
from console.widgets.ink import Ink, Line
from console.widgets.notice import Notice
from console.widgets.safe import Outside
from console.widgets.source import Cursor
from console.widgets.virtual_list import VirtualList
from storage.folds.governed_rows import CandidateRow
from storage.queries.governed import GovernedFilter
from storage.queries.models import Page

if TYPE_CHECKING:
    from affidavit.memory.record import GovernanceMemoryRecord
    from storage.archive import Archive
    from storage.queries.governed_archive import Checked


@dataclass(frozen=True)
class QueueSource:
    """Candidates that wait, the riskiest first."""

    filter: GovernedFilter
    outside: Outside
    now: Callable[[], datetime]
    two_way: bool = True

    def load(
        self, archive: Archive, cursor: Cursor | None, direction: Any, inclusive: bool, limit: int
    ) -> Page[Waiting]:
        page = archive.governed.candidates(
            self.filter, by_risk=True, cursor=cursor, direction=direction, inclusive=inclusive, limit=limit
        )
        return Page(tuple(waiting(archive, row) for row in page.rows), page.before, page.after)

    def key(self, item: Waiting) -> Hashable:
        return item.row.id

    def line(self, item: Waiting, room: int) -> Line:
        return candidate_line(item.row, item.says, room, self.outside, self.now())


class Waiting(NamedTuple):
    """A candidate in the queue with what it says, empty where its text was erased."""

    row: CandidateRow
    says: str


def waiting(archive: Archive, row: CandidateRow) -> Waiting:
    """A candidate with its words, read again from what was recorded."""
    candidate = archive.governed.candidate(row.id, row.version)
    return Waiting(row, "" if candidate is None else candidate.content)


@dataclass(frozen=True)
class Whole:
    """A candidate with its check, and how it would be told to a model."""

    found: Checked
    told: str


class QueueView(DecidingView):
    """See the module."""

    NAME = "queue"
    TITLE = "Queue"
    WHAT = "the queue"
    BINDINGS: ClassVar[list[BindingType]] = [*bindings("queue")]
    filter_hint = "words of a candidate"

    def __init__(self) -> None:
        super().__init__()
        self._filter = GovernedFilter(waiting=True)
        self._whole: Whole | None = None
        self._waiting: int | None = None
        self._heading = Bar(id="queue-heading")

    def compose(self) -> ComposeResult:
        yield self._heading
        with Container(id="queue-body"):
            yield self._list_pane
            yield self.text

    @property
    def row(self) -> CandidateRow | None:
        """The candidate under the cursor."""
        item: Waiting | None = self._rows.item
        return None if item is None else item.row

    # reading

    def arrive(self, place: Place) -> None:  # noqa: ARG002
        self.reload()
        self.focus_main()

    def grown(self, sessions: frozenset[int]) -> None:  # noqa: ARG002
        if not self.console_app.shell.prompting:
            self.reload()

    def reload(self) -> None:
        app, at = self.console_app, self._rows.cursor
        wanted = replace(self._filter, now=round(app.now().timestamp() * 1_000_000))
        self._shown = self._whole = None
        self._return_to = at
        self._rows.show(QueueSource(wanted, app.outside, app.now))
        width = max(self._rows.size.width - VirtualList.GUTTER, 20)
        self._heading.say((Ink("text", " " * VirtualList.GUTTER), *heading(width - 1)))

        def counted(count: int) -> None:
            self._waiting = count
            self._rows.total = count
            self._list_pane.settle()
            self.tell()

        app.pool.ask(
            (self, "count"), lambda archive: archive.governed.count_candidates(wanted).value, counted,
            lambda _error: None, slow=True,
        )  # fmt: skip

    _return_to = 0

    @on(VirtualList.Changed)
    def _changed(self) -> None:
        if self._return_to and self._rows.rows and not self._rows.reading:
            to, self._return_to = min(self._return_to, len(self._rows.rows) - 1), 0
            self._rows.move(to)

    @on(VirtualList.Moved)
    def _moved(self) -> None:
        row, app = self.row, self.console_app
        self._shown = self._whole = None
        if row is None:
            self.text.show((), ())
            return
        now = app.now()

        def show(found: Whole | None) -> None:
            if self.row is None or self.row.id != row.id:
                return
            if found is None:
                self.draw_nothing("its text was erased; there is nothing to decide")
                return
            self._whole = found
            claim = found.found.claim
            self.text.show(whole(found.found, found.told, claim, app.outside, now), ())
            self._shown = Shown(row.id, found.found.shown_hash)
            self.tell()

        app.pool.ask((self, "candidate"), lambda archive: read_whole(archive, row, now), show, app.failed)

    def words(self) -> str:
        return "" if self._whole is None else self._whole.found.candidate.content

    def scope(self) -> str:
        return "" if self.row is None else f"{self.row.level}:{self.row.scope}"

    def _say_failed(self, notice: Notice, error: Exception) -> None:
        self.console_app.show_error(notice, "The queue could not be read", error)

    def _say_empty(self, notice: Notice) -> None:
        self.text.show((), ())
        lines = [
            (Ink("text", "Nothing waits for a decision."),),
            (Ink("text", "Candidates come from affidavit propose, record and import, and from agents over MCP."),),
        ]
        notice.say(Ink("head", "The queue is clear"), lines, (("2", "sessions"), ("4", "memories"), ("?", "every key")))

    # chrome

    def missing(self) -> Line:
        if self._waiting is None:
            return (Ink("quiet", "reading …"),)
        place = f"{self._rows.cursor + 1} of " if self._rows.rows else ""
        return dot(f"{place}{figures.number(self._waiting)} wait")

    def standing(self) -> Line:
        if self._whole is None:
            return super().standing()
        row = self._whole.found.row
        return dot(f"you read {row.id[:8]}@{row.version} · sha {self._whole.found.shown_hash[:8]}")

    # actions

    def do_approve(self) -> None:
        quarantined = self._whole is not None and self._whole.found.status == "quarantined"
        if quarantined and not self.has_class("-whole"):
            self.console_app.shell.flash("it is quarantined: open it whole with enter first", "person")
            return
        self.decide("approve", opened=quarantined)

    def do_reject(self) -> None:
        self.decide("reject")

    def do_ask(self) -> None:
        self.decide("ask")

    def do_withdraw(self) -> None:
        self.decide("withdraw")

    def do_merge(self) -> None:
        found = self._whole
        if found is None or not found.found.report.likeness:
            self.console_app.shell.flash("nothing in the store is like it", "person")
            return
        outside = self.console_app.outside
        choices = [
            Choice(f"into:{like.id}", outside.line(like.id, 40), note=f"{like.verdict} {like.score:.0f}")
            for like in found.found.report.likeness
        ]
        self.app.push_screen(Chooser("Merge into", choices), self._merge_into)

    def _merge_into(self, choice: str | None) -> None:
        if choice is not None:
            self.decide("merge", into=choice.partition(":")[2])

    def do_claim(self) -> None:
        found = self._whole
        if found is not None and self._shown is not None:
            now = self.console_app.now().timestamp() * 1_000_000
            held = found.found.claim is not None and found.found.claim.until > now
            self.decide("release" if held else "claim")
            self.answered("claimed on the screen")
            self.console_app.shell.close_prompt()

    def prepare_copies(self, give: Callable[[Sequence[Copy]], None]) -> None:
        found = self._whole
        if found is None:
            return
        app, row = self.console_app, found.found.row
        address = f"candidate/{row.id}@{row.version}"
        give(
            [
                Copy("address", "address", address),
                Copy("command", "command that shows it", f"affidavit show {address}"),
                Copy("hash", "hash of what is shown", found.found.shown_hash),
                Copy("text", "text", app.outside.block(found.found.candidate.content)),
            ]
        )

    def prepare_text(self, give: Callable[[str], None]) -> None:
        give(self.text.text)


def read_whole(archive: Archive, row: CandidateRow, now: datetime) -> Whole | None:
    """A candidate with its check, as of a moment. Runs in a reading thread."""
    from affidavit.memory.tone import told

    found = archive.governed.check(row, now)
    if found is None:
        return None
    one = found.candidate
    if one.scope.level == "task":
        return Whole(found, "never: a task's candidate stays with its task")
    asked = _Asked(one.scope, one.source.type, one.content, one.confidence, one.kind, one.authority_asked)
    return Whole(found, told(cast("GovernanceMemoryRecord", asked)))


class _Asked(NamedTuple):
    """What of a record its tone follows, as the candidate asks for it."""

    scope: object
    origin: str
    content: str
    confidence: str
    kind: str
    authority: str
