"""What goes into a context policy and what comes out of it."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Field

from affidavit.context.words import TAIL_USUAL, Action, Effect, Mode, Phase, SourceKind
from affidavit.retrieval.shape import Amount, Shape, Share, TrustWord, extension
from affidavit.retrieval.snapshot import RetrievedContextBlock
from affidavit.retrieval.words import Level, Visibility

Name = Annotated[str, Field(min_length=1)]


class Observation(Shape):
    """What a tool gave back: an excerpt and references; large bodies stand elsewhere."""

    id: str = extension("latest-observation")
    kind: str = "command_result"
    class_: str | None = Field(None, alias="class")
    command: str | None = None
    exit_code: int | None = None
    stdout_ref: str | None = None
    stderr_ref: str | None = None
    summary: str = ""
    visible_excerpt: str = ""
    artifacts: tuple[str, ...] = ()
    trust_level: TrustWord = "untrusted-observation"


class AgentState(Shape):
    """The scene of the task now, folded from the log."""

    user_goal: str = ""
    phase: Phase = "diagnosing"
    active_constraints: tuple[str, ...] = ()
    latest_observation: Observation | None = None
    current_failure: str | None = extension(None)
    modified_files: tuple[str, ...] = ()
    files_read: tuple[str, ...] = extension(())
    generated_files: tuple[str, ...] = extension(())
    pending_approvals: tuple[str, ...] = extension(())
    artifact_refs: tuple[str, ...] = ()
    turn_count: Amount = 0


class TailEvent(Shape):
    """An event as the recent tail needs it. ``path``: the file whose text it shows; ``changes``: files it changed."""

    id: Name
    turn_id: str | None = None
    kind: str
    created_at: str | None = None
    payload: Any = None
    text: str = extension("")
    summary: str = extension("")
    ref: str | None = extension(None)
    path: str | None = extension(None)
    changes: tuple[str, ...] = extension(())


class MemoryRecord(Shape):
    """A memory that came through the recall gate, with what has to be said beside it."""

    id: Name
    content: str
    status: str
    scope: str | None = None
    source_refs: tuple[str, ...] = ()
    confidence: Level | None = None
    authority: str | None = None
    last_verified_at: str | None = None
    expires_at: str | None = None


class ToolSchema(Shape):
    """A tool a model may be told of, and what it does to the world."""

    name: Name
    description: str = ""
    parameters: dict[str, Any] = Field(default_factory=dict)
    effect: Effect = extension("read")


class ContextSource(Shape):
    """Something that may be shown. Which fields are set follows from ``kind``.

    ``relevant``: whether it concerns the task, as far as its giver knows; ``relevance``: how much, 0 to 1.
    ``original_ref``: of a summary, where what it sums up stands. ``outdated``: its file changed after it was read.
    """

    id: Name = extension(...)
    kind: SourceKind
    content: str = ""
    priority: str | None = None
    path: str | None = None
    block: RetrievedContextBlock | None = extension(None)
    records: tuple[MemoryRecord, ...] = ()
    source_refs: tuple[str, ...] = extension(())
    original_ref: str | None = extension(None)
    relevant: bool | None = extension(None)
    relevance: Share | None = extension(None)
    visibility: Visibility = extension("model-visible")
    outdated: bool = extension(False)


class Reserved(Shape):
    """Tokens reserved for each part; ``None``: its share by the phase."""

    rules: Amount | None = None
    user_goal: Amount | None = None
    state: Amount | None = None
    latest_observation: Amount | None = None
    recent_tail: Amount | None = None
    retrieval: Amount | None = None
    memory: Amount | None = None
    tools: Amount | None = None


class ContextBudget(Shape):
    """Tokens a model input may cost, and the parts of it."""

    max_tokens: Amount = 16_000
    reserved: Reserved = Reserved()


class ContextDecision(Shape):
    """What was decided of one source."""

    source_id: str = extension("")
    source_kind: str
    action: Action
    reason: str
    token_budget: Amount | None = None
    trust_level: TrustWord


class Included(Shape):
    """A source the model was given something of."""

    source_id: str
    source_kind: str
    mode: Mode
    reason: str
    trust_level: TrustWord
    tokens: Amount = extension(0)


class Excluded(Shape):
    """A source the model was given nothing of."""

    source_id: str
    source_kind: str
    reason: str


class Compaction(Shape):
    """A text that stands for a longer one, and where that is."""

    source_id: str
    summary_id: str
    original_ref: str


class ToolDecision(Shape):
    """A tool and why the model was told of it or not."""

    name: str
    visible: bool
    reason: str
    tokens: Amount = 0


class ContextDecisionLedger(Shape):
    """Why one model input was what it was. It is never itself shown to a model."""

    run_id: str
    turn_id: str
    model_input_id: str
    estimated_tokens: Amount
    included: tuple[Included, ...]
    excluded: tuple[Excluded, ...]
    compactions: tuple[Compaction, ...]
    tools: tuple[ToolDecision, ...] = extension(())
    phase: Phase = extension("diagnosing")
    budget: ContextBudget = extension(ContextBudget())
    over_budget: bool = extension(False)
    context_hash: str | None = extension(None)
    retrieval_snapshot_ids: tuple[str, ...] = extension(())
    token_method: str | None = extension(None)


class ModelMessage(Shape):
    """One message of a model input."""

    role: str
    content: str


class ModelInputProjection(Shape):
    """One model input. ``model_input`` is its text as it is stored and hashed: RFC 8785 of messages and tools."""

    messages: tuple[ModelMessage, ...]
    tool_schemas: tuple[ToolSchema, ...]
    decisions: tuple[ContextDecision, ...]
    estimated_tokens: Amount
    ledger: ContextDecisionLedger = extension(...)
    model_input: str = extension("")
    context_hash: str = extension("")


class ProjectRequest(Shape):
    """Everything one model input is made of, in one object. ``folder``: where the task works, in the project."""

    run_id: Name
    turn_id: Name
    model_input_id: Name
    folder: str = extension("")
    state: AgentState = AgentState()
    sources: tuple[ContextSource, ...] = ()
    events: tuple[TailEvent, ...] = ()
    tools: tuple[ToolSchema, ...] = ()
    budget: ContextBudget = ContextBudget()
    tail: Amount = extension(TAIL_USUAL)
    external_tools: bool = extension(False)
