"""``affidavit snapshots``: what was retrieved, and what became of it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import click

from affidavit.proof.verdict import HASH_VERDICTS
from affidavit.session.times import iso
from console.commands import showing_inputs
from console.commands.call import Call, command
from console.commands.resolve import find_session
from console.commands.sessions import day
from console.output import Column
from console.words import HASH_MARKS, moment, number, plural

if TYPE_CHECKING:
    from storage.archive import Archive
    from storage.queries.snapshots import SnapshotFilter, SnapshotRow

DERIVED = (
    Column("derived"),
    Column("at (UTC)", spare=2),
    Column("request", shrinks=True, least=12, spare=1),
    Column("visible", right=True),
    Column("from", shrinks=True, least=10),
)

PRINTS = (
    "snapshots[{id, uid, address, session, purpose, question, at, derived, modelRequestId, "
    "candidateStats{recalled, filtered, rankedOut, trimmed, selected, redacted}, sources[], reasons[], verdict}]"
)

COLUMNS = (
    Column("id", shrinks=True, least=13),
    Column("at (UTC)", spare=3),
    Column("purpose", spare=4),
    Column("question", shrinks=True, least=20),
    Column("found", right=True),
    Column("filtered", right=True, spare=2),
    Column("ranked", right=True, spare=2),
    Column("trimmed", right=True, spare=2),
    Column("visible", right=True),
    Column("hashes"),
)


def document(row: SnapshotRow) -> dict[str, Any]:
    """One snapshot as ``snapshots`` prints it."""
    return {
        "id": row.id,
        "uid": row.uid,
        "address": f"snapshot/{row.uid}",
        "session": row.session_uid,
        "purpose": row.purpose,
        "question": row.question,
        "at": iso(row.at),
        "derived": False,
        "modelRequestId": row.request,
        "candidateStats": {
            "recalled": row.recalled,
            "filtered": row.filtered,
            "rankedOut": row.ranked_out,
            "trimmed": row.trimmed,
            "selected": row.selected,
            "redacted": row.redacted,
        },
        "sources": list(row.sources),
        "reasons": list(row.reasons),
        "verdict": row.verdict,
    }


@command("snapshots", "List retrievals and what became of them", prints=PRINTS)
@click.option("--filter", "text", metavar="TEXT", default="", help="Only where id, question or session hold TEXT.")
@click.option("--session", metavar="ID", help="Only of this session.")
@click.option("--purpose", metavar="NAME", help="Only for this purpose, such as fix-test.")
@click.option("--source", metavar="NAME", help="Only where something came from this source.")
@click.option("--reason", metavar="CODE", help="Only where something was turned away for this reason.")
@click.option("--verdict", type=click.Choice(list(HASH_VERDICTS)), help="Only whose worst hash verdict is this.")
@click.option("--since", type=day, metavar="DATE", help="Only from then on (UTC).")
@click.option("--until", type=day, metavar="DATE", help="Only before then (UTC).")
@click.option("--limit", type=click.IntRange(1), metavar="N", help="At most N snapshots.")
def snapshots_command(call: Call, session: str | None, limit: int | None, **wanted: Any) -> int:
    """List retrieval snapshots, the newest first: what was found, what was left out, what the model was given.

    The verdict is the worst of what holding each visible text against its recorded hash gave. With --session alone
    those follow that the log of another agent implies (derived): what its searches and reads put before the model.
    What was found and left out no such log records.
    """
    from storage.queries.snapshots import SnapshotFilter

    with call.archive() as archive:
        key = None if session is None else find_session(archive, session).key
        filter = SnapshotFilter(session=key, **wanted)
        rows = _rows(archive, filter, limit)
        implied = _derived(archive, key) if key is not None and not any(wanted.values()) and limit is None else ()
        if call.output.json:
            with call.output.listing("snapshots") as (write, _):
                for row in rows:
                    write(document(row))
                for one in implied:
                    write(one)
            return 0
        shown = list(rows)
        derived = list(implied)
        total = archive.snapshots.count(filter).value
    if shown:
        call.output.table(COLUMNS, [_cells(row) for row in shown])
    if derived:
        call.output.table(DERIVED, [_derived_cells(one) for one in derived])
        call.output.tell(f"~ {plural(len(derived), 'snapshot')} derived from what the log holds of searches and reads")
    listed = plural(total, "snapshot")
    call.output.tell(listed if len(shown) == total else f"{number(len(shown))} of {listed}")
    return 0


def _rows(archive: Archive, filter: SnapshotFilter, limit: int | None) -> Iterator[SnapshotRow]:
    cursor: tuple[object, ...] | None = None
    left = limit
    while left is None or left > 0:
        page = archive.snapshots.page(filter, cursor=cursor, limit=200 if left is None else min(200, left))
        yield from page.rows
        if page.after is None:
            return
        cursor = page.after
        left = None if left is None else left - len(page.rows)


def _derived(archive: Archive, session: int) -> Iterator[dict[str, Any]]:
    """What searches and reads put before the model in each request of a session, as the log implies it."""
    row = archive.session(session)
    for request, events in archive.inputs(session).derived():
        yield showing_inputs.derived_row(row, request, events)


def _derived_cells(one: dict[str, Any]) -> tuple[str, ...]:
    visible = number(one["candidateStats"]["selected"])
    return one["id"], (one["at"] or "not recorded")[:16], one["modelRequestId"], visible, ", ".join(one["sources"])


def _cells(row: SnapshotRow) -> tuple[str, ...]:
    counts = (row.recalled, row.filtered, row.ranked_out, row.trimmed, row.selected)
    at = moment(row.at) if row.at is not None else "not recorded"
    return (
        row.id, at, row.purpose or "–", row.question or "–", *("?" if one is None else number(one) for one in counts),
        HASH_MARKS.get(row.verdict or "", "– none"),
    )  # fmt: skip
