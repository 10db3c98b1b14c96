"""What Sessions can be narrowed down to."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta

from console.saved_filters import Part
from console.screens.sessions.columns import AGENTS
from console.widgets import figures
from console.widgets.chooser import Choice
from console.widgets.safe import Outside
from storage.archive import SessionFilter

SINCE = {"today": 0, "7 days": 7, "30 days": 30, "a year": 365}
"""Days before today, by what people call the time since."""


def choices(
    facets: Mapping[str, Sequence[tuple[str, int]]],
    filter: SessionFilter,
    since: str,
    outside: Outside,
    newer: int | None = None,
) -> list[Choice]:
    """Every value of every field with its count, times since, and problems only. ``since``: a name or ``any``;
    ``newer``: ledger entry from which on things are new, where any are.
    """
    now = {"agent": filter.agent, "project": filter.project, "check": filter.check}
    found = [
        Choice(
            f"{name}:{value}",
            AGENTS.get(value) or outside.line(value, 60) or "(empty)",
            note=figures.plural(count, "session"),
            group=name,
            checked=now[name] == value,
        )
        for name, values in facets.items()
        for value, count in values
    ]
    found += [Choice(f"since:{words}", words, group="since", checked=since == words) for words in SINCE]
    if newer is not None:
        words = "only with something new since your last visit"
        found.append(Choice(f"new:{newer}", words, group="new", checked=filter.newer is not None))
    found.append(Choice("problems:", "only with problems", group="problems", checked=filter.problems_only))
    return found


def narrowed(filter: SessionFilter, since: str, choice: str, now: datetime) -> tuple[SessionFilter, str]:
    """The filter and the time since with a choice taken, or taken back if it was on."""
    name, _, value = choice.partition(":")
    if name == "since":
        since = "any" if since == value else value
        return replace(filter, since=None if since == "any" else begin_of(since, now)), since
    if name == "problems":
        return replace(filter, problems_only=not filter.problems_only), since
    if name == "new":
        return replace(filter, newer=int(value) if filter.newer is None else None), since
    if name == "agent":
        return replace(filter, agent=None if filter.agent == value else value), since
    if name == "project":
        return replace(filter, project=None if filter.project == value else value), since
    return replace(filter, check=None if filter.check == value else value), since


def begin_of(since: str, now: datetime) -> int:
    """The moment a name of :data:`SINCE` means, in UTC microseconds since 1970."""
    today = now.astimezone(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
    return int((today - timedelta(days=SINCE[since])).timestamp()) * 1_000_000


def parts_of(filter: SessionFilter, since: str) -> dict[str, Part]:
    """A filter as it is saved: the time since by its name, so that it moves with the days."""
    parts: dict[str, Part | None] = {
        "text": filter.text, "agent": filter.agent, "project": filter.project, "check": filter.check,
        "since": None if since == "any" else since, "problems": filter.problems_only,
    }  # fmt: skip
    return {name: part for name, part in parts.items() if part is not None and part not in ("", False)} | (
        {"project": ""} if filter.project == "" else {}
    )


def from_parts(parts: Mapping[str, Part], now: datetime) -> tuple[SessionFilter, str]:
    """The filter and the time since that were saved."""
    since = str(parts.get("since", "any"))
    agent, project, check = (str(parts[name]) if name in parts else None for name in ("agent", "project", "check"))
    return SessionFilter(
        text=str(parts.get("text", "")),
        since=begin_of(since, now) if since in SINCE else None,
        problems_only=bool(parts.get("problems", False)),
        agent=agent,
        project=project,
        check=check,
    ), (since if since in SINCE else "any")
