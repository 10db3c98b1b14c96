"""Who asks for what, and the contract of what the answer may come from."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from affidavit.retrieval.shape import Amount, Shape, extension
from affidavit.retrieval.words import AuthorityClass, Purpose

Name = Annotated[str, Field(min_length=1)]


class Anchors(Shape):
    """What of the task at hand a text can hit by name. Others are kept, and count as words to look for."""

    failing_test: str | None = None
    error_text: str | None = None
    current_files: tuple[str, ...] = ()
    symbols: tuple[str, ...] = extension(())


class TaskState(Shape):
    """What was known of the task when it was asked: queries come from here too, not from the sentence alone."""

    user_goal: str | None = None
    phase: str | None = None
    current_failure: str | None = None
    latest_observation: str | None = None
    active_constraints: tuple[str, ...] = ()
    modified_files: tuple[str, ...] = ()
    files_read: tuple[str, ...] = ()


class RetrievalIntent(Shape):
    """A request to retrieve. ``raised_by``: whoever raised it, the way is the same."""

    id: str = extension("")
    kind: Literal["retrieval.request"] = "retrieval.request"
    purpose: Purpose
    question: str
    anchors: Anchors = Anchors()
    required_evidence: tuple[str, ...] = ()
    raised_by: Literal["model", "context-policy", "runtime"] = extension("runtime")
    task_state: TaskState | None = extension(None)


class PermissionContext(Shape):
    """The two gates: what the system may read for this user, and what of that a model may see."""

    readable_sources: tuple[str, ...] = ()
    model_visible_sources: tuple[str, ...] = ()
    user_id: str | None = None
    roles: tuple[str, ...] = ()


class TimeBoundary(Shape):
    """Which time an answer stands for. Times are ISO 8601; ``include_after`` and ``exclude_after`` bound what is
    recorded, the first exclusive, the second inclusive. ``allow_stale_memory``: old memories are labelled, not
    rejected."""

    as_of: str
    include_after: str | None = None
    exclude_after: str | None = None
    allow_stale_memory: bool = False


class EvidencePolicy(Shape):
    """What counts as evidence. ``require_snapshot``: nothing is handed over unless the snapshot was written first."""

    require_citation: bool = True
    require_snapshot: bool = True
    accepted_authority: tuple[AuthorityClass, ...] = (
        "current-workspace", "project-doc", "verified-memory", "session-event",
    )  # fmt: skip
    max_unverified_items: Amount = 0


class RetrievalBudget(Shape):
    """Tokens the block a model is given may cost, by the estimate the snapshot names; the most of one item.

    ``trimming_policy``: ``keep-matched-lines`` keeps the lines that match with their surroundings, ``head`` the
    beginning, ``drop`` never shortens an item.
    """

    max_tokens: Amount = 1200
    per_item_max: Amount | None = 400
    trimming_policy: Literal["keep-matched-lines", "head", "drop"] | str = "keep-matched-lines"


class RetrievalScope(Shape):
    """What one retrieval is entitled to see, settled before anything is searched."""

    id: str | None = extension(None)
    session_id: str | None = None
    user_id: str | None = None
    project_id: str | None = None
    workspace_root: str | None = None
    branch: str | None = None
    task_id: str | None = None
    purpose: Purpose
    allowed_sources: tuple[str, ...] = ()
    denied_sources: tuple[str, ...] = ()
    permission_context: PermissionContext = PermissionContext()
    time_boundary: TimeBoundary
    evidence_policy: EvidencePolicy = EvidencePolicy()
    budget: RetrievalBudget = RetrievalBudget()
    turn_id: str | None = extension(None)
    model_request_id: str | None = extension(None)
    test_suite: str | None = extension(None)
    agent_id: str | None = extension(None)
    memory_space: str | None = extension(None)
