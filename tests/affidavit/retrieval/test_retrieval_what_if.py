"""A recorded retrieval under other settings: the same code decides, over what was recorded and nothing else."""

from __future__ import annotations

from typing import Any

import orjson
import pytest
from hypothesis import given
from retrieval_story import STORY, found, run, scope
from test_retrieval_laws import asked, candidates, laws

from affidavit.retrieval.pipeline import Retrieved
from affidavit.retrieval.record import snapshot_bytes
from affidavit.retrieval.what_if import Changed, WhatIf, what_if


def body_of(retrieved: Retrieved) -> dict[str, Any]:
    body: dict[str, Any] = orjson.loads(snapshot_bytes(retrieved.snapshot))
    return body


def asked_again(retrieved: Retrieved, **changes: Any) -> WhatIf:
    return what_if(body_of(retrieved), Changed(**changes))


def ids(moved: list[Any]) -> list[str]:
    return [one.candidate_id for one in moved]


@laws
@given(candidates(), asked())
def test_under_the_same_settings_the_same_is_shown(those: list[Any], given_: dict[str, Any]) -> None:
    retrieved = run(*those, **given_)
    same = asked_again(retrieved)
    shown = [item.candidate_id for item in retrieved.snapshot.selected_items]
    unfit = [item.candidate_id for item in retrieved.snapshot.rejected_items if "no part" in item.detail]
    assert [id for id in same.visible if id not in unfit] == shown
    assert (ids(same.gone), same.unknown) == ([], [])
    assert set(ids(same.appeared)) <= set(unfit)
    assert same.resized == []


@laws
@given(candidates(), asked())
def test_other_settings_show_what_a_retrieval_under_them_would_have(those: list[Any], given_: dict[str, Any]) -> None:
    retrieved = run(*those, **given_)
    other = {**given_, "min_score": 0.6, "weights": {"lexical": 0.9, "diversity": 0.3}}
    anew = run(*those, **other).snapshot
    again = asked_again(retrieved, min_score=0.6, weights=other["weights"])
    unfit = [item.candidate_id for item in anew.rejected_items if "no part" in item.detail]
    assert [id for id in again.visible if id not in unfit] == [item.candidate_id for item in anew.selected_items]


def test_another_budget_and_threshold() -> None:
    retrieved = run(*STORY, within=scope(budget={"max_tokens": 90}))
    shown = [item.candidate_id for item in retrieved.snapshot.selected_items]
    more = asked_again(retrieved, max_tokens=1200)
    assert set(ids(more.appeared)) == {"log", "mock", "rule", "memory", "roles"} - set(shown)
    assert (more.gone, more.changed) == ([], True)
    assert {one.before for one in more.appeared} == {"over_budget"}
    less = asked_again(run(*STORY), min_score=0.99)
    assert sorted(ids(less.gone)) == sorted(one.id for one in STORY)
    assert {one.after for one in less.gone} == {"below_min_score"}
    assert not asked_again(run(*STORY), max_tokens=5000).changed


def test_a_larger_share_for_one_item_resizes_it() -> None:
    long = found("long", text="expected role admin, received undefined, and so on\n" * 60)
    (resized,) = asked_again(run(long), per_item_max=600).resized
    assert resized.candidate_id == "long"
    assert (resized.tokens_before or 0) < (resized.tokens_after or 0)


def test_a_boundary_left_out() -> None:
    stale = found("old", text="the role of a mock", valid_until="2026-05-01T00:00:00Z")
    hidden = found("hidden", permissions={"visibility": "runtime-only"})
    theirs = found("theirs", text="their role", scope={"project_id": "other"})
    retrieved = run(*STORY, stale, hidden, theirs)
    assert ids(asked_again(retrieved, allow=frozenset(["not_valid_as_of"])).appeared) == ["old"]
    assert ids(asked_again(retrieved, allow=frozenset(["runtime_only"])).appeared) == ["hidden"]
    assert asked_again(retrieved, allow=frozenset(["out_of_project"])).unknown == [("theirs", "score parts")]


FOREIGN: dict[str, Any] = {
    "selectedItems": [
        {"candidateId": "a", "sourceRef": "a.md", "tokens": 900, "score": {"total": 0.9}},
        {"candidateId": "b", "sourceRef": "b.md", "score": {"total": 0.8}},
    ],
    "rejectedItems": [
        {"candidateId": "c", "reason": "below_min_score", "tokens": 10, "score": {"total": 0.5}},
        {"candidateId": "d", "reason": "over_budget", "tokens": 10, "score": {"semantic": 0.7, "total": 0.4}},
        {"candidateId": "e", "reason": "their_reason", "tokens": 10, "score": {"total": 0.4}},
        {"candidateId": "f", "reason": "over_budget", "tokens": 10},
        "no object",
    ],
    "budget": {"maxTokens": 100},
}


def test_another_programs_snapshot_is_changed_only_by_what_its_record_decides() -> None:
    assert not what_if(FOREIGN, Changed()).changed
    assert ids(what_if(FOREIGN, Changed(min_score=0.4)).appeared) == ["c"]
    wider = what_if(FOREIGN, Changed(max_tokens=2000))
    assert (ids(wider.appeared), wider.unknown) == (["d"], [("b", "tokens"), ("f", "score")])
    assert what_if(FOREIGN, Changed(weights={"semantic": 1})).unknown[0] == ("a", "score parts")


@pytest.mark.parametrize(
    "body", [{}, {"selectedItems": 7}, {"selectedItems": [{"candidateId": 7}], "plan": [], "scope": 1}]
)
def test_no_shape_raises(body: dict[str, Any]) -> None:
    assert not what_if(body, Changed(max_tokens=10, min_score=0.5)).changed


@pytest.mark.parametrize("changes", [{"weights": {"x": 1}}, {"allow": frozenset(["over_budget"])}])
def test_settings_that_do_not_exist_are_refused(changes: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="there are"):
        Changed(**changes)
