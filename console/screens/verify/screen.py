"""Verify: what was checked, what held, and the record that did not."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import BindingType

from console.actions import Action, Situation
from console.screens.list_view import ListView
from console.screens.verify.report import Report, failure_line, failure_lines, progress_line, report_lines
from console.screens.view import Copy, Place, bindings, dot
from console.services import VerifyFailure, VerifyResult
from console.widgets import figures
from console.widgets.ink import Ink, Line
from console.widgets.notice import Notice
from console.widgets.safe import Outside
from console.widgets.source import Cursor
from console.widgets.text_view import TextView
from console.widgets.virtual_list import VirtualList
from console.working import Job
from storage.queries.models import Page

if TYPE_CHECKING:
    from console.saved_filters import Part
    from storage.archive import Archive

_Row = tuple[int, VerifyFailure]


@dataclass(frozen=True)
class FailureSource:
    """The failures of one verification that some words occur in."""

    failures: tuple[_Row, ...]
    outside: Outside
    two_way: bool = True

    def load(
        self,
        archive: Archive,  # noqa: ARG002
        cursor: Cursor | None,
        direction: Any,
        inclusive: bool,
        limit: int,
    ) -> Page[_Row]:
        count = len(self.failures)
        at = cursor[0] if cursor is not None and isinstance(cursor[0], int) else None
        if direction == "after":
            start = 0 if at is None else at + (0 if inclusive else 1)
            end = min(start + limit, count)
        else:
            end = count if at is None else at + (1 if inclusive else 0)
            start = max(end - limit, 0)
        rows = self.failures[start:end]
        return Page(rows, (start,) if rows and start else None, (end - 1,) if rows and end < count else None)

    def key(self, item: _Row) -> Hashable:
        return item[0]

    def line(self, item: _Row, room: int) -> Line:
        return failure_line(item[1], room, self.outside)


class VerifyView(ListView):
    """See the module."""

    NAME = "verify"
    TITLE = "Verify"
    WHAT = "the failures"
    BINDINGS: ClassVar[list[BindingType]] = [*bindings("verify")]
    filter_hint = "words of a failure"

    def __init__(self) -> None:
        super().__init__()
        self._filter = ""
        self._shown: tuple[VerifyResult | None, str] | None = None
        self._meanings: Mapping[str, str] = {}
        self._claims: tuple[str, ...] = ()
        self._report = Report(id="verify-report")
        self._detail = TextView(id="verify-detail")
        self._detail.can_focus = False

    def compose(self) -> ComposeResult:
        yield self._report
        yield self._list_pane
        yield self._detail

    def arrive(self, place: Place) -> None:  # noqa: ARG002
        self.worked()
        self.focus_main()
        if not self._claims:
            # What verifying means is written where it is done; to load that takes longer than a key may.
            job = Job("looking", self.console_app.call_later, lambda: None)
            job.start(lambda _progress, _cancelled: _read_meanings(), self._learn, lambda _error: None)

    def _learn(self, meanings: tuple[Mapping[str, str], tuple[str, ...]]) -> None:
        self._meanings, self._claims = meanings
        self.worked()
        self._show_detail()

    @property
    def _result(self) -> VerifyResult | None:
        return self.console_app.standing.result

    def judged(self) -> None:
        self.worked()

    def worked(self) -> None:
        """Say how far a run is, or what it found."""
        app, job = self.console_app, self.console_app.jobs.job
        if job is not None and job.name == "verify":
            self._report.say([(), progress_line(job.stage, job.done, job.total, app.outside)])
        elif self._result is not None:
            self._report.say([*report_lines(self._result, app.outside), ()])
        else:
            self._report.say([])
        if self._shown != (self._result, self._filter):
            self._shown = (self._result, self._filter)
            self._show_failures()
        self._list_pane.settle()

    def _show_failures(self) -> None:
        failures = self._result.failures if self._result is not None else ()
        word = self._filter.casefold()
        kept = tuple(
            (number, failure)
            for number, failure in enumerate(
                failure
                for failure in failures
                if word in f"{failure.kind} {failure.address} {failure.detail}".casefold()
            )
        )
        self._rows.show(FailureSource(kept, self.console_app.outside), total=len(kept))

    @on(VirtualList.Moved)
    def _moved(self) -> None:
        self._show_detail()

    def _show_detail(self) -> None:
        row = self._rows.item
        self._detail.display = row is not None
        if row is not None:
            self._detail.show(failure_lines(row[1], self._meanings, self.console_app.outside), ())

    def on_resize(self) -> None:
        self.worked()

    def _say_failed(self, notice: Notice, error: Exception) -> None:
        # The failures are at hand; it is the store that cannot be opened, which matters once there are any.
        if self._result is None or not self._result.failures:
            self._say_empty(notice)
        else:
            self.console_app.show_error(notice, "The store could not be opened", error)

    def _say_empty(self, notice: Notice) -> None:
        result = self._result
        claim: list[Line] = []
        if self._claims:
            claim = [(Ink("quiet", "What this does not claim: " + "; ".join(self._claims) + "."),)]
        if self.console_app.jobs.busy == "verify":
            notice.say(Ink("quiet", "Checking …"), (), [("leave", "stop")])
        elif result is None:
            lines: list[Line] = [
                (Ink("text", "Every entry, hash and chain is checked, and every table is made again and compared."),),
                (Ink("text", "Nothing is asked of any network, and nothing is written."),),
                (),
                *claim,
            ]
            notice.say(
                Ink("head", "Not checked yet"),
                lines,
                [("verify.run", "check it now")],
            )
        elif result.failures:
            notice.say(Ink("head", "No failure fits"), (), [("leave", "take the filter away")])
        else:
            notice.say(
                _verdict(result), claim, [("verify.run", "check everything again"), ("verify.new", "only what is new")]
            )

    # chrome

    def second(self) -> tuple[Line, Line]:
        result = self._result
        if result is None:
            return (Ink("text", "Verify"),), ()
        start = [Ink("text", figures.plural(result.entries, "entry", "entries"))]
        if result.stale:
            start.append(Ink("person", "   the file has changed since it was checked"))
        elif result.since and not result.whole:
            start.append(Ink("person", f"   0–{figures.number(result.since - 1)} not checked again"))
        when = f"{figures.ago(result.finished, self.console_app.now())} · " if result.finished else ""
        if self._filter:
            start += [Ink("key", "   / "), Ink("hit", self.console_app.outside.line(self._filter, 30))]
        level = "" if result.since is None else " for what is new"
        ink = "head" if result.holds else "fails"
        return tuple(start), (Ink("quiet", when + "level "), Ink(ink, result.level), Ink("quiet", level))

    def missing(self) -> Line:
        result = self._result
        if result is None:
            return dot("nothing is known yet")
        hidden = len(result.failures) - len(self._rows.rows)
        return dot(
            figures.plural(len(result.failures), "failure"),
            f"{figures.number(result.withheld)} withheld",
            f"{hidden} hidden by filter" if self._filter else "",
        )

    def situation(self, now: Situation) -> Situation:
        rows = self._rows
        return replace(
            now,
            row=rows.item is not None,
            loading=rows.reading,
            filtered=bool(self._filter),
            transient=now.transient or bool(self._filter) or bool(rows.marked),
        )

    def why(self, action: Action, now: Situation) -> str | None:
        if action.id in ("filter", "open") and (self._result is None or not self._result.failures):
            return "there are no failures"
        return super().why(action, now)

    # the filter

    @property
    def filter_text(self) -> str:
        return self._filter

    def preview(self, text: str) -> None:
        self._filter = text
        self.worked()

    def filter_parts(self) -> dict[str, Part]:
        return {"text": self._filter} if self._filter else {}

    def use_parts(self, parts: Mapping[str, Part]) -> None:
        self.preview(str(parts.get("text", "")))

    def leave(self) -> bool:
        if self._rows.marked:
            self._rows.unmark()
        elif self._filter:
            self.preview("")
        else:
            return False
        return True

    # actions

    def do_open(self) -> None:
        row = self._rows.item
        if row is None:
            return
        if row[1].address.startswith("table/"):
            self.console_app.shell.flash("a row of a table is made from the ledger: `affidavit rebuild` makes it anew")
        else:
            self.console_app.finding.go_to(row[1].address)

    def prepare_copies(self, give: Callable[[Sequence[Copy]], None]) -> None:
        outside = self.console_app.outside
        rows = list(self._rows.marked.values()) or ([self._rows.item] if self._rows.item else [])
        told = [f"{outside.line(f.kind)}\t{outside.line(f.address)}\t{outside.line(f.detail)}" for _n, f in rows]
        give(
            [
                Copy("text", "failure", "\n".join(told)),
                Copy("address", "address", "\n".join(outside.line(f.address) for _n, f in rows)),
            ]
        )

    def prepare_text(self, give: Callable[[str], None]) -> None:
        result, outside = self._result, self.console_app.outside
        if result is not None:
            lines = [
                f"{outside.line(f.kind)}  {outside.line(f.address)}  {outside.line(f.detail)}" for f in result.failures
            ]
            give(self._report.text + "\n\n" + "\n".join(lines))


def _verdict(result: VerifyResult) -> Ink:
    """What a run without failures has shown, and no more."""
    if result.stale:
        return Ink("person", "? the file has changed since it was checked")
    if result.since is None:
        return Ink("holds", f"✓ everything that was checked holds: {result.level}")
    if result.entries > result.since:
        return Ink("holds", f"✓ what is new holds: {result.level}")
    return Ink("head", "Nothing is new")


def _read_meanings() -> tuple[Mapping[str, str], tuple[str, ...]]:
    from storage.verify import FAILURES, NOT_CLAIMED

    return FAILURES, NOT_CLAIMED
