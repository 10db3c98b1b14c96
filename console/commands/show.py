"""``affidavit show``: anything that has an address, whole, or its very bytes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

import click

from affidavit.session.address import (
    Address,
    CandidateAddress,
    ContextAddress,
    EntryAddress,
    GateAddress,
    MemoryAddress,
    PayloadAddress,
    SessionAddress,
    SnapshotAddress,
    TurnAddress,
    parse,
)
from affidavit.session.event import FLAGS, event_hex
from console.commands import (
    documents,
    gate_runs,
    showing_citations,
    showing_governed,
    showing_inputs,
    showing_snapshots,
)
from console.commands.call import Call, command
from console.commands.completing import addresses
from console.commands.finding_governed import find
from console.commands.proving import NOT_AS_RECORDED, WORDS, Prover
from console.commands.resolve import (
    all_events,
    find_content,
    find_entry,
    find_event,
    find_session,
    find_snapshot,
    find_turn,
    nothing_of,
    records_at,
)
from console.words import clock, count, duration, moment, number, plural

if TYPE_CHECKING:
    from storage.archive import Archive
    from storage.queries.inputs import Inputs, ModelInput
    from storage.queries.models import Content, EventDetail, EventRow, SessionRow

MARKS = {
    "user.message": "User",
    "model.message": "Agent",
    "model.reasoning": "thinks",
    "tool.intent": "▸",
    "memory.write": "◆",
    "memory.read": "◆",
    "memory.candidate.proposed": "◆",
    "unknown": "?",
}
"""What stands before an event's words in a list; ``✓`` or ``✗`` for outcomes, ``·`` for everything else."""

PRINTS = (
    "session, events[{id, address, index, kind, turn, lane, branch, at, parent, actor, tool, summary, text, refs,"
    " model, tokens, inferred, abandoned, flags[], copies, source{file, line, offset, length}, copiesAt[{file, "
    "line, offset, length}]}] for a session, a turn or an event, of one event also citations[{citationId, "
    "verdict, address, sourceRef, quote, start, end, standsIn{}, detail}] and findings[{kind, citationId, "
    "address, detail}]; address, entry{} for an entry; address, sha256, media, size, name for a payload; of a "
    "snapshot the recorded object with id, uid, address, session, at, derived, candidateStats{}, "
    "selectedItems[{…, visibleText, score{}, verdict}], rejectedItems[{candidateId, sourceRef, stage, reason, "
    "score{}}], budget{}, contextProjection{visibleTextHash, citationMap{}}, block{text, verdict, actual}, "
    "verdict; of a gate run the recorded object with id, uid, address, session, at"
)

LARGEST_SHOWN = 1_048_576
"""Bytes of a payload that are printed as text."""


@command("show", "Print what is at an address, whole or its bytes", prints=PRINTS)
@click.argument("address", metavar="ADDRESS", shell_complete=addresses)
@click.option("--raw", is_flag=True, help="The very bytes of the record as they stood in the file it came from.")
def show_command(call: Call, address: str, raw: bool) -> int:
    """Print what is at ADDRESS, whole: a session, an event, a turn, a ledger entry, recorded bytes.

    What is printed is proven by the ledger as it passes. Bytes that are not the ones that were recorded are told on
    standard error, their events carry the flag not_as_recorded in JSON, and the exit code is 1.
    """
    if raw and call.output.json:
        raise click.UsageError("--raw prints bytes, --json a document: choose one")
    if raw and call.output.mask:
        raise click.UsageError("--raw prints the very bytes, in which nothing can be masked")
    wanted = parse(address)
    archive = call.archive()
    try:
        return _show(call, archive, wanted, raw)
    finally:
        archive.close()


