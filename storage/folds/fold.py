"""Folding ledger entries into tables: the same code for an import, a rebuild and a verification.

A batch is :meth:`Fold.begin`, any number of entries in ledger order, :meth:`Fold.write`. Any split of the same
entries into batches gives the same rows.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Protocol

from affidavit.session.derive import Broken, Changes, Derivation, Known, Taken
from affidavit.session.event import Draft, Reading, Usage
from affidavit.session.prepare import Preparer
from affidavit.session.state import SessionState, SourceState
from storage.driver import Connection
from storage.folds.known import Segments, Tables
from storage.folds.rows import Writer
from storage.folds.sources import SourceRow, Voice
from storage.numbers import number
from storage.readers import readers
from storage.segments import Cut
from storage.store import FOLD_VERSION

Envelope = dict[str, Any]
"""What a redaction keeps of a record so that its place, pairs and address stay: everything but its texts."""


Ready = tuple[Any, ...] | list[Any]
"""A record made ready: a prepared tuple, or ``[line, offset, length, reason]`` of one that could not be read."""


class Sink(Protocol):
    """Where a fold puts what it gave: tables, or a comparison with tables."""

    def write(self, changes: Changes, sessions: dict[int, SessionState]) -> None: ...
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
        self.sources: dict[int, SourceRow] = {}
        self._touched: set[int] = set()
        self._waiting: list[Taken] = []
        self._waiting_for = -1

    def forget(self) -> None:
        """Drop every cached state: another connection may have written since."""
        self.derivation.sessions.clear()
        self.sources.clear()
        self.known.forget()

    def begin(self) -> None:
        """Start a batch inside the caller's transaction."""
        self.known.begin()
        self.derivation.begin()
        self._touched.clear()
        self._waiting = []

    def revision(self, index: int, body: dict[str, Any], key: bytes, about: dict[str, str], entries: int) -> SourceRow:
        """An ``import.revision`` entry: a source, or a new revision of one, begins here.

        ``key``: HMAC of its path; ``about``: what its payload says; ``entries``: length of its chain so far.
        """
        state = SourceState(index, about["format"], about["native"], about["lane"])
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
        taken: list[Taken] = []
        for place, record in enumerate(records):
            if type(record) is tuple:
                taken.append((number(index, place), record, None))
            else:
                taken.append((number(index, place), None, Broken(*record)))
        if self.withheld:
            taken = [self._withhold(index, place, row.state, record) for place, record in enumerate(taken)]
        if no != self._waiting_for:
            self._derive()
            self._waiting_for = no
        self._waiting += taken
        row.cursor += size
        row.line += lines
        row.entries += 1
        row.last = index
        self._touched.add(no)

    def _derive(self) -> None:
        """Derive the records that wait, all of one source: looking things up once for many costs less."""
        if self._waiting:
            self.derivation.take(self.sources[self._waiting_for].state, self._waiting)
            self._waiting = []

    def _withhold(self, index: int, place: int, state: SourceState, record: Taken) -> Taken:
        envelope = self.withheld.get((index, place))
        if envelope is None:
            return record
        preparer = Preparer(state.format, state.native)
        ids, first = tuple(envelope["ids"]), envelope["first"]
        return record[0], preparer.prepare(withheld_reading(envelope), b"", ids, first), None

    def redaction(self, index: int, commitments: Iterable[bytes]) -> None:
        """A ``redaction`` entry: these commitments' contents were erased."""
        self.sink.withheld(index, commitments)

    def write(self, entries: int) -> None:
        """Hand on the batch; ``entries``: ledger entries folded after it."""
        self._derive()
        self.sink.write(self.derivation.changes, self.derivation.touched)
        for no in sorted(self._touched):
            self.sink.source(self.sources[no])
        self.sink.folded(FOLD_VERSION, entries)


def into_tables(
    connection: Connection, prefix: str = "", withheld: Mapping[tuple[int, int], Envelope] | None = None
) -> Fold:
    """A fold into the tables of a store (``prefix``: a shadow set of them)."""
    return Fold(Tables(connection, Segments(connection), prefix), Writer(connection, prefix), withheld)


def make_ready(cuts: Sequence[Cut], voice: Voice, *, texts: bool = True) -> list[Ready]:
    """What each record says, by the reader of its source's format, as far as it can be known alone.

    Without ``texts`` what the search index takes is left out.
    """
    read = readers().get(voice.format, _UNKNOWN).read
    scope = (voice.native, voice.lane)
    prepare = Preparer(voice.format, voice.native, texts=texts).prepare
    ready: list[Ready] = []
    for cut in cuts:
        if cut.reason is not None:
            ready.append([cut.line, cut.offset, len(cut.value), cut.reason])
            continue
        reading = read(cut.parsed, scope)
        if cut.flags:
            reading.flags = (*reading.flags, *cut.flags)
        ready.append(prepare(reading, cut.value))
    return ready


def reading_of(cut: Cut, voice: Voice) -> Reading | None:
    """What one record says; ``None`` where it could not be parsed."""
    if cut.reason is not None:
        return None
    return readers().get(voice.format, _UNKNOWN).read(cut.parsed, (voice.native, voice.lane))


class _Unknown:
    """Stands for a reader this program does not have: every record is kept and shown as unknown."""

    name = title = "unknown"

    def claims(self, path: str, samples: Sequence[Any]) -> float:  # noqa: ARG002
        return 0.0

    def scope(self, path: str) -> tuple[str | None, str]:  # noqa: ARG002
        return None, ""

    def read(self, value: Any, scope: tuple[str | None, str]) -> Reading:  # noqa: ARG002
        return Reading("unknown", drafts=[Draft("unknown", "runtime", str(value)[:4096])])


_UNKNOWN = _Unknown()


def withheld_reading(envelope: Envelope) -> Reading:
    """The reading of a record whose bytes were erased: its place and pairs, no text."""
    drafts = [
        Draft(
            draft["kind"],
            draft["actor"],
            path=draft["path"],
            summary="",
            tool=draft["tool"],
            call=draft["call"],
            ok=draft["ok"],
            millis=draft["millis"],
            inferred=draft["inferred"],
            spawns=draft["spawns"],
            flags=("withheld",),
        )
        for draft in envelope["drafts"]
    ]
    return Reading(
        envelope["status"],
        session=envelope["session"],
        native=envelope["native"],
        parent=envelope["parent"],
        lane=envelope["lane"],
        at=envelope["at"],
        prompt=envelope["prompt"],
        leaf=envelope["leaf"],
        drafts=drafts,
        usage=None if envelope["usage"] is None else Usage(*envelope["usage"]),
    )
