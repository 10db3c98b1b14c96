"""``affidavit reach``: who saw a memory."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from affidavit.session.times import iso
from console.commands.call import Call, command
from console.commands.finding_governed import find
from console.output import Column
from console.words import plural

if TYPE_CHECKING:
    from storage.queries.reaching import Reached

PRINTS = (
    "memory, address, status, revokedAt, visible[{address, session, at, citation}], recalledOnly[{address, session, "
    "at, stage, reason}], trimmed[…], afterRevoke[{address, session, at, kind, reason}]"
)

COLUMNS = (
    Column("what came of it"), Column("where", shrinks=True, least=16), Column("session", spare=1),
    Column("at (UTC)", spare=2), Column("why", shrinks=True, least=10),
)  # fmt: skip


@command("reach", "Say who saw a memory", prints=PRINTS)
@click.argument("id", metavar="MEMORY")
def reach_command(call: Call, id: str) -> int:
    """Say who saw a memory: where it was visible to a model, only recalled and held back, or trimmed for want of room.

    From recorded recalls and retrievals alone. Exit code 1 where it was visible after it was revoked.
    """
    from storage.queries.reaching import given_out, places

    with call.archive() as archive:
        row = find(archive, id, candidates=False).memory
        assert row is not None
        over = given_out(archive, row.candidate, row.id)
        found = sorted(places(archive, row.id), key=lambda one: (one.at is None, one.at or 0, one.where))
    visible = [one for one in found if one.how == "visible"]
    trimmed = [one for one in found if one.stage == "budget"]
    held = [one for one in found if one.how != "visible" and one.stage != "budget"]
    after = [one for one in found if over is not None and one.at is not None and one.at > over]
    if call.output.json:
        call.output.document(
            {
                "memory": row.id,
                "address": f"memory/{row.id}@{row.version}",
                "status": row.status,
                "revokedAt": iso(over),
                "visible": [{**_place(one), "citation": one.citation} for one in visible],
                "recalledOnly": [_held(one) for one in held],
                "trimmed": [_held(one) for one in trimmed],
                "afterRevoke": [{**_place(one), "kind": _kind(one), "reason": one.how} for one in after],
            }
        )
    else:
        if found:
            call.output.table(COLUMNS, [_cells(one, after) for one in found])
        words = f"visible {plural(len(visible), 'time')}, recalled only {len(held)}, trimmed {len(trimmed)}"
        call.output.tell(words + (f" · {len(after)} after it was revoked" if over is not None else ""))
    return int(any(one.how == "visible" for one in after))


def _place(one: Reached) -> dict[str, Any]:
    return {"address": one.where, "session": one.session, "at": iso(one.at)}


def _held(one: Reached) -> dict[str, Any]:
    return {**_place(one), "stage": one.stage, "reason": one.how}


def _kind(one: Reached) -> str:
    return "visible" if one.how == "visible" else "trimmed" if one.stage == "budget" else "recalledOnly"


def _cells(one: Reached, after: list[Reached]) -> tuple[str, ...]:
    words = {"visible": "✓ visible", "trimmed": "· trimmed", "recalledOnly": "· held back"}[_kind(one)]
    late = "! after it was revoked" if one in after else ""
    why = one.citation or "" if one.how == "visible" else one.how
    return words, one.where, one.session or "–", (iso(one.at) or "not recorded")[:16], f"{why} {late}".strip()
