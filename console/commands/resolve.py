"""From what an address says to the one row it means, or to words about why there is none or more than one."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from affidavit.session.address import (
    Address,
    CandidateAddress,
    EntryAddress,
    GateAddress,
    MemoryAddress,
    PayloadAddress,
    SessionAddress,
    SnapshotAddress,
    TurnAddress,
)
from affidavit.session.event import event_hex
from console.commands.call import Refused
from console.commands.finding_governed import Named, find
from console.words import plural

if TYPE_CHECKING:
    from storage.archive import Archive
    from storage.queries.models import Content, EventRow, SessionRow
    from storage.queries.snapshots import SnapshotRow

SHOWN_CANDIDATES = 10


def find_session(archive: Archive, prefix: str) -> SessionRow:
    """The one session whose uid or native id begins with ``prefix``; raises :class:`Refused`."""
    found = archive.find_sessions(prefix)
    exact = [row for row in found if prefix in (row.uid, row.native)]
    if len(exact) == 1:
        return exact[0]
    if not found:
        raise Refused(f"there is no session {prefix!r} in this store", "affidavit sessions lists what there is")
    if len(found) > 1:
        raise Refused(
            f"{prefix!r} could be any of these sessions:",
            _candidates([f"session/{row.uid}  {row.native}  {row.title}" for row in found]),
        )
    return found[0]


def find_event(archive: Archive, session: SessionRow, prefix: str) -> EventRow:
    """The one event of a session whose id begins with ``prefix``; raises :class:`Refused`."""
    found = archive.find_event(session.key, prefix)
    if not found:
        raise Refused(
            f"there is no event {prefix!r} in session/{session.uid}",
            f"affidavit show session/{session.uid} lists its events",
        )
    if len(found) > 1:
        raise Refused(
            f"{prefix!r} could be any of these events:",
            _candidates([f"session/{session.uid}#{event_hex(row.id)}  {row.kind}  {row.summary}" for row in found]),
        )
    return found[0]


def find_turn(archive: Archive, session: SessionRow, number: int) -> EventRow:
    """The event that begins the ``number``-th turn; raises :class:`Refused`."""
    row = archive.turn_start(session.key, number)
    if row is None:
        turns = "1 turn" if session.turns == 1 else f"{session.turns} turns"
        raise Refused(f"there is no turn {number} in session/{session.uid}, which has {turns}")
    return row


def find_snapshot(archive: Archive, prefix: str) -> SnapshotRow:
    """The one snapshot whose id begins with ``prefix``; raises :class:`Refused`."""
    found = archive.snapshots.find(prefix)
    if not found:
        raise Refused(f"there is no snapshot {prefix!r} in this store", "affidavit snapshots lists what there is")
    if len(found) > 1:
        raise Refused(
            f"{prefix!r} could be any of these snapshots:",
            _candidates([f"snapshot/{row.uid}  {row.id}  {row.question}" for row in found]),
        )
    return found[0]


def find_content(archive: Archive, prefix: str) -> Content:
    """The one recorded content whose SHA-256 begins with ``prefix``; raises :class:`Refused`."""
    found = archive.contents(prefix)
    if not found:
        raise Refused(f"nothing in this store has a SHA-256 that begins with {prefix}")
    if len(found) > 1:
        raise Refused(
            f"{prefix} could be any of these:",
            _candidates(
                [f"payload/{content.digest}  {content.media}  {plural(content.size, 'byte')}" for content in found]
            ),
        )
    return found[0]


def records_at(archive: Archive, address: Address) -> dict[int, set[int] | None]:
    """Ledger entries that what stands at an address rests on, each with its records there (``None``: all of them).

    Raises :class:`Refused` where nothing stands at the address.
    """
    match address:
        case SessionAddress(id=id, event=None):
            return _places(row.key for row in all_events(archive, find_session(archive, id)))
        case SessionAddress(id=id, event=str() as prefix):
            return _places([find_event(archive, find_session(archive, id), prefix).key])
        case TurnAddress(session=id, number=number):
            session = find_session(archive, id)
            find_turn(archive, session, number)
            return _places(row.key for row in all_events(archive, session) if row.turn == number)
        case GateAddress(id=id):
            from console.commands.gate_runs import find_run

            return _places([find_run(archive, id).key])
        case SnapshotAddress(id=id):
            return _places([find_snapshot(archive, id).key])
        case CandidateAddress() | MemoryAddress():
            return _of_governed(archive, find(archive, str(address)))
        case EntryAddress(number=number):
            find_entry(archive, number)
            return {number: None}
        case PayloadAddress(digest=digest):
            content = find_content(archive, digest)
            if content.event is not None:
                return _places([content.event])
            return dict.fromkeys(archive.naming(content))
    raise nothing_of(address)


def _of_governed(archive: Archive, named: Named) -> dict[int, set[int] | None]:
    """The line that proposes a candidate, and every decision about it and what it became."""
    objects = [named.candidate.id] if named.candidate else []
    objects += [named.memory.id, named.memory.candidate] if named.memory else []
    row = named.candidate or next(iter(archive.governed.find_candidates(objects[-1])), None)
    places = {} if row is None or not row.n else _places([row.n])
    for decision in archive.governed.decisions(*objects):
        places[decision.entry] = None
    return places


def all_events(archive: Archive, session: SessionRow) -> Iterator[EventRow]:
    """Every event of a session in order, without its text."""
    cursor: tuple[object, ...] | None = None
    while True:
        page = archive.events(session.key, cursor=cursor, limit=1_000)
        yield from page.rows
        if page.after is None:
            return
        cursor = page.after


def find_entry(archive: Archive, number: int) -> bytes:
    """The bytes of a ledger entry; raises :class:`Refused`."""
    data = archive.entry(number)
    if data is None:
        raise Refused(f"there is no entry {number} in this store, which has {plural(archive.entries(), 'entry')}")
    return data


def nothing_of(address: Address) -> Refused:
    """What to say of an address of a kind that the store does not hold."""
    kind = str(address).partition("/")[0]
    return Refused(f"this store holds nothing of the kind {kind}", "it holds sessions: affidavit sessions lists them")


def _places(keys: Iterable[int]) -> dict[int, set[int] | None]:
    from storage.numbers import place_of

    places: dict[int, set[int]] = {}
    for key in keys:
        entry, record, _ = place_of(key)
        places.setdefault(entry, set()).add(record)
    return dict(places)


def _candidates(lines: list[str]) -> str:
    shown = ["  " + " ".join(line.split("\n")) for line in lines[:SHOWN_CANDIDATES]]
    if len(lines) > SHOWN_CANDIDATES:
        shown.append("  and more")
    return "\n".join(shown)
