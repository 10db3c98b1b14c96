"""``affidavit redact``: a recorded text erased for good, with every proof left whole."""

from __future__ import annotations

import sys
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import click

from affidavit.session.address import (
    Address,
    AddressError,
    CandidateAddress,
    EntryAddress,
    GateAddress,
    MemoryAddress,
    PayloadAddress,
    SessionAddress,
    SnapshotAddress,
    TurnAddress,
    parse,
)
from console.acting import actor_of, deciding, said_no
from console.commands.call import Call, Refused, command
from console.commands.gate_runs import find_run
from console.commands.resolve import find_content, find_entry, find_session, find_snapshot, records_at
from console.output import Output
from console.progress import Meter
from console.words import number, plural

if TYPE_CHECKING:
    from storage.archive import Archive
    from storage.redacting import Doomed

PRINTS = (
    "address, records, texts, contents, snapshots[], copies[{file, line}], elsewhere[], entries[], dryRun; or "
    "refused{code, reason} with exit code 2"
)
SHOWN = 10
"""Places named for people; the rest are counted."""


@command("redact", "Erase a recorded text for good; every proof still holds", prints=PRINTS)
@click.argument("address", metavar="ADDRESS")
@deciding
@click.option("--dry-run", is_flag=True, help="Say what would be erased, and erase nothing.")
@click.option("--yes", is_flag=True, help="On a terminal, do not ask again.")
def redact_command(call: Call, address: str, who: str | None, reason: str, dry_run: bool, yes: bool) -> int:
    """Erase what is recorded at ADDRESS: a session or turn, an event's record, a snapshot, a gate run,
    the contents of a policy change, a file of a workspace.

    Gone are the bytes, their salts, every word of them in tables and indexes, and the snapshots that show a model a
    part of them. What stays is that something was there, when, and who had it erased why: its address says so, and
    affidavit verify still holds. Records that repeat one go with it; other events that say the same are named and
    stay. A file of a workspace is named by its text: payload/SHA256. Nothing brings it back. Only reviewers of the
    policy may, or, where it names none, you; no agent.
    """
    from affidavit.policy.actors import refused
    from storage.redact import RedactionError
    from storage.redacting import Denied, carry_out
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
    if not doomed.records and not doomed.texts and not doomed.payloads:
        raise Refused(f"nothing is left to erase at {named}")
    entries: tuple[int, ...] = ()
    records, texts = len(doomed.records), len(doomed.texts)
    if not dry_run:
        if not yes and asks(call.output):
            _list(call.output, doomed)
            click.confirm(f"Erase this for good? {named}: {_counted(records, texts, doomed)}", abort=True, err=True)
        meter = Meter(call.output)
        with Store.open(call.store, progress=meter.count) as store:
            try:
                entries, records, texts = carry_out(
                    store,
                    doomed,
                    actor=actor,
                    reason=reason,
                    clock=lambda: datetime.now(UTC),
                    progress=meter.count,
                )
            except Denied as error:
                raise said_no(call, error.refusal) from None
            except RedactionError as error:
                raise Refused(f"nothing was erased: {error}") from None
            finally:
                meter.clear()
    if call.output.json:
        document = {"address": str(named), "records": records, "texts": texts, "contents": len(doomed.payloads)}
        shown = [f"snapshot/{uid}" for uid in doomed.snapshots]
        copies = [{"file": file, "line": line} for file, line in doomed.copies]
        where = {"snapshots": shown, "copies": copies, "elsewhere": list(doomed.elsewhere)}
        call.output.document({**document, **where, "entries": list(entries), "dryRun": dry_run})
        return 0
    call.output.say(f"{'would erase' if dry_run else 'erased'}: {_counted(records, texts, doomed)}")
    _list(call.output, doomed)
    if entries:
        call.output.say(f"said by {', '.join(f'entry/{entry}' for entry in entries)}")
    return 0


def asks(output: Output) -> bool:
    """Whether a person is there to be asked."""
    return sys.stdin.isatty() and output.is_terminal


def _counted(records: int, texts: int, doomed: Doomed) -> str:
    counts = ((records, "record"), (texts, "file text"), (len(doomed.payloads), "content"))
    return ", ".join(plural(count, name) for count, name in counts if count)


def _list(output: Output, doomed: Doomed) -> None:
    """What goes with it, and what says the same and stays."""
    lists = (
        [f"  with it snapshot/{uid}, which shows a part of it" for uid in doomed.snapshots],
        [f"  with it {file}:{line}, which repeats it" for file, line in doomed.copies],
        [f"  not {address}, which says the same" for address in doomed.elsewhere],
    )
    for lines in lists:
        for line in lines[:SHOWN]:
            output.say(line)
        if len(lines) > SHOWN:
            output.say(f"  and {number(len(lines) - SHOWN)} more like that")


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
        case GateAddress(id=id):
            return archive.doomed([find_run(archive, id).key])
        case EntryAddress(number=index) if find_entry(archive, index) and archive.erasable(index) is not None:
            return archive.doomed((), (), archive.erasable(index) or ())
        case SessionAddress() | TurnAddress() | EntryAddress():
            return archive.doomed(_numbers(records_at(archive, named)))
        case CandidateAddress() | MemoryAddress():
            raise Refused(f"{named} is governed: affidavit forget erases a memory's texts")
    raise Refused(f"nothing can be erased at {named}", "name a session, a turn, an event, a snapshot or a payload")


def _numbers(places: dict[int, set[int] | None]) -> list[int]:
    """Records by the numbers of their first events; raises :class:`Refused` for entries that hold none."""
    from storage.numbers import number as numbered

    found = []
    for entry, records in places.items():
        if records is None:
            raise Refused(f"entry/{entry} as a whole cannot be erased", "name the session or event in it")
        found += [numbered(entry, record) for record in records]
    return found
