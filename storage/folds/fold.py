"""Folding ledger entries into tables: the same code for an import, a rebuild and a verification.

A batch is :meth:`Fold.begin`, any number of entries in ledger order, :meth:`Fold.write`. Any split of the same
entries into batches gives the same rows.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Protocol

from affidavit.policy.rows import PolicyRow
from affidavit.session.derive import Broken, Changes, Derivation, Known, Taken
from affidavit.session.state import SessionState
from storage.driver import Connection
from storage.folds import governed_decisions as decisions
from storage.folds.governed import Governed
from storage.folds.governed_rows import Kept
from storage.folds.known import Segments, Tables
from storage.folds.reading import Ready
from storage.folds.rows import SectionRow, Writer
from storage.folds.sources import SourceRow, Voice, state_of
from storage.folds.withheld import Envelope, withheld
from storage.numbers import number
from storage.readers.rules import NOTHING, is_rules
from storage.store import FOLD_VERSION


class Sink(Protocol):
    """Where a fold puts what it gave: tables, or a comparison with tables."""

    @property
    def governed(self) -> Kept: ...
    def write(self, changes: Changes, sessions: dict[int, SessionState]) -> None: ...
    def sections(self, rows: Sequence[SectionRow]) -> None: ...
    def policy(self, row: PolicyRow) -> None: ...
    def source(self, row: SourceRow) -> None: ...
    def withheld(self, entry: int, commitments: Iterable[bytes]) -> None: ...
    def folded(self, version: int, entries: int) -> None: ...


class Recorder(Known, Protocol):
    """What a fold may ask of everything folded before."""

    def begin(self) -> None: ...
    def find_source(self, no: int) -> SourceRow: ...
    def forget(self) -> None: ...


class Fold:
    """Folds entries: what is known comes from ``known``, what it gives goes to ``sink``.

    ``withheld``: envelopes of redacted records by (segment entry, record).
    """

    def __init__(self, known: Recorder, sink: Sink, withheld: Mapping[tuple[int, int], Envelope] | None = None) -> None:
        self.known = known
        self.sink = sink
        self.derivation = Derivation(known)
        self.withheld = withheld or {}
        self.governed = Governed(sink.governed)
        self.sources: dict[int, SourceRow] = {}
        self._touched: set[int] = set()
        self._sections: list[SectionRow] = []
        self._waiting: list[Taken] = []
        self._waiting_for = -1

    def forget(self) -> None:
        """Drop every cached state: another connection may have written since."""
        self.derivation.forget()
        self.sources.clear()
        self.known.forget()
        self.governed.rows.begin()

    def begin(self) -> None:
        """Start a batch inside the caller's transaction."""
        self.known.begin()
        self.derivation.begin()
        self.governed.rows.begin()
        self._touched.clear()
        self._sections = []
        self._waiting = []

    def revision(self, index: int, body: dict[str, Any], key: bytes, about: dict[str, str], entries: int) -> SourceRow:
        """An ``import.revision`` entry: a source, or a new revision of one, begins here.

        ``key``: HMAC of its path; ``about``: what its payload says; ``entries``: length of its chain so far.
        """
        state = state_of(index, about["format"], about["native"], about["lane"])
        row = SourceRow(body["source"], body["revision"], key, about["path"], state, 0, 1, entries, index)
        self.sources[index] = row
        self._touched.add(index)
        return row

    def source(self, no: int) -> SourceRow:
        """The state of a source's revision."""
        row = self.sources.get(no)
        if row is None:
            row = self.sources[no] = self.known.find_source(no)
        return row

    def segment(self, index: int, no: int, records: Sequence[Ready], size: int, lines: int) -> None:
        """An ``import.segment`` entry: its records made ready, its bytes and line feeds counted."""
        row = self.source(no)
        if is_rules(row.voice.format):
            self._take_rules(index, row, records)
        else:
            self._take(index, row, records)
        row.cursor += size
        row.line += lines
        row.entries += 1
        row.last = index
        self._touched.add(no)

    def _take(self, index: int, row: SourceRow, records: Sequence[Ready]) -> None:
        taken: list[Taken] = []
        for place, record in enumerate(records):
            if type(record) is tuple:
                taken.append((number(index, place), record, None))
            else:
                taken.append((number(index, place), None, Broken(*record)))
        if self.withheld:
            taken = [self._withhold(index, place, row.voice, record) for place, record in enumerate(taken)]
        if row.state.no != self._waiting_for:
            self._derive()
            self._waiting_for = row.state.no
        self._waiting += taken

    def _take_rules(self, index: int, row: SourceRow, records: Sequence[Ready]) -> None:
        """Records of a rule file: they belong to no session and mean nothing to those around them."""
        for place, record in enumerate(records):
            n = number(index, place)
            sections: Sequence[Any] = NOTHING
            if type(record) is list:
                self.derivation.take(row.state, [(n, None, Broken(*record))])
            else:
                row.state.records += 1
                row.state.mapped += 1
                if (index, place) not in self.withheld:
                    sections = record
            self._sections += [(row.state.no, at, n, *section) for at, section in enumerate(sections)]

    def _derive(self) -> None:
        """Derive the records that wait, all of one source: looking things up once for many costs less."""
        if self._waiting:
            self.derivation.take(self.sources[self._waiting_for].state, self._waiting)
            self._waiting = []
            for _, n, *said in self.derivation.changes.kept.pop("candidate", ()):
                self.governed.line(n, *said)

    def _withhold(self, index: int, place: int, voice: Voice, record: Taken) -> Taken:
        envelope = self.withheld.get((index, place))
        if envelope is None:
            return record
        return record[0], withheld(envelope, voice), None

    def redaction(self, index: int, commitments: Iterable[bytes]) -> None:
        """A ``redaction`` entry: these commitments' contents were erased."""
        self.sink.withheld(index, commitments)

    def review(self, index: int, entry: Mapping[str, Any], contents: Mapping[str, bytes | None]) -> None:
        """An entry about a candidate or memory: what was proposed before it is taken in first."""
        self._derive()
        decisions.fold(self.governed, index, entry, contents)

    def policy(self, row: PolicyRow) -> None:
        """A ``policy.change`` entry: from here on another policy acts."""
        self.sink.policy(row)

    def write(self, entries: int) -> None:
        """Hand on the batch; ``entries``: ledger entries folded after it."""
        self._derive()
        self.sink.write(self.derivation.finish(), self.derivation.touched)
        self.governed.rows.write()
        self.sink.sections(self._sections)
        for no in sorted(self._touched):
            self.sink.source(self.sources[no])
        self.sink.folded(FOLD_VERSION, entries)


def into_tables(
    connection: Connection, prefix: str = "", withheld: Mapping[tuple[int, int], Envelope] | None = None
) -> Fold:
    """A fold into the tables of a store (``prefix``: a shadow set of them)."""
    return Fold(Tables(connection, Segments(connection), prefix), Writer(connection, prefix), withheld)
