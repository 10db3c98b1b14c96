"""The workspace in the ledger: one ``workspace.version`` entry for what a walk found changed.

The entry names, by salted commitments, a manifest (which files, from when on) and the new texts themselves: they are
payloads, proven and erasable like any other. The index tables are a function of these entries.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any, Final

import orjson

from affidavit.proof.commitment import SALT_SIZE
from storage.driver import Connection
from storage.folds.rows import Writer
from storage.ledger import Content, Draft, Ledger

TYPE: Final = "workspace.version"

MOST_TEXTS: Final = 150
"""Texts one entry names: with more it would not keep to the size of an entry."""

Random = Callable[[int], bytes]


@dataclass(slots=True)
class Root:
    """A folder that is indexed: its row, its opaque id and how far its entries are."""

    no: int
    id: str
    path: str
    entries: int
    last: int
    checked: int | None


@dataclass(slots=True)
class Change:
    """A file's new text: how the file was, since when it holds, and its commitment in hex."""

    path: str
    size: int
    mtime: int
    ctime: int
    since: int
    commit: str


@dataclass(slots=True)
class Manifest:
    """What one entry says. ``gone``: (path, until when it was there). ``head``: branch and commit, where they changed.

    ``at``: when it was found, UTC microseconds.
    """

    root: str
    at: int
    changes: list[Change] = field(default_factory=list)
    gone: list[tuple[str, int]] = field(default_factory=list)
    head: tuple[str | None, str | None] | None = None

    def __bool__(self) -> bool:
        return bool(self.changes or self.gone or self.head)

    def dump(self) -> bytes:
        """As its payload has it."""
        files = [[one.path, one.size, one.mtime, one.ctime, one.since, one.commit] for one in self.changes]
        said: dict[str, Any] = {"root": self.root, "at": self.at, "files": files, "gone": self.gone}
        return orjson.dumps(said if self.head is None else {**said, "head": self.head})

    @classmethod
    def load(cls, data: bytes) -> Manifest:
        """The same back. Raises ``ValueError``, ``KeyError`` or ``TypeError`` where it is none."""
        said = orjson.loads(data)
        changes = [Change(*one) for one in said["files"]]
        head = said.get("head")
        return cls(
            said["root"], said["at"], changes, [(path, until) for path, until in said["gone"]],
            (head[0], head[1]) if head else None,
        )  # fmt: skip


def micros(time: datetime) -> int:
    """UTC microseconds since 1970."""
    return (time.astimezone(UTC) - _EPOCH) // timedelta(microseconds=1)


_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)


def find_root(connection: Connection, path: str) -> Root | None:
    """The folder's row, if it was indexed before."""
    row = connection.execute(
        "SELECT no, id, path, entries, last, checked FROM ix_workspace_root WHERE path = ?", (path,)
    ).fetchone()
    return Root(*row) if row else None


def begin_root(connection: Connection, path: str, random: Random = os.urandom) -> Root:
    """The folder's row, made if there is none, in the caller's transaction."""
    found = find_root(connection, path)
    if found is not None:
        return found
    id = random(8).hex()
    no = connection.execute(
        "INSERT INTO ix_workspace_root(id, path, entries, last) VALUES(?, ?, 0, -1)", (id, path)
    ).lastrowid
    return Root(int(no), id, path, 0, -1, None)


def text_content(data: bytes, random: Random) -> Content:
    """A text as an entry's content, with a salt of its own."""
    return Content("text", "text/plain", data, random(SALT_SIZE))


def append(
    connection: Connection,
    ws: str,
    root: Root,
    manifest: Manifest,
    texts: list[Content],
    actor: str,
    time: datetime,
    random: Random,
) -> int:
    """Append the entry of a manifest, in the caller's transaction; gives its number."""
    ledger = Ledger(connection, ws)
    before = ""
    if root.entries:
        leaf = connection.execute("SELECT leaf FROM ledger_entry WHERE idx = ?", (root.last,)).fetchone()[0]
        before = leaf.hex()
    draft = Draft(
        f"{root.id}.{root.entries}",
        TYPE,
        root.id,
        root.entries,
        before,
        {"root": root.id, "files": len(manifest.changes), "gone": len(manifest.gone)},
        {"kind": "runtime", "id": actor, "key": ""},
        [Content("manifest", "application/json", manifest.dump(), random(SALT_SIZE)), *texts],
    )
    index, _ = ledger.append(draft, time)
    root.entries += 1
    root.last = index
    connection.execute(
        "UPDATE ix_workspace_root SET entries = ?, last = ? WHERE no = ?", (root.entries, index, root.no)
    )
    Writer(connection).folded(0, ledger.size())
    return index
