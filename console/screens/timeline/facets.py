"""What a timeline can be narrowed down to."""

from __future__ import annotations

from dataclasses import replace

from affidavit.session.event import KINDS
from console.screens.timeline.folding import Outlook
from console.widgets.chooser import Choice


def choices(outlook: Outlook) -> list[Choice]:
    """Problems only, abandoned events, only one kind, and kinds left out."""
    filter = outlook.filter
    found = [
        Choice("problems:", "only problems", group="show", checked=filter.problems_only),
        Choice("abandoned:", "abandoned events too", group="show", checked=filter.abandoned),
    ]
    found += [
        Choice(f"only:{kind}", kind, group="only this kind", checked=filter.kinds == frozenset({kind}))
        for kind in KINDS
    ]
    found += [Choice(f"hide:{kind}", kind, group="leave out", checked=kind in filter.hide_kinds) for kind in KINDS]
    return found


def narrowed(outlook: Outlook, choice: str) -> Outlook:
    """The outlook with one choice taken, or taken back."""
    name, _, kind = choice.partition(":")
    filter = outlook.filter
    if name == "problems":
        filter = replace(filter, problems_only=not filter.problems_only)
    elif name == "abandoned":
        filter = replace(filter, abandoned=not filter.abandoned)
    elif name == "only":
        one = frozenset({kind})
        filter = replace(filter, kinds=None if filter.kinds == one else one, hide_kinds=filter.hide_kinds - one)
    else:
        filter = replace(filter, hide_kinds=filter.hide_kinds ^ {kind})
    return replace(outlook, filter=filter)
