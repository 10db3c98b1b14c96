"""What a list may be narrowed to, and the orders it may stand in."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

SessionSort = Literal["started", "ended", "title", "events", "turns", "tokens", "problems"]
Direction = Literal["after", "before"]
Facet = Literal["agent", "project", "check"]

UNCHECKED = "none"
"""Value of ``check`` for a session in which no check was seen to end."""


@dataclass(frozen=True, slots=True)
class SessionFilter:
    """Which sessions to show.

    ``text`` matches title, project, native id and uid, case-insensitively and literally. ``project`` ``""`` is
    "no project recorded", ``check`` is ``passed``, ``failed`` or ``none``. ``since`` and ``until`` (UTC microseconds,
    the second excluded) keep every session of which some part lies between them. ``newer`` keeps those of whose files
    something was recorded in that ledger entry or a later one.
    """

    text: str = ""
    agent: str | None = None
    project: str | None = None
    since: int | None = None
    until: int | None = None
    check: str | None = None
    problems_only: bool = False
    newer: int | None = None


@dataclass(frozen=True, slots=True)
class EventFilter:
    """Which events of a session to show. ``text`` matches summary and tool, case-insensitively and literally.

    ``kinds`` and ``lanes`` keep what they name (``None``: everything), ``hide_kinds`` drops what it names.
    ``interruptions`` keeps where the person cut the agent short, whatever kinds are hidden.
    ``abandoned=False`` drops the events of abandoned branches, those of sub-agents started there included;
    ``branches_only`` drops all others.
    ``newer`` keeps what was recorded in that ledger entry or a later one.
    """

    text: str = ""
    kinds: frozenset[str] | None = None
    hide_kinds: frozenset[str] = frozenset()
    lanes: frozenset[int] | None = None
    abandoned: bool = True
    branches_only: bool = False
    problems_only: bool = False
    interruptions: bool = False
    newer: int | None = None
