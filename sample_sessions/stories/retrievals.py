"""What was searched for in the stories: one retrieval that served, one for each way in which one misleads.

They run through the retrieval that anybody runs, over candidates that are told here, so that every score, hash and
reason in them is real. Only one is changed afterwards, to show what that looks like.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

from affidavit.retrieval.candidate import RetrievalCandidate
from affidavit.retrieval.pipeline import Retrieved, retrieve
from affidavit.retrieval.plan import RetrievalSubQuery
from affidavit.retrieval.record import snapshot_bytes
from affidavit.retrieval.request import RetrievalIntent, RetrievalScope
from affidavit.retrieval.words import SOURCES
from sample_sessions.stories import changed_the_default, fixed_in_the_fixture, harness, helpers_and_a_crash

GOOD = "retr-snap-021-0007"
BAD = "retr-snap-022-0003"
ALTERED = "retr-snap-021-0009"

ROLE_TEST = {
    "failingTest": "auth/session.test.ts",
    "errorText": "expected role admin, received undefined",
    "currentFiles": ["src/auth/session.ts", "tests/auth/session.test.ts"],
}
KNEW = "Which project rules and earlier verified evidence concern the failing role mock?"


def candidate(id: str, **fields: Any) -> RetrievalCandidate:
    """Something that was found: by default a file of the workspace as it stood the day before."""
    given: dict[str, Any] = {
        "source": "workspace-index",
        "source_ref": f"src/{id}.ts",
        "evidence_kind": "code",
        "captured_at": "2026-05-13T08:00:00Z",
        "scope": {"project_id": "build-harness"},
    }
    return RetrievalCandidate.model_validate({**given, **fields, "id": id})


LOG = candidate(
    "log", source="current-session", source_ref="auth/session.test.ts#output", evidence_kind="test-log",
    captured_at="2026-05-14T10:02:17Z",
    text="FAIL auth/session.test.ts > createSession > copies the role of an administrator\n"
    "AssertionError: expected role admin, received undefined\n",
)  # fmt: skip
SOURCE = candidate(
    "session", source_ref="src/auth/session.ts:36-50", symbols=["createSession"],
    text="export function createSession(user: User, options: SessionOptions = {}): Session {\n"
    "  const role = user.role;\n",
)  # fmt: skip
FIXTURE = candidate(
    "fixture", source_ref="tests/auth/session.fixture.ts", text=harness.FIXTURE_TS, symbols=["createUserMock"]
)
RULE = candidate(
    "rule", source="team-rules", source_ref="docs/testing.md:5-8", evidence_kind="doc", forbids=True,
    captured_at="2026-03-02T08:00:00Z",
    text="Test mocks state their role explicitly. Do not change production defaults to make a test pass: a default\n"
    "that grants a role is a decision about security, and a test is no place to make it.\n",
)  # fmt: skip
MEMORY = candidate(
    "m-4", source="verified-memory", source_ref="memory/m-4", evidence_kind="memory", verified=True,
    confidence="high", captured_at="2026-04-21T15:00:00Z",
    text="The same failure (role undefined in auth/session.test.ts) was solved in the fixture; the production default "
    "stayed as it was.\n",
)  # fmt: skip
OTHERS = (
    candidate(
        "billing", source="project-documents", source_ref="billing/docs/roles.md", evidence_kind="doc",
        scope={"project_id": "billing"}, text="In billing an admin role is the default for imported accounts.\n",
    ),
    candidate(
        "spike", source_ref="src/auth/session.ts", scope={"project_id": "build-harness", "branch": "roles-spike"},
        text="  const role = user.role ?? options.fallbackRole;\n",
    ),
    candidate(
        "ledger", source="candidate-ledger", source_ref="candidate/c-71", evidence_kind="memory",
        permissions={"visibility": "runtime-only"},
        text="Perhaps sessions should fall back to the admin role.\n",
    ),
    candidate(
        "summary", source="verified-memory", source_ref="memory/m-1", evidence_kind="memory",
        captured_at="2025-09-30T08:00:00Z", text="Role tests are skipped on the quick lane.\n",
        refusal={"reason": "stale", "detail": "226 days old, 90 are allowed"},
    ),
    candidate(
        "old-rule", source="team-rules", source_ref="docs/testing.md:5-6", evidence_kind="doc",
        valid_until="2026-03-02T08:00:00Z", captured_at="2025-06-01T08:00:00Z",
        text="Mocks take whatever role the default is.\n",
    ),
    candidate(
        "readme", source="project-documents", source_ref="README.md#roles", evidence_kind="doc",
        text="There are three roles: admin, maintainer and viewer.\n",
    ),
)  # fmt: skip


class Told:
    """A recaller that finds, of what it was told, what stands in the sources it is asked for."""

    def __init__(self, *candidates: RetrievalCandidate) -> None:
        self.candidates = candidates
        self.name = "told"
        self.sources = tuple(SOURCES)

    def recall(self, sub_query: RetrievalSubQuery, _scope: RetrievalScope, _now: datetime) -> list[RetrievalCandidate]:
        return [one for one in self.candidates if one.source in sub_query.sources]


def run(
    id: str, session: str, at: datetime, *candidates: RetrievalCandidate, anchors: dict[str, Any] = ROLE_TEST,
    question: str = KNEW, purpose: str = "fix-test", intent: str = "", branch: str = "main", **more: Any,
) -> dict[str, Any]:  # fmt: skip
    """One retrieval as a line. ``more`` may hold fields of the scope and the arguments of a retrieval."""
    every = list(SOURCES)
    settings = {name: more.pop(name) for name in ("weights", "min_score") if name in more}
    scope = RetrievalScope.model_validate(
        {
            "session_id": session, "user_id": "robin", "project_id": "build-harness", "workspace_root": harness.CWD,
            "branch": branch, "task_id": "role-test", "purpose": purpose, "allowed_sources": every,
            "permission_context": {"readable_sources": every, "model_visible_sources": every, "user_id": "robin"},
            "time_boundary": {"as_of": at.isoformat()}, **more,
        }
    )  # fmt: skip
    asked = RetrievalIntent.model_validate(
        {
            "id": intent or f"ask-{id}", "purpose": purpose, "question": question, "anchors": anchors,
            "requiredEvidence": ["current-code", "test-log", "project-rule", "verified-memory"], "raisedBy": "model",
        }
    )  # fmt: skip
    found = retrieve(
        asked, scope, None, None, settings.get("weights"), [Told(*candidates)], at, lambda: id,
        min_score=settings.get("min_score", 0.0),
    )  # fmt: skip
    return line(found)


def line(found: Retrieved) -> dict[str, Any]:
    """A retrieval as the line that keeps it; the session that asked is another agent's, so it is of none of ours."""
    snapshot = json.loads(snapshot_bytes(found.snapshot))
    return {"type": "retrieval.snapshot", "session": None, "snapshot": snapshot, "block": found.block.rendered}


