"""``affidavit candidates``: what was proposed to be remembered. ``queue``: what of it waits for somebody."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, get_args

import click

from affidavit.memory.words import CandidateStatus, Kind, Level
from console.commands import governed_documents
from console.commands.call import Call, command
from console.output import Column
from console.words import moment, number, plural

if TYPE_CHECKING:
    from storage.archive import Archive
    from storage.folds.governed_rows import CandidateRow
    from storage.queries.governed import GovernedFilter
    from storage.queries.governed_archive import Checked

COLUMNS = (
    Column("id"),
    Column("created (UTC)", spare=3),
    Column("status"),
    Column("risk", right=True),
    Column("kind", spare=4),
    Column("scope", shrinks=True, least=10, spare=2),
    Column("source", spare=1),
    Column("content", shrinks=True, least=24),
)
QUEUED = (
    Column("id"),
    Column("risk", right=True),
    Column("outcome"),
    Column("status", spare=3),
    Column("findings", shrinks=True, least=16, spare=1),
    Column("scope", shrinks=True, least=10, spare=2),
    Column("content", shrinks=True, least=24),
)


@command(
    "candidates", "List what was proposed to be remembered", prints=f"candidates[{{{governed_documents.CANDIDATE}}}]"
)
@click.option("--filter", "text", metavar="TEXT", default="", help="Only those whose text holds TEXT.")
@click.option("--status", type=click.Choice(get_args(CandidateStatus)[:-1]), help="Only in this status.")
@click.option("--kind", type=click.Choice(get_args(Kind)), help="Only of this kind.")
@click.option("--level", type=click.Choice(get_args(Level)), help="Only of this scope level.")
@click.option("--scope", metavar="KEY", help="Only of this scope key.")
@click.option("--limit", type=click.IntRange(1), metavar="N", help="At most N candidates.")
def candidates_command(call: Call, limit: int | None, **wanted: Any) -> int:
    """List memory candidates, the newest first, whatever became of them.

    The risk is what a candidate carries by itself; affidavit check adds what it meets in the store.
    """
    from storage.queries.governed import GovernedFilter

    filter = GovernedFilter(**wanted)
    with call.archive() as archive:
        rows = rows_of(archive, filter, limit, by_risk=False)
        if call.output.json:
            with call.output.listing("candidates") as (write, _):
                for row in rows:
                    write(governed_documents.candidate(row, _content(archive, row)))
            return 0
        shown = [(row, _content(archive, row)) for row in rows]
        total = archive.governed.count_candidates(filter).value
    if shown:
        call.output.table(COLUMNS, [_cells(row, content) for row, content in shown])
    listed = plural(total, "candidate")
    call.output.tell(listed if len(shown) == total else f"{number(len(shown))} of {listed}")
    return 0


@command(
    "queue",
    "List what waits for somebody to decide",
    prints=f"queue[{{{governed_documents.CHECK}, candidate{{}}, claim{{by, at, until}}}}], waiting",
)
@click.option("--filter", "text", metavar="TEXT", default="", help="Only those whose text holds TEXT.")
@click.option("--kind", type=click.Choice(get_args(Kind)), help="Only of this kind.")
@click.option("--level", type=click.Choice(get_args(Level)), help="Only of this scope level.")
@click.option("--scope", metavar="KEY", help="Only of this scope key.")
@click.option("--limit", type=click.IntRange(1), metavar="N", help="At most N candidates.")
def queue_command(call: Call, limit: int | None, **wanted: Any) -> int:
    """List the candidates that wait for somebody, the riskiest first, each with its check.

    The shownHash stands for everything that is shown: give it to a decision with --expect, and it is refused where
    anything of that has changed.
    """
    from storage.queries.governed import GovernedFilter

    now = datetime.now(UTC)
    filter = GovernedFilter(waiting=True, now=round(now.timestamp() * 1_000_000), **wanted)
    with call.archive() as archive:
        found = checked_of(archive, rows_of(archive, filter, limit, by_risk=True), now)
        if call.output.json:
            with call.output.listing("queue") as (write, after):
                for one in found:
                    write(governed_documents.waiting(one, now))
                after["waiting"] = archive.governed.count_candidates(filter).value
            return 0
        shown = list(found)
        total = archive.governed.count_candidates(filter).value
    if shown:
        call.output.table(QUEUED, [_queued(one) for one in shown])
    call.output.tell(
        f"{number(total)} waiting" if len(shown) == total else f"{number(len(shown))} of {number(total)} waiting"
    )
    return 0


def rows_of(archive: Archive, filter: GovernedFilter, limit: int | None, *, by_risk: bool) -> Iterator[CandidateRow]:
    cursor: tuple[object, ...] | None = None
    left = limit
    while left is None or left > 0:
        most = 200 if left is None else min(200, left)
        page = archive.governed.candidates(filter, by_risk=by_risk, cursor=cursor, limit=most)
        yield from page.rows
        if page.after is None:
            return
        cursor = page.after
        left = None if left is None else left - len(page.rows)


def checked_of(archive: Archive, rows: Iterator[CandidateRow], now: datetime) -> Iterator[Checked]:
    for row in rows:
        found = archive.governed.check(row, now)
        if found is not None:
            yield found


def _content(archive: Archive, row: CandidateRow) -> str | None:
    read = archive.governed.candidate(row.id, row.version)
    return None if read is None else read.content


def _cells(row: CandidateRow, content: str | None) -> tuple[str, ...]:
    where = f"{row.level}:{row.scope}"
    text = "(erased)" if content is None else content
    return row.id, moment(row.created), row.status, number(row.risk), row.kind, where, row.source, text


def _queued(one: Checked) -> tuple[str, ...]:
    row, report = one.row, one.report
    codes = " ".join(finding.code for finding in report.findings if finding.severity != "info") or "–"
    where = f"{row.level}:{row.scope}"
    return row.id, number(report.risk), report.outcome, one.status, codes, where, one.candidate.content
