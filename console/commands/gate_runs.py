"""``affidavit gate-runs``: what recalls were judged, and showing one of them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import click

from affidavit.session.times import iso
from console.commands.call import Call, Refused, command
from console.commands.resolve import find_session
from console.commands.sessions import day
from console.output import Column
from console.words import moment, number, plural

if TYPE_CHECKING:
    from storage.archive import Archive
    from storage.queries.gate_runs import GateRunFilter, GateRunRow

PRINTS = (
    "gateRuns[{id, uid, address, session, at, query, memorySpace, accepted, rejected, dryRun, policyEntry, reasons[]}]"
)

COLUMNS = (
    Column("id", shrinks=True, least=13),
    Column("at (UTC)", spare=3),
    Column("query", shrinks=True, least=16),
    Column("space", shrinks=True, least=8, spare=2),
    Column("accepted", right=True),
    Column("kept back", right=True),
    Column("", spare=1),
    Column("reasons", shrinks=True, least=10, spare=4),
)
VERDICTS = (
    Column("", shrinks=False),
    Column("score", right=True, spare=1),
    Column("memory", shrinks=True, least=10),
    Column("title", shrinks=True, least=16),
    Column("reason"),
)


def document(row: GateRunRow) -> dict[str, Any]:
    """One run as ``gate-runs`` prints it."""
    return {
        "id": row.id,
        "uid": row.uid,
        "address": f"gate/{row.uid}",
        "session": row.session_uid,
        "at": iso(row.at),
        "query": row.query,
        "memorySpace": row.space,
        "accepted": row.accepted,
        "rejected": row.rejected,
        "dryRun": row.dry,
        "policyEntry": row.policy,
        "reasons": list(row.reasons),
    }


@command("gate-runs", "List recalls and what the gate kept back", prints=PRINTS)
@click.option("--filter", "text", metavar="TEXT", default="", help="Only where id, query or session hold TEXT.")
@click.option("--session", metavar="ID", help="Only of this session.")
@click.option("--space", metavar="NAME", help="Only in this memory space.")
@click.option("--reason", metavar="CODE", help="Only where something was kept back for this reason.")
@click.option("--dry-run/--no-dry-run", "dry", default=None, help="Only dry runs, or none of them.")
@click.option("--since", type=day, metavar="DATE", help="Only from then on (UTC).")
@click.option("--until", type=day, metavar="DATE", help="Only before then (UTC).")
@click.option("--limit", type=click.IntRange(1), metavar="N", help="At most N runs.")
def gate_runs_command(call: Call, session: str | None, limit: int | None, **wanted: Any) -> int:
    """List runs of the recall gate, the newest first: those of affidavit recall, and those other programs recorded.

    affidavit show gate/ID names what passed and what was kept back, with the reasons.
    """
    from storage.queries.gate_runs import GateRunFilter

    with call.archive() as archive:
        key = None if session is None else find_session(archive, session).key
        filter = GateRunFilter(session=key, **wanted)
        rows = _rows(archive, filter, limit)
        if call.output.json:
            with call.output.listing("gateRuns") as (write, _):
                for row in rows:
                    write(document(row))
            return 0
        shown = list(rows)
        total = archive.gate_runs.count(filter).value
    if shown:
        call.output.table(COLUMNS, [_cells(row) for row in shown])
    listed = plural(total, "recall")
    call.output.tell(listed if len(shown) == total else f"{number(len(shown))} of {listed}")
    return 0


def _rows(archive: Archive, filter: GateRunFilter, limit: int | None) -> Iterator[GateRunRow]:
    cursor: tuple[object, ...] | None = None
    left = limit
    while left is None or left > 0:
        page = archive.gate_runs.page(filter, cursor=cursor, limit=200 if left is None else min(200, left))
        yield from page.rows
        if page.after is None:
            return
        cursor = page.after
        left = None if left is None else left - len(page.rows)


def _cells(row: GateRunRow) -> tuple[str, ...]:
    at = moment(row.at) if row.at is not None else "not recorded"
    dry = "dry run" if row.dry else ""
    return (
        row.uid, at, row.query or "–", row.space or "–", number(row.accepted), number(row.rejected), dry,
        " ".join(row.reasons),
    )  # fmt: skip


def find_run(archive: Archive, prefix: str) -> GateRunRow:
    """The one run whose id begins with ``prefix``; raises :class:`Refused`."""
    found = archive.gate_runs.find(prefix)
    if not found:
        raise Refused(f"there is no gate run {prefix!r} in this store", "affidavit gate-runs lists what there is")
    if len({row.uid for row in found}) > 1:
        named = "\n".join(f"  gate/{row.uid}  {row.id}" for row in found)
        raise Refused(f"{prefix!r} could be any of these gate runs:", named)
    return found[0]


def verdicts(line: dict[str, Any]) -> list[tuple[str, str, str, str, str]]:
    """Of every memory of a run: what became of it, score, id, title, reason."""
    known = {one.get("id"): one for one in line.get("accepted") or () if isinstance(one, dict)}
    rows = []
    for id in line["acceptedIds"]:
        about = known.get(id, {})
        score = about.get("score")
        shown = f"{score:.2f}" if isinstance(score, int | float) else "–"
        rows.append(("accepted", shown, str(id), str(about.get("title", "")), ""))
    kept = [
        ("kept back", "", str(one["id"]), str(one.get("title", "")), str(one["reason"])) for one in line["rejected"]
    ]
    return rows + kept


def show(call: Call, archive: Archive, row: GateRunRow, raw: bool) -> int:
    """Show one run. Raises ``RecordError`` where its record cannot be had."""
    if raw:
        call.output.raw(archive.gate_runs.raw(row.key))
        return 0
    line = archive.gate_runs.line(row.key)
    if call.output.json:
        said = {key: value for key, value in line.items() if key != "type"}
        about = document(row)
        call.output.document({**said, **{name: about[name] for name in ("id", "uid", "address", "session", "at")}})
        return 0
    say = call.output.say
    at = moment(row.at) if row.at is not None else "at a time not recorded"
    say(f"gate/{row.uid}  {row.id}  {at}" + ("  dry run: nothing was handed over" if row.dry else ""))
    say(f"query  {line['query']}")
    for name, value in line["scope"].items():
        if value is not None:
            say(f"scope  {name} {value}")
    if row.session_uid is not None:
        say(f"of     session/{row.session_uid}")
    if row.policy is not None:
        say(f"by     the policy of entry/{row.policy}")
    say()
    rows = verdicts(line)
    if rows:
        call.output.table(VERDICTS, rows)
    reasons = reason_words()
    for code in row.reasons:
        call.output.tell(f"{code}: {reasons.get(code, 'a reason of another program')}")
    call.output.tell(f"{row.accepted} of {plural(row.accepted + row.rejected, 'memory')} accepted")
    return 0


def reason_words() -> dict[str, str]:
    """What each of the gate's codes means."""
    from affidavit.gate.gate import REASONS

    return {str(code): words for code, words in REASONS.items()}
