"""``affidavit search``: full text over every event."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import click

from affidavit.session.event import KINDS
from console.commands import documents
from console.commands.call import Call, command
from console.commands.completing import sessions
from console.commands.resolve import find_session
from console.words import moment, number, plural

if TYPE_CHECKING:
    from storage.archive import Archive
    from storage.queries.models import Hit, Total

FOR_PEOPLE = 50
"""Hits printed for people unless they ask for more."""


@command("search", "Find events by their text", prints="hits[{address, kind, at, excerpt}], total{value, exact}")
@click.argument("text", metavar="TEXT")
@click.option(
    "--kind",
    "kinds",
    metavar="KIND",
    multiple=True,
    help="Only events of this kind, such as tool.finished; repeatable.",
)
@click.option("--session", "session", metavar="ID", shell_complete=sessions, help="Only in this session.")
@click.option("--limit", type=click.IntRange(1), metavar="N", help="At most N hits; without --json 50.")
def search_command(call: Call, text: str, kinds: tuple[str, ...], session: str | None, limit: int | None) -> int:
    """Find events whose text holds every word of TEXT, the newest first.

    TEXT is taken literally: nothing in it is an operator.
    """
    for kind in kinds:
        if kind not in KINDS:
            raise click.UsageError(f"there is no kind {kind!r}" + _nearest(kind))
    archive = call.archive()
    try:
        key = None if session is None else find_session(archive, session.removeprefix("session/")).key
        chosen = frozenset(kinds) or None
        total = archive.count_hits(text, kinds=chosen, session=key)
        if call.output.json:
            with call.output.listing("hits") as (write, after):
                for found in _hits(archive, text, chosen, key, limit):
                    write(documents.hit(found))
                after["total"] = documents.total(total)
            return 0
        _print(call, list(_hits(archive, text, chosen, key, limit or FOR_PEOPLE)), total)
    finally:
        archive.close()
    return 0


def _hits(
    archive: Archive, text: str, kinds: frozenset[str] | None, session: int | None, limit: int | None
) -> Iterator[Hit]:
    cursor: tuple[object, ...] | None = None
    left = limit
    while left is None or left > 0:
        size = 200 if left is None else min(200, left)
        page = archive.search(text, kinds=kinds, session=session, cursor=cursor, limit=size)
        yield from page.rows
        if page.after is None:
            return
        cursor = page.after
        left = None if left is None else left - len(page.rows)


def _print(call: Call, hits: list[Hit], total: Total) -> None:
    room = max((len(found.kind) for found in hits), default=0)
    for found in hits:
        address = documents.event_address(found.session_uid, found.id)
        when = moment(found.at) or "no time recorded"
        call.output.line(f"{address}  {when:<16}  {found.kind:<{room}}  {found.session_title}")
        call.output.line("    " + found.excerpt)
    known = plural(total.value, "hit") if total.exact else "more than " + plural(total.value, "hit")
    if not total.value:
        call.output.tell("nothing found")
    elif len(hits) == total.value:
        call.output.tell(known)
    else:
        call.output.tell(f"{number(len(hits))} of {known}, newest first; --limit shows more")


def _nearest(kind: str) -> str:
    from difflib import get_close_matches

    near = get_close_matches(kind, KINDS, n=1, cutoff=0.5)
    return f"; did you mean {near[0]}?" if near else "; kinds are " + ", ".join(KINDS)
