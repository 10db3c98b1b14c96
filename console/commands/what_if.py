"""``affidavit what-if``: recorded retrievals under other settings; never a new search."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from affidavit.retrieval import recorded
from affidavit.session.address import AddressError, SnapshotAddress, parse
from affidavit.session.times import iso
from console.commands.call import Call, Refused, command
from console.commands.completing import addresses
from console.commands.policy import policy_in
from console.commands.resolve import find_session, find_snapshot
from console.commands.retrieve import pairs, read_weights
from console.commands.sessions import day
from console.output import Column
from console.words import number, plural

if TYPE_CHECKING:
    from affidavit.retrieval.what_if import Changed, Moved, WhatIf
    from storage.archive import Archive
    from storage.queries.snapshots import SnapshotRow

PRINTS = (
    "of one: snapshot, address, settings{}, changed, appeared[{candidateId, sourceRef, before, after, totalBefore, "
    "totalAfter, tokensBefore, tokensAfter}], gone[…], resized[…], unknown[{candidateId, missing}], visible[], tokens; "
    "of a period: settings{}, snapshots[{id, address, at, changed, appeared, gone, resized, unknown}], changed, total"
)


MOVED = (
    Column("would"), Column("candidate", shrinks=True, least=12, spare=1), Column("source", shrinks=True, least=20),
    Column("now"), Column("score", right=True), Column("tokens", right=True),
)  # fmt: skip
TABLE = (
    Column("snapshot", shrinks=True, least=16), Column("at (UTC)", spare=1), Column("appear", right=True),
    Column("go", right=True), Column("resized", right=True), Column("unknown", right=True),
)  # fmt: skip


@command("what-if", "Ask what recorded retrievals would have shown under other settings", prints=PRINTS)
@click.argument("snapshot", metavar="[SNAPSHOT]", required=False, shell_complete=addresses)
@click.option("--since", type=day, metavar="DATE", help="Every snapshot from then on (UTC).")
@click.option("--until", type=day, metavar="DATE", help="Every snapshot before then (UTC).")
@click.option("--session", metavar="ID", help="Every snapshot of this session.")
@click.option("--budget", type=click.IntRange(0), metavar="N", help="Tokens the block may cost.")
@click.option("--per-item", type=click.IntRange(1), metavar="N", help="Tokens one item may cost.")
@click.option("--min-score", type=click.FloatRange(0, 1), metavar="X", help="Nothing that scores less.")
@click.option("--weights", metavar="NAME=X,…", help="Weights of the parts of a score.")
@click.option("--top-k", type=click.IntRange(0), metavar="N", help="Candidates each sub-query may bring.")
@click.option(
    "--max-unverified", type=click.IntRange(0), metavar="N", help="Items nothing vouches for that may be seen."
)
@click.option("--settings", metavar="FILE", help="A policy file, which is not applied: memories are judged anew by it.")
@click.option("--allow", multiple=True, metavar="REASON", help="A reason that turns nobody away. May be given again.")
def what_if_command(
    call: Call, snapshot: str | None, since: int | None, until: int | None, session: str | None, **given: Any
) -> int:
    """Ask what would have become visible, and what would have gone, under other settings.

    The recorded candidates of one SNAPSHOT are judged anew, or those of every snapshot of a period or session, as a
    table. Nothing is searched again; what was not recorded is named.
    """
    from affidavit.retrieval.what_if import what_if
    from storage.queries.snapshots import SnapshotFilter

    changed, said = _changed(given)
    if (snapshot is None) == (since is None and until is None and session is None):
        raise click.UsageError("name one snapshot, or a period with --since, --until or --session")
    with call.archive() as archive:
        if snapshot is not None:
            row = find_snapshot(archive, _id(snapshot))
            found = what_if(recorded.body_of(archive.snapshots.line(row.key)), changed)
            _one(call, row, found, said)
            return 0
        key = None if session is None else find_session(archive, session).key
        keys = archive.snapshots.keys(SnapshotFilter(session=key, since=since, until=until))
        rows = [one for key in keys if (one := archive.snapshots.row(key)) is not None]
        lines = ((one, _held(archive, one)) for one in rows)
        judged = ((row, what_if(recorded.body_of(line), changed)) for row, line in lines if line is not None)
        if call.output.json:
            different = 0
            with call.output.listing("snapshots", before={"settings": said}) as (write, after):
                for row, found in judged:
                    different += found.changed
                    write(_summary(row, found))
                after.update(changed=different, total=len(keys))
            return 0
        differing = [(row, found) for row, found in judged if found.changed or found.unknown]
    if differing:
        call.output.table(TABLE, [_cells(row, found) for row, found in differing])
    different = sum(found.changed for _, found in differing)
    call.output.say(f"{number(different)} of {plural(len(keys), 'retrieval')} would have shown something else")
    return 0


def _held(archive: Archive, row: SnapshotRow) -> dict[str, Any] | None:
    """What was recorded of a snapshot; ``None`` where it was erased, so that nothing can be said of it."""
    from storage.queries.records import RecordWithheld

    try:
        return archive.snapshots.figures(row.key)
    except RecordWithheld:
        return None


def _id(text: str) -> str:
    try:
        address = parse(text)
    except AddressError:
        return text
    return address.id if isinstance(address, SnapshotAddress) else text


def _changed(given: dict[str, Any]) -> tuple[Changed, dict[str, Any]]:
    """The settings, and how they are said in JSON."""
    from affidavit.retrieval.what_if import Changed

    weights = None
    if given["weights"]:
        option = click.Option(["--weights"])
        weights = read_weights(pairs(click.get_current_context(), option, given["weights"].split(",")))
    settings, regate = None, None
    if given["settings"]:
        from affidavit.retrieval.memories import gate_anew

        settings = policy_in(given["settings"]).gate
        regate = gate_anew(settings)
    try:
        changed = Changed(
            max_tokens=given["budget"],
            per_item_max=given["per_item"],
            min_score=given["min_score"],
            weights=weights,
            top_k=given["top_k"],
            max_unverified=given["max_unverified"],
            allow=frozenset(given["allow"]),
            regate=regate,
        )
    except ValueError as error:
        raise Refused(str(error)) from None
    gate = None if settings is None else settings.model_dump(mode="json", by_alias=True)
    said = {
        "maxTokens": given["budget"], "perItemMax": given["per_item"], "minScore": given["min_score"],
        "weights": weights, "topK": given["top_k"], "maxUnverified": given["max_unverified"],
        "allow": sorted(given["allow"]), "gate": gate,
    }  # fmt: skip
    if all(value in (None, []) for value in said.values()):
        raise click.UsageError("say what should be otherwise: --budget, --min-score, --weights, --allow, …")
    return changed, {name: value for name, value in said.items() if value not in (None, [])}


def _moved(one: Moved) -> dict[str, Any]:
    return {
        "candidateId": one.candidate_id, "sourceRef": one.source_ref, "before": one.before, "after": one.after,
        "totalBefore": one.total_before, "totalAfter": one.total_after, "tokensBefore": one.tokens_before,
        "tokensAfter": one.tokens_after,
    }  # fmt: skip


def _summary(row: SnapshotRow, found: WhatIf) -> dict[str, Any]:
    return {
        "id": row.id,
        "address": f"snapshot/{row.uid}",
        "at": iso(row.at),
        "changed": found.changed,
        "appeared": len(found.appeared),
        "gone": len(found.gone),
        "resized": len(found.resized),
        "unknown": len(found.unknown),
    }


def _cells(row: SnapshotRow, found: WhatIf) -> tuple[str, ...]:
    counts = (found.appeared, found.gone, found.resized, found.unknown)
    return row.id, (iso(row.at) or "not recorded")[:16], *(number(len(moved)) for moved in counts)


def _one(call: Call, row: SnapshotRow, found: WhatIf, said: dict[str, Any]) -> None:
    if call.output.json:
        call.output.document(
            {
                "snapshot": row.id,
                "address": f"snapshot/{row.uid}",
                "settings": said,
                "changed": found.changed,
                "appeared": [_moved(one) for one in found.appeared],
                "gone": [_moved(one) for one in found.gone],
                "resized": [_moved(one) for one in found.resized],
                "unknown": [{"candidateId": id, "missing": missing} for id, missing in found.unknown],
                "visible": found.visible,
                "tokens": found.tokens,
            }
        )
        return
    rows = [
        (word, one.candidate_id, one.source_ref, one.after if word == "go" else one.before, _score(one), _tokens(one))
        for word, moved in (("appear", found.appeared), ("go", found.gone), ("be resized", found.resized))
        for one in moved
    ]
    if rows:
        call.output.table(MOVED, rows)
    else:
        call.output.say("the model would have been shown the same")
    for id, missing in found.unknown:
        call.output.tell(f"? {id}: {missing} not recorded, so nothing can be said of it")
    call.output.tell(f"{plural(len(found.visible), 'item')} would be visible, {number(found.tokens)} tokens")


def _score(one: Moved) -> str:
    totals = [total for total in (one.total_before, one.total_after) if total is not None]
    return " → ".join(dict.fromkeys(f"{total:.2f}" for total in totals)) or "?"


def _tokens(one: Moved) -> str:
    tokens = [count for count in (one.tokens_before, one.tokens_after) if count is not None]
    return " → ".join(dict.fromkeys(number(count) for count in tokens)) or "?"
