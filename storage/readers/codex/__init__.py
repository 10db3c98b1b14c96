"""Codex's session logs ("rollouts"): JSON Lines under ``~/.codex/sessions``, with an envelope or, in 2025, without.

Two streams in one file say the same: ``response_item`` is what went to and came from the model, ``event_msg`` what the
terminal showed. Events are made from the first; of the second only what the first does not say, so that nothing is
counted twice. A line that only repeats is mapped and gives no event; its bytes are kept like any other's.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any

from affidavit.session.event import Draft, Reading
from storage.readers.codex.items import ITEMS, read_item
from storage.readers.codex.notices import NOTICES, read_notice
from storage.readers.codex.settings import read_opening, read_policy, read_window
from storage.readers.lenient import compact, obj, one_line, text

Record = dict[str, Any]
Scope = tuple[str | None, str]

_NAME = re.compile(r"rollout-[\dT:-]+-([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})\.jsonl(?:\.zst)?$")


class Codex:
    """Reads one record of Codex at a time; see :class:`storage.readers.Reader`."""

    name = "codex"
    title = "Codex"

    def claims(self, path: str, samples: Sequence[Any]) -> float:  # noqa: ARG002
        """The share of the samples that have Codex's envelope, or a form only its bare records have."""
        return sum(map(_likeness, samples)) / len(samples) if samples else 0.0

    def scope(self, path: str) -> Scope:
        """The session a rollout's file is named after."""
        found = _NAME.search(path.replace("\\", "/").rpartition("/")[2])
        return (found[1] if found else None), ""

    def read(self, value: Any, scope: Scope) -> Reading:
        """What one record says. Never raises."""
        reading = Reading(session=scope[0], lane=scope[1])
        if type(value) is not dict:
            return _unknown(value, reading, "a record that is no object")
        at = value.get("timestamp", value.get("created_at"))
        reading.at = at if type(at) is str else None if at is None else compact(at)
        kind = value.get("type")
        if "payload" in value and type(kind) is str:
            payload = value["payload"]
            place = PLACES.get(kind)
            if place is None:
                return _unknown(value, reading, f"unknown type {one_line(kind, 80)}")
            if type(payload) is not dict:
                reading.flags = ("shape",)
            if not place(obj(payload), reading):
                return _unknown(
                    value, reading, f"unknown {kind} {one_line(text(obj(payload).get('type')), 80)}".strip()
                )
            return reading
        if type(kind) is str and read_item(value, reading):
            return reading
        if type(value.get("id")) is str and "timestamp" in value and "type" not in value:
            read_opening(value, reading)
            return reading
        if type(value.get("record_type")) is str:
            return reading
        return _unknown(value, reading, "a record of no known form")


PLACES: dict[str, Callable[[Record, Reading], bool]] = {
    "session_meta": read_opening,
    "turn_context": read_policy,
    "response_item": read_item,
    "event_msg": read_notice,
    "compacted": read_window,
    "world_state": lambda payload, reading: _aside("world state", payload, reading),
    "inter_agent_communication": lambda payload, reading: _aside("message between agents", payload, reading),
    "inter_agent_communication_metadata": lambda _payload, _reading: True,
}
"""What an enveloped record is, by its type."""


def _aside(name: str, payload: Record, reading: Reading) -> bool:
    reading.drafts.append(Draft("lifecycle", "runtime", compact(payload), summary=name))
    return True


def _unknown(value: Any, reading: Reading, summary: str) -> Reading:
    reading.status = "unknown"
    reading.drafts.append(Draft("unknown", "runtime", compact(value), summary=summary))
    return reading


def _likeness(value: Any) -> float:
    """How much one value looks like a record of Codex, 0 to 1."""
    if type(value) is not dict:
        return 0.0
    kind = value.get("type")
    if type(value.get("payload")) is dict and kind in PLACES:
        inner = value["payload"].get("type")
        known = kind not in ("response_item", "event_msg") or inner in ITEMS or inner in NOTICES
        return 1.0 if known else 0.5
    if value.get("record_type") == "state":
        return 1.0
    if kind is None and type(value.get("id")) is str and "timestamp" in value:
        return float("instructions" in value or "git" in value)
    bare = {
        "message": "role",
        "reasoning": "summary",
        "function_call": "call_id",
        "function_call_output": "call_id",
        "local_shell_call": "call_id",
        "custom_tool_call": "call_id",
        "custom_tool_call_output": "call_id",
    }
    return 0.9 if type(kind) is str and kind in bare and bare[kind] in value and "sessionId" not in value else 0.0