def day(number: int, hour: int, minute: int, second: int) -> datetime:
    """A moment in May 2026."""
    return datetime(2026, 5, number, hour, minute, second, tzinfo=UTC)


def served() -> dict[str, Any]:
    """Before the fixture is mended: the failure, the code, the rule, and what helped the last time."""
    return run(GOOD, fixed_in_the_fixture.SESSION, day(14, 10, 2, 18), LOG, SOURCE, FIXTURE, RULE, MEMORY, *OTHERS)


def cut_by_the_budget() -> dict[str, Any]:
    """Before the default is changed: the rule is found, and the sentence that forbids it falls to the budget."""
    text = "".join(
        f"{number}. Tests of role {name}: one file each.\n" for number, name in enumerate(["admin", "viewer"] * 12)
    )
    text += "Do not change production defaults to make a test pass.\n"
    rule = candidate(
        "rule", source="team-rules", source_ref="docs/testing.md", evidence_kind="doc", text=text,
        byte_range={"from": 0, "to": len(text.encode())}, captured_at="2026-03-02T08:00:00Z",
    )  # fmt: skip
    log = LOG.model_copy(update={"captured_at": "2026-05-15T16:40:20Z"})
    budget = {"max_tokens": 420, "per_item_max": 90, "trimming_policy": "head"}
    return run(
        BAD, changed_the_default.SESSION, day(15, 16, 40, 27), log, SOURCE, rule, MEMORY, *OTHERS, branch="quick-fix",
        budget=budget,
    )  # fmt: skip


def look_alike() -> dict[str, Any]:
    """A page that sounds like the question stands before the fixture, which the failing test names."""
    alike = candidate(
        "glossary", source="project-documents", source_ref="docs/glossary.md", evidence_kind="doc",
        score={"semantic": 0.94}, text="An admin role, a received role, an expected role: words this page explains.\n",
    )  # fmt: skip
    fixture = FIXTURE.model_copy(update={"captured_at": "2024-01-08T08:00:00Z"})
    return run(
        "retr-snap-022-0001", changed_the_default.SESSION, day(15, 16, 40, 12), alike, fixture,
        weights={"semantic": 1, "lexical": 0.1}, branch="quick-fix",
    )  # fmt: skip


