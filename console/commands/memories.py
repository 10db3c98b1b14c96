"""``affidavit memories``: what was let in, whatever became of it since."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, get_args

import click

from affidavit.memory.words import Kind, RecordLevel
from console.commands import governed_documents
from console.commands.call import Call, command
from console.output import Column
from console.words import moment, number, plural

if TYPE_CHECKING:
    from storage.archive import Archive
    from storage.folds.governed_rows import MemoryRow
    from storage.queries.governed import GovernedFilter

PRINTS = (
    "memories[{id, address, version, status, kind, scope{level, key}, authority, confidence, visibility, candidateId, "
    "createdAt, approvedAt, updatedAt, lastVerifiedAt, expiresAt, reviewAfter, content}]"
)
COLUMNS = (
    Column("id"),
    Column("updated (UTC)", spare=2),
    Column("status"),
    Column("authority", spare=3),
    Column("kind", spare=4),
    Column("scope", shrinks=True, least=10, spare=1),
    Column("content", shrinks=True, least=24),
)
STATUSES = ("active", "deprecated", "revoked", "merged")


@command("memories", "List what is remembered", prints=PRINTS)
@click.option("--filter", "text", metavar="TEXT", default="", help="Only those whose text holds TEXT.")
@click.option("--status", type=click.Choice(STATUSES), help="Only in this status.")
@click.option("--kind", type=click.Choice(get_args(Kind)), help="Only of this kind.")
@click.option("--level", type=click.Choice(get_args(RecordLevel)), help="Only of this scope level.")
@click.option("--scope", metavar="KEY", help="Only of this scope key.")
@click.option("--limit", type=click.IntRange(1), metavar="N", help="At most N memories.")
def memories_command(call: Call, limit: int | None, **wanted: Any) -> int:
    """List the governed memories, the last changed first, with the state each is in; a revoked one is listed, too."""
    from storage.queries.governed import GovernedFilter

    filter = GovernedFilter(**wanted)
    now = datetime.now(UTC)
    with call.archive() as archive:
        rows = _rows(archive, filter, limit)
        if call.output.json:
            with call.output.listing("memories") as (write, _):
                for row in rows:
                    write(governed_documents.memory(row, _content(archive, row), status(row, now)))
            return 0
        shown = [(row, _content(archive, row)) for row in rows]
        total = archive.governed.count_memories(filter).value
    if shown:
        call.output.table(COLUMNS, [_cells(row, content, now) for row, content in shown])
    listed = plural(total, "memory")
    call.output.tell(listed if len(shown) == total else f"{number(len(shown))} of {listed}")
    return 0


def status(row: MemoryRow, now: datetime) -> str:
    """A memory's status as of a moment: an active one whose time is over is expired."""
    over = row.expires is not None and row.expires <= now.timestamp() * 1_000_000
    return "expired" if row.status == "active" and over else row.status


def _rows(archive: Archive, filter: GovernedFilter, limit: int | None) -> Iterator[MemoryRow]:
    cursor: tuple[object, ...] | None = None
    left = limit
    while left is None or left > 0:
        page = archive.governed.memories(filter, cursor=cursor, limit=200 if left is None else min(200, left))
        yield from page.rows
        if page.after is None:
            return
        cursor = page.after
        left = None if left is None else left - len(page.rows)


def _content(archive: Archive, row: MemoryRow) -> str | None:
    read = archive.governed.memory(row.id, row.version)
    return None if read is None else read.content


def _cells(row: MemoryRow, content: str | None, now: datetime) -> tuple[str, ...]:
    text = "(erased)" if content is None else content
    where = f"{row.level}:{row.scope}"
    return row.id, moment(row.updated), status(row, now), row.authority, row.kind, where, text
