"""Where else a text stands that is to be erased: in records that repeat its own, and in events that say the same."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator

import orjson

from affidavit.session.event import event_hex
from storage.numbers import number, place_of, record_number
from storage.queries import timeline
from storage.queries.connection import ReadConnection
from storage.queries.records import RecordError, Records
from storage.segments import SegmentError

LEAST_SAID = 20
"""Characters a text must have for others that say the same to be looked for: shorter ones say the same by chance."""

MOST_NAMED = 1_000


def texts_of(link: ReadConnection, reading: Records, records: Iterable[int]) -> set[str]:
    """What events of records say, where it is long enough to be looked for."""
    found: set[str] = set()
    for record in records:
        entry, place, _ = place_of(record)
        span = (number(entry, place), number(entry, place + 1))
        for (n,) in link.rows("SELECT n FROM event WHERE n >= ? AND n < ? AND size >= ?", (*span, LEAST_SAID)):
            found.add(_text(link, reading, n))
    return {text for text in found if len(text) >= LEAST_SAID}


def copies_of(link: ReadConnection, reading: Records, records: Iterable[int]) -> Iterator[tuple[str, int]]:
    """(file, line) of every record that repeats one of these, in whichever file and revision."""
    for record in records:
        for (copy,) in link.rows("SELECT n FROM copied WHERE original = ? ORDER BY n", (record,)):
            place = reading.record(copy).place
            yield place.file, place.line


def same_elsewhere(link: ReadConnection, reading: Records, own: set[int], texts: Iterable[str]) -> Iterator[str]:
    """Addresses of events in other records than ``own`` that say one of these texts; at most :data:`MOST_NAMED`."""
    sizes: dict[int, set[str]] = defaultdict(set)
    for text in texts:
        sizes[len(text)].add(text)
    query = (
        "SELECT e.n, s.uid, e.id, e.size FROM event e JOIN session s ON s.no = e.session "
        "WHERE e.size IN (SELECT value FROM json_each(?)) ORDER BY e.n"
    )
    left = MOST_NAMED if sizes else 0
    for n, uid, id, size in link.rows(query, (orjson.dumps(sorted(sizes)).decode(),)) if sizes else ():
        if left and record_number(n) not in own and _text(link, reading, n) in sizes[size]:
            left -= 1
            yield f"session/{uid}#{event_hex(id)}"


def _text(link: ReadConnection, reading: Records, n: int) -> str:
    """What an event says; nothing where its bytes are damaged."""
    row = timeline.event(link, n)
    try:
        return "" if row is None else reading.detail(row).text
    except (RecordError, SegmentError):
        return ""