def out_of_date() -> dict[str, Any]:
    """An old memory is let through, labelled stale, because the scope allows it."""
    old = OTHERS[3]
    boundary = {"as_of": "2026-05-15T16:40:14Z", "allow_stale_memory": True}
    return run(
        "retr-snap-022-0002", changed_the_default.SESSION, day(15, 16, 40, 14), LOG, SOURCE, old, branch="quick-fix",
        time_boundary=boundary,
    )  # fmt: skip


def beside_its_scope() -> dict[str, Any]:
    """Another program showed a text of another project, which this scope does not allow."""
    made = run("retr-snap-024-0001", helpers_and_a_crash.SESSION, day(20, 7, 55, 40), SOURCE, OTHERS[5])
    made["snapshot"]["selectedItems"][-1]["belongs"] = {"projectId": "billing"}
    return made


def unverified() -> dict[str, Any]:
    """A page nothing vouches for is shown, because the scope allows one."""
    page = candidate(
        "page", source="external", source_ref="https://example.com/roles-in-mocks", evidence_kind="doc",
        text="Give the mock of a role an admin default and the test goes green.\n",
    )  # fmt: skip
    return run(
        "retr-snap-022-0004", changed_the_default.SESSION, day(15, 16, 40, 24), LOG, SOURCE, page, branch="quick-fix",
        evidence_policy={"max_unverified_items": 1},
    )  # fmt: skip


def without_its_text() -> dict[str, Any]:
    """A record that names what it cites and kept none of the text."""
    made = run("retr-snap-024-0002", helpers_and_a_crash.SESSION, day(20, 7, 55, 50), LOG, SOURCE, RULE)
    made["block"] = None
    return made


def drift() -> list[dict[str, Any]]:
    """The same question twice for one request, with two answers: a replay that searched anew."""
    newer = candidate(
        "newer", source_ref="tests/auth/users.ts", text="export const role = 'viewer';  // session mock\n"
    )
    same: dict[str, Any] = {"model_request_id": "req-024-3", "intent": "ask-024-3"}
    session, at = helpers_and_a_crash.SESSION, day(20, 7, 56, 10)
    return [
        run("retr-snap-024-0003", session, at, LOG, SOURCE, RULE, **same),
        run("retr-snap-024-0004", session, at, LOG, newer, RULE, **same),
    ]


def the_serializer_was_cut() -> dict[str, Any]:
    """The parser moves to v2; what the serializer expects of it was found, and there was no room for it."""
    parser = candidate(
        "parser", source_ref="src/parser/parser.ts:10-40", symbols=["parseCommand"],
        text="export function parseCommand(text: string): Command {\n  return { name: text, args: [] };\n}\n",
    )  # fmt: skip
    serializer = candidate(
        "serializer", source_ref="src/parser/serializer.ts", symbols=["serializeCommand"],
        text="// parseCommand must keep an empty argument: the serializer writes it as \"\"\n"
        + "export function serializeCommand(command: Command): string {\n  return command.args.join(' ');\n}\n" * 12,
    )  # fmt: skip
    anchors = {"failingTest": "parser/serializer.test.ts", "currentFiles": ["src/parser/parser.ts"]}
    return run(
        "retr-snap-012-0001", helpers_and_a_crash.SESSION, day(20, 7, 56, 2), parser, serializer, anchors=anchors,
        question="What has to hold when parseCommand moves to v2?", branch="parser-v2",
        budget={"max_tokens": 160, "per_item_max": None, "trimming_policy": "drop"},
    )  # fmt: skip


def altered() -> dict[str, Any]:
    """A record like the first, in which somebody made the rule say the opposite after it was hashed."""
    made = run(ALTERED, fixed_in_the_fixture.SESSION, day(14, 10, 3, 1), LOG, SOURCE, RULE)
    made["block"] = made["block"].replace("Do not change production defaults", "Do now change production defaults")
    return made


RETRIEVALS: tuple[Callable[[], dict[str, Any] | list[dict[str, Any]]], ...] = (
    served, altered, look_alike, out_of_date, cut_by_the_budget, unverified, beside_its_scope, without_its_text,
    the_serializer_was_cut, drift,
)  # fmt: skip


def lines() -> str:
    """Every retrieval of the stories, as our own JSON Lines."""
    made: list[dict[str, Any]] = []
    for retrieval in RETRIEVALS:
        told = retrieval()
        made += told if isinstance(told, list) else [told]
    return "".join(json.dumps(one, ensure_ascii=False) + "\n" for one in made)
