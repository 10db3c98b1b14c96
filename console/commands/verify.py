"""``affidavit verify``: whether a store is what was recorded, and on which level that can be said."""

from __future__ import annotations

import threading
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import click

from affidavit.session.address import SnapshotAddress, parse
from console.commands.call import Call, command
from console.commands.completing import addresses
from console.commands.importing import stopping
from console.output import Column
from console.progress import Meter
from console.state import MOVED, Verified
from console.words import CHECKED, HASH_MARKS, number, plural

if TYPE_CHECKING:
    from storage.archive import Archive
    from storage.queries.snapshots import SnapshotRow
    from storage.verify import VerifyReport


@command(
    "verify",
    "Check every hash, chain and table of the store",
    prints="holds, level, entries, checked{}, failures[{address, class, detail}], withheld; with --since-last also "
    "since{entries, at}; of a snapshot also items[{citationId, address, verdict, expected, actual, "
    "links[{link, verdict, expected, actual, detail}]}]",
)
@click.argument("address", metavar="[ADDRESS]", required=False, shell_complete=addresses)
@click.option("--since-last", is_flag=True, help="Only what is new since you last verified this store.")
def verify_command(call: Call, address: str | None, since_last: bool) -> int:
    """Check that the store is what was recorded: every entry, chain, record, content and table.

    With ADDRESS only what stands there: its records, their entries, and that the tree holds those. Exit code 1 if
    anything does not hold. The answer names the level it stands on, and what it does not claim.
    """
    from storage.refold import Cancelled
    from storage.verify import verify

    if address is not None and since_last:
        raise click.UsageError("--since-last is for the whole store, not for one address")
    items = None
    cancel = threading.Event()
    meter = Meter(call.output)
    known = Verified(call.store)
    at = known.marked_at()
    try:
        with stopping(cancel):
            if address is None:
                marker, stamp = known.marker(), known.stamp()
                since = marker if since_last else None
                report = verify(call.store, since=since, known=marker, progress=meter.count, cancel=cancel)
                known.remember(report, datetime.now(UTC), stamp)
            else:
                report, items = _one(call, address)
    except Cancelled:
        meter.clear()
        call.output.tell("interrupted: nothing can be said of what was not reached")
        return 130
    meter.clear()
    if call.output.json:
        told = document(report, at)
        call.output.document(told if items is None else {**told, "items": items})
    else:
        for item in items or ():
            label = f"[{item['citationId']}]" if item["citationId"] else "the whole block"
            call.output.say(f"{HASH_MARKS[item['verdict']]}  {label}  recorded {item['expected'] or 'no hash'}")
        _print(call, report, at, since_last, address)
    return 0 if report.holds else 1


def _one(call: Call, address: str) -> tuple[VerifyReport, list[dict[str, Any]] | None]:
    from console.commands.resolve import records_at
    from storage.verify.single import verify_records

    wanted = parse(address)
    items = None
    with call.archive() as archive:
        entries = records_at(archive, wanted)
        if isinstance(wanted, SnapshotAddress):
            items = _texts(archive, wanted)
    report = verify_records(call.store, entries)
    for item in items or ():
        if item["verdict"] == "differs":
            report.fail(item["address"], "visible_text", "the recorded text is not the one its recorded hash is of")
    return report, items


def _texts(archive: Archive, address: SnapshotAddress) -> list[dict[str, Any]]:
    """The visible texts of a snapshot, each held against its recorded hash; the whole block last, without a label."""
    from affidavit.retrieval import recorded
    from console.commands.resolve import find_snapshot
    from console.commands.showing_snapshots import one

    snapshot = find_snapshot(archive, address.id)
    line = archive.snapshots.line(snapshot.key)
    seen = list(recorded.seen(line)) if address.citation is None else [one(line, address.citation)[1]]
    items = {item.get("citationId"): item for item in recorded.objects(recorded.body_of(line), "selectedItems")}
    model_input = _model_input(archive, snapshot)
    block = recorded.block_seen(line)
    if block is not None and block.text is not None and address.citation is None:
        seen.append(block)
    return [
        {
            "citationId": text.citation,
            "address": f"snapshot/{snapshot.uid}" + (f"/{text.citation}" if text.citation else ""),
            "verdict": text.verdict,
            "expected": text.expected,
            "actual": text.actual,
            "links": _links(archive, line, items.get(text.citation), model_input),
        }
        for text in seen
    ]


