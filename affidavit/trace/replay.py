"""Replaying a model request: what the model was given, from what was recorded alone.

Nothing here searches, runs a tool or calls a model; there is no way from here to a recaller.
"""

from __future__ import annotations

from typing import Any, Literal, NamedTuple

from affidavit.proof.verdict import HashVerdict, hash_verdict, text_hash

Result = Literal["exact", "partial", "not_reconstructable"]

RESULTS: dict[Result, str] = {
    "exact": "the model input is there, byte for byte, with everything it names",
    "partial": "part of what the model was given is not recorded, or not as it was",
    "not_reconstructable": "nothing of what the model was given is recorded",
}
"""What a replay can come to."""


class Named(NamedTuple):
    """What a recorded model request names: where its input stands, the hash of that, its snapshots and its tools.

    ``None``: it does not say.
    """

    input_ref: str | None
    context_hash: Any
    snapshots: tuple[str, ...]
    tools: tuple[str, ...] | None


def named(payload: Any) -> Named:
    """What the payload of a ``model.request`` event names; keys in camelCase or with underscores."""
    said = payload if isinstance(payload, dict) else {}
    listed = _of(said, "retrievalSnapshotIds", "retrieval_snapshot_ids")
    tools = _of(said, "visibleToolSet", "visible_tool_set")
    ref = _of(said, "modelInputRef", "model_input_ref")
    return Named(
        ref if isinstance(ref, str) and ref else None,
        _of(said, "contextHash", "context_hash"),
        tuple(one for one in listed if isinstance(one, str)) if isinstance(listed, list) else (),
        tuple(_tool(one) for one in tools) if isinstance(tools, list) else None,
    )


def _of(said: dict[str, Any], *keys: str) -> Any:
    return next((said[key] for key in keys if said.get(key) is not None), None)


def _tool(one: Any) -> str:
    return str(one.get("name", one)) if isinstance(one, dict) else str(one)


class Replayed(NamedTuple):
    """What a replay came to. ``missing``: what is not there, in words. ``actual``: the hash the input has."""

    result: Result
    missing: tuple[str, ...]
    actual: str | None
    verdict: HashVerdict | None


def replayed(request: Named, text: str | bytes | None, snapshots: dict[str, str | None]) -> Replayed:
    """Judge what was found of a recorded request.

    ``text``: its input; ``snapshots``: each of its snapshots that was found, with its worst hash verdict.
    """
    missing = []
    verdict = None
    if text is None:
        missing.append(
            f"model input {request.input_ref}" if request.input_ref else "model input: no reference recorded"
        )
    else:
        verdict = hash_verdict(text, request.context_hash)
        if verdict != "match":
            missing.append(f"model input as it was hashed: {verdict}")
    for id in request.snapshots:
        if id not in snapshots:
            missing.append(f"snapshot {id}")
        elif snapshots[id] not in (None, "match"):
            missing.append(f"snapshot {id} as it was hashed: {snapshots[id]}")
    if request.tools is None:
        missing.append("visible tools: not recorded")
    if not missing:
        return Replayed("exact", (), text_hash(text) if text is not None else None, verdict)
    found = text is not None or snapshots
    result: Result = "partial" if found else "not_reconstructable"
    return Replayed(result, tuple(missing), text_hash(text) if text is not None else None, verdict)
