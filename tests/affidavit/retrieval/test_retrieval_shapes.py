"""The shapes of retrieval: JSON in camelCase, foreign fields and words kept, extensions marked."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import pytest
from pydantic import ValidationError

from affidavit.retrieval.request import RetrievalIntent, RetrievalScope
from affidavit.retrieval.schema import json_schema
from affidavit.retrieval.snapshot import RetrievalAuditSnapshot, RetrievedContextBlock
from affidavit.retrieval.words import FILTER_STAGES, REASONS, SOURCES, STAGES, TRUSTS

SCOPE: dict[str, Any] = {
    "sessionId": "s-1",
    "userId": "mina",
    "projectId": "acme",
    "workspaceRoot": "/work/acme",
    "taskId": "t-1",
    "purpose": "fix-test",
    "allowedSources": ["workspace-index", "some-foreign-source"],
    "deniedSources": [],
    "permissionContext": {"readableSources": ["workspace-index"], "modelVisibleSources": []},
    "timeBoundary": {"asOf": "2026-05-14T10:00:00Z", "allowStaleMemory": False},
    "evidencePolicy": {
        "requireCitation": True,
        "requireSnapshot": True,
        "acceptedAuthority": ["current-workspace"],
        "maxUnverifiedItems": 0,
    },
    "budget": {"maxTokens": 1200, "perItemMax": None, "trimmingPolicy": "their-own"},
}

SNAPSHOT: dict[str, Any] = {
    "id": "retr-1",
    "sessionId": "s-1",
    "turnId": "7",
    "modelRequestId": "r-9",
    "createdAt": "2026-05-14T10:00:01Z",
    "scope": SCOPE,
    "plan": {
        "requestId": "i-1",
        "scopeId": "sc-1",
        "subQueries": [
            {
                "id": "q1",
                "intent": "find-error",
                "queryText": "role",
                "sources": ["artifact-store"],
                "topK": 5,
                "minAuthority": "low",
                "maxAge": "P7D",
            }
        ],
        "mergePolicy": "authority-first",
        "outputShape": "context-block",
    },
    "candidateStats": {"recalled": 2, "filtered": 1, "selected": 1, "redacted": 0},
    "selectedItems": [
        {
            "candidateId": "c1",
            "sourceRef": "auth/session.test.ts:4-9",
            "capturedAt": "2026-05-14T09:00:00Z",
            "evidenceKind": "code",
            "selectedReason": "a reason of their own",
            "visibleText": "expect(role)",
            "visibleTextHash": "sha256:00",
            "citationId": "code#1",
            "theirField": {"deep": [1, 2]},
        }
    ],
    "rejectedItems": [
        {
            "candidateId": "c2",
            "sourceRef": "x",
            "stage": "scope",
            "reason": "their_code",
            "score": {"semantic": None, "total": 0.5, "theirPart": 0.1},
        }
    ],
    "budget": {"maxTokens": 1200, "estimatedTokens": 40, "trimmingPolicy": "head"},
    "contextProjection": {"messageBlockRef": "payload/1", "visibleTextHash": "sha256:11", "citationMap": {}},
}


def holds(whole: Any, part: Any) -> bool:
    """Whether everything of ``part`` stands in ``whole``."""
    if isinstance(part, dict):
        return isinstance(whole, dict) and all(name in whole and holds(whole[name], part[name]) for name in part)
    if isinstance(part, list):
        return len(whole) == len(part) and all(map(holds, whole, part))
    return bool(whole == part)


def test_a_foreign_snapshot_is_written_out_with_all_it_held() -> None:
    assert holds(RetrievalAuditSnapshot.model_validate(SNAPSHOT).as_json(), SNAPSHOT)


def test_other_words_for_trust_are_read_as_the_three() -> None:
    item = {"citationId": "a", "authority": "low", "evidenceKind": "doc", "text": "", "trust": "untrusted_text"}
    for word, ours in (("trusted", "instruction"), ("fact", "evidence"), ("untrusted_text", "untrusted-observation")):
        block = RetrievedContextBlock.model_validate(
            {"title": "t", "snapshotId": "s", "items": [{**item, "trust": word}]}
        )
        assert block.items[0].trust == ours


@pytest.mark.parametrize(
    ("field", "value"),
    [("purpose", "guess"), ("timeBoundary", {"allowStaleMemory": True}), ("budget", {"maxTokens": -1})],
)
def test_a_scope_that_is_no_contract_is_refused(field: str, value: Any) -> None:
    with pytest.raises(ValidationError):
        RetrievalScope.model_validate({**SCOPE, field: value})


def test_anchors_of_other_kinds_are_kept() -> None:
    intent = RetrievalIntent.model_validate(
        {"kind": "retrieval.request", "purpose": "fix-test", "question": "why", "anchors": {"issue": "ACME-4"}}
    )
    assert intent.as_json()["anchors"]["issue"] == "ACME-4"


def test_extensions_are_marked_and_founding_fields_are_not() -> None:
    shapes = json_schema()["$defs"]
    item = shapes["SnapshotItem"]["properties"]
    assert {name for name in item if not item[name].get("x-extension")} == {
        "candidateId", "sourceRef", "sourceVersion", "capturedAt", "evidenceKind", "selectedReason", "visibleText",
        "visibleTextHash", "citationId",
    }  # fmt: skip
    stats = shapes["CandidateStats"]["properties"]
    assert {name for name in stats if stats[name].get("x-extension")} == {"rankedOut", "trimmed"}


def test_every_reason_belongs_to_one_stage() -> None:
    assert {reason.stage for reason in REASONS.values()} == set(STAGES)
    assert set(STAGES) - FILTER_STAGES == {"rank", "budget"}


def test_no_source_trusts_by_itself_more_than_its_texts_may_be_trusted() -> None:
    assert all(TRUSTS.index(source.trust) <= TRUSTS.index(source.most_trust) for source in SOURCES.values())


def test_the_words_load_no_models() -> None:
    code = "import sys, affidavit.retrieval.words; sys.exit('pydantic' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
