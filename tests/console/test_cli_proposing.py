"""``affidavit propose --from`` and ``--all``: recorded sessions in, candidates out, none twice."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.console.cli_runner import Runner


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Runner:
    return Runner(monkeypatch, tmp_path)


def session(name: str) -> list[dict[str, Any]]:
    head = {"type": "session.event", "session": name, "at": "2026-05-14T10:00:00Z"}
    return [
        {**head, "id": "e1", "kind": "user.message", "actor": "user", "text": "Always run the linter before a commit."},
        {
            **head,
            "id": "e2",
            "kind": "tool.intent",
            "actor": "agent",
            "tool": "shell",
            "call": "c1",
            "command": "make test",
        },
        {**head, "id": "e3", "kind": "tool.finished", "actor": "tool", "call": "c1", "ok": True, "text": "12 passed"},
    ]


def record(run: Runner, *names: str) -> None:
    lines = [line for name in names for line in session(name)]
    run.stdin = b"".join(json.dumps(line).encode() + b"\n" for line in lines)
    done = run("record", "--json")
    assert done.code == 0, done.err
    run.stdin = b""


def test_sessions_propose_pending_candidates_with_their_evidence(run: Runner) -> None:
    record(run, "s1", "s2")
    dry = run("propose", "--from", "session/s1", "--dry-run", "--json").json
    assert sorted(one["rule"] for one in dry["proposed"]) == ["command-observed", "explicit-user-statement"]
    assert run("candidates", "--json").json["candidates"] == []
    told = run("propose", "--all", "--json").json
    assert (told["known"], told["recorded"], len(told["proposed"])) == (0, True, 2)
    rules = {one["rule"]: one for one in told["proposed"]}
    assert rules["seen-in-sessions"]["source"]["type"] == "repeated_pattern"
    assert len(rules["seen-in-sessions"]["source"]["eventIds"]) == 2
    listed = run("candidates", "--json").json["candidates"]
    assert {(one["status"], one["confidence"], one["authorityAsked"]) for one in listed} == {("pending", "low", "hint")}
    for one in listed:
        findings = {finding["code"] for finding in run("check", one["id"], "--json").json["findings"]}
        assert not findings & {"no_evidence", "event_missing"}
    assert run("propose", "--all", "--json").json["known"] == 2


def test_what_was_decided_about_is_not_proposed_again(run: Runner) -> None:
    record(run, "s1")
    for one in run("propose", "--all", "--json").json["proposed"]:
        assert run("reject", one["id"], "--as", "tester", "--reason", "no").code == 0
    record(run, "s2")
    again = run("propose", "--all", "--json").json
    assert (again["proposed"], again["known"]) == ([], 2)
    assert len(run("candidates", "--json").json["candidates"]) == 2


@pytest.mark.parametrize(
    "words", [("--all", "text"), ("--all", "--from", "session/s1"), ("text", "--dry-run"), ("text",), ()]
)
def test_what_does_not_go_together_is_refused(run: Runner, words: tuple[str, ...]) -> None:
    record(run, "s1")
    assert run("propose", *words).code == 2
