"""``affidavit redact``: a recorded text erased for good, with every proof left whole."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

import click

from affidavit.session.address import (
    Address,
    AddressError,
    CandidateAddress,
    EntryAddress,
    MemoryAddress,
    PayloadAddress,
    SessionAddress,
    SnapshotAddress,
    TurnAddress,
    parse,
)
from console.acting import actor_of, deciding, said_no
from console.commands.call import Call, Refused, command
from console.commands.resolve import find_content, find_session, find_snapshot, records_at
from console.progress import Meter
from console.words import plural

if TYPE_CHECKING:
    from storage.archive import Archive
    from storage.redacting import Doomed

PRINTS = "address, records, texts, snapshots[], entries[], dryRun; or refused{code, reason} with exit code 2"


@command("redact", "Erase a recorded text for good; every proof still holds", prints=PRINTS)
@click.argument("address", metavar="ADDRESS")
@deciding
@click.option("--dry-run", is_flag=True, help="Say what would be erased, and erase nothing.")
def redact_command(call: Call, address: str, who: str | None, reason: str, dry_run: bool) -> int:
    """Erase what is recorded at ADDRESS: a session or turn, an event's record, a snapshot, a file of a workspace.

    Gone are the bytes, their salts, every word of them in tables and indexes, and the snapshots that show a model a
    part of them. What stays is that something was there, when, and who had it erased why: its address says so, and
    affidavit verify still holds. A file of a workspace is named by its text: payload/SHA256. Nothing brings it back.
    Only reviewers of the policy may, or, where it names none, you; no agent.
    """
    from affidavit.policy.actors import refused
    from storage.redact import RedactionError
    from storage.redacting import carry_out
    from storage.store import Store

    actor = actor_of(call, who)
    try:
        named = parse(address)
    except AddressError as error:
        raise Refused(error.reason, error.hint) from None
    with call.archive() as archive:
        policy = archive.policy().policy
        no = refused(actor, policy.reviewers if policy is not None else ())
        if no is not None:
            raise said_no(call, no)
        doomed = _doomed(archive, named)
    if not doomed.records and not doomed.texts:
        raise Refused(f"nothing is left to erase at {named}")
    entries: tuple[int, ...] = ()
    records, texts = len(doomed.records), len(doomed.texts)
    if not dry_run:
        meter = Meter(call.output)
        with Store.open(call.store, progress=meter.count) as store:
            try:
                entries, records, texts = carry_out(
                    store,
                    doomed,
                    actor=actor.name,
                    reason=reason,
                    clock=lambda: datetime.now(UTC),
                    progress=meter.count,
                )
            except RedactionError as error:
                raise Refused(f"nothing was erased: {error}") from None
            finally:
                meter.clear()
    if call.output.json:
        document = {"address": str(named), "records": records, "texts": texts}
        shown = [f"snapshot/{uid}" for uid in doomed.snapshots]
        call.output.document({**document, "snapshots": shown, "entries": list(entries), "dryRun": dry_run})
        return 0
    what = ", ".join(
        part for part in (records and plural(records, "record"), texts and plural(texts, "file text")) if part
    )
    call.output.say(f"{'would erase' if dry_run else 'erased'}: {what}")
    for uid in doomed.snapshots:
        call.output.say(f"  with it snapshot/{uid}, which shows a part of it")
    if entries:
        call.output.say(f"said by {', '.join(f'entry/{entry}' for entry in entries)}")
    return 0


def _doomed(archive: Archive, named: Address) -> Doomed:
    """What goes with an address; raises :class:`Refused` for what cannot be redacted."""
    match named:
        case SessionAddress(id=id, event=None):
            return archive.doomed(archive.records_of_session(find_session(archive, id).key))
        case SnapshotAddress(id=id):
            return archive.doomed([find_snapshot(archive, id).key])
        case PayloadAddress(digest=digest):
            content = find_content(archive, digest)
            if content.event is not None:
                return archive.doomed([content.event])
            if archive.is_workspace_text(content):
                return archive.doomed((), [bytes.fromhex(content.digest)])
            raise Refused(f"{named} is what an entry of the ledger rests on; name what it is of, and that is erased")
        case SessionAddress() | TurnAddress() | EntryAddress():
            return archive.doomed(_numbers(records_at(archive, named)))
        case CandidateAddress() | MemoryAddress():
            raise Refused(f"{named} is governed: affidavit forget erases a memory's texts")
    raise Refused(f"nothing can be erased at {named}", "name a session, a turn, an event, a snapshot or a payload")


def _numbers(places: dict[int, set[int] | None]) -> list[int]:
    """Records by the numbers of their first events; raises :class:`Refused` for entries that hold none."""
    from storage.numbers import number

    found = []
    for entry, records in places.items():
        if records is None:
            raise Refused(f"entry/{entry} as a whole cannot be erased", "name the session or event in it")
        found += [number(entry, record) for record in records]
    return found
