"""How a search hit looks as one line."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING

from console.widgets import figures
from console.widgets.ink import Ink, Line, cells, left, width
from console.widgets.safe import Outside

if TYPE_CHECKING:
    from storage.queries.models import Hit

_VOICES = {"user.message": "user", "model.message": "agent", "model.reasoning": "agent", "tool.intent": "agent"}
_SHORT = {
    "user.message": "User",
    "model.message": "Agent",
    "model.reasoning": "· thinks",
    "tool.intent": "▸ tool",
    "tool.finished": "  result",
    "verification": "  check",
    "context.injected": "· context",
    "memory.write": "◆ notes",
    "error": "✗ error",
}
BEFORE = 24
"""Cells of text shown before the first match, where the excerpt is too long for the line."""


def hit_line(hit: Hit, room: int, outside: Outside, now: datetime) -> Line:
    """When, in which session, what kind, and the text around the match with the match marked."""
    head = [
        Ink("quiet", left(figures.day(hit.at, now), 12) + " "),
        Ink("quiet", left(_SHORT.get(hit.kind, hit.kind.rpartition(".")[2]), 10)),
    ]
    if room >= 64:
        size = 22 if room >= 90 else 14
        head.append(Ink("quiet", left(outside.line(hit.session_title, size), size) + "  "))
    return (*head, *excerpt(hit, room - width(head), outside))


def excerpt(hit: Hit, room: int, outside: Outside) -> Line:
    """The excerpt as inks, beginning near the first match. Each part is made safe by itself, then put together."""
    voice = _VOICES.get(hit.kind, "tool")
    parts: list[Ink] = []
    at = 0
    for start, end in hit.spans:
        if start < at or end > len(hit.excerpt):
            continue
        parts += [Ink(voice, outside.line(hit.excerpt[at:start])), Ink("hit", outside.line(hit.excerpt[start:end]))]
        at = end
    parts.append(Ink(voice, outside.line(hit.excerpt[at:])))
    first = parts[0].text if len(parts) > 1 else ""
    if cells(first) > BEFORE and width(parts) > room:
        parts[0] = Ink(voice, "…" + first[-(BEFORE - 1) :])
    return tuple(part for part in parts if part.text)
