"""Select: relevant? still a fact? a source to be trusted? allowed? Only what passes all is weighed by its tokens."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime

from affidavit.context.constraints import constraints_in
from affidavit.context.shapes import AgentState, ContextSource, MemoryRecord
from affidavit.context.words import Mode
from affidavit.retrieval.words import Trust
from affidavit.session.times import instant

TRUSTED = frozenset(("approved", "active", "verified"))
_GENERATED = re.compile(
    r"(?:^|/)(?:dist|build|out|generated|node_modules|vendor|__generated__|target)/|\.min\.(?:js|css)$|\.(?:lock|map|snap)$"
    r"|(?:^|/)(?:package-lock\.json|yarn\.lock|pnpm-lock\.yaml)$|\.generated\.|_pb2\.py$"
)


@dataclass(eq=False)
class Piece:
    """A part of a model input in the making. ``place``: where on the page; ``text``: what is shown of it now.

    ``whole``: its text uncut; ``original``: where that stands; ``weight``: what goes first when there is no room.
    """

    id: str
    kind: str
    place: str
    text: str
    trust: Trust
    reason: str
    source: str = ""
    mode: Mode = "full"
    whole: str = ""
    original: str | None = None
    weight: float = 0.0
    snapshot: str | None = None
    constraints: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class Left:
    """A source that is left out, and why."""

    id: str
    kind: str
    reason: str
    note: str = ""


def is_generated(path: str, state: AgentState) -> bool:
    """Whether a file is made by a program and not for editing."""
    return path in state.generated_files or _GENERATED.search(path) is not None


def choose_sources(
    sources: Sequence[ContextSource], state: AgentState, folder: str, now: datetime
) -> tuple[list[Piece], list[Left]]:
    """Every source but the tail, the state and the latest observation: what may be shown of it, or why nothing."""
    pieces: list[Piece] = []
    left: list[Left] = []
    for source in sources:
        if source.kind == "memory":
            for record in source.records:
                piece = _memory(record, now)
                (pieces if isinstance(piece, Piece) else left).append(piece)  # type: ignore[arg-type]
            continue
        refused = _refused(source, state, folder)
        if refused is not None:
            left.append(refused)
        else:
            pieces.append(_piece(source))
    return pieces, left


def _refused(source: ContextSource, state: AgentState, folder: str) -> Left | None:
    """The first of the five questions a source fails, but for its tokens."""

    def because(reason: str, note: str = "") -> Left:
        return Left(source.id, source.kind, reason, note)

    if source.visibility != "model-visible":
        return because("runtime_only")
    if source.kind == "repository_instructions" and not _concerns(source.path or "", state, folder):
        return because("other_folder")
    if source.relevant is False:
        return because("not_relevant")
    if source.outdated:
        return because("stale")
    if source.kind == "retrieval_result":
        if source.block is None or not source.block.snapshot_id:
            return because("no_snapshot")
        if not source.block.rendered:
            return because("empty")
        return None
    if source.path and source.kind != "repository_instructions" and is_generated(source.path, state):
        return because("generated", f"{source.path} is generated: it is not for editing.")
    if source.kind == "state_summary" and source.original_ref is None:
        return because("no_original")
    return None if source.content.strip() else because("empty")


def _concerns(path: str, state: AgentState, folder: str) -> bool:
    """Whether a file of instructions stands above the folder or any file the task is about."""
    home = path.replace("\\", "/").rpartition("/")[0].strip("/.")
    if not home:
        return True
    places = [folder.strip("/.") + "/", *state.modified_files, *state.files_read]
    return any(place.replace("\\", "/").startswith(home + "/") for place in places)


def _piece(source: ContextSource) -> Piece:
    trust: dict[str, Trust] = {"system_rules": "instruction", "repository_instructions": "instruction"}
    reasons = {
        "system_rules": "rules are always shown",
        "repository_instructions": "rules of the folder the task is in",
        "user_goal": "what the user asked for",
        "retrieval_result": "evidence retrieved for this request",
        "state_summary": "a summary of what came before",
    }
    if source.kind == "retrieval_result" and source.block is not None:
        return Piece(
            source.id, source.kind, "retrieval_result", source.block.rendered, _least_trusted(source),
            reasons["retrieval_result"], source=f"snapshot {source.block.snapshot_id}", whole=source.block.rendered,
            original=f"snapshot/{source.block.snapshot_id}", weight=source.relevance or 0.0,
            snapshot=source.block.snapshot_id,
        )  # fmt: skip
    place = "older_summary" if source.kind == "state_summary" else source.kind
    return Piece(
        source.id, source.kind, place, source.content, _trust_of(source, trust),
        reasons.get(source.kind, "given for this request"), source=source.path or source.kind, whole=source.content,
        original=source.original_ref, mode="summary" if source.kind == "state_summary" else "full",
        weight=source.relevance or 0.0, constraints=constraints_in(source.content) if source.kind in _SPEAKING else [],
    )  # fmt: skip


_SPEAKING = frozenset(("system_rules", "repository_instructions", "user_goal", "state_summary"))


def _trust_of(source: ContextSource, trust: dict[str, Trust]) -> Trust:
    """Trust follows from the kind: what a source says of itself raises nothing."""
    if source.kind == "user_goal":
        return "instruction"
    return trust.get(source.kind, "evidence" if source.kind == "state_summary" else "untrusted-observation")


def _least_trusted(source: ContextSource) -> Trust:
    """A block is trusted as its least trusted item, and never as an instruction."""
    items = source.block.items if source.block is not None else ()
    return "untrusted-observation" if any(item.trust == "untrusted-observation" for item in items) else "evidence"


def _memory(record: MemoryRecord, now: datetime) -> Piece | Left:
    """A memory as a hint that names its source and scope; only what is approved, current and surely known."""

    def because(reason: str) -> Left:
        return Left(record.id, "memory", reason)

    if record.status not in TRUSTED:
        return because("not_governed")
    expires, _ = instant(record.expires_at)
    if expires is not None and expires <= now.timestamp() * 1_000_000:
        return because("expired")
    if not record.source_refs or not record.scope:
        return because("no_source")
    if record.confidence != "high":
        return because("low_confidence")
    where = f"{record.scope}, from {record.source_refs[0]}"
    if record.authority == "rule":
        text = f"Confirmed rule ({where}): {record.content}"
    else:
        text = f"From earlier tasks ({where}): {record.content} Check its source before relying on it."
    weight = {"rule": 3.0, "default": 2.0}.get(record.authority or "", 1.0)
    return Piece(
        record.id, "memory", "memory", text, "evidence", "an approved memory of high confidence in this scope",
        source=f"memory {record.id}", whole=text, original=f"memory/{record.id}", weight=weight,
    )  # fmt: skip
