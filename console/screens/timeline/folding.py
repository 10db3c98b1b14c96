"""What of a session's timeline is in view: words looked for, kinds left out, lanes and turns folded."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, field, replace

from console.screens.timeline.source import Shape
from console.widgets.source import Cursor
from storage.archive import EventFilter
from storage.queries.models import EventRow

QUIET_KINDS = frozenset({"lifecycle"})
"""Left out until asked for: they tell of the agent's machinery, not of the task."""


@dataclass(frozen=True, slots=True)
class Outlook:
    """How a timeline is looked at; with where the cursor stands, all that is needed to come back to it."""

    filter: EventFilter = field(default_factory=lambda: EventFilter(hide_kinds=QUIET_KINDS, interruptions=True))
    open_lanes: frozenset[int] = frozenset()
    alone: int | None = None
    folded: frozenset[int] = frozenset()
    cursor: Cursor | None = None
    key: Hashable = None
    line: int | None = None
    whole: bool = False

    @property
    def narrowed(self) -> bool:
        """Whether a person has taken something out of view that stands there at first."""
        return self.filter != self._open or self.alone is not None

    @property
    def _open(self) -> EventFilter:
        """Everything in view, but what is hidden at first only if the person asked for it."""
        return EventFilter(hide_kinds=self.filter.hide_kinds & QUIET_KINDS, interruptions=True)

    def unnarrowed(self) -> Outlook:
        return replace(self, filter=self._open, alone=None)

    def toggled_hidden(self) -> Outlook:
        """With what is hidden at first in view, or hidden again."""
        hidden = frozenset() if self.filter.hide_kinds else QUIET_KINDS
        return replace(self, filter=replace(self.filter, hide_kinds=hidden))

    @property
    def searches(self) -> bool:
        """Whether some events are picked out wherever they stand, so that nothing is folded."""
        filter = self.filter
        return bool(filter.text) or filter.kinds is not None or filter.problems_only or filter.branches_only

    def toggled_lane(self, lane: int) -> Outlook:
        return replace(self, open_lanes=self.open_lanes ^ {lane})

    def toggled_turn(self, turn: int) -> Outlook:
        return replace(self, folded=self.folded ^ {turn})

    def next_lanes(self, shape: Shape, lane: int) -> tuple[Outlook, str]:
        """The next of: sub-agents folded, all lanes open, this lane alone; and what to call it."""
        every = frozenset(shape.lanes) - {0}
        if self.alone is not None:
            return replace(self, alone=None, open_lanes=frozenset()), "sub-agents folded"
        if self.open_lanes < every:
            return replace(self, open_lanes=every), f"all {len(every) + 1} lanes open"
        name = f"sub-agent {lane}" if lane else "the main lane"
        return replace(self, alone=lane), f"only {name}"

    def next_branches(self) -> tuple[Outlook, str]:
        """The next of: abandoned branches in their place, alone, left out; and what to call it."""
        filter = self.filter
        if filter.branches_only:
            return replace(self, filter=replace(filter, branches_only=False, abandoned=False)), "left out"
        if not filter.abandoned:
            return replace(self, filter=replace(filter, abandoned=True)), "in their place"
        return replace(self, filter=replace(filter, branches_only=True), alone=None), "alone"

    def showing(self, shape: Shape, row: EventRow) -> Outlook:
        """Opened just as far as needed for an event to be in view."""
        filter = self.filter
        if row.kind in filter.hide_kinds:
            filter = replace(filter, hide_kinds=filter.hide_kinds - {row.kind})
        if filter.kinds is not None and row.kind not in filter.kinds:
            filter = replace(filter, kinds=None)
        if (filter.branches_only and not row.branch) or (row.branch and not filter.abandoned):
            filter = replace(filter, branches_only=False, abandoned=True)
        alone = None if self.alone is not None and self.alone != row.lane else self.alone
        folded = self.folded if shape.begins.get(row.turn) == row.key else self.folded - {row.turn}
        opened = self.open_lanes | shape.above(row.lane)
        return replace(self, filter=filter, alone=alone, open_lanes=opened, folded=folded)
