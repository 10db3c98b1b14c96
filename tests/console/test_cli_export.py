"""``affidavit export memories``: what passes the gate and nothing else, in forms that other tools read."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.console.cli_runner import Runner

GRAPH: list[dict[str, Any]] = [
    {
        "type": "entity",
        "name": "acme",
        "entityType": "Project",
        "observations": ["Uses a queue", "Has a web part"],
        "x": 7,
    },
    {"type": "relation", "from": "acme", "to": "queue", "relationType": "depends_on", "y": [1]},
]
CLAUDE = """---
name: test-command
description: How tests are run
metadata:
  type: project
  owner: someone
---

Tests run with `acme test`.
"""


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Runner:
    return Runner(monkeypatch, tmp_path)


def line(id: str, content: str, **fields: Any) -> dict[str, Any]:
    return {
        "type": "memory.candidate", "id": id, "content": content, "kind": "project_fact",
        "scope": {"level": "repo", "key": "acme/app"}, "confidence": "low", "createdBy": "model",
        "source": {"type": "explicit_user", "eventIds": ["e1"]}, "createdAt": "2026-05-14T10:00:00Z", **fields,
    }  # fmt: skip


def let_in(run: Runner, *ids: str) -> None:
    for id in ids:
        done = run("approve", id, "--as", "tester", "--reason", "seen", "--opened", "--json")
        assert done.code == 0, done.err


def record(run: Runner, *lines: dict[str, Any]) -> None:
    run.stdin = b"".join(json.dumps(one).encode() + b"\n" for one in lines)
    assert run("record", "--json").code == 0
    run.stdin = b""


def test_what_was_revoked_or_never_let_in_does_not_leave(run: Runner) -> None:
    record(run, line("a", "The api is in src/api"), line("b", "Docs are in docs"), line("c", "Logs are in logs"))
    let_in(run, "a", "b")
    told = run("export", "memories", "--to", "json", "--json").json
    assert {one["content"] for one in told["memories"]} == {"The api is in src/api", "Docs are in docs"}
    (gone,) = (one["id"] for one in told["memories"] if one["content"].startswith("Docs"))
    assert run("revoke", gone, "--as", "tester", "--reason", "wrong").code == 0
    told = run("export", "memories", "--to", "json", "--json").json
    assert ([one["content"] for one in told["memories"]], told["withheld"]) == (
        ["The api is in src/api"],
        {"revoked": 1},
    )
    for form in ("mcp", "agents-md"):
        done = run("export", "memories", "--to", form)
        assert done.code == 0
        assert "src/api" in done.out
        assert "Docs are" not in done.out
    assert len(run("gate-runs", "--json").json["gateRuns"]) == 4


def test_other_tools_stores_go_round_without_loss(run: Runner, tmp_path: Path) -> None:
    (tmp_path / "graph.jsonl").write_text("\n".join(json.dumps(one) for one in GRAPH))
    (tmp_path / "one.md").write_text(CLAUDE)
    assert run("import", str(tmp_path / "graph.jsonl"), str(tmp_path / "one.md")).code == 0
    found = run("candidates", "--json").json["candidates"]
    for one in found:
        done = run("rescope", one["id"], "--scope", "repo:acme/app", "--as", "tester", "--reason", "known")
        assert done.code == 0, done.err
    let_in(run, *(one["id"] for one in found))
    out = tmp_path / "out.jsonl"
    assert run("export", "memories", "--to", "mcp", "--out", str(out)).code == 0
    written = [json.loads(one) for one in out.read_text().split("\n")]
    assert [one for one in written if one.get("entityType") != "scope"] == GRAPH
    folder = tmp_path / "memory"
    assert run("export", "memories", "--to", "claude", "--out", str(folder)).code == 0
    text = (folder / "one.md").read_text()
    assert "metadata:\n  type: project\n  owner: someone\n" in text
    assert text.endswith("---\n\nTests run with `acme test`.\n")
    assert "(one.md)" in (folder / "MEMORY.md").read_text()
    again = run("export", "memories", "--to", "claude", "--out", str(folder))
    assert (again.code, "not empty" in again.err) == (2, True)


def test_a_patch_puts_a_section_into_a_rule_file_and_renews_it(
    run: Runner, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    rules = tmp_path / "AGENTS.md"
    rules.write_text("# Rules\n\nBe brief.")
    record(run, line("a", "The api is in src/api <!-- affidavit memories: end -->"), line("b", "Docs are in docs"))
    record(run, line("c", "The queue hung until the worker was started again", kind="task_experience"))
    let_in(run, "a", "c")
    for ids in (("b",), ()):
        done = run("export", "memories", "--to", "agents-md")
        subprocess.run(["git", "apply", "--unsafe-paths", "-"], input=done.out.encode(), check=True, cwd=tmp_path)
        text = rules.read_text()
        assert text.startswith("# Rules\n\nBe brief.\n\n<!-- affidavit memories: begin -->\n## Remembered\n")
        assert text.count("affidavit memories: end -->\n") == 1
        assert "worker was started" not in text
        let_in(run, *ids)
    assert "Docs are in docs" in rules.read_text()
    assert run("export", "memories", "--to", "agents-md").out == ""


def test_what_is_for_one_place_is_not_filled_from_two(run: Runner) -> None:
    record(
        run, line("a", "The api is in src/api"), line("b", "Docs are in docs", scope={"level": "repo", "key": "acme/b"})
    )
    let_in(run, "a", "b")
    refused = run("export", "memories", "--to", "agents-md")
    assert (refused.code, "repo:acme/b" in refused.err) == (2, True)
    done = run("export", "memories", "--to", "agents-md", "--scope", "repo:acme/b")
    assert ("Docs are" in done.out, "src/api" in done.out) == (True, False)
