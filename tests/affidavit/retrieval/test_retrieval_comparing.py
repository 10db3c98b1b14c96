"""Two recorded snapshots side by side."""

from __future__ import annotations

from typing import Any

import orjson
from retrieval_story import STORY, found, run, scope

from affidavit.retrieval.comparing import Comparison, compare
from affidavit.retrieval.pipeline import Retrieved
from affidavit.retrieval.record import snapshot_bytes


def line(retrieved: Retrieved) -> dict[str, Any]:
    return {"snapshot": orjson.loads(snapshot_bytes(retrieved.snapshot)), "block": retrieved.block.rendered}


def places(comparison: Comparison) -> dict[str, tuple[str, str]]:
    return {pair.candidate_id: (pair.left.place, pair.right.place) for pair in comparison.moved}


def test_the_same_retrieval_twice_differs_in_nothing() -> None:
    comparison = compare(line(run(*STORY)), line(run(*STORY)))
    assert (comparison.same, comparison.same_block, comparison.fields) == (True, True, [])
    assert len(comparison.pairs) == 5


def test_who_moved_stage_and_what_of_the_settings_differs() -> None:
    new = found("new", text="another role")
    left = run(*STORY)
    right = run(*STORY[1:], new, within=scope(denied_sources=["team-rules"], budget={"max_tokens": 110}), min_score=0.1)
    comparison = compare(line(left), line(right))
    moved = places(comparison)
    assert moved["log"] == ("visible", "absent")
    assert moved["rule"] == ("visible", "absent")
    assert moved["new"][0] == "absent"
    assert "budget" in {after for _, after in moved.values()}
    fields = {field.path: (field.left, field.right) for field in comparison.fields}
    assert fields["budget.maxTokens"] == (1200, 110)
    assert fields["ranking.minScore"] == (0, 0.1)
    assert fields["scope.deniedSources"] == ([], ["team-rules"])
    assert not comparison.same
    assert comparison.same_block is False


def test_another_score_and_another_visible_text() -> None:
    before = found("a", text="expected role admin\nline two\n")
    after = found("a", text="expected role admin\nline 2\n", score={"semantic": 0.4})
    (pair,) = compare(line(run(before)), line(run(after))).pairs
    assert {"score", "text"} <= set(pair.changes)
    assert "place" not in pair.changes
    assert [(one.sign, one.text) for one in pair.text_difference() if one.sign in "+-"] == [
        ("-", "line two"),
        ("+", "line 2"),
    ]


def test_one_candidate_under_two_ids_is_one_by_its_source() -> None:
    spot: dict[str, Any] = {"source_ref": "src/a.ts:1-2", "byte_range": {"from": 0, "to": 4}, "text": "role"}
    comparison = compare(line(run(found("first", **spot))), line(run(found("second", **spot))))
    assert [(pair.candidate_id, pair.right.place) for pair in comparison.pairs] == [("first", "visible")]


def test_what_one_did_not_record_is_no_difference_and_no_shape_raises() -> None:
    odd: list[Any] = [
        {},
        {"snapshot": {"selectedItems": [{"candidateId": "rule", "score": 7}, {}, 3], "rejectedItems": {}}},
        {"snapshot": {"scope": [], "budget": 3, "rejectedItems": [{"reason": "stale"}, {"candidateId": "log"}]}},
    ]
    for other in odd:
        compare(line(run(*STORY)), other)
        compare(other, other)
    bare = {"selectedItems": [{"candidateId": one.id, "sourceRef": one.source_ref} for one in STORY]}
    comparison = compare(line(run(*STORY)), {"snapshot": bare})
    assert (comparison.moved, comparison.fields, comparison.same_block) == ([], [], None)
