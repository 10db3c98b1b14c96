"""Summaries: titles of conversations that stand in the log of another session.

Older clients wrote what a conversation was about into whichever file they wrote next, and named the record the
conversation ended with. So a summary is a title of every session that holds that record, whichever of the two is read
first; of several the one whose record stands latest counts.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Protocol

from affidavit.session.event import event_id
from affidavit.session.prepare import SUMMARY_CELLS
from affidavit.session.state import SessionState
from affidavit.text.marks import marked

LONGEST_NAME = 200
"""Characters of a record's id by which a summary names it; a longer one leads nowhere."""

AT_ONCE = 10_000
"""Records looked for in one query."""

Told = dict[tuple[str, str], str]
"""Summaries by (format, id of the record their conversation ended with)."""


class Placed(Protocol):
    """Where a known record stands."""

    @property
    def n(self) -> int: ...


class Known(Protocol):
    """What must be known of everything folded before."""

    def summaries(self) -> Told: ...
    def natives(self, format: str) -> Iterable[str]: ...
    def places(self, ids: Sequence[int]) -> Mapping[int, Placed]: ...


class Summaries:
    """The summaries met so far. ``known`` is asked for those of before once, and again after :meth:`forget`."""

    def __init__(self, known: Known) -> None:
        self.known = known
        self._told: Told | None = None

    def forget(self) -> None:
        """The tables may have been changed by others."""
        self._told = None

    def add(self, new: Told, format: str, leaf: str, summary: str) -> None:
        """A summary of the conversation that ended with ``leaf``. Of two of one record, one is taken in any order."""
        key = (format, marked(leaf))
        said = marked(summary[:SUMMARY_CELLS])
        if len(leaf) <= LONGEST_NAME and said > max(self.told.get(key, ""), new.get(key, "")):
            new[key] = said

    @property
    def told(self) -> Told:
        """All of them."""
        if self._told is None:
            self._told = self.known.summaries()
        return self._told

    def among(
        self, new: Told, states: Iterable[SessionState], places: Mapping[int, Placed]
    ) -> list[tuple[SessionState, int, str, str]]:
        """Summaries whose record is among ``places`` of these sessions: (session, its number, its id, summary).

        The ``new`` ones count from now on.
        """
        self.told.update(new)
        return [
            (state, place.n, leaf, said)
            for state in states
            for (format, leaf), said in self.told.items()
            if format == state.format and (place := places.get(event_id(format, state.native, leaf, "")))
        ]

    def before(self, new: Told, natives: Iterable[tuple[str, str]]) -> list[tuple[tuple[str, str], int, str, str]]:
        """``new`` summaries whose record was folded before, as :meth:`among`; sessions as (format, native id).

        ``natives``: sessions that the tables need not hold yet.
        """
        wanted: dict[int, tuple[tuple[str, str], str]] = {}
        sessions = {format: set(self.known.natives(format)) for format, _ in new}
        for format, native in natives:
            if format in sessions:
                sessions[format].add(native)
        for format, leaf in new:
            for native in sessions[format]:
                wanted[event_id(format, native, leaf, "")] = (format, native), leaf
        ids = list(wanted)
        found = []
        for first in range(0, len(ids), AT_ONCE):
            for id, place in self.known.places(ids[first : first + AT_ONCE]).items():
                session, leaf = wanted[id]
                found.append((session, place.n, leaf, new[session[0], leaf]))
        return found
