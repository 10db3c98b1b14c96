"""What Claude Code's user and assistant records say: who speaks, what begins a turn, what a message cost."""

from __future__ import annotations

from typing import Any

import pytest

from affidavit.session.event import Draft, Reading
from affidavit.session.sidechains import SIDE
from storage.readers.claude_code import ClaudeCode
from tests.storage import claude_fixtures as log

MAIN: tuple[str | None, str] = (None, "")


def read(record: Any, scope: tuple[str | None, str] = MAIN) -> Reading:
    return ClaudeCode().read(record, scope)


def one(record: Any, scope: tuple[str | None, str] = MAIN) -> Draft:
    (draft,) = read(record, scope).drafts
    return draft


# ------------------------------------------------------------------------------------------------ envelope


def test_a_record_gives_its_session_id_parent_time_and_where_it_stood() -> None:
    (_, said) = log.chain(log.person("a"), log.says("b"))
    reading = read(said)
    assert (reading.status, reading.session, reading.native, reading.parent) == ("mapped", log.SESSION, "r2", "r1")
    assert reading.at == "2026-03-02T09:00:02.000Z"
    assert reading.facts == {"cwd": log.CWD, "git_branch": "main", "version": "2.1.199"}
    assert reading.lane == ""
    assert reading.leaf


def test_a_time_stays_exactly_as_recorded() -> None:
    assert read(log.person("a", timestamp="2026-03-02 10:00")).at == "2026-03-02 10:00"
    assert read(log.person("a", timestamp=1772445600)).at == "1772445600"
    assert read(log.person("a")).at is None


def test_the_first_event_of_a_record_has_no_path_and_later_ones_their_place() -> None:
    blocks = [{"type": "thinking", "thinking": "t"}, {"type": "text", "text": "a"}, {"type": "text", "text": "b"}]
    assert [draft.path for draft in read(log.answer(*blocks)).drafts] == ["", "1", "2"]


# ------------------------------------------------------------------------------------------- who speaks


def test_a_persons_message_is_theirs_whole_and_begins_a_turn() -> None:
    text = "Final Answer\n---\n[Request interrupted by user] is what I saw.\n<local-command-stdout>no</…>"
    reading = read(log.person(text, "p7"))
    (draft,) = reading.drafts
    assert (draft.kind, draft.actor, draft.text) == ("user.message", "user", text)
    assert reading.prompt == "p7"
    assert reading.facts is not None
    assert reading.facts["title.prompt"] == "Final Answer"


def test_a_turn_is_keyed_by_the_records_id_where_no_prompt_id_is_written() -> None:
    assert read(log.person("hi", uuid="u1")).prompt == "u1"


def test_messages_without_any_id_still_begin_turns_of_their_own() -> None:
    first, second = read(log.person("hi")).prompt, read(log.person("ho")).prompt
    assert first
    assert second
    assert first != second
    assert read(log.person("hi")).prompt == first


def test_text_and_picture_of_one_message_are_events_of_one_turn() -> None:
    picture = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "QUJD" * 1000}}
    reading = read(log.person([picture, {"type": "text", "text": "What is this?"}], "p1"))
    assert [(draft.kind, draft.text) for draft in reading.drafts] == [
        ("user.message", "[image image/png, 3 kB]"),
        ("user.message", "What is this?"),
    ]
    assert reading.prompt == "p1"


