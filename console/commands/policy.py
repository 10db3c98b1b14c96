"""``affidavit policy``: what the store's people settled, whether a file would do, and making it act."""

from __future__ import annotations

import os
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import click

from affidavit.session.times import iso
from console.acting import actor_of, deciding, said_no
from console.commands.call import Call, Refused, command
from console.words import moment, plural

if TYPE_CHECKING:
    from affidavit.policy.change import Change, Standing
    from affidavit.policy.document import Policy
    from affidavit.policy.reading import Mistake
    from storage.queries.policy import PolicyChange

SHOWN = 100
"""Changes that ``policy show`` lists."""

CHANGES = "changes[{key, before, after}]"


@click.group("policy", no_args_is_help=True, short_help="Show, check and apply the policy")
def policy_command() -> None:
    """What the store's people settled: who may decide, and how the recall gate judges in each memory space.

    A policy is a file, TOML or JSON. It acts once it is applied, which is an entry of the ledger.
    """


@command(
    "show",
    "Show the policy that acts, and its history",
    prints="applied, entry, policy{reviewers, gate{default, spaces}}, history[{entry, at, actor, reason, withheldBy}]",
)
def policy_show(call: Call) -> int:
    """Show the policy that acts, as a file that could be applied, and who changed it when and why."""
    with call.archive() as archive:
        standing, history = archive.policy(), archive.policy_changes(SHOWN)
    policy = acting(standing)
    if call.output.json:
        call.output.document(
            {
                "applied": standing.head is not None,
                "entry": standing.head.entry if standing.head else None,
                "policy": policy.model_dump(mode="json", by_alias=True) if policy else None,
                "history": [_change(change) for change in history],
            }
        )
        return 0
    if policy is not None:
        for key, value in policy.model_dump(mode="json", by_alias=True).items():
            _say(call, key, value, 0)
    if not history:
        call.output.tell("nothing was applied to this store: these are the defaults")
    for change in history:
        row = change.row
        call.output.tell(
            f"entry/{row.entry}  {moment(row.time)}  {row.actor or '(withheld)'}: {row.reason or '(withheld)'}"
        )
        if row.document is None:
            call.output.tell(f"  what it applied is withheld by entry {change.withheld_by}")
    return 0


def _say(call: Call, key: str, value: Any, depth: int) -> None:
    indent = "  " * depth
    if isinstance(value, dict) and value:
        call.output.say(f"{indent}{key}")
        for name, inner in value.items():
            _say(call, name, inner, depth + 1)
    else:
        call.output.say(f"{indent}{key}: {said(value)}")


def said(value: Any) -> str:
    """A setting's value in a line."""
    import json

    return "(not set)" if value is None else json.dumps(value, ensure_ascii=False)


def acting(standing: Standing) -> Policy | None:
    """The policy that acts: the applied one, else the defaults; ``None`` where the applied one was erased."""
    from affidavit.policy.document import Policy

    return None if standing.erased else standing.policy or Policy()


def _change(change: PolicyChange) -> dict[str, Any]:
    row = change.row
    return {
        "entry": row.entry,
        "at": iso(row.time),
        "actor": row.actor,
        "reason": row.reason,
        "withheldBy": change.withheld_by,
    }


@command(
    "check",
    "Say what is wrong with a policy file",
    prints=f"file, holds, problems[{{file, line, key, reason, hint}}], {CHANGES}",
)
@click.argument("file", metavar="FILE")
def policy_check(call: Call, file: str) -> int:
    """Say what is wrong with a policy file, and what it would change. Exit code 1 if anything is wrong.

    Nothing is applied. Where there is no store yet, the file is compared with the defaults.
    """
    policy, mistakes = read(file)
    changes = _changes(call, policy) if policy is not None else []
    if call.output.json:
        call.output.document(
            {
                "file": file,
                "holds": policy is not None,
                "problems": [{"file": file, **one._asdict()} for one in mistakes],
                "changes": [one._asdict() for one in changes],
            }
        )
    else:
        for mistake in mistakes:
            call.output.say(told(file, mistake))
        if policy is not None:
            _tell_changes(call, changes)
            call.output.tell(f"{file} is in order")
    return 1 if mistakes else 0


