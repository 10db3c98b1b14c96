"""The demo's retrievals: one that served, each way in which one misleads, and one that somebody altered."""

from __future__ import annotations

import json
from typing import Any

import pytest

import sample_sessions
from affidavit.retrieval import recorded
from affidavit.retrieval.misleading import WAYS, misled
from sample_sessions.stories import retrievals
from storage.archive import Archive

LINES: list[dict[str, Any]] = [json.loads(line) for line in retrievals.lines().splitlines()]
BY_ID = {line["snapshot"]["id"]: line for line in LINES}


def test_they_are_the_same_every_time() -> None:
    assert [json.loads(line) for line in retrievals.lines().splitlines()] == LINES


def test_the_one_that_served_shows_the_rule_and_misleads_in_no_way() -> None:
    good = BY_ID[retrievals.GOOD]
    texts = {one.citation: one.text for one in recorded.seen(good)}
    assert "Do not change production defaults" in str(texts["rule#1"])
    assert "createUserMock" in str(texts["code#1"]) + str(texts["code#2"])
    assert {"test-log#1", "memory#1"} <= set(texts)
    assert [one for one in misled(good) if not one.caught] == []
    reasons = {item["reason"] for item in good["snapshot"]["rejectedItems"]}
    assert reasons == {"out_of_project", "out_of_branch", "runtime_only", "stale", "superseded_version"}


def test_each_of_the_seven_ways_is_shown_once_at_least() -> None:
    shown = {one.way for line in LINES for one in misled(line, others=LINES) if not one.caught}
    assert shown == set(WAYS)


def test_before_the_default_was_changed_the_sentence_that_forbids_it_fell_to_the_budget() -> None:
    bad = BY_ID[retrievals.BAD]
    assert "Do not change production defaults" not in bad["block"]
    (rule,) = [item for item in bad["snapshot"]["selectedItems"] if item["candidateId"] == "rule"]
    assert rule["shortened"]
    assert "budget_cut_key_line" in {one.way for one in misled(bad) if not one.caught}


def test_the_serializer_was_found_and_had_no_room() -> None:
    (item,) = BY_ID["retr-snap-012-0001"]["snapshot"]["rejectedItems"]
    assert (item["candidateId"], item["reason"]) == ("serializer", "over_budget")


def test_only_the_altered_text_differs_from_its_hash() -> None:
    verdicts = {id: recorded.verdict(line) for id, line in BY_ID.items()}
    assert [id for id, verdict in verdicts.items() if verdict == "differs"] == [retrievals.ALTERED]
    differing = [one for one in recorded.seen(BY_ID[retrievals.ALTERED]) if one.verdict == "differs"]
    assert [one.citation for one in differing] == ["rule#1"]
    assert "Do now change production defaults" in str(differing[0].text)


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> sample_sessions.DemoResult:
    return sample_sessions.build(tmp_path_factory.mktemp("demo"))


def test_what_the_model_was_given_before_it_changed_the_default_is_one_step_from_the_edit(
    demo: sample_sessions.DemoResult,
) -> None:
    with Archive.open(demo.store) as archive:
        (session,) = [row for row in archive.sessions().rows if row.title == "Make the role test green"]
        (edit,) = [row for row in archive.events(session.key).rows if row.kind == "tool.intent" and row.tool == "Edit"][
            :1
        ]
        inputs = archive.inputs(session.key)
        request = inputs.requests.at(edit)
        assert request is not None
        assert [row.id for row in inputs.input(request).snapshots] == [retrievals.BAD]
        listed = archive.snapshots.page().rows
    assert len(listed) == len(LINES)
    assert all(row.session is not None for row in listed)
