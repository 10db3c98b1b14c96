"""The JSON Schemas of the shapes of retrieval; ``x-extension`` marks what extends the founding ones."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel
from pydantic.json_schema import models_json_schema

from affidavit.retrieval.candidate import RetrievalCandidate
from affidavit.retrieval.request import RetrievalIntent
from affidavit.retrieval.snapshot import RetrievalAuditSnapshot, RetrievalObservation

ROOTS: tuple[type[BaseModel], ...] = (
    RetrievalIntent, RetrievalCandidate, RetrievalAuditSnapshot, RetrievalObservation,
)  # fmt: skip


def json_schema() -> dict[str, Any]:
    """Definitions of all shapes, by name, under ``$defs``."""
    _, schema = models_json_schema([(model, "validation") for model in ROOTS], by_alias=True)
    return schema
