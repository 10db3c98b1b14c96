"""``affidavit diff``: two recorded things side by side."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from affidavit.session.address import SnapshotAddress, parse
from console.commands.call import Call, Refused, command
from console.commands.completing import addresses
from console.commands.resolve import find_snapshot
from console.output import Column
from console.words import plural

if TYPE_CHECKING:
    from affidavit.retrieval.comparing import Comparison, Pair, Side

PRINTS = (
    "left, right, same, sameBlock, candidates[{candidateId, sourceRef, changes[], left{place, reason, citation, rank, "
    "total, score{}, tokens, text, hash}, right{…}}], fields[{path, left, right}]"
)

CANDIDATES = (
    Column("candidate", shrinks=True, least=12, spare=1), Column("source", shrinks=True, least=20), Column("left"),
    Column("right"), Column("score", right=True, spare=2), Column("changed", shrinks=True, least=10),
)  # fmt: skip


@command("diff", "Put two snapshots side by side", prints=PRINTS)
@click.argument("left", metavar="ADDRESS", shell_complete=addresses)
@click.argument("right", metavar="ADDRESS", shell_complete=addresses)
def diff_command(call: Call, left: str, right: str) -> int:
    """Say what differs between two recorded snapshots: who moved stage, scores, budget, settings, visible text.

    Exit code 1 where something differs.
    """
    from affidavit.retrieval.comparing import compare

    first, second = parse(left), parse(right)
    if not (isinstance(first, SnapshotAddress) and isinstance(second, SnapshotAddress)):
        raise Refused("only two snapshots can be compared", "affidavit snapshots lists what there is")
    with call.archive() as archive:
        rows = [find_snapshot(archive, address.id) for address in (first, second)]
        lines = [archive.snapshots.line(row.key) for row in rows]
    found = compare(*lines)
    names = [f"snapshot/{row.uid}" for row in rows]
    if call.output.json:
        call.output.document(_document(names, found))
    else:
        _print(call, found)
    return int(not found.same)


def _document(names: list[str], found: Comparison) -> dict[str, Any]:
    return {
        "left": names[0],
        "right": names[1],
        "same": found.same,
        "sameBlock": found.same_block,
        "candidates": [
            {
                "candidateId": pair.candidate_id,
                "sourceRef": pair.source_ref,
                "changes": list(pair.changes),
                "left": _side(pair.left),
                "right": _side(pair.right),
            }
            for pair in found.pairs
        ],
        "fields": [{"path": field.path, "left": field.left, "right": field.right} for field in found.fields],
    }


def _side(side: Side) -> dict[str, Any]:
    return dict(side._asdict())


def _print(call: Call, found: Comparison) -> None:
    changed = [pair for pair in found.pairs if pair.changes]
    if changed:
        call.output.table(CANDIDATES, [_cells(pair) for pair in changed])
    for field in found.fields:
        call.output.say(f"{field.path}: {_value(field.left)} → {_value(field.right)}")
    for pair in changed:
        difference = pair.text_difference() if "text" in pair.changes else []
        if difference:
            call.output.say()
            call.output.say(f"{pair.source_ref}")
            for line in difference:
                call.output.say(f"{line.sign} {line.text}")
    block = {
        True: "the same block was handed over",
        False: "another block was handed over",
        None: "? blocks not hashed",
    }
    call.output.say(block[found.same_block])
    call.output.tell(f"{plural(len(changed), 'candidate')} of {len(found.pairs)} changed")


def _cells(pair: Pair) -> tuple[str, ...]:
    totals = [f"{side.total:.2f}" for side in (pair.left, pair.right) if side.total is not None]
    return (
        pair.candidate_id, pair.source_ref, _place(pair.left), _place(pair.right),
        " → ".join(dict.fromkeys(totals)) or "?", ", ".join(pair.changes),
    )  # fmt: skip


def _place(side: Side) -> str:
    return side.place if side.place in ("visible", "absent") else f"{side.place}: {side.reason or '?'}"


def _value(value: Any) -> str:
    return "–" if value is None else str(value)
