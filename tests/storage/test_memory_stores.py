"""Memory stores of other tools: what they hold comes in as candidates nobody believes, each text once."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from kept import store_in, take

from storage.archive import Archive
from storage.queries.governed import GovernedFilter
from storage.readers.memory_stores import read
from storage.store import Store

AT = datetime(2026, 3, 2, tzinfo=UTC)
CLAUDE = """---
name: test-command
description: How tests are run
metadata:
  type: project
  owner: someone
---

Tests run with `acme test`.
"""
CODEX = """# Task Group: acme work

## User preferences

- keep answers short

### rollout_summary_files

- rollout_summaries/one.md (cwd=/src/acme)

## Failures and how to do differently

- the queue needs a restart after a schema change
"""
GRAPH = [
    {
        "type": "entity",
        "name": "acme",
        "entityType": "Project",
        "observations": ["Uses a queue", "Uses a queue"],
        "x": 7,
    },
    {"type": "relation", "from": "acme", "to": "queue", "relationType": "depends_on"},
]
MEM0 = {"results": [{"id": "m1", "memory": "Ada likes dark screens", "user_id": "ada", "categories": ["preferences"]}]}


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with store_in(tmp_path) as store:
        yield store


def written(folder: Path) -> Path:
    memory = folder / "projects" / "-src-acme" / "memory"
    memory.mkdir(parents=True)
    (memory / "test-command.md").write_text(CLAUDE)
    (memory / "MEMORY.md").write_text("- [test-command](test-command.md) — how\n")
    (folder / "raw_memories.md").write_text(CODEX)
    (folder / "graph.jsonl").write_text("\n".join(json.dumps(one) for one in GRAPH))
    (folder / "export.json").write_text(json.dumps(MEM0, indent=2))
    (folder / "README.md").write_text("# Acme\n\n- a list\n")
    return folder


def test_every_store_lands_as_pending_candidates_with_its_own_fields(store: Store, tmp_path: Path) -> None:
    report = take(store, written(tmp_path / "stores"))
    told = {file.path.rpartition("/")[2]: file.format for file in report.files if file.skipped is None}
    assert told == {
        "test-command.md": "claude-memory",
        "graph.jsonl": "mcp-memory",
        "export.json": "mem0",
        "MEMORY.md": "claude-memory",
        "raw_memories.md": "codex-memory",
    }
    with Archive.open(str(tmp_path / "store.db")) as archive:
        rows = archive.governed.candidates(GovernedFilter()).rows
        read = {one.content: one for row in rows if (one := archive.governed.candidate(row.id, row.version))}
    assert set(read) == {
        "Tests run with `acme test`.", "keep answers short", "the queue needs a restart after a schema change",
        "acme: Uses a queue", "acme depends on queue", "Ada likes dark screens",
    }  # fmt: skip
    states = {(row.status, row.confidence, row.authority, row.source) for row in rows}
    assert states == {("pending", "low", "hint", "agent_reflection")}
    claude = read["Tests run with `acme test`."]
    assert (claude.kind, str(claude.scope)) == ("project_fact", "repo:-src-acme")
    assert "owner: someone" in claude.document()["foreign"]["front"]
    assert read["acme: Uses a queue"].document()["foreign"]["entity"]["x"] == 7
    assert str(read["Ada likes dark screens"].scope) == "user:ada"
    assert read["the queue needs a restart after a schema change"].kind == "task_experience"


def test_copies_are_folded_within_a_store_and_when_it_is_read_again(store: Store, tmp_path: Path) -> None:
    folder = written(tmp_path / "stores")
    first = take(store, folder)
    assert first.total("duplicates") == 1
    assert any("1 copies folded" in (file.note or "") for file in first.files)
    (folder / "graph-copy.jsonl").write_bytes((folder / "graph.jsonl").read_bytes())
    again = take(store, folder)
    assert (again.total("mapped"), again.total("duplicates")) == (0, 10)


@pytest.mark.parametrize(
    "text", ["# Notes\n\n- a list\n", "---\nname: a\ntype: user\n---\nno description\n", "{}", "[]"]
)
def test_what_is_no_store_is_not_taken_for_one(text: str) -> None:
    assert read("/x/notes.md", text.encode(), AT) is None


@given(st.binary(max_size=300) | st.text(max_size=300).map(lambda text: (CLAUDE + text).encode()))
@settings(max_examples=60, deadline=None, derandomize=True)
def test_no_bytes_make_it_fail(whole: bytes) -> None:
    found = read("/x/MEMORY.md", whole, AT)
    assert found is None or all(line["confidence"] == "low" for line in found.lines)


@pytest.mark.parametrize(
    "deep", [b"[" * 100_000, b'{"results":' * 50_000, b'{"type":"entity","name":"a","observations":[[1]]}']
)
def test_deep_and_odd_json_is_no_memory(deep: bytes) -> None:
    found = read("/x/memory.jsonl", deep, AT)
    assert found is None or not found.lines
