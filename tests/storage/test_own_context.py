"""Lines that say why a model input was what it was: taken, checked, and told as an event."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from affidavit.lines import check_line
from affidavit.session.event import Reading
from storage.readers import readers
from storage.readers.own import Own

LEDGER: dict[str, Any] = {
    "runId": "run-1",
    "turnId": "9",
    "modelInputId": "input-9",
    "estimatedTokens": 812,
    "included": [
        {"sourceId": "r", "sourceKind": "system_rules", "mode": "full", "reason": "always", "trustLevel": "trusted"},
        {"sourceId": "s", "sourceKind": "state_summary", "mode": "summary", "reason": "scene", "trustLevel": "fact"},
    ],
    "excluded": [{"sourceId": "m", "sourceKind": "memory", "reason": "low_confidence"}],
    "compactions": [{"sourceId": "s", "summaryId": "s-1", "originalRef": "session/s#e1"}],
    "tools": [{"name": "apply_patch", "visible": False, "reason": "not for planning"}],
    "retrievalSnapshotIds": ["retr-1"],
    "contextHash": "sha256:" + "0" * 64,
}
LINE: dict[str, Any] = {
    "type": "context.projected", "session": "s1", "id": "c1", "at": "2026-05-14T10:00:00Z", "modelInputRef": "art-1",
    "ledger": LEDGER,
}  # fmt: skip


def read(value: Any) -> Reading:
    return Own().read(value, (None, ""))


def problems(value: Any) -> list[str]:
    return [problem.field for problem in check_line(json.dumps(value).encode())]


def test_a_ledger_is_taken_with_its_line_around_it_or_beside_the_type() -> None:
    assert problems(LINE) == []
    assert problems({"type": "context.projected", "session": "s1", **LEDGER}) == []
    assert problems({**LINE, "session": ""}) == ["session"]
    assert problems({**LINE, "ledger": {**LEDGER, "estimatedTokens": -1}}) == ["ledger.estimatedTokens"]
    assert problems({**LINE, "ledger": {**LEDGER, "included": [{"sourceId": "r"}]}})


@pytest.mark.parametrize("value", [LINE, {"type": "context.projected", "session": "s1", **LEDGER}])
def test_it_is_an_event_that_tells_what_was_shown_and_left_out_and_why(value: dict[str, Any]) -> None:
    reading = read(value)
    (draft,) = reading.drafts
    assert (reading.session, reading.prompt, reading.status) == ("s1", "9", "mapped")
    assert (draft.kind, draft.actor) == ("context.projected", "runtime")
    assert draft.summary == "2 sources shown, 1 left out, about 812 tokens"
    assert "left out  memory m · low_confidence" in draft.text
    assert "tool      apply_patch hidden · not for planning" in draft.text
    assert "snapshot/retr-1" in draft.refs


def test_a_file_of_bare_ledgers_is_not_ours_without_a_session() -> None:
    def claims(value: Any) -> list[str]:
        return [reader.name for reader in readers().values() if reader.claims("x.jsonl", [value]) > 0.5]

    assert claims(LINE) == ["affidavit"]
    assert claims(LEDGER) == []


@given(
    st.dictionaries(
        st.sampled_from([*LEDGER, "ledger", "turn", "modelInputRef"]),
        st.none() | st.integers() | st.text() | st.lists(st.text() | st.just({"mode": 3})),
    )
)
def test_any_shape_is_read(fields: dict[str, Any]) -> None:
    (draft,) = read({"type": "context.projected", "session": "s1", **fields}).drafts
    assert draft.kind == "context.projected"
    assert all(isinstance(ref, str) for ref in draft.refs)
