"""What lines of our own say when they are read."""

from __future__ import annotations

from base64 import b64encode
from hashlib import sha256
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from affidavit.session.event import ACTORS, FLAGS, KINDS, Reading
from storage.readers import readers
from storage.readers.own import Own


def event(kind: str = "note", **fields: Any) -> dict[str, Any]:
    return {"type": "session.event", "session": "s1", "kind": kind, **fields}


def read(value: Any) -> Reading:
    return Own().read(value, (None, ""))


def test_a_line_gives_everything_it_states() -> None:
    reading = read(
        event(
            "tool.intent",
            id="e2",
            parent="e1",
            at="2026-03-02T09:00:00Z",
            turn="t1",
            tool="shell",
            call="c1",
            command="pnpm test",
            text="run the tests",
            summary="pnpm test",
            refs=["a.ts:1-4"],
            model="example-5",
            message="m1",
            tokens={"input": 9, "output": 2, "cacheRead": 3, "cacheWrite": 4},
            millis=12,
            spawns="helper",
            inferred=True,
        )
    )
    (draft,) = reading.drafts
    assert (reading.session, reading.native, reading.parent, reading.at) == ("s1", "e2", "e1", "2026-03-02T09:00:00Z")
    assert (reading.prompt, reading.leaf, reading.flags) == ("t1", True, ())
    assert (draft.kind, draft.actor, draft.text, draft.summary) == (
        "tool.intent",
        "agent",
        "run the tests",
        "pnpm test",
    )
    assert (draft.tool, draft.call, draft.command, draft.refs) == ("shell", "c1", "pnpm test", ("a.ts:1-4",))
    assert (draft.millis, draft.spawns, draft.inferred) == (12, "helper", True)
    assert reading.usage is not None
    usage = reading.usage
    assert (usage.message, usage.model, usage.input, usage.output) == ("m1", "example-5", 9, 2)
    assert (usage.cache_read, usage.cache_write) == (3, 4)


def test_the_articles_names_are_read_as_ours() -> None:
    reading = read(event("note", createdAt="2026-03-02T09:00:00Z", turnId="t4", payload={"a": 1}))
    assert (reading.at, reading.prompt, reading.drafts[0].text) == ("2026-03-02T09:00:00Z", "t4", '{"a":1}')


@pytest.mark.parametrize(
    ("kind", "lane", "actor"),
    [
        ("user.message", None, "user"),
        ("user.message", "l", "agent"),
        ("model.message", None, "agent"),
        ("tool.intent", "l", "subagent"),
        ("tool.finished", None, "tool"),
        ("compaction", None, "runtime"),
    ],
)
def test_who_did_it_is_told_by_the_kind_where_the_line_does_not_say(kind: str, lane: str | None, actor: str) -> None:
    fields = {} if lane is None else {"lane": lane}
    assert read(event(kind, **fields)).drafts[0].actor == actor
    assert read(event(kind, actor="runtime", **fields)).drafts[0].actor == "runtime"


def test_a_persons_message_begins_a_turn_and_may_title_the_session() -> None:
    reading = read(event("user.message", id="e1", text="Fix it.\nPlease."))
    assert (reading.prompt, reading.facts) == ("e1", {"title.prompt": "Fix it."})
    assert read(event("user.message", id="e1", lane="l")).prompt is None
    assert read(event("model.message", id="e1")).prompt is None
    first, second = read(event("user.message", text="a")).prompt, read(event("user.message", text="b")).prompt
    assert first != second


def test_statements_about_the_session_are_facts() -> None:
    said = read(event("session.opened", title="T", cwd="/a", gitBranch="main", project="acme", version="3"))
    assert said.facts == {"title.custom": "T", "cwd": "/a", "git_branch": "main", "project": "acme", "version": "3"}
    assert read(event("note", lane="l", laneTitle="Explorer", cwd="/b")).facts is None
    assert read(event("note", lane="l", laneTitle="Explorer")).lane_facts == {"title": "Explorer"}


def test_an_outcome_is_stated_or_read_from_the_exit_code() -> None:
    assert read(event("tool.finished", ok=False)).drafts[0].ok is False
    assert read(event("tool.finished", exitCode=0)).drafts[0].ok is True
    assert read(event("tool.finished", exitCode=2)).drafts[0].ok is False
    assert read(event("tool.finished")).drafts[0].ok is None


