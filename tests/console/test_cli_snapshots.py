"""Snapshots on the command line: recorded, listed, filtered, shown whole, and held against their hashes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from cli_runner import Done, Runner
from snapshot_lines import CODE, RULE, line, message, rejected, selected, snapshot

from affidavit.proof.verdict import text_hash


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Runner:
    monkeypatch.setenv("AFFIDAVIT_STORE", str(tmp_path / "store.db"))
    return Runner(monkeypatch, tmp_path)


def record(run: Runner, *lines: bytes) -> Done:
    run.stdin = b"".join(lines)
    done = run("record", "--json")
    assert done.code == 0, done.err + done.out
    return done


def test_a_snapshot_is_recorded_listed_and_shown_as_it_was_written(run: Runner) -> None:
    written = snapshot()
    done = record(run, message(), line(written))
    assert (done.json["sessions"], done.json["events"], done.json["mapped"]) == (1, 2, 2)
    (listed,) = run("snapshots", "--json").json["snapshots"]
    assert (listed["id"], listed["purpose"], listed["at"]) == ("retr-1", "fix-test", "2026-05-14T10:02:18.000Z")
    assert listed["candidateStats"] == {
        "recalled": 4, "filtered": 1, "rankedOut": 0, "trimmed": 1, "selected": 2, "redacted": 0,
    }  # fmt: skip
    assert (listed["verdict"], listed["derived"], listed["question"]) == ("match", False, "role mock")
    assert listed["session"] == run("sessions", "--json").json["sessions"][0]["id"]
    shown = run("show", "snapshot/retr-1", "--json").json
    assert [one["visibleText"] for one in shown["selectedItems"]] == [RULE, CODE]
    assert [one["verdict"] for one in shown["selectedItems"]] == ["match", "match"]
    assert [(one["candidateId"], one["stage"], one["reason"]) for one in shown["rejectedItems"]] == [
        ("c-old", "governance", "stale"), ("c-long", "budget", "over_budget"),
    ]  # fmt: skip
    assert (shown["rejectedItems"][0]["score"]["total"], shown["rejectedItems"][0]["score"]["semantic"]) == (0.3, None)
    for key in ("plan", "scope", "budget", "contextProjection", "modelRequestId"):
        assert shown[key] == written[key]
    assert run("show", listed["address"], "--raw").raw == line(written).rstrip()
    assert run("verify").code == 0


def test_its_fields_may_stand_beside_its_type(run: Runner) -> None:
    record(run, line(snapshot(), nested=False))
    assert run("show", "snapshot/retr-1", "--json").json["plan"] == snapshot()["plan"]


def test_snapshots_without_a_type_are_known_by_what_they_hold(run: Runner) -> None:
    run.file("snapshots.jsonl", json.dumps(snapshot()).encode() + b"\n")
    done = run("import", str(run.folder / "snapshots.jsonl"), "--json")
    assert (done.code, done.json["mapped"], done.json["files"][0]["format"]) == (0, 1, "affidavit")
    assert len(run("snapshots", "--json").json["snapshots"]) == 1


def test_one_of_no_session_makes_none(run: Runner) -> None:
    record(run, line(snapshot(sessionId=None)))
    assert run("sessions", "--json").json["sessions"] == []
    (listed,) = run("snapshots", "--json").json["snapshots"]
    assert listed["session"] is None
    assert run("show", "snapshot/retr-1", "--json").code == 0
    assert run("verify").code == 0
    assert run("rebuild").code == 0
    assert run("verify").code == 0


def test_an_event_says_what_was_found_and_seen_and_search_finds_it(run: Runner) -> None:
    record(run, message(), line(snapshot()))
    (hit,) = run("search", "mocks state", "--json").json["hits"]
    assert hit["kind"] == "retrieval.snapshot.created"
    event = run("show", hit["address"], "--json").json["events"][0]
    assert event["summary"] == "4 found → 2 visible [rule#1] [code#2]"
    assert event["turn"] == 1
    assert event["refs"] == ["docs/testing.md:4-9", "src/role.ts"]


@pytest.mark.parametrize(
    ("text", "hash", "verdict", "code"),
    [
        (RULE, text_hash(RULE), "match", 0),
        (RULE + "\r\n", text_hash(RULE + "\n"), "line_ending_or_unicode", 0),
        (RULE + " Or not.", text_hash(RULE), "differs", 1),
        (None, text_hash(RULE), "text_missing", 0),
        (RULE, None, "hash_not_recorded", 0),
        (RULE, "crc32:0", "unknown_algorithm", 0),
    ],
)
def test_every_visible_text_is_held_against_its_hash(
    run: Runner, text: str | None, hash: str | None, verdict: str, code: int
) -> None:
    item = selected("rule#1", "", visibleText=text, visibleTextHash=hash)
    record(run, message(), line(snapshot(selectedItems=[item])))
    done = run("verify", "snapshot/retr-1", "--json")
    assert done.code == code
    (checked,) = done.json["items"]
    assert (checked["citationId"], checked["verdict"], checked["expected"]) == ("rule#1", verdict, hash)
    assert checked["actual"] == (None if text is None else text_hash(text))
    assert [one["class"] for one in done.json["failures"]] == ["visible_text"] * code
    assert run("snapshots", "--verdict", verdict, "--json").json["snapshots"][0]["id"] == "retr-1"
    assert run("show", "snapshot/retr-1").code == code


def test_the_whole_block_is_held_against_its_hash_where_it_was_recorded(run: Runner) -> None:
    block = f"[rule#1] {RULE}\n"
    item = selected("rule#1", RULE, textRef={"payload": text_hash(block), "from": 9, "to": 9 + len(RULE)})
    del item["visibleText"]
    said = {"visibleTextHash": text_hash(block), "citationMap": {}}
    record(run, line(snapshot(selectedItems=[item], contextProjection=said), block=block))
    done = run("verify", "snapshot/retr-1", "--json")
    assert [(one["citationId"], one["verdict"]) for one in done.json["items"]] == [("rule#1", "match"), (None, "match")]
    shown = run("show", "snapshot/retr-1", "--json").json
    assert (shown["selectedItems"][0]["visibleText"], shown["block"]["text"]) == (RULE, block)


def test_a_citation_has_an_address(run: Runner) -> None:
    record(run, line(snapshot()))
    for address in ("snapshot/retr-1/rule#1", "snapshot/retr-1[rule#1]"):
        shown = run("show", address, "--json").json
        assert (shown["visibleText"], shown["sourceRef"]) == (RULE, "docs/testing.md:4-9")
    assert [one["citationId"] for one in run("verify", "snapshot/retr-1/code#2", "--json").json["items"]] == ["code#2"]
    missing = run("show", "snapshot/retr-1/rule#9")
    assert missing.code == 2
    assert "rule#1, code#2" in missing.err


def test_the_list_is_filtered(run: Runner) -> None:
    other = snapshot(
        "retr-2",
        sessionId="s-2",
        createdAt="2026-05-15T08:00:00Z",
        scope={**snapshot()["scope"], "purpose": "review-risk"},
        rejectedItems=[rejected("x", "scope", "out_of_branch", source="workspace-index")],
    )
    record(run, line(snapshot()), line(other))

    def ids(*words: str) -> list[str]:
        return [one["id"] for one in run("snapshots", *words, "--json").json["snapshots"]]

    assert ids() == ["retr-2", "retr-1"]
    session = run("show", "snapshot/retr-2", "--json").json["session"]
    for words in (
        ["--session", session], ["--purpose", "review-risk"], ["--source", "workspace-index"],
        ["--reason", "out_of_branch"], ["--filter", "TR-2"], ["--since", "2026-05-15"], ["--limit", "1"],
    ):  # fmt: skip
        assert ids(*words) == ["retr-2"], words
    assert ids("--until", "2026-05-15") == ["retr-1"]
    assert run("show", "snapshot/retr").code == 2
    assert run("show", "snapshot/nothing").code == 2


@pytest.mark.parametrize(
    "broken",
    [
        {"candidateStats": []}, {"selectedItems": [{"candidateId": "c"}]}, {"createdAt": None}, {"scope": {}},
        {"budget": {"maxTokens": -1, "estimatedTokens": 0, "trimmingPolicy": ""}},
    ],
)  # fmt: skip
def test_record_takes_no_snapshot_that_is_none(run: Runner, broken: dict[str, Any]) -> None:
    run.stdin = line(snapshot(**broken))
    done = run("record", "--json")
    assert done.code in (2, 3)
    assert done.json["unreadable"] == 1


def test_import_takes_what_there_is_of_a_foreign_one(run: Runner) -> None:
    foreign = {"selectedItems": [{"citationId": "x", "visibleText": "kept"}], "candidateStats": {"recalled": 9}}
    run.file("foreign.jsonl", json.dumps({"type": "retrieval.snapshot", "session": "f", **foreign}).encode() + b"\n")
    assert run("import", str(run.folder / "foreign.jsonl")).code == 0
    (listed,) = run("snapshots", "--json").json["snapshots"]
    assert listed["candidateStats"]["recalled"] == 9
    assert listed["candidateStats"]["filtered"] is None
    assert listed["at"] is None
    assert listed["verdict"] == "hash_not_recorded"
    text = run("show", listed["address"])
    assert "what was turned away is not recorded by name" in text.out
    assert "not recorded" in text.out


def test_text_from_a_snapshot_does_nothing_to_the_terminal(run: Runner) -> None:
    evil = "\x1b]52;c;AAAA\x07[red]x[/red]"
    record(run, line(snapshot(selectedItems=[selected(f"rule#1{evil}", evil, sourceRef=evil)])))
    for words in (["snapshots"], ["show", "snapshot/retr-1"], ["verify", "snapshot/retr-1"]):
        assert "\x1b" not in run(*words).out
