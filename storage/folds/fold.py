"""Folding ledger entries into tables: the same code for an import, a rebuild and a verification.

A batch is :meth:`Fold.begin`, any number of entries in ledger order, :meth:`Fold.write`. Any split of the same
entries into batches gives the same rows.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from affidavit.session.derive import Broken, Derivation, Taken
from affidavit.session.event import Draft, Reading, Usage
from affidavit.session.prepare import Preparer
from affidavit.session.state import SourceState
from storage.driver import Connection
from storage.folds.known import Segments, Tables, number
from storage.folds.rows import Writer
from storage.readers import readers
from storage.segments import Cut
from storage.store import FOLD_VERSION

Envelope = dict[str, Any]
"""What a redaction keeps of a record so that its place, pairs and address stay: everything but its texts."""


Ready = tuple[Any, ...] | list[Any]
"""A record made ready: a prepared tuple, or ``[line, offset, length, reason]`` of one that could not be read."""


class Voice(NamedTuple):
    """How a source's records are read: its format, and the session and lane it speaks of."""

    format: str
    native: str
    lane: str


@dataclass(slots=True)
class SourceRow:
    """A revision of a source, and where its chain and its reading stand."""

    id: str
    revision: int
    state: SourceState
    cursor: int = 0
    line: int = 1
    entries: int = 1
    last: int = 0

    @property
    def voice(self) -> Voice:
        """How its records are read."""
        return Voice(self.state.format, self.state.native, self.state.lane)


class Fold:
    """Folds into the tables of ``connection`` (``prefix``: a shadow set); ``segments`` reads recorded bytes back."""

    def __init__(
        self,
        connection: Connection,
        segments: Segments,
        prefix: str = "",
        *,
        search: bool = True,
        withheld: dict[tuple[int, int], Envelope] | None = None,
    ) -> None:
        self.connection = connection
        self.prefix = prefix
        self.tables = Tables(connection, segments.record, prefix)
        self.segments = segments
        self.writer = Writer(connection, prefix, search=search)
        self.derivation = Derivation(self.tables)
        self.withheld = withheld or {}
        self.sources: dict[int, SourceRow] = {}
        self._touched: set[int] = set()
        self._waiting: list[Taken] = []
        self._waiting_for = -1

    def forget(self) -> None:
        """Drop every cached state: another connection may have written since."""
        self.derivation.sessions.clear()
        self.sources.clear()
        self.segments.forget()

    def begin(self) -> None:
        """Start a batch inside the caller's transaction."""
        self.tables.begin()
        self.derivation.begin()
        self._touched.clear()
        self._waiting = []

    def revision(self, index: int, body: dict[str, Any], key: bytes, about: dict[str, str], entries: int) -> SourceRow:
        """An ``import.revision`` entry: a source, or a new revision of one, begins here.

        ``key``: HMAC of its path; ``about``: what its payload says; ``entries``: length of its chain so far.
        """
        state = SourceState(index, about["format"], about["native"], about["lane"])
        row = SourceRow(body["source"], body["revision"], state, entries=entries, last=index)
        self.sources[index] = row
        self.connection.execute(
            f"INSERT INTO {self.prefix}source VALUES(?, ?, ?, ?, ?, ?, ?, ?, NULL, 0, 1, ?, ?, ?, 0, 0, 0, 0, 0)",
            (
                index,
                row.id,
                row.revision,
                key,
                about["path"],
                about["format"],
                about["native"],
                about["lane"],
                row.state.sort,
                row.entries,
                index,
            ),
        )
        return row

    def source(self, no: int) -> SourceRow:
        """The state of a source's revision, from the table where it is not at hand."""
        row = self.sources.get(no)
        if row is None:
            found = self.connection.execute(
                "SELECT id, revision, format, native, lane, session, cursor, line, sort, entries, last, records, "
                f"mapped, unknown, duplicates, unreadable FROM {self.prefix}source WHERE no = ?",
                (no,),
            ).fetchone()
            state = SourceState(no, found[2], found[3], found[4], found[5], found[8], *found[11:])
            row = SourceRow(found[0], found[1], state, found[6], found[7], found[9], found[10])
            self.sources[no] = row
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
        return record[0], preparer.prepare(withheld_reading(envelope), b"", tuple(envelope["ids"])), None

    def redaction(self, index: int, commitments: Iterable[bytes]) -> None:
        """A ``redaction`` entry: these commitments' contents were erased."""
        self.connection.executemany(
            f"INSERT OR IGNORE INTO {self.prefix}withheld VALUES(?, ?)",
            [(commitment, index) for commitment in commitments],
        )

    def write(self, entries: int) -> None:
        """Write the batch; ``entries``: ledger entries folded after it."""
        self._derive()
        self.writer.write(self.derivation.changes, self.derivation.touched)
        for no in sorted(self._touched):
            row = self.sources[no]
            self.writer.source(row.state, row.cursor, row.line, row.entries, row.last)
        self.connection.execute(
            f"INSERT OR REPLACE INTO {self.prefix}fold VALUES('sessions', ?, ?)", (FOLD_VERSION, entries)
        )


def make_ready(cuts: Sequence[Cut], voice: Voice) -> list[Ready]:
    """What each record says, by the reader of its source's format, as far as it can be known alone."""
    read = readers().get(voice.format, _UNKNOWN).read
    scope = (voice.native, voice.lane)
    prepare = Preparer(voice.format, voice.native).prepare
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
