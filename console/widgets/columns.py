"""Columns of a list that fit in so many cells, and their names as a heading."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from console.widgets.ink import Ink, Line, left, right


class Column(NamedTuple):
    """A column: its heading, width in cells (0: what is left), from which list width on it is shown, and its side."""

    name: str
    width: int
    since: int
    right: bool = False


def fitting(columns: Sequence[Column], room: int) -> list[Column]:
    """The columns that fit in so many cells; the one without a width is given what is left."""
    shown = [column for column in columns if room >= column.since]
    fixed = sum(column.width for column in shown) + len(shown) - 1
    return [column if column.width else column._replace(width=max(room - fixed, 8)) for column in shown]


def names(columns: Sequence[Column], room: int) -> Line:
    """The names of the columns that fit."""
    inks: list[Ink] = []
    for column in fitting(columns, room):
        inks += (Ink("quiet", (right if column.right else left)(column.name, column.width)), Ink("text", " "))
    return tuple(inks)
