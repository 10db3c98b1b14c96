"""The line that says how a recall was judged; see :mod:`affidavit.lines`."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import ConfigDict, Field

from affidavit.gate.hit import RecallScope, Shape
from affidavit.session.own import Instant, Name


class _Strict(Shape):
    model_config = ConfigDict(strict=True, extra="allow")


class RejectedLine(_Strict):
    """A memory that was kept back: its id, title and the gate's reason. Never its text."""

    id: Name
    title: str = ""
    reason: Name = Field(description="The gate's code, such as low_score; a foreign one is kept as it is.")


class AcceptedLine(_Strict):
    """A memory that passed: id, title and score, so that a person knows which it was."""

    id: Name
    title: str = ""
    score: float | None = None


class AuditLine(_Strict):
    """One run of a recall gate: who asked for what, what passed and what was kept back. No texts of memories."""

    type: Literal["recall.audit"]
    id: Name | None = Field(None, description="Its id; absent: it is known by its content.")
    session: Name | None = Field(None, description="The session it happened in; absent: none.")
    at: Instant = Field(description="When it was judged.")
    turn: Name | None = Field(None, description="Key of the turn it belongs to.")
    lane: Name | None = Field(None, description="Which sub-agent asked; absent for the main agent.")
    parent: Name | None = Field(None, description="Id of the event it follows.")
    query: str = Field(description="What was searched for.")
    scope: RecallScope = Field(description="Who asked, for what and where.")
    accepted_ids: list[Name] = Field(description="Ids of what passed, best first.")
    accepted: list[AcceptedLine] = Field([], description="The same with title and score.")
    rejected: list[RejectedLine]
    dry_run: bool = Field(False, description="True where nothing was handed over.")
    policy_entry: int | None = Field(None, description="Ledger entry of the policy it was judged by.")
    settings: dict[str, Any] | None = Field(None, description="The gate's settings that were used.")
