"""How an event and a sub-agent look as one line, at any width."""

from __future__ import annotations

from typing import TYPE_CHECKING

from console.screens.event_pane.colours import COLOURS
from console.screens.timeline.words import MODE, PATH_WORDS, QUIET_FLAGS, told
from console.widgets import figures
from console.widgets.ink import Ink, Line, cells, cut, left, right, width
from console.widgets.safe import Outside

if TYPE_CHECKING:
    from storage.queries.models import EventRow, LaneRow

TURN = 4
TIME = 8
WORD = 8
END = 9
"""Cells of the turn number, the time, the word, and what stands flush right."""

DEEPEST = 3
"""Lanes nested deeper are drawn no further in."""


def event_line(
    row: EventRow,
    starts: bool,
    folded: bool,
    counts: tuple[int, int] | None,
    depth: int,
    room: int,
    outside: Outside,
    broken: str = "",
    day: str = "",
    cwd: str | None = None,
    new: bool = False,
) -> Line:
    """One event: turn number where it begins one, time, glyph, word, text; its length of time flush right.

    ``counts``: (events, problems) of the turn it begins, once they are known. ``broken``: what the last verification
    found wrong with it, in a word. ``day``: the date, where it is the first event of it. ``cwd``: the folder paths are
    shown from. ``new``: it was recorded since the person's last visit.
    """
    glyph, word, ink, voice = told(row)
    if row.abandoned:
        ink = voice = "gone"
    number = right(str(row.turn) if starts else "", TURN)
    clock = figures.clock(row.at) if room >= 48 else figures.clock(row.at)[:5]
    head = [
        Ink("head" if starts else "quiet", number),
        Ink("accent", "+") if new else Ink("text", " "),
        Ink("gone" if row.abandoned else "quiet", f"{clock} "),
        *_rail(depth, row.abandoned),
        Ink(ink, f"{glyph} {left(word, WORD)} "),
    ]
    end = _end(row, folded, counts)
    if broken:
        end = (Ink("fails", f"✗ {broken}"), *((Ink("text", " "), *end) if end else ()))
    space = room - width(head) - width(end) - (1 if end else 0)
    if day:
        mark = Ink("quiet", f"— {day} — ")
        head.append(mark)
        space = max(space - width((mark,)), 0)
    text = _said(row, word, cwd, max(space, 0), outside)
    style = "gone" if row.abandoned else ("runtime" if row.kind == "model.reasoning" else voice)
    if not text:
        text, style = left(_no_text(row), max(space, 0)).rstrip(), "faint"
    gap = Ink("text", " " * max(space - cells(text) + (1 if end else 0), 0))
    return (*head, Ink(style, text), gap, *end)


def _said(row: EventRow, word: str, cwd: str | None, room: int, outside: Outside) -> str:
    """The words of an event in so many cells; of a path the end, because that is where the file's name stands."""
    said = COLOURS.sub("", row.summary) if row.actor == "tool" else row.summary
    if word == "mode":
        return outside.line(said.removeprefix(MODE), room)
    if row.kind != "tool.intent" or word not in PATH_WORDS or "\n" in said or not said.startswith(("/", "~", "\\")):
        if row.kind != "tool.intent" and cwd and not outside.masked:
            said = said.replace(cwd.rstrip("/\\") + "/", "")
        return outside.line(said, room)
    # Masking knows a path by its beginning, so that must not be taken away first.
    if cwd and not outside.masked and said.startswith(cwd.rstrip("/\\") + "/"):
        said = said[len(cwd.rstrip("/\\")) + 1 :]
    return tail(outside.line(said), room)


def tail(path: str, room: int) -> str:
    """The end of a safe path that fits in so many cells, from a folder's name on where one fits."""
    if cells(path) <= room or room < 2:
        return cut(path, room)
    at = len(path)
    used = 1
    while at and used + cells(path[at - 1]) <= room:
        at -= 1
        used += cells(path[at])
    slash = path.find("/", at)
    return "…" + (path[slash:] if 0 <= slash < len(path) - 1 else path[at:])


def _rail(depth: int, abandoned: bool) -> Line:
    depth = min(depth, DEEPEST)
    rail = Ink("faint", "│ " * depth) if depth else Ink("text", "")
    return (rail, Ink("gone", "╎ ")) if abandoned else (rail,)


def _no_text(row: EventRow) -> str:
    return "no text recorded" if row.size == 0 else ""


def _end(row: EventRow, folded: bool, counts: tuple[int, int] | None) -> Line:
    inks: list[Ink] = []
    if row.copies > 1:
        inks.append(Ink("quiet", f"×{figures.short(row.copies)}"))
    if not QUIET_FLAGS.issuperset(row.flags):
        inks.append(Ink("person", "!"))
    if folded:
        events, problems = counts if counts is not None else (0, 0)
        if problems:
            inks.append(Ink("fails", f"✗ {figures.short(problems)}"))
        inks.append(Ink("accent", f"{figures.plural(events - 1, 'event')} ▸" if events else "folded ▸"))
    elif row.millis is not None:
        inks.append(Ink("quiet", figures.duration(row.millis)))
    elif row.size >= 10_000:
        inks.append(Ink("quiet", figures.size(row.size)))
    spaced = [part for ink in inks for part in (Ink("text", " "), ink)][1:]
    return tuple(spaced)


def lane_line(lane: LaneRow, title: str, open: bool, events: int, room: int, outside: Outside) -> Line:
    """A sub-agent: what it was asked, and how much of it is folded away."""
    depth = min(max(lane.depth, 1), DEEPEST)
    time = TIME if room >= 48 else 5
    head = [
        Ink("text", " " * (TURN + 1 + time + 1)),
        Ink("faint", "│ " * (depth - 1) + ("├ " if not open else "┌ ")),
        Ink("head", "sub-agent "),
    ]
    end = (Ink("quiet", figures.plural(events, "event")), Ink("accent", " ▾" if open else " ▸"))
    space = room - width(head) - width(end) - 1
    text = outside.line(title, max(space, 0))
    return (*head, Ink("agent", text), Ink("text", " " * max(space - cells(text) + 1, 0)), *end)
