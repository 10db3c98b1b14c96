"""How a text in front of a model looks as one line."""

from __future__ import annotations

from typing import TYPE_CHECKING

from console.screens.timeline.words import told
from console.widgets import figures
from console.widgets.ink import Ink, Line, left, right, width
from console.widgets.safe import Outside

if TYPE_CHECKING:
    from storage.queries.inputs import Block

TRUST = {
    "instruction": Ink("person", "instruction"),
    "evidence": Ink("evidence", "evidence"),
    "untrusted-observation": Ink("tool", "untrusted"),
    None: Ink("agent", "its own"),
}
"""How far a text is trusted, in a word."""

SOURCES = {
    "user_goal": "user",
    "recent_tail": "tail",
    "latest_observation": "latest result",
    "retrieval_result": "⌕ fetched",
    "repository_instructions": "rule file",
    "injected": "injected",
    "state_summary": "compaction",
    "memory": "◆ memory",
}
BAR = "▇"


def block_line(block: Block, room: int, outside: Outside, most: int) -> Line:
    """Trust, source, size, and the first words; ``most``: tokens of the largest block."""
    trust = TRUST.get(block.placed.trust, TRUST[None])
    head = [
        Ink("hit" if block.new else "faint", "+ " if block.new else "  "),
        trust._replace(text=left(trust.text, 12)),
        Ink("quiet", left(SOURCES.get(block.placed.source, block.placed.source), 14)),
        Ink("text", right(figures.short(block.tokens), 6) + " "),
    ]
    if room >= 76:
        head.append(Ink("quiet", left(BAR * -(-8 * block.tokens // max(most, 1)), 9)))
    voice = told(block.row).voice
    left_over = room - width(head)
    if block.problem is not None:
        return (*head, Ink("fails", outside.line(f"✗ {block.problem}", left_over)))
    return (*head, Ink(voice, outside.line(block.row.summary, left_over)))
