"""Laws of the folds: the same records give the same tables however they are split, grown, rebuilt or verified."""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from kept import assert_holds, assert_same, meaning, store_in, tables, take, write

from storage import importing, rebuild, refold
from storage.store import Store

names = st.sampled_from(["a", "b", "c", "d", "e", "", "a\ud800", "a\u27e8U+D800\u27e9", "a\0", "a#1"])
few = st.sampled_from(["a", "b", "c", "d"])
times = st.sampled_from(
    [None, "", "2026-03-02T09:00:00Z", "2026-03-02T09:00:05Z", "2026-03-02T18:30:00+09:00", "2026-03-02T09:00:00",
     "9999-12-31T23:59:59Z", "0001-01-01T00:00:00+14:00", "not a time", "\ud800"]
)  # fmt: skip
kinds = st.sampled_from(
    ["user.message", "user.message", "model.message", "tool.intent", "tool.intent", "tool.finished", "tool.finished",
     "permission.decision", "memory.write", "error", "note", "lifecycle", "nothing.known"]
)  # fmt: skip
tokens = st.fixed_dictionaries(
    {}, optional={key: st.sampled_from([0, 1, 7, 2**53, -1, "x", None]) for key in ("input", "output", "cacheRead")}
)
lines = st.fixed_dictionaries(
    {"type": st.just("session.event"), "kind": kinds, "session": st.sampled_from(["s1", "s1", "s2", "s\ud800", ""])},
    optional={
        "id": names,
        "parent": names,
        "lane": st.sampled_from(["", "x", "y", "z", "x\ud800"]),
        "spawns": st.sampled_from(["x", "y", "z", "x\ud800"]),
        "at": times,
        "text": st.sampled_from(
            [
                "",
                "hello",
                "2 failed, 1 passed in 0.1s",
                "=== 3 passed in 0.12s ===",
                "\ud800",
                "a\0b",
                "one\ntwo",
                "x" * 300,
            ]
        ),
        "turn": st.sampled_from(["t1", "t2", "t3", 4, "t\ud800"]),
        "call": few,
        "command": st.sampled_from(["pytest -q", "ls", "pnpm test && ls"]),
        "ok": st.booleans(),
        "millis": st.sampled_from([0, 5, 2**53, -1]),
        "message": few,
        "model": st.sampled_from(["m1", "m2", "m\ud800"]),
        "tokens": tokens,
        "title": names,
        "laneTitle": names,
        "actor": st.sampled_from(["user", "agent", "nobody"]),
    },
)
others = st.sampled_from(
    [
        b'{"type":"session.event"',
        b"nonsense",
        b"",
        b"7",
        b'{"type":"session.event","session":"s1","id":"a","id":"b","kind":"note"}',
        b'{"type":"artifact","session":"s1","text":"body","name":"n"}',
        b'{"type":"workflow-start","zzz":{}}',
        b'{"type":"session.event","session":"s1","kind":"note"}{"type":"session.event","session":"s1","kind":"note"}',
    ]
)


def encode(line: dict[str, Any] | bytes) -> bytes:
    return line if isinstance(line, bytes) else json.dumps(line).encode()


first = b"".join(
    b'{"type":"session.event","session":"s1","kind":"user.message","id":"start%d","text":"begin"}\n' % number
    for number in range(16)
)
"""Enough that a file is a log whatever follows."""

files = st.lists(st.builds(encode, lines) | st.builds(encode, lines) | others, max_size=14)


@pytest.fixture(scope="module")
def empty() -> Iterator[Path]:
    """An empty store to copy, made once."""
    folder = Path(tempfile.mkdtemp())
    store_in(folder).close()
    yield folder / "store.db"
    shutil.rmtree(folder)


def fresh(empty: Path, folder: Path, name: str) -> Store:
    shutil.copy(empty, folder / name)
    return store_in(folder, name)


@settings(max_examples=2_000 if os.environ.get("AFFIDAVIT_SOAK", "0") != "0" else 12)
@given(records=files, batch=st.integers(1, 5), stops=st.lists(st.integers(0, 400), min_size=5, max_size=5))
def test_no_split_changes_what_the_tables_say(empty: Path, records: list[bytes], batch: int, stops: list[int]) -> None:
    folder = Path(tempfile.mkdtemp())
    kept = importing.BATCH_RECORDS, refold.BATCH_RECORDS
    try:
        data = first + b"\n".join(records) + b"\n"
        log = write(folder, data)
        with fresh(empty, folder, "whole.db") as whole:
            take(whole, log)
            path = whole.path
        at_once = meaning(path)
        assert_holds(path)

        importing.BATCH_RECORDS = refold.BATCH_RECORDS = batch
        with fresh(empty, folder, "batches.db") as split:
            take(split, log)
        assert_same(at_once, meaning(split.path))
        assert_holds(split.path)
        live = tables(split.path)
        refold.BATCH_RECORDS = 1
        with store_in(folder, "batches.db") as split:
            rebuild.rebuild(split)
        assert_same(live, tables(split.path))

        log.unlink()
        with fresh(empty, folder, "grown.db") as grown:
            for stop in sorted(len(first) + stop for stop in stops):
                log.write_bytes(data[:stop])
                take(grown, log)
            log.write_bytes(data)
            take(grown, log)
            take(grown, log)
        assert_same(at_once, meaning(grown.path))
        assert_holds(grown.path)
    finally:
        importing.BATCH_RECORDS, refold.BATCH_RECORDS = kept
        shutil.rmtree(folder)
