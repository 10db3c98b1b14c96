"""A row of Sessions: a session, or a sub-agent of one, and how it hangs in the tree."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass

from storage.queries.models import LaneRow, SessionRow


@dataclass(frozen=True, slots=True)
class Node:
    """A session, or (with ``lane``) a sub-agent of it. ``below``: what hangs on it directly; ``open``: in view."""

    row: SessionRow
    lane: LaneRow | None = None
    relation: str = ""
    """How it came from what it stands beneath: ``fork``, ``copy``, ``sub-agent``."""
    depth: int = 0
    below: int = 0
    open: bool = False
    last: bool = False
    """Nothing follows on the same level beneath the same session."""
    top: int = 0
    """The session it stands beneath, or itself, at the top level."""

    @property
    def key(self) -> Hashable:
        return self.row.key if self.lane is None else (self.row.key, self.lane.lane)
