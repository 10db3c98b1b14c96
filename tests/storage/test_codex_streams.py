"""The two streams of Codex's logs: what stands in both is told once, what stands in one is told."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import codex_fixtures as log
import pytest
import zstandard
from kept import assert_holds, assert_same, dicts, events, imported, meaning, rows, store_in, take, write

from storage import importing
from storage.redact import redact


def shown(path: str) -> list[tuple[str, str]]:
    return [(row["kind"], row["summary"]) for row in events(path)]


def both() -> list[dict[str, Any]]:
    """A person and the agent, each heard twice: in both orders, and the same words more than once."""
    return [
        log.opened(),
        log.said("user", 1, "Go on"),
        log.notice("user_message", 1, message="Go on"),
        log.notice("agent_message", 2, message="Done"),
        log.said("assistant", 2, "Done"),
        log.said("user", 3, "Go on"),
        log.notice("user_message", 3, message="Go on"),
        log.notice("agent_reasoning", 4, text="One"),
        log.notice("agent_reasoning", 4, text="Two"),
        log.item("reasoning", 4, summary=[{"text": "One"}, {"text": "Two"}]),
        log.notice("agent_message", 5, message="Done"),
        log.said("assistant", 5, "Done"),
        log.notice("agent_message", 6, message="Only shown"),
        log.said("assistant", 7, "Only sent"),
    ]


TOLD = [
    ("user.message", "Go on"), ("model.message", "Done"), ("user.message", "Go on"), ("model.reasoning", "One"),
    ("model.reasoning", "Two"), ("model.message", "Done"), ("model.message", "Only shown"),
    ("model.message", "Only sent"),
]  # fmt: skip


@pytest.mark.parametrize("batch", [1, 2, 3, 5, 4_000])
def test_what_stands_in_both_streams_is_told_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, batch: int) -> None:
    monkeypatch.setattr(importing, "BATCH_RECORDS", batch)
    path, report = imported(tmp_path, log.written(both()), log.NAME)
    assert shown(path)[1:] == TOLD
    assert report.total("mapped") == len(both())
    assert dicts(path, "SELECT turns, duplicates FROM session") == [{"turns": 2, "duplicates": 0}]
    assert {row["copies"] for row in events(path)} == {1}
    assert_holds(path)
    assert rows(path, "SELECT count(*) FROM copied") == [(5,)], "where it is said again is known"


def test_a_log_of_notices_alone_is_told_whole(tmp_path: Path) -> None:
    records = [
        log.opened(),
        log.notice("user_message", 1, message="Fix the role test", images=[]),
        log.notice("user_message", 1, message="<environment_context>x</environment_context>"),
        log.notice("agent_reasoning", 2, text="Look first"),
        log.notice(
            "exec_command_end", 3, call_id="c1", command=["bash", "-lc", "pytest -q"], exit_code=1,
            aggregated_output="1 failed, 3 passed in 0.4s", duration={"secs": 1, "nanos": 500_000_000},
        ),
        log.notice("patch_apply_end", 4, call_id="c2", success=True, stdout="Updated", changes={"a.py": {}}),
        log.notice(
            "mcp_tool_call_end", 5, call_id="c3",
            invocation={"server": "acme", "tool": "find", "arguments": {"q": "x"}},
            result={"Err": "not there"}, duration={"secs": 0, "nanos": 4_000_000},
        ),
        log.notice("web_search_end", 6, call_id="w", query="sqlite"),
        log.notice("context_compacted", 7),
        log.notice("agent_message", 8, message="Done"),
    ]  # fmt: skip
    path, _ = imported(tmp_path, log.written(records), log.NAME)
    assert shown(path)[1:] == [
        ("user.message", "Fix the role test"),
        ("context.injected", "<environment_context>x</environment_context>"),
        ("model.reasoning", "Look first"),
        ("tool.intent", "pytest -q"),
        ("verification", "1 failed, 3 passed in 0.4s"),
        ("tool.intent", "a.py"),
        ("tool.finished", "Updated"),
        ("tool.intent", '{"q":"x"}'),
        ("tool.finished", "not there"),
        ("retrieval.request", "sqlite"),
        ("compaction", "context compacted"),
        ("model.message", "Done"),
    ]
    results = [row for row in events(path) if row["kind"] in ("tool.finished", "verification")]
    assert [(row["tool"], row["ok"], row["millis"], row["pair"] is not None) for row in results] == [
        ("exec_command", 0, 1500, True), ("apply_patch", 1, 0, True), ("acme.find", 0, 4, True),
    ]  # fmt: skip
    assert dicts(path, "SELECT title, turns, checked FROM session") == [
        {"title": "Fix the role test", "turns": 1, "checked": "failed"}
    ]
    assert_holds(path)


def test_items_of_the_newest_logs_are_told_where_nothing_else_tells_them(tmp_path: Path) -> None:
    def done(second: int, **item: Any) -> dict[str, Any]:
        return log.notice("item_completed", second, thread_id=log.THREAD, turn_id="t", item=item)

    records = [
        log.opened(),
        done(1, type="UserMessage", id="i1", content=[{"type": "text", "text": "Fix it"}]),
        done(2, type="AgentMessage", id="i2", content=[{"type": "Text", "text": "Done"}]),
        done(3, type="Reasoning", id="i3", summary_text=[], raw_content=[]),
        done(4, type="Reasoning", id="i4", summary_text=["Think"], raw_content=[]),
        done(5, type="CommandExecution", id="c1", command=["bash", "-lc", "ls"], exit_code=0, aggregated_output="a.py"),
        done(6, type="McpToolCall", id="c2", server="acme", tool="find", arguments={}, status="completed",
             result={"content": [{"type": "text", "text": "found"}], "isError": False}),
        log.called(7, "c3", cmd="mkdir a"),
        done(8, type="CommandExecution", id="c3", command=["mkdir", "a"], exit_code=0, aggregated_output="ok"),
        log.gave(8, "c3", "ok"),
        done(9, type="Plan", id="i9", text="First this"),
    ]  # fmt: skip
    path, _ = imported(tmp_path, log.written(records), log.NAME)
    assert shown(path)[1:] == [
        ("user.message", "Fix it"),
        ("model.message", "Done"),
        ("model.reasoning", "Think"),
        ("tool.intent", "ls"),
        ("tool.finished", "a.py"),
        ("tool.intent", "acme.find"),
        ("tool.finished", "found"),
        ("tool.intent", "mkdir a"),
        ("tool.finished", "ok"),
        ("lifecycle", "Plan: First this"),
    ]


def test_snapshots_of_a_log_are_one_in_any_order(tmp_path: Path) -> None:
    parts = {f"{count}.jsonl": log.written(both()[:count]) for count in (4, 8, 9, 12, 14)}
    logs = tmp_path / "logs"
    write(logs, parts)
    told = []
    for seed in range(6):
        with store_in(tmp_path, f"{seed}.db") as store:
            for name in random.Random(seed).sample(sorted(parts), len(parts)):
                take(store, logs / name)
            assert shown(store.path)[1:] == TOLD
            assert_holds(store.path)
            found = meaning(store.path)
            told.append({name: rows for name, rows in found.items() if name not in ("source", "repeated", "copied")})
    for other in told[1:]:
        assert_same(told[0], other)


def test_what_is_erased_is_erased_in_both_streams(tmp_path: Path) -> None:
    path, _ = imported(tmp_path, log.written(both()), log.NAME)
    events_ = [row["n"] for row in events(path) if row["summary"] == "Done"]
    with store_in(tmp_path) as store:
        redact(store, events_, actor="ada", reason="test", clock=log.clock())
    assert_holds(path)
    left = b"".join(zstandard.ZstdDecompressor().decompress(data) for (data,) in rows(path, "SELECT data FROM segment"))
    assert b"Done" not in left
    assert left.count(b"Go on") == 4
    assert [summary for _, summary in shown(path)[1:]].count("") == 2
    assert rows(path, "SELECT events FROM session") == [(9,)]


def test_a_notice_of_a_call_that_stands_twice_is_read_twice(tmp_path: Path) -> None:
    shown_again = log.notice("exec_command_end", 3, call_id="c1", command=["ls"], exit_code=0, aggregated_output="a.py")
    records = [log.opened(), log.called(2, "c1", cmd="ls"), shown_again, shown_again, log.gave(3, "c1", "a.py")]
    path, report = imported(tmp_path, log.written(records), log.NAME)
    assert shown(path)[1:] == [("tool.intent", "ls"), ("tool.finished", "a.py")]
    assert report.total("mapped") == len(records)
    assert_holds(path)
