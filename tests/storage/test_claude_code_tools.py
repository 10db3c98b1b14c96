"""What Claude Code's tool calls and their results say: what was asked, what came back, what was refused."""

from __future__ import annotations

from typing import Any

import pytest

from affidavit.session.event import Draft
from storage.readers.claude_code import ClaudeCode
from storage.readers.claude_code.paths import is_memory, scope_of
from tests.storage import claude_fixtures as log


def one(record: Any) -> Draft:
    (draft,) = ClaudeCode().read(record, (None, "")).drafts
    return draft


# ------------------------------------------------------------------------------------------ what was asked


def test_a_shell_call_holds_its_command_and_everything_else_it_asked_for() -> None:
    draft = one(log.calls("Bash", command="cd a &&\npnpm test", description="Run tests", timeout=60_000))
    assert (draft.kind, draft.tool, draft.call) == ("tool.intent", "Bash", "toolu_1")
    assert draft.command == "cd a &&\npnpm test"
    assert draft.text == "cd a &&\npnpm test\n\ndescription: Run tests\ntimeout: 60000"
    assert draft.summary == "cd a &&"


def test_an_edit_shows_what_goes_and_what_comes() -> None:
    draft = one(log.calls("Edit", file_path="/a/b.ts", old_string="one\ntwo", new_string="three", replace_all=False))
    assert draft.text == "/a/b.ts\n-one\n-two\n+three"
    assert (draft.refs, draft.summary) == (("/a/b.ts",), "/a/b.ts")


def test_several_edits_of_one_file_are_all_shown() -> None:
    edits = [{"old_string": "a", "new_string": "b"}, {"old_string": "c", "new_string": "", "replace_all": True}]
    assert one(log.calls("MultiEdit", file_path="/x", edits=edits)).text == "/x\n-a\n+b\n\n-c\n\nreplace_all: true"


def test_a_written_file_stands_whole() -> None:
    assert one(log.calls("Write", file_path="/x.md", content="# A\nb")).text == "/x.md\n# A\nb"


def test_a_search_shows_pattern_and_where() -> None:
    draft = one(log.calls("Grep", pattern="TODO", path="/src", output_mode="content"))
    assert draft.text == "TODO\n\npath: /src\noutput_mode: content"
    assert draft.summary == "TODO"
    assert draft.refs == ("/src",)


def test_a_sub_agents_task_shows_its_prompt() -> None:
    draft = one(log.calls("Agent", prompt="Find the callers.", description="find callers", subagent_type="Explore"))
    assert draft.text.startswith("Find the callers.\n\n")
    assert draft.summary == "find callers"


def test_a_plan_is_summed_up_by_how_much_of_it_is_done() -> None:
    states = ("completed", "in_progress", "pending")
    todos = [{"content": f"step {state}", "status": state} for state in states]
    assert one(log.calls("TodoWrite", todos=todos)).summary == "3 todos: 1 done, 1 in progress"
    assert one(log.calls("TodoWrite", todos=todos[2:])).summary == "1 todo"
    assert one(log.calls("TodoWrite", todos=[])).summary == '{"todos":[]}'
    assert one(log.calls("TodoWrite", todos=[7])).summary == '{"todos":[7]}'


def test_any_other_tool_shows_its_input_as_json() -> None:
    draft = one(log.calls("mcp__acme__sum", numbers=[1, 2]))
    assert draft.text == '{\n  "numbers": [\n    1,\n    2\n  ]\n}'
    assert draft.summary == '{"numbers":[1,2]}'


def test_input_the_client_could_not_parse_is_shown_as_it_came() -> None:
    draft = one(log.calls("Read", __unparsedToolInput={"raw": '{"file_path": ', "len": 14}))
    assert draft.text == '{"file_path": '


def test_a_summary_is_one_line_of_at_most_two_hundred_characters() -> None:
    draft = one(log.calls("Bash", command="echo " + "x" * 500 + "\nls"))
    assert draft.summary is not None
    assert len(draft.summary) == 200
    assert draft.summary.endswith("…")
    assert len(draft.text) == 508


def test_a_call_without_name_or_with_other_input_is_flagged() -> None:
    assert one(log.answer({"type": "tool_use", "id": 5, "name": None, "input": {}})).flags == ("shape",)
    draft = one(log.answer({"type": "tool_use", "id": "t", "name": "Bash", "input": "ls"}))
    assert (draft.flags, draft.text, draft.command) == (("shape",), "ls", None)