@pytest.mark.parametrize(
    ("record", "kind", "actor"),
    [
        (log.person("a note of the program", "p1", isMeta=True), "context.injected", "runtime"),
        (log.person("<local-command-stdout>$0.12</local-command-stdout>", "p1"), "context.injected", "runtime"),
        (log.person("<bash-stdout>a.txt</bash-stdout>", "p1"), "context.injected", "runtime"),
        (log.person("<task-notification>\n<task-id>b1</task-id>", "p1"), "context.injected", "runtime"),
        (log.person("done", promptId="p1", origin={"kind": "task-notification"}), "context.injected", "runtime"),
        (log.person("go on", promptId="p1", promptSource="system"), "context.injected", "runtime"),
        (log.person("<system-reminder>be brief</system-reminder>", "p1"), "context.injected", "runtime"),
        (log.person("<teammate-message teammate_id=\"x\">hi</teammate-message>"), "context.injected", "agent"),
        (log.person("What came before", "p1", isCompactSummary=True), "context.injected", "runtime"),
        (log.person("[Request interrupted by user]", "p1"), "lifecycle", "user"),
        (log.person([{"type": "text", "text": "[Request interrupted by user for tool use]"}]), "lifecycle", "user"),
        (log.result("ok", promptId="p1"), "tool.finished", "tool"),
    ],
)  # fmt: skip
def test_what_no_person_typed_begins_no_turn(record: Any, kind: str, actor: str) -> None:
    reading = read(record)
    (draft,) = reading.drafts
    assert (draft.kind, draft.actor) == (kind, actor)
    assert reading.prompt is None
    assert "title.prompt" not in (reading.facts or {})


def test_the_text_of_an_injected_record_stands_whole() -> None:
    said = "<system-reminder>\nKeep it short.\n</system-reminder>\nand more"
    draft = one(log.person(said))
    assert draft.text == said
    assert draft.summary == "system reminder: Keep it short."


def test_a_compactions_summary_says_what_it_is() -> None:
    draft = one(log.person("This session goes on.", isCompactSummary=True))
    assert (draft.text, draft.summary) == ("This session goes on.", "summary of what came before")


def test_an_interruption_is_inferred() -> None:
    assert one(log.person("[Request interrupted by user]")).inferred


@pytest.mark.parametrize(
    ("said", "line"),
    [
        ("<command-name>/review</command-name>\n<command-args>src now</command-args>", "/review src now"),
        ("<command-message>init is running…</command-message>\n<command-name>/init</command-name>", "/init"),
        ("<bash-input>git status</bash-input>", "!git status"),
    ],
)
def test_a_command_was_typed_by_the_person_and_begins_a_turn(said: str, line: str) -> None:
    reading = read(log.person(said, "p3"))
    (draft,) = reading.drafts
    assert (draft.kind, draft.actor, draft.text, draft.summary) == ("user.message", "user", said, line)
    assert reading.prompt == "p3"


def test_a_bare_command_is_no_title_and_one_with_arguments_is() -> None:
    assert "title.prompt" not in (read(log.person("<command-name>/clear</command-name>")).facts or {})
    facts = read(log.person("<command-name>/fix</command-name><command-args>the role test</command-args>")).facts
    assert facts is not None
    assert facts["title.prompt"] == "/fix the role test"


# ------------------------------------------------------------------------------------------ the queue


def test_a_message_taken_into_a_running_turn_is_the_persons_and_begins_a_turn() -> None:
    record = log.attachment(
        "queued_command", prompt="And the tests?", commandMode="prompt", origin={"kind": "human"}, source_uuid="q1"
    )
    reading = read(record)
    (draft,) = reading.drafts
    assert (draft.kind, draft.actor, draft.text) == ("user.message", "user", "And the tests?")
    assert reading.prompt == "q1"
    waited = read(log.person("And the tests?", uuid="q1"))
    assert waited.prompt == reading.prompt


@pytest.mark.parametrize(
    "fields",
    [
        {"commandMode": "task-notification", "prompt": "<task-notification>done"},
        {"commandMode": "prompt", "prompt": "go on", "isMeta": True},
        {"commandMode": "prompt", "prompt": "from afar", "origin": {"kind": "peer"}},
    ],
)
def test_a_queued_text_of_the_program_begins_no_turn(fields: dict[str, Any]) -> None:
    reading = read(log.attachment("queued_command", **fields))
    (draft,) = reading.drafts
    assert draft.kind == "context.injected"
    assert reading.prompt is None


def test_what_was_put_in_the_queue_is_kept_and_begins_no_turn() -> None:
    reading = read(log.flat("queue-operation", operation="enqueue", content="And the tests?"))
    (draft,) = reading.drafts
    assert (draft.kind, draft.actor, draft.text) == ("lifecycle", "user", "And the tests?")
    assert reading.prompt is None
    assert read(log.flat("queue-operation", operation="dequeue")).drafts == []