def _show(call: Call, archive: Archive, address: Address, raw: bool) -> int:
    prover = Prover(call.store, call.output)
    match address:
        case SessionAddress(id=id, event=None):
            code = _session(call, archive, find_session(archive, id), prover, raw)
        case SessionAddress(id=id, event=str() as prefix):
            session = find_session(archive, id)
            code = _event(call, archive, session, find_event(archive, session, prefix), prover, raw)
        case TurnAddress(session=id, number=turn):
            code = _turn(call, archive, find_session(archive, id), turn, prover, raw)
        case ContextAddress(session=id, number=number):
            session = find_session(archive, id)
            inputs = archive.inputs(session.key)
            given = inputs.input(showing_inputs.find_request(inputs, session, number))
            code = _input(call, session, inputs, given, prover, raw)
        case SnapshotAddress(id=id) if showing_inputs.is_derived(id):
            session, given = showing_inputs.find_derived(archive, id)
            code = _derived(call, session, archive.inputs(session.key), given, prover, raw)
        case SnapshotAddress(id=id, citation=citation):
            snapshot = find_snapshot(archive, id)
            prover.places(records_at(archive, SnapshotAddress(snapshot.uid)))
            code = showing_snapshots.show(call, archive, snapshot, citation, raw)
        case GateAddress(id=id):
            run = gate_runs.find_run(archive, id)
            prover.places(records_at(archive, GateAddress(run.uid)))
            code = gate_runs.show(call, archive, run, raw)
        case CandidateAddress() | MemoryAddress():
            named = find(archive, str(address))
            prover.places(records_at(archive, address))
            if named.candidate is not None:
                code = showing_governed.candidate(call, archive, named.candidate, named.version)
            else:
                assert named.memory is not None
                code = showing_governed.memory(call, archive, named.memory, named.version)
        case EntryAddress(number=index):
            code = _entry(call, find_entry(archive, index), index, prover, raw)
        case PayloadAddress(digest=digest):
            content = find_content(archive, digest)
            prover.places(records_at(archive, PayloadAddress(content.digest)))
            code = _payload(call, archive, content, raw)
        case _:
            raise nothing_of(address)
    return code or prover.code


def _session(call: Call, archive: Archive, session: SessionRow, prover: Prover, raw: bool) -> int:
    if raw:
        return _originals(call, archive, session, prover)
    return _several(call, archive, session, enumerate(all_events(archive, session)), prover)


def _turn(call: Call, archive: Archive, session: SessionRow, turn: int, prover: Prover, raw: bool) -> int:
    find_turn(archive, session, turn)
    chosen = ((index, row) for index, row in enumerate(all_events(archive, session)) if row.turn == turn)
    if raw:
        call.output.raws(_records(archive, (row for _, row, _ in prover.events(session.uid, chosen))))
        return 0
    return _several(call, archive, session, chosen, prover)


def _several(
    call: Call, archive: Archive, session: SessionRow, rows: Iterable[tuple[int, EventRow]], prover: Prover
) -> int:
    """Events of a session as a list of lines, or as JSON."""
    proven = prover.events(session.uid, rows)
    if call.output.json:
        return _listed(call, archive, session, proven)
    _heading(call, session)
    unproven = 0
    for _, row, holds in proven:
        unproven += not holds
        call.output.line(_line(row, holds, session.cwd))
    prover.end(unproven)
    return 0


def _input(call: Call, session: SessionRow, inputs: Inputs, given: ModelInput, prover: Prover, raw: bool) -> int:
    if raw:
        raise click.UsageError("a model input has no bytes of its own; --raw is for what was recorded as it is")
    list(prover.events(session.uid, enumerate(block.row for block in given.blocks)))
    showing_inputs.show(call, session, given, inputs.findings(given))
    return int(given.replay.verdict == "differs")


def _derived(call: Call, session: SessionRow, inputs: Inputs, given: ModelInput, prover: Prover, raw: bool) -> int:
    if call.output.json and not raw:
        list(prover.events(session.uid, enumerate(block.row for block in given.blocks)))
        call.output.document(showing_inputs.derived_document(session, given))
        return 0
    return _input(call, session, inputs, given, prover, raw)


