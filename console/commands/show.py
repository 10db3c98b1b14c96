"""``affidavit show``: anything that has an address, whole, or its very bytes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

import click

from affidavit.session.address import (
    Address,
    EntryAddress,
    PayloadAddress,
    SessionAddress,
    TurnAddress,
    parse,
)
from affidavit.session.event import FLAGS, event_hex
from console.commands import documents
from console.commands.call import Call, command
from console.commands.completing import addresses
from console.commands.resolve import (
    all_events,
    find_content,
    find_entry,
    find_event,
    find_session,
    find_turn,
    nothing_of,
)
from console.words import clock, count, duration, moment, plural

if TYPE_CHECKING:
    from storage.archive import Archive
    from storage.queries.models import EventDetail, EventRow, SessionRow

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
    "session, events[{id, address, index, kind, turn, lane, branch, at, parent, actor, tool, "
    "summary, text, refs, model, tokens, inferred, abandoned, flags[], source{file, line, offset, length}}] for a "
    "session, a turn or an event; address, entry{} for an entry; address, sha256, media, size, name for a payload"
)

LARGEST_SHOWN = 1_048_576
"""Bytes of a payload that are printed as text."""


@command("show", "Print what is at an address, whole or its bytes", prints=PRINTS)
@click.argument("address", metavar="ADDRESS", shell_complete=addresses)
@click.option("--raw", is_flag=True, help="The very bytes of the record as they stood in the file it came from.")
def show_command(call: Call, address: str, raw: bool) -> int:
    """Print what is at ADDRESS, whole: a session, an event, a turn, a ledger entry, recorded bytes."""
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
    match address:
        case SessionAddress(id=id, event=None):
            return _session(call, archive, find_session(archive, id), raw)
        case SessionAddress(id=id, event=str() as prefix):
            session = find_session(archive, id)
            return _event(call, archive, session, find_event(archive, session, prefix), raw)
        case TurnAddress(session=id, number=number):
            return _turn(call, archive, find_session(archive, id), number, raw)
        case EntryAddress(number=number):
            return _entry(call, archive, number, raw)
        case PayloadAddress(digest=digest):
            return _payload(call, archive, digest, raw)
    raise nothing_of(address)


def _session(call: Call, archive: Archive, session: SessionRow, raw: bool) -> int:
    if raw:
        return _originals(call, archive, session)
    if call.output.json:
        return _listed(call, archive, session, enumerate(all_events(archive, session)))
    _heading(call, session)
    for row in all_events(archive, session):
        call.output.line(_line(row))
    return 0


def _turn(call: Call, archive: Archive, session: SessionRow, number: int, raw: bool) -> int:
    find_turn(archive, session, number)
    chosen = ((index, row) for index, row in enumerate(all_events(archive, session)) if row.turn == number)
    if raw:
        call.output.raws(_records(archive, chosen))
    elif call.output.json:
        return _listed(call, archive, session, chosen)
    else:
        _heading(call, session)
        for _, row in chosen:
            call.output.line(_line(row))
    return 0


def _event(call: Call, archive: Archive, session: SessionRow, row: EventRow, raw: bool) -> int:
    if raw:
        call.output.raw(archive.raw(row.key))
        return 0
    if call.output.json:
        return _listed(call, archive, session, [(archive.position(session.key, row), row)])
    for line in _event_lines(session, archive.detail_of(row)):
        call.output.say(line)
    return 0


def _records(archive: Archive, chosen: Iterable[tuple[int, EventRow]]) -> Iterator[bytes]:
    """The bytes of the records that events were read from, each record once and on a line of its own."""
    from storage.numbers import record_number

    latest = None
    for _, row in chosen:
        if record_number(row.key) != latest:
            latest = record_number(row.key)
            yield archive.raw(row.key)
            yield b"\n"


def _originals(call: Call, archive: Archive, session: SessionRow) -> int:
    """The bytes of every file a session came from, one after the other as they were first read."""
    sources = list(archive.sources(session.key))
    call.output.raws(part for source in sources for part in archive.original(source.key))
    if len(sources) > 1:
        call.output.tell(f"{plural(len(sources), 'file')}, one after the other:")
        for source in sources:
            call.output.tell(f"  {source.file}  {source.bytes:,} bytes")
    return 0


def _listed(call: Call, archive: Archive, session: SessionRow, rows: Iterable[tuple[int, EventRow]]) -> int:
    """Events as one JSON document. One whose bytes are damaged stands in it without its text, and is told."""
    from storage.queries.records import RecordError

    code = 0
    with call.output.listing("events", before={"session": documents.session(session)}) as (write, _):
        for index, row in rows:
            try:
                write(documents.event(archive.detail_of(row), session.uid, index))
            except RecordError as error:
                write(documents.damaged(row, session.uid, index))
                call.output.tell(f"{documents.event_address(session.uid, row.id)}: {error.reason}")
                code = 1
    return code


def _heading(call: Call, session: SessionRow) -> None:
    """What a session is, above its events."""
    say = call.output.say
    say(f"session/{session.uid}  {session.title}")
    agent = session.agent + (f" {session.version}" if session.version else "")
    span = f"{moment(session.started)} to {moment(session.ended)} UTC" if session.started is not None else "no times"
    say("  " + " · ".join(part for part in (agent, session.cwd or "", session.git_branch or "", span) if part))
    used = session.tokens.input + session.tokens.output
    counts = [
        plural(session.events, "event"), plural(session.turns, "turn"), plural(session.lanes, "lane"),
        "1 branch" if session.branches == 1 else f"{session.branches:,} branches", f"{count(used)} tokens",
        f"{session.unreadable:,} unreadable",
    ]  # fmt: skip
    say("  " + " · ".join(counts) + (f" · {', '.join(session.models)}" if session.models else ""))
    say("  native id " + session.native)
    say()


def _mark(row: EventRow) -> str:
    if row.kind in MARKS:
        return MARKS[row.kind]
    if row.ok is not None:
        return "✓" if row.ok else "✗"
    return "✗" if row.kind == "error" else "·"


def _line(row: EventRow) -> str:
    """One event in a list: the beginning of its id, turn, lane, time, mark, words."""
    turn = f"{row.turn:>3}" if row.turn else "   "
    lane = f"├{row.lane} " if row.lane else ""
    words = f"{row.tool}: {row.summary}" if row.tool and row.kind == "tool.intent" else row.summary
    notes = [word for word, told in (("inferred", row.inferred), ("abandoned", row.abandoned)) if told]
    if row.copies > 1:
        notes.insert(0, f"×{row.copies}")
    noted = f"  ({', '.join(notes)})" if notes else ""
    return f"#{event_hex(row.id)[:8]} {turn} {clock(row.at)} {_mark(row):<7} {lane}{words}{noted}"


def _event_lines(session: SessionRow, detail: EventDetail) -> Iterator[str]:
    """One event whole: what it is, where it comes from, what is odd about it, what it says."""
    row, source = detail.row, detail.source
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
    end = source.offset + source.length
    yield f"  from {source.file} line {source.line:,}, bytes {source.offset:,} to {end:,} · entry/{source.entry}"
    for flag in row.flags:
        yield f"  ! {FLAGS.get(flag, flag)}"
    if row.copies > 1:
        yield f"  ! the same record stands {row.copies} times in the log"
    for reference in detail.refs:
        yield f"  refers to {reference}"
    yield ""
    if detail.withheld_by is not None:
        yield f"withheld by entry/{detail.withheld_by}"
    elif detail.text:
        yield detail.text
    else:
        yield "(no text)"


def _entry(call: Call, archive: Archive, number: int, raw: bool) -> int:
    data = find_entry(archive, number)
    if raw:
        call.output.raw(data)
    elif call.output.json:
        import json

        call.output.document({"address": f"entry/{number}", "entry": json.loads(data)})
    else:
        import json

        call.output.say(f"entry/{number}  {len(data):,} bytes")
        call.output.say(json.dumps(json.loads(data), indent=2, ensure_ascii=False))
    return 0


def _payload(call: Call, archive: Archive, digest: str, raw: bool) -> int:
    content = find_content(archive, digest)
    if raw:
        call.output.raws(archive.chunks(content))
        return 0
    about = {"sha256": content.digest, "media": content.media, "size": content.size, "name": content.name}
    if call.output.json:
        call.output.document({"address": f"payload/{content.digest}", **about})
        return 0
    call.output.say(f"payload/{content.digest}  {content.media}  {content.size:,} bytes  {content.name or ''}".rstrip())
    if content.size > LARGEST_SHOWN:
        call.output.tell("too large to print; --raw writes its bytes")
        return 0
    data = b"".join(archive.chunks(content))
    call.output.say()
    call.output.say(data.decode("utf-8", "backslashreplace"))
    return 0