def _links(
    archive: Archive, line: dict[str, Any], item: dict[str, Any] | None, model_input: str | None
) -> list[dict[str, Any]]:
    """The links from a text's source to the model, each with its verdict; of the whole block there are none."""
    from affidavit.retrieval.links import links_of

    found = () if item is None else links_of(line, item, source=_source(archive, item), model_input=model_input)
    return [
        {
            "link": link.name,
            "verdict": link.verdict,
            "expected": link.expected,
            "actual": link.actual,
            "detail": link.detail,
        }
        for link in found
    ]


def _model_input(archive: Archive, snapshot: SnapshotRow) -> str | None:
    """The recorded input of the model request a snapshot was for, where both are recorded."""
    from affidavit.session.event import event_hex, event_id

    if snapshot.session is None or snapshot.request is None:
        return None
    session = archive.session(snapshot.session)
    rows = archive.find_event(session.key, event_hex(event_id(session.agent, session.native, snapshot.request, "")))
    inputs = archive.inputs(session.key)
    request = inputs.requests.at(rows[0]) if rows else None
    return None if request is None else inputs.input(request, texts=False).text


def _source(archive: Archive, item: dict[str, Any]) -> bytes | None:
    """The bytes a visible text was cut from, where the store holds them."""
    digest = str(item.get("sourceDigest") or "").removeprefix("sha256:")
    return archive.source_bytes(digest) if len(digest) == 64 else None


def document(report: VerifyReport, at: str | None) -> dict[str, Any]:
    """The report as ``--json`` prints it."""
    found: dict[str, Any] = {
        "holds": report.holds,
        "level": report.level,
        "entries": report.entries,
        "checked": dict(report.checked),
        "failures": [
            {"address": failure.address, "class": failure.kind, "detail": failure.detail} for failure in report.failures
        ],
        "withheld": report.withheld,
    }
    if report.more:
        found["moreFailures"] = report.more
    return found if report.since is None else {**found, "since": {"entries": report.since, "at": at}}


def _print(call: Call, report: VerifyReport, at: str | None, since_last: bool, address: str | None) -> None:
    from affidavit.proof.verdict import LEVELS
    from storage.verify import FAILURES, NOT_CLAIMED

    output = call.output
    output.table(
        [Column("checked"), Column("count", right=True)],
        [(CHECKED.get(name, name), number(many)) for name, many in report.checked.items()],
    )
    output.say()
    for failure in report.failures:
        output.say(
            f"✗ {failure.address}  {failure.kind}\n  {failure.detail or FAILURES.get(failure.kind, '')}".rstrip()
        )
    if report.more:
        output.say(f"✗ and {number(report.more)} more")
    if report.withheld:
        output.say(f"withheld: {plural(report.withheld, 'record')} erased, each by a redaction entry")
    if report.holds:
        meaning = {str(level): words for level, words in LEVELS.items()}.get(report.level, "")
        output.say(f"✓ holds, on the level {report.level}: {meaning}")
        if report.root:
            output.say(f"the tree's root over {plural(report.entries, 'entry')}: {report.root.hex()}")
    else:
        wrong = len(report.failures) + report.more
        output.say(f"✗ does not hold: {plural(wrong, 'failure')} in {plural(report.entries, 'entry')}")
    if any(failure.kind in MOVED for failure in report.failures):
        output.say(Verified(call.store).way_out())
    if report.since is not None:
        output.say(
            f"entries 0 to {number(report.since - 1)} and the tables were not checked again since {at or 'last time'}"
        )
    elif address:
        output.say("only what stands at this address was checked; the tables were not compared")
    elif since_last:
        output.say("this store was not verified here before, so everything was checked")
    output.say("What this does not claim:")
    for claim in NOT_CLAIMED:
        output.say("  " + claim)
