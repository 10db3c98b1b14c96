"""What a verification says, as lines: what was checked, how much, whether it held; and what it does not claim."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from textual.strip import Strip

from console.services import VerifyFailure, VerifyResult
from console.widgets import figures
from console.widgets.ink import Ink, Line, cells, left, right
from console.widgets.inked import Inked
from console.widgets.safe import Outside

BAR = 26
"""Cells of a full bar."""

NAMES = {"streams": "source chains", "rows": "table rows", "searchable": "search index"}
"""What people call what is checked, where that is another word."""

_NEW = ("entries", "segments", "records")
"""What a run over what is new counts from where the last one ended."""

_OF = {
    "chain": "streams",
    "tile": "tiles",
    "record": "records",
    "bytes_missing": "records",
    "bytes_left": "records",
    "index": "searchable",
    "rolled_back": "entries",
    "forked": "entries",
    "store_key": "entries",
}
_OF_PREFIX = {"entry_": "entries", "segment_": "segments", "payload_": "payloads", "fold_": "tables"}


def checked_name(failure: VerifyFailure) -> str:
    """The name of the check a failure belongs to; empty where it belongs to none."""
    if failure.kind in _OF:
        return _OF[failure.kind]
    if failure.kind == "damaged" and failure.address.startswith("table/"):
        return "tables"
    return next((name for prefix, name in _OF_PREFIX.items() if failure.kind.startswith(prefix)), "")


def report_lines(result: VerifyResult, outside: Outside) -> list[Line]:
    """One line for each thing that was checked, what was not checked again, and what was withheld."""
    if result.since is not None and not any(result.checked.get(name) for name in _NEW) and not result.failures:
        last = figures.number(result.since - 1)
        return [(Ink("unknown", f"  ? nothing is newer than entry {last}; entries 0–{last} were not checked again"),)]
    name_room = max([cells(NAMES.get(name, name)) for name in result.checked] + [10]) + 3
    lines: list[Line] = []
    failed = Counter(checked_name(failure) for failure in result.failures)
    for name, count in result.checked.items():
        if result.since is not None and (not count or name == "streams"):
            continue
        bad = failed.pop(name, 0)
        state = Ink("fails", f"✗ {figures.number(bad)} of ") if bad else Ink("holds", "✓ ")
        said = [
            Ink("text", "  " + left(outside.line(NAMES.get(name, name), name_room), name_room)),
            state,
            Ink("text", left(figures.number(count), max(22 - cells(state.text), 1))),
        ]
        took = result.seconds.get(name)
        end = (Ink("quiet", right(figures.duration(int(took * 1000)), 10)),) if took is not None else ()
        lines.append((*said, *end))
    if other := sum(failed.values()):
        lines.append((Ink("text", "  " + left("the store", name_room)), Ink("fails", f"✗ {figures.number(other)}")))
    if result.since is not None:
        last = figures.number(result.since - 1)
        lines.append((Ink("unknown", f"  ? entries 0–{last} and the tables were not checked again"),))
    if result.withheld:
        lines.append(
            (
                Ink("text", "  " + left("withheld", name_room)),
                Ink("quiet", f"· {figures.number(result.withheld)} erased, each by an entry that says so"),
            )
        )
    return lines


def progress_line(stage: str, done: int, total: int | None, outside: Outside) -> Line:
    """How far a verification is."""
    said = [Ink("text", "  " + left(outside.line(NAMES.get(stage, stage), 16), 16))]
    if total:
        full = min(BAR * done // total, BAR)
        said += [Ink("accent", "█" * full), Ink("faint", "░" * (BAR - full))]
        said.append(Ink("text", f"  {figures.number(done)} of {figures.number(total)}"))
    else:
        said.append(Ink("text", f"{figures.number(done)}"))
    return tuple(said)


def failure_line(failure: VerifyFailure, room: int, outside: Outside) -> Line:
    """One thing that did not hold."""
    kind = Ink("fails", left(f"✗ {outside.line(failure.kind, 24)}", 26) + " ")
    address = Ink("outside", left(outside.line(failure.address, 40), 40) + " ")
    if room < 100:
        return (kind, Ink("text", outside.line(failure.detail, max(room - 27, 0))))
    return (kind, address, Ink("text", outside.line(failure.detail, max(room - 68, 0))))


def failure_lines(failure: VerifyFailure, meanings: Mapping[str, str], outside: Outside) -> list[Line]:
    """One thing that did not hold, whole."""
    meaning = meanings.get(failure.kind, "")
    lines: list[Line] = [(Ink("fails", f"✗ {outside.line(failure.kind)}"), Ink("text", f"  {meaning}"))]
    lines.append((Ink("quiet", "where   "), Ink("outside", outside.line(failure.address))))
    if failure.detail:
        lines.append((Ink("quiet", "what    "), Ink("text", outside.line(failure.detail))))
    if failure.kind in ("forked", "rolled_back"):
        lines.append((Ink("person", "! if you put another copy of this store here yourself, "),
                      Ink("text", "`affidavit verify` says how to go on from it")))  # fmt: skip
    return lines


class Report(Inked):
    """Lines of a fixed number, each as wide as the widget."""

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.lines: list[Line] = []

    def say(self, lines: Sequence[Line]) -> None:
        """Show these lines."""
        if list(lines) != self.lines:
            grown = len(lines) != len(self.lines)
            self.lines = list(lines)
            self.refresh(layout=grown)

    @property
    def text(self) -> str:
        return "\n".join("".join(ink.text for ink in line).rstrip() for line in self.lines)

    def get_content_height(self, container: object, viewport: object, width: int) -> int:  # noqa: ARG002
        return len(self.lines)

    def render_line(self, y: int) -> Strip:
        if y >= len(self.lines):
            return self.blank()
        return self.strip(self.lines[y], self.size.width)
