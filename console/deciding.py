"""Carrying out the decisions that are taken on the screen, as this machine's user."""

from __future__ import annotations

import os
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from affidavit.text.display import display
from console.services import Asked, Decided
from console.settings import Settings, me

if TYPE_CHECKING:
    from affidavit.memory.candidate import ScopeRef
    from affidavit.policy.actors import Actor, Refusal
    from storage.reviewing import Desk


def decide(store: str, settings: Settings, asked: Asked) -> Decided:
    """Decide, claim, release or undo. Raises ``StoreError`` where the store cannot be written."""
    from affidavit.policy.actors import Actor, Refusal, agent_in
    from storage.reviewing import Desk
    from storage.store import Store

    user = me(settings)
    actor = Actor(user, user, agent_in(os.environ))
    key = os.urandom(16).hex()
    with Store.open(store) as opened:
        desk = Desk(opened, clock=lambda: datetime.now(UTC))
        done = _done(desk, opened, key, actor, asked)
    if isinstance(done, Refusal):
        return Decided(_why(done), refused=done.code)
    if not done:
        return Decided("nothing would change; nothing was written")
    return Decided(PAST[asked.verb], decision=key)


PAST = {
    "approve": "approved",
    "reject": "rejected",
    "rewrite": "rewritten",
    "rescope": "rescoped",
    "ask": "asked for evidence",
    "merge": "merged",
    "withdraw": "withdrawn",
    "revoke": "revoked",
    "deprecate": "deprecated",
    "renew": "renewed",
    "forget": "forgotten",
    "claim": "claimed",
    "release": "given back",
    "undo": "taken back",
}
"""What is said once it is done."""


def _done(desk: Desk, store: object, key: str, actor: Actor, asked: Asked) -> list[int] | Refusal:
    from affidavit.policy.actors import Refusal
    from affidavit.review.commands import Claim, Decide, Undo
    from storage.forgetting import forget
    from storage.store import Store

    if asked.verb in ("claim", "release"):
        return desk.claim(Claim(key, actor, asked.verb == "release"), asked.object)
    if asked.verb == "undo":
        return desk.undo(Undo(key, asked.object, actor, asked.reason))
    command = Decide(
        key,
        asked.verb,  # type: ignore[arg-type]
        actor,
        asked.reason,
        asked.expect,
        opened=asked.opened,
        content=asked.content,
        scope=None if asked.scope is None else scope_of(asked.scope),
        into=asked.into,
    )
    if asked.verb == "forget":
        assert isinstance(store, Store)
        done = forget(store, command, asked.object, clock=lambda: datetime.now(UTC))
        return done if isinstance(done, Refusal) else done.entries
    return desk.decide(command, asked.object)


def scope_of(said: str) -> ScopeRef:
    """A scope as it is typed, ``LEVEL:KEY``; raises ``ValueError``."""
    from affidavit.memory.candidate import ScopeRef
    from affidavit.memory.words import LEVELS

    level, colon, key = said.partition(":")
    if not colon or not key or level not in LEVELS:
        raise ValueError(f"write LEVEL:KEY with one of {', '.join(LEVELS)}")
    return ScopeRef(level=next(one for one in LEVELS if one == level), key=key)


def _why(refusal: Refusal) -> str:
    fields = ", ".join(str(one["field"]) for one in refusal.difference)
    return display(f"refused ({refusal.code}): {refusal.reason}" + (f"; changed: {fields}" if fields else ""))
