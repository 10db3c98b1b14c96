"""Checking entries: their bytes, the tree over them, the chains through them and the contents they name."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import orjson

from affidavit.policy.rows import POLICY_CHANGE, ROLES
from affidavit.proof.canonical import CanonicalError, canonical_entry
from affidavit.proof.commitment import SALT_SIZE, commit
from affidavit.proof.merkle import Frontier, leaf_hash, tile_root
from storage.driver import Connection
from storage.ledger import CHUNK, TILE
from storage.verify.report import Marker, VerifyReport

Step = Callable[[int, int], None]
"""Called with (entries done, entries in all)."""


@dataclass(slots=True)
class Walked:
    """What the entries said: per segment entry its body, the erased commitments, the contents named."""

    segments: dict[int, dict[str, Any]] = field(default_factory=dict)
    revisions: dict[tuple[str, int], int] = field(default_factory=dict)
    erased: dict[bytes, int] = field(default_factory=dict)
    contents: dict[bytes, tuple[int, dict[str, Any]]] = field(default_factory=dict)


def check_entries(
    connection: Connection,
    ws: str,
    report: VerifyReport,
    marker: Marker | None,
    step: Step,
    known: Marker | None = None,
) -> Walked:
    """Every entry from the marker on; the tree over all leaves, held against what was ``known`` of it before."""
    walked = Walked()
    frontier = Frontier()
    tiles = _Tiles(connection, report)
    since = marker.size if marker else 0
    known = known or marker
    report.since = since or None
    heads: dict[str, tuple[int, bytes]] = {}
    expected = 0
    size = connection.execute("SELECT coalesce(max(idx) + 1, 0) FROM ledger_entry").fetchone()[0]
    if known and size < known.size:
        report.fail(f"entry/{size}", "rolled_back", f"{size} entries now, {known.size} when last verified")
    for index, id, entry, leaf in _entries(connection):
        if index != expected:
            report.fail(f"entry/{expected}", "entry_missing", f"entries {expected} to {index - 1} are missing")
            expected = index
        if known and index == frontier.size == known.size and frontier.root() != known.root:
            report.fail(f"entry/{index}", "forked", "the entries before this one are not the ones verified last time")
        expected += 1
        frontier.append(leaf)
        tiles.leaf(index, leaf)
        if index < since:
            _remember(walked, heads, index, entry, leaf)
            continue
        if leaf_hash(entry) != leaf:
            report.fail(f"entry/{index}", "entry_leaf", "its bytes were changed, or its hash was")
        read = _read(entry)
        if read is None:
            report.fail(f"entry/{index}", "entry_bytes", "its bytes are not a canonical entry")
            continue
        if read["id"] != id:
            report.fail(f"entry/{index}", "entry_id", f"the table calls it {str(id)[:40]!r}")
        if read["ws"] != ws:
            report.fail(f"entry/{index}", "entry_store", "it was written for another store")
        _chain(report, heads, index, read, leaf)
        if not _note(walked, index, read):
            report.fail(f"entry/{index}", "entry_bytes", f"it is no entry of type {read['type'][:40]!r}")
        if index % 512 == 0:
            step(index, size)
    tiles.finish(expected)
    if known and frontier.size == known.size and frontier.root() != known.root:
        report.fail("entry/0", "forked", "the entries are not the ones verified last time")
    report.entries = expected
    report.root = frontier.root()
    report.checked["entries"] = expected - since
    report.checked["streams"] = len(heads)
    report.withheld = len(walked.erased)
    return walked


def _entries(connection: Connection) -> Iterator[tuple[int, str, bytes, bytes]]:
    rows: Iterator[tuple[int, str, bytes, bytes]] = iter(
        connection.execute("SELECT idx, id, entry, leaf FROM ledger_entry ORDER BY idx")
    )
    return rows


def _read(entry: bytes) -> dict[str, Any] | None:
    """An entry whose bytes are canonical and have the envelope's shape."""
    try:
        read = orjson.loads(entry)
        if canonical_entry(read) != entry:
            return None
        shape = (
            read["v"] == 1
            and isinstance(read["body"], dict)
            and isinstance(read["refs"], list)
            and type(read["sseq"]) is int
        )
        return read if shape and all(isinstance(read[key], str) for key in _WORDS) else None
    except (orjson.JSONDecodeError, CanonicalError, KeyError, TypeError, UnicodeError):
        return None


_WORDS = ("type", "id", "ws", "time", "stream", "sprev")


def _remember(walked: Walked, heads: dict[str, tuple[int, bytes]], index: int, entry: bytes, leaf: bytes) -> None:
    """Take an entry that was checked in an earlier run as it is."""
    read = _read(entry)
    if read is not None:
        heads[read["stream"]] = (read["sseq"], leaf)
        _note(walked, index, read)


def _chain(
    report: VerifyReport, heads: dict[str, tuple[int, bytes]], index: int, read: dict[str, Any], leaf: bytes
) -> None:
    before = heads.get(read["stream"])
    expected = (before[0] + 1, before[1].hex()) if before else (0, "")
    if (read["sseq"], read["sprev"]) != expected:
        report.fail(f"entry/{index}", "chain", "it does not follow the entry its stream had before")
    heads[read["stream"]] = (read["sseq"], leaf)


