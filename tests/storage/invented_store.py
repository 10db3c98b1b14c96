"""Stores filled by hand: rows straight into the tables, so that a query is tested without what fills them."""

from __future__ import annotations

import shutil
import struct
from collections.abc import Iterable, Sequence
from functools import cache
from hashlib import sha256
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

import zstandard

from affidavit.session.event import event_id, session_uid
from storage.numbers import number
from storage.store import Store


@cache
def _empty() -> Path:
    path = Path(mkdtemp(prefix="affidavit-test-")) / "empty.db"
    Store.open(str(path), create=True).close()
    return path


class Invented:
    """An empty store at a path, with a word for each kind of row. Columns not named get a plain value."""

    def __init__(self, folder: Path) -> None:
        self.path = str(folder / "invented.db")
        shutil.copy(_empty(), self.path)
        self.store = Store.open(self.path)
        self.connection = self.store.connection

    def close(self) -> None:
        self.store.close()

    def insert(self, table: str, rows: Iterable[dict[str, Any]]) -> None:
        rows = [{"told": 0, **row} for row in rows] if table == "lane" else list(rows)
        if not rows:
            return
        names = ", ".join(f'"{name}"' for name in rows[0])
        marks = ", ".join("?" * len(rows[0]))
        self.connection.execute("BEGIN")
        self.connection.executemany(
            f"INSERT INTO {table}({names}) VALUES({marks})", [tuple(row.values()) for row in rows]
        )
        self.connection.execute("COMMIT")

    def sessions(self, *rows: dict[str, Any]) -> None:
        self.insert("session", [session(**row) for row in rows])

    def events(self, *rows: dict[str, Any]) -> None:
        self.insert("event", [event(**row) for row in rows])

    def source(self, no: int = 1, **columns: Any) -> None:
        plain = {
            "no": no, "id": f"src{no}", "revision": 0, "key": b"k%d" % no, "path": f"/logs/{no}.jsonl",
            "format": "affidavit", "native": "n1", "lane": "", "session": 1, "cursor": 0, "line": 1, "sort": 0,
            "entries": 1, "last": no, "records": 0, "mapped": 0, "unknown": 0, "duplicates": 0, "unreadable": 0,
            "turn": 0,
        }  # fmt: skip
        self.insert("source", [{**plain, **columns}])

    def segment(
        self,
        entry: int,
        spans: Sequence[bytes],
        *,
        source: int = 1,
        start: int = 0,
        line: int = 1,
        salts: bytes | None = None,
        **columns: Any,
    ) -> None:
        whole = b"".join(spans)
        data = zstandard.ZstdCompressor().compress(whole)
        commits = b"".join(sha256(b"commit" + span).digest() for span in spans)
        plain = {
            "entry": entry, "source": source, "start": start, "size": len(whole), "line": line,
            "records": len(spans), "cuts": struct.pack(f"<{len(spans)}I", *map(len, spans)), "data": data,
            "digest": sha256(data).digest(), "salts": salts or b"\1" * 32 * len(spans), "commits": commits,
        }  # fmt: skip
        self.insert("segment", [{**plain, **columns}])


def session(no: int, **columns: Any) -> dict[str, Any]:
    native = columns.get("native", f"n{no}")
    return {
        "no": no, "uid": session_uid("affidavit", native), "format": "affidavit", "native": native,
        "title": f"Session {no}", "project": None, "cwd": None, "git_branch": None, "version": None, "timed": 1,
        "started": 1_000 * no, "ended": 1_000 * no + 500, "events": 0, "turns": 0, "lanes": 1, "branches": 1,
        "problems": 0, "unreadable": 0, "unknown": 0, "duplicates": 0, "models": "[]", "tokens": 0, "tokens_in": 0,
        "tokens_out": 0, "cache_read": 0, "cache_write": 0, "checked": None, "state": "{}", **columns,
    }  # fmt: skip


def event(n: int, **columns: Any) -> dict[str, Any]:
    return {
        "n": n, "id": event_id("affidavit", "n1", str(n), ""), "session": 1, "lane": 0, "turn": 0, "kind": "note",
        "actor": "agent", "at": columns.get("sort", n), "sort": n, "parent": None, "pair": None, "tool": None,
        "model": None, "summary": f"event {n}", "size": 7, "ok": None, "millis": None, "copies": 1, "inferred": 0,
        "problem": 0, "flags": "", **columns,
    }  # fmt: skip


__all__ = ["Invented", "event", "number", "session"]
