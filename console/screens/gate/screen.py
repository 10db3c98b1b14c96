"""One run of the recall gate: what passed, what was kept back and why, and what that was the time before.

The run before of the same query is what a change of settings is held against: a dry run under settings that are only
tried stands beside the one under those in force.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar

from textual.app import ComposeResult
from textual.binding import BindingType

from console.actions import Situation
from console.finding import NotFound
from console.screens.view import Copy, Place, View, bindings, dot
from console.widgets import figures
from console.widgets.error_panel import describe
from console.widgets.ink import Ink, Line
from console.widgets.safe import Outside
from console.widgets.text_view import TextView
from console.words import moment

if TYPE_CHECKING:
    from storage.archive import Archive
    from storage.queries.gate_runs import GateRunRow

MOST_TITLE = 100
"""Cells of a title that are shown."""


@dataclass(frozen=True, slots=True)
class Found:
    """A run with its record, and the run before of the same query with its record."""

    row: GateRunRow
    line: dict[str, Any]
    before: GateRunRow | None
    line_before: dict[str, Any] | None


def read_run(archive: Archive, id: str) -> Found:
    """Reads a run. Runs in a reading thread; raises :class:`NotFound`."""
    from storage.queries.records import RecordError

    rows = archive.gate_runs.find(id)
    if not rows:
        raise NotFound(f"this store holds no gate run whose id begins with {id}")
    if len({row.uid for row in rows}) > 1:
        raise NotFound(f"gate/{id} may mean {len(rows)} gate runs; write more of the id")
    row = rows[0]
    before = archive.gate_runs.before(row)
    try:
        line_before = None if before is None else archive.gate_runs.line(before.key)
    except RecordError:
        before, line_before = None, None  # erased: there is nothing to hold it against
    return Found(row, archive.gate_runs.line(row.key), before, line_before)


def outcomes(line: dict[str, Any]) -> dict[str, tuple[str, str]]:
    """Of every memory of a run by id: what became of it (``accepted`` or the reason), and its title."""
    titles = {one.get("id"): str(one.get("title", "")) for one in line.get("accepted") or () if isinstance(one, dict)}
    found = {str(id): ("accepted", titles.get(id, "")) for id in line["acceptedIds"]}
    for one in line["rejected"]:
        found[str(one["id"])] = (str(one["reason"]), str(one.get("title", "")))
    return found


def lines_of(found: Found, outside: Outside) -> list[Line]:
    """Everything the view says of a run."""
    from affidavit.gate.gate import REASONS

    row, line = found.row, found.line
    dry = (Ink("guess", "   ~ dry run: nothing was handed over"),) if row.dry else ()
    lines: list[Line] = [
        (Ink("head", outside.line(line["query"], 200) or "(no words)"), *dry),
        (Ink("quiet", f"asked {moment(row.at) or 'at a time not recorded'} UTC · judged by {_by(row, line)}"),),
    ]
    scope = [f"{name} {value}" for name, value in line["scope"].items() if value is not None]
    lines.append((Ink("quiet", "scope   "), Ink("outside", outside.line("   ".join(scope), 300) or "none")))
    if row.session_title is not None:
        lines.append((Ink("quiet", "session "), Ink("outside", outside.line(row.session_title, 100))))
    many = row.accepted + row.rejected
    lines += [
        (),
        (Ink("head", f"{figures.number(row.accepted)} of {figures.number(many)} passed"),),
    ]
    said = outcomes(line)
    reasons: dict[str, str] = {str(code): words for code, words in REASONS.items()}
    for id, (outcome, title) in said.items():
        lines += _verdict(id, outcome, title, reasons, outside)
    if not said:
        lines.append((Ink("text", "  the search found nothing, so there was nothing to judge"),))
    return lines + _against(found, said, outside)


def _by(row: GateRunRow, line: dict[str, Any]) -> str:
    """Where its settings came from, as far as that is recorded."""
    if row.policy is not None:
        return f"the policy of entry/{row.policy}"
    return "settings of no applied policy" if isinstance(line.get("settings"), dict) else "settings not recorded"


def _verdict(id: str, outcome: str, title: str, reasons: dict[str, str], outside: Outside) -> list[Line]:
    named = Ink("outside", f"{outside.line(id, 40)}  {outside.line(title, MOST_TITLE)}")
    if outcome == "accepted":
        return [(Ink("holds", "  ✓ "), named)]
    why = reasons.get(outcome, "a reason of another program")
    return [
        (Ink("fails", "  ✗ "), named),
        (Ink("text", f"      {outside.line(outcome, 40)}"), Ink("quiet", f": {why}")),
    ]


def _against(found: Found, said: dict[str, tuple[str, str]], outside: Outside) -> list[Line]:
    """What changed since the run before of the same query: of its memories, and of the settings."""
    if found.before is None or found.line_before is None:
        return []
    earlier = outcomes(found.line_before)
    lines: list[Line] = [
        (),
        (
            Ink("head", "Against the recall before of the same query"),
            Ink("quiet", f"   {moment(found.before.at)} UTC · {'dry run · ' if found.before.dry else ''}"),
            Ink("quiet", f"gate/{found.before.uid}"),
        ),
    ]
    changed = 0
    for id in dict.fromkeys((*said, *earlier)):
        old, new = earlier.get(id, ("not found", ""))[0], said.get(id, ("not found", ""))[0]
        if old == new:
            continue
        changed += 1
        role = "holds" if new == "accepted" else "fails" if old == "accepted" else "text"
        title = (said.get(id) or earlier[id])[1]
        lines.append(
            (
                Ink(role, f"  {outside.line(old, 24)} → {outside.line(new, 24)}"),
                Ink("outside", f"   {outside.line(id, 40)}  {outside.line(title, MOST_TITLE)}"),
            )
        )
    if not changed:
        lines.append((Ink("text", "  every memory was judged alike"),))
    return lines + _settings(found, outside)


def _settings(found: Found, outside: Outside) -> list[Line]:
    old, new = (found.line_before or {}).get("settings"), found.line.get("settings")
    if not isinstance(old, dict) or not isinstance(new, dict):
        return [(Ink("quiet", "  the settings of one of them were not recorded"),)]
    changed = [name for name in dict.fromkeys((*old, *new)) if old.get(name) != new.get(name)]
    if not changed:
        return [(Ink("quiet", "  by the same settings"),)]
    lines: list[Line] = []
    for name in changed:
        told = outside.line(f"{old.get(name)} → {new.get(name)}", 120)
        lines.append((Ink("quiet", f"  {outside.line(name, 40)}  "), Ink("text", told)))
    return lines


class GateView(View):
    """See the module."""

    NAME = "gate"
    TITLE = "gate run"
    BINDINGS: ClassVar[list[BindingType]] = [*bindings("gate")]

    def __init__(self) -> None:
        super().__init__()
        self._named = ""
        self._found: Found | None = None
        self._error = ""
        self._text = TextView()

    def compose(self) -> ComposeResult:
        yield self._text

    def focus_main(self) -> None:
        self._text.focus()

    def arrive(self, place: Place) -> None:
        app = self.console_app
        self.focus_main()
        self._named, self._found, self._error = place.session, None, ""
        self._text.show(((Ink("quiet", "reading …"),),), ())
        app.pool.ask((self, "run"), lambda archive: read_run(archive, place.session), self._show, self._fail)

    def place(self) -> Place:
        return Place("gate", session=self._named)

    def _show(self, found: Found) -> None:
        self._found = found
        self._text.show(lines_of(found, self.console_app.outside), ())
        self.tell()

    def _fail(self, error: Exception) -> None:
        self._error = describe(error, self.console_app.outside)
        lines: list[Line] = [(Ink("fails", "✗ nothing to show"),), ()]
        self._text.show([*lines, *((Ink("text", line),) for line in self._error.split("\n"))], ())
        self.tell()

    # chrome

    def crumbs(self) -> tuple[Line, Line]:
        return (
            Ink("accent", "Snapshots", "go.snapshots"),
            Ink("faint", " ▸ "),
            Ink("accent", "gate runs", "go.gates"),
            Ink("faint", " ▸ "),
            Ink("outside", self.console_app.outside.line(self._named, 40)),
        ), ()

    def missing(self) -> Line:
        return dot(f"{self._text.fraction:.0%}" if not self._text.fits else "")

    def situation(self, now: Situation) -> Situation:
        return replace(now, row=self._found is not None, loading=self._found is None and not self._error)

    def masked(self) -> None:
        if self._found is not None:
            self._show(self._found)

    def do_open(self) -> None:
        """Open the run before of the same query."""
        before = self._found.before if self._found is not None else None
        if before is not None:
            self.console_app.go(Place("gate", session=before.uid))

    def prepare_copies(self, give: Callable[[Sequence[Copy]], None]) -> None:
        if self._found is not None:
            app = self.console_app
            address = f"gate/{self._found.row.uid}"
            give(
                [
                    Copy("address", "address", address),
                    Copy("command", "command that opens it", app.services.command(address)),
                    Copy("text", "text", self._whole(self._found)),
                ]
            )

    def prepare_text(self, give: Callable[[str], None]) -> None:
        if self._found is not None:
            give(self._whole(self._found))

    def _whole(self, found: Found) -> str:
        return "\n".join("".join(ink.text for ink in line) for line in lines_of(found, self.console_app.outside))
