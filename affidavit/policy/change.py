"""Changing the policy: what is decided about it, and what a change would mean."""

from __future__ import annotations

from datetime import datetime
from typing import Any, NamedTuple

from affidavit.policy.actors import Actor, Refusal, refused
from affidavit.policy.decision import Content, Head, Proposed
from affidavit.policy.document import Policy
from affidavit.policy.rows import POLICY_CHANGE


class Standing(NamedTuple):
    """What holds of the policy: the newest entry about it and what that applied.

    ``policy`` is ``None`` where nothing was applied yet (defaults hold) or ``erased`` is true.
    """

    head: Head | None = None
    policy: Policy | None = None
    erased: bool = False

    @property
    def reviewers(self) -> tuple[str, ...]:
        """Who may decide, as the policy names them."""
        return self.policy.reviewers if self.policy is not None else ()


class Apply(NamedTuple):
    """The command to make a policy the one that acts. ``id``: of the entry, made by whoever gives the command."""

    id: str
    policy: Policy
    actor: Actor
    reason: str


def decide(state: Standing, command: Apply, now: datetime) -> list[Proposed] | Refusal:  # noqa: ARG001
    """Entries that apply a policy; none where it acts already. The policy in force says who may."""
    if (no := refused(command.actor, state.reviewers)) is not None:
        return no
    document = command.policy.canonical()
    if state.policy is not None and document == state.policy.canonical():
        return []
    contents = (
        Content("policy", "application/json", document),
        Content("actor", "text/plain", command.actor.name.encode("utf-8", "replace")),
        Content("reason", "text/plain", command.reason.encode("utf-8", "replace")),
    )
    return [Proposed(command.id, POLICY_CHANGE, state.head, {}, contents)]


class Change(NamedTuple):
    """One setting that differs: its key, and both values as JSON values (``None``: not there)."""

    key: str
    before: Any
    after: Any


def differences(before: Policy, after: Policy) -> list[Change]:
    """What a policy would change of another, setting by setting, in the order of their keys."""
    old, new = ({}, {}) if before == after else (_flat(before), _flat(after))
    return [
        Change(key, old.get(key), new.get(key))
        for key in sorted(old.keys() | new.keys())
        if old.get(key) != new.get(key)
    ]


def _flat(policy: Policy) -> dict[str, Any]:
    found: dict[str, Any] = {}
    waiting: list[tuple[str, Any]] = [("", policy.model_dump(mode="json", by_alias=True))]
    while waiting:
        key, value = waiting.pop()
        if isinstance(value, dict):
            waiting += [(f"{key}.{name}" if key else name, inner) for name, inner in value.items()]
        else:
            found[key] = value
    return found
