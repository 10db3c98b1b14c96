"""Who saw a memory: visible, held back, trimmed, and what came after it was revoked."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from cli_runner import Runner
from snapshot_lines import line, rejected, selected, snapshot

CANDIDATE = {
    "type": "memory.candidate", "id": "c-1", "content": "The parser's tests run with pnpm test parser",
    "kind": "project_fact", "scope": {"level": "repo", "key": "acme/app"},
    "source": {"type": "explicit_user", "eventIds": ["e1"]}, "confidence": "medium", "status": "pending",
    "conflictKeys": [], "createdAt": "2026-05-14T10:00:00Z", "createdBy": "user",
}  # fmt: skip


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Runner:
    monkeypatch.setenv("AFFIDAVIT_STORE", str(tmp_path / "store.db"))
    return Runner(monkeypatch, tmp_path)


def record(run: Runner, *lines: bytes) -> None:
    run.stdin = b"".join(lines)
    assert run("record").code == 0


def approved(run: Runner) -> str:
    record(run, json.dumps(CANDIDATE).encode() + b"\n")
    done = run("approve", "c-1", "--reason", "seen in CI", "--json")
    assert done.code == 0, done.err
    (memory,) = run("memories", "--json").json["memories"]
    return str(memory["id"])


def kinds(found: dict[str, Any]) -> tuple[int, int, int, int]:
    return tuple(len(found[name]) for name in ("visible", "recalledOnly", "trimmed", "afterRevoke"))  # type: ignore[return-value]


def test_a_memory_that_reached_nobody(run: Runner) -> None:
    found = run("reach", f"memory/{approved(run)}", "--json").json
    assert kinds(found) == (0, 0, 0, 0)
    assert found["revokedAt"] is None


def test_what_it_reached_is_told_apart_and_a_dry_run_reaches_nobody(run: Runner) -> None:
    memory = approved(run)
    assert run("recall", "parser tests", "--scope", "repo:acme/app").code == 0
    run("recall", "parser tests", "--scope", "repo:acme/app", "--dry-run")
    assert run("recall", "parser tests", "--scope", "repo:other/app").code == 0
    shown = selected("memory#1", CANDIDATE["content"], candidateId=memory, sourceRef=f"memory/{memory}")
    cut = rejected(memory, "budget", "over_budget", sourceRef=f"memory/{memory}")
    record(run, line(snapshot("r-1", selectedItems=[shown])), line(snapshot("r-2", rejectedItems=[cut])))
    found = run("reach", f"memory/{memory}", "--json").json
    assert kinds(found)[0] == 2
    assert kinds(found)[2] == 1
    assert {one["address"].partition("/")[0] for one in found["visible"]} == {"gate", "snapshot"}
    assert [one["citation"] for one in found["visible"] if one["citation"]] == ["memory#1"]
    assert [one["reason"] for one in found["trimmed"]] == ["over_budget"]
    assert run("reach", f"memory/{memory}").code == 0


def test_what_saw_it_after_it_was_revoked_is_told_loudly(run: Runner) -> None:
    memory = approved(run)
    run("recall", "parser tests", "--scope", "repo:acme/app")
    assert run("revoke", memory, "--reason", "wrong").code == 0
    run("recall", "parser tests", "--scope", "repo:acme/app")
    found = run("reach", memory, "--json")
    assert found.code == 0
    assert [one["kind"] for one in found.json["afterRevoke"]] in ([], ["recalledOnly"])
    shown = selected("memory#1", CANDIDATE["content"], candidateId=memory)
    record(run, line(snapshot("r-late", selectedItems=[shown], createdAt="2100-01-01T00:00:00Z")))
    late = run("reach", memory, "--json")
    assert late.code == 1
    assert [one["address"] for one in late.json["afterRevoke"] if one["kind"] == "visible"]
    assert "after it was revoked" in run("reach", memory).out
