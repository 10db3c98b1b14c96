"""Invented records in the shape Claude Code 2.1 writes, for tests that need a log and care what stands in it.

``person``, ``says``, ``calls``, ``result`` … give single records; :func:`chain` gives a run of them ids, parents and
times; :func:`session`, :func:`with_helper` and :func:`every_record` are whole logs; :func:`lines` makes bytes.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

Record = dict[str, Any]

SESSION = "5e551011-0000-4000-8000-000000000001"
HELPER = "a1b2c3d4e5f607182"
CWD = "/home/ada/acme"
MODEL = "claude-example-5"


def record(type: str, **fields: Any) -> Record:
    """A record with a place in the conversation; ids, parent and time are given by :func:`chain`."""
    return {
        "parentUuid": None,
        "isSidechain": False,
        "userType": "external",
        "entrypoint": "cli",
        "cwd": CWD,
        "sessionId": SESSION,
        "version": "2.1.199",
        "gitBranch": "main",
        "type": type,
        **fields,
    }


def chain(*records: Record, start: int = 1, after: str | None = None) -> list[Record]:
    """The records with ids ``r1``, ``r2`` …, each following the one before, a second apart.

    Records that name an id, a parent or a time keep it; flat records get none and are followed by nothing.
    """
    linked = []
    for number, one in enumerate(records, start):
        if "parentUuid" not in one:
            linked.append(one)
            continue
        one = dict(one)
        one.setdefault("uuid", f"r{number}")
        one.setdefault("timestamp", f"2026-03-02T09:{number // 60:02d}:{number % 60:02d}.000Z")
        if one["parentUuid"] is None and one.get("subtype") != "compact_boundary":
            one["parentUuid"] = after
        after = one["uuid"]
        linked.append(one)
    return linked


def person(text: Any, prompt: str | None = None, **fields: Any) -> Record:
    """A person's message; with ``prompt``, as newer versions write it."""
    newer = {} if prompt is None else {"promptId": prompt, "origin": {"kind": "human"}, "promptSource": "typed"}
    return record("user", message={"role": "user", "content": text}, **newer, **fields)


def answer(*blocks: Record, id: str | None = "msg_1", usage: Any = None, model: str = MODEL, **fields: Any) -> Record:
    """A line of a model's message."""
    message: Record = {"model": model, "type": "message", "role": "assistant", "content": list(blocks)}
    if id is not None:
        message["id"] = id
    message["usage"] = tokens(8, 1) if usage is None else usage
    return record("assistant", message=message, requestId="req_1", **fields)


def tokens(input: int, output: int, read: int = 0, write: int = 0) -> Record:
    """Usage as the provider reports it."""
    return {
        "input_tokens": input,
        "output_tokens": output,
        "cache_read_input_tokens": read,
        "cache_creation_input_tokens": write,
        "cache_creation": {"ephemeral_5m_input_tokens": write, "ephemeral_1h_input_tokens": 0},
        "service_tier": "standard",
    }


def says(text: str, **fields: Any) -> Record:
    return answer({"type": "text", "text": text}, **fields)


def thinks(text: str, **fields: Any) -> Record:
    return answer({"type": "thinking", "thinking": text, "signature": "c2lnbmF0dXJl"}, **fields)


def calls(name: str, call: str = "toolu_1", fields: Record | None = None, **arguments: Any) -> Record:
    block = {"type": "tool_use", "id": call, "name": name, "input": arguments, "caller": {"type": "direct"}}
    return answer(block, **(fields or {}))


def result(text: Any, call: str = "toolu_1", error: bool | None = None, twin: Any = None, **fields: Any) -> Record:
    """What came back from a call; ``twin`` is its structured form."""
    block: Record = {"tool_use_id": call, "type": "tool_result", "content": text}
    if error is not None:
        block["is_error"] = error
    if twin is not None:
        fields["toolUseResult"] = twin
    return record("user", message={"role": "user", "content": [block]}, sourceToolAssistantUUID="r0", **fields)


REJECTED = (
    "The user doesn't want to proceed with this tool use. The tool use was rejected (eg. if it was a file edit, the "
    "new_string was NOT written to the file). "
)


def rejected(reason: str = "", call: str = "toolu_1", **fields: Any) -> Record:
    """A call a person refused, as the log words it."""
    if reason:
        text = REJECTED + f"To tell you how to proceed, the user said:\n{reason}"
    else:
        text = REJECTED + "STOP what you are doing and wait for the user to tell you how to proceed."
    return result(text, call, error=True, twin="Error: " + text, **fields)


def attachment(type: str, **fields: Any) -> Record:
    return record("attachment", attachment={"type": type, **fields})


def hook(type: str, name: str = "PreToolUse:Bash", **fields: Any) -> Record:
    return attachment(type, hookName=name, hookEvent=name.partition(":")[0], toolUseID="toolu_1", **fields)


def system(subtype: str, **fields: Any) -> Record:
    return record("system", subtype=subtype, **fields)


def flat(type: str, **fields: Any) -> Record:
    """A record without a place in the conversation."""
    return {"type": type, "sessionId": SESSION, **fields}


def in_helper(one: Record, helper: str = HELPER) -> Record:
    """The record as it stands in a sub-agent's file."""
    return {**one, "isSidechain": True, "agentId": helper}


