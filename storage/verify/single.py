"""Verifying what stands at one address: its records, their entries, and that the tree holds those entries.

A record is proven by its path inside the segment and the segment's entry by its path in the tree (RFC 6962, 2.1.1),
so nothing else of the store has to be read. Tables are not compared.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import orjson

from affidavit.proof.commitment import commit
from affidavit.proof.merkle import (
    EMPTY_ROOT,
    Node,
    ProofError,
    complete_subtrees,
    inclusion_proof,
    leaf_hash,
    node_from_tiles,
    node_hash,
    tile_root,
    verify_inclusion,
)
from affidavit.session.event import event_hex
from storage import driver
from storage.driver import Connection
from storage.ledger import TILE, payload
from storage.numbers import number
from storage.recorded import recorded
from storage.store import check, refused
from storage.verify.entries import _read
from storage.verify.report import VerifyReport


def verify_records(path: str, places: Mapping[int, Iterable[int] | None]) -> VerifyReport:
    """Checks ledger entries by index; of a segment's entry the records named (``None``: all of them).

    Raises ``StoreError`` where there is no store to check.
    """
    check(path)
    report = VerifyReport()
    try:
        connection = driver.connect_reader(path)
    except driver.Error as error:
        raise refused(path, error) from error
    try:
        connection.execute("BEGIN")
        _verify(connection, places, report)
        connection.execute("ROLLBACK")
    except driver.DatabaseError as error:
        report.fail("entry/0", "damaged", f"SQLite says: {error}")
    finally:
        connection.close()
    return report


def _verify(connection: Connection, places: Mapping[int, Iterable[int] | None], report: VerifyReport) -> None:
    size = connection.execute("SELECT coalesce(max(idx) + 1, 0) FROM ledger_entry").fetchone()[0]
    report.entries = size
    node = node_from_tiles(_Tiles(connection).tile)
    report.root = _root(size, node)
    report.checked |= {"entries": 0, "paths": 0, "records": 0, "payloads": 0}
    for index in sorted(places):
        row = connection.execute("SELECT entry, leaf FROM ledger_entry WHERE idx = ?", (index,)).fetchone()
        if row is None:
            report.fail(f"entry/{index}", "entry_missing", "there is no such entry")
            continue
        entry, leaf = row
        report.checked["entries"] += 1
        if leaf_hash(entry) != leaf:
            report.fail(f"entry/{index}", "entry_leaf", "its bytes were changed, or its hash was")
        _included(report, index, size, leaf, node)
        read = _read(entry)
        if read is None:
            report.fail(f"entry/{index}", "entry_bytes", "its bytes are not a canonical entry")
            continue
        if read["type"] == "import.segment":
            _segment(connection, report, index, read["body"], places[index])
        for ref in read["refs"]:
            _payload(connection, report, index, ref)


def _included(report: VerifyReport, index: int, size: int, leaf: bytes, node: Node) -> None:
    try:
        verify_inclusion(leaf, index, size, inclusion_proof(index, size, node), report.root)
    except ProofError as error:
        report.fail(f"entry/{index}", "tile", str(error))
        return
    report.checked["paths"] += 1


def _root(size: int, node: Node) -> bytes:
    hashes = [node(level, at) for level, at in complete_subtrees(0, size)]
    root = hashes.pop() if hashes else EMPTY_ROOT
    while hashes:
        root = node_hash(hashes.pop(), root)
    return root


def _segment(
    connection: Connection, report: VerifyReport, index: int, body: dict[str, object], wanted: Iterable[int] | None
) -> None:
    """The records of a segment against their commitments, and those against the root in the segment's entry."""
    checked = next(recorded(connection, index, index + 1, prove=True, read=False), None)
    if checked is None:
        report.fail(f"entry/{index}", "segment_missing", "its records are not there")
        return
    if checked.root.hex() != body["root"]:
        report.fail(f"entry/{index}", "segment_root", "its commitments are not the ones its entry names")
    if (body["from"], body["bytes"], body["records"]) != (checked.start, checked.size, checked.records):
        report.fail(f"entry/{index}", "segment_fields", "where its records stood is not what its entry says")
    chosen = set(range(checked.records) if wanted is None else wanted)
    report.checked["records"] += len(chosen)
    for place, kind, detail in checked.broken:
        if place < 0:
            report.fail(f"entry/{index}", kind, detail)
        elif place in chosen:
            report.fail(_address(connection, index, place), kind, f"record {place} of entry {index}: {detail}")
    for place, commitment in checked.erased:
        if place in chosen:
            address = _address(connection, index, place)
            _erased(connection, report, address, f"record {place} of entry {index}", commitment)


def _payload(connection: Connection, report: VerifyReport, index: int, ref: dict[str, object]) -> None:
    commitment = bytes.fromhex(str(ref["commit"]))
    data = payload(connection, commitment)
    if data is None:
        _erased(connection, report, f"entry/{index}", f"its {ref['role']} content", commitment)
        return
    report.checked["payloads"] += 1
    (salt,) = connection.execute('SELECT salt FROM payload WHERE "commit" = ?', (commitment,)).fetchone()
    if commit(salt, data) != commitment:
        report.fail(f"entry/{index}", "payload_bytes", f"its {ref['role']} content is not what was recorded")


def _erased(connection: Connection, report: VerifyReport, address: str, what: str, commitment: bytes) -> None:
    """Bytes that are gone must be named by a redaction entry."""
    row = connection.execute('SELECT entry FROM withheld WHERE "commit" = ?', (commitment,)).fetchone()
    entry = row and connection.execute("SELECT entry FROM ledger_entry WHERE idx = ?", row).fetchone()
    read = orjson.loads(entry[0]) if entry else {}
    if read.get("type") == "redaction" and commitment.hex() in read["body"]["commitments"]:
        report.withheld += 1
    else:
        report.fail(address, "bytes_missing", f"{what} is gone, and no redaction says so")


def _address(connection: Connection, entry: int, record: int) -> str:
    """The address of a record's first event, or of its entry where it has none."""
    row = connection.execute(
        "SELECT s.uid, e.id FROM event e JOIN session s ON s.no = e.session WHERE e.n = ?", (number(entry, record),)
    ).fetchone()
    return f"session/{row[0]}#{event_hex(row[1])}" if row else f"entry/{entry}"


class _Tiles:
    """The tiles of the tree as wide as they are: full ones as stored, the right edge from what lies below it."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._kept: dict[tuple[int, int], bytes] = {}

    def tile(self, level: int, number: int) -> bytes:
        """The hashes of a tile."""
        found = self._kept.get((level, number))
        if found is None:
            found = self._kept[level, number] = self._read(level, number)
        return found

    def _read(self, level: int, number: int) -> bytes:
        query = "SELECT hashes FROM tile WHERE level = ? AND n = ?"
        stored: tuple[bytes] | None = self._connection.execute(query, (level, number)).fetchone()
        if stored is not None:
            return stored[0]
        first = number * TILE
        if level == 0:
            query = "SELECT leaf FROM ledger_entry WHERE idx >= ? AND idx < ? ORDER BY idx"
            return b"".join(row[0] for row in self._connection.execute(query, (first, first + TILE)))
        query = "SELECT hashes FROM tile WHERE level = ? AND n >= ? AND n < ? ORDER BY n"
        below = self._connection.execute(query, (level - 1, first, first + TILE))
        return b"".join(tile_root(row[0]) for row in below)
