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


def clock() -> Clock:
    """A clock that is long after the logs."""
    return Clock(datetime(2026, 6, 1, tzinfo=UTC))
