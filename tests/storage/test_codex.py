"""Codex's rollouts, in both of their generations: what becomes of each record, and what is counted once."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import zstandard
from codex_fixtures import NAME, THREAD, a_session, at, called, gave, item, line, notice, opened, said, spent, written
from hypothesis import given, settings
from hypothesis import strategies as st
from kept import assert_holds, assert_same, dicts, events, imported, meaning, store_in, take, write

from storage import opening
from storage.archive import Archive
from storage.detect import files
from storage.readers.codex import Codex

PARENT = "019aaaaa-0000-7000-8000-000000000009"


def shown(path: str) -> list[tuple[str, str]]:
    return [(row["kind"], row["summary"]) for row in events(path)]


def test_a_turn_is_told_once(tmp_path: Path) -> None:
    path, report = imported(tmp_path, written(a_session()), NAME)
    (file,) = report.files
    assert (file.format, file.mapped, file.records) == ("codex", len(a_session()), len(a_session()))
    assert shown(path) == [
        ("session.opened", "codex-tui · 0.140.0 · cli"),
        ("context.injected", "<environment_context><cwd>/w/acme</cwd></environment_context>"),
        ("lifecycle", "task started"),
        ("lifecycle", "model model-x · approval on-request · sandbox workspace-write"),
        ("user.message", "Fix the failing role test"),
        ("model.reasoning", "Look at the test first"),
        ("model.reasoning", "withheld: the log holds it encrypted"),
        ("tool.intent", "pytest -q tests/test_role.py"),
        ("verification", "1 failed, 3 passed in 0.4s"),
        ("lifecycle", "tokens: 1000 in (600 from the cache), 50 out"),
        ("tool.intent", "src/session.py"),
        ("tool.finished", "Success. Updated src/session.py"),
        ("tool.intent", "git push"),
        ("permission.decision", "not allowed to leave the sandbox (needs the network): git push"),
        ("permission.decision", "rejected: exec command rejected by user"),
        ("tool.intent", "pytest -q"),
        ("verification", "4 passed in 0.4s"),
        ("lifecycle", "tokens: 1500 in (1200 from the cache), 70 out"),
        ("lifecycle", "tokens: 1500 in (1200 from the cache), 70 out"),
        ("model.message", "The role is set now."),
        ("lifecycle", "task done"),
    ]
    (session,) = dicts(path, "SELECT * FROM session")
    assert (session["native"], session["title"], session["cwd"], session["git_branch"], session["version"]) == (
        THREAD, "Fix the failing role test", "/w/acme", "main", "0.140.0",
    )  # fmt: skip
    assert (session["turns"], session["lanes"], session["branches"], session["checked"]) == (1, 1, 1, "passed")
    assert json.loads(session["models"]) == ["model-x"]
    assert_holds(path)


def test_results_say_how_they_went_and_how_long_they_took(tmp_path: Path) -> None:
    path, _ = imported(tmp_path, written(a_session()), NAME)
    results = [row for row in events(path) if row["kind"] in ("tool.finished", "verification", "permission.decision")]
    assert [(row["ok"], row["millis"], row["inferred"]) for row in results] == [
        (0, 1500, 0), (1, 250, 0), (0, None, 1), (0, 1000, 1), (1, 1500, 0),
    ]  # fmt: skip
    assert all(row["pair"] for row in results)


def test_tokens_are_counted_once_however_often_they_are_told_and_whatever_is_reset(tmp_path: Path) -> None:
    log = a_session()
    log += [
        spent(20, 300, 0, 11, (300, 0, 11)),
        spent(21, 300, 0, 11, (300, 0, 11)),
        notice("token_count", 22, info=None),
    ]
    path, report = imported(tmp_path, written(log), NAME)
    (session,) = dicts(path, "SELECT * FROM session")
    read = (session["tokens_in"], session["tokens_out"], session["cache_read"], session["cache_write"])
    assert read == (400 + 300 + 300, 50 + 70 + 11, 600 + 1200, 0)
    assert report.total("unknown") == 0


def test_a_notice_of_no_tokens_takes_none_away(tmp_path: Path) -> None:
    log = [opened(), spent(1, 300, 100, 40, (300, 100, 40)), spent(2, 0, 0, 0, (300, 100, 40))]
    path, _ = imported(tmp_path, written(log), NAME)
    read = dicts(path, "SELECT tokens_in, tokens_out, cache_read FROM session")
    assert read == [{"tokens_in": 200, "tokens_out": 40, "cache_read": 100}]


def test_every_human_message_begins_a_turn_and_nothing_the_client_puts_in_does(tmp_path: Path) -> None:
    log = [opened()]
    for second, text in enumerate(
        ("First", "# AGENTS.md instructions for /w", "<user_instructions>x", "Second", "First")
    ):
        log.append(said("user", second + 1, text))
    log.append(said("developer", 9, "Follow the permissions"))
    path, _ = imported(tmp_path, written(log), NAME)
    kinds = [row["kind"] for row in events(path)]
    assert kinds == [
        "session.opened",
        "user.message",
        *["context.injected"] * 2,
        *["user.message"] * 2,
        "context.injected",
    ]
    assert dicts(path, "SELECT turns FROM session") == [{"turns": 3}]


def test_records_without_an_envelope_are_read_alike(tmp_path: Path) -> None:
    log: list[dict[str, Any]] = [
        {"id": THREAD, "timestamp": at(0), "instructions": "# Rules", "git": {"branch": "main"}},
        {"record_type": "state"},
        {"type": "message", "id": None, "role": "user", "content": [{"type": "input_text", "text": "Solve it"}]},
        {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": None},
        {"type": "function_call", "id": "fc_1", "name": "shell", "call_id": "c1",
         "arguments": '{"command":["bash","-lc","pytest"]}'},
        {"record_type": "state"},
        {"type": "function_call_output", "call_id": "c1",
         "output": '{"output":"2 passed in 0.1s\\n","metadata":{"exit_code":0,"duration_seconds":0.4}}'},
    ]  # fmt: skip
    path, report = imported(tmp_path, written(log), "rollout-old.jsonl")
    assert (report.files[0].format, report.total("unknown")) == ("codex", 0)
    assert [kind for kind, _ in shown(path)] == [
        "session.opened", "user.message", "model.reasoning", "tool.intent", "verification",
    ]  # fmt: skip
    (session,) = dicts(path, "SELECT * FROM session")
    assert (session["native"], session["turns"], session["checked"]) == (THREAD, 1, "passed")


def test_a_forks_copied_beginning_opens_no_other_session(tmp_path: Path) -> None:
    log = [
        opened(forked_from_id=PARENT, source={"subagent": {"thread_spawn": {"parent_thread_id": PARENT, "depth": 1}}}),
        opened(id=PARENT, cwd="/w/other"),
        said("user", 1, "Look at the parser"),
    ]
    path, _ = imported(tmp_path, written(log), NAME)
    (session,) = dicts(path, "SELECT * FROM session")
    assert (session["native"], session["cwd"]) == (THREAD, "/w/acme")
    assert shown(path)[:2] == [
        ("session.opened", f"codex-tui · 0.140.0 · forked from {PARENT}"),
        ("lifecycle", f"history copied from session {PARENT}"),
    ]


@pytest.mark.parametrize(
    ("record", "kind", "summary"),
    [
        (line("compacted", 1, message="What was done"), "compaction", "What was done"),
        (line("compacted", 1, message="", replacement_history=[{"type": "message"}] * 3), "compaction",
         "context replaced by 3 messages"),
        (notice("turn_aborted", 1, reason="interrupted"), "error", "turn ended early: interrupted"),
        (notice("error", 1, message="stream closed"), "error", "stream closed"),
        (notice("thread_rolled_back", 1, num_turns=2), "lifecycle",
         "rolled back: the last 2 turns were taken out of the context; they stay in the log"),
        (notice("entered_review_mode", 1, user_facing_hint="all changes"), "lifecycle", "review begins: all changes"),
        (notice("exited_review_mode", 1, review_output={"findings": [{}], "overall_explanation": "A bug"}), "lifecycle",
         "review done: 1 finding; A bug"),
        (notice("guardian_assessment", 1, status="denied", action={"command": "rm -rf /"}), "permission.decision",
         "guardian denied: rm -rf /"),
        (notice("collab_agent_spawn_end", 1, new_agent_nickname="Ada", prompt="Check it"), "lifecycle",
         "agent spawn Ada: Check it"),
        (item("web_search_call", 1, action={"type": "search", "query": "sqlite"}), "retrieval.request", "sqlite"),
        (item("agent_message", 1, author="ada", recipient="root", content=[{"type": "input_text", "text": "Done"}]),
         "context.injected", "ada to root: Done"),
        (item("mystery", 1, x=1), "unknown", "unknown response_item mystery"),
        (notice("mystery", 1, x=1), "unknown", "unknown event_msg mystery"),
        (line("mystery", 1, x=1), "unknown", "unknown type mystery"),
    ],
)  # fmt: skip
def test_what_else_a_rollout_tells(tmp_path: Path, record: dict[str, Any], kind: str, summary: str) -> None:
    path, report = imported(tmp_path, written([opened(), record]), NAME)
    assert shown(path)[1:] == [(kind, summary)]
    assert report.total("unknown") == (kind == "unknown")


def test_a_name_given_to_a_thread_is_its_title(tmp_path: Path) -> None:
    log = [opened(), said("user", 1, "Fix it"), notice("thread_name_updated", 2, thread_name="Role test")]
    path, _ = imported(tmp_path, written(log), NAME)
    assert dicts(path, "SELECT title FROM session") == [{"title": "Role test"}]


values = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 10**6) | st.floats(allow_nan=False) | st.text(max_size=12),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner, max_size=3),
    max_leaves=8,
)
known = [one["payload"]["type"] for one in a_session() if "type" in one["payload"]] + [
    "compaction",
    "error",
    "web_search_call",
]
keys = (
    "id",
    "call_id",
    "role",
    "content",
    "output",
    "arguments",
    "input",
    "action",
    "info",
    "summary",
    "name",
    "message",
)


@settings(deadline=None, derandomize=True, max_examples=300)
@given(
    st.sampled_from(
        ["session_meta", "turn_context", "response_item", "event_msg", "compacted", "world_state", "x", None]
    ),
    st.sampled_from([*known, "x", 7]),
    st.dictionaries(st.sampled_from(keys), values, max_size=6),
    values,
)
def test_no_shape_makes_it_raise(kind: Any, inner: Any, payload: dict[str, Any], other: Any) -> None:
    reader = Codex()
    for value in ({"type": kind, "payload": {"type": inner, **payload}}, {"type": inner, **payload}, other,
                  {"type": kind, "payload": other}):  # fmt: skip
        reading = reader.read(value, (None, ""))
        assert reading.status in ("mapped", "unknown")
        assert all(isinstance(draft.text, str) for draft in reading.drafts)
        assert 0 <= reader.claims("a.jsonl", [value]) <= 1


# ------------------------------------------------------------------------------------------- compressed in place


def packed(data: bytes) -> bytes:
    return zstandard.ZstdCompressor(write_checksum=True).compress(data)


def test_a_compressed_log_is_read_like_the_plain_one(tmp_path: Path) -> None:
    data = written(a_session())
    plain, _ = imported(tmp_path / "plain", data, NAME)
    path, report = imported(tmp_path / "packed", packed(data[:500]) + packed(data[500:]), NAME + ".zst")
    assert (report.files[0].format, report.files[0].note) == ("codex", None)
    with Archive.open(path) as archive:
        (source,) = archive.sources()
        assert b"".join(archive.original(source.key)) == data
    own, other = meaning(plain), meaning(path)
    for tables in (own, other):
        tables["source"] = tables["repeated"] = []
    assert_same(own, other)
    with store_in(tmp_path / "packed") as store:
        again = take(store, tmp_path / "packed" / "logs")
    assert (again.total("records"), again.files[0].note) == (0, None)


def test_what_a_log_said_before_it_was_compressed_is_counted_once(tmp_path: Path) -> None:
    data = written(a_session())
    path, _ = imported(tmp_path, {NAME: data, NAME + ".zst": packed(data)})
    assert len(dicts(path, "SELECT no FROM session")) == 1
    assert len(events(path)) == 21
    assert dicts(path, "SELECT tokens_out FROM session") == [{"tokens_out": 120}]


@pytest.mark.parametrize("harm", ["cut", "damaged"])
def test_a_compressed_log_is_read_as_far_as_it_goes(tmp_path: Path, harm: str) -> None:
    first, second = packed(written(a_session()[:10])), packed(written(a_session()[10:]))
    harmed = second[:-8] if harm == "cut" else second[:4] + b"\xff" * 20 + second[24:]
    _, report = imported(tmp_path, first + harmed, NAME + ".zst")
    (file,) = report.files
    assert file.records >= 10
    assert file.note is not None
    assert harm in file.note


def test_nothing_but_harm_is_said_to_be_unreadable(tmp_path: Path) -> None:
    _, report = imported(tmp_path, opening.MAGIC + b"\xff" * 50, NAME + ".zst")
    assert (report.files[0].skipped, report.files[0].records) == ("unreadable", 0)
    assert "damaged" in str(report.files[0].note)


def test_what_unpacks_to_more_than_any_log_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(opening, "MOST_UNPACKED", 1 << 20)
    _, report = imported(tmp_path, packed(b" " * (64 << 20)), NAME + ".zst")
    assert (report.files[0].skipped, report.files[0].records) == ("unreadable", 0)
    assert "unpacks to more than" in str(report.files[0].note)


# --------------------------------------------------------------------------------------------------- real logs


def test_real_logs_are_kept_accounted_for_and_proven(shared: Path, tmp_path: Path) -> None:
    logs = [Path(file) for file in files(str(shared / "samples" / "codex"), [])]
    with store_in(tmp_path) as store:
        report = take(store, *logs)
        again = take(store, *logs)
        path = store.path
    assert again.total("records") == 0
    assert report.total("mapped") > 2_000
    whole = {str(file.resolve()): file.read_bytes() for file in logs}
    with Archive.open(path) as archive:
        for source in archive.sources():
            assert whole[source.file].startswith(b"".join(archive.original(source.key)))
        for session in archive.sessions(limit=1_000).rows:
            for detail in archive.iter_events(session.key):
                place = detail.source
                assert archive.raw(detail.row.key) == whole[place.file][place.offset : place.offset + place.length]
    assert_holds(path)


def test_tokens_of_a_real_log_are_those_it_ends_with(shared: Path, tmp_path: Path) -> None:
    log = max((shared / "samples" / "codex" / "growing").rglob("*.jsonl"))
    totals = [
        json.loads(one)["payload"]["info"]["total_token_usage"] for one in log.open() if '"total_token_usage"' in one
    ]
    path, _ = imported(tmp_path, log.read_bytes(), log.name)
    (session,) = dicts(path, "SELECT tokens_in, tokens_out, cache_read FROM session")
    assert session["tokens_out"] == totals[-1]["output_tokens"]
    assert session["cache_read"] == totals[-1]["cached_input_tokens"]
    assert session["tokens_in"] + session["cache_read"] == totals[-1]["input_tokens"]


def test_a_real_log_read_as_it_grew_means_what_it_means_at_once(shared: Path, tmp_path: Path) -> None:
    steps = sorted((shared / "samples" / "codex" / "growing").rglob("*.jsonl"))
    file = tmp_path / NAME
    with store_in(tmp_path, "grown.db") as grown:
        for step in steps:
            file.write_bytes(step.read_bytes())
            take(grown, file)
        with store_in(tmp_path, "whole.db") as whole:
            take(whole, file)
            assert_same(meaning(whole.path), meaning(grown.path))


# ---------------------------------------------------------------------------------------- what holds from here on


def under(second: int, **policy: Any) -> dict[str, Any]:
    return line("turn_context", second, **{"model": "m1", "approval_policy": "on-request", "cwd": "/w/acme", **policy})


def test_what_changed_of_a_policy_is_told(tmp_path: Path) -> None:
    sandbox = {"type": "workspace-write", "network_access": False}
    log = [
        opened(),
        under(1, sandbox_policy=sandbox, effort="low"),
        under(2, sandbox_policy=sandbox, effort="low"),
        under(3, sandbox_policy={"type": "danger-full-access"}, approval_policy="never", effort="high", model="m2"),
        notice("thread_settings_applied", 4, thread_settings={"approval_policy": "on-request", "cwd": "/w/other"}),
        under(5, sandbox_policy={"type": "danger-full-access"}, effort="high", model="m2", cwd="/w/other"),
    ]
    whole, _ = imported(tmp_path, written(log), NAME)
    assert [summary for _, summary in shown(whole)[1:]] == [
        "model m1 · effort low · approval on-request · sandbox workspace-write",
        "model m1 · effort low · approval on-request · sandbox workspace-write",
        "model m1 → m2 · effort low → high · approval on-request → never · "
        "sandbox workspace-write → danger-full-access",
        "approval never → on-request · cwd /w/acme → /w/other",
        "model m2 · effort high · approval on-request · sandbox danger-full-access",
    ]
    (session,) = dicts(whole, "SELECT cwd, state FROM session")
    assert json.loads(session["state"])["policy"] == {
        "model": "m2", "effort": "high", "approval": "on-request", "sandbox": "danger-full-access",
        "network": "refused", "cwd": "/w/other",
    }  # fmt: skip
    assert session["cwd"] == "/w/other"
    assert_holds(whole)


@pytest.mark.parametrize(
    ("asking", "result", "ok", "summary"),
    [
        ({"sandbox_permissions": "require_escalated", "justification": "needs it"}, "Process exited with code 0\n", 1,
          "allowed to leave the sandbox (needs it): git push"),
        ({"with_escalated_permissions": True}, '{"output":"x","metadata":{"exit_code":1}}', 1,
         "allowed to leave the sandbox: git push"),
        ({"with_escalated_permissions": True}, "exec command rejected by user", 0,
         "not allowed to leave the sandbox: git push"),
        ({"with_escalated_permissions": True}, None, None, "asks to leave the sandbox: git push"),
    ],
)  # fmt: skip
def test_a_request_to_leave_the_sandbox_is_shown_as_asked_and_what_came_of_it_as_inferred(
    tmp_path: Path, asking: dict[str, Any], result: str | None, ok: int | None, summary: str
) -> None:
    log = [opened(), called(1, "c1", cmd="git push", **asking)]
    if result is not None:
        log.append(gave(5, "c1", result))
    path, _ = imported(tmp_path, written(log), NAME)
    (asked,) = events(path, "kind = 'permission.decision' AND actor = 'agent'")
    assert (asked["summary"], asked["ok"], asked["inferred"]) == (summary, ok, int(ok is not None))
    assert events(path, "kind = 'tool.intent'")[0]["summary"] == "git push"
    assert (asked["pair"] is not None) == (result is not None)
    first = meaning(path)
    with store_in(tmp_path, "grown.db") as grown:
        for end in (len(written(log[:2])), len(written(log))):
            take(grown, write(tmp_path / "logs", written(log)[:end], NAME))
        assert_same(first, meaning(grown.path))
        assert_holds(grown.path)


def test_turns_that_were_rolled_back_are_an_abandoned_branch(tmp_path: Path) -> None:
    log = [opened()]
    for second, text in enumerate(("One", "Two", "Three"), 1):
        log += [said("user", second * 10, text), said("assistant", second * 10 + 1, f"Did {text}")]
    log += [
        notice("thread_rolled_back", 50, num_turns=2),
        said("user", 51, "Other"),
        said("assistant", 52, "Did other"),
    ]
    path, _ = imported(tmp_path, written(log), NAME)
    query = "SELECT t.turn, t.parent, t.branch, e.summary FROM turn t JOIN event e ON e.n = t.n ORDER BY t.turn"
    assert [tuple(row.values()) for row in dicts(path, query)] == [
        (1, 0, 0, "One"), (2, 1, 1, "Two"), (3, 2, 1, "Three"), (4, 1, 0, "Other"),
    ]  # fmt: skip
    assert dicts(path, "SELECT branches FROM session") == [{"branches": 2}]
    assert_holds(path)


def test_a_conversation_may_be_rolled_back_to_its_beginning(tmp_path: Path) -> None:
    log = [opened(), said("user", 1, "One"), notice("thread_rolled_back", 2, num_turns=9), said("user", 3, "Two")]
    path, _ = imported(tmp_path, written(log), NAME)
    assert dicts(path, "SELECT turn, parent, branch FROM turn ORDER BY turn") == [
        {"turn": 1, "parent": 0, "branch": 1},
        {"turn": 2, "parent": 0, "branch": 0},
    ]
    assert_holds(path)


def test_where_only_totals_are_told_what_is_more_than_before_is_counted(tmp_path: Path) -> None:
    def totals(second: int, took: int, cached: int, gave: int) -> dict[str, Any]:
        told = {"input_tokens": took, "cached_input_tokens": cached, "output_tokens": gave}
        return notice("token_count", second, info={"total_token_usage": told})

    log = [opened(), totals(1, 100, 40, 10), totals(2, 100, 40, 10), spent(3, 50, 10, 5, (150, 50, 15)),
           totals(4, 160, 50, 17), totals(5, 30, 0, 3), totals(6, 31, 0, 3)]  # fmt: skip
    for batch in (log, log[:3]):
        path, _ = imported(tmp_path / str(len(batch)), written(batch), NAME)
        (session,) = dicts(path, "SELECT tokens_in, tokens_out, cache_read FROM session")
        assert session["tokens_in"] + session["cache_read"] == (160 + 31 if batch is log else 100)
        assert session["tokens_out"] == (17 + 3 if batch is log else 10)
        assert_holds(path)


def test_tokens_of_a_turn_that_was_completed_are_counted(tmp_path: Path) -> None:
    log = [opened()]
    for second, (took, made) in enumerate(((1420, 910), (2840, 1520)), 1):
        log.append(notice("turn.completed", second, usage={"input_tokens": took, "output_tokens": made}))
    path, _ = imported(tmp_path, written(log), NAME)
    assert dicts(path, "SELECT tokens_in, tokens_out FROM session") == [{"tokens_in": 2840, "tokens_out": 1520}]
