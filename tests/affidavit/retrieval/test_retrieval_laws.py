"""What holds of every retrieval, whatever the candidates, the scope and the budget."""

from __future__ import annotations

import random
from itertools import pairwise
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st
from retrieval_story import INTENT, STORY, Finds, found, run, scope

from affidavit.proof.canonical import canonical
from affidavit.proof.verdict import text_hash
from affidavit.retrieval.candidate import RetrievalCandidate
from affidavit.retrieval.pipeline import Retrieved
from affidavit.retrieval.record import snapshot_bytes
from affidavit.retrieval.words import REASONS, SOURCES
from affidavit.text.tokens import estimate_tokens

WORDS = ["role", "admin", "expected", "undefined", "session", "auth", "役割", "never", "parser", "\n", "[code#1]"]
texts = st.tuples(st.lists(st.sampled_from(WORDS), max_size=24), st.sampled_from([1, 1, 12])).map(
    lambda some: " ".join(some[0] * some[1])
)


def mostly(usual: Any, *others: Any) -> st.SearchStrategy[Any]:
    """What is usual in four of five cases, so that most candidates pass most boundaries."""
    return st.sampled_from([usual] * 4 * len(others) + [*others])


choices = {
    "source": st.sampled_from([*SOURCES, "workspace-index", "team-rules", "verified-memory", "elsewhere"]),
    "source_ref": mostly("src/auth/session.ts:3-9", "auth/session.test.ts", "docs/x.md", "../x", "", "memory/m@2"),
    "source_version": mostly(None, "v1", "v2"),
    "evidence_kind": st.sampled_from(["code", "doc", "test-log", "memory", "decision-record", "their-kind"]),
    "captured_at": mostly("2026-05-14T11:00:00Z", "2024-01-01T00:00:00Z", None, "2027-01-01T00:00:00Z"),
    "valid_until": mostly(None, "2026-05-14T11:30:00Z", "2027-01-01T00:00:00Z"),
    "authority_level": st.sampled_from([None, "low", "high"]),
    "trust": st.sampled_from([None, "instruction", "untrusted"]),
    "verified": mostly(None, True, False),
    "conflicts_with": mostly((), ("c0",), ("c1",), ("c2",)),
    "summary": st.sampled_from([None, "in short"]),
    "forbids": st.sampled_from([None, True]),
    "governs": st.sampled_from([(), ("src/*",)]),
}


@st.composite
def candidates(draw: st.DrawFn) -> list[RetrievalCandidate]:
    """Up to 12 candidates, each with text of its own beside what they share."""
    made = []
    for number in range(draw(st.integers(0, 12))):
        fields: dict[str, Any] = {name: draw(values) for name, values in choices.items()}
        text = f"{draw(texts)} unlike{number}x {draw(texts)}"
        size = len(text.encode())
        start = draw(st.integers(0, size))
        redactions = draw(mostly([], [{"from": start, "to": size, "kind": "personal", "rule": "r1"}]))
        fields["permissions"] = {
            "visibility": draw(mostly("model-visible", "runtime-only", "user-only")),
            "outcome": draw(mostly(None, "full", "summary-only", "weak-hint", "hidden")),
            "redactions": redactions,
        }
        fields["scope"] = {
            "project_id": draw(mostly("acme", None, "other")),
            "branch": draw(mostly("main", None, "old")),
        }
        made.append(found(f"c{number}", text=text, **fields))
    return made


@st.composite
def asked(draw: st.DrawFn) -> dict[str, Any]:
    """What a retrieval can be given."""
    changes: dict[str, Any] = {
        "budget": {
            "max_tokens": draw(st.integers(0, 600)),
            "per_item_max": draw(st.sampled_from([None, 10, 60, 200])),
            "trimming_policy": draw(st.sampled_from(["keep-matched-lines", "head", "drop"])),
        },
        "evidence_policy": {"max_unverified_items": draw(st.integers(0, 2)), "require_citation": draw(st.booleans())},
    }
    return {
        "within": scope(**changes),
        "min_score": draw(st.sampled_from([0.0, 0.45])),
        "merge_policy": draw(st.sampled_from(["interleave-by-relevance", "authority-first", "evidence-balanced"])),
        "output_shape": draw(st.sampled_from(["context-block", "citation-pack", "model-brief"])),
    }


laws = settings(deadline=None, derandomize=True, max_examples=60)


