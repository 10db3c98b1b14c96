"""Summaries: titles of conversations that stand in the log of another session.

Older clients wrote what a conversation was about into whichever file they wrote next, and named the record the
conversation ended with. So a summary is a title of every session that holds that record, whichever of the two is read
first; of several the one whose record stands latest counts. The record is a person's or the agent's message.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Protocol

from affidavit.session.event import event_id
from affidavit.session.prepare import SUMMARY_CELLS
from affidavit.text.marks import marked

LONGEST_NAME = 200
"""Characters of a record's id by which a summary names it; a longer one leads nowhere."""

AT_ONCE = 10_000
"""Records looked for in one query."""

Told = dict[tuple[str, str], str]
"""Summaries by (format, id of the record their conversation ended with)."""


FORMATS = frozenset({"claude-code"})
"""Formats with such summaries: of theirs it is noted which session holds which record."""

Holders = list[tuple[int, int]]
"""Records, by an id that is the same in whatever session they stand, and the session (its number) each stands in."""


def record_id(format: str, record: str) -> int:
    """A record's id, the same in whatever session it stands."""
    return event_id(format, "", record, "")


class Known(Protocol):
    """What must be known of everything folded before."""

    def summaries(self) -> Told: ...
    def holders(self, records: Sequence[int]) -> list[tuple[int, int, str]]: ...


class Summaries:
    """The summaries met so far. ``known`` is asked for those of before once, and again after :meth:`forget`."""

    def __init__(self, known: Known) -> None:
        self.known = known
        self._told: Told | None = None
        self._by_record: dict[int, tuple[str, str]] = {}

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
            self._by_record = {record_id(*key): key for key in self._told}
        return self._told

    def held(self, new: Told, holders: Holders) -> Iterator[tuple[int, str | None, str, str]]:
        """Sessions found to hold a record a summary names: (number, native id of one known before, record, summary).

        The ``new`` ones count from now on; ``holders``: of this batch.
        """
        told = self.told
        told.update(new)
        fresh = {record_id(*key): key for key in new}
        self._by_record.update(fresh)
        for record, session in holders if self._by_record else ():
            if (key := self._by_record.get(record)) is not None:
                yield session, None, key[1], told[key]
        records = list(fresh)
        for first in range(0, len(records), AT_ONCE):
            for record, session, native in self.known.holders(records[first : first + AT_ONCE]):
                key = fresh[record]
                yield session, native, key[1], told[key]
