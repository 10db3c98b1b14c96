"""Our own JSON Lines as a whole: every type of line a program may write, checked and described.

Each type has a model in the room whose words it speaks; :data:`LINES` is the list of them. They are the contract of
``affidavit record`` (which takes a line or says what is wrong with it, where) and of ``affidavit schema`` (which
prints them as JSON Schema). A model is loaded when the first line of its type comes.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple

from pydantic import BaseModel, ValidationError
from pydantic.json_schema import models_json_schema

from affidavit.proof.parsing import STRICT_REASONS, StrictError, loads_strict

SCHEMA_DIALECT = "https://json-schema.org/draft/2020-12/schema"

Model = type[BaseModel]


def _session_event() -> Model:
    from affidavit.session.own import SessionEvent

    return SessionEvent


def _artifact() -> Model:
    from affidavit.session.own import Artifact

    return Artifact


def _request() -> Model:
    from affidavit.retrieval.lines import RequestLine

    return RequestLine


def _snapshot() -> Model:
    from affidavit.retrieval.lines import SnapshotLine

    return SnapshotLine


def _candidate() -> Model:
    from affidavit.memory.lines import CandidateLine

    return CandidateLine


def _record() -> Model:
    from affidavit.memory.lines import RecordLine

    return RecordLine


def _audit() -> Model:
    from affidavit.gate.lines import AuditLine

    return AuditLine


def _context() -> Model:
    from affidavit.context.lines import ContextLine

    return ContextLine


LINES: dict[str, Callable[[], Model]] = {
    "session.event": _session_event,
    "artifact": _artifact,
    "retrieval.request": _request,
    "retrieval.snapshot": _snapshot,
    "recall.audit": _audit,
    "memory.candidate": _candidate,
    "memory.record": _record,
    "context.projected": _context,
}
"""The types a line may have, each with what gives its model."""

_model = cache(lambda kind: LINES[kind]())


def json_schema() -> dict[str, Any]:
    """The JSON Schema (draft 2020-12) of one line."""
    models = {kind: _model(kind) for kind in LINES}
    named, schema = models_json_schema([(model, "validation") for model in models.values()], by_alias=True)
    references = {kind: named[model, "validation"] for kind, model in models.items()}
    return {
        "$schema": SCHEMA_DIALECT,
        "title": "Affidavit JSON Lines",
        "description": "One line of what `affidavit record` takes: UTF-8 without byte order mark, one JSON object a "
        "line, no key twice, no NaN, integers within 2^53 - 1, at most 64 levels deep.",
        **schema,
        "oneOf": list(references.values()),
        "discriminator": {
            "propertyName": "type",
            "mapping": {kind: reference["$ref"] for kind, reference in references.items()},
        },
    }


class Problem(NamedTuple):
    """What is wrong with a line: the byte in it (from 0) where that shows, the field (``""``: the line), the reason."""

    byte: int
    field: str
    reason: str


def check_line(line: bytes) -> list[Problem]:
    """Everything that keeps a line from being taken, empty where nothing does. ``line`` may end in a line feed."""
    try:
        value = loads_strict(line)
    except StrictError as error:
        return [Problem(error.offset, "", STRICT_REASONS.get(error.reason, error.reason))]
    if not isinstance(value, dict):
        return [Problem(0, "", "is no JSON object")]
    kind = value.get("type")
    if type(kind) is not str or kind not in LINES:
        *others, last = LINES
        return [Problem(max(line.find(b'"type"'), 0), "type", f"must be {', '.join(others)} or {last}")]
    try:
        _model(kind).model_validate(value)
    except ValidationError as error:
        return [_problem(line, about) for about in error.errors(include_url=False, include_input=False)]
    return []


def _problem(line: bytes, about: Any) -> Problem:
    where = [str(part) for part in about["loc"]]
    byte = line.find(b'"' + where[0].encode() + b'"') if where else -1
    reason = about["msg"].removeprefix("Value error, ")
    return Problem(max(byte, 0), ".".join(where), reason[0].lower() + reason[1:])
