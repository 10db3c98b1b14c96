"""What a verification says, as lines: what was checked, how much, whether it held; and what it does not claim."""

from __future__ import annotations

from collections.abc import Sequence

from textual.strip import Strip

from console.services import VerifyFailure, VerifyResult
from console.widgets import figures
from console.widgets.ink import Ink, Line, left, right, spread
from console.widgets.inked import Inked
from console.widgets.safe import Outside

BAR = 26
"""Cells of a full bar."""

NAMES = {
    "entries": "entries",
    "tree": "tree",
    "chains": "source chains",
    "segments": "segments",
    "records": "records",
    "payloads": "payloads",
    "folds": "tables",
    "rows": "table rows",
    "indexes": "indexes",
}
"""What people call what is checked; other names are shown as they are."""

_WORDS = {
    "entries": ("entry", "entries"),
    "tree": ("tree", "tree"),
    "chains": ("chain", "chain"),
    "segments": ("segment", "segment"),
    "records": ("record", "record"),
    "payloads": ("payload", "payload"),
    "folds": ("fold", "table"),
    "rows": ("row", "row"),
    "indexes": ("index", "index"),
}
NO_CLAIM = (
    "What this does not claim: that the agent told the truth; that nothing happened off the record;",
    "that whoever can write the whole store did not make it anew.",
)


def report_lines(result: VerifyResult, outside: Outside) -> list[Line]:
    """One line for each thing that was checked, then what was withheld."""
    name_room = max([len(NAMES.get(name, name)) for name in result.checked] + [10]) + 3
    lines: list[Line] = []
    for name, count in result.checked.items():
        bad = sum(_about(failure, name) for failure in result.failures)
        state = Ink("fails", f"✗ {figures.number(bad)} of ") if bad else Ink("holds", "✓ ")
        said = [
            Ink("text", "  " + left(outside.line(NAMES.get(name, name), name_room), name_room)),
            state,
            Ink("text", left(figures.number(count), 12)),
        ]
        took = result.seconds.get(name)
        end = (Ink("quiet", right(figures.duration(int(took * 1000)), 10)),) if took is not None else ()
        lines.append((*said, *end))
    if result.withheld:
        lines.append(
            (
                Ink("text", "  " + left("withheld", name_room)),
                Ink("quiet", f"· {figures.number(result.withheld)} erased, each by an entry that says so"),
            )
        )
    return lines


def _about(failure: VerifyFailure, name: str) -> bool:
    return any(failure.kind.startswith(word) for word in _WORDS.get(name, (name.rstrip("s"),)))


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


class Report(Inked):
    """Lines of a fixed number, each as wide as the widget."""

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.lines: list[tuple[Line, Line]] = []

    def say(self, lines: Sequence[tuple[Line, Line]]) -> None:
        """Show (left, right) lines."""
        if list(lines) != self.lines:
            grown = len(lines) != len(self.lines)
            self.lines = list(lines)
            self.refresh(layout=grown)

    @property
    def text(self) -> str:
        return "\n".join("".join(ink.text for ink in (*start, *end)) for start, end in self.lines)

    def get_content_height(self, container: object, viewport: object, width: int) -> int:  # noqa: ARG002
        return len(self.lines)

    def render_line(self, y: int) -> Strip:
        if y >= len(self.lines):
            return self.blank()
        start, end = self.lines[y]
        return self.strip(spread(start, end, self.size.width) if end else start, self.size.width)
