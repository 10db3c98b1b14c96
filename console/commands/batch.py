"""``affidavit batch``: one decision about several candidates, in one transaction, with one receipt and one undo."""

from __future__ import annotations

import os
from datetime import UTC, datetime
from typing import TYPE_CHECKING, cast

import click

from console.acting import actor_of, deciding
from console.commands import governed_documents
from console.commands.call import Call, command
from console.commands.finding_governed import find
from console.commands.reviewing import refuse
from console.words import plural

if TYPE_CHECKING:
    from affidavit.memory.transitions import Verb

VERBS = ("approve", "reject", "ask", "withdraw", "revoke", "deprecate", "renew")
PRINTS = (
    f"batch, decisions[{{{governed_documents.DECISION}}}]; --preview: preview[objects], refused?; or "
    "refused{code, reason, difference[]} with exit code 2"
)


@command("batch", "Decide about several at once", prints=PRINTS)
@click.argument("verb", type=click.Choice(VERBS))
@click.argument("ids", metavar="ID...", nargs=-1, required=True)
@click.option("--preview", is_flag=True, help="Say what would be decided, and write nothing.")
@deciding
def batch_command(call: Call, verb: str, ids: tuple[str, ...], preview: bool, who: str | None, reason: str) -> int:
    """Decide about several candidates or memories at once: all of them, or none.

    What must be looked at alone (quarantined, or of high risk) is in no batch. affidavit undo with the batch's id takes
    all of it back.
    """
    from affidavit.policy.actors import Refusal
    from affidavit.review.commands import Decide
    from storage.reviewing import PATIENCE_MILLIS, Desk
    from storage.store import Store

    actor = actor_of(call, who)
    with call.archive() as archive:
        named = [find(archive, id) for id in ids]
    found = [one.candidate or one.memory for one in named]
    things = list(dict.fromkeys(thing.id for thing in found if thing is not None))
    batch = os.urandom(16).hex()
    word = cast("Verb", verb)
    asked = [(Decide(f"{batch}.{n}", word, actor, reason, batch=batch), id) for n, id in enumerate(things)]
    with Store.open(call.store, busy=PATIENCE_MILLIS) as store:
        desk = Desk(store, clock=lambda: datetime.now(UTC))
        done = desk.preview(asked) if preview else desk.decide_all(asked)
    if isinstance(done, Refusal):
        return refuse(call, done)
    if preview:
        if call.output.json:
            call.output.document({"preview": things})
        else:
            call.output.say(f"would {verb} {plural(len(things), 'thing')}: {', '.join(things)}")
        return 0
    with call.archive() as archive:
        rows = archive.governed.batch(batch)
    if call.output.json:
        call.output.document({"batch": batch, "decisions": [governed_documents.decision(row) for row in rows]})
    else:
        for row in rows:
            call.output.line(f"{row.verb}: {row.what}/{row.object}@{row.version}")
        call.output.say(f"{plural(len(rows), 'decision')}; affidavit undo {batch} takes them back")
    return 0
