"""``affidavit health``: what in the store of memories is worth a look."""

from __future__ import annotations

from datetime import UTC, datetime

import click

from affidavit.session.times import instant, iso
from console.commands.call import Call, command
from console.commands.check import SIGNS
from console.words import plural

PRINTS = "findings[{code, severity, memories[], evidence[]}], active, at"


@command("health", "Report on the health of what is remembered", prints=PRINTS)
@click.option("--at", metavar="DATE", help="As of then (ISO 8601), instead of now.")
def health_command(call: Call, at: str | None) -> int:
    """Report what in the store of memories is over, due for review, too wide, without a source, in conflict, against a
    rule file, or never used. Nothing is changed. The exit code is 1 where anything is found.
    """
    from affidavit.memory.health import AILMENTS
    from storage.queries.governed import GovernedFilter

    now = datetime.now(UTC)
    if at is not None:
        micros, _ = instant(at)
        if micros is None:
            raise click.BadParameter(f"{at!r} is not a date such as 2026-05-14 or 2026-05-14T10:02:00Z")
        now = datetime.fromtimestamp(micros / 1_000_000, UTC)
    with call.archive() as archive:
        found = archive.governed.health(now)
        active = archive.governed.count_memories(GovernedFilter(status="active")).value
    if call.output.json:
        findings = [
            {"code": one.code, "severity": one.severity, "memories": list(one.memories), "evidence": list(one.evidence)}
            for one in found
        ]
        moment = iso(round(now.timestamp() * 1_000_000))
        call.output.document({"findings": findings, "active": active, "at": moment})
        return 1 if found else 0
    for one in found:
        named = " ".join((*one.memories, *one.evidence))
        call.output.line(f"{SIGNS[one.severity]} {one.code}: {AILMENTS[one.code]}  {named}".rstrip())
    call.output.tell(f"{plural(active, 'active memory')}, {plural(len(found), 'finding')}")
    return 1 if found else 0
