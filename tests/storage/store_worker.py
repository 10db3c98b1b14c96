"""Another program at work on a store: run as ``python store_worker.py WORK STORE …``, killed and watched by tests.

Says on standard output what is acknowledged, one JSON value a line.
"""

from __future__ import annotations

import json
import os
import sys
import time
from datetime import UTC, datetime
from typing import Any

from storage import importing, segments
from storage.importing import Importer
from storage.rebuild import rebuild
from storage.redact import redact
from storage.store import Store, StoreError


def say(value: Any) -> None:
    sys.stdout.write(json.dumps(value) + "\n")
    sys.stdout.flush()


def now() -> datetime:
    return datetime.now(UTC)


def take(path: str, folder: str) -> None:
    """Import a folder in small transactions, saying after each what was taken."""
    importing.BATCH_RECORDS = 40
    segments.SEGMENT_RECORDS = 20
    with Store.open(path, create=True) as store:
        say("open")
        report = Importer(store, clock=now, progress=lambda file, done, _, records: say([file, done, records])).paths(
            [folder]
        )
        say({name: report.total(name) for name in ("records", "mapped", "unknown", "duplicates", "unreadable")})


def again(path: str) -> None:
    """Rebuild the tables over and over."""
    say("open")
    while True:
        try:
            with Store.open(path) as store:
                rebuild(store)
            say("rebuilt")
        except StoreError as error:
            say(error.reason)


def erase(path: str) -> None:
    """Erase one event after another."""
    with Store.open(path) as store:
        say("open")
        while True:
            query = "SELECT n FROM event WHERE flags NOT LIKE '%withheld%' ORDER BY n LIMIT 1"
            row = store.connection.execute(query).fetchone()
            if row is None:
                return
            redact(store, [row[0]], actor="ada", reason="asked", clock=now)
            say(row[0])


def hold(path: str, seconds: str) -> None:
    """Hold the store's write lock."""
    with Store.open(path) as store:
        store.connection.execute("BEGIN IMMEDIATE")
        say("held")
        time.sleep(float(seconds))
        store.connection.execute("ROLLBACK")


def refuse(path: str, how: str, user: str = "") -> None:
    """Open the store (as ``user``, a number) and say why that is refused, or that it was not."""
    from storage import schema
    from storage.archive import Archive
    from storage.queries import records
    from storage.verify import verify

    assert schema, records  # loaded while the files they lie in can still be read
    if user:
        os.setgroups([])
        os.setgid(int(user))
        os.setuid(int(user))
    try:
        if how == "write":
            Store.open(path, create=True).close()
        elif how == "read":
            with Archive.open(path) as archive:
                say(len(archive.sessions().rows))
        else:
            say(verify(path).holds)
        say("fine")
    except StoreError as error:
        say(error.reason)


if __name__ == "__main__":
    if hasattr(os, "nice"):
        os.nice(5)
    {"take": take, "again": again, "erase": erase, "hold": hold, "refuse": refuse}[sys.argv[1]](*sys.argv[2:])
