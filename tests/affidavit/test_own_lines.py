"""The lines a program may write: what is taken, what is refused and where, and the schema that says so."""

from __future__ import annotations

import json
from base64 import b64encode
from hashlib import sha256
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from affidavit.lines import LINES, check_line, json_schema
from affidavit.session.event import KINDS
from affidavit.session.own import Artifact, SessionEvent

EVENT: dict[str, Any] = {
    "type": "session.event",
    "session": "s1",
    "id": "e1",
    "kind": "tool.intent",
    "at": "2026-03-02T09:00:00.000Z",
    "turn": "t1",
    "actor": "agent",
    "tool": "shell",
    "call": "c1",
    "command": "pnpm test",
    "refs": ["src/a.ts:3-9"],
    "model": "example-5",
    "tokens": {"input": 9, "output": 2, "cacheRead": 0, "cacheWrite": 0},
    "millis": 12,
}
ARTIFACT: dict[str, Any] = {"type": "artifact", "session": "s1", "media": "text/plain", "text": "a log", "name": "log"}


def line(value: Any) -> bytes:
    return json.dumps(value).encode()


@pytest.mark.parametrize(
    "value",
    [
        EVENT,
        {"type": "session.event", "session": "s1", "kind": "user.message", "text": "hi"},
        {
            "type": "session.event",
            "session": "s1",
            "kind": "note",
            "createdAt": "2026-03-02T09:00:00+09:00",
            "turnId": "t",
        },
        {**EVENT, "somethingElse": {"kept": True}},
        {**EVENT, "payload": [1, {"any": "shape"}]},
        ARTIFACT,
        {**ARTIFACT, "digest": "sha256:" + sha256(b"a log").hexdigest()},
        {"type": "artifact", "session": "s1", "media": "image/png", "base64": b64encode(b"\x89PNG").decode()},
    ],
)
def test_a_good_line_is_taken(value: Any) -> None:
    assert check_line(line(value)) == []
    assert check_line(line(value) + b"\n") == []


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_event_may_be_written(kind: str) -> None:
    assert check_line(line({"type": "session.event", "session": "s", "kind": kind})) == []


@pytest.mark.parametrize(
    ("value", "field", "words"),
    [
        ({**EVENT, "kind": "tool.imagined"}, "kind", "tool.intent"),
        ({**EVENT, "session": 5}, "session", "string"),
        ({**EVENT, "session": ""}, "session", "at least 1"),
        ({**EVENT, "at": "2026-03-02T09:00:00"}, "at", "zone"),
        ({**EVENT, "at": "yesterday"}, "at", "iso"),
        ({**EVENT, "tokens": {"input": -1}}, "tokens.input", "0"),
        ({**EVENT, "tokens": {"input": "9"}}, "tokens.input", "integer"),
        ({**EVENT, "ok": "yes"}, "ok", "boolean"),
        ({**EVENT, "refs": "a.ts"}, "refs", "list"),
        ({**EVENT, "actor": "ghost"}, "actor", "user"),
        ({"type": "session.event", "session": "s"}, "kind", "required"),
        ({"type": "session.closed", "session": "s"}, "type", "session.event, artifact"),
        ({"session": "s"}, "type", "session.event, artifact"),
        ({**ARTIFACT, "base64": "QQ=="}, "", "exactly one"),
        ({"type": "artifact", "session": "s", "media": "text/plain"}, "", "exactly one"),
        ({"type": "artifact", "session": "s", "media": "text/plain", "base64": "*"}, "", "base64"),
        ({**ARTIFACT, "digest": "sha256:" + "0" * 64}, "", "differs"),
        ({**ARTIFACT, "digest": "md5:1"}, "digest", "pattern"),
        ({**ARTIFACT, "media": "text"}, "media", "pattern"),
        ([1], "", "object"),
    ],
)
def test_a_line_that_is_refused_says_which_field_and_why(value: Any, field: str, words: str) -> None:
    (problem,) = check_line(line(value))
    assert problem.field == field
    assert words in problem.reason.lower()


def test_a_problem_shows_the_byte_where_its_field_stands() -> None:
    bad = b'{"type":"session.event","session":"\xc3\xa9","kind":"nothing"}'
    (problem,) = check_line(bad)
    assert bad[problem.byte :].startswith(b'"kind"')


def test_every_problem_of_a_line_is_named_at_once() -> None:
    fields = {problem.field for problem in check_line(line({**EVENT, "kind": "x", "ok": 1, "millis": -4}))}
    assert fields == {"kind", "ok", "millis"}


@pytest.mark.parametrize(
    ("bad", "words"),
    [
        (b'{"type":"note","type":"artifact"}', "twice"),
        (b'{"type":"artifact","n":NaN}', "NaN"),
        (b'{"type":"artifact","n":9007199254740993}', "2^53"),
        (b'{"type":"artifact","text":"\\ud800"}', "pair"),
        (b'\xef\xbb\xbf{"type":"artifact"}', "mark"),
        (b'{"type":"artifact"', ""),
        (b"\xff", ""),
        (b"", ""),
    ],
)
def test_what_is_no_strict_json_is_refused(bad: bytes, words: str) -> None:
    (problem,) = check_line(bad)
    assert words in problem.reason
    assert 0 <= problem.byte <= len(bad)


@given(st.binary(max_size=60) | st.recursive(st.none() | st.booleans() | st.integers() | st.text(), st.lists).map(line))
def test_any_bytes_are_checked(data: bytes) -> None:
    for problem in check_line(data):
        assert problem.reason


@given(st.dictionaries(st.sampled_from([*EVENT, "text", "base64", "media"]), st.none() | st.integers() | st.text()))
def test_any_object_is_checked(fields: dict[str, Any]) -> None:
    for value in ({**EVENT, **fields}, {**ARTIFACT, **fields}):
        for problem in check_line(line(value)):
            assert problem.reason


def test_the_articles_names_are_read_as_ours() -> None:
    event = SessionEvent.model_validate(
        {"type": "session.event", "session": "s", "kind": "note", "createdAt": "2026-03-02T09:00:00Z", "turnId": "t4"}
    )
    assert (event.at, event.turn) == ("2026-03-02T09:00:00Z", "t4")


def test_unknown_fields_are_kept_and_lines_do_not_change() -> None:
    event = SessionEvent.model_validate({"type": "session.event", "session": "s", "kind": "note", "mood": "good"})
    assert event.model_extra == {"mood": "good"}
    with pytest.raises(ValueError, match="frozen"):
        event.session = "t"  # type: ignore[misc]


def test_an_artifact_gives_its_bytes() -> None:
    assert Artifact.model_validate(ARTIFACT).content() == b"a log"


def test_the_schema_names_every_line_and_explains_the_fields_of_sessions() -> None:
    schema = json_schema()
    assert schema["$schema"].startswith("https://json-schema.org/")
    assert list(schema["discriminator"]["mapping"]) == list(LINES)
    for name in ("SessionEvent", "Artifact", "Tokens"):
        model = schema["$defs"][name]
        assert model["description"]
        silent = [key for key, field in model["properties"].items() if key != "type" and "description" not in field]
        assert silent == []
    assert "gitBranch" in schema["$defs"]["SessionEvent"]["properties"]
    assert json.loads(json.dumps(schema)) == schema