@command("apply", "Make a policy the one that acts", prints=f"entry, applied, at, actor, reason, {CHANGES}")
@click.argument("file", metavar="FILE")
@deciding
def policy_apply(call: Call, file: str, who: str | None, reason: str) -> int:
    """Make what a policy file says act from now on: one entry of the ledger, with who did it and why.

    Only a reviewer of the policy in force may; without one, the machine's own user. No agent may. A policy that acts
    already is not applied again.
    """
    from affidavit.policy.actors import Refusal
    from affidavit.policy.change import Apply, Standing, decide
    from storage.deciding import decided
    from storage.queries.policy import standing
    from storage.store import Store

    policy = policy_in(file)
    actor = actor_of(call, who)
    now = datetime.now(UTC)
    asked = Apply(os.urandom(16).hex(), policy, actor, reason)
    if not os.path.exists(call.store) and isinstance(no := decide(Standing(), asked, now), Refusal):
        raise said_no(call, no)  # nothing is made for somebody who may not
    with Store.open(call.store, create=True) as store:
        before = standing(store.connection, store.path)
        done = decided(
            store,
            lambda connection: standing(connection, store.path),
            decide,
            asked,
            clock=lambda: now,
        )
    if isinstance(done, Refusal):
        raise said_no(call, done)
    changes = _differences(before, policy)
    entry = done[0] if done else before.head.entry if before.head else None
    if call.output.json:
        at = now.strftime("%Y-%m-%dT%H:%M:%S.%fZ") if done else None
        call.output.document(
            {
                "entry": entry,
                "applied": bool(done),
                "at": at,
                "actor": actor.name,
                "reason": reason,
                "changes": [one._asdict() for one in changes],
            }
        )
    elif done:
        _tell_changes(call, changes)
        call.output.say(f"applied: entry/{entry}")
    else:
        call.output.say(f"entry/{entry} applied the same already; nothing to do")
    return 0


def read(file: str) -> tuple[Policy | None, list[Mistake]]:
    """The policy in a file, or what is wrong with it. Raises :class:`Refused` where it cannot be read at all."""
    from affidavit.policy.reading import MOST_BYTES, read_policy

    try:
        with open(file, "rb") as stream:
            return read_policy(stream.read(MOST_BYTES + 1))
    except OSError as error:
        raise Refused(f"{file}: {error.strerror}") from None
    except ValueError as error:
        raise Refused(f"{file}: {error}") from None


def policy_in(file: str) -> Policy:
    """The policy in a file. Raises :class:`Refused`, with every mistake, where it is none."""
    policy, mistakes = read(file)
    if policy is None:
        raise Refused("\n".join(told(file, one) for one in mistakes), "affidavit policy check says the same")
    return policy


def told(file: str, mistake: Mistake) -> str:
    """A mistake on one line: file, line, key, what and how it would be right."""
    place = file if mistake.line is None else f"{file}:{mistake.line}"
    key = f"{mistake.key}: " if mistake.key else ""
    return f"{place}: {key}{mistake.reason}" + (f" ({mistake.hint})" if mistake.hint else "")


def _changes(call: Call, policy: Policy) -> list[Change]:
    """What applying a policy would change in the store named, or of the defaults where there is none."""
    from affidavit.policy.change import Standing

    if not os.path.exists(call.store):
        return _differences(Standing(), policy)
    with call.archive() as archive:
        return _differences(archive.policy(), policy)


def _differences(standing: Standing, policy: Policy) -> list[Change]:
    from affidavit.policy.change import differences
    from affidavit.policy.document import Policy

    return differences(acting(standing) or Policy(), policy)


def _tell_changes(call: Call, changes: list[Change]) -> None:
    for change in changes:
        call.output.say(f"{change.key}: {said(change.before)} -> {said(change.after)}")
    call.output.tell(plural(len(changes), "change") if changes else "it changes nothing")


for one in (policy_show, policy_check, policy_apply):
    policy_command.add_command(one)
