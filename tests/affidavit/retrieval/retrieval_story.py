"""An invented project with a failing test, and recallers that find what it is told they find."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from typing import Any

from affidavit.retrieval.candidate import RetrievalCandidate
from affidavit.retrieval.pipeline import Retrieved, retrieve
from affidavit.retrieval.plan import RetrievalSubQuery
from affidavit.retrieval.request import RetrievalIntent, RetrievalScope
from affidavit.retrieval.words import SOURCES

NOW = datetime(2026, 5, 14, 12, tzinfo=UTC)

INTENT = RetrievalIntent.model_validate(
    {
        "id": "intent-7",
        "purpose": "fix-test",
        "question": "Which project rules and earlier verified evidence concern the failing role mock?",
        "anchors": {
            "failingTest": "auth/session.test.ts",
            "errorText": "expected role admin, received undefined",
            "currentFiles": ["src/auth/session.ts"],
        },
        "requiredEvidence": ["current-code", "test-log", "project-rule", "verified-memory"],
        "raisedBy": "model",
    }
)


def scope(**changes: Any) -> RetrievalScope:
    """The scope of the story: all sources readable and shown, the articles' defaults."""
    every = list(SOURCES)
    return RetrievalScope.model_validate(
        {
            "session_id": "s-1",
            "user_id": "mina",
            "project_id": "acme",
            "workspace_root": "/work/acme",
            "branch": "main",
            "task_id": "t-1",
            "purpose": "fix-test",
            "allowed_sources": every,
            "permission_context": {"readable_sources": every, "model_visible_sources": every, "user_id": "mina"},
            "time_boundary": {"as_of": "2026-05-14T12:00:00Z"},
            **changes,
        }
    )


def found(id: str, **fields: Any) -> RetrievalCandidate:
    """A candidate: by default a file of the workspace, recorded a day ago."""
    given: dict[str, Any] = {
        "source": "workspace-index",
        "source_ref": f"src/{id}.ts",
        "text": f"export const {id} = 1;\n",
        "evidence_kind": "code",
        "captured_at": "2026-05-13T12:00:00Z",
    }
    return RetrievalCandidate.model_validate({**given, "id": id, **fields})


STORY = (
    found(
        "log",
        source="current-session",
        source_ref="f00dfeed00000001",
        evidence_kind="test-log",
        text="FAIL auth/session.test.ts\nexpected role admin, received undefined\n",
    ),
    found(
        "mock",
        source_ref="src/auth/session.ts:1-5",
        text="export function createUserMock(name) {\n  return { name };\n}\n",
    ),
    found(
        "rule",
        source="team-rules",
        source_ref="AGENTS.md#mocks",
        evidence_kind="doc",
        text="Test mocks state their role. Production defaults must not change to make a test pass.\n",
    ),
    found(
        "memory",
        source="verified-memory",
        source_ref="memory/m-4",
        evidence_kind="memory",
        text="The same failure was solved in the fixture; the production default stayed.\n",
    ),
    found(
        "roles",
        source="project-documents",
        source_ref="docs/roles.md",
        evidence_kind="doc",
        text="An admin role may manage users. The role of a user is undefined until it is set.\n",
    ),
)


class Finds:
    """A recaller that finds, of what it holds, what stands in the sources it is asked for."""

    def __init__(self, *candidates: RetrievalCandidate, name: str = "story") -> None:
        self.candidates = candidates
        self.name = name
        self.sources = tuple(SOURCES)
        self.asked: list[tuple[RetrievalSubQuery, RetrievalScope, datetime]] = []

    def recall(self, sub_query: RetrievalSubQuery, scope: RetrievalScope, now: datetime) -> list[RetrievalCandidate]:
        self.asked.append((sub_query, scope, now))
        return [one for one in self.candidates if one.source in sub_query.sources]


def run(
    *candidates: RetrievalCandidate,
    intent: RetrievalIntent = INTENT,
    within: RetrievalScope | None = None,
    recallers: Sequence[Any] | None = None,
    weights: dict[str, float] | None = None,
    new_id: Callable[[], str] = lambda: "retr-snap-021-0007",
    **more: Any,
) -> Retrieved:
    """A retrieval that finds these candidates."""
    asked = [Finds(*candidates)] if recallers is None else recallers
    return retrieve(intent, within or scope(), None, None, weights, asked, NOW, new_id, **more)


def reasons(retrieved: Retrieved) -> dict[str, str]:
    """Why each candidate was rejected, by its id."""
    return {item.candidate_id: item.reason for item in retrieved.snapshot.rejected_items}


def selected(retrieved: Retrieved) -> list[str]:
    """Ids of the candidates handed over, in order."""
    return [item.candidate_id for item in retrieved.snapshot.selected_items]
