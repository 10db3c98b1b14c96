"""What the derivation must remember of a session to go on with the next record."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any


@dataclass(slots=True)
class TurnState:
    """A turn: its prompt key, first event, place in time, parent turn (0: none) and branch (0: main chain)."""

    key: str
    n: int
    sort: int
    parent: int
    branch: int


@dataclass(slots=True)
class LaneState:
    """A lane: the agent's id for it (``""``: main agent), and what is known of who started it and when.

    ``began``: the sort key of its first event.
    """

    name: str
    title: str | None = None
    parent: int | None = None
    depth: int = 0
    turn: int | None = None
    spawn: int | None = None
    events: int = 0
    began: int | None = None
    stated: dict[str, str] | None = None


@dataclass(slots=True)
class SessionState:
    """One session in derivation: its counts and everything :mod:`affidavit.session.derive` carries along.

    ``lane_reach``: no lane began later. ``head_turn``: the turn the main chain ends in. ``next_branch``: number the
    next abandoned part gets. ``facts``: the last word on each key of ``FACTS``; ``stated``: the last record's own,
    so that repeating them costs nothing. ``queued``: messages that wait, by the hash of their text (minus the event
    that says so), and those taken into a turn (its number); ``aliases``: prompt keys that joined such a turn.
    """

    no: int
    uid: str
    format: str
    native: str
    turns: dict[int, TurnState] = field(default_factory=dict)
    turn_keys: dict[str, int] = field(default_factory=dict)
    lanes: dict[int, LaneState] = field(default_factory=dict)
    lane_names: dict[str, int] = field(default_factory=dict)
    lane_reach: int | None = None
    facts: dict[str, str] = field(default_factory=dict)
    queued: dict[int, int] = field(default_factory=dict)
    aliases: dict[str, int] = field(default_factory=dict)
    stated: dict[str, str] | None = None
    models: list[str] = field(default_factory=list)
    head_turn: int = 0
    next_branch: int = 1
    started: int | None = None
    ended: int | None = None
    events: int = 0
    problems: int = 0
    unreadable: int = 0
    unknown: int = 0
    duplicates: int = 0
    tokens_in: int = 0
    tokens_out: int = 0
    cache_read: int = 0
    cache_write: int = 0
    checked: str | None = None

    def carried(self) -> dict[str, Any]:
        """The part no table column holds, as plain JSON."""
        return {
            "facts": self.facts,
            "head": self.head_turn,
            "next": self.next_branch,
            "queued": [[text, turn] for text, turn in self.queued.items()],
            "aliases": self.aliases,
        }

    def resume(self, carried: dict[str, Any]) -> None:
        """Take back what :meth:`carried` gave."""
        self.facts = dict(carried["facts"])
        self.head_turn = carried["head"]
        self.next_branch = carried["next"]
        self.queued = dict(carried["queued"])
        self.aliases = dict(carried["aliases"])

    @property
    def title(self) -> str:
        """What the session is called: a person's title, the agent's, a summary, its first prompt, or nothing."""
        for key in ("title.custom", "title.ai", "title.summary", "title.prompt"):
            if self.facts.get(key):
                return self.facts[key]
        return ""

    @property
    def branches(self) -> int:
        """1 + rewinds."""
        return self.next_branch

    @property
    def live_lanes(self) -> int:
        """The main lane and every sub-agent that left a record."""
        return 1 + sum(1 for number, lane in self.lanes.items() if number and lane.events)


@dataclass(slots=True)
class SourceState:
    """Where reading one revision of one file stands. Counts are of records; ``sort``: running maximum of instants."""

    no: int
    format: str
    native: str
    lane: str
    session: int | None = None
    sort: int = -(1 << 62)
    records: int = 0
    mapped: int = 0
    unknown: int = 0
    duplicates: int = 0
    unreadable: int = 0
