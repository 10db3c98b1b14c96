"""Claude Code's other records: attachments, hooks, what the client says of itself, titles and book-keeping."""

from __future__ import annotations

from typing import Any

import pytest

from affidavit.session.event import FACTS, FLAGS, KINDS, Draft, Reading
from storage.readers import readers
from storage.readers.claude_code import ClaudeCode, metadata, system
from storage.readers.claude_code.attachments import READ as ATTACHMENTS
from tests.storage import claude_fixtures as log


def read(record: Any) -> Reading:
    return ClaudeCode().read(record, (None, ""))


def one(record: Any) -> Draft:
    (draft,) = read(record).drafts
    return draft


# ------------------------------------------------------------------------------------------ attachments


def test_an_attached_file_puts_its_text_in_the_context_and_is_named() -> None:
    content = {"type": "text", "file": {"filePath": "/acme/a.py", "content": "x = 1\ny = 2"}}
    draft = one(log.attachment("file", filename="/acme/a.py", content=content))
    assert (draft.kind, draft.actor, draft.text, draft.refs) == (
        "context.injected",
        "runtime",
        "x = 1\ny = 2",
        ("/acme/a.py",),
    )
    assert draft.summary == "file: /acme/a.py"


def test_the_text_the_model_was_given_is_shown_where_the_record_holds_it() -> None:
    record = log.attachment("date_change", newDate="2026-03-03")
    assert one(record).text == "2026-03-03"
    assert one({**record, "rendered": [{"content": "<system-reminder>It is 3 March.</system-reminder>"}]}).text == (
        "<system-reminder>It is 3 March.</system-reminder>"
    )


def test_instructions_are_context_and_claudes_own_memory_is_a_memory_read() -> None:
    rules = {"type": "Project", "path": "/acme/CLAUDE.md", "content": "Be brief."}
    draft = one(log.attachment("nested_memory", path="/acme/CLAUDE.md", content=rules))
    assert (draft.kind, draft.text) == ("context.injected", "Be brief.")
    memory = "/home/ada/.claude/projects/-acme/memory/MEMORY.md"
    draft = one(log.attachment("nested_memory", path=memory, content={**rules, "path": memory}))
    assert (draft.kind, draft.refs) == ("memory.read", (memory,))
    chosen = [{"path": memory, "content": "Run pnpm test.", "mtimeMs": 1}]
    draft = one(log.attachment("relevant_memories", memories=chosen))
    assert (draft.kind, draft.refs, draft.text) == ("memory.read", (memory,), f"{memory}\nRun pnpm test.")


def test_lists_in_an_attachment_are_readable_text() -> None:
    assert one(log.attachment("deferred_tools_delta", addedNames=["A", "B"], addedLines=["A", "B"])).text == "A\nB"
    tasks = one(log.attachment("task_reminder", content=[{"id": "1", "subject": "Look"}], itemCount=1))
    assert '"subject":"Look"' in tasks.text


def test_skills_and_memories_stand_under_their_names() -> None:
    skills = [{"name": "tidy", "path": "user:tidy", "content": "Tidy up."}, {"name": "b", "content": "B."}]
    assert one(log.attachment("invoked_skills", skills=skills)).text == "user:tidy\nTidy up.\n\nb\nB."


def test_diagnostics_are_lines_with_their_place() -> None:
    start = {"start": {"line": 29, "character": 1}}
    files = [{"uri": "/a.go", "diagnostics": [{"message": "unused", "severity": "Error", "range": start}]}]
    draft = one(log.attachment("diagnostics", files=files, isNew=True))
    assert (draft.text, draft.refs, draft.summary) == ("/a.go:30: Error unused", ("/a.go",), "1 diagnostic")


def test_pictures_and_blobs_in_attachments_are_named_never_spelled_out() -> None:
    picture = {"type": "image", "file": {"base64": "QUJD" * 1000, "type": "image/png"}}
    assert one(log.attachment("file", filename="/a.png", content=picture)).text == "[image image/png, 3 kB]"
    parts = {"contents": [{"uri": "a", "text": "words"}, {"uri": "b", "blob": "QUJD", "mimeType": "a/b"}]}
    assert one(log.attachment("mcp_resource", uri="acme://a", content=parts)).text == "words\n[a/b, 3 B]"


