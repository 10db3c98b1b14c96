"""From what an address says to the one row it means, or to words about why there is none or more than one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from affidavit.session.event import event_hex
from console.commands.call import Refused

if TYPE_CHECKING:
    from storage.archive import Archive
    from storage.queries.models import Content, EventRow, SessionRow

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


def find_content(archive: Archive, prefix: str) -> Content:
    """The one recorded content whose SHA-256 begins with ``prefix``; raises :class:`Refused`."""
    found = archive.contents(prefix)
    if not found:
        raise Refused(f"nothing in this store has a SHA-256 that begins with {prefix}")
    if len(found) > 1:
        raise Refused(
            f"{prefix} could be any of these:",
            _candidates([f"payload/{content.digest}  {content.media}  {content.size:,} bytes" for content in found]),
        )
    return found[0]


def _candidates(lines: list[str]) -> str:
    shown = ["  " + " ".join(line.split("\n")) for line in lines[:SHOWN_CANDIDATES]]
    if len(lines) > SHOWN_CANDIDATES:
        shown.append("  and more")
    return "\n".join(shown)
