"""Deciding and appending in one transaction: read what stands, decide, append, fold.

A decision is a pure function; what it needs of the store is read inside the transaction, so that two people who decide
at once decide one after the other. One that has to be tried again is decided again.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from datetime import datetime
from typing import TypeVar

from affidavit.policy.actors import Refusal
from affidavit.policy.decision import Proposed
from storage import driver
from storage.driver import Connection
from storage.folds.fold import into_tables
from storage.ledger import Clock, Content, Draft, Ledger
from storage.recorded import Recorded
from storage.refold import Refold
from storage.store import Random, Store, refused

State = TypeVar("State")
Command = TypeVar("Command")

SALT = 32


def decided(
    store: Store,
    read: Callable[[Connection], State],
    decide: Callable[[State, Command, datetime], list[Proposed] | Refusal],
    command: Command,
    *,
    clock: Clock,
    random: Random = os.urandom,
) -> list[int] | Refusal:
    """Carry out a command; returns the ledger indexes of what was appended, or why nothing was.

    An entry with an id that is in the ledger already was appended by an earlier try: its index is given, and nothing
    is appended. Raises ``StoreError`` where the store cannot be written; then nothing changes.
    """
    connection = store.connection
    try:
        connection.execute("BEGIN IMMEDIATE")
        now = clock()
        entries = decide(read(connection), command, now)
        done = entries if isinstance(entries, Refusal) else _append(store, entries, now, random)
        connection.execute("COMMIT")
    except BaseException as error:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        if isinstance(error, driver.Error):
            raise refused(store.path, error) from error
        raise
    return done


def _append(store: Store, entries: Sequence[Proposed], now: datetime, random: Random) -> list[int]:
    connection = store.connection
    ledger = Ledger(connection, store.identity.ws)
    before = ledger.size()
    done: list[int] = []
    for entry in entries:
        known = connection.execute("SELECT idx FROM ledger_entry WHERE id = ?", (entry.id,)).fetchone()
        if known is not None:
            done.append(known[0])
            continue
        stream, sseq, sprev = random(8).hex(), 0, ""
        if entry.after is not None:
            stream, sseq = entry.after.stream, entry.after.sseq + 1
            query = "SELECT leaf FROM ledger_entry WHERE idx = ?"
            sprev = connection.execute(query, (entry.after.entry,)).fetchone()[0].hex()
        contents = [Content(*content, random(SALT)) for content in entry.contents]
        actor = {"kind": entry.actor, "id": random(8).hex(), "key": ""}
        index, _ = ledger.append(Draft(entry.id, entry.type, stream, sseq, sprev, entry.body, actor, contents), now)
        done.append(index)
    if ledger.size() > before:
        refold = Refold(connection, into_tables(connection), store.identity.lookup, _no_segments)
        refold.done = before
        for _ in refold.batches():
            pass
    return done


def _no_segments(first: int, size: int) -> Iterator[Recorded]:  # noqa: ARG001
    """None: what people decide comes without records."""
    return iter(())
