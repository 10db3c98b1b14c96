"""``affidavit sessions``: what sessions a store holds."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, cast

import click

from affidavit.session.times import instant
from console.commands import documents
from console.commands.call import Call, command
from console.output import Column
from console.words import count, moment, number, plural

if TYPE_CHECKING:
    from storage.archive import Archive, SessionFilter, SessionSort
    from storage.queries.models import SessionRow

SORTS = ("started", "ended", "title", "events", "turns", "tokens", "problems")
"""Orders offered; ``title`` begins with A, the others with the newest or largest."""

PRINTS = (
    "sessions[{id, nativeId, agent, title, startedAt, endedAt, events, turns, lanes, branches, "
    "parent{nativeId, relation}, models[], "
    "tokens{input, output, cacheRead, cacheWrite}, unreadable, flags[]}]"
)

COLUMNS = (
    Column("id"),
    Column("started (UTC)"),
    Column("agent", spare=4),
    Column("project", shrinks=True, least=8, spare=3),
    Column("title", shrinks=True, least=20),
    Column("turns", right=True, spare=1),
    Column("events", right=True),
    Column("tokens", right=True, spare=2),
    Column("check"),
)


def day(text: str) -> int:
    """A day or a moment in ISO 8601 as UTC microseconds since 1970; without a zone it is UTC."""
    when, _ = instant(text)
    if when is None:
        raise click.BadParameter(f"{text!r} is not a date such as 2026-05-14 or 2026-05-14T10:02:00Z")
    return when


@command("sessions", "List sessions", prints=PRINTS)
@click.option("--filter", "text", metavar="TEXT", default="", help="Only where title, project or id hold TEXT.")
@click.option("--agent", metavar="NAME", help="Only sessions of this agent, such as claude-code.")
@click.option("--project", metavar="NAME", help="Only sessions of this project.")
@click.option(
    "--since", type=day, metavar="DATE", help="Only sessions that were still going then or began later (UTC)."
)
@click.option("--until", type=day, metavar="DATE", help="Only sessions that started before then (UTC).")
@click.option("--problems", is_flag=True, help="Only sessions with errors, failed tools or failed checks.")
@click.option("--sort", type=click.Choice(SORTS), default="started", help="Order of the list.")
@click.option("--reverse", is_flag=True, help="The other way round.")
@click.option("--limit", type=click.IntRange(1), metavar="N", help="At most N sessions.")
def sessions_command(
    call: Call,
    text: str,
    agent: str | None,
    project: str | None,
    since: int | None,
    until: int | None,
    problems: bool,
    sort: str,
    reverse: bool,
    limit: int | None,
) -> int:
    """List sessions, the newest first."""
    from storage.archive import SessionFilter

    wanted = SessionFilter(text=text, agent=agent, project=project, since=since, until=until, problems_only=problems)
    archive = call.archive()
    try:
        rows = _rows(archive, wanted, cast("SessionSort", sort), (sort != "title") != reverse, limit)
        if call.output.json:
            with call.output.listing("sessions") as (write, _):
                for row in rows:
                    write(documents.session(row))
            return 0
        shown = list(rows)
        total = archive.count_sessions(wanted).value
    finally:
        archive.close()
    _print(call, shown, total)
    return 0


def _rows(
    archive: Archive, wanted: SessionFilter, sort: SessionSort, descending: bool, limit: int | None
) -> Iterator[SessionRow]:
    cursor: tuple[object, ...] | None = None
    left = limit
    while left is None or left > 0:
        page = archive.sessions(
            wanted, sort=sort, descending=descending, cursor=cursor, limit=200 if left is None else min(200, left)
        )
        yield from page.rows
        if page.after is None:
            return
        cursor = page.after
        left = None if left is None else left - len(page.rows)


def _print(call: Call, rows: list[SessionRow], total: int) -> None:
    if rows:
        call.output.table(COLUMNS, [_cells(row) for row in rows])
    notes = [plural(total, "session") if len(rows) == total else f"{number(len(rows))} of {plural(total, 'session')}"]
    unreadable = sum(1 for row in rows if row.unreadable)
    if unreadable:
        notes.append(f"{number(unreadable)} with unreadable records")
    call.output.tell(" · ".join(notes))


def _cells(row: SessionRow) -> tuple[str, ...]:
    check = {"passed": "✓ passed", "failed": "✗ failed", None: "–"}[row.check]
    tokens = row.tokens.input + row.tokens.output
    started = moment(row.started) if row.started is not None else "not recorded"
    return (
        row.uid, started, row.agent, row.project or "–", row.title or "–", number(row.turns), number(row.events),
        count(tokens), check,
    )  # fmt: skip
