"""The lines that say what was retrieved and what the model was given; see :mod:`affidavit.lines`."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field, model_validator

from affidavit.retrieval.recorded import OF_THE_LINE
from affidavit.retrieval.request import Anchors, Name, TaskState
from affidavit.retrieval.shape import Shape
from affidavit.retrieval.snapshot import RetrievalAuditSnapshot
from affidavit.session.own import Instant


class _Line(Shape):
    session: Name | None = Field(None, description="The session it belongs to; absent: as the object says, or none.")
    at: Instant | None = Field(None, description="When it was; absent: as the object says.")
    turn: Name | None = Field(None, description="Key of the turn it belongs to.")
    lane: Name | None = Field(None, description="Which sub-agent it was for; absent for the main agent.")
    parent: Name | None = Field(None, description="Id of the event it follows.")


class SnapshotLine(_Line):
    """The record of one retrieval. Its fields may also stand beside ``type``, without ``snapshot``."""

    type: Literal["retrieval.snapshot"]
    snapshot: RetrievalAuditSnapshot
    block: str | None = Field(
        None, description="The text of the block the model was given, byte for byte; items refer into it by `textRef`."
    )

    @model_validator(mode="before")
    @classmethod
    def _gathered(cls, line: Any) -> Any:
        if not isinstance(line, dict) or "snapshot" in line:
            return line
        kept = {key: value for key, value in line.items() if key in OF_THE_LINE}
        return {**kept, "snapshot": {key: value for key, value in line.items() if key not in OF_THE_LINE}}


class RequestLine(_Line):
    """A request to retrieve: who asked for what, before anything was searched."""

    type: Literal["retrieval.request"]
    id: Name | None = Field(None, description="Its id, unique in its session.")
    purpose: Name = Field(description="What it is for, such as fix-test or review-risk.")
    question: str
    anchors: Anchors = Anchors()
    required_evidence: tuple[str, ...] = ()
    raised_by: str | None = Field(None, description="Who raised it: model, context-policy or runtime.")
    task_state: TaskState | None = None
