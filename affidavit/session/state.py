"""What the derivation must remember of a session to go on with the next record."""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass, field
from typing import Any

MOST_QUEUED = 500
"""Queued messages remembered of a session: more never waited, and they are written down with each batch."""


@dataclass(slots=True)
class TurnState:
    """A turn: its prompt key, first event, place in time, parent turn (0: none) and branch (0: main chain).

    ``alias``: the prompt key of a record that says the message it began with again.
    """

    key: str
    n: int
    sort: int
    parent: int
    branch: int
    alias: str | None = None


@dataclass(slots=True)
class LaneState:
    """A lane: the agent's id for it (``""``: main agent), and what is known of who started it and when.

    ``depth``: as the log states it of a lane that hangs on nothing known. ``began``: the sort key of its first event,
    ``first``. ``told``: how many of its events only progress tells. ``below``: the lanes that hang on it.
    """

    name: str
    title: str | None = None
    parent: int | None = None
    depth: int | None = None
    turn: int | None = None
    spawn: int | None = None
    events: int = 0
    began: int | None = None
    first: int | None = None
    told: int = 0
    below: dict[int, None] = field(default_factory=dict)
    stated: dict[str, str] | None = None


@dataclass(slots=True)
class Swap:
    """Two chains of turns that part somewhere: ``main`` is on the main chain and ``left`` is branch ``branch``.

    ``other``: the turn the chain that is not the main one ends in. ``open``: by now it is the other way round.
    """

    main: list[int]
    left: list[int]
    branch: int
    other: int
    open: bool = False


@dataclass(slots=True)
class SessionState:
    """One session in derivation: its counts and everything :mod:`affidavit.session.derive` carries along.

    ``turn_order``: the turns in time, as (sort key, first event, number). ``lane_reach``: no lane began later.
    ``unsettled``: lanes whose turn is to be worked out again; ``turned``: turns changed from this sort key on, so that
    lanes may belong to others. ``live_lanes``: the main lane and every sub-agent that left a record. ``head_turn``: the
    turn the main chain ends in; ``swap``: how that last changed, in this batch. ``next_branch``: number the next
    abandoned part gets. ``facts``: the last word on each key of ``FACTS``, said at ``facts_at``; ``stated``: the last
    record's own, from one sort key until another, see :mod:`affidavit.session.statements`. ``checked``: how the last
    check went, ``checked_at`` (1 in the main lane, sort key). ``queued``: messages that wait, by the hash of their text
    (the event that says so, 0 for one that no person typed); ``joined``: those taken into a turn (its number). Of each
    the last :data:`MOST_QUEUED` are remembered. ``tasks``: see :func:`affidavit.session.sidechains.task_given`.
    ``summary``: of all that name a record of this session the one of the latest, as (its sort key, its id, the
    summary). ``starters``, ``claims``: see :mod:`affidavit.session.starters`. ``begun``: how many records were taken
    for its beginning; ``twins``: native ids of sessions that share records with it; see
    :mod:`affidavit.session.twins`. ``policy``: what the agent runs under now, see
    :mod:`affidavit.session.policies`. ``totals``: tokens of the session as its log last stated them: in, of those from
    the cache, out. ``policy_at``, ``totals_at``: sort keys of the records that stated them.
    """

    no: int
    uid: str
    format: str
    native: str
    turns: dict[int, TurnState] = field(default_factory=dict)
    turn_keys: dict[str, int] = field(default_factory=dict)
    turn_order: list[tuple[int, int, int]] = field(default_factory=list)
    turned: int | None = None
    lanes: dict[int, LaneState] = field(default_factory=dict)
    lane_names: dict[str, int] = field(default_factory=dict)
    lane_reach: int | None = None
    unsettled: set[int] = field(default_factory=set)
    live_lanes: int = 1
    facts: dict[str, str] = field(default_factory=dict)
    queued: OrderedDict[int, int] = field(default_factory=OrderedDict)
    joined: OrderedDict[int, int] = field(default_factory=OrderedDict)
    begun: int = 0
    twins: list[str] = field(default_factory=list)
    policy: dict[str, str] = field(default_factory=dict)
    policy_at: int | None = None
    totals: tuple[int, int, int] | None = None
    totals_at: int | None = None
    tasks: list[tuple[str, int, int, int, str]] = field(default_factory=list)
    starters: dict[int, tuple[int, int, int]] = field(default_factory=dict)
    claims: dict[int, str] = field(default_factory=dict)
    summary: tuple[int, str, str] | None = None
    facts_at: dict[str, int] = field(default_factory=dict)
    stated: dict[str, str] | None = None
    stated_since: int = 0
    stated_until: int = 0
    models: list[str] = field(default_factory=list)
    head_turn: int = 0
    swap: Swap | None = None
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
    checked_at: tuple[int, int] | None = None

    def carried(self) -> dict[str, Any]:
        """The part no table column holds, as plain JSON."""
        return {
            "facts": self.facts,
            "factsAt": self.facts_at,
            "checkedAt": self.checked_at,
            "head": self.head_turn,
            "next": self.next_branch,
            "queued": list(self.queued.items()),
            "joined": list(self.joined.items()),
            "tasks": self.tasks,
            "summary": self.summary,
            "starters": [[call, *given] for call, given in self.starters.items()],
            "claims": list(self.claims.items()),
            "begun": self.begun,
            "twins": self.twins,
            "policy": self.policy,
            "policyAt": self.policy_at,
            "totals": self.totals,
            "totalsAt": self.totals_at,
        }

    def resume(self, carried: dict[str, Any]) -> None:
        """Take back what :meth:`carried` gave."""
        self.facts = dict(carried["facts"])
        self.facts_at = dict(carried["factsAt"])
        self.checked_at = carried["checkedAt"] and tuple(carried["checkedAt"])
        self.head_turn = carried["head"]
        self.next_branch = carried["next"]
        self.queued = OrderedDict(carried["queued"])
        self.joined = OrderedDict(carried["joined"])
        self.tasks = [tuple(task) for task in carried["tasks"]]
        self.summary = carried["summary"] and tuple(carried["summary"])
        self.starters = {call: (n, lane, turn) for call, n, lane, turn in carried["starters"]}
        self.claims = dict(carried["claims"])
        self.begun = carried["begun"]
        self.twins = list(carried["twins"])
        self.policy = dict(carried["policy"])
        self.policy_at = carried["policyAt"]
        self.totals = carried["totals"] and tuple(carried["totals"])
        self.totals_at = carried["totalsAt"]

    @property
    def title(self) -> str:
        """What the session is called: a person's title, the agent's, a summary, its first prompt, or nothing."""
        for key in ("title.custom", "title.ai", "title.summary", "title.prompt"):
            if key == "title.summary" and self.summary:
                return self.summary[2]
            if self.facts.get(key):
                return self.facts[key]
        return ""

    @property
    def branches(self) -> int:
        """1 + rewinds."""
        return self.next_branch


@dataclass(slots=True)
class SourceState:
    """Where reading one revision of one file stands. Counts are of records; ``sort``: running maximum of instants.

    ``turn``: of the main agent's last record in it. ``document``: the name of a file that is one document of the
    format, empty for a log.
    """

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
    turn: int = 0
    document: str = ""
