"""Makes the demo: a store with the sample sessions, and a copy of it in which somebody changed one answer.

Both files are the same, byte for byte of what they hold, wherever and whenever they are made: the clock stands at
a fixed hour, chance comes from a seed, and the logs bear the paths of the invented person who wrote them.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from io import BytesIO
from pathlib import Path
from random import Random

from sample_sessions.stories import STORIES, candidates, retrievals
from sample_sessions.stories.changed_the_default import SESSION as BAD_FIX
from sample_sessions.stories.harness import HOME, RULES

PROJECTS = f"{HOME}/.claude/projects"
STORE = "demo.db"
TAMPERED = "demo-tampered.db"

SAID = "No. I opened `src/auth/session.ts`"
CLAIMED = "Yes I opened `src/auth/session.ts`"
"""The answer to "Did you read it?", as it was given and as the tampered copy has it: as long as before, so that no
length betrays it."""


@dataclass(frozen=True)
class DemoSession:
    """One of the sample sessions in the store. ``id`` as in its address ``session/ID``."""

    id: str
    title: str


@dataclass(frozen=True)
class DemoResult:
    """Where the demo is. ``tampered``: address of the event whose record was changed in ``tampered_store``."""

    store: str
    sessions: tuple[DemoSession, ...]
    tampered_store: str
    tampered: str


def steady_clock(start: datetime = datetime(2026, 5, 21, 9, 0, tzinfo=UTC)) -> Callable[[], datetime]:
    """A clock that is a millisecond further each time it is looked at."""
    now = start

    def look() -> datetime:
        nonlocal now
        now += timedelta(milliseconds=1)
        return now

    return look


def build(
    folder: str | os.PathLike[str],
    *,
    clock: Callable[[], datetime] | None = None,
    random: Callable[[int], bytes] | None = None,
) -> DemoResult:
    """The demo in ``folder``, made if it is not there or was made from other stories. Takes about a second."""
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    store, tampered = folder / STORE, folder / TAMPERED
    mark = folder / "demo.made-from"
    told = fingerprint()
    kept = mark.read_text("ascii", "replace") if mark.exists() else ""
    if not (kept == told and store.exists() and tampered.exists()):
        with tempfile.TemporaryDirectory(prefix="making-", dir=folder) as made:
            fill(Path(made) / STORE, clock or steady_clock(), random or Random(20260521).randbytes)
            shutil.copy(Path(made) / STORE, Path(made) / TAMPERED)
            tamper(Path(made) / TAMPERED)
            for name in (STORE, TAMPERED):
                put(Path(made) / name, folder / name)
        mark.write_text(told, "ascii")
    return look(store, tampered)


def fingerprint() -> str:
    """What the demo is made from: another text when a story or the store's shape has changed."""
    from storage.store import FOLD_VERSION, SCHEMA_VERSION

    digest = hashlib.sha256(f"{SCHEMA_VERSION} {FOLD_VERSION}".encode())
    for story in STORIES.values():
        for path, text in story().items():
            digest.update(f"{path}\0{text}\0".encode())
    digest.update(retrievals.lines().encode())
    digest.update(candidates.lines().encode())
    for path, text in RULES.items():
        digest.update(f"{path}\0{text}\0".encode())
    return digest.hexdigest()


def fill(path: Path, clock: Callable[[], datetime], random: Callable[[int], bytes]) -> None:
    """A new store with every log of every story and the rule files of their project, each under the path it would have
    had."""
    from storage.importing import Importer
    from storage.store import Store

    with Store.open(str(path), random=random, create=True) as store:
        for story in STORIES.values():
            for name, text in story().items():
                if name.endswith(".jsonl"):
                    importer = Importer(store, clock=clock, random=random)
                    importer.stream(BytesIO(text.encode()), name=f"{PROJECTS}/{name}")
        searched = Importer(store, clock=clock, random=random)
        searched.stream(BytesIO(retrievals.lines().encode()), "affidavit", f"{HOME}/retrievals.jsonl")
        proposed = Importer(store, clock=clock, random=random)
        proposed.stream(BytesIO(candidates.lines().encode()), "affidavit", f"{HOME}/candidates.jsonl")
        for rule, text in RULES.items():
            Importer(store, clock=clock, random=random).stream(BytesIO(text.encode()), name=rule)


def tamper(path: Path) -> None:
    """Changes one recorded answer as somebody would who knows the tables, and leaves every trigger as it was."""
    import zstandard

    from storage import driver
    from storage.segments import spans_of

    connection = driver.connect_writer(str(path))
    triggers = connection.execute("SELECT name, sql FROM sqlite_schema WHERE type = 'trigger'").fetchall()
    connection.execute("BEGIN IMMEDIATE")
    for name, _ in triggers:
        connection.execute(f'DROP TRIGGER "{name}"')
    changed = 0
    for entry, data, cuts, size in connection.execute("SELECT entry, data, cuts, size FROM segment").fetchall():
        whole = b"".join(spans_of(data, cuts, size))
        if SAID.encode() in whole:
            forged = zstandard.ZstdCompressor(level=3, write_checksum=True).compress(
                whole.replace(SAID.encode(), CLAIMED.encode())
            )
            connection.execute(
                "UPDATE segment SET data = ?, digest = ? WHERE entry = ?",
                (forged, hashlib.sha256(forged).digest(), entry),
            )
            changed += 1
    connection.execute("UPDATE event SET summary = replace(summary, ?, ?)", (SAID, CLAIMED))
    for _, sql in triggers:
        connection.execute(sql)
    connection.execute("COMMIT")
    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    connection.close()
    assert changed == 1, "the answer stands in one segment"


def put(made: Path, place: Path) -> None:
    """Moves a finished store to its place; what SQLite kept beside an older one does not belong to it."""
    for beside in ("-wal", "-shm", "-journal"):
        Path(f"{place}{beside}").unlink(missing_ok=True)
    os.replace(made, place)


def look(store: Path, tampered: Path) -> DemoResult:
    """What the demo's stores hold."""
    from affidavit.session.event import event_hex
    from storage.store import open_reader

    connection = open_reader(str(store))
    try:
        rows = connection.execute("SELECT uid, native, title FROM session ORDER BY started").fetchall()
        ids = {native: uid for uid, native, _ in rows}
        (event,) = connection.execute("SELECT id FROM event WHERE summary LIKE ?", (SAID + "%",)).fetchone()
    finally:
        connection.close()
    address = f"session/{ids[BAD_FIX]}#{event_hex(event)}"
    sessions = tuple(DemoSession(uid, title) for uid, _, title in rows)
    return DemoResult(str(store), sessions, str(tampered), address)
