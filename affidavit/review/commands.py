"""What a reviewer asks for, and what of the store a decision about it is made from."""

from __future__ import annotations

from datetime import datetime
from typing import Any, NamedTuple

from affidavit.memory.candidate import MemoryCandidate, ScopeRef
from affidavit.memory.checks import CheckReport
from affidavit.memory.record import GovernanceMemoryRecord
from affidavit.memory.settings import GovernanceSettings
from affidavit.memory.transitions import Verb
from affidavit.memory.words import Authority
from affidavit.policy.actors import Actor
from affidavit.policy.decision import Head


class Decide(NamedTuple):
    """A decision somebody asks for. ``id``: of its entry, made by whoever asks, so that asking twice is asking once.

    ``expect``: digest of what was shown. ``opened``: what hides in the text was opened. ``content``, ``scope``: of a
    rewrite and a rescope; ``authority``, ``expires``, ``review``: of what is let in or renewed; ``until``: when an
    open question comes back by itself; ``into``: what a merge goes into.
    """

    id: str
    verb: Verb
    actor: Actor
    reason: str
    expect: str | None = None
    batch: str | None = None
    opened: bool = False
    content: str | None = None
    scope: ScopeRef | None = None
    authority: Authority | None = None
    expires: str | None = None
    review: str | None = None
    until: str | None = None
    into: str | None = None


class Claim(NamedTuple):
    """Take something to decide about it alone for a while, or give it back."""

    id: str
    actor: Actor
    release: bool = False


class Undo(NamedTuple):
    """Take a decision back."""

    id: str
    decision: str
    actor: Actor
    reason: str


class Claimed(NamedTuple):
    """Who is deciding about something, until when."""

    by: str
    until: datetime


class CandidateState(NamedTuple):
    """A candidate as it stands. ``status``: as its check leaves it. ``earlier``: what was shown of older versions."""

    id: str
    version: int
    status: str
    candidate: MemoryCandidate
    report: CheckReport
    shown: dict[str, Any]
    shown_hash: str
    head: Head | None
    earlier: tuple[dict[str, Any], ...] = ()


class MemoryState(NamedTuple):
    """A memory as it stands. ``status``: ``expired`` where its time is over."""

    id: str
    version: int
    status: str
    record: GovernanceMemoryRecord
    shown: dict[str, Any]
    shown_hash: str
    head: Head | None
    earlier: tuple[dict[str, Any], ...] = ()


class DecisionState(NamedTuple):
    """A decision that is to be undone. ``built_on``: ids of decisions about the same that came after it; ``served``:
    addresses of recalls that handed over what it let in or changed."""

    id: str
    verb: str
    thing: str
    object: str
    undone: bool
    built_on: tuple[str, ...]
    head: Head | None
    served: tuple[str, ...] = ()


class State(NamedTuple):
    """What a decision is made from. ``into``: what a merge goes into; ``salt``: fresh random bytes for a tombstone."""

    reviewers: tuple[str, ...]
    settings: GovernanceSettings
    thing: CandidateState | MemoryState | None
    claim: Claimed | None = None
    into: CandidateState | MemoryState | None = None
    decision: DecisionState | None = None
    salt: bytes = b""
