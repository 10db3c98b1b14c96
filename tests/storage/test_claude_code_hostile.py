"""Whatever stands in a record, Claude Code's reader reads it: nothing raises, nothing is lost, all of it is counted."""

from __future__ import annotations

import json
from collections.abc import Iterator
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from affidavit.proof.parsing import Unreadable, loads_lenient, split_values
from affidavit.session.event import ACTORS, FLAGS, KINDS, Draft, Reading
from storage.readers.claude_code import ClaudeCode, metadata, system
from storage.readers.claude_code.attachments import READ as ATTACHMENTS
from storage.readers.lenient import compact
from tests.storage import claude_fixtures as log

READER = ClaudeCode()
MAIN: tuple[str | None, str] = (None, "")

texts = st.text(st.characters(codec=None), max_size=12) | st.sampled_from(
    ["null", "\ud800", "a\0b", "<command-name>", "<", "[Request interrupted by user]", "-1", "9" * 30, "x" * 2000]
)
scalars = (
    st.none()
    | st.booleans()
    | st.integers(-(2**70), 2**70)
    | st.floats()
    | texts
    | st.sampled_from(["user", "text", "tool_result", "tool_use", "image", "prompt", "human"])
)
keys = st.text(max_size=6) | st.sampled_from(
    ["type", "message", "content", "text", "source", "data", "input", "id", "name", "usage", "file", "attachment"]
)
values = st.recursive(
    scalars, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(keys, inner, max_size=5), max_leaves=20
)


def examples() -> list[dict[str, Any]]:
    """One valid record of nearly every form."""
    forms = [*log.every_record(), *log.session(), log.rejected("no")]
    forms += [one for records in log.with_helper().values() for one in records]
    forms += [
        log.attachment(kind, content="a", hookName="PreToolUse:Bash", files=[{"uri": "/a"}]) for kind in ATTACHMENTS
    ]
    forms += [log.system(kind, content="a", error={"message": "b"}) for kind in system.READ]
    forms += [log.flat(kind) for kind in metadata.READ]
    forms += [
        log.calls("MultiEdit", file_path="/a", edits=[{"old_string": "a", "new_string": "b"}]),
        log.answer({"type": "server_tool_use", "id": "s", "name": "web_search", "input": {}}),
        log.answer({"type": "web_search_tool_result", "tool_use_id": "s", "content": []}),
        log.answer({"type": "fallback", "from": {"model": "a"}, "to": {"model": "b"}}),
        log.person([{"type": "document", "source": {"type": "base64", "data": "QQ==", "media_type": "a/b"}}]),
    ]
    return forms


