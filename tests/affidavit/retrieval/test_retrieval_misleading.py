"""The seven ways a retrieval misleads, each found where it is and nowhere else."""

from __future__ import annotations

from typing import Any

import orjson
import pytest
from retrieval_story import STORY, found, run, scope

from affidavit.retrieval.misleading import WAYS, Finding, misled
from affidavit.retrieval.pipeline import Retrieved
from affidavit.retrieval.record import snapshot_bytes


def line(retrieved: Retrieved) -> dict[str, Any]:
    return {"snapshot": orjson.loads(snapshot_bytes(retrieved.snapshot)), "block": retrieved.block.rendered}


def found_in(retrieved: Retrieved, **given: Any) -> list[tuple[str, bool, str]]:
    return [(one.way, one.caught, one.candidate_id) for one in misled(line(retrieved), **given)]


def test_an_honest_retrieval_misleads_in_no_way() -> None:
    assert found_in(run(*STORY)) == []


def test_similar_but_irrelevant() -> None:
    alike = found(
        "alike", source="project-documents", evidence_kind="doc", text="a role, an admin", score={"semantic": 0.95}
    )
    hit = found(
        "hit", source_ref="tests/auth/session.fixture.ts", text="const x = {}", captured_at="2020-01-01T00:00:00Z"
    )
    through = run(alike, hit, weights={"semantic": 1, "lexical": 0.1})
    assert ("similar_irrelevant", False, "alike") in found_in(through)
    caught = run(alike, hit, min_score=0.6, weights={"semantic": 0, "lexical": 1})
    assert ("similar_irrelevant", True, "alike") in found_in(caught)


def test_out_of_date() -> None:
    old = found("old", text="the default role is user", valid_until="2026-05-01T00:00:00Z")
    assert found_in(run(*STORY, old)) == [("out_of_date", True, "old")]
    within = scope(time_boundary={"as_of": "2026-05-14T12:00:00Z", "allow_stale_memory": True})
    memory = found("m", source="verified-memory", evidence_kind="memory", refusal={"reason": "stale"})
    assert found_in(run(*STORY, memory, within=within)) == [("out_of_date", False, "m")]
    rule: dict[str, Any] = {"source": "team-rules", "source_ref": "docs/r.md", "evidence_kind": "doc"}
    versions = (
        found("v1", **rule, source_version="1", captured_at="2026-02-01T00:00:00Z"),
        found("v2", **rule, source_version="2", captured_at="2026-04-01T00:00:00Z", text="newer"),
    )
    asked_then = run(*versions, within=scope(time_boundary={"as_of": "2026-03-01T00:00:00Z"}))
    assert ("out_of_date", False, "v1") in found_in(asked_then)


def test_out_of_scope_or_permission() -> None:
    theirs = found("theirs", text="their role", scope={"project_id": "other"})
    hidden = found("hidden", text="not for a model", permissions={"visibility": "runtime-only"})
    assert found_in(run(*STORY, theirs, hidden)) == [("out_of_scope", True, "hidden"), ("out_of_scope", True, "theirs")]


@pytest.mark.parametrize(
    "fault",
    [{"visibility": "user-only"}, {"source": "mcp"}, {"belongs": {"projectId": "other"}}, {"source": "external"}],
)
def test_what_another_program_showed_against_its_scope(fault: dict[str, Any]) -> None:
    recorded = line(run(*STORY, within=scope(allowed_sources=[one.source for one in STORY])))
    recorded["snapshot"]["selectedItems"][0].update(fault)
    assert [(one.way, one.caught) for one in misled(recorded)] == [("out_of_scope", False)]


def test_unverified_candidate() -> None:
    ledger = found("c", source="candidate-ledger", evidence_kind="memory", text="change the default")
    assert found_in(run(*STORY, ledger)) == [("unverified", True, "c")]
    page = found("p", source="external", source_ref="https://example.com/a", text="the role of a mock")
    shown = run(*STORY, page, within=scope(evidence_policy={"max_unverified_items": 1}))
    assert found_in(shown) == [("unverified", False, "p")]


def test_a_citation_without_its_text() -> None:
    recorded = line(run(*STORY))
    recorded["block"] = None
    assert {one.way for one in misled(recorded)} == {"citation_without_text"}
    assert len(misled(recorded)) == len(STORY)
    recorded = line(run(*STORY))
    recorded["snapshot"]["contextProjection"]["citationMap"]["rule#9"] = {"sourceRef": "gone.md"}
    assert misled(recorded) == [
        Finding("citation_without_text", False, "rule#9", "gone.md", "[rule#9] leads to no item")
    ]
    recorded = line(run(*STORY))
    recorded["snapshot"]["selectedItems"][0]["visibleText"] = "altered"
    (finding,) = misled(recorded)
    assert "not the one that was hashed" in finding.detail


def test_the_budget_cut_the_key_line() -> None:
    text = "".join(f"the role of mock {n} is fine\n" for n in range(60)) + "Never change the production default.\n"
    data = text.encode()
    long = found("long", text=text, byte_range={"from": 0, "to": len(data)})
    within = scope(budget={"max_tokens": 200, "per_item_max": 60, "trimming_policy": "head"})
    (finding,) = misled(line(run(long, within=within)), source=lambda _: data)
    assert (finding.way, finding.detail) == ("budget_cut_key_line", "cut: Never change the production default.")
    assert "not at hand" in misled(line(run(long, within=within)))[0].detail
    matched = scope(budget={"max_tokens": 200, "per_item_max": 60})
    assert misled(line(run(long, within=matched)), source=lambda _: data) == []


def test_no_room_for_what_names_the_task_and_room_for_weaker_ones() -> None:
    big = found("big", source_ref="auth/session.test.ts", text="expected role admin, received undefined\n" * 90)
    small = found("small", source="project-documents", evidence_kind="doc", text="a role")
    within = scope(budget={"max_tokens": 150, "per_item_max": None, "trimming_policy": "drop"})
    assert found_in(run(big, small, within=within)) == [("budget_cut_key_line", False, "big")]


def test_replay_drift() -> None:
    first = line(run(*STORY, new_id=lambda: "snap-a"))
    again = line(run(*STORY, found("new", text="a new rule on role"), new_id=lambda: "snap-b"))
    drift = misled(first, others=[first, again])
    assert [(one.way, one.candidate_id) for one in drift] == [("replay_drift", "snap-a")]
    assert misled(first, others=[first]) == []
    assert [one.way for one in misled(first, requested_at="2026-05-14T11:00:00Z")] == ["replay_drift"]
    assert misled(first, requested_at="2026-05-14T13:00:00Z") == []


def test_no_shape_raises_and_every_way_has_words() -> None:
    odd: list[Any] = [{}, {"snapshot": {"selectedItems": [{}, 3], "rejectedItems": [{"stage": "budget"}], "scope": 3}}]
    odd.append({"snapshot": {"contextProjection": {"citationMap": {"a": 3}}, "intent": {"anchors": 4}}})
    odd.append({"snapshot": {"selectedItems": [{"shortened": True, "trimming": 4, "labels": 4, "belongs": []}]}})
    for one in odd:
        assert {finding.way for finding in misled(one, source=lambda _: b"x", others=odd)} <= set(WAYS)
    assert len(WAYS) == 7