def test_a_queued_message_with_a_picture_names_it() -> None:
    picture = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "QUJD"}}
    record = log.attachment("queued_command", prompt=[picture, {"type": "text", "text": "this"}], commandMode="prompt")
    assert one(record).text == "[image image/png, 3 B]\nthis"


# ------------------------------------------------------------------------------------------ the model


def test_the_model_says_thinks_and_asks() -> None:
    reading = read(
        log.answer(
            {"type": "thinking", "thinking": "Look first.", "signature": "c2ln"},
            {"type": "text", "text": "I look."},
            {"type": "tool_use", "id": "toolu_1", "name": "Read", "input": {"file_path": "/a.py"}},
        )
    )
    assert [(draft.kind, draft.actor, draft.text) for draft in reading.drafts] == [
        ("model.reasoning", "agent", "Look first."),
        ("model.message", "agent", "I look."),
        ("tool.intent", "agent", "/a.py"),
    ]


@pytest.mark.parametrize(
    "block",
    [
        {"type": "thinking", "thinking": "", "signature": "c2lnbmF0dXJl"},
        {"type": "thinking", "signature": "c2lnbmF0dXJl"},
        {"type": "redacted_thinking", "data": "ZW5jcnlwdGVk"},
    ],
)
def test_thinking_without_its_text_says_so(block: dict[str, Any]) -> None:
    draft = one(log.answer(block))
    assert (draft.kind, draft.text) == ("model.reasoning", "")
    assert draft.flags == ("withheld_or_empty",)
    assert draft.summary is not None
    assert draft.summary.startswith("withheld")


def test_an_error_the_client_wrote_in_the_models_place_is_an_error() -> None:
    reading = read(log.says("You've hit your limit", model="<synthetic>", isApiErrorMessage=True, error="rate_limit"))
    (draft,) = reading.drafts
    assert (draft.kind, draft.actor, draft.ok) == ("error", "runtime", False)
    assert reading.usage is None
    assert one(log.says("API Error: 500", model=log.MODEL, isApiErrorMessage=True)).kind == "error"


def test_a_line_the_client_wrote_that_is_no_error_is_none() -> None:
    draft = one(log.says("No response requested.", model="<synthetic>", isApiErrorMessage=False))
    assert (draft.kind, draft.actor) == ("lifecycle", "runtime")


def test_a_change_of_the_model_is_told() -> None:
    draft = one(log.answer({"type": "fallback", "from": {"model": "a"}, "to": {"model": "b"}}))
    assert (draft.kind, draft.text) == ("lifecycle", "model changed from a to b")


def test_what_the_providers_own_tool_gave_is_an_observation() -> None:
    reading = read(
        log.answer(
            {"type": "server_tool_use", "id": "srv_1", "name": "web_search", "input": {"query": "acme"}},
            {
                "type": "web_search_tool_result",
                "tool_use_id": "srv_1",
                "content": [{"type": "web_search_result", "title": "Acme", "url": "https://example.com"}],
            },
            {"type": "web_search_tool_result", "tool_use_id": "srv_2", "content": {"type": "web_search_tool_error"}},
        )
    )
    assert [(d.kind, d.call, d.ok) for d in reading.drafts] == [
        ("tool.intent", "srv_1", None),
        ("tool.finished", "srv_1", True),
        ("tool.finished", "srv_2", False),
    ]
    assert reading.drafts[1].text == "Acme https://example.com"


def test_a_block_of_an_unknown_type_is_kept_whole_beside_the_known() -> None:
    reading = read(log.answer({"type": "hologram", "beam": 3}, {"type": "text", "text": "a"}))
    assert reading.status == "mapped"
    assert [(draft.kind, draft.text) for draft in reading.drafts] == [
        ("unknown", '{"type":"hologram","beam":3}'),
        ("model.message", "a"),
    ]


# ------------------------------------------------------------------------------------------ what it cost


def test_every_line_of_a_message_gives_its_usage_under_the_messages_id() -> None:
    usages = [read(one_).usage for one_ in log.session() if one_["type"] == "assistant"]
    assert all(usage is not None for usage in usages)
    told = [(usage.message, usage.output) for usage in usages if usage is not None]
    assert told[:4] == [("msg_1", 1), ("msg_1", 1), ("msg_1", 84), ("msg_2", 40)]


