"""The context policy: log, state, rules, memory, retrieval, observations and tools become one model input.

Six duties: select, order, compress, isolate, budget, record. It is a pure function: it reads no database, runs no
search, keeps no messages from one call to the next, and what it was given stays as it was.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import NamedTuple

from affidavit.context.choice import Left, Piece, choose_sources
from affidavit.context.constraints import conflicts_among, constraints_in, missing_from
from affidavit.context.fitting import fit, shares_of
from affidavit.context.page import base_cost, cost, page
from affidavit.context.shapes import (
    AgentState,
    Compaction,
    ContextBudget,
    ContextDecision,
    ContextDecisionLedger,
    ContextSource,
    Excluded,
    Included,
    ModelInputProjection,
    Observation,
    ProjectRequest,
    TailEvent,
    ToolDecision,
    ToolSchema,
)
from affidavit.context.tail import FIRST, changed_afterwards, recent_tail, told
from affidavit.context.words import PLACES, TAIL_LEAST, TAIL_MOST, TAIL_USUAL, TOOLS_IN, Action, Phase
from affidavit.proof.canonical import canonical
from affidavit.proof.verdict import text_hash
from affidavit.text.tokens import METHOD, estimate_tokens


class Run(NamedTuple):
    """Whose input it is: ids of the run, the turn and the model input, and the folder the task works in."""

    run_id: str
    turn_id: str
    model_input_id: str
    folder: str = ""


def project(
    sources: Sequence[ContextSource],
    state: AgentState,
    events: Sequence[TailEvent],
    tools: Sequence[ToolSchema],
    budget: ContextBudget,
    run: Run,
    now: datetime,
    *,
    tail: int = TAIL_USUAL,
    external_tools: bool = False,
) -> ModelInputProjection:
    """Make one model input, with the record of why it is what it is. ``now``: an instant with its zone.

    ``tail``: how many events the recent tail keeps, 6 to 10; ``external_tools``: this turn needs outside knowledge.
    Raises :class:`affidavit.proof.canonical.CanonicalError` for texts that have no canonical form.
    """
    shown_tools, tool_decisions = _tools(tools, state.phase, external_tools)
    pieces, left = choose_sources(sources, state, run.folder, now)
    tail_pieces, tail_left, dropped = _tail(events, min(max(tail, TAIL_LEAST), TAIL_MOST))
    left += tail_left
    if state.latest_observation is not None and (observed := _observation(state.latest_observation)).text:
        pieces.append(observed)
    pieces += tail_pieces
    scene = _scene(state, sources, pieces, left, dropped)
    ordered = sorted([*pieces, scene], key=lambda piece: PLACES.index(piece.place))
    most = budget.max_tokens - base_cost() - sum(tool.tokens for tool in tool_decisions if tool.visible)
    kept, cut, over = fit(ordered, most, shares_of(budget, state.phase), cost)
    lost = [piece for piece in ordered if piece not in kept]
    if carried := _carried(lost, kept):
        scene.text += "\n" + "\n".join(f"- {line}" for line in carried)
        kept, cut, over = fit(ordered, most, shares_of(budget, state.phase), cost)
    return _projection(kept, [*left, *cut], shown_tools, tool_decisions, state.phase, budget, over, run)


def project_request(request: ProjectRequest, now: datetime) -> ModelInputProjection:
    """:func:`project` for what is asked in one object, as programs do."""
    run = Run(request.run_id, request.turn_id, request.model_input_id, request.folder)
    return project(
        request.sources,
        request.state,
        request.events,
        request.tools,
        request.budget,
        run,
        now,
        tail=request.tail,
        external_tools=request.external_tools,
    )


def _tools(
    tools: Sequence[ToolSchema], phase: Phase, external: bool
) -> tuple[list[ToolSchema], tuple[ToolDecision, ...]]:
    """The tools a phase makes visible, and a decision about every one."""
    shown, decisions = [], []
    for tool in tools:
        visible = tool.effect in TOOLS_IN[phase] or (external and tool.effect == "external")
        tokens = estimate_tokens(canonical(tool.as_json()).decode())
        why = f"{tool.effect} tools are for {phase}" if visible else f"{tool.effect} tools are not for {phase}"
        decisions.append(ToolDecision(name=tool.name, visible=visible, reason=why, tokens=tokens))
        if visible:
            shown.append(tool)
    return shown, tuple(decisions)


def _observation(observation: Observation) -> Piece:
    """The latest observation: what was run, how it ended, what it says, and where the whole of it stands."""
    refs = [ref for ref in (observation.stdout_ref, observation.stderr_ref, *observation.artifacts) if ref]
    lines = []
    if observation.command:
        lines.append(f"Command: {observation.command}")
    if observation.exit_code is not None:
        lines.append(f"Exit code: {observation.exit_code}")
    if observation.summary:
        lines.append(f"Summary: {observation.summary}")
    if observation.visible_excerpt:
        lines.append(observation.visible_excerpt)
    if refs:
        lines.append(f"The whole of it: {', '.join(refs)}")
    text = "\n".join(lines)
    return Piece(
        observation.id, "latest_observation", "latest_observation", text, "untrusted-observation",
        "what the last action gave back", source=observation.class_ or observation.kind,
        mode="excerpt" if refs else "full", whole=text, original=refs[0] if refs else observation.id, weight=1.0,
    )  # fmt: skip


def _tail(events: Sequence[TailEvent], most: int) -> tuple[list[Piece], list[Left], list[TailEvent]]:
    """The recent tail event by event, each trusted as who spoke, and what it leaves out."""
    kept, others = recent_tail(events, most)
    stale = changed_afterwards(events)
    pieces = []
    for number, event in enumerate(kept):
        text, shorter = told(event, event.id in stale)
        by_person = event.kind == "user.message"
        pieces.append(
            Piece(
                event.id, "recent_tail", "recent_tail", text, "instruction" if by_person else "untrusted-observation",
                "stale text left out" if event.id in stale else "a recent event",
                source="user" if by_person else event.kind, mode="summary" if shorter else "full",
                whole=event.text or event.summary, original=event.ref or event.id, weight=float(number),
                constraints=_kept(event) if event.kind in FIRST else [],
            )
        )  # fmt: skip
    left = [Left(event.id, "recent_tail", "older_than_tail") for event in others]
    return pieces, left, others


def _scene(
    state: AgentState,
    sources: Sequence[ContextSource],
    pieces: Sequence[Piece],
    left: Sequence[Left],
    dropped: Sequence[TailEvent],
) -> Piece:
    """The state of the task, with all that must not be lost: constraints, notes, and that instructions differ."""
    instructions = [
        (piece.source, piece.text) for piece in pieces if piece.place in ("repository_instructions", "user_goal")
    ]
    instructions += [("the user", "\n".join([state.user_goal, *state.active_constraints]))]
    lines = [f"phase: {state.phase}"]
    if state.user_goal and not any(source.kind == "user_goal" for source in sources):
        lines.append(f"goal: {state.user_goal}")
    if state.current_failure:
        lines.append(f"current failure: {state.current_failure}")
    if state.modified_files:
        lines.append(f"modified files: {', '.join(state.modified_files)}")
    if state.pending_approvals:
        lines.append(f"waiting for approval: {'; '.join(state.pending_approvals)}")
    if state.artifact_refs:
        lines.append(f"artifacts: {', '.join(state.artifact_refs)}")
    said = [line for event in dropped if event.kind in FIRST for line in _kept(event)]
    constraints = dict.fromkeys([*state.active_constraints, *said, *conflicts_among(instructions)])
    constraints |= dict.fromkeys(one.note for one in left if one.note)
    constraints |= dict.fromkeys(f"{path} is generated: it is not for editing." for path in state.generated_files)
    if withheld := sum(one.kind == "memory" for one in left):
        lines.append(f"memories withheld: {withheld}")
    if constraints:
        lines += ["active constraints:", *(f"- {line}" for line in constraints)]
    text = "\n".join(lines)
    why = "the task as it stands"
    return Piece("state", "state_summary", "state", text, "evidence", why, source="state", whole=text)


def _kept(event: TailEvent) -> list[str]:
    """What must survive of an event that leaves the tail."""
    if event.kind == "permission.decision":
        return [(event.summary or event.text).strip()[:400]] if (event.summary or event.text).strip() else []
    return constraints_in(event.text)


def _carried(lost: Sequence[Piece], kept: Sequence[Piece]) -> list[str]:
    """Constraints of a person, a rule or a summary of such that would go with what is left out for room."""
    text = "\n".join(piece.text for piece in kept)
    said = [line for piece in lost for line in piece.constraints]
    return missing_from(dict.fromkeys(said), text)


def _projection(
    kept: Sequence[Piece],
    left: Sequence[Left],
    tools: Sequence[ToolSchema],
    tool_decisions: tuple[ToolDecision, ...],
    phase: Phase,
    budget: ContextBudget,
    over: bool,
    run: Run,
) -> ModelInputProjection:
    """Messages, tools, decisions, ledger, and the text they are stored and hashed as."""
    messages = page(kept)
    shown = {"messages": [message.as_json() for message in messages], "tools": [tool.as_json() for tool in tools]}
    model_input = canonical(shown).decode()
    tokens = sum(estimate_tokens(message.content) for message in messages)
    tokens += sum(tool.tokens for tool in tool_decisions if tool.visible)
    ledger = ContextDecisionLedger(
        run_id=run.run_id,
        turn_id=run.turn_id,
        model_input_id=run.model_input_id,
        estimated_tokens=tokens,
        included=tuple(
            Included(
                source_id=piece.id,
                source_kind=piece.kind,
                mode=piece.mode,
                reason=piece.reason,
                trust_level=piece.trust,
                tokens=cost(piece),
            )
            for piece in kept
        ),
        excluded=tuple(Excluded(source_id=one.id, source_kind=one.kind, reason=one.reason) for one in left),
        compactions=tuple(
            Compaction(source_id=piece.id, summary_id=f"{run.model_input_id}/{piece.id}", original_ref=piece.original)
            for piece in kept
            if piece.mode != "full" and piece.original is not None
        ),
        tools=tool_decisions,
        phase=phase,
        budget=budget,
        over_budget=over,
        context_hash=text_hash(model_input),
        retrieval_snapshot_ids=tuple(piece.snapshot for piece in kept if piece.snapshot),
        token_method=METHOD,
    )
    return ModelInputProjection(
        messages=tuple(messages),
        tool_schemas=tuple(tools),
        decisions=(*map(_decision, kept), *map(_exclusion, left)),
        estimated_tokens=tokens,
        ledger=ledger,
        model_input=model_input,
        context_hash=text_hash(model_input),
    )


def _decision(piece: Piece) -> ContextDecision:
    actions: dict[str, Action] = {"full": "include", "excerpt": "summarize", "summary": "summarize"}
    return ContextDecision(
        source_id=piece.id,
        source_kind=piece.kind,
        action=actions.get(piece.mode, "reference"),
        reason=piece.reason,
        token_budget=cost(piece),
        trust_level=piece.trust,
    )


def _exclusion(left: Left) -> ContextDecision:
    return ContextDecision(
        source_id=left.id,
        source_kind=left.kind,
        action="exclude",
        reason=left.reason,
        trust_level="untrusted-observation",
    )
