"""Gate runs: every recall that was judged, newest first: how much passed, how much was kept back, and why."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, ClassVar

from textual.binding import BindingType

from console.screens.gates.columns import COLUMNS, run_line
from console.screens.recorded_view import Kept, RecordedView
from console.screens.view import Place, bindings
from console.widgets.ink import Ink, Line
from console.widgets.notice import Notice
from console.widgets.safe import Outside
from storage.queries.gate_runs import GateRunFilter, GateRunRow

if TYPE_CHECKING:
    from storage.archive import Archive


class GateRunsView(RecordedView):
    """See the module."""

    NAME = "gates"
    TITLE = "Gate runs"
    WHAT = "the gate runs"
    BINDINGS: ClassVar[list[BindingType]] = [*bindings("gates")]
    EVERYTHING = GateRunFilter()
    FACETS = ("space", "reason")
    THING = "gate run"
    OPENS = "gate"
    COLUMNS = COLUMNS
    filter_hint = "words of a query, a memory space, a session or an id"

    def kept(self, archive: Archive) -> Kept:
        return archive.gate_runs

    def draw(self, row: GateRunRow, room: int, outside: Outside, now: datetime) -> Line:
        return run_line(row, room, outside, now)

    def say_nothing_stored(self, notice: Notice) -> None:
        lines = [
            (Ink("text", "No recall was judged into this store, by Affidavit or by a program that writes to it."),),
            (Ink("text", "affidavit recall QUERY judges what the memories of this store hold about it."),),
        ]
        notice.say(Ink("head", "Nothing stored"), lines, (("3", "snapshots"), ("?", "every key")))

    def crumbs(self) -> tuple[Line, Line]:
        return (Ink("accent", "Snapshots", "go.snapshots"), Ink("faint", " ▸ "), Ink("text", "gate runs")), ()

    def do_gate_runs(self) -> None:
        self.console_app.go(Place("snapshots"))