def test_an_artifact_is_a_note_that_refers_to_its_bytes() -> None:
    digest = sha256("ein Log ✓".encode()).digest()
    value = {"type": "artifact", "session": "s1", "media": "text/plain", "text": "ein Log ✓", "name": "log"}
    reading = read(value)
    (draft,) = reading.drafts
    assert (draft.kind, draft.text, draft.refs) == ("note", "ein Log ✓", (f"sha256:{digest.hex()}",))
    assert reading.kept == ("artifact", (digest, "text/plain", "log", 11))
    assert reading.flags == ()
    assert read({**value, "digest": "sha256:" + "0" * 64}).flags == ("shape",)


def test_bytes_of_an_artifact_are_never_text() -> None:
    value = {"type": "artifact", "session": "s1", "media": "image/png", "base64": b64encode(b"\x89PNG").decode()}
    assert read(value).drafts[0].text == "[image/png, 4 bytes]"
    assert read(value).kept == ("artifact", (sha256(b"\x89PNG").digest(), "image/png", None, 4))


@pytest.mark.parametrize(
    "value", [{"type": "artifact"}, {"type": "artifact", "base64": "*"}, {"type": "x"}, event(), 4]
)
def test_what_carries_nothing_is_no_artifact(value: Any) -> None:
    assert read(value).kept is None


@pytest.mark.parametrize(
    "value", [event("tool.imagined"), event(kind=7), {"type": "later.thing", "session": "s"}, [], 1]
)
def test_what_is_not_known_is_counted_and_kept_whole(value: Any) -> None:
    reading = read(value)
    (draft,) = reading.drafts
    assert (reading.status, draft.kind) == ("unknown", "unknown")
    assert draft.text


def test_other_shapes_are_read_as_far_as_they_go_and_flagged() -> None:
    reading = read(event("note", text=5, id=7, refs="a", tokens="null", ok="yes", millis=-1, actor="ghost", lane=[]))
    (draft,) = reading.drafts
    assert reading.flags == ("shape",)
    assert (draft.text, draft.refs, draft.ok, draft.millis, draft.actor) == ("5", (), None, 0, "runtime")
    assert reading.usage is None


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters(codec=None), max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=8,
)
NAMES = (
    "session", "id", "kind", "at", "createdAt", "turn", "turnId", "lane", "laneTitle", "parent", "actor", "text",
    "summary", "payload", "tool", "call", "command", "ok", "exitCode", "refs", "model", "message", "tokens", "millis",
    "inferred", "spawns", "title", "cwd", "media", "base64", "name", "digest",
)  # fmt: skip


@given(
    st.dictionaries(st.sampled_from(NAMES), json_values | st.sampled_from([*KINDS, "s"])),
    st.sampled_from(["session.event", "artifact", "?"]),
)
def test_anything_is_read(fields: dict[str, Any], kind: str) -> None:
    for value in ({"type": kind, **fields}, {"type": kind, "kind": "user.message", **fields}, list(fields.values())):
        reading = read(value)
        assert reading.status in ("mapped", "unknown")
        assert set(reading.flags) <= set(FLAGS)
        assert len(reading.drafts) == 1
        for draft in reading.drafts:
            assert draft.kind in KINDS
            assert draft.actor in ACTORS
            assert isinstance(draft.text, str)
            assert draft.path == ""


def test_our_lines_are_claimed_by_their_reader_alone() -> None:
    lines = [event("user.message"), {"type": "artifact", "session": "s1", "media": "a/b", "text": ""}]
    assert {name: reader.claims("-", lines) for name, reader in readers().items()} == {
        "claude-code": 0.0,
        "codex": 0.0,
        "affidavit": 1.0,
        "rules": 0.0,
    }


@pytest.mark.parametrize("kind", [{}, [], {"a": 1}, 7, None, True])
def test_a_type_that_is_no_word_is_nothing_of_ours_and_harms_nothing(kind: object) -> None:
    line = {"type": kind, "session": "s"}
    assert readers()["affidavit"].claims("a.jsonl", [line]) == 0
    assert readers()["affidavit"].read(line, (None, "")).status == "unknown"
