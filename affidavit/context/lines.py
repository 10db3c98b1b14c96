"""The line that says why a model input was what it was; see :mod:`affidavit.lines`."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field, model_validator

from affidavit.context.shapes import ContextDecisionLedger
from affidavit.retrieval.request import Name
from affidavit.retrieval.shape import Shape
from affidavit.session.own import Instant

OF_THE_LINE = frozenset(
    {"type", "session", "id", "at", "turn", "lane", "parent", "ledger", "modelInputRef", "modelRequestId"}
)
"""Fields of a line that are not the ledger's."""


class ContextLine(Shape):
    """The decision ledger of one model input. Its fields may also stand beside ``type``, without ``ledger``."""

    type: Literal["context.projected"]
    session: Name = Field(description="The session it belongs to.")
    id: Name | None = Field(None, description="The line's id, unique in its session.")
    at: Instant | None = Field(None, description="When it was made.")
    turn: Name | None = Field(None, description="Key of the turn it belongs to; absent: the ledger's `turnId`.")
    lane: Name | None = Field(None, description="Which sub-agent it was for; absent for the main agent.")
    parent: Name | None = Field(None, description="Id of the event it follows.")
    model_input_ref: str | None = Field(
        None, description="Where the model's input stands, such as an artifact's digest."
    )
    model_request_id: str | None = Field(None, description="The model request it was made for.")
    ledger: ContextDecisionLedger

    @model_validator(mode="before")
    @classmethod
    def _gathered(cls, line: Any) -> Any:
        if not isinstance(line, dict) or "ledger" in line:
            return line
        kept = {key: value for key, value in line.items() if key in OF_THE_LINE}
        return {**kept, "ledger": {key: value for key, value in line.items() if key not in OF_THE_LINE}}