def _event(call: Call, archive: Archive, session: SessionRow, row: EventRow, prover: Prover, raw: bool) -> int:
    holds = prover.event(session.uid, row)
    if raw:
        call.output.raw(archive.raw(row.key))
    elif call.output.json:
        rows = [(archive.position(session.key, row), row, holds)]
        about = archive.citations(session.key)
        return _listed(call, archive, session, rows, showing_citations.document(about.of(row), about.smells(row)))
    else:
        _print_event(call, session, archive.detail_of(row), holds)
        about = archive.citations(session.key)
        showing_citations.say(call, about.of(row), about.smells(row))
    return 0


def _records(archive: Archive, rows: Iterable[EventRow]) -> Iterator[bytes]:
    """The bytes of the records that events were read from, each record once and on a line of its own."""
    from storage.numbers import record_number

    latest = None
    for row in rows:
        if record_number(row.key) != latest:
            latest = record_number(row.key)
            yield archive.raw(row.key)
            yield b"\n"


def _originals(call: Call, archive: Archive, session: SessionRow, prover: Prover) -> int:
    """The bytes of every file a session came from, one after the other as they were first read."""
    sources = list(archive.sources(session.key))
    for source in sources:
        prover.source(source.key)
    call.output.raws(part for source in sources for part in archive.original(source.key))
    if len(sources) > 1:
        call.output.tell(f"{plural(len(sources), 'file')}, one after the other:")
        for source in sources:
            call.output.tell(f"  {source.file}  {plural(source.bytes, 'byte')}")
    return 0


def _listed(
    call: Call,
    archive: Archive,
    session: SessionRow,
    rows: Iterable[tuple[int, EventRow, bool]],
    more: dict[str, Any] | None = None,
) -> int:
    """Events as one JSON document, each with ``more``.

    One whose bytes are damaged stands in it without its text, and is told.
    """
    from storage.queries.records import RecordError

    code = 0
    with call.output.listing("events", before={"session": documents.session(session)}) as (write, _):
        for index, row, holds in rows:
            try:
                document = documents.event(archive.detail_of(row), session.uid, index)
            except RecordError as error:
                document = documents.damaged(row, session.uid, index)
                call.output.tell(f"{documents.event_address(session.uid, row.id)}: {error.reason}")
                code = 1
            if not holds:
                document["flags"].append(NOT_AS_RECORDED)
            write({**document, **more} if more else document)
    return code


def _heading(call: Call, session: SessionRow) -> None:
    """What a session is, above its events."""
    say = call.output.say
    say(f"session/{session.uid}  {session.title}")
    agent = session.agent + (f" {session.version}" if session.version else "")
    say("  " + " · ".join([agent, *session.models, _span(session)]))
    if session.cwd:
        call.output.path("  in ", session.cwd, f" · {session.git_branch}" if session.git_branch else "")
    used = session.tokens.input + session.tokens.output
    counts = [
        plural(session.events, "event"), plural(session.turns, "turn"), plural(session.lanes, "lane"),
        plural(session.branches, "branch"), f"{count(used)} tokens", f"{number(session.unreadable)} unreadable",
    ]  # fmt: skip
    say("  " + " · ".join(counts))
    say("  native id " + session.native)
    if "superseded" in session.flags:
        say("  ! a file of it was replaced or cut; what stands in none of its files any more is marked superseded")
    say()


def _span(session: SessionRow) -> str:
    """From when to when, the day once if it is the same."""
    if session.started is None:
        return "no times"
    start, end = moment(session.started), moment(session.ended)
    return f"{start} to {end.removeprefix(start[:11])} UTC"


def _mark(row: EventRow) -> str:
    if row.kind in MARKS:
        return MARKS[row.kind]
    if row.ok is not None:
        return "✓" if row.ok else "✗"
    return "✗" if row.kind == "error" else "·"