# ------------------------------------------------------------------------------------------------ memory


MEMORY = "/home/ada/.claude/projects/-home-ada-acme/memory/testing.md"


@pytest.mark.parametrize("tool", ["Write", "Edit"])
def test_writing_a_memory_file_is_a_memory_write_answered_like_any_call(tool: str) -> None:
    draft = one(log.calls(tool, file_path=MEMORY, content="Run pnpm test."))
    assert (draft.kind, draft.tool, draft.call, draft.refs) == ("memory.write", tool, "toolu_1", (MEMORY,))


def test_reading_a_memory_file_is_a_memory_read() -> None:
    assert one(log.calls("Read", file_path=MEMORY)).kind == "memory.read"


def test_searching_in_the_memory_folder_is_a_plain_call() -> None:
    assert one(log.calls("Grep", pattern="pnpm", path=MEMORY)).kind == "tool.intent"


@pytest.mark.parametrize(
    ("path", "memory"),
    [
        (MEMORY, True),
        ("/home/ada/.claude/projects/-home-ada-acme/memory/MEMORY.md", True),
        ("/home/ada/.claude/projects/-home-ada-acme/memory/team/style.md", True),
        ("C:\\Users\\ada\\.claude\\projects\\C--Users-ada-acme\\memory\\MEMORY.md", True),
        ("/srv/claude-config/projects/-srv-acme/memory/a.md", True),
        ("/home/ada/acme/.claude/agent-memory/reviewer/MEMORY.md", True),
        ("/srv/memory/.claude/projects/-srv/memory/a.md", True),
        ("/home/ada/.claude/projects/-home-ada-acme/notes/a.md", False),
        ("/home/ada/projects/acme/memory/a.md", False),
        ("/home/ada/.claude/projects/-home-ada-acme/memory/data.json", False),
        ("/home/ada/acme/docs/memory/a.md", False),
        ("", False),
        ("/projects//memory/.md", False),
    ],
)
def test_which_files_are_claudes_memory(path: str, memory: bool) -> None:
    assert is_memory(path) is memory


# ------------------------------------------------------------------------------------------ what came back


def test_a_result_without_a_word_on_errors_went_well() -> None:
    draft = one(log.result("No files found", twin={"filenames": [], "durationMs": 1210}))
    assert (draft.kind, draft.actor, draft.call, draft.ok, draft.millis) == (
        "tool.finished",
        "tool",
        "toolu_1",
        True,
        1210,
    )
    assert draft.text == "No files found"


def test_a_duration_in_seconds_is_kept_in_milliseconds() -> None:
    assert one(log.result("found", twin={"query": "acme", "durationSeconds": 1.5})).millis == 1500


def test_a_failed_result_is_not_ok_and_stands_whole() -> None:
    draft = one(log.result("Exit code 1\n1 failed", error=True, twin="Error: Exit code 1\n1 failed"))
    assert (draft.kind, draft.ok, draft.text, draft.inferred) == (
        "tool.finished",
        False,
        "Exit code 1\n1 failed",
        False,
    )


def test_an_interrupted_command_is_not_ok() -> None:
    assert one(log.result("half", error=False, twin={"stdout": "half", "interrupted": True})).ok is False


def test_an_error_told_only_beside_the_block_counts() -> None:
    assert one(log.result("ok", twin={"stdout": "", "stderr": "no", "is_error": True})).ok is False


def test_text_blocks_are_joined_and_pictures_named_never_spelled_out() -> None:
    blocks = [
        {"type": "text", "text": "Two files."},
        {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "QUJDRA==" * 250_000}},
        {"type": "tool_reference", "tool_name": "WebFetch"},
    ]
    draft = one(log.result(blocks))
    assert draft.text == "Two files.\n[image image/png, 1.5 MB]\n[tool WebFetch]"


def test_a_document_of_text_is_shown_whole() -> None:
    block = {"type": "document", "source": {"type": "text", "media_type": "text/plain", "data": "the words"}}
    assert one(log.result([block])).text == "the words"


def test_a_result_names_the_files_it_is_of() -> None:
    assert one(log.result("done", twin={"filePath": "/a.py", "persistedOutputPath": "/big.txt"})).refs == (
        "/a.py",
        "/big.txt",
    )
    assert one(log.result("1→x", twin={"type": "text", "file": {"filePath": "/b.py"}})).refs == ("/b.py",)


def test_a_call_is_found_beside_the_block_where_the_block_does_not_name_it() -> None:
    record = log.person([{"type": "tool_result", "content": "ok"}], sourceToolUseID="toolu_9", isMeta=True)
    assert one(record).call == "toolu_9"


