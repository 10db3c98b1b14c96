"""The ledger: entries appended, never changed, in one RFC 6962 tree.

An entry's bytes are RFC 8785 and hold no text from outside: content is named by salted commitments only. Entries of
one stream (a source, or an object people decide about) are chained by ``sseq`` and ``sprev``.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

from affidavit.proof.canonical import canonical_entry
from affidavit.proof.commitment import commit
from affidavit.proof.merkle import leaf_hash, tile_root
from affidavit.session.times import EPOCH
from storage.driver import Connection

TILE = 256
CHUNK = 1 << 20

Clock = Callable[[], datetime]


@dataclass(slots=True)
class Content:
    """Erasable content an entry refers to: stored as a payload, named in the entry by its commitment."""

    role: str
    media: str
    data: bytes
    salt: bytes
    _commitment: bytes | None = field(default=None, repr=False, compare=False)

    @property
    def commitment(self) -> bytes:
        """HMAC-SHA-256 of the data under the salt; what both were when it was first asked for."""
        if self._commitment is None:
            self._commitment = commit(self.salt, self.data)
        return self._commitment


@dataclass(slots=True)
class Draft:
    """An entry before it has a number. ``sseq``/``sprev``: its place in ``stream`` (``""``: the first)."""

    id: str
    type: str
    stream: str
    sseq: int
    sprev: str
    body: dict[str, Any]
    actor: dict[str, str]
    contents: list[Content] = field(default_factory=list)


class Ledger:
    """Appends inside the caller's transaction."""

    def __init__(self, connection: Connection, ws: str) -> None:
        self.connection = connection
        self.ws = ws

    def size(self) -> int:
        """Number of entries."""
        return int(self.connection.execute("SELECT coalesce(max(idx) + 1, 0) FROM ledger_entry").fetchone()[0])

    def append(self, draft: Draft, time: datetime) -> tuple[int, bytes]:
        """Append one entry; returns its index and leaf hash. An id appended before raises ``IntegrityError``."""
        index = self.size()
        entry = canonical_entry(
            {
                "v": 1,
                "type": draft.type,
                "id": draft.id,
                "ws": self.ws,
                "time": time.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ"),
                "actor": draft.actor,
                "stream": draft.stream,
                "sseq": draft.sseq,
                "sprev": draft.sprev,
                "refs": [
                    {
                        "role": content.role,
                        "alg": "hmac-sha256",
                        "commit": content.commitment.hex(),
                        "size": len(content.data),
                        "media": content.media,
                    }
                    for content in draft.contents
                ],
                "body": draft.body,
            }
        )
        leaf = leaf_hash(entry)
        self.connection.execute("INSERT INTO ledger_entry VALUES(?, ?, ?, ?)", (index, draft.id, entry, leaf))
        self._keep(draft.contents)
        if index % TILE == TILE - 1:
            self._tile(0, index // TILE)
        return index, leaf

    def _keep(self, contents: list[Content]) -> None:
        """Store contents as payloads, each once."""
        self.connection.executemany(
            "INSERT OR IGNORE INTO payload VALUES(?, ?, ?, ?, ?)",
            [
                (one.commitment, one.salt, hashlib.sha256(one.data).digest(), one.media, len(one.data))
                for one in contents
            ],
        )
        self.connection.executemany(
            "INSERT OR IGNORE INTO payload_chunk VALUES(?, ?, ?)",
            [
                (one.commitment, at // CHUNK, one.data[at : at + CHUNK])
                for one in contents
                for at in range(0, len(one.data), CHUNK)
            ],
        )

    def _tile(self, level: int, number: int) -> None:
        """Write a full tile, and the one above when this completes it."""
        first = number * TILE
        if level == 0:
            query = "SELECT leaf FROM ledger_entry WHERE idx >= ? AND idx < ? ORDER BY idx"
            hashes = [row[0] for row in self.connection.execute(query, (first, first + TILE))]
        else:
            query = "SELECT hashes FROM tile WHERE level = ? AND n >= ? AND n < ? ORDER BY n"
            rows = self.connection.execute(query, (level - 1, first, first + TILE))
            hashes = [tile_root(row[0]) for row in rows]
        self.connection.execute("INSERT INTO tile VALUES(?, ?, ?)", (level, number, b"".join(hashes)))
        if number % TILE == TILE - 1:
            self._tile(level + 1, number // TILE)


def payload(connection: Connection, commitment: bytes) -> bytes | None:
    """A payload's bytes by its commitment, ``None`` where it was erased."""
    if connection.execute('SELECT 1 FROM payload WHERE "commit" = ?', (commitment,)).fetchone() is None:
        return None
    return b"".join(chunks(connection, commitment))


def contents_of(connection: Connection, entry: Mapping[str, Any]) -> dict[str, bytes | None]:
    """The contents an entry refers to by their roles, ``None`` for each that was erased."""
    return {ref["role"]: payload(connection, bytes.fromhex(ref["commit"])) for ref in entry["refs"]}


def micros(time: str) -> int:
    """An entry's time in UTC microseconds since 1970."""
    return (datetime.fromisoformat(time) - EPOCH) // timedelta(microseconds=1)


def chunks(connection: Connection, commitment: bytes) -> Iterator[bytes]:
    """A payload's bytes, 1 MiB at a time."""
    query = 'SELECT data FROM payload_chunk WHERE "commit" = ? ORDER BY no'
    for (data,) in connection.execute(query, (commitment,)):
        yield data
