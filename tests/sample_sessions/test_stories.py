"""The sample sessions have the shape of real logs and tell what they are meant to tell."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

from sample_sessions.stories import STORIES
from sample_sessions.stories.harness import SESSION_TS

LOGS = {path: text for story in STORIES.values() for path, text in story().items() if path.endswith(".jsonl")}
CRASHED = next(path for path, text in LOGS.items() if not text.endswith("\n"))


def records(path: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in LOGS[path].split("\n")[:-1]]


def blocks(path: str, kind: str) -> list[dict[str, Any]]:
    found = []
    for record in records(path):
        content = record.get("message", {}).get("content")
        if isinstance(content, list):
            found += [block for block in content if block["type"] == kind]
    return found


def test_a_story_is_the_same_bytes_every_time() -> None:
    for story in STORIES.values():
        assert story() == story()


def test_one_log_ends_in_a_line_cut_by_a_crash_and_no_other() -> None:
    assert [path for path, text in LOGS.items() if not text.endswith("\n")] == [CRASHED]
    tail = LOGS[CRASHED].rpartition("\n")[2]
    assert tail.startswith('{"parentUuid"')
    with pytest.raises(json.JSONDecodeError):
        json.loads(tail)


@pytest.mark.parametrize("path", LOGS)
def test_ids_are_given_once_and_every_parent_stands_before_its_child(path: str) -> None:
    seen: set[str] = set()
    for record in records(path):
        if "uuid" in record:
            assert record["uuid"] not in seen
            assert record["parentUuid"] is None or record["parentUuid"] in seen
            seen.add(record["uuid"])
    assert len(seen) > 3


@pytest.mark.parametrize("path", LOGS)
def test_every_result_answers_a_call_and_only_a_crash_leaves_a_call_open(path: str) -> None:
    calls = [block["id"] for block in blocks(path, "tool_use")]
    answered = [block["tool_use_id"] for block in blocks(path, "tool_result")]
    assert sorted(calls) == sorted(answered)


@pytest.mark.parametrize("path", LOGS)
def test_time_never_runs_backwards_in_a_log(path: str) -> None:
    times = [record["timestamp"] for record in records(path) if "timestamp" in record]
    assert times == sorted(times)
    assert all(time.startswith("2026-05-") and time.endswith("Z") for time in times)


@pytest.mark.parametrize("path", LOGS)
def test_the_last_record_of_a_message_carries_the_largest_token_count(path: str) -> None:
    counts: dict[str, list[int]] = {}
    for record in records(path):
        if record["type"] == "assistant":
            counts.setdefault(record["message"]["id"], []).append(record["message"]["usage"]["output_tokens"])
    assert counts
    for figures in counts.values():
        assert figures[-1] == max(figures)


def test_the_good_story_never_changes_production_and_ends_with_passing_tests() -> None:
    path = next(path for path, text in LOGS.items() if "Fix the failing role test" in text)
    results = {block["tool_use_id"]: block for block in blocks(path, "tool_result")}
    edits = [block for block in blocks(path, "tool_use") if block["name"] == "Edit"]
    refused = [block for block in edits if results[block["id"]]["is_error"]]
    assert [block["input"]["file_path"].rpartition("/")[2] for block in refused] == ["session.ts"]
    done = [block for block in edits if block not in refused]
    assert [block["input"]["file_path"].rpartition("/")[2] for block in done] == ["session.fixture.ts"]
    tests = [block for block in blocks(path, "tool_use") if "pnpm test" in block["input"].get("command", "")]
    assert [results[block["id"]]["is_error"] for block in tests] == [True, False, False]


def test_the_bad_story_changes_line_42_before_the_rule_was_read() -> None:
    path = next(path for path, text in LOGS.items() if "Make the role test green" in text)
    uses = blocks(path, "tool_use")
    edit = next(n for n, block in enumerate(uses) if block["name"] == "Edit")
    rule = next(n for n, block in enumerate(uses) if "docs/testing.md" in block["input"].get("file_path", ""))
    assert edit < rule
    assert SESSION_TS.splitlines()[41] == uses[edit]["input"]["old_string"]


def test_the_long_story_has_helpers_a_way_taken_back_a_full_context_and_a_busy_server() -> None:
    main = records(CRASHED)
    helpers = {path.rpartition("/agent-")[2][:-6] for path in LOGS if "/subagents/" in path}
    assert len(helpers) == 2
    spawned = {
        record["toolUseResult"]["agentId"]
        for path in LOGS
        for record in records(path)
        if isinstance(record.get("toolUseResult"), dict) and "agentId" in record["toolUseResult"]
    }
    assert spawned == helpers
    subtypes = [record["subtype"] for record in main if record["type"] == "system"]
    assert "compact_boundary" in subtypes
    assert "api_error" in subtypes
    human = [record for record in main if record.get("origin") == {"kind": "human"}]
    before = {record["uuid"]: n for n, record in enumerate(main) if "uuid" in record}
    rewinds = [r for r in human if r["parentUuid"] and before[r["parentUuid"]] < before[r["uuid"]] - 4]
    assert len(rewinds) == 1


def test_every_name_is_plainly_invented() -> None:
    text = "\n".join(LOGS.values())
    hosts = set(re.findall(r"https?://([^/\s\"]+)|@([a-z.]+\.[a-z]{2,})", text))
    assert {name for pair in hosts for name in pair if name} <= {"git.example.com", "example.com"}
    assert set(re.findall(r"/home/(\w+)", text)) == {"robin"}