def _line(row: EventRow, holds: bool, cwd: str | None) -> str:
    """One event in a list: the beginning of its id, turn, lane, time, mark, words.

    A file that a tool was given is named from the session's folder ``cwd`` on.
    """
    turn = f"{row.turn:>3}" if row.turn else "   "
    lane = f"├{row.lane} " if row.lane else ""
    words = row.summary
    if row.tool and row.kind == "tool.intent":
        words = f"{row.tool}: " + (words.removeprefix(f"{cwd}/") if cwd else words)
    if not holds:
        words = "✗ not as recorded: " + words
    notes = [word for word, told in (("inferred", row.inferred), ("abandoned", row.abandoned)) if told]
    if row.copies > 1:
        notes.insert(0, f"×{row.copies}")
    noted = f"  ({', '.join(notes)})" if notes else ""
    return f"#{event_hex(row.id)[:8]} {turn} {clock(row.at)} {_mark(row):<7} {lane}{words}{noted}"


def _print_event(call: Call, session: SessionRow, detail: EventDetail, holds: bool) -> None:
    """One event whole: what it is, where it comes from, what is odd about it, what it says."""
    say, source = call.output.say, detail.source
    for line in _about(session, detail.row):
        say(line)
    end = source.offset + source.length
    call.output.path("  from ", source.file)
    say(f"    line {number(source.line)}, bytes {number(source.offset)} to {number(end)} · entry/{source.entry}")
    if not holds:
        say(f"  ✗ {WORDS}")
    for flag in detail.row.flags:
        say(f"  ! {FLAGS.get(flag, flag)}")
    if detail.row.copies > 1:
        say(f"  ! the same record stands {number(detail.row.copies)} times in the log")
    for place in detail.copies:
        call.output.path("  also in ", place.file)
        say(f"    line {number(place.line)}, bytes {number(place.offset)} to {number(place.offset + place.length)}")
    for reference in detail.refs:
        say(f"  refers to {reference}")
    say()
    say(f"withheld by entry/{detail.withheld_by}" if detail.withheld_by is not None else detail.text or "(no text)")


def _about(session: SessionRow, row: EventRow) -> Iterator[str]:
    """What an event is."""
    lane = "main" if row.lane == 0 else f"lane {row.lane}"
    branch = "" if row.branch == 0 else f" · abandoned branch {row.branch}"
    yield f"{documents.event_address(session.uid, row.id)}  {row.kind}"
    yield f"  {session.title}"
    at = f"{moment(row.at)}:{clock(row.at)[6:]} UTC" if row.at is not None else "no time recorded"
    yield f"  turn {row.turn} · {lane}{branch} · {row.actor} · {at}"
    facts = [row.tool or "", row.model or ""]
    if row.ok is not None:
        facts.append("ended well" if row.ok else "failed")
    if row.millis is not None:
        facts.append(duration(row.millis))
    if row.tokens is not None:
        facts.append(f"{count(row.tokens.input)} tokens in, {count(row.tokens.output)} out")
    if row.inferred:
        facts.append("~ inferred, not recorded as such")
    if any(facts):
        yield "  " + " · ".join(fact for fact in facts if fact)


def _entry(call: Call, data: bytes, index: int, prover: Prover, raw: bool) -> int:
    prover.places({index: ()})
    if raw:
        call.output.raw(data)
    elif call.output.json:
        import json

        call.output.document({"address": f"entry/{index}", "entry": json.loads(data)})
    else:
        import json

        call.output.say(f"entry/{index}  {plural(len(data), 'byte')}")
        call.output.say(json.dumps(json.loads(data), indent=2, ensure_ascii=False))
    return 0


def _payload(call: Call, archive: Archive, content: Content, raw: bool) -> int:
    if raw:
        call.output.raws(archive.chunks(content))
        return 0
    about = {"sha256": content.digest, "media": content.media, "size": content.size, "name": content.name}
    if call.output.json:
        call.output.document({"address": f"payload/{content.digest}", **about})
        return 0
    call.output.say(
        f"payload/{content.digest}  {content.media}  {plural(content.size, 'byte')}  {content.name or ''}".rstrip()
    )
    if content.size > LARGEST_SHOWN:
        call.output.tell("too large to print; --raw writes its bytes")
        return 0
    data = b"".join(archive.chunks(content))
    call.output.say()
    call.output.say(data.decode("utf-8", "backslashreplace"))
    return 0
