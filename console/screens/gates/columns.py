"""How a run of the recall gate looks as one line, at any width."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING

from console.widgets import figures
from console.widgets.columns import Column, fitting
from console.widgets.ink import Ink, Line, left, right
from console.widgets.safe import Outside

if TYPE_CHECKING:
    from storage.queries.gate_runs import GateRunRow

COLUMNS = (
    Column("asked", 12, 0),
    Column("query", 0, 0),
    Column("space", 14, 108),
    Column("session", 26, 150),
    Column("accepted", 8, 0, right=True),
    Column("kept back", 9, 0, right=True),
    Column("", 7, 72),
    Column("reasons", 34, 110),
)


def run_line(row: GateRunRow, room: int, outside: Outside, now: datetime) -> Line:
    """One run."""
    inks: list[Ink] = []
    for column in fitting(COLUMNS, room):
        inks += (_cell(column, row, outside, now), Ink("text", " "))
    return tuple(inks)


def _cell(column: Column, row: GateRunRow, outside: Outside, now: datetime) -> Ink:
    room = column.width
    match column.name:
        case "asked":
            return Ink("text", left(figures.day(row.at, now), room))
        case "query":
            return Ink("outside", left(outside.line(row.query, room) or outside.line(row.id, room), room))
        case "space":
            return Ink("outside", left(outside.line(row.space, room) or "–", room))
        case "session":
            return Ink("quiet", left(outside.line(row.session_title, room) or "of no session", room))
        case "accepted":
            return Ink("holds" if row.accepted else "quiet", right(figures.short(row.accepted), room))
        case "kept back":
            return Ink("text" if row.rejected else "quiet", right(figures.short(row.rejected), room))
        case "reasons":
            return Ink("quiet", left(outside.line(" ".join(row.reasons), room), room))
    return Ink("guess" if row.dry else "quiet", left("dry run" if row.dry else "", room))
