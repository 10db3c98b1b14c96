"""Snapshots read as they were recorded, whoever wrote them: counts, texts, and what their hashes say."""

from __future__ import annotations

from typing import Any
from unicodedata import normalize

import pytest
from hypothesis import given
from hypothesis import strategies as st

from affidavit.proof.verdict import HASH_VERDICTS, hash_verdict, text_hash, worst
from affidavit.retrieval import recorded


@pytest.mark.parametrize(
    ("text", "hash", "verdict"),
    [
        ("a\nb", text_hash("a\nb"), "match"),
        ("a\nb", text_hash("a\nb").upper().replace("SHA256", "sha256"), "match"),
        ("a\nb", text_hash("a\r\nb"), "line_ending_or_unicode"),
        ("a\r\nb", text_hash("a\nb"), "line_ending_or_unicode"),
        ("é", text_hash(normalize("NFD", "é")), "line_ending_or_unicode"),
        ("e\u0301\r\n", text_hash("é\n"), "line_ending_or_unicode"),
        ("a\nb", text_hash("a b"), "differs"),
        ("a", text_hash("a "), "differs"),
        (None, text_hash("a"), "text_missing"),
        (None, None, "text_missing"),
        ("a", None, "hash_not_recorded"),
        ("a", "", "hash_not_recorded"),
        ("a", "md5:0cc175b9c0f1b6a831c399e269772661", "unknown_algorithm"),
        ("a", "sha256:abc", "unknown_algorithm"),
        ("a", 7, "unknown_algorithm"),
    ],
)
def test_a_text_beside_its_hash(text: str | None, hash: Any, verdict: str) -> None:
    assert hash_verdict(text, hash) == verdict


@given(st.text())
def test_a_text_matches_its_own_hash_and_no_other_text_does(text: str) -> None:
    assert hash_verdict(text, text_hash(text)) == "match"
    assert hash_verdict(text + "x", text_hash(text)) == "differs"


def test_the_worst_verdict_is_the_loudest() -> None:
    assert worst(HASH_VERDICTS) == "differs"
    assert worst(["match", "line_ending_or_unicode"]) == "line_ending_or_unicode"
    assert worst([]) is None


def item(label: str, **fields: Any) -> dict[str, Any]:
    return {"candidateId": "c", "citationId": label, **fields}


def test_texts_stand_in_the_items_or_in_the_block() -> None:
    block = "[a#1] früh\n[a#2] spät\n"
    data = block.encode()
    first, second = data.index(b"f"), data.index(b"s")
    line = {
        "type": "retrieval.snapshot",
        "block": block,
        "snapshot": {
            "selectedItems": [
                item("a#1", visibleText="as said"),
                item("a#2", textRef={"payload": text_hash(block), "from": first, "to": first + 5}),
                item("a#3", textRef={"payload": None, "from": second, "to": second + 5}),
                item("a#4", textRef={"payload": text_hash("another block"), "from": 0, "to": 3}),
                item("a#5", textRef={"from": 0, "to": 10_000}),
                item("a#6", textRef={"from": first + 3, "to": first + 4}),
                item("a#7"),
            ]
        },
    }
    texts = {one.citation: one.text for one in recorded.seen(line)}
    assert texts == {
        "a#1": "as said", "a#2": "früh", "a#3": "spät", "a#4": None, "a#5": None, "a#6": None, "a#7": None,
    }  # fmt: skip


def test_the_snapshot_stands_under_its_name_or_beside_the_type() -> None:
    body = {"id": "r", "selectedItems": []}
    assert recorded.body_of({"type": "retrieval.snapshot", "session": "s", "snapshot": body}) == body
    assert recorded.body_of({"type": "retrieval.snapshot", "session": "s", "at": "x", **body}) == body


def test_counts_are_what_was_recorded_and_the_rest_follows_only_where_it_must() -> None:
    rejected = [
        {"stage": "scope", "reason": "out_of_branch"},
        {"stage": "rank", "reason": "below_top_k"},
        {"reason": "over_budget"},
    ]
    whole = {"candidateStats": {"recalled": 5, "selected": 2}, "rejectedItems": rejected}
    assert recorded.counts(whole) == {
        "recalled": 5, "filtered": 1, "rankedOut": 1, "trimmed": 1, "selected": 2, "redacted": None,
    }  # fmt: skip
    unnamed = {"candidateStats": {"recalled": 6, "selected": 2}, "rejectedItems": rejected}
    assert recorded.counts(unnamed)["filtered"] is None
    unknown = {"candidateStats": {"recalled": 5, "selected": 2}, "rejectedItems": [*rejected[:2], {"reason": "odd"}]}
    assert recorded.counts(unknown)["trimmed"] is None
    assert set(recorded.counts({}).values()) == {None}


def test_the_verdict_is_of_what_the_model_was_given() -> None:
    good, bad = (item("a#1", visibleText="x", visibleTextHash=text_hash(text)) for text in ("x", "y"))
    elsewhere = {"contextProjection": {"visibleTextHash": text_hash("a block that is kept elsewhere")}}
    assert recorded.verdict({"snapshot": {"selectedItems": [good], **elsewhere}}) == "match"
    assert recorded.verdict({"snapshot": {"selectedItems": [good, bad]}}) == "differs"
    assert recorded.verdict({"snapshot": {"selectedItems": [good], **elsewhere}, "block": "b"}) == "differs"
    assert recorded.verdict({"snapshot": {"selectedItems": []}}) is None


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)
names = st.sampled_from(
    ["selectedItems", "rejectedItems", "candidateStats", "contextProjection", "visibleText", "textRef", "from", "to",
     "citationId", "reason", "stage", "recalled", "selected", "visibleTextHash", "payload"]
)  # fmt: skip
shaped = st.recursive(
    json_values, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(names, inner, max_size=5), max_leaves=20
)


@given(st.dictionaries(names, shaped, max_size=6), shaped)
def test_no_shape_makes_it_fail(body: dict[str, Any], block: Any) -> None:
    line = {"type": "retrieval.snapshot", "snapshot": body, "block": block}
    assert recorded.verdict(line) in (None, *HASH_VERDICTS)
    assert len(list(recorded.seen(line))) == len(recorded.objects(body, "selectedItems"))
    recorded.counts(body)
