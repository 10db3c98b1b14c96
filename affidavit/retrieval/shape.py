"""What every model of retrieval has in common: JSON in camelCase, foreign fields kept, extensions marked as such."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field
from pydantic.alias_generators import to_camel

from affidavit.retrieval.words import FOREIGN_TRUSTS, Trust


class Shape(BaseModel):
    """A JSON object with camelCase keys. Fields that are not declared are kept and written out again."""

    model_config = ConfigDict(alias_generator=to_camel, populate_by_name=True, frozen=True, extra="allow")

    def as_json(self) -> dict[str, Any]:
        """The object as JSON has it; fields that are not set and optional are null."""
        return self.model_dump(mode="json", by_alias=True)


def extension(default: Any = None, **more: Any) -> Any:
    """A field that extends the founding shapes; the JSON Schema says so of it with ``x-extension``."""
    return Field(default=default, json_schema_extra={"x-extension": True}, **more)


def _trust(word: Any) -> Any:
    return FOREIGN_TRUSTS.get(word, word) if isinstance(word, str) else word


TrustWord = Annotated[Trust, BeforeValidator(_trust)]
"""A trust; the words ``trusted``, ``fact``, ``untrusted`` and ``untrusted_text`` are read as the three."""

Amount = Annotated[int, Field(ge=0, le=(1 << 53) - 1)]
Share = Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)]
