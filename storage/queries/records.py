"""What events rest on: the recorded bytes, re-read from their segment, and what a reader makes of them."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, NamedTuple

from affidavit.session.event import Reading
from storage.folds.reading import document_reading
from storage.numbers import place_of, record_number
from storage.queries.connection import ReadConnection
from storage.queries.filters import EventFilter
from storage.queries.models import EventDetail, EventRow, SourceSpan
from storage.queries.timeline import event_row, listing
from storage.readers import is_document, readers
from storage.readers.own import artifact_bytes
from storage.segments import SALT, SegmentError, parse, spans_of, value_of

KEPT_BYTES: Final = 16 * 1024 * 1024
"""Unpacked segments that are kept at hand, in bytes; the one in use is kept whatever its size."""

MOST_COPIES: Final = 20
"""Places that are named of a record that stands more than once."""

BATCH: Final = 2_000
"""Events fetched at a time on a walk through a session."""


class RecordError(Exception):
    """A record cannot be given. ``entry`` and ``record`` say which, ``reason`` why, in words."""

    def __init__(self, entry: int, record: int, reason: str) -> None:
        super().__init__(f"record {record} of entry {entry}: {reason}")
        self.entry = entry
        self.record = record
        self.reason = reason


class RecordWithheld(RecordError):
    """Its bytes were erased; ``by`` is the redaction entry that says so."""

    def __init__(self, entry: int, record: int, by: int) -> None:
        super().__init__(entry, record, f"withheld by entry {by}")
        self.by = by


class Origin(NamedTuple):
    """The file a segment came from: its path, format, and what its records speak of unless they say otherwise."""

    path: str
    format: str
    native: str
    lane: str


@dataclass(slots=True)
class _Segment:
    entry: int
    start: int
    line: int
    origin: Origin
    spans: list[bytes]
    salts: bytes
    commits: bytes
    size: int
    walked: tuple[int, int, int]
    """(record, offset, line) of the span last reached, so that a walk in order counts no line twice."""

    def reach(self, index: int) -> tuple[int, int]:
        """(offset, line) in the file where the span of a record begins."""
        at, offset, line = self.walked
        if index < at:
            at, offset, line = 0, self.start, self.line
        for span in self.spans[at:index]:
            offset += len(span)
            line += span.count(b"\n")
        self.walked = (index, offset, line)
        return offset, line


class Record(NamedTuple):
    """One record: where it stands and its bytes, or (``value`` is then empty) the entry that erased them."""

    value: bytes
    place: SourceSpan
    origin: Origin
    withheld_by: int | None


class Records:
    """Re-reads records through one connection, keeping the segments it used last."""

    def __init__(self, link: ReadConnection) -> None:
        self._link = link
        self._kept: OrderedDict[int, _Segment] = OrderedDict()
        self._kept_bytes = 0
        self._latest: tuple[int, Reading] | None = None
        self._version: int | None = None

    def refresh(self) -> None:
        """Drop what is kept if anything was committed since: a text that was erased must not be shown from memory."""
        version = self._link.value("PRAGMA data_version")
        if version != self._version:
            self._kept.clear()
            self._kept_bytes = 0
            self._latest = None
            self._version = version

    def record(self, key: int) -> Record:
        """The record of an event; raises :class:`RecordError` if its bytes are neither there nor withheld."""
        entry, index, _ = place_of(key)
        segment = self._segment(entry)
        if index >= len(segment.spans):
            raise RecordError(segment.entry, index, f"its segment holds {len(segment.spans)} records")
        offset, line = segment.reach(index)
        span = segment.spans[index]
        lead, value = value_of(span, offset == 0)
        line += span.count(b"\n", 0, lead)
        place = SourceSpan(segment.origin.path, line, offset + lead, len(value), segment.entry, index)
        by = self._withheld(segment, index)
        return Record(value if by is None else b"", place, segment.origin, by)

    def raw(self, key: int) -> bytes:
        """The bytes of an event's record; raises :class:`RecordWithheld` or another :class:`RecordError`."""
        record = self.record(key)
        if record.withheld_by is not None:
            raise RecordWithheld(record.place.entry, record.place.record, record.withheld_by)
        return record.value

    def body(self, key: int) -> bytes:
        """What the ``artifact`` line at a record carries; raises :class:`RecordError`."""
        entry, index, _ = place_of(key)
        raw = self.raw(key)
        segment = self._segment(entry)
        if is_document(segment.origin.format):
            return segment.spans[index]
        value, _, reason = parse(raw)
        held = artifact_bytes(value) if reason is None and isinstance(value, dict) else None
        if held is None:
            raise RecordError(entry, index, "it carries no content")
        return held

    def detail(self, row: EventRow) -> EventDetail:
        """The event with its whole text; of an erased record it is empty and ``withheld_by`` says why."""
        record = self.record(row.key)
        copies = self._copies(row) if row.copies > 1 else ()
        if record.withheld_by is not None:
            return EventDetail(row, "", (), record.place, None, record.withheld_by, copies)
        reading = self._reading(row.key, record)
        _, _, block = place_of(row.key)
        if block >= len(reading.drafts):
            why = "its reader no longer finds this event in it; rebuild the tables"
            raise RecordError(record.place.entry, record.place.record, why)
        draft = reading.drafts[block]
        return EventDetail(row, draft.text, draft.refs, record.place, reading.at, None, copies)

    def _copies(self, row: EventRow) -> tuple[SourceSpan, ...]:
        """Where an event's record stands again; what cannot be read there is told by ``verify``, not here."""
        sql = "SELECT n FROM copied WHERE original = ? ORDER BY n LIMIT ?"
        places = []
        for (n,) in self._link.rows(sql, (record_number(row.key), MOST_COPIES)):
            try:
                places.append(self.record(n).place)
            except RecordError:
                continue
        return tuple(places)

    def original(self, source: int) -> Iterator[bytes]:
        """The bytes taken from one revision of a file, in order and without a gap; raises :class:`RecordError`.

        One of its records being erased, :class:`RecordWithheld` is raised where its bytes would stand.
        """
        start = -1
        while True:
            found = self._link.row(
                "SELECT entry, start FROM segment WHERE source = ? AND start > ? ORDER BY start LIMIT 1",
                (source, start),
            )
            if found is None:
                return
            entry, start = found
            segment = self._segment(entry)
            for index, span in enumerate(segment.spans):
                if (by := self._withheld(segment, index)) is not None:
                    raise RecordWithheld(entry, index, by)
                yield span

    def walk(self, session: int, filter: EventFilter) -> Iterator[EventDetail]:
        """Every event of a session in order, whole. Memory is flat; between batches no read transaction is held."""
        events = listing(self._link, session, filter)
        found = events.walk(self._link, None, False, False, BATCH)
        while found:
            self.refresh()
            for row in found:
                yield self.detail(event_row(row[2:]))
            found = events.walk(self._link, found[-1][:2], False, False, BATCH)

    # ------------------------------------------------------------------------------------------- readings

    def _reading(self, key: int, record: Record) -> Reading:
        """What the reader makes of a record; the events of one record follow each other, so the latest is kept."""
        number = record_number(key)
        if self._latest is not None and self._latest[0] == number:
            return self._latest[1]
        entry, index = record.place.entry, record.place.record
        if is_document(record.origin.format):
            scope = record.origin.native, record.origin.lane
            document = document_reading(record.origin.format, record.value, record.value, scope)
            if document is None:
                raise RecordError(entry, index, "it is too large to be read")
            return document
        reader = readers().get(record.origin.format)
        if reader is None:
            raise RecordError(entry, index, f"no reader for the format {record.origin.format!r}")
        parsed, _, reason = parse(record.value)
        if reason is not None:
            raise RecordError(entry, index, f"it is no JSON value ({reason})")
        reading = reader.read(parsed, (record.origin.native, record.origin.lane))
        self._latest = (number, reading)
        return reading

    # ------------------------------------------------------------------------------------------- segments

    def _segment(self, entry: int) -> _Segment:
        found = self._kept.get(entry)
        if found is not None:
            self._kept.move_to_end(entry)
            return found
        found = self._load(entry)
        self._kept[entry] = found
        self._kept_bytes += found.size
        while self._kept_bytes > KEPT_BYTES and len(self._kept) > 1:
            _, dropped = self._kept.popitem(last=False)
            self._kept_bytes -= dropped.size
        return found

    def _load(self, entry: int) -> _Segment:
        row = self._link.row(
            """SELECT g.start, g.line, g.size, g.cuts, g.data, g.salts, g.commits, s.path, s.format, s.native, s.lane
            FROM segment g LEFT JOIN source s ON s.no = g.source WHERE g.entry = ?""",
            (entry,),
        )
        if row is None:
            raise RecordError(entry, 0, "the store has no such segment")
        start, line, size, cuts, data, salts, commits, *origin = row
        if origin[0] is None:
            raise RecordError(entry, 0, "the file it came from is not known")
        try:
            spans = spans_of(data, cuts, size)
        except (SegmentError, MemoryError) as error:
            raise RecordError(entry, 0, f"its segment is damaged: {error}") from error
        if not len(salts) == len(commits) == SALT * len(spans):
            raise RecordError(entry, 0, "its segment is damaged: not one salt and commitment a record")
        return _Segment(entry, start, line, Origin(*origin), spans, salts, commits, size, (0, start, line))

    def _withheld(self, segment: _Segment, index: int) -> int | None:
        """The redaction entry that erased a record; bytes missing without one are an error."""
        part = slice(SALT * index, SALT * (index + 1))
        if any(segment.salts[part]):
            return None
        by: int | None = self._link.value('SELECT entry FROM withheld WHERE "commit" = ?', (segment.commits[part],))
        if by is None:
            raise RecordError(segment.entry, index, "its bytes are missing, and no redaction says why")
        return by