FORMS = examples()


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Paths of every member and item in a value."""
    if isinstance(value, dict):
        for key, inner in value.items():
            yield (*path, key)
            yield from places(inner, (*path, key))
    elif isinstance(value, list):
        for number, inner in enumerate(value):
            yield (*path, number)
            yield from places(inner, (*path, number))


def holds(reading: Reading) -> None:
    """A reading keeps the contract: words of the closed lists, types as declared, paths that tell blocks apart."""
    assert reading.status in ("mapped", "unknown")
    assert isinstance(reading.lane, str)
    for named in (reading.session, reading.native, reading.parent, reading.at, reading.prompt):
        assert named is None or isinstance(named, str)
    assert isinstance(reading.leaf, bool)
    assert set(reading.flags) <= set(FLAGS)
    for facts in (reading.facts, reading.lane_facts):
        assert facts is None or all(isinstance(part, str) for pair in facts.items() for part in pair)
    if reading.usage is not None:
        usage = reading.usage
        assert isinstance(usage.message, str)
        assert usage.model is None or isinstance(usage.model, str)
        counts = (usage.input, usage.output, usage.cache_read, usage.cache_write)
        assert all(type(count) is int and 0 <= count <= 2**53 for count in counts)
    assert len({draft.path for draft in reading.drafts}) == len(reading.drafts)
    for number, draft in enumerate(reading.drafts):
        assert (draft.path == "") is (number == 0)
        drafted(draft)


def drafted(draft: Draft) -> None:
    assert draft.kind in KINDS
    assert draft.actor in ACTORS
    assert isinstance(draft.text, str)
    assert draft.summary is None or (len(draft.summary) <= 220 and "\n" not in draft.summary)
    for named in (draft.tool, draft.call, draft.command, draft.spawns):
        assert named is None or isinstance(named, str)
    assert draft.ok is None or isinstance(draft.ok, bool)
    assert draft.millis is None or (type(draft.millis) is int and 0 <= draft.millis <= 2**53)
    assert all(isinstance(ref, str) for ref in draft.refs)
    assert set(draft.flags) <= set(FLAGS)


@given(values)
def test_any_json_value_is_read(value: Any) -> None:
    holds(READER.read(value, MAIN))


@given(st.dictionaries(keys, values, max_size=6), st.sampled_from(["user", "assistant", "system", "attachment"]))
def test_any_object_of_a_known_type_is_read(fields: dict[str, Any], kind: str) -> None:
    holds(READER.read({**fields, "type": kind}, ("s", "lane")))


@given(st.data())
def test_a_valid_record_with_any_field_dropped_or_replaced_is_read(data: st.DataObject) -> None:
    record = deepcopy(data.draw(st.sampled_from(FORMS)))
    for _ in range(data.draw(st.integers(1, 3))):
        found = list(places(record))
        if not found:
            break
        *above, last = data.draw(st.sampled_from(found))
        inner = record
        for step in above:
            inner = inner[step]
        if data.draw(st.booleans()):
            inner[last] = data.draw(values)
        elif isinstance(inner, dict):
            del inner[last]
    holds(READER.read(record, MAIN))
    READER.claims("x.jsonl", [record])


@pytest.mark.parametrize("odd", [None, "null", "x", 7, True, [], {}, [None, 3], 2**80, float("nan")])
def test_every_field_of_every_record_may_be_anything(odd: Any) -> None:
    for form in FORMS:
        for *above, last in places(form):
            record = deepcopy(form)
            inner = record
            for step in above:
                inner = inner[step]
            inner[last] = odd
            holds(READER.read(record, MAIN))


@given(st.text(max_size=60))
def test_any_path_implies_some_scope(path: str) -> None:
    session, lane = READER.scope(path)
    assert session is None or session
    assert isinstance(lane, str)


# ------------------------------------------------------------------------------------------ other shapes


def test_a_message_that_is_only_text_is_read_and_flagged() -> None:
    reading = READER.read({**log.person("x"), "message": "hello"}, MAIN)
    assert reading.drafts[0].text == "hello"
    assert reading.flags == ("shape",)


def test_content_that_is_missing_is_an_event_that_says_so() -> None:
    for record in (
        log.person(None),
        {**log.says("a"), "message": {"content": None}},
        {**log.says("a"), "message": None},
    ):
        reading = READER.read(record, MAIN)
        (draft,) = reading.drafts
        assert (draft.kind, draft.flags) == ("unknown", ("shape",))
        assert reading.prompt is None


def test_blocks_that_are_no_objects_are_kept_and_flagged_each() -> None:
    drafts = READER.read(log.person([None, 3, "loose"]), MAIN).drafts
    assert [(draft.kind, draft.text, draft.flags) for draft in drafts] == [
        ("unknown", "null", ("shape",)),
        ("unknown", "3", ("shape",)),
        ("unknown", "loose", ("shape",)),
    ]


def test_text_with_half_a_pair_and_nul_stays_as_it_is() -> None:
    said = "a\ud800b\0c"
    assert READER.read(log.says(said), MAIN).drafts[0].text == said
    unknown = READER.read({"type": "odd", "said": said}, MAIN).drafts[0].text
    assert json.loads(unknown) == {"type": "odd", "said": said}


def test_integers_of_any_size_are_kept_in_an_unknown_record() -> None:
    assert str(2**80) in compact({"a": 2**80})


def test_a_huge_nested_record_is_read_whole() -> None:
    inner: Any = {"leaf": "x" * 1_000_000}
    for _ in range(200):
        inner = {"in": [inner]}
    record = log.record("progress", data={"type": "agent_progress", "message": inner})
    assert READER.read(record, MAIN).drafts == []
    unknown = READER.read({"type": "giant", "data": inner}, MAIN)
    assert len(unknown.drafts[0].text) > 1_000_000
    odd = READER.read(log.person([{"type": "nested", "data": inner}]), MAIN)
    assert len(odd.drafts[0].text) > 1_000_000


def test_nesting_beyond_what_is_parsed_raises_nothing() -> None:
    deep: Any = 1
    for _ in range(100_000):
        deep = [deep]
    holds(READER.read({"type": "giant", "data": deep}, MAIN))
    holds(READER.read(log.person(deep), MAIN))


# ------------------------------------------------------------------------------------------ real logs


def records_of(path: Path) -> Iterator[Any]:
    for line in path.read_bytes().split(b"\n"):
        for begin, end, fine, *_ in split_values(line):
            if fine:
                try:
                    yield loads_lenient(line[begin:end])[0]
                except Unreadable:
                    continue


def test_every_record_of_every_public_log_is_mapped_or_counted(shared: Path) -> None:
    read = 0
    for path in sorted((shared / "samples" / "claude_code").rglob("*.json*")):
        scope = READER.scope(str(path))
        for value in records_of(path):
            reading = READER.read(value, scope)
            holds(reading)
            if str(value.get("version", "") if isinstance(value, dict) else "").startswith("2.1."):
                assert reading.status == "mapped", (path, value)
            read += 1
    assert read > 3000
