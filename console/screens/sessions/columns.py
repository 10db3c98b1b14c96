"""How a session looks as one line, at any width."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING

from console.widgets import figures
from console.widgets.columns import Column, fitting
from console.widgets.ink import Ink, Line, left, right
from console.widgets.safe import Outside

if TYPE_CHECKING:
    from console.screens.sessions.node import Node
    from storage.queries.models import LaneRow, SessionRow, Tokens


COLUMNS = (
    Column("started", 12, 0),
    Column("agent", 12, 72),
    Column("project", 20, 100),
    Column("branch", 14, 160),
    Column("title", 0, 0),
    Column("lanes", 5, 150, right=True),
    Column("turns", 6, 0, right=True),
    Column("events", 7, 0, right=True),
    Column("tokens", 7, 84, right=True),
    Column("problems", 9, 130, right=True),
    Column("check", 8, 0),
    Column("took", 8, 180, right=True),
    Column("models", 24, 185),
)
SHORT = {
    "passed": (Ink("holds", "✓ passed"),),
    "failed": (Ink("fails", "✗ failed"),),
    None: (Ink("unknown", "? none  "),),
}
"""The last verification a session holds, as glyph and word."""

AGENTS = {"claude-code": "Claude Code", "affidavit": "Affidavit"}
"""What people call an agent, by its format id; others are shown by the id."""


def total(tokens: Tokens) -> int:
    """The one number for a session, which lists are sorted by: input plus output, without what a cache held."""
    return tokens.input + tokens.output


ORDERS = {name: name for name in ("started", "title", "turns", "events", "tokens", "problems")} | {"took": "ended"}
"""The order that a click on a column's heading asks for, by the column."""


def heading(room: int, sort: str, descending: bool) -> Line:
    """The names of the columns, the one the list is sorted by marked; a click on one sorts by it."""
    inks: list[Ink] = []
    for column in fitting(COLUMNS, room):
        name = column.name
        sorted_by = sort == name or (sort == "ended" and name == "took")
        if sorted_by:
            name += "↓" if descending else "↑"
        text = (right if column.right else left)(name, column.width)
        order = ORDERS.get(column.name, "")
        inks += (Ink("head" if sorted_by else "quiet", text, order and f"sort:{order}"), Ink("text", " "))
    return tuple(inks)


def session_line(node: Node, room: int, outside: Outside, now: datetime, broken: str = "", news: str = "") -> Line:
    """One session or sub-agent. ``broken``: what the last verification found wrong with it, in two words; ``news``:
    that it is live, or new, in a glyph and a word.
    """
    inks: list[Ink] = []
    for column in fitting(COLUMNS, room):
        if column.name == "title":
            inks += _hung(node, column.width, outside, broken, news)
        elif node.lane is not None:
            inks += _lane_cell(column, node.lane)
        else:
            inks += _cell(column, node.row, outside, now)
        inks.append(Ink("text", " "))
    return tuple(inks)


def _cell(column: Column, row: SessionRow, outside: Outside, now: datetime) -> Line:
    room = column.width
    match column.name:
        case "started":
            return (Ink("text", left(figures.day(row.started, now), room)),)
        case "agent":
            return (Ink("text", left(AGENTS.get(row.agent) or outside.line(row.agent, room), room)),)
        case "project":
            return (Ink("quiet", left(outside.line(project(row), room), room)),)
        case "branch":
            return (Ink("quiet", left(outside.line(row.git_branch, room), room)),)
        case "lanes":
            return (Ink("quiet", right(figures.short(row.lanes) if row.lanes > 1 else "", room)),)
        case "turns":
            return (Ink("text", right(figures.short(row.turns), room)),)
        case "events":
            return (Ink("text", right(figures.short(row.events), room)),)
        case "tokens":
            tokens = total(row.tokens)
            return (Ink("text", right(figures.short(tokens) if tokens else "", room)),)
        case "problems":
            return (Ink("fails", right(f"✗ {figures.short(row.problems)}" if row.problems else "", room)),)
        case "check":
            return SHORT.get(row.check, SHORT[None])
        case "took":
            return (Ink("quiet", right(took(row), room)),)
        case _:
            return (Ink("quiet", left(outside.line(", ".join(row.models), room), room)),)


def _lane_cell(column: Column, lane: LaneRow) -> Line:
    if column.name == "events":
        return (Ink("quiet", right(figures.short(lane.events), column.width)),)
    return (Ink("text", " " * column.width),)


def _hung(node: Node, room: int, outside: Outside, broken: str, news: str) -> Line:
    """The title, with how it hangs on what stands above it and how much hangs on it."""
    branch = "  " * min(node.depth - 1, 12) + ("└ " if node.last else "├ ") if node.depth else ""
    # What is inferred, as that a session is a copy because it begins like another, is marked as such.
    word = f"~ {node.relation} " if node.relation == "copy" else f"{node.relation} " if node.relation else ""
    end = f" {figures.short(node.below)} {'▾' if node.open else '▸'}" if node.below else ""
    if len(branch) + len(word) + len(end) + 8 > room:
        word = ""
    start = (Ink("faint", branch), Ink("guess" if node.relation == "copy" else "quiet", word))
    left_over = max(room - len(branch) - len(word) - len(end), 1)
    if node.lane is not None:
        named = outside.line(node.lane.title or node.lane.name, left_over)
        return (*start, Ink("agent", left(named, left_over)), Ink("quiet", end))
    return (*start, *_title(node.row, left_over, outside, broken, news), Ink("quiet", end))


def _title(row: SessionRow, room: int, outside: Outside, broken: str, news: str) -> Line:
    for style, told in (("fails", f" ✗ {broken}" if broken else ""), ("accent", f" {news}" if news else "")):
        if told:
            word = told if len(told) <= room // 2 else told[:2]
            return (*_title(row, room - len(word), outside, "", news if style == "fails" else ""), Ink(style, word))
    marks = ""
    if row.unreadable:
        marks = f" ! {figures.short(row.unreadable)} unreadable"
    if len(marks) > room // 2:
        marks = " !"
    title = outside.line(row.title, room - len(marks)) if row.title else ""
    shown = (
        Ink("outside", left(title, room - len(marks))) if title else Ink("quiet", left("no title", room - len(marks)))
    )
    return (shown, Ink("person", marks)) if marks else (shown,)


def project(row: SessionRow) -> str:
    """The project's name: what the log says, or the last part of the folder it ran in."""
    name = row.project or row.cwd or ""
    return name.rstrip("/\\").replace("\\", "/").rpartition("/")[2] or name


def took(row: SessionRow) -> str:
    """How long the session lasted, where both its ends are known."""
    if row.started is None or row.ended is None:
        return ""
    return figures.duration((row.ended - row.started) // 1000)
