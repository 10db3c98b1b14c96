"""An agent's word for what an action rested on: citations of a snapshot, as an entry of their own.

It is a claim. What an entry proves is that the claim was made then, and which of its citations that snapshot has.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Final, NamedTuple

from affidavit.policy.decision import Content, Proposed
from affidavit.proof.canonical import canonical

USE_REPORT: Final = "use.report"


class UseReport(NamedTuple):
    """The command to keep a report. ``id``: of the entry; ``resolved``: the citations that the snapshot has."""

    id: str
    agent: str
    session: str
    snapshot: str
    citations: tuple[str, ...]
    resolved: tuple[str, ...]
    action: str
    targets: tuple[str, ...]


def resolved(citations: Sequence[str], citation_map: Mapping[str, Any]) -> tuple[str, ...]:
    """The citations that lead somewhere in a snapshot. A label is opaque: it is there, or it is not."""
    return tuple(one for one in citations if one in citation_map)


def decide(_state: None, command: UseReport, _now: datetime) -> list[Proposed]:
    """The entry that keeps a report: how many citations of it lead somewhere, and its words as erasable content."""
    said = {
        "session": command.session,
        "snapshotId": command.snapshot,
        "citations": list(command.citations),
        "resolved": list(command.resolved),
        "action": command.action,
        "targets": list(command.targets),
    }
    contents = (
        Content("report", "application/json", canonical(said)),
        Content("actor", "text/plain", command.agent.encode("utf-8", "replace")),
    )
    body = {"citations": len(command.citations), "resolved": len(command.resolved)}
    return [Proposed(command.id, USE_REPORT, None, body, contents, actor="agent")]
