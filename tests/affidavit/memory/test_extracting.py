"""What the rules propose of a session's events, and what they leave alone."""

from __future__ import annotations

import pytest

from affidavit.memory.extracting import MOST_OF_ONE, Found, Seen, found_in, together


def found(*events: Seen) -> list[Found]:
    return list(found_in(events, lambda path: path.endswith("AGENTS.md")))


def user(text: str) -> Seen:
    return Seen("session/s#01", "user.message", "user", text)


@pytest.mark.parametrize(
    "text",
    [
        "Always run the linter before a commit.",
        "From now on the api listens on port 9000.",
        "please never force-push",
        "I prefer short answers.",
        "今後はテストを先に書いてください。",
        "必ず pnpm を使ってください。",
        "记住：提交前先运行测试。",
        "以后请不要修改生成的文件。",
        "我更喜欢简短的回答。",
    ],
)
def test_what_a_person_says_is_to_go_on_is_proposed(text: str) -> None:
    (one,) = found(user("Hello there.\n" + text))
    assert (one.rule, one.source, one.events) == ("explicit-user-statement", "explicit_user", ("session/s#01",))
    assert one.content == text.strip()


@pytest.mark.parametrize(
    "text",
    [
        "Should we always run the linter?",
        "npm error Exit handler never called!",
        "List the files",
        "いつもテストしますか?",
        "总是先测试吗？",
        "```\nalways do this\n```",
        "> always do this",
        "<reminder>always do this</reminder>",
        "always " + "x" * 500,
    ],
)
def test_questions_logs_quotes_and_code_are_not(text: str) -> None:
    assert found(user(text)) == []


def test_words_of_a_tool_or_an_agent_are_no_statement_of_a_person() -> None:
    said = "Always run the linter."
    assert found(user(said)._replace(actor="runtime"), Seen("a", "tool.finished", "tool", said)) == []
    assert found(Seen("a", "model.message", "agent", said)) == []


def test_a_wish_for_this_task_stays_with_it() -> None:
    assert [one.once for one in found(user("Always ask me first this time."), user("Always ask me first."))] == [
        True,
        False,
    ]


def test_what_an_agent_writes_into_memory_and_rules_is_its_reflection() -> None:
    memory = "/home/.claude/projects/-x/memory/a.md"
    text = f"{memory}\n---\nname: a\n---\n\nTests need a database.\n"
    edit = "/x/AGENTS.md\n-- old\n+- Use tabs in Makefiles\n+plain words\n"
    written = Seen("e1", "memory.write", "agent", text, (memory,), "Write")
    ruled = Seen("e2", "tool.intent", "agent", edit, ("/x/AGENTS.md",), "Edit")
    other = Seen("e3", "tool.intent", "agent", "/x/a.md\n+- Use tabs here", ("/x/a.md",), "Edit")
    one, two = found(written, ruled, other)
    assert (one.rule, one.content, one.artifacts) == ("memory-file-write", "Tests need a database.", (memory,))
    assert (two.rule, two.content, two.source) == ("rule-file-edit", "Use tabs in Makefiles", "agent_reflection")


def test_a_command_that_passed_is_named_with_the_file_that_says_so() -> None:
    read = Seen("e1", "tool.finished", "tool", '{"scripts": {"test": "vitest"}}', ("/x/package.json",), "Read", True)
    passed = Seen("e2", "verification", "tool", "ok", (), "Bash", True, "cd /x && pnpm test 2>&1 | tail -30\n\nabout")
    (one,) = found(read, passed)
    assert one.content == "`pnpm test` was seen to pass as a test; /x/package.json says so."
    assert (one.kind, one.events, one.artifacts) == ("project_fact", ("e2", "e1"), ("/x/package.json",))
    (alone,) = found(passed)
    assert (alone.kind, alone.artifacts) == ("task_experience", ())
    assert found(read, passed._replace(ok=False)) == found(read, passed._replace(command="ls")) == []


def test_an_agents_lesson_is_its_reflection() -> None:
    (one,) = found(Seen("e", "model.message", "agent", "Done. Lesson learned: the queue needs a restart."))
    assert (one.rule, one.kind) == ("agent-reflection", "task_experience")


def test_one_event_proposes_no_flood() -> None:
    assert len(found(user("\n".join(f"Always check number {n}" for n in range(100))))) == MOST_OF_ONE


def test_only_people_and_observations_repeat() -> None:
    seen = Found("command-observed", "`pytest` was seen to pass.", "task_experience", "verified_observation", ("a",))
    said = Found("agent-reflection", "The queue hangs", "task_experience", "agent_reflection", ("b",))
    pattern, echo = together([("s1", seen), ("s2", seen._replace(events=("c",))), *((f"s{n}", said) for n in range(5))])
    assert (pattern.rule, pattern.source, pattern.events) == ("seen-in-sessions", "repeated_pattern", ("a", "c"))
    assert echo == said
    once, twice = together([("s1", seen), ("s1", seen), ("s1", said), ("s2", said._replace(source="explicit_user"))])
    assert once.source == "verified_observation"
    assert (twice.source, twice.events) == ("explicit_user", ("b",))
