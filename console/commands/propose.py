"""``affidavit propose``: something to be remembered, as a candidate that nobody believes yet."""

from __future__ import annotations

import io
import json
import os
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, get_args

import click

from affidavit.memory.words import Authority, Confidence, Kind, SourceType
from console.acting import actor_of
from console.commands import governed_documents
from console.commands.call import Call, Refused, command
from console.commands.check import tell_check
from console.commands.proposing import PROPOSED, propose_from
from console.commands.record import OWN_FORMAT

if TYPE_CHECKING:
    from affidavit.policy.actors import Actor


@command(
    "propose",
    "Propose something to be remembered",
    prints=f"{governed_documents.CHECK}; with --from or --all {PROPOSED}",
)
@click.argument("content", metavar="[TEXT]", required=False)
@click.option("--from", "sessions", metavar="session/ID", multiple=True, help="What this session holds, by rules.")
@click.option("--all", "every", is_flag=True, help="What all sessions hold, by rules.")
@click.option("--dry-run", is_flag=True, help="Only show it; with --from or --all.")
@click.option("--kind", type=click.Choice(get_args(Kind)), default="project_fact", help="What it is.")
@click.option("--scope", metavar="LEVEL:KEY", help="Where it applies, such as repo:acme/app.")
@click.option(
    "--source",
    type=click.Choice(get_args(SourceType)),
    help="Who or what says so; explicit_user unless an agent proposes it.",
)
@click.option("--event", "events", metavar="ID", multiple=True, help="An event that speaks for it; may be given again.")
@click.option("--artifact", "artifacts", metavar="REF", multiple=True, help="A body or path that speaks for it.")
@click.option("--session", metavar="ID", help="The session whose events are named.")
@click.option("--key", "keys", metavar="KEY", multiple=True, help="A conflict key, such as repo:acme/app:test-command.")
@click.option("--value", metavar="TEXT", help="The value it gives its keys.")
@click.option("--confidence", type=click.Choice(get_args(Confidence)), default="low", help="How sure it is.")
@click.option("--authority", type=click.Choice(get_args(Authority)), default="hint", help="The tone it asks for.")
@click.option("--expires", metavar="DATE", help="When it is over, ISO 8601 with a zone.")
@click.option("--review-after", metavar="DATE", help="When somebody should look at it again.")
@click.option("--title", metavar="TEXT", help="What it is called.")
@click.option("--id", "id", metavar="ID", help="An id of your own: proposing it again adds nothing.")
def propose_command(call: Call, sessions: tuple[str, ...], every: bool, dry_run: bool, **given: Any) -> int:
    """Propose TEXT to be remembered, and check it; or, with --from or --all, what recorded sessions hold.

    It becomes a candidate: affidavit approve lets it in, and until somebody does no agent is given it. Proposed in a
    process an agent started it is taken for the agent's own reflection, unless --source says otherwise.

    Rules look at chosen events of sessions: what a person said is to go on, what agents wrote into their memory or a
    rule file or concluded, commands that were seen to pass. Each candidate names its rule and its events, is pending
    and of low confidence; what is in the store, or was decided about, is not proposed again.
    """
    if sessions or every:
        if given["content"] is not None or (sessions and every):
            raise click.UsageError("name a TEXT, or --from, or --all")
        return propose_from(call, sessions, dry_run=dry_run)
    if given["content"] is None or dry_run:
        raise click.UsageError("name a TEXT; --dry-run goes with --from or --all")
    if given["scope"] is None:
        raise click.UsageError("say where it applies with --scope LEVEL:KEY, such as repo:acme/app")
    from affidavit.lines import check_line
    from storage.archive import Archive
    from storage.folds.governed import candidate_uid
    from storage.importing import Importer
    from storage.store import Store

    now = datetime.now(UTC)
    value = _line(given, actor_of(call, None), now)
    line = json.dumps(value, ensure_ascii=False).encode("utf-8", "surrogatepass")
    problems = check_line(line)
    if problems:
        raise Refused("; ".join(f"{problem.field} {problem.reason}".strip() for problem in problems))
    with Store.open(call.store, create=True) as store:
        Importer(store, clock=lambda: datetime.now(UTC)).stream(io.BytesIO(line + b"\n"), OWN_FORMAT, "propose")
    with Archive.open(call.store) as archive:
        (row,) = archive.governed.find_candidates(candidate_uid(given["session"] or "", value["id"]))
        found = archive.governed.check(row, now)
        assert found is not None
        if call.output.json:
            call.output.document(governed_documents.check(found))
        else:
            tell_check(call, found)
    return 0


def _line(given: dict[str, Any], actor: Actor, now: datetime) -> dict[str, Any]:
    agent = actor.agent
    level, colon, key = given["scope"].partition(":")
    if not colon:
        raise click.UsageError("--scope is written LEVEL:KEY, such as repo:acme/app")
    by = given["source"] or ("explicit_user" if agent is None else "agent_reflection")
    ttl = {"expiresAt": given["expires"], "reviewAfter": given["review_after"]}
    value = {
        "type": "memory.candidate",
        "id": given["id"] or "proposed-" + os.urandom(8).hex(),
        "session": given["session"],
        "content": given["content"],
        "title": given["title"],
        "kind": given["kind"],
        "scope": {"level": level, "key": key},
        "source": {"type": by, "eventIds": [*given["events"]], "artifactRefs": [*given["artifacts"]]},
        "confidence": given["confidence"],
        "authorityAsked": given["authority"],
        "conflictKeys": list(given["keys"]),
        "value": given["value"],
        "ttl": {name: at for name, at in ttl.items() if at is not None} or None,
        "createdAt": now.isoformat(timespec="milliseconds"),
        "createdBy": "user" if agent is None else "model",
        "proposedBy": actor.name if agent is None else None,
        "proposedByAgent": agent,
    }
    return {name: one for name, one in value.items() if one is not None}
