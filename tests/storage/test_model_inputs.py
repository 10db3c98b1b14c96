"""What a model had in front of it in each request, worked out from logs and from what our own lines record."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import claude_fixtures as log
import pytest
from kept import store_in, take

from affidavit.proof.verdict import text_hash
from storage.archive import Archive
from storage.queries.inputs import Inputs, ModelInput
from storage.queries.models import SessionRow


def imported(folder: Path, *files: bytes) -> Archive:
    with store_in(folder) as store:
        for number, data in enumerate(files):
            file = folder / f"log{number}.jsonl"
            file.write_bytes(data)
            take(store, file)
        return Archive.open(store.path)


def only(archive: Archive) -> tuple[SessionRow, Inputs]:
    (session,) = archive.sessions().rows
    return session, archive.inputs(session.key)


def given(inputs: Inputs, number: int) -> ModelInput:
    request = inputs.requests.numbered(number)
    assert request is not None
    return inputs.input(request)


def texts(one: ModelInput) -> list[str | None]:
    return [block.text for block in one.blocks]


def test_a_request_sees_what_came_before_it_and_each_message_is_one(tmp_path: Path) -> None:
    records = log.chain(
        log.person("Why does it fail?", "p1"),
        log.thinks("Let me look.", id="m1", usage=log.tokens(10, 5)),
        log.calls("Read", "t1", {"id": "m1", "usage": log.tokens(10, 5)}, file_path="a.py"),
        log.calls("Bash", "t2", {"id": "m1", "usage": log.tokens(10, 5)}, command="pytest -q"),
        log.result("def a(): ...", "t1"),
        log.result("1 failed", "t2"),
        log.says("a returns nothing.", id="m2", usage=log.tokens(90, 5)),
    )
    with imported(tmp_path, log.lines(records)) as archive:
        _, inputs = only(archive)
        assert (inputs.requests.count(), inputs.requests.known_from) == (2, "messages")
        first, second = given(inputs, 1), given(inputs, 2)
        assert texts(first) == ["Why does it fail?"]
        assert texts(second)[0] == "Why does it fail?"
        assert texts(second)[-2:] == ["def a(): ...", "1 failed"]
        assert [block.placed.source for block in second.blocks][-2:] == ["retrieval_result", "latest_observation"]
        assert [block.placed.trust for block in second.blocks][::5] == ["instruction", "untrusted-observation"]
        assert all(block.hash == text_hash(block.text or "") for block in second.blocks)
        assert [block.new for block in second.blocks] == [False, True, True, True, True, True]
        assert second.reported is not None
        assert second.reported.input == 90
        assert second.replay.result == "partial"
        assert "system rules: not recorded" in second.replay.missing
        for number in (1, 2):
            request = inputs.requests.numbered(number)
            assert request is not None
            assert inputs.requests.at(request.row) == request
        seen = inputs.requests.at(second.blocks[-1].row)
        assert seen is not None
        assert seen.number == 2
        assert [(one.number, [row.summary for row in rows]) for one, rows in inputs.derived()] == [
            (2, ["def a(): ..."])
        ]


def test_results_that_come_while_a_message_is_still_written_make_no_request(tmp_path: Path) -> None:
    records = log.chain(
        log.person("Look", "p1"),
        log.calls("Read", "t1", {"id": "m1", "usage": log.tokens(1, 1)}, file_path="a"),
        log.result("one", "t1"),
        log.calls("Read", "t2", {"id": "m1", "usage": log.tokens(1, 2)}, file_path="b"),
        log.result("two", "t2"),
        log.says("Done", id="m2", usage=log.tokens(1, 1)),
    )
    with imported(tmp_path, log.lines(records)) as archive:
        _, inputs = only(archive)
        assert inputs.requests.count() == 2
        assert texts(given(inputs, 2))[2::2] == ["one", "two"]


def test_a_compaction_replaces_what_was_before_it_but_a_partial_one_does_not(tmp_path: Path) -> None:
    def records(boundary: str) -> list[dict[str, Any]]:
        return log.chain(
            log.person("Old question", "p1"),
            log.says("Old answer", id="m1", usage=log.tokens(1, 1)),
            log.system(boundary, content="Conversation compacted", compactMetadata={"trigger": "auto"}),
            log.person("This session is about roles.", isCompactSummary=True),
            log.person("New question", "p2"),
            log.says("New answer", id="m2", usage=log.tokens(1, 1)),
        )

    whole, part = tmp_path / "whole", tmp_path / "part"
    whole.mkdir()
    part.mkdir()
    with imported(whole, log.lines(records("compact_boundary"))) as archive:
        _, inputs = only(archive)
        one = given(inputs, 2)
        assert "This session is about roles." in texts(one)
        assert "Old question" not in texts(one)
        assert one.replaced == 2
        assert one.blocks[0].placed.source == "state_summary"
    with imported(part, log.lines(records("microcompact_boundary"))) as archive:
        _, inputs = only(archive)
        one = given(inputs, 2)
        assert "Old question" in texts(one)
        assert one.replaced == 0


def test_an_abandoned_branch_is_not_seen_from_the_main_chain_nor_the_main_chain_from_it(tmp_path: Path) -> None:
    start = log.chain(log.person("Begin", "p1"), log.says("Begun", id="m1", usage=log.tokens(1, 1)))
    left = log.chain(
        log.person("Go left", "p2"), log.says("Left", id="m2", usage=log.tokens(1, 1)), start=10, after="r2"
    )
    right = log.chain(
        log.person("Go right", "p3"), log.says("Right", id="m3", usage=log.tokens(1, 1)),
        start=20, after="r2",
    )  # fmt: skip
    with imported(tmp_path, log.lines([*start, *left, *right])) as archive:
        _, inputs = only(archive)
        seen = {one.blocks[-1].text: texts(one) for one in (given(inputs, number) for number in (1, 2, 3))}
        assert seen == {
            "Begin": ["Begin"],
            "Go left": ["Begin", "Begun", "Go left"],
            "Go right": ["Begin", "Begun", "Go right"],
        }


def test_a_sub_agent_sees_its_own_lane(tmp_path: Path) -> None:
    for name, records in log.with_helper().items():
        file = tmp_path / "projects" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(log.lines(records))
    with store_in(tmp_path) as store:
        take(store, tmp_path / "projects")
        path = store.path
    with Archive.open(path) as archive:
        _, inputs = only(archive)
        lanes = set()
        for number in range(1, inputs.requests.count() + 1):
            one = given(inputs, number)
            assert {block.row.lane for block in one.blocks} <= {one.request.row.lane}
            lanes.add(one.request.row.lane)
        assert len(lanes) == 2


def own(**fields: Any) -> bytes:
    return json.dumps({"type": "session.event", "session": "s", **fields}).encode() + b"\n"


def recorded(text: str, hash: str, **payload: Any) -> bytes:
    body = {
        "modelInputRef": text_hash(text), "contextHash": hash, "visibleToolSet": [{"name": "read"}, "run"],
        "retrievalSnapshotIds": [], **payload,
    }  # fmt: skip
    artifact = json.dumps({"type": "artifact", "session": "s", "media": "text/plain", "text": text}).encode() + b"\n"
    return own(kind="user.message", text="Ask") + artifact + own(kind="model.request", id="q1", payload=body)


def test_a_recorded_request_is_replayed_exactly(tmp_path: Path) -> None:
    text = "rules\n\nAsk"
    with imported(tmp_path, recorded(text, text_hash(text))) as archive:
        _, inputs = only(archive)
        one = given(inputs, 1)
        assert (one.text, one.replay.result, one.replay.missing) == (text, "exact", ())
        assert one.recorded is not None
        assert one.recorded.tools == ("read", "run")
        assert inputs.requests.known_from == "recorded"


@pytest.mark.parametrize(
    ("data", "result", "missing"),
    [
        (recorded("input", text_hash("another")), "partial", "model input as it was hashed: differs"),
        (recorded("input", text_hash("input"), retrievalSnapshotIds=["gone"]), "partial", "snapshot gone"),
        (recorded("input", text_hash("input"), visibleToolSet=None), "partial", "visible tools: not recorded"),
        (own(kind="model.request", payload={"model_input_ref": "sha256:" + "0" * 64}), "not_reconstructable", "0000"),
        (own(kind="model.request"), "not_reconstructable", "no reference recorded"),
    ],
)
def test_a_replay_names_what_is_missing(tmp_path: Path, data: bytes, result: str, missing: str) -> None:
    with imported(tmp_path, data) as archive:
        _, inputs = only(archive)
        replay = given(inputs, 1).replay
        assert replay.result == result
        assert any(missing in one for one in replay.missing)


def test_what_a_call_from_before_a_compaction_fetched_is_still_fetched(tmp_path: Path) -> None:
    def event(id: str, kind: str, text: str, **fields: Any) -> bytes:
        said = {"type": "session.event", "session": "s", "id": id, "kind": kind, "text": text, **fields}
        return json.dumps({**said, "at": f"2026-05-14T10:00:0{id[-1]}Z"}).encode() + b"\n"

    lines = (
        event("e1", "user.message", "List the files"),
        event("e2", "tool.intent", "ls", tool="shell", call="c", summary="ls -l"),
        event("e3", "compaction", "so far: a listing was asked for"),
        event("e4", "tool.finished", "a.txt", tool="shell", call="c"),
        event("e5", "model.message", "One file."),
    )
    with imported(tmp_path, b"".join(lines)) as archive:
        _, inputs = only(archive)
        last = given(inputs, inputs.requests.count())
        assert [block.placed.source for block in last.blocks] == ["state_summary", "retrieval_result"]
        fetched = [row.key for row in inputs.fetched(last.request)]
        derived = {one.number: [row.key for row in rows] for one, rows in inputs.derived()}
        assert fetched == derived[last.request.number] == [last.blocks[-1].row.key]


def test_a_request_leads_to_its_snapshots(tmp_path: Path) -> None:
    text = "input"
    snapshot = {"id": "r-1", "sessionId": "s", "modelRequestId": "q1", "selectedItems": [], "candidateStats": {}}
    line = json.dumps({"type": "retrieval.snapshot", "snapshot": snapshot}).encode() + b"\n"
    with imported(tmp_path, line + recorded(text, text_hash(text), retrieval_snapshot_ids=["r-1"])) as archive:
        _, inputs = only(archive)
        one = given(inputs, 1)
        assert [row.id for row in one.snapshots] == ["r-1"]
        assert one.replay.result == "exact"


def test_every_real_log_answers_for_every_request(shared: Path, tmp_path: Path) -> None:
    with store_in(tmp_path) as store:
        take(store, shared / "samples" / "claude_code", shared / "samples" / "codex")
        path = store.path
    requests = 0
    with Archive.open(path) as archive:
        for session in archive.sessions(limit=1_000).rows:
            inputs = archive.inputs(session.key)
            count = inputs.requests.count()
            requests += count
            derived = {one.number: [row.key for row in rows] for one, rows in inputs.derived()}
            for number in sorted({*range(1, count + 1, max(1, count // 12)), *list(derived)[:6]}):
                one = given(inputs, number)
                assert all(block.text is not None for block in one.blocks)
                fetched = [block.row.key for block in one.blocks if block.placed.fetched and block.new]
                assert fetched == derived.get(number, []) == [row.key for row in inputs.fetched(one.request)]
                for block in one.blocks[-3:]:
                    assert block.text == archive.detail(block.row.key).text
    assert requests > 1_000