def test_the_system_prompt_stands_whole_with_its_tools() -> None:
    draft = one(log.attachment("prompt_snapshot", systemPrompt=["You are", "an agent."], tools=[{"name": "Bash"}]))
    assert draft.text.startswith("You are\n\nan agent.\n\n{")
    assert '"name": "Bash"' in draft.text
    assert draft.summary == "system prompt, tools: 1"


@pytest.mark.parametrize("kind", sorted(ATTACHMENTS))
def test_an_attachment_with_nothing_in_it_is_still_an_event(kind: str) -> None:
    reading = read(log.attachment(kind))
    assert reading.status == "mapped"
    assert len(reading.drafts) == 1
    assert reading.drafts[0].kind in KINDS
    assert reading.drafts[0].kind != "unknown"


def test_an_attachment_of_an_unknown_type_is_counted_and_kept_whole() -> None:
    reading = read(log.attachment("crystal_ball", vision="fog"))
    (draft,) = reading.drafts
    assert (reading.status, draft.kind) == ("unknown", "unknown")
    assert draft.summary == "unknown attachment crystal_ball"
    assert '"vision":"fog"' in draft.text


# ------------------------------------------------------------------------------------------------ hooks


def test_a_hook_that_ran_tells_what_it_said_how_it_ended_and_how_long_it_took() -> None:
    record = log.hook("hook_success", stdout="ok\n", stderr="slow", exitCode=0, command="guard.sh", durationMs=12)
    draft = one(record)
    assert (draft.kind, draft.tool, draft.ok, draft.millis) == ("context.injected", "Bash", True, 12)
    assert draft.text == "ok\n\nslow"
    assert draft.summary == "hook PreToolUse:Bash: guard.sh"


def test_a_hook_that_failed_is_an_error() -> None:
    draft = one(log.hook("hook_non_blocking_error", stderr="boom", stdout="", exitCode=1, command="x"))
    assert (draft.kind, draft.ok, draft.text) == ("error", False, "boom")


@pytest.mark.parametrize(
    "record",
    [
        log.hook("hook_blocking_error", blockingError={"blockingError": "no pushing", "command": "guard.sh"}),
        log.hook("hook_stopped_continuation", message="no pushing"),
    ],
)
def test_a_hook_that_blocks_is_an_inferred_decision_of_the_runtime(record: Any) -> None:
    draft = one(record)
    assert (draft.kind, draft.actor, draft.ok, draft.inferred) == ("permission.decision", "runtime", False, True)
    assert draft.text == "no pushing"


@pytest.mark.parametrize(("decision", "ok"), [("allow", True), ("deny", False), ("later", None)])
def test_a_hooks_answer_to_a_request_is_a_recorded_decision(decision: str, ok: bool | None) -> None:
    draft = one(log.hook("hook_permission_decision", "PermissionRequest:Bash", decision=decision))
    assert (draft.kind, draft.ok, draft.inferred) == ("permission.decision", ok, False)


def test_what_a_command_allows_is_a_decision_and_nothing_allowed_is_none() -> None:
    draft = one(log.attachment("command_permissions", allowedTools=["Bash(git:*)", "Read"]))
    assert (draft.kind, draft.ok, draft.text) == ("permission.decision", True, "Bash(git:*), Read")
    assert one(log.attachment("command_permissions", allowedTools=[])).kind == "lifecycle"


# ------------------------------------------------------------------------------------------------ system


def test_a_compaction_tells_why_and_how_much() -> None:
    about = {"trigger": "auto", "preTokens": 155_343, "postTokens": 1873, "durationMs": 17_516}
    reading = read(log.system("compact_boundary", content="Conversation compacted", compactMetadata=about))
    (draft,) = reading.drafts
    assert (draft.kind, draft.millis) == ("compaction", 17_516)
    assert draft.summary == "auto, from 155343 tokens to 1873"
    assert draft.text.startswith("Conversation compacted\n")
    assert reading.parent is None


def test_the_length_of_a_turn_is_kept() -> None:
    draft = one(log.system("turn_duration", durationMs=22_830))
    assert (draft.kind, draft.millis, draft.text) == ("lifecycle", 22_830, "turn took 22.8 s")


