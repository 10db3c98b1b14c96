"""The ledger: numbered without a gap, chained, in one tree whose tiles are right, silent about what it proves."""

from __future__ import annotations

import re
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path
from typing import Any

import claude_fixtures as log
import orjson
import pytest
from kept import Clock, chance, rows, store_in, take, write

from affidavit.proof.canonical import canonical_entry
from affidavit.proof.commitment import commit
from affidavit.proof.merkle import leaf_hash, root_of, tile_root
from storage import driver
from storage.ledger import CHUNK, Content, Draft, Ledger, payload
from storage.redact import redact
from storage.schema import statements
from storage.store import Store
from storage.tables import DURABLE
from storage.verify import verify


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with store_in(tmp_path) as opened:
        yield opened


def draft(number: int, stream: str = "s", sprev: str = "", **fields: Any) -> Draft:
    return Draft(f"{stream}.{number}", "test", stream, number, sprev, {"number": number}, {"kind": "t"}, **fields)


def append_many(store: Store, count: int, first: int = 0, sprev: str = "") -> str:
    """Append a chain in one transaction; returns the last leaf."""
    ledger = Ledger(store.connection, store.identity.ws)
    clock = Clock()
    store.connection.execute("BEGIN IMMEDIATE")
    for number in range(first, first + count):
        index, leaf = ledger.append(draft(number, sprev=sprev), clock())
        assert index == number
        sprev = leaf.hex()
    store.connection.execute("COMMIT")
    return sprev


