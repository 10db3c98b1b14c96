"""Snapshots: every retrieval that was recorded, newest first: what was found, what was left out, what was seen."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, ClassVar

from textual.binding import BindingType

from console.screens.recorded_view import Kept, RecordedView
from console.screens.snapshots.columns import COLUMNS, HASHES, snapshot_line
from console.screens.view import Place, bindings
from console.widgets.ink import Ink, Line
from console.widgets.notice import Notice
from console.widgets.safe import Outside
from storage.queries.snapshots import FACETS, SnapshotFilter, SnapshotRow

if TYPE_CHECKING:
    from storage.archive import Archive


class SnapshotsView(RecordedView):
    """See the module."""

    NAME = "snapshots"
    TITLE = "Snapshots"
    WHAT = "the snapshots"
    BINDINGS: ClassVar[list[BindingType]] = [*bindings("snapshots")]
    EVERYTHING = SnapshotFilter()
    FACETS = tuple(FACETS)
    THING = "snapshot"
    OPENS = "snapshot"
    COLUMNS = COLUMNS
    filter_hint = "words of a question, a purpose, a session or an id"

    def kept(self, archive: Archive) -> Kept:
        return archive.snapshots

    def draw(self, row: SnapshotRow, room: int, outside: Outside, now: datetime) -> Line:
        return snapshot_line(row, room, outside, now)

    def facet_word(self, name: str, value: str) -> str:
        return HASHES[value].text if name == "verdict" and value in HASHES else super().facet_word(name, value)

    def say_nothing_stored(self, notice: Notice) -> None:
        lines = [
            (Ink("text", "No retrieval was recorded in this store, by Affidavit or by a program that writes to it."),),
            (Ink("text", "What searches and reads put before the model of any session stands in its timeline:"),),
            (Ink("text", "i on a row shows what the model saw there."),),
        ]
        notice.say(Ink("head", "Nothing stored"), lines, (("2", "sessions"), ("?", "every key")))

    def do_gate_runs(self) -> None:
        self.console_app.go(Place("gates"))
