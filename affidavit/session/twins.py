"""Twins: one record id in two sessions.

Older clients copied a session's history into a new one when it was resumed, ids and all; and some programs give the
same ids again and again. Which it was cannot be told from the log, so both records stay, each in its session, and both
are flagged. Sessions are found to share records by those they begin with; from then on each record of the main agent is
looked for in the other.
"""

from __future__ import annotations

from bisect import insort
from collections.abc import Iterable, Mapping, Sequence
from typing import Protocol, TypeVar

from affidavit.session.event import event_id
from affidavit.session.state import SessionState

BEGINNING = 32
"""Records by which a session is recognised to share some with another."""

MOST = 4
"""Sessions whose records a session's are looked for in."""

OWN = "affidavit"
"""The format whose ids are unique within their session only, as its schema says."""

Place = TypeVar("Place", covariant=True)

Beginnings = dict[int, list[tuple[int, str]]]
"""Sessions (number, native id) by the ids of the records they begin with; those ids know no session."""


class Known(Protocol[Place]):
    """What must be known of everything folded before."""

    def begin_with(self, id: int, most: int) -> list[tuple[int, str]]: ...
    def places(self, ids: Sequence[int]) -> Mapping[int, Place]: ...


def matter(state: SessionState, record: str) -> bool:
    """Whether a record (its native id) may have a twin that can be found."""
    named = record[:1] not in ("", "=") and state.format != OWN
    return named and (state.begun < BEGINNING or bool(state.twins))


def begins(state: SessionState, record: str, known: Known[Place], beginnings: Beginnings) -> list[str]:
    """Note that a session begins with a record; native ids of others that do, too. ``beginnings``: of this batch."""
    if state.begun >= BEGINNING:
        return []
    state.begun += 1
    id = event_id(state.format, "", record, "")
    began = beginnings.setdefault(id, [])
    others = sorted({*known.begin_with(id, MOST + 1), *began})
    if len(others) <= MOST and (state.no, state.native) not in others:
        began.append((state.no, state.native))
    return [native for number, native in others if number != state.no][:MOST]


def link(state: SessionState, native: str) -> None:
    """Look for a session's records in another, too."""
    if native not in state.twins:
        insort(state.twins, native)
        del state.twins[MOST:]


def of(state: SessionState, record: str, known: Known[Place], batch: Mapping[int, Place]) -> Iterable[Place]:
    """Where the twins of a new record of a session stand; ``batch``: places of this batch."""
    for native in state.twins:
        other = event_id(state.format, native, record, "")
        place = batch.get(other) or known.places([other]).get(other)
        if place is not None:
            yield place
