"""The recent tail: the last events that matter, so that the scene has a way that led to it."""

from __future__ import annotations

from collections.abc import Sequence

from affidavit.context.shapes import TailEvent
from affidavit.context.words import TAIL_USUAL

FIRST = ("user.message", "permission.decision")
LAST = ("model.reasoning",)
UNIMPORTANT = frozenset(("lifecycle", "session.opened", "session.closed", "note", "unknown", "context.projected"))

LONG = 600
"""Characters from which an event's text is shown as its summary."""


def recent_tail(events: Sequence[TailEvent], most: int = TAIL_USUAL) -> tuple[list[TailEvent], list[TailEvent]]:
    """The events the tail keeps, in their order, and those it leaves out.

    Of the last events, what a person said and decided comes first, a model's reasoning last: it takes only places
    nobody else wants. Earlier words of a person are not lost with their event: their constraints are kept elsewhere.
    """
    last = [event for event in events if event.kind not in UNIMPORTANT][-3 * most :]
    places = sorted(range(len(last)), key=lambda at: (_class(last[at]), -at))[:most]
    kept = {last[at].id for at in places}
    return [event for event in events if event.id in kept], [event for event in events if event.id not in kept]


def _class(event: TailEvent) -> int:
    return 0 if event.kind in FIRST else 2 if event.kind in LAST else 1


def told(event: TailEvent, changed_later: bool) -> tuple[str, bool]:
    """An event on a line or a few, and whether that is less than its text.

    The text of a file that a later event changed is not shown: it is not what stands there now.
    """
    text = event.text or event.summary
    if changed_later and event.path:
        return f"{event.kind}: read {event.path}, which was changed afterwards", True
    if len(text) > LONG and event.kind not in FIRST:
        return f"{event.kind}: {(event.summary or text[:LONG]).strip()}", True
    return f"{event.kind}: {text.strip()}", False


def changed_afterwards(events: Sequence[TailEvent]) -> set[str]:
    """Ids of events that show a file which a later event changed."""
    stale: set[str] = set()
    shown: dict[str, list[str]] = {}
    for event in events:
        for path in event.changes:
            stale.update(shown.pop(path, ()))
        if event.path and not event.changes:
            shown.setdefault(event.path, []).append(event.id)
    return stale
