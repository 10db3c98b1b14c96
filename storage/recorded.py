"""Recorded segments read back: proven against their commitments, and their records made ready to be folded again."""

from __future__ import annotations

import hashlib
import struct
from collections.abc import Iterator, Mapping
from heapq import merge
from operator import itemgetter
from typing import NamedTuple

import orjson

from affidavit.proof.commitment import commit_all, segment_root
from storage.ahead import Child, Died, can_help
from storage.driver import Connection
from storage.folds.reading import Ready, make_ready
from storage.folds.sources import Voice
from storage.ledger import payload
from storage.segments import SALT, SegmentError, recut, spans_of, value_of

NOTHING = bytes(SALT)

CHILDREN = 2
STRETCH = 32
"""Segments next to each other that one process takes."""

REVISION = b'"type":"import.revision"'
_COLUMNS = "entry, source, start, size, line, records, cuts, data, digest, salts, commits"
Row = tuple[int, int, int, int, int, int, bytes, bytes, bytes, bytes, bytes]


class Recorded(NamedTuple):
    """One segment as it was found.

    ``lines``: its line feeds. ``root``: over its stored commitments. ``erased``: (record, commitment) of records
    without salt and bytes. ``broken``: (record or -1, failure class, detail). ``ready``: its records, ``None`` where
    its bytes cannot be had or they were not asked for.
    """

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
    ready: list[Ready] | None


def recorded(
    connection: Connection, first: int, size: int, *, prove: bool, read: bool, share: int = 0, shares: int = 1
) -> Iterator[Recorded]:
    """Segments of the entries ``first`` to ``size`` in order; ``prove`` recomputes hashes, ``read`` makes ready.

    A proof compares rows and needs no texts for the search index; only without it are they made. Of ``shares`` equal
    shares of the segments, only those of one are given.
    """
    spoken = voices(connection) if read else {}
    after = first - 1
    query = (
        f"SELECT {_COLUMNS} FROM segment WHERE entry > ? AND entry < ? AND entry / {STRETCH} % ? = ? "
        f"ORDER BY entry LIMIT {STRETCH}"
    )
    while rows := connection.execute(query, (after, size, shares, share)).fetchall():
        for row in rows:
            yield _one(row, spoken, prove)
        after = rows[-1][0]


def recorded_ahead(
    connection: Connection, path: str, first: int, size: int, *, prove: bool, read: bool
) -> Iterator[Recorded]:
    """:func:`recorded`, worked out by other processes where that helps.

    Two of them even on two cores: what they do costs about twice what the caller does with it.
    """
    amount = connection.execute("SELECT coalesce(sum(size), 0) FROM segment WHERE entry >= ?", (first,)).fetchone()[0]
    if can_help(amount):
        words = (path, str(first), str(size), "prove" if prove else "", "read" if read else "")
        children = [Child("records", *words, str(share), str(CHILDREN)) for share in range(CHILDREN)]
        try:
            for message in merge(*children, key=itemgetter(0)):
                one = Recorded._make(message)
                first = one.entry + 1
                yield one
            return
        except Died:
            pass
        finally:
            for child in children:
                child.stop()
    yield from recorded(connection, first, size, prove=prove, read=read)


def voices(connection: Connection) -> dict[int, Voice]:
    """How each revision's records are read, by its ledger index, from the revisions' own payloads."""
    found: dict[int, Voice] = {}
    query = "SELECT idx, entry FROM ledger_entry WHERE instr(entry, ?) > 0"
    for index, entry in connection.execute(query, (REVISION,)).fetchall():
        read = orjson.loads(entry)
        if read["type"] == "import.revision":
            about = about_source(connection, read)
            found[index] = Voice(about["format"], about["native"], about["lane"])
    return found


def about_source(connection: Connection, entry: Mapping[str, list[dict[str, str]]]) -> dict[str, str]:
    """What an ``import.revision`` entry's payload says of its source; marks where it was erased."""
    kept = payload(connection, bytes.fromhex(entry["refs"][0]["commit"]))
    if kept is None:
        return {"format": "withheld", "native": "(withheld)", "lane": "", "path": "(withheld)", "key": ""}
    about: dict[str, str] = orjson.loads(kept)
    return about


def _one(row: Row, spoken: dict[int, Voice], prove: bool) -> Recorded:
    entry, source, start, size, line, records, cuts, data, digest, salts, commits = row
    broken: list[tuple[int, str, str]] = []
    erased: list[tuple[int, bytes]] = []
    ready: list[Ready] | None = None
    lines = 0
    kept = [commits[at : at + SALT] for at in range(0, len(commits), SALT)] if prove else []
    if prove and hashlib.sha256(data).digest() != digest:
        broken.append((-1, "segment_bytes", "the stored bytes are not the ones that were written"))
    if len(salts) != SALT * records or len(commits) != SALT * records or len(cuts) != 4 * records:
        broken.append((-1, "segment_fields", "salts, commitments and lengths are not as many as its records"))
    else:
        try:
            spans = spans_of(data, cuts, size)
        except (SegmentError, struct.error) as error:
            broken.append((-1, "segment_bytes", str(error)))
        else:
            lines = b"".join(spans).count(b"\n")
            if prove:
                now = commit_all(salts, spans)
                if b"".join(now) != commits:
                    _differing(now, spans, salts, kept, start, erased, broken)
            if source in spoken:
                ready = make_ready(recut(spans, start, line), spoken[source], texts=not prove)
    root = segment_root(kept) if kept else b""
    return Recorded(entry, source, start, size, line, records, lines, root, erased, broken, ready)


def _differing(
    now: list[bytes],
    spans: list[bytes],
    salts: bytes,
    commits: list[bytes],
    start: int,
    erased: list[tuple[int, bytes]],
    broken: list[tuple[int, str, str]],
) -> None:
    """Tell records that were erased from records that were changed."""
    for place, commitment in enumerate(now):
        if commitment == commits[place]:
            continue
        if salts[place * SALT : (place + 1) * SALT] == NOTHING:
            erased.append((place, commits[place]))
            if any(value_of(spans[place], start == 0 and place == 0)[1]):
                broken.append((place, "bytes_left", "its salt is erased, its bytes are not"))
        else:
            broken.append((place, "record", "its bytes are not the ones that were recorded"))
