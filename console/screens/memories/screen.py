"""Memories: what was let into the store, the last changed first, each with its versions, its tone and its history."""

from __future__ import annotations

import json
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

from textual.binding import BindingType

from console.actions import Situation
from console.screens.deciding_view import DecidingView, Shown
from console.screens.queue.lines import KINDS
from console.screens.view import Copy, bindings, dot
from console.widgets import figures
from console.widgets.chooser import Choice, Chooser
from console.widgets.ink import Ink, Line, left
from console.widgets.notice import Notice
from console.widgets.safe import Outside
from console.widgets.source import Cursor
from storage.folds.governed_rows import DecisionRow, MemoryRow, MemoryVersionRow
from storage.queries.governed import GovernedFilter
from storage.queries.models import Page

if TYPE_CHECKING:
    from affidavit.memory.record import GovernanceMemoryRecord
    from storage.archive import Archive

STATES = {
    "active": Ink("holds", "✓ active"),
    "deprecated": Ink("gone", "· deprecated"),
    "revoked": Ink("fails", "✗ revoked"),
    "expired": Ink("person", "! expired"),
    "merged": Ink("gone", "· merged"),
}


@dataclass(frozen=True)
class MemorySource:
    """Memories of a filter, the last changed first."""

    filter: GovernedFilter
    outside: Outside
    now: Callable[[], datetime]
    two_way: bool = True

    def load(self, archive: Archive, cursor: Cursor | None, direction: Any, inclusive: bool, limit: int) -> Page[Held]:
        page = archive.governed.memories(
            self.filter, cursor=cursor, direction=direction, inclusive=inclusive, limit=limit
        )
        return Page(tuple(held(archive, row) for row in page.rows), page.before, page.after)

    def key(self, item: Held) -> Hashable:
        return item.row.id

    def line(self, item: Held, room: int) -> Line:
        return memory_line(item.row, item.says, room, self.outside, self.now())


class Held(NamedTuple):
    """A memory with what it says, empty where its text was erased."""

    row: MemoryRow
    says: str


def held(archive: Archive, row: MemoryRow) -> Held:
    """A memory with its words, read again from what was recorded."""
    record = archive.governed.memory(row.id, row.version)
    return Held(row, "" if record is None else record.content)


@dataclass(frozen=True)
class Whole:
    """A memory with everything known of it. ``record`` ``None``: its text was erased."""

    row: MemoryRow
    record: GovernanceMemoryRecord | None
    told: str
    hash: str
    versions: list[MemoryVersionRow]
    decisions: list[DecisionRow]


def state_of(row: MemoryRow, now: datetime) -> str:
    """A memory's state at a moment: one whose time is over is expired, whatever is stored."""
    over = row.expires is not None and row.expires <= now.timestamp() * 1_000_000
    return "expired" if row.status == "active" and over else row.status


def memory_line(row: MemoryRow, says: str, room: int, outside: Outside, now: datetime) -> Line:
    """One memory."""
    ink = STATES.get(state_of(row, now), Ink("unknown", "? " + outside.line(row.status, 10)))
    head: list[Ink] = [ink._replace(text=left(ink.text, 13)), Ink("text", left(row.authority, 8))]
    taken = 21
    if room >= 70:
        head.append(Ink("quiet", left(outside.line(f"{row.level} {row.scope}", 23), 24)))
        taken += 24
    return (*head, Ink("memory", outside.line(says, max(room - taken, 4)) or "its text was erased"))


def whole_lines(whole: Whole, outside: Outside, now: datetime) -> list[Line]:
    """A memory whole: what it says, how a model is told, its dates, versions and decisions."""
    row = whole.row
    state = STATES.get(state_of(row, now), Ink("unknown", row.status))
    lines: list[Line] = [(Ink("head", f"memory {row.id[:12]}@{row.version}  "), state), ()]
    if whole.record is None:
        lines.append((Ink("unknown", "? its text was erased"),))
    else:
        lines += [(Ink("outside", text),) for text in outside.block(whole.record.content).split("\n")[:60]]
        lines += [(), (Ink("quiet", "a model is told  "), Ink("memory", outside.line(whole.told)))]
    scope = outside.line(f"{row.level}:{row.scope}", 60)
    lines.append(
        (Ink("quiet", f"{KINDS.get(row.kind, row.kind)} · {scope} · confidence {row.confidence} · {row.authority}"),)
    )
    for word, at in (("verified", row.verified), ("review after", row.review), ("expires", row.expires)):
        if at is not None:
            lines.append((Ink("quiet", f"{word} {figures.moment(at)}"),))
    lines += [(), (Ink("head", "versions"),)]
    for one in whole.versions:
        said = json.loads(one.body).get("content") if one.body else None
        lines.append(
            (
                Ink("quiet", f"  @{one.version} {left(one.status, 11)}"),
                Ink("outside", outside.line(said, 120) or "erased"),
            )
        )
    lines += [(), (Ink("head", "decided"),)]
    for decision in whole.decisions:
        undone = " (taken back)" if decision.undone else ""
        lines.append(
            (
                Ink("quiet", f"  {figures.moment(decision.at)}  "),
                Ink("text", f"{decision.verb}{undone}"),
                Ink("quiet", f"  by {outside.line(decision.by, 30) or 'erased'}: "),
                Ink("outside", outside.line(decision.reason, 120) or "erased"),
            )
        )
    lines += [(), (Ink("quiet", f"you read {row.id[:12]}@{row.version} · sha {whole.hash[:16]}"),)]
    return lines


