"""Queue: what waits for a person's decision, the riskiest first, with everything the decision rests on beside it."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, cast

from textual.binding import BindingType

from console.screens.deciding_view import DecidingView, Shown
from console.screens.queue.lines import candidate_line, heading, whole_lines
from console.screens.view import Copy, bindings, dot
from console.widgets import figures
from console.widgets.chooser import Choice, Chooser
from console.widgets.ink import Ink, Line
from console.widgets.notice import Notice
from console.widgets.safe import Outside
from console.widgets.source import Cursor
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

    EVERYTHING = GovernedFilter(waiting=True)

    def __init__(self) -> None:
        super().__init__()
        self._whole: Whole | None = None

    @property
    def row(self) -> CandidateRow | None:
        """The candidate under the cursor."""
        item: Waiting | None = self._rows.item
        return None if item is None else item.row

    # reading

    def source(self, filter: GovernedFilter) -> QueueSource:
        return QueueSource(self._asked_for(filter), self.console_app.outside, self.console_app.now)

    def counted(self, archive: Archive, filter: GovernedFilter) -> int:
        return archive.governed.count_candidates(self._asked_for(filter)).value

    def _asked_for(self, filter: GovernedFilter) -> GovernedFilter:
        """The filter as of now: an open question comes back once its date has passed."""
        return replace(filter, now=round(self.console_app.now().timestamp() * 1_000_000))

    def heading(self, room: int) -> Line:
        return heading(room)

    def reading(self) -> Callable[[Archive], Any] | None:
        self._whole = None
        row, now = self.row, self.console_app.now()
        return None if row is None else lambda archive: read_whole(archive, row, now)

    def drawn(self, whole: Whole | None) -> Shown | None:
        self._whole = whole
        if whole is None:
            self.text.show(((Ink("quiet", "its text was erased; there is nothing to decide"),),), ())
            return None
        app = self.console_app
        self.text.show(whole_lines(whole.found, whole.told, whole.found.claim, app.outside, app.now()), ())
        return Shown(whole.found.row.id, whole.found.shown_hash)

    def words(self) -> str:
        return "" if self._whole is None else self._whole.found.candidate.content

    def scope(self) -> str:
        return "" if self.row is None else f"{self.row.level}:{self.row.scope}"

    def _say_failed(self, notice: Notice, error: Exception) -> None:
        self.console_app.show_error(notice, "The queue could not be read", error)

    def _say_empty(self, notice: Notice) -> None:
        self.text.show((), ())
        if self.filtered:
            notice.say(Ink("head", "No candidate fits"), (), (("esc", "take the filter away"), ("/", "change it")))
            return
        lines = [
            (Ink("text", "Nothing waits for a decision."),),
            (Ink("text", "Candidates come from affidavit propose, record and import, and from agents over MCP."),),
        ]
        notice.say(Ink("head", "The queue is clear"), lines, (("2", "sessions"), ("4", "memories"), ("?", "every key")))

    # chrome

    def missing(self) -> Line:
        if self._count is None:
            return (Ink("quiet", "reading …"),)
        place = f"{self._rows.cursor + 1} of " if self._rows.rows else ""
        return dot(f"{place}{figures.number(self._count)} wait")

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

    def claimed(self) -> bool:
        claim = None if self._whole is None else self._whole.found.claim
        return claim is not None and claim.until > self.console_app.now().timestamp() * 1_000_000

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
