"""What a timeline can be narrowed down to."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from console.saved_filters import Part
from console.screens.timeline.folding import Outlook
from console.widgets import figures
from console.widgets.chooser import Choice
from console.widgets.safe import Outside
from storage.archive import EventFilter

if TYPE_CHECKING:
    from storage.queries.models import LaneRow

_ALSO = {
    "tool.intent": "call",
    "tool.finished": "result output",
    "verification": "check test",
    "lifecycle": "runtime hidden",
    "user.message": "prompt",
    "model.message": "agent answer",
    "model.reasoning": "thinks thinking",
}
"""Further words a kind is found by."""


def choices(
    outlook: Outlook, kinds: Sequence[tuple[str, int]], lanes: Sequence[LaneRow], problems: int, outside: Outside
) -> list[Choice]:
    """Problems only, abandoned events, only one of the kinds that occur, one lane alone, and kinds left out.

    ``kinds``: the kinds that occur, with how many events each has.
    """
    filter = outlook.filter
    found = [
        Choice("problems:", "problems only", note=figures.plural(problems, "problem"), group="show",
               checked=filter.problems_only),
        Choice("abandoned:", "abandoned events too", group="show", checked=filter.abandoned),
    ]  # fmt: skip
    counts = {kind: figures.plural(count, "event") for kind, count in kinds}
    found += [
        Choice(f"only:{kind}", kind, note=note, group="only this kind", checked=filter.kinds == frozenset({kind}),
               words=_ALSO.get(kind, ""))
        for kind, note in counts.items()
    ]  # fmt: skip
    if len(lanes) > 1:
        found += [
            Choice(f"lane:{lane.lane}", _lane(lane, outside), note=figures.plural(lane.events, "event"),
                   group="only this lane", checked=outlook.alone == lane.lane)
            for lane in lanes
        ]  # fmt: skip
    found += [
        Choice(f"hide:{kind}", kind, note=note, group="leave out", checked=kind in filter.hide_kinds,
               words=_ALSO.get(kind, ""))
        for kind, note in counts.items()
    ]  # fmt: skip
    return found


def _lane(lane: LaneRow, outside: Outside) -> str:
    if lane.lane == 0:
        return "the main lane"
    return f"sub-agent {lane.lane}  {outside.line(lane.title or lane.name, 40)}"


def narrowed(outlook: Outlook, choice: str) -> Outlook:
    """The outlook with one choice taken, or taken back."""
    name, _, rest = choice.partition(":")
    filter = outlook.filter
    if name == "lane":
        lane = int(rest)
        return replace(outlook, alone=None if outlook.alone == lane else lane)
    if name == "problems":
        filter = replace(filter, problems_only=not filter.problems_only)
    elif name == "abandoned":
        filter = replace(filter, abandoned=not filter.abandoned)
    elif name == "only":
        one = frozenset({rest})
        filter = replace(filter, kinds=None if filter.kinds == one else one, hide_kinds=filter.hide_kinds - one)
    else:
        filter = replace(filter, hide_kinds=filter.hide_kinds ^ {rest})
    return replace(outlook, filter=filter)


def parts_of(filter: EventFilter) -> dict[str, Part]:
    """A filter as it is saved, without what stands as it does at first."""
    plain = Outlook().filter
    parts: dict[str, Part] = {}
    if filter.text:
        parts["text"] = filter.text
    if filter.kinds is not None:
        parts["kinds"] = tuple(sorted(filter.kinds))
    if filter.hide_kinds != plain.hide_kinds:
        parts["hidden"] = tuple(sorted(filter.hide_kinds))
    if filter.problems_only:
        parts["problems"] = True
    if not filter.abandoned:
        parts["abandoned"] = False
    if filter.branches_only:
        parts["branches"] = True
    return parts


def from_parts(parts: Mapping[str, Part]) -> EventFilter:
    """The filter that was saved."""
    plain = Outlook().filter
    kinds, hidden = parts.get("kinds"), parts.get("hidden")
    return replace(
        plain,
        text=str(parts.get("text", "")),
        kinds=frozenset(kinds) if isinstance(kinds, tuple) else None,
        hide_kinds=frozenset(hidden) if isinstance(hidden, tuple) else plain.hide_kinds,
        problems_only=bool(parts.get("problems", False)),
        abandoned=bool(parts.get("abandoned", True)),
        branches_only=bool(parts.get("branches", False)),
    )