@laws
@given(candidates(), asked())
def test_recalled_is_filtered_and_ranked_out_and_trimmed_and_selected(those: list[Any], given_: dict[str, Any]) -> None:
    snapshot = run(*those, **given_).snapshot
    stats = snapshot.candidate_stats
    assert stats.recalled == stats.filtered + (stats.ranked_out or 0) + (stats.trimmed or 0) + stats.selected
    ids = [item.candidate_id for item in (*snapshot.selected_items, *snapshot.rejected_items)]
    assert len(ids) == stats.recalled == len(set(ids))
    assert set(ids) <= {one.id for one in those}
    assert all(item.stage == REASONS[item.reason].stage for item in snapshot.rejected_items)


@laws
@given(candidates(), asked())
def test_every_selected_item_has_hash_reason_and_citation(those: list[Any], given_: dict[str, Any]) -> None:
    snapshot, block, _ = run(*those, **given_)
    rendered = block.rendered.encode()
    assert snapshot.context_projection.visible_text_hash == text_hash(block.rendered)
    assert len(snapshot.context_projection.citation_map) == len(snapshot.selected_items)
    for item in snapshot.selected_items:
        assert item.selected_reason
        assert item.visible_text_hash == text_hash(item.visible_text or "")
        cited = snapshot.context_projection.citation_map[item.citation_id]
        assert (cited.snapshot_item_id, cited.source_ref) == (item.id, item.source_ref)
        assert item.text_ref is not None
        assert rendered[item.text_ref.from_ : item.text_ref.to].decode() == item.visible_text
        assert block.rendered.count(f"[{item.citation_id}]") == block.rendered.count(f"[/{item.citation_id}]") == 1


@laws
@given(candidates(), asked())
def test_token_sums_close(those: list[Any], given_: dict[str, Any]) -> None:
    snapshot, block, _ = run(*those, **given_)
    sums = snapshot.budget.as_json()
    parts = ("filteredTokens", "rankedOutTokens", "trimmedTokens", "cutTokens", "itemTokens")
    assert sums["recalledTokens"] == sum(sums[part] for part in parts)
    assert sums["estimatedTokens"] == sums["itemTokens"] + sums["frameTokens"] == estimate_tokens(block.rendered)
    assert all(sums[part] >= 0 for part in (*parts, "frameTokens"))
    assert sums["estimatedTokens"] <= sums["maxTokens"]
    for item in snapshot.selected_items:
        assert item.trimming is not None
        assert item.trimming.tokens_after <= (snapshot.budget.per_item_max or sums["maxTokens"])
        spans = sorted((part.from_, part.to) for part in (*item.trimming.kept, *item.trimming.cut))
        assert all(left[1] == right[0] for left, right in pairwise(spans))
        assert item.shortened == bool(item.trimming.cut)


@laws
@given(candidates(), asked())
def test_a_projection_contains_no_byte_of_a_non_visible_item(those: list[Any], given_: dict[str, Any]) -> None:
    snapshot, block, observation = run(*those, **given_)
    handed_over = block.rendered + str(observation.as_json()) + snapshot_bytes(snapshot).decode()
    for item in snapshot.rejected_items:
        assert f"unlike{item.candidate_id[1:]}x" not in handed_over
    texts = {one.id: one.text for one in those}
    for item in snapshot.selected_items:
        word = f"unlike{item.candidate_id[1:]}x"
        hidden = [texts[item.candidate_id].encode()[r.from_ : r.to].decode("utf-8", "replace") for r in item.redactions]
        if any(word in text for text in hidden) or item.outcome == "summary-only":
            assert word not in handed_over


@laws
@given(candidates(), asked(), st.randoms(use_true_random=False))
def test_permuting_candidates_changes_nothing(those: list[Any], given_: dict[str, Any], by: random.Random) -> None:
    shuffled = list(those)
    by.shuffle(shuffled)
    first, second = run(*those, **given_), run(*shuffled, **given_)
    assert snapshot_bytes(first.snapshot) == snapshot_bytes(second.snapshot)
    assert first.block == second.block


@laws
@given(candidates(), asked())
def test_same_input_and_clock_same_bytes(those: list[Any], given_: dict[str, Any]) -> None:
    def bytes_of(one: Retrieved) -> tuple[bytes, bytes, bytes]:
        return snapshot_bytes(one.snapshot), one.block.rendered.encode(), canonical(one.observation.as_json())

    assert bytes_of(run(*those, **given_)) == bytes_of(run(*those, **given_))


def test_no_recaller_is_told_more_than_the_scope_allows() -> None:
    recaller = Finds(*STORY)
    run(
        recallers=[recaller],
        within=scope(allowed_sources=["workspace-index", "team-rules"], denied_sources=["team-rules"]),
    )
    assert {source for query, _, _ in recaller.asked for source in query.sources} == {"workspace-index"}
    assert all(told.allowed_sources == ("workspace-index",) for _, told, _ in recaller.asked)
    assert INTENT.purpose == recaller.asked[0][1].purpose