@pytest.mark.parametrize(
    ("error", "summary"),
    [
        ({"message": "Overloaded", "status": 529}, "529: Overloaded (attempt 2 of 10)"),
        ({"formatted": "401 token revoked", "message": "x", "status": 401}, "401 token revoked (attempt 2 of 10)"),
        ({"error": {"error": {"message": "bad key"}}, "status": 401}, "401: bad key (attempt 2 of 10)"),
        ("plain words", "plain words (attempt 2 of 10)"),
        (None, "API error (attempt 2 of 10)"),
    ],
)
def test_an_api_error_tells_itself_in_one_line(error: Any, summary: str) -> None:
    draft = one(log.system("api_error", error=error, retryAttempt=2, maxRetries=10))
    assert (draft.kind, draft.summary, draft.ok) == ("error", summary, False)
    assert draft.text


def test_hooks_that_ran_at_the_end_are_listed_and_not_ok_where_one_failed() -> None:
    infos = [{"command": "a.sh", "durationMs": 5}, {"command": "b.sh", "durationMs": 7}]
    draft = one(log.system("stop_hook_summary", hookInfos=infos, hookErrors=[], stopReason=""))
    assert (draft.text, draft.millis, draft.ok) == ("a.sh\nb.sh", 12, True)
    draft = one(log.system("stop_hook_summary", hookInfos=infos, hookErrors=["b broke"], stopReason=""))
    assert (draft.ok, draft.text) == (False, "a.sh\nb.sh\nb broke")


def test_a_local_command_is_told_as_typed_and_its_output_as_it_came() -> None:
    typed = one(
        log.system("local_command", content="<command-name>/model</command-name>\n<command-args></command-args>")
    )
    assert (typed.kind, typed.actor, typed.summary) == ("context.injected", "user", "/model")
    printed = one(log.system("local_command", content="<local-command-stdout>Set.</local-command-stdout>"))
    assert (printed.kind, printed.actor) == ("context.injected", "runtime")


def test_memory_the_client_saved_is_a_memory_write() -> None:
    draft = one(log.system("memory_saved", writtenPaths=["/m/a.md", "/m/b.md"]))
    assert (draft.kind, draft.actor, draft.refs) == ("memory.write", "runtime", ("/m/a.md", "/m/b.md"))


@pytest.mark.parametrize("subtype", sorted(system.READ))
def test_a_system_record_with_nothing_in_it_is_still_an_event(subtype: str) -> None:
    reading = read(log.system(subtype))
    assert reading.status == "mapped"
    assert reading.drafts[0].summary or reading.drafts[0].text or subtype == "local_command"


def test_a_system_record_of_an_unknown_subtype_is_counted_and_kept_whole() -> None:
    reading = read(log.system("weather", content="rain"))
    assert (reading.status, reading.drafts[0].kind) == ("unknown", "unknown")
    assert '"content":"rain"' in reading.drafts[0].text


# ------------------------------------------------------------------------------------------ flat records


@pytest.mark.parametrize(
    ("record", "facts"),
    [
        (log.flat("custom-title", customTitle="Mine"), {"title.custom": "Mine"}),
        (log.flat("ai-title", aiTitle="A look"), {"title.ai": "A look"}),
        ({"type": "summary", "summary": "Looking", "leafUuid": "r1"}, {"title.summary": "Looking", "leaf": "r1"}),
        ({"type": "summary", "summary": "Looking"}, {"title.summary": "Looking"}),
        (log.flat("relocated", relocatedCwd="/elsewhere"), {"cwd": "/elsewhere"}),
    ],
)
def test_statements_about_the_session_are_facts_and_no_events(record: Any, facts: dict[str, str]) -> None:
    reading = read(record)
    assert (reading.status, reading.facts, reading.drafts) == ("mapped", facts, [])


def test_a_worktree_is_told_with_the_project_it_belongs_to() -> None:
    about = {"worktreePath": "/wt/fix", "worktreeBranch": "fix", "originalCwd": "/acme"}
    reading = read(log.flat("worktree-state", worktreeSession=about))
    assert reading.facts == {"cwd": "/wt/fix", "git_branch": "fix", "project": "/acme"}
    assert reading.drafts[0].refs == ("/wt/fix",)
    assert read(log.flat("worktree-state", worktreeSession=None)).drafts == []