def read_whole(archive: Archive, row: MemoryRow) -> Whole:
    """A memory with its versions and decisions. Runs in a reading thread."""
    from affidavit.memory.tone import told

    record = archive.governed.memory(row.id, row.version)
    shown = archive.governed.memory_shown(row)
    return Whole(
        row,
        record,
        "" if record is None else told(record),
        "" if shown is None else shown[1],
        archive.governed.memory_versions(row.id),
        archive.governed.decisions(row.candidate, row.id),
    )


class MemoriesView(DecidingView):
    """See the module."""

    NAME = "memories"
    TITLE = "Memories"
    WHAT = "the memories"
    BINDINGS: ClassVar[list[BindingType]] = [*bindings("memories")]
    filter_hint = "words of a memory"

    def __init__(self) -> None:
        super().__init__()
        self._whole: Whole | None = None

    @property
    def row(self) -> MemoryRow | None:
        """The memory under the cursor."""
        item: Held | None = self._rows.item
        return None if item is None else item.row

    # reading

    def source(self, filter: GovernedFilter) -> MemorySource:
        return MemorySource(filter, self.console_app.outside, self.console_app.now)

    def counted(self, archive: Archive, filter: GovernedFilter) -> int:
        return archive.governed.count_memories(filter).value

    def heading(self, room: int) -> Line:
        scope = left("scope", 24) if room >= 70 else ""
        return (Ink("quiet", f"state        tone    {scope}memory"),)

    def reading(self) -> Callable[[Archive], Any] | None:
        self._whole = None
        row = self.row
        return None if row is None else lambda archive: read_whole(archive, row)

    def drawn(self, whole: Whole) -> Shown | None:
        self._whole = whole
        self.text.show(whole_lines(whole, self.console_app.outside, self.console_app.now()), ())
        return Shown(whole.row.id, whole.hash) if whole.hash else None

    def words(self) -> str:
        return "" if self._whole is None or self._whole.record is None else self._whole.record.content

    def scope(self) -> str:
        return "" if self.row is None else f"{self.row.level}:{self.row.scope}"

    def _say_failed(self, notice: Notice, error: Exception) -> None:
        self.console_app.show_error(notice, "The memories could not be read", error)

    def _say_empty(self, notice: Notice) -> None:
        self.text.show((), ())
        if not self.filtered:
            words = "Nothing was let into the store yet: 1 shows what waits for a decision."
            notice.say(Ink("head", "No memories"), [(Ink("text", words),)], (("1", "queue"), ("?", "every key")))
        else:
            keys = (("esc", "take the filter away"), ("f", "narrow down otherwise"))
            notice.say(Ink("head", "No memory fits"), (), keys)

    # chrome

    def second(self) -> tuple[Line, Line]:
        state = self._filter.status or "any"
        return (), (Ink("quiet", "state ▾ ", "facets"), Ink("text", state, "facets"))

    def missing(self) -> Line:
        if self._count is None:
            return (Ink("quiet", "reading …"),)
        return dot(figures.plural(self._count, "memory", "memories"))

    def situation(self, now: Situation) -> Situation:
        return replace(super().situation(now), facets=True)

    # actions

    def do_facets(self) -> None:
        states = ("active", "deprecated", "revoked", "merged")
        choices = [Choice(state, state, checked=self._filter.status == state) for state in states]
        self.app.push_screen(Chooser("Only memories that are", choices), self._narrowed)

    def _narrowed(self, state: str | None) -> None:
        if state is not None:
            self._filter = replace(self._filter, status=None if self._filter.status == state else state)
            self.reload()

    def do_revoke(self) -> None:
        self.decide("revoke")

    def do_deprecate(self) -> None:
        self.decide("deprecate")

    def do_renew(self) -> None:
        self.decide("renew")

    def prepare_copies(self, give: Callable[[Sequence[Copy]], None]) -> None:
        found = self._whole
        if found is None:
            return
        app = self.console_app
        address = f"memory/{found.row.id}@{found.row.version}"
        copies = [Copy("address", "address", address), Copy("command", "command", f"affidavit show {address}")]
        if found.record is not None:
            copies.append(Copy("text", "text", app.outside.block(found.record.content)))
            copies.append(Copy("told", "as a model is told", app.outside.block(found.told)))
        give(copies)

    def prepare_text(self, give: Callable[[str], None]) -> None:
        give(self.text.text)