def _note(walked: Walked, index: int, read: dict[str, Any]) -> bool:
    """Take in what an entry says; ``False`` where it does not have what its type has."""
    kind, body = read["type"], read["body"]
    try:
        if kind == "import.segment":
            if any(type(body[name]) is not shape for name, shape in _SEGMENT.items()):
                return False
            walked.segments[index] = body
        elif kind == "import.revision":
            if type(body["source"]) is not str or type(body["revision"]) is not int or len(read["refs"]) != 1:
                return False
            walked.revisions[body["source"], body["revision"]] = index
        elif kind == "workspace.version":
            if any(type(body[name]) is not shape for name, shape in _WORKSPACE.items()):
                return False
        elif kind == "redaction":
            for commitment in body["commitments"]:
                walked.erased[bytes.fromhex(commitment)] = index
        elif kind == POLICY_CHANGE and (body or tuple(ref["role"] for ref in read["refs"]) != ROLES):
            return False
        for ref in read["refs"]:
            if any(type(ref[name]) is not shape for name, shape in _REF.items()):
                return False
            walked.contents[bytes.fromhex(ref["commit"])] = (index, ref)
    except (KeyError, TypeError, ValueError):
        return False
    return True


_SEGMENT = {"source": str, "revision": int, "from": int, "bytes": int, "records": int, "root": str}
_WORKSPACE = {"root": str, "files": int, "gone": int}
_REF = {"role": str, "alg": str, "commit": str, "size": int, "media": str}


class _Tiles:
    """Recomputes every full tile as the leaves go by and compares it with the stored one."""

    def __init__(self, connection: Connection, report: VerifyReport) -> None:
        self.connection = connection
        self.report = report
        self.levels: list[list[bytes]] = [[]]
        self.counts: list[int] = [0]

    def leaf(self, index: int, leaf: bytes) -> None:
        """The next leaf."""
        self._add(0, leaf, index)

    def _add(self, level: int, hash: bytes, index: int) -> None:
        if level == len(self.levels):
            self.levels.append([])
            self.counts.append(0)
        row = self.levels[level]
        row.append(hash)
        if len(row) == TILE:
            joined = b"".join(row)
            row.clear()
            number = self.counts[level]
            self.counts[level] += 1
            stored = self.connection.execute(
                "SELECT hashes FROM tile WHERE level = ? AND n = ?", (level, number)
            ).fetchone()
            if stored is None or stored[0] != joined:
                what = "is missing" if stored is None else "holds other hashes"
                self.report.fail(f"entry/{index}", "tile", f"tile {number} of level {level} {what}")
            self._add(level + 1, tile_root(joined), index)

    def finish(self, size: int) -> None:
        """There must be no tile beyond the full ones."""
        wanted = sum(self.counts)
        stored = self.connection.execute("SELECT count(*) FROM tile").fetchone()[0]
        if stored > wanted:
            self.report.fail(f"entry/{max(size - 1, 0)}", "tile", f"{stored - wanted} tiles too many")
        self.report.checked["tiles"] = wanted


def _whole(connection: Connection, commitment: bytes, size: int) -> bytes | None:
    """A payload's bytes, if its pieces are numbered and as long as they were made."""
    parts = []
    left = size
    query = 'SELECT no, data FROM payload_chunk WHERE "commit" = ? ORDER BY no'
    for place, (no, data) in enumerate(connection.execute(query, (commitment,))):
        if no != place or not data or len(data) != min(CHUNK, left):
            return None
        left -= len(data)
        parts.append(data)
    return None if left else b"".join(parts)


def check_payloads(connection: Connection, walked: Walked, report: VerifyReport, since: int) -> None:
    """Every content an entry names is there, whole and unchanged, or its erasure is on record."""
    count = 0
    known: set[bytes] = set()
    for commitment, salt, digest, media, size in connection.execute(
        'SELECT "commit", salt, sha256, media, size FROM payload'
    ).fetchall():
        known.add(commitment)
        named = walked.contents.get(commitment)
        if named is None:
            report.fail(f"payload/{digest.hex()}", "payload_extra", "no entry refers to it")
            continue
        index, ref = named
        if index < since:
            continue
        count += 1
        whole = _whole(connection, commitment, size)
        if (
            whole is None
            or hashlib.sha256(whole).digest() != digest
            or (ref["size"], ref["media"]) != (size, media)
            or len(salt) != SALT_SIZE
            or commit(salt, whole) != commitment
        ):
            report.fail(f"entry/{index}", "payload_bytes", f"its {ref['role']} content is not what was recorded")
    for commitment, (index, ref) in walked.contents.items():
        if commitment not in known and commitment not in walked.erased:
            report.fail(f"entry/{index}", "payload_missing", f"its {ref['role']} content is gone")
    orphans = connection.execute(
        'SELECT count(*) FROM payload_chunk WHERE "commit" NOT IN (SELECT "commit" FROM payload)'
    ).fetchone()[0]
    if orphans:
        report.fail("entry/0", "payload_extra", f"{orphans} stored pieces belong to no content")
    report.checked["payloads"] = count