def session() -> list[Record]:
    """Two turns: a failing test looked at and fixed, then a question."""
    return chain(
        flat("custom-title", customTitle="Fix the role test"),
        person("The role test fails, please fix it.", "p1"),
        thinks("Look at the test first.", id="msg_1", usage=tokens(9, 1, 100)),
        says("I will run the test.", id="msg_1", usage=tokens(9, 1, 100)),
        calls("Bash", "toolu_1", {"id": "msg_1", "usage": tokens(9, 84, 100)}, command="pnpm test role"),
        result("Exit code 1\n1 failed", "toolu_1", error=True, promptId="p1"),
        calls(
            "Edit",
            "toolu_2",
            {"id": "msg_2", "usage": tokens(5, 40, 120)},
            file_path=f"{CWD}/test/user.ts",
            old_string="user()",
            new_string='user({ role: "admin" })',
        ),
        result("The file has been updated.", "toolu_2", twin={"filePath": f"{CWD}/test/user.ts"}, promptId="p1"),
        calls("Bash", "toolu_3", {"id": "msg_3", "usage": tokens(5, 20, 130)}, command="pnpm test role"),
        result("14 passed", "toolu_3", error=False, twin={"stdout": "14 passed", "interrupted": False}, promptId="p1"),
        says("The test passes.", id="msg_4", usage=tokens(5, 12, 140)),
        system("turn_duration", durationMs=9000, messageCount=10, isMeta=False),
        person("Why did it fail?", "p2"),
        says("The mock had no role.", id="msg_5", usage=tokens(5, 9, 150)),
    )


def with_helper() -> dict[str, list[Record]]:
    """A session that starts a sub-agent: path below the projects folder to the records of that file."""
    folder = f"-home-ada-acme/{SESSION}"
    main = chain(
        person("Find every caller.", "p1"),
        calls("Agent", "toolu_1", description="find callers", subagent_type="Explore", prompt="Find the callers."),
        result(
            [{"type": "text", "text": "Three callers."}],
            twin={"status": "completed", "agentId": HELPER, "totalDurationMs": 4200, "totalTokens": 900},
            promptId="p1",
        ),
        says("There are three.", id="msg_9"),
    )
    helper = [
        in_helper(one)
        for one in chain(
            person("Find the callers.", promptId="p1"),
            calls("Grep", "toolu_2", {"id": "msg_7"}, pattern="createUserMock"),
            result("3 files", "toolu_2"),
            says("Three callers.", id="msg_8"),
            start=21,
        )
    ]
    about = {"agentType": "Explore", "description": "find callers", "toolUseId": "toolu_1", "spawnDepth": 1}
    return {
        f"{folder}.jsonl": main,
        f"{folder}/subagents/agent-{HELPER}.jsonl": helper,
        f"{folder}/subagents/agent-{HELPER}.meta.json": [about],
    }


def every_record() -> list[Record]:
    """A log with one record of nearly every type and subtype."""
    return chain(
        flat("permission-mode", permissionMode="default"),
        flat("mode", mode="normal"),
        hook("hook_success", "SessionStart:startup", content="", stdout="ready", stderr="", exitCode=0, durationMs=12),
        person("Look around.", "p1"),
        attachment("file", filename=f"{CWD}/README.md", content=_read_file("# Acme")),
        attachment("nested_memory", path=f"{CWD}/CLAUDE.md", content={"type": "Project", "content": "Be brief."}),
        attachment("skill_listing", content="- tidy: tidies", skillCount=1, isInitial=True),
        attachment("task_reminder", content=[{"id": "1", "subject": "Look", "status": "pending"}], itemCount=1),
        thinks("", id="msg_1"),
        calls("TodoWrite", "toolu_1", {"id": "msg_1"}, todos=[{"content": "Look", "status": "pending"}]),
        record("progress", data={"type": "hook_progress", "hookEvent": "PostToolUse"}, toolUseID="toolu_1"),
        result("Todos have been modified.", twin={"oldTodos": [], "newTodos": [{"content": "Look"}]}),
        flat("queue-operation", operation="enqueue", content="And the tests?", timestamp="2026-03-02T09:00:30.000Z"),
        flat("queue-operation", operation="remove", timestamp="2026-03-02T09:00:31.000Z"),
        attachment("queued_command", prompt="And the tests?", commandMode="prompt", origin={"kind": "human"}),
        system("api_error", error={"message": "Overloaded", "status": 529}, retryAttempt=1, maxRetries=10),
        system(
            "compact_boundary", content="Conversation compacted", compactMetadata={"trigger": "auto", "preTokens": 9}
        ),
        person("This session is being continued.", isCompactSummary=True, isVisibleInTranscriptOnly=True),
        person("<command-name>/cost</command-name>\n<command-args></command-args>", "p2"),
        person("<local-command-stdout>Total cost: $0.12</local-command-stdout>", promptId="p2"),
        says("Overloaded.", model="<synthetic>", isApiErrorMessage=True, error="overloaded"),
        system("stop_hook_summary", hookInfos=[{"command": "tidy", "durationMs": 5}], hookErrors=[], stopReason=""),
        {"type": "file-history-snapshot", "messageId": "r1", "snapshot": {"trackedFileBackups": {}}},
        {"type": "summary", "summary": "Looking around", "leafUuid": "r20"},
        flat("ai-title", aiTitle="A look around"),
        flat("pr-link", prNumber=7, prUrl="https://example.com/acme/pull/7", prRepository="acme/app"),
        flat("last-prompt", lastPrompt="And the tests?", leafUuid="r20"),
    )


def _read_file(content: str) -> Record:
    return {"type": "text", "file": {"filePath": f"{CWD}/README.md", "content": content, "numLines": 1}}


def lines(records: Iterable[Record]) -> bytes:
    """The records as a file's bytes."""
    return b"".join(json.dumps(one, ensure_ascii=False).encode("utf-8", "surrogatepass") + b"\n" for one in records)
