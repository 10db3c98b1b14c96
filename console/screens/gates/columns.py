"""How a run of the recall gate looks as one line, at any width."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING

from console.screens.snapshots.columns import Column
from console.widgets import figures
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


def shown(room: int) -> list[Column]:
    """The columns that fit in so many cells, the query given what is left."""
    columns = [column for column in COLUMNS if room >= column.since]
    fixed = sum(column.width for column in columns) + len(columns) - 1
    return [column if column.width else column._replace(width=max(room - fixed, 8)) for column in columns]


def heading(room: int) -> Line:
    """The names of the columns."""
    inks: list[Ink] = []
    for column in shown(room):
        inks += (Ink("quiet", (right if column.right else left)(column.name, column.width)), Ink("text", " "))
    return tuple(inks)


def run_line(row: GateRunRow, room: int, outside: Outside, now: datetime) -> Line:
    """One run."""
    inks: list[Ink] = []
    for column in shown(room):
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