def test_a_change_of_the_permission_mode_is_a_recorded_decision_of_the_person() -> None:
    draft = one(log.flat("permission-mode", permissionMode="acceptEdits"))
    assert (draft.kind, draft.actor, draft.inferred) == ("permission.decision", "user", False)
    assert draft.summary == "mode: acceptEdits"


def test_a_pull_request_is_an_event_that_leads_there() -> None:
    url = "https://example.com/acme/pull/7"
    draft = one(log.flat("pr-link", prNumber=7, prUrl=url, prRepository="acme/app"))
    assert (draft.kind, draft.refs, draft.summary) == ("lifecycle", (url,), "pull request acme/app #7")


@pytest.mark.parametrize("kind", sorted(metadata.READ))
def test_a_flat_record_with_nothing_in_it_counts_as_mapped(kind: str) -> None:
    assert read({"type": kind}).status == "mapped"


@pytest.mark.parametrize("value", [{"type": "workflow-start", "zzz": {}}, {"zzz": 1}, {"type": 7}, [1], "x", 3, None])
def test_a_record_of_no_known_type_is_counted_and_kept_whole(value: Any) -> None:
    reading = read(value)
    (draft,) = reading.drafts
    assert (reading.status, draft.kind) == ("unknown", "unknown")
    assert draft.text
    assert draft.summary


def test_an_unknown_record_names_its_type_and_stays_in_its_place() -> None:
    reading = read(log.chain(log.person("a"), log.record("hologram", beam=3))[1])
    assert reading.drafts[0].summary == "unknown type hologram"
    assert (reading.native, reading.parent, reading.session) == ("r2", "r1", log.SESSION)


# ------------------------------------------------------------------------------------------ the whole log


def test_every_kind_of_record_is_mapped_with_words_of_the_contract() -> None:
    for record in log.every_record():
        reading = read(record)
        assert reading.status == "mapped", record
        assert set(reading.facts or {}) <= set(FACTS)
        assert set(reading.flags) <= set(FLAGS)
        for number, draft in enumerate(reading.drafts):
            assert draft.kind in KINDS
            assert draft.kind != "unknown", record
            assert (draft.path == "") is (number == 0)
            assert set(draft.flags) <= set(FLAGS)


def test_a_log_is_claimed_by_its_reader_alone() -> None:
    for records in (log.session(), log.every_record(), *log.with_helper().values()):
        claims = {name: reader.claims("x.jsonl", records) for name, reader in readers().items()}
        if len(records) > 1:
            assert claims["claude-code"] > 0.9, records
        assert (claims["affidavit"], claims["codex"]) == (0.0, 0.0)


def test_logs_of_another_shape_are_not_claimed() -> None:
    reader = ClaudeCode()
    parts = [{"type": "user", "uuid": "u", "parentUuid": None, "sessionId": "s", "cwd": "/", "version": "1",
              "timestamp": "t", "gitBranch": "m", "message": {"role": "user", "parts": [{"text": "hi"}]}}]  # fmt: skip
    events = [{"type": "user.message", "data": {"content": "hi"}, "id": "1", "parentId": None, "timestamp": "t"}]
    rollout = [{"timestamp": "t", "type": "response_item", "payload": {"type": "message", "role": "user"}}]
    bare = [{"role": "user", "content": "hi"}, {"role": "assistant", "content": "ho"}]
    for other in (parts, events, rollout, bare, [1, 2], ["x"], [{}], [{"type": "message"}]):
        assert reader.claims("-acme/s.jsonl", other) < 0.5
    assert reader.claims("x", []) == 0.0
    assert reader.claims("other.json", [{"agentType": "Explore"}]) == 0.0


def test_public_logs_are_claimed_by_their_own_reader_alone(shared: Any) -> None:
    from storage.detect import sample

    folders = {"claude-code": "claude_code"}
    taken = []
    for path in sorted((shared / "samples").rglob("*")):
        if path.is_file():
            with path.open("rb") as file:
                values = sample(file.read(1 << 18))[0]
            for name, reader in readers().items() if values else ():
                if reader.claims(str(path), values) >= 0.5 and folders.get(name, name) not in path.parts:
                    taken.append((name, str(path)))
    assert taken == []