def test_the_same_large_value_twice_in_a_record_is_said() -> None:
    blob = "QUJD" * 1000
    picture = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": blob}}
    twin = {"type": "image", "file": {"base64": blob, "type": "image/png"}}
    assert one(log.result([picture], twin=twin)).flags == ("stored_twice",)
    assert one(log.result([picture], twin={"type": "image"})).flags == ()
    assert one(log.result("short", twin={"stdout": "short"})).flags == ()
    long = "line\n" * 400
    assert one(log.result(long, twin={"stdout": long})).flags == ("stored_twice",)
    assert one(log.result([picture], twin=[picture])).flags == ("stored_twice",)


# ------------------------------------------------------------------------------------------ what was refused


def test_a_refused_call_is_one_inferred_decision_of_the_person_with_their_reason() -> None:
    draft = one(log.rejected("change the fixture, not the default", call="toolu_4"))
    assert (draft.kind, draft.actor, draft.call, draft.ok, draft.inferred) == (
        "permission.decision",
        "user",
        "toolu_4",
        False,
        True,
    )
    assert draft.summary == "rejected: change the fixture, not the default"
    assert draft.text.endswith("the user said:\nchange the fixture, not the default")
    assert one(log.rejected()).summary == "rejected"


def test_a_refusal_is_known_by_the_field_newer_versions_write() -> None:
    draft = one(log.result("Not now.", error=True, toolDenialKind="user-rejected", userFeedback="ask me first"))
    assert (draft.kind, draft.actor, draft.summary) == ("permission.decision", "user", "rejected: ask me first")


@pytest.mark.parametrize(
    ("text", "fields"),
    [
        ("blocked", {"toolDenialKind": "permission-rule"}),
        ("blocked", {"toolDenialKind": "automode-blocked"}),
        ("PreToolUse:Bash hook error: [guard.sh]: no pushing", {}),
        ("Permission to use Bash with command rm has been denied.", {}),
        ("Claude requested permissions to write to /a, but you haven't granted it yet.", {}),
    ],
)
def test_a_call_a_rule_or_hook_stopped_is_an_inferred_decision_of_the_runtime(text: str, fields: Any) -> None:
    draft = one(log.result(text, error=True, **fields))
    assert (draft.kind, draft.actor, draft.ok, draft.inferred) == ("permission.decision", "runtime", False, True)


@pytest.mark.parametrize(
    ("text", "fields"),
    [
        ("<tool_use_error>Sibling tool call errored</tool_use_error>", {}),
        ("stopped", {"toolDenialKind": "interrupted"}),
        ("<tool_use_error>File has not been read yet.</tool_use_error>", {}),
        ("grep: The user doesn't want to proceed with this tool use", {}),
    ],
)
def test_a_call_that_was_cancelled_or_failed_was_not_refused(text: str, fields: Any) -> None:
    draft = one(log.result(text, error=True, **fields))
    assert (draft.kind, draft.actor, draft.ok) == ("tool.finished", "tool", False)


def test_a_result_that_quotes_a_refusal_but_went_well_is_no_decision() -> None:
    assert one(log.result(log.REJECTED, error=False)).kind == "tool.finished"


# ------------------------------------------------------------------------------------------------ places


@pytest.mark.parametrize(
    ("path", "scope"),
    [
        ("/p/-acme/S1.jsonl", (None, "")),
        ("/p/-acme/S1/subagents/agent-a1.jsonl", ("S1", "a1")),
        ("/p/-acme/S1/subagents/workflows/wf_9/agent-a1.jsonl", ("S1", "a1")),
        ("/p/-acme/S1/subagents/workflows/wf_9/journal.jsonl", ("S1", "")),
        ("C:\\p\\S1\\subagents\\agent-a1.meta.json", ("S1", "a1")),
        ("/p/-acme/agent-b2.jsonl", (None, "b2")),
        ("/home/subagents/p/S1.jsonl", (None, "")),
        ("/home/subagents/p/S1/subagents/agent-a1.jsonl", ("S1", "a1")),
        ("subagents/agent-a1.jsonl", (None, "a1")),
        ("agent-a1.jsonl", (None, "a1")),
        ("-", (None, "")),
        ("", (None, "")),
    ],
)
def test_what_the_place_of_a_file_implies(path: str, scope: tuple[str | None, str]) -> None:
    assert scope_of(path) == scope