def check_tiles(store: Store, size: int) -> None:
    """Every full tile is there and holds the hashes below it, and there is no other."""
    leaves = [leaf for (leaf,) in store.connection.execute("SELECT leaf FROM ledger_entry ORDER BY idx")]
    assert len(leaves) == size
    expected: dict[tuple[int, int], bytes] = {}
    level, hashes = 0, leaves
    while len(hashes) >= 256:
        for number in range(len(hashes) // 256):
            expected[level, number] = b"".join(hashes[number * 256 : number * 256 + 256])
        hashes = [tile_root(expected[level, number]) for number in range(len(hashes) // 256)]
        level += 1
    stored = {(level, n): hashes for level, n, hashes in store.connection.execute("SELECT level, n, hashes FROM tile")}
    assert stored == expected
    if size <= 512:
        assert verify(store.path).root == root_of(leaves)


def test_tiles_are_right_where_they_become_full(store: Store) -> None:
    last = append_many(store, 255)
    check_tiles(store, 255)
    last = append_many(store, 1, 255, last)
    check_tiles(store, 256)
    last = append_many(store, 1, 256, last)
    check_tiles(store, 257)
    append_many(store, 255, 257, last)
    check_tiles(store, 512)
    assert verify(store.path).checked["tiles"] == 2


def test_a_tile_of_tiles_is_made_when_it_becomes_full(store: Store) -> None:
    """The last entries before and the first after 256 * 256 are appended; those below stand in as they would."""
    connection = store.connection
    ledger = Ledger(connection, store.identity.ws)
    connection.execute("PRAGMA synchronous=OFF")
    connection.execute("BEGIN IMMEDIATE")
    count = 65_536 - 3
    leaves = [leaf_hash(b"%d" % number) for number in range(count)]
    connection.execute("DROP TRIGGER ledger_gapless")
    connection.executemany(
        "INSERT INTO ledger_entry VALUES(?, ?, ?, ?)", ((n, str(n), b"%d" % n, leaf) for n, leaf in enumerate(leaves))
    )
    connection.executemany(
        "INSERT INTO tile VALUES(0, ?, ?)",
        ((n, b"".join(leaves[n * 256 : n * 256 + 256])) for n in range(count // 256)),
    )
    for number in range(count, 65_536 + 2):
        assert ledger.append(draft(number), Clock()())[0] == number
    connection.execute("COMMIT")
    check_tiles(store, 65_538)


def test_entries_are_canonical_and_chained(store: Store) -> None:
    append_many(store, 3)
    before = ""
    for index, id, entry, leaf in store.connection.execute(
        "SELECT idx, id, entry, leaf FROM ledger_entry ORDER BY idx"
    ):
        read = orjson.loads(entry)
        assert canonical_entry(read) == entry
        assert leaf == leaf_hash(entry)
        assert set(read) == {"v", "type", "id", "ws", "time", "actor", "stream", "sseq", "sprev", "refs", "body"}
        assert (read["id"], read["ws"], read["sseq"]) == (id, store.identity.ws, index)
        assert read["sprev"] == before
        assert re.fullmatch(r"2026-03-02T12:00:0\d\.000000Z", read["time"])
        before = leaf.hex()
    assert verify(store.path, folds=False).holds


def test_an_entry_appended_twice_is_appended_once(store: Store) -> None:
    append_many(store, 2)
    ledger = Ledger(store.connection, store.identity.ws)
    store.connection.execute("BEGIN IMMEDIATE")
    with pytest.raises(driver.DatabaseError, match="UNIQUE"):
        ledger.append(draft(1), Clock()())
    store.connection.execute("ROLLBACK")
    assert ledger.size() == 2
    assert verify(store.path, folds=False).holds


def test_contents_are_kept_in_pieces_and_named_by_commitment_only(store: Store) -> None:
    data = bytes(range(256)) * (CHUNK // 256) * 2 + b"the last piece"
    content = Content("body", "text/plain", data, b"\7" * 32)
    store.connection.execute("BEGIN IMMEDIATE")
    Ledger(store.connection, store.identity.ws).append(draft(0, contents=[content]), Clock()())
    store.connection.execute("COMMIT")
    assert payload(store.connection, content.commitment) == data
    assert content.commitment == commit(b"\7" * 32, data)
    assert rows(store.path, "SELECT no, length(data) FROM payload_chunk ORDER BY no") == [
        (0, CHUNK),
        (1, CHUNK),
        (2, 14),
    ]
    (entry,) = store.connection.execute("SELECT entry FROM ledger_entry").fetchone()
    assert orjson.loads(entry)["refs"] == [
        {
            "role": "body",
            "alg": "hmac-sha256",
            "commit": content.commitment.hex(),
            "size": len(data),
            "media": "text/plain",
        }
    ]
    assert verify(store.path, folds=False).holds
    assert payload(store.connection, bytes(32)) is None


REFUSED = {
    "INSERT INTO ledger_entry VALUES(7, 'x', x'00', x'00')": "numbered without a gap",
    "UPDATE ledger_entry SET entry = x'00' WHERE idx = 0": "never change",
    "DELETE FROM ledger_entry WHERE idx = 1": "never deleted",
    "UPDATE tile SET hashes = x'00'": "never change",
    "DELETE FROM tile": "never deleted",
    "UPDATE segment SET commits = x'00'": "only bytes and salts",
    "UPDATE segment SET cuts = x'00'": "only bytes and salts",
    "UPDATE segment SET start = 9": "only bytes and salts",
    "DELETE FROM segment": "never deleted",
    "UPDATE payload SET salt = x'00'": "never change",
    "UPDATE payload_chunk SET data = x'00'": "never change",
}


@pytest.mark.parametrize("statement", list(REFUSED))
def test_the_tables_refuse_an_accident(store: Store, tmp_path: Path, statement: str) -> None:
    take(store, write(tmp_path / "logs", log.lines(log.session())))
    append_many(store, 254, 2)
    with pytest.raises(driver.DatabaseError, match=REFUSED[statement]):
        store.connection.execute(statement)
    assert rows(store.path, "SELECT count(*) FROM tile") == [(1,)]


def test_what_is_migrated_is_what_is_declared(store: Store) -> None:
    """The migrations make the durable tables and indexes exactly as the models declare them."""
    made = {
        re.sub(r"\s+", " ", sql).strip()
        for (sql,) in rows(
            store.path, "SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL AND type IN ('table', 'index')"
        )
    }
    declared = {re.sub(r"\s+", " ", statement).strip() for statement in statements(DURABLE)}
    assert declared <= made
    tables = {name for (name,) in rows(store.path, "SELECT name FROM sqlite_schema WHERE type = 'table'")}
    assert set(DURABLE) <= tables
    assert all(
        "STRICT" in sql
        for (sql,) in rows(store.path, "SELECT sql FROM sqlite_schema WHERE type='table' AND sql LIKE 'CREATE TABLE%'")
        if not re.search(r"CREATE TABLE '?(ix_text|alembic|sqlite)", sql)
    )


def test_no_entry_holds_a_word_from_outside(store: Store, tmp_path: Path) -> None:
    """No text, title, path, name or plain digest of what was imported, nor who erased something and why."""
    folder = tmp_path / "Acme-Project"
    files = {name: log.lines(records) for name, records in log.with_helper().items()}
    files["secret-name.jsonl"] = log.lines(log.session()) + log.lines(log.every_record())
    write(folder, files)
    take(store, folder, random=chance())
    n = store.connection.execute("SELECT n FROM event WHERE kind = 'user.message'").fetchone()[0]
    redact(store, [n], actor="Ada Lovelace", reason="because of the customer", clock=Clock(), random=chance(2))
    said = {b"Ada", b"Lovelace", b"customer", b"Acme", b"secret", b"jsonl", b"claude-code", b"tester"}
    for data in files.values():
        said |= set(WORD.findall(data))
        said |= {sha256(line).hexdigest().encode() for line in (*data.splitlines(), *data.splitlines(keepends=True))}
    entries = [entry for (entry,) in store.connection.execute("SELECT entry FROM ledger_entry")]
    words = {word for entry in entries for word in WORD.findall(entry)}
    assert words & said <= OURS
    assert words >= {b"segment", b"revision", b"redaction"}
    assert all(re.fullmatch(rb"[0-9a-f]+|\d+-\d+-\d+T\d+|\d+Z?", word) for word in words - OURS)


WORD = re.compile(rb"[A-Za-z0-9_-]{3,}")
OURS = {
    b"type", b"time", b"actor", b"kind", b"key", b"stream", b"sseq", b"sprev", b"refs", b"role",
    b"alg", b"hmac-sha256", b"commit", b"size", b"media", b"body", b"source", b"revision", b"from", b"bytes",
    b"records", b"root", b"commitments", b"import", b"segment", b"redaction", b"runtime", b"person", b"application",
    b"json", b"text", b"plain", b"envelopes", b"reason",
}  # fmt: skip
"""Every word of an entry that is not a number, a time or random."""
