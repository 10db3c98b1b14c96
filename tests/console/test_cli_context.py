"""What the model saw, on the command line: a request, its derived snapshot, its replay."""

from __future__ import annotations

from pathlib import Path

import pytest
from cli_runner import Runner
from snapshot_lines import line, message, snapshot

from affidavit.proof.verdict import text_hash
from tests.storage import claude_fixtures as log


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Runner:
    monkeypatch.setenv("AFFIDAVIT_STORE", str(tmp_path / "store.db"))
    runner = Runner(monkeypatch, tmp_path)
    records = log.chain(
        log.person("Why does it fail?", "p1"),
        log.calls("Read", "t1", {"id": "m1"}, file_path="a.py"),
        log.result("def a(): ...", "t1"),
        log.says("a returns nothing.", id="m2"),
        log.person("And \x1b[31mb?", "p2"),
        log.says("b is fine.", id="m3"),
    )
    file = runner.file("log.jsonl", log.lines(records))
    assert runner("import", str(file)).code == 0
    return runner


def session(run: Runner) -> str:
    return str(run("sessions", "--json").json["sessions"][0]["id"])


def test_a_request_shows_every_text_with_trust_hash_and_address(run: Runner) -> None:
    shown = run("show", f"context/{session(run)}/2", "--json").json
    assert (shown["request"], shown["requests"], shown["turn"], shown["derived"]) == (2, 3, 1, True)
    assert [block["text"] for block in shown["blocks"]][::2] == ["Why does it fail?", "def a(): ..."]
    for block in shown["blocks"]:
        event = run("show", block["address"], "--json").json["events"][0]
        assert event["text"] == block["text"]
        assert block["hash"] == text_hash(block["text"])
    assert shown["notRecorded"] == ["system rules", "tool descriptions"]
    words = run("show", f"context/{session(run)}/3")
    assert "\x1b" not in words.out
    assert "? system rules: not recorded" in words.out


def test_what_a_read_put_before_the_model_is_a_derived_snapshot(run: Runner) -> None:
    (listed,) = run("snapshots", "--session", session(run), "--json").json["snapshots"]
    assert (listed["derived"], listed["candidateStats"]["recalled"]) == (True, None)
    assert (listed["candidateStats"]["selected"], listed["sources"]) == (1, ["Read"])
    shown = run("show", listed["address"], "--json").json
    assert [(one["visibleText"], one["verdict"]) for one in shown["selectedItems"]] == [
        ("def a(): ...", "hash_not_recorded")
    ]
    assert shown["rejected"] == "not recorded"
    assert run("snapshots", "--json").json["snapshots"] == []
    assert run("show", "snapshot/x0123456789abcdef").code == 2


def test_a_replay_reads_what_was_recorded_and_says_what_is_missing(run: Runner) -> None:
    replayed = run("replay", f"context/{session(run)}/1", "--json").json
    assert (replayed["result"], len(replayed["blocks"])) == ("partial", 1)
    assert replayed["missing"] == ["system rules: not recorded", "tool descriptions: not recorded"]
    turn = run("replay", f"turn/{session(run)}/1", "--json").json
    assert [one["request"] for one in turn["requests"]] == [1, 2]
    event = turn["requests"][1]["blocks"][-1]["address"]
    assert run("replay", event, "--json").json["request"] == 2
    assert run("replay", f"session/{session(run)}").code == 2
    missing = run("show", f"context/{session(run)}/4")
    assert missing.code == 2
    assert "which has 3 requests" in missing.err


def test_changing_the_store_after_a_snapshot_changes_nothing_in_replay(run: Runner) -> None:
    run.stdin = message() + line(snapshot())
    run("record")
    before = run("replay", f"context/{session(run)}/2", "--json").raw
    run.stdin = line(snapshot("retr-9", sessionId="s-9"))
    run("record")
    assert run("replay", f"context/{session(run)}/2", "--json").raw == before
