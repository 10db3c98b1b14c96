"""Forgetting a memory: a decision, and the erasure of its texts wherever the store keeps them.

Erased are the lines that proposed it, with their copies, and the texts in decisions about it; the tables are made
again, so that no word is left in them. Statuses, times and who decided stay. Session events that still say it are not
touched: the residue scan lists them, and ``redact`` erases what is named to it.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import Any, NamedTuple

import orjson

from affidavit.policy.actors import Refusal
from affidavit.review.commands import Decide
from affidavit.session.event import event_hex
from affidavit.text.search import match_query
from storage.driver import Connection
from storage.folds.governed_rows import GOVERNED
from storage.ledger import CHUNK, Clock
from storage.redact import redact
from storage.refold import REVIEWS
from storage.reviewing import Desk
from storage.store import Random, Store, refusing

TEXTS = ("shown", "made", "reason", "tombstone")
"""Contents of decisions that hold what somebody said."""

MOST_RESIDUE = 1_000


class Forgotten(NamedTuple):
    """What forgetting did. ``entries``: of the decision and of the redaction; ``records``, ``payloads``: erased.
    ``left``: where in the governed tables, payloads or segments the text still stands: nowhere, or it failed.
    ``sessions``: addresses of session events that still say it."""

    entries: list[int]
    records: int
    payloads: int
    left: list[str]
    sessions: list[str]


def forget(
    store: Store, command: Decide, object: str, *, clock: Clock, random: Random = os.urandom
) -> Forgotten | Refusal:
    """Carry out a decision to forget a memory or candidate, by its id.

    Killed between the decision and the erasure it is to be asked for again: what is revoked can be forgotten.
    """
    connection = store.connection
    texts = _texts(connection, object)
    done = Desk(store, clock=clock, random=random).decide(command, object)
    if isinstance(done, Refusal):
        return done
    family = _family(connection, object)
    lines, payloads = _lines(connection, family), _payloads(connection, family, done[0])
    entries = list(done)
    records = 0
    if lines or payloads:
        actor = command.actor.name
        gone = redact(store, lines, actor=actor, reason=command.reason, clock=clock, random=random, payloads=payloads)
        entries.append(gone.entry)
        records = gone.records
    with refusing(store.path):
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    left = [place for text in texts for place in residue(connection, text)]
    return Forgotten(entries, records, len(payloads), left, _events(connection, texts))


def _family(connection: Connection, object: str) -> list[str]:
    """A candidate and the memories it became, of either."""
    row = connection.execute("SELECT candidate FROM memory WHERE id = ?", (object,)).fetchone()
    candidate = row[0] if row else object
    memories = connection.execute("SELECT id FROM memory WHERE candidate = ?", (candidate,)).fetchall()
    return [candidate, *(id for (id,) in memories)]


def _texts(connection: Connection, object: str) -> list[str]:
    """Everything a memory and its candidate ever said."""
    found: set[str] = set()
    for id in _family(connection, object):
        for table, key in (("candidate_version", "candidate"), ("memory_version", "memory")):
            for (body,) in connection.execute(f"SELECT body FROM {table} WHERE {key} = ?", (id,)).fetchall():
                if body:
                    found.add(orjson.loads(body)["content"])
    return sorted(found)


def _lines(connection: Connection, family: Iterable[str]) -> list[int]:
    query = "SELECT n FROM candidate_line WHERE candidate IN (SELECT value FROM json_each(?)) ORDER BY n"
    return [n for (n,) in connection.execute(query, (orjson.dumps(list(family)).decode(),)).fetchall()]


def _payloads(connection: Connection, family: Iterable[str], own: int) -> list[bytes]:
    """Commitments of the texts in decisions about a family; the decision to forget keeps its reason and tombstone."""
    query = "SELECT entry FROM decision WHERE object IN (SELECT value FROM json_each(?))"
    about = {index for (index,) in connection.execute(query, (orjson.dumps(list(family)).decode(),)).fetchall()}
    about.discard(own)
    found = []
    for index in sorted(about):
        (entry,) = connection.execute("SELECT entry FROM ledger_entry WHERE idx = ?", (index,)).fetchone()
        read: Any = orjson.loads(entry)
        if read["type"] in REVIEWS:
            found += [bytes.fromhex(ref["commit"]) for ref in read["refs"] if ref["role"] in TEXTS]
    there = 'SELECT 1 FROM payload WHERE "commit" = ?'
    return [commit for commit in found if connection.execute(there, (commit,)).fetchone()]


def residue(connection: Connection, text: str) -> list[str]:
    """Where in governed tables and payloads a text still stands, by table and key."""
    found = []
    needle = orjson.dumps(text)[1:-1].decode()
    for table, spec in GOVERNED.items():
        for column in spec.columns:
            query = (
                f'SELECT "{spec.columns[0]}" FROM {table} WHERE instr("{column}", ?) > 0 OR instr("{column}", ?) > 0'
            )
            found += [f"{table}/{key}" for (key,) in connection.execute(query, (text, needle)).fetchall()]
    raw = (text.encode("utf-8", "surrogatepass"), needle.encode("utf-8", "surrogatepass"))
    for commit, _ in connection.execute('SELECT "commit", size FROM payload WHERE size < ?', (CHUNK,)).fetchall():
        query = 'SELECT data FROM payload_chunk WHERE "commit" = ? ORDER BY no'
        data = b"".join(part for (part,) in connection.execute(query, (commit,)).fetchall())
        if any(one in data for one in raw):
            found.append(f"payload/{commit.hex()}")
    return sorted(set(found))


def _events(connection: Connection, texts: Iterable[str]) -> list[str]:
    """Addresses of session events that still say it, found by the full-text index."""
    found = set()
    for text in texts:
        wanted = match_query(text + " ")
        if wanted is None:
            continue
        query = (
            "SELECT s.uid, e.id FROM ix_text x JOIN event e ON e.n = -x.rowid JOIN session s ON s.no = e.session "
            f"WHERE ix_text MATCH ? LIMIT {MOST_RESIDUE}"
        )
        phrase = '"' + text.replace('"', " ") + '"' if text.isascii() else wanted
        found |= {f"session/{uid}#{event_hex(id)}" for uid, id in connection.execute(query, (phrase,)).fetchall()}
    return sorted(found)
