"""How a snapshot of a retrieval looks as one line, at any width."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING

from console.widgets import figures
from console.widgets.columns import Column, fitting
from console.widgets.ink import Ink, Line, left, right
from console.widgets.safe import Outside

if TYPE_CHECKING:
    from storage.queries.snapshots import SnapshotRow


COLUMNS = (
    Column("asked", 12, 0),
    Column("purpose", 15, 108),
    Column("question", 0, 0),
    Column("session", 30, 150),
    Column("found", 5, 0, right=True),
    Column("filtered", 8, 90, right=True),
    Column("ranked", 6, 100, right=True),
    Column("trimmed", 7, 84, right=True),
    Column("visible", 7, 0, right=True),
    Column("hashes", 11, 0),
)

HASHES = {
    "match": Ink("holds", "✓ match"),
    "line_ending_or_unicode": Ink("guess", "~ form only"),
    "differs": Ink("fails", "✗ differs"),
    "text_missing": Ink("unknown", "? no text"),
    "hash_not_recorded": Ink("unknown", "? no hash"),
    "unknown_algorithm": Ink("unknown", "? hash kind"),
    None: Ink("quiet", "· none"),
}
"""Hash verdicts as a glyph and a word or two."""


def snapshot_line(row: SnapshotRow, room: int, outside: Outside, now: datetime) -> Line:
    """One snapshot."""
    inks: list[Ink] = []
    for column in fitting(COLUMNS, room):
        inks += (_cell(column, row, outside, now), Ink("text", " "))
    return tuple(inks)


def hash_ink(verdict: str | None, room: int = 11) -> Ink:
    """A hash verdict in so many cells."""
    ink = HASHES.get(verdict, HASHES[None])
    return ink._replace(text=left(ink.text, room))


def _cell(column: Column, row: SnapshotRow, outside: Outside, now: datetime) -> Ink:
    room = column.width
    match column.name:
        case "asked":
            return Ink("text", left(figures.day(row.at, now), room))
        case "purpose":
            return Ink("outside", left(outside.line(row.purpose, room) or "?", room))
        case "question":
            question = outside.line(row.question, room) or outside.line(row.id, room)
            return Ink("outside", left(question, room))
        case "session":
            return Ink("quiet", left(outside.line(row.session_title, room) or "of no session", room))
        case "hashes":
            return hash_ink(row.verdict, room)
    count = {
        "found": row.recalled, "filtered": row.filtered, "ranked": row.ranked_out, "trimmed": row.trimmed,
        "visible": row.selected,
    }[column.name]  # fmt: skip
    return Ink("unknown" if count is None else "text", right("?" if count is None else figures.short(count), room))
