"""What ``policy.change`` entries say, as rows: the fold of the policy. Loads no model, as every fold."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

POLICY_CHANGE = "policy.change"
ROLES = ("policy", "actor", "reason")
"""What a ``policy.change`` entry commits to. Its body is empty: it holds no text from outside."""


class PolicyRow(NamedTuple):
    """One change as the table ``policy`` holds it; a text that was erased is ``None``. ``time``: UTC microseconds."""

    entry: int
    id: str
    stream: str
    sseq: int
    time: int
    actor: str | None
    reason: str | None
    document: str | None


def folded(index: int, entry: Mapping[str, Any], time: int, contents: Mapping[str, bytes | None]) -> PolicyRow:
    """What a ``policy.change`` entry and its contents by role give: every change is a row, the newest acts."""
    texts = {role: None if (data := contents.get(role)) is None else data.decode("utf-8", "replace") for role in ROLES}
    return PolicyRow(
        index, entry["id"], entry["stream"], entry["sseq"], time, texts["actor"], texts["reason"], texts["policy"]
    )
