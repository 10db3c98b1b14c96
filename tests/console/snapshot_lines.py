"""Invented snapshots of retrievals, as lines of our own."""

from __future__ import annotations

import json
from typing import Any

from affidavit.proof.verdict import text_hash

RULE = "Test mocks state their role."
CODE = "export const role = undefined;\n"


def selected(label: str, text: str, **fields: Any) -> dict[str, Any]:
    return {
        "candidateId": f"c-{label}", "sourceRef": "docs/testing.md:4-9", "capturedAt": "2026-05-14T10:02:10Z",
        "evidenceKind": "doc", "selectedReason": "verified project rule", "visibleText": text,
        "visibleTextHash": text_hash(text), "citationId": label, **fields,
    }  # fmt: skip


def rejected(id: str, stage: str, reason: str, **fields: Any) -> dict[str, Any]:
    return {"candidateId": id, "sourceRef": f"{id}.md", "stage": stage, "reason": reason, **fields}


def snapshot(id: str = "retr-1", **fields: Any) -> dict[str, Any]:
    """A snapshot as a program writes it: four found, one stale, one over budget, two visible."""
    return {
        "id": id, "sessionId": "s-1", "turnId": "21", "modelRequestId": "req-2", "createdAt": "2026-05-14T10:02:18Z",
        "scope": {
            "sessionId": "s-1", "purpose": "fix-test", "timeBoundary": {"asOf": "2026-05-14T10:02:00Z"},
        },
        "plan": {
            "requestId": "i-1", "scopeId": "sc-1",
            "subQueries": [
                {"id": "q1", "intent": "find-rule", "queryText": "role mock", "sources": ["docs"], "topK": 5,
                 "minAuthority": "low"},
            ],
        },
        "candidateStats": {"recalled": 4, "filtered": 1, "selected": 2, "redacted": 0},
        "selectedItems": [selected("rule#1", RULE), selected("code#2", CODE, sourceRef="src/role.ts")],
        "rejectedItems": [
            rejected("c-old", "governance", "stale", score={"lexical": 0.4, "total": 0.3}),
            rejected("c-long", "budget", "over_budget"),
        ],
        "budget": {"maxTokens": 1200, "estimatedTokens": 40, "trimmingPolicy": "head"},
        "contextProjection": {"visibleTextHash": text_hash("the block"), "citationMap": {}},
        **fields,
    }  # fmt: skip


def line(body: dict[str, Any], *, nested: bool = True, **fields: Any) -> bytes:
    """The snapshot as a line of our own; its session is the one it names itself."""
    held = {"snapshot": body} if nested else body
    return json.dumps({"type": "retrieval.snapshot", **fields, **held}).encode() + b"\n"


def message(session: str = "s-1") -> bytes:
    """A person's message, with which a session begins."""
    said = {"type": "session.event", "session": session, "kind": "user.message", "text": "Fix the test", "turn": "21"}
    return json.dumps({**said, "at": "2026-05-14T10:02:00Z"}).encode() + b"\n"