def test_usage_holds_what_was_read_written_and_cached() -> None:
    usage = read(log.says("a", usage=log.tokens(1, 2, 3, 4))).usage
    assert usage is not None
    assert (usage.model, usage.input, usage.output, usage.cache_read, usage.cache_write) == (log.MODEL, 1, 2, 3, 4)


def test_a_message_without_an_id_counts_under_its_record() -> None:
    usage = read(log.says("a", id=None, uuid="u9")).usage
    assert usage is not None
    assert usage.message == "u9"


def test_history_a_fork_copied_cost_nothing_here() -> None:
    reading = read(log.says("a", forkedFrom={"sessionId": "other", "messageUuid": "u"}))
    assert reading.usage is None
    assert reading.drafts[0].text == "a"


@pytest.mark.parametrize("usage", ["null", 7, [], True])
def test_usage_of_another_shape_is_flagged_and_says_nothing(usage: Any) -> None:
    reading = read(log.says("a", usage=usage))
    assert reading.usage is None
    assert reading.flags == ("shape",)
    assert reading.drafts[0].text == "a"


def test_a_count_that_is_none_is_taken_as_nothing_and_flagged() -> None:
    reading = read(log.says("a", usage={"input_tokens": -5, "output_tokens": "12", "cache_read_input_tokens": 2**80}))
    usage = reading.usage
    assert usage is not None
    assert (usage.input, usage.output, usage.cache_read, usage.cache_write) == (0, 12, 0, 0)
    assert reading.flags == ("shape",)


# ------------------------------------------------------------------------------------------ sub-agents


def test_a_sub_agents_records_are_its_lane_and_name_their_speaker() -> None:
    files = log.with_helper()
    path, records = next((path, records) for path, records in files.items() if path.endswith(f"{log.HELPER}.jsonl"))
    scope = ClaudeCode().scope(path)
    assert scope == (log.SESSION, log.HELPER)
    readings = [read(record, scope) for record in records]
    assert {reading.lane for reading in readings} == {log.HELPER}
    assert [(d.kind, d.actor) for reading in readings for d in reading.drafts] == [
        ("user.message", "agent"),
        ("tool.intent", "subagent"),
        ("tool.finished", "tool"),
        ("model.message", "subagent"),
    ]
    assert all(reading.prompt is None and reading.facts is None for reading in readings)


def test_the_file_beside_a_sub_agents_log_names_its_lane() -> None:
    files = log.with_helper()
    path, (about,) = next((path, records) for path, records in files.items() if path.endswith(".meta.json"))
    reader = ClaudeCode()
    assert reader.claims(path, [about]) == 1.0
    reading = reader.read(about, reader.scope(path))
    assert (reading.status, reading.session, reading.lane, reading.drafts) == ("mapped", log.SESSION, log.HELPER, [])
    assert reading.lane_facts == {"title": "Explore: find callers", "depth": "1", "call": "toolu_1"}


def test_the_result_of_a_task_names_the_lane_it_started() -> None:
    draft = one(log.with_helper()[f"-home-ada-acme/{log.SESSION}.jsonl"][2])
    assert (draft.spawns, draft.millis) == (log.HELPER, 4200)


def test_the_task_of_a_sub_agent_between_the_main_agents_records_is_known_by_its_words() -> None:
    reading = read({**log.person("Do it.", "p1"), "isSidechain": True})
    call = {**log.calls("Task", prompt=" Do it.\n", description="it", subagent_type="doer"), "version": "1.0.71"}
    assert (reading.lane, reading.drafts[0].actor) == (SIDE, "agent")
    assert one(call).spawns == f"={reading.prompt} doer: it"
    assert one({**call, "version": "2.1.199"}).spawns is None


def test_the_path_tells_the_session_where_the_record_names_another() -> None:
    reading = read(log.in_helper({**log.says("a"), "sessionId": "agent-x"}), ("parent", "x"))
    assert reading.session == "parent"
