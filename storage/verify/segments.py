"""Checking recorded bytes: every record against its commitment, every segment against its entry.

Works on plain values so that ranges of segments can be checked in other processes.
"""

from __future__ import annotations

import hashlib
import struct
from collections.abc import Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from os import cpu_count
from typing import NamedTuple

from affidavit.proof.commitment import commit_all, segment_root
from storage import driver
from storage.driver import Connection
from storage.segments import SALT, SegmentError, spans_of, value_of

NOTHING = bytes(SALT)
PARALLEL_FROM = 400
"""Segments from which a second process is worth its start."""


class Checked(NamedTuple):
    """One segment as it was found. ``broken``: (record or -1, failure class, detail)."""

    entry: int
    source: int
    start: int
    size: int
    line: int
    records: int
    lines: int
    root: bytes
    erased: list[tuple[int, bytes]]
    broken: list[tuple[int, str, str]]


_COLUMNS = "entry, source, start, size, line, records, cuts, data, digest, salts, commits"
Row = tuple[int, int, int, int, int, int, bytes, bytes, bytes, bytes, bytes]


def check_segment(row: Row) -> Checked:
    """Recompute everything a segment's own row can prove."""
    entry, source, start, size, line, records, cuts, data, digest, salts, commits = row
    broken: list[tuple[int, str, str]] = []
    erased: list[tuple[int, bytes]] = []
    lines = 0
    kept = [commits[at : at + SALT] for at in range(0, len(commits), SALT)]
    if hashlib.sha256(data).digest() != digest:
        broken.append((-1, "segment_bytes", "the stored bytes are not the ones that were written"))
    if len(salts) != SALT * records or len(commits) != SALT * records or len(cuts) != 4 * records:
        broken.append((-1, "segment_fields", "salts, commitments and lengths are not as many as its records"))
    else:
        try:
            spans = spans_of(data, cuts, size)
        except (SegmentError, struct.error) as error:
            broken.append((-1, "segment_bytes", str(error)))
        else:
            lines = sum(span.count(b"\n") for span in spans)
            if b"".join(commit_all(salts, spans)) != commits:
                _records(spans, salts, kept, start, erased, broken)
    root = segment_root(kept) if kept else b""
    return Checked(entry, source, start, size, line, records, lines, root, erased, broken)


def _records(
    spans: list[bytes],
    salts: bytes,
    commits: list[bytes],
    start: int,
    erased: list[tuple[int, bytes]],
    broken: list[tuple[int, str, str]],
) -> None:
    for place, now in enumerate(commit_all(salts, spans)):
        if now == commits[place]:
            continue
        if salts[place * SALT : (place + 1) * SALT] == NOTHING:
            erased.append((place, commits[place]))
            if any(value_of(spans[place], start == 0 and place == 0)[1]):
                broken.append((place, "bytes_left", "its salt is erased, its bytes are not"))
        else:
            broken.append((place, "record", "its bytes are not the ones that were recorded"))


def _range(path: str, first: int, last: int) -> list[Checked]:
    """Check the segments of a range of entries through an own connection (runs in another process)."""
    connection = driver.connect_reader(path)
    try:
        return [check_segment(row) for row in _rows(connection, first, last)]
    finally:
        connection.close()


def _rows(connection: Connection, first: int, last: int) -> Iterable[Row]:
    rows: Iterable[Row] = connection.execute(
        f"SELECT {_COLUMNS} FROM segment WHERE entry >= ? AND entry < ? ORDER BY entry", (first, last)
    )
    return rows


class SegmentChecks:
    """Checks all segments from entry ``first`` on; beside other work where the store is large.

    Iterate to get every :class:`Checked` in order. Made before the caller's other work starts, read after it.
    """

    def __init__(self, connection: Connection, path: str, first: int, size: int, *, alone: bool = False) -> None:
        self.connection = connection
        self.first, self.size = first, size
        count = connection.execute("SELECT count(*) FROM segment WHERE entry >= ?", (first,)).fetchone()[0]
        self._pool: ProcessPoolExecutor | None = None
        if count >= PARALLEL_FROM and (cpu_count() or 1) > 1:
            workers = min(cpu_count() or 1, 4) if alone else 1
            self._pool = ProcessPoolExecutor(workers, mp_context=get_context("spawn"))
            step = max(64, (size - first) // (workers * 8))
            self._ranges = [
                self._pool.submit(_range, path, at, min(at + step, size)) for at in range(first, size, step)
            ]

    def __iter__(self) -> Iterator[Checked]:
        if self._pool is None:
            for row in _rows(self.connection, self.first, self.size):
                yield check_segment(row)
        else:
            for part in self._ranges:
                yield from part.result()
            self._pool.shutdown()

    def stop(self) -> None:
        """Give up what is not done yet."""
        if self._pool is not None:
            self._pool.shutdown(wait=False, cancel_futures=True)
