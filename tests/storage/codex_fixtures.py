"""Records of Codex's logs, invented: one of each kind, and a session made of them."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any

from kept import Clock

THREAD = "019aaaaa-0000-7000-8000-000000000001"
NAME = f"rollout-2026-05-14T10-00-00-{THREAD}.jsonl"


def at(second: int) -> str:
    return f"2026-05-14T10:{second // 60:02d}:{second % 60:02d}.000Z"


def line(kind: str, second: int, **payload: Any) -> dict[str, Any]:
    return {"timestamp": at(second), "type": kind, "payload": payload}


def item(kind: str, second: int, **payload: Any) -> dict[str, Any]:
    return line("response_item", second, type=kind, **payload)


def notice(kind: str, second: int, **payload: Any) -> dict[str, Any]:
    return line("event_msg", second, type=kind, **payload)


def said(role: str, second: int, text: str) -> dict[str, Any]:
    name = "output_text" if role == "assistant" else "input_text"
    return item("message", second, role=role, content=[{"type": name, "text": text}])


def called(second: int, call: str, name: str = "exec_command", **arguments: Any) -> dict[str, Any]:
    return item("function_call", second, name=name, arguments=json.dumps(arguments), call_id=call)


def gave(second: int, call: str, output: Any) -> dict[str, Any]:
    return item("function_call_output", second, call_id=call, output=output)


def spent(second: int, took: int, cached: int, gave: int, total: tuple[int, int, int]) -> dict[str, Any]:
    def tokens(one: int, two: int, three: int) -> dict[str, int]:
        return {"input_tokens": one, "cached_input_tokens": two, "output_tokens": three, "total_tokens": one + three}

    info = {"last_token_usage": tokens(took, cached, gave), "total_token_usage": tokens(*total)}
    return notice("token_count", second, info=info, rate_limits=None)


def opened(**more: Any) -> dict[str, Any]:
    about = {"id": THREAD, "cwd": "/w/acme", "originator": "codex-tui", "cli_version": "0.140.0", "source": "cli"}
    return line("session_meta", 0, **{**about, "git": {"branch": "main"}, **more})


def a_session() -> list[dict[str, Any]]:
    """A turn that fixes a failing test, with every stream that tells of it."""
    ran = "Chunk ID: 1\nWall time: 1.5000 seconds\nProcess exited with code 1\nOutput:\n1 failed, 3 passed in 0.4s\n"
    passed = ran.replace("code 1", "code 0").replace("1 failed, 3 passed", "4 passed")
    patch = "*** Begin Patch\n*** Update File: src/session.py\n@@\n-role = None\n+role = 'admin'\n*** End Patch"
    return [
        opened(),
        said("user", 1, "<environment_context><cwd>/w/acme</cwd></environment_context>"),
        notice("task_started", 2, turn_id="t1"),
        line("turn_context", 2, turn_id="t1", cwd="/w/acme", model="model-x", approval_policy="on-request",
             sandbox_policy={"type": "workspace-write", "network_access": False}),
        said("user", 3, "Fix the failing role test"),
        notice("user_message", 3, message="Fix the failing role test"),
        item("reasoning", 4, summary=[{"type": "summary_text", "text": "Look at the test first"}]),
        item("reasoning", 4, summary=[], encrypted_content="x"),
        called(5, "c1", cmd="pytest -q tests/test_role.py"),
        notice("exec_command_end", 6, call_id="c1", exit_code=1),
        gave(6, "c1", ran),
        spent(6, 1000, 600, 50, (1000, 600, 50)),
        item("custom_tool_call", 7, name="apply_patch", input=patch, call_id="c2"),
        notice("patch_apply_end", 8, call_id="c2", success=True),
        item("custom_tool_call_output", 8, call_id="c2",
             output='{"output":"Success. Updated src/session.py","metadata":{"exit_code":0,"duration_seconds":0.25}}'),
        called(9, "c3", cmd="git push", sandbox_permissions="require_escalated", justification="needs the network"),
        gave(10, "c3", "exec command rejected by user"),
        called(11, "c4", name="shell", command=["bash", "-lc", "pytest -q"]),
        gave(12, "c4", passed),
        spent(12, 1500, 1200, 70, (2500, 1800, 120)),
        spent(12, 1500, 1200, 70, (2500, 1800, 120)),
        said("assistant", 13, "The role is set now."),
        notice("agent_message", 13, message="The role is set now."),
        notice("task_complete", 14, turn_id="t1", duration_ms=12000, last_agent_message="The role is set now."),
    ]  # fmt: skip


def written(records: list[dict[str, Any]]) -> bytes:
    return b"".join(json.dumps(one).encode() + b"\n" for one in records)


def every_record() -> list[dict[str, Any]]:
    """A fork's log with a record of every kind, and copies of its parent's."""
    parent = "019aaaa0-0000-7000-8000-000000000009"
    sandbox = {"type": "workspace-write", "network_access": False}
    ran = {"command": ["bash", "-lc", "ls"], "exit_code": 0, "aggregated_output": "a.py"}
    records = [
        opened(forked_from_id=parent, timestamp=at(60), subagent_history_start_ordinal=None),
        opened(id=parent),
        notice("task_started", 1, turn_id="019aaaa0-0000-7000-8000-00000000000a"),
        said("user", 2, "Before the fork"),
        spent(3, 10, 0, 5, (10, 0, 5)),
        notice("task_started", 61, turn_id="019aaaaa-0001-7000-8000-00000000000b"),
        line("turn_context", 61, model="m1", approval_policy="on-request", sandbox_policy=sandbox, cwd="/w/acme"),
        said("developer", 61, "Rules"),
        said("user", 62, "Go on"),
        notice("user_message", 62, message="Go on"),
        notice("agent_reasoning", 63, text="Think"),
        item("reasoning", 63, summary=[{"type": "summary_text", "text": "Think"}], encrypted_content="x"),
        notice("agent_message", 64, message="Asking"),
        said("assistant", 64, "Asking"),
        called(65, "c1", cmd="pytest -q", with_escalated_permissions=True, justification="needs it"),
        notice("exec_command_end", 66, call_id="c1", **ran),
        gave(66, "c1", "Process exited with code 0\nOutput:\n2 passed in 0.1s"),
        notice("exec_command_end", 67, call_id="c2", **ran),
        notice(
            "mcp_tool_call_end", 68, call_id="c3", invocation={"server": "acme", "tool": "find"}, result={"Err": "no"}
        ),
        notice("patch_apply_end", 69, call_id="c9", success=False, changes={"a.py": {"type": "update"}}, stderr="no"),
        item("web_search_call", 70, action={"type": "search", "query": "sqlite"}),
        notice("web_search_end", 70, call_id="w", query="sqlite"),
        notice("item_completed", 71, item={"type": "Plan", "id": "p", "text": "First this"}),
        notice("item_completed", 71, item={"type": "CommandExecution", "id": "c8", **ran}),
        notice("token_count", 72, info={"total_token_usage": {"input_tokens": 30, "output_tokens": 9}}),
        line("compacted", 73, message="What was done", replacement_history=[{"type": "message", "role": "user"}]),
        notice("context_compacted", 73),
        notice("entered_review_mode", 74, user_facing_hint="all"),
        notice("exited_review_mode", 75, review_output={"findings": []}),
        said("user", 76, "Another"),
        notice("thread_rolled_back", 77, num_turns=1),
        notice("guardian_assessment", 78, status="denied", action={"command": "rm"}),
        notice("thread_settings_applied", 79, thread_settings={"approval_policy": "never"}),
        notice("turn_aborted", 80, reason="interrupted"),
        notice("task_complete", 81, turn_id="t1", duration_ms=5),
    ]
    return [{**record, "ordinal": number} for number, record in enumerate(records)]


def bare() -> bytes:
    """A log of 2025, without envelopes."""
    records: list[dict[str, Any]] = [
        {"id": THREAD, "timestamp": at(0), "instructions": "# Rules", "git": {"branch": "main"}},
        {"record_type": "state"},
        {"type": "message", "id": None, "role": "user", "content": [{"type": "input_text", "text": "Solve it"}]},
        {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": None},
        {"type": "function_call", "id": "fc_1", "name": "shell", "call_id": "c1",
         "arguments": '{"command":["pytest"]}'},
        {"record_type": "state"},
        {"type": "function_call_output", "call_id": "c1",
         "output": '{"output":"2 passed in 0.1s\\n","metadata":{"exit_code":0,"duration_seconds":0.4}}'},
        {"type": "message", "id": None, "role": "assistant", "content": [{"type": "output_text", "text": "Solved"}]},
    ]  # fmt: skip
    return written(records)


def clock() -> Clock:
    """A clock that is long after the logs."""
    return Clock(datetime(2026, 6, 1, tzinfo=UTC))
