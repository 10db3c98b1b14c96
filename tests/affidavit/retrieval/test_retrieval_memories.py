"""Memories on their way to a model: the recall gate between what was found and what is shown."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

import orjson
from retrieval_story import NOW, STORY, Finds, reasons, run, scope, selected

from affidavit.gate.hit import MemoryHit, RecallQuery
from affidavit.gate.settings import GateSettings, RecallGateConfig
from affidavit.retrieval.memories import MemoryRecaller, gate_anew
from affidavit.retrieval.pipeline import Retrieved
from affidavit.retrieval.record import snapshot_bytes
from affidavit.retrieval.what_if import Changed, what_if


def hit(id: str, **fields: Any) -> MemoryHit:
    given = {"title": f"about {id}", "body": f"the role of a mock, {id}", "score": 0.9, "status": "approved"}
    return MemoryHit.model_validate({**given, "id": id, "updated_at": NOW - timedelta(days=3), **fields})


class Store:
    """A memory that holds what it is told, and remembers what it was asked."""

    def __init__(self, *hits: MemoryHit) -> None:
        self.hits = hits
        self.asked: list[tuple[RecallQuery, datetime]] = []

    def __call__(self, query: RecallQuery, now: datetime) -> list[MemoryHit]:
        self.asked.append((query, now))
        return list(self.hits)


def recalled(*hits: MemoryHit, settings: RecallGateConfig | None = None, **changes: Any) -> Retrieved:
    gate = GateSettings(default=settings or RecallGateConfig())
    return run(recallers=[MemoryRecaller(Store(*hits), gate), Finds(*STORY[:2])], within=scope(**changes))


HITS = (
    hit("good"),
    hit("low", score=0.5),
    hit("old", updated_at=NOW - timedelta(days=200)),
    hit("draft", status="draft"),
    hit("theirs", user="somebody-else"),
    hit("revoked", revoked=True),
    hit("leak", body="use ghp_" + "a1B2" * 9),
    hit("words", body="旧方針"),
)


def test_what_the_gate_refuses_is_recorded_with_its_reason_and_not_shown() -> None:
    retrieved = recalled(*HITS)
    assert reasons(retrieved) == {
        "low": "low_score",
        "old": "stale",
        "draft": "not_approved",
        "theirs": "scope_mismatch",
        "revoked": "revoked",
        "leak": "secret",
        "words": "superseded",
    }
    assert "good" in selected(retrieved)
    stages = {item.candidate_id: item.stage for item in retrieved.snapshot.rejected_items}
    assert stages.pop("theirs") == "scope"
    assert set(stages.values()) == {"governance"}
    stored = snapshot_bytes(retrieved.snapshot).decode()
    assert not any(word in stored for word in ("mock, low", "mock, theirs", "ghp_"))


def test_the_store_is_asked_within_the_scope_and_by_the_clock_given() -> None:
    store = Store(hit("good"))
    run(recallers=[MemoryRecaller(store)], within=scope(memory_space="build", agent_id="builder"))
    ((query, now),) = store.asked
    assert (query.user, query.agent, query.memory_space, query.repo) == ("mina", "builder", "build", "acme")
    assert (query.branch, query.task_type, now) == ("main", "fix-test", NOW)
    assert "role" in query.text


def test_a_stale_memory_may_be_labelled_instead() -> None:
    retrieved = recalled(hit("old", updated_at=NOW - timedelta(days=200)), time_boundary={
        "as_of": "2026-05-14T12:00:00Z", "allow_stale_memory": True,
    })  # fmt: skip
    (item,) = [item for item in retrieved.snapshot.selected_items if item.candidate_id == "old"]
    assert item.labels == ("stale",)
    assert ", stale;" in retrieved.block.rendered


def test_drafts_are_admitted_labelled_and_counted() -> None:
    policy = {"evidence_policy": {"max_unverified_items": 1}}
    retrieved = recalled(
        hit("a", status="draft"), hit("b", status="draft"), settings=RecallGateConfig(allow_draft=True), **policy
    )
    drafts = [item for item in retrieved.snapshot.selected_items if item.candidate_id in "ab"]
    assert [item.labels for item in drafts] == [("unverified",)]
    assert list(reasons(retrieved).values()) == ["over_max_unverified"]


def test_memories_in_conflict_come_together_or_not_at_all() -> None:
    both = recalled(hit("npm", conflicts_with=("pnpm",)), hit("pnpm", conflicts_with=("npm",)))
    assert {item.form for item in both.snapshot.selected_items if item.candidate_id in ("npm", "pnpm")} == {
        "conflict-notice"
    }
    assert reasons(recalled(hit("npm", conflicts_with=("pnpm",)))) == {"npm": "conflicted"}


def test_another_gate_over_the_recorded_memories() -> None:
    body = orjson.loads(snapshot_bytes(recalled(*HITS).snapshot))

    def under(**settings: Any) -> tuple[list[str], list[tuple[str, str]]]:
        result = what_if(body, Changed(regate=gate_anew(GateSettings(default=RecallGateConfig(**settings)))))
        return sorted(one.candidate_id for one in result.appeared), [
            (one.candidate_id, one.after) for one in result.gone
        ]

    assert under() == ([], [])
    assert under(min_score=0.4) == (["low"], [])
    assert under(max_age_days=365) == (["old"], [])
    assert under(min_score=0.95) == ([], [("good", "low_score")])
    assert under(max_hits=0) == ([], [("good", "over_limit")])
    assert under(superseded_words=()) == ([], [])
