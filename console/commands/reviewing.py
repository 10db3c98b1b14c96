"""``affidavit approve``, ``reject``, ``rewrite`` and the other verbs of review: a command each, run in one way."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, get_args

import click

from affidavit.memory.words import LEVELS, Authority
from console.acting import actor_of, deciding
from console.commands import governed_documents
from console.commands.call import Call, Refused, command
from console.commands.finding_governed import find

if TYPE_CHECKING:
    from affidavit.memory.candidate import ScopeRef
    from affidavit.memory.transitions import Verb
    from affidavit.policy.actors import Actor, Refusal

PRINTS = (
    f"decision{{{governed_documents.DECISION}}}, entry (decision null: nothing would change); or "
    "refused{code, reason, difference[{field, was, now}]} with exit code 2"
)
MOST_TEXT = 64 << 10

Function = Callable[..., int]


def _id(function: Function) -> Function:
    return click.argument("id", metavar="ID")(function)


def _expect(function: Function) -> Function:
    expect = click.option(
        "--expect", metavar="HASH", help="The shownHash of what you were shown; refused where it changed."
    )
    key = click.option(
        "--decision-id", "key", metavar="ID", help="An id of your own: asking again with it is asking once."
    )
    return expect(key(function))


def _dates(function: Function) -> Function:
    expires = click.option("--expires", metavar="DATE", help="When it is over, ISO 8601 with a zone.")
    review = click.option("--review-after", "review", metavar="DATE", help="When to look at it again.")
    return expires(review(function))


def _authority(function: Function) -> Function:
    return click.option("--authority", type=click.Choice(get_args(Authority)), help="The tone it is told with.")(
        function
    )


def _verb(
    name: Verb, about: str, *more: Callable[[Function], Function], memories: bool, candidates: bool
) -> Callable[[Callable[..., dict[str, Any]]], click.Command]:
    """A command that decides; ``about`` is its line in the list, its help the docstring."""

    def decorate(function: Callable[..., dict[str, Any]]) -> click.Command:
        def run(
            call: Call, id: str, who: str | None, reason: str, expect: str | None, key: str | None, **rest: Any
        ) -> int:
            given = function(**rest)
            return _decide(call, name, id, who, reason, expect, key, given, candidates=candidates, memories=memories)

        run.__doc__ = function.__doc__
        decorated: Function = run
        options: tuple[Callable[[Function], Function], ...] = (*more, _expect, deciding, _id)
        for option in options:
            decorated = option(decorated)
        return command(name, about, prints=PRINTS)(decorated)

    return decorate


def _decide(
    call: Call,
    verb: Verb,
    id: str,
    who: str | None,
    reason: str,
    expect: str | None,
    key: str | None,
    given: dict[str, Any],
    *,
    candidates: bool,
    memories: bool,
) -> int:
    from affidavit.policy.actors import Refusal
    from affidavit.review.commands import Decide
    from storage.reviewing import PATIENCE_MILLIS, Desk
    from storage.store import Store

    actor = actor_of(call, who)
    with call.archive() as archive:
        named = find(archive, id, candidates=candidates, memories=memories)
        thing = named.candidate or named.memory
        assert thing is not None
        if named.version is not None and named.version != thing.version and expect is None:
            return refuse(call, _moved(thing.version, named.version))
        if given.get("into") is not None:
            other = find(archive, given["into"])
            into = other.candidate or other.memory
            assert into is not None
            given["into"] = into.id
    asked = Decide(key or os.urandom(16).hex(), verb, actor, reason, expect, **given)
    with Store.open(call.store, busy=PATIENCE_MILLIS) as store:
        done = Desk(store, clock=lambda: datetime.now(UTC)).decide(asked, thing.id)
    if isinstance(done, Refusal):
        return refuse(call, done)
    return tell(call, asked.id, done)


def _moved(now: int, was: int) -> Refusal:
    from affidavit.policy.actors import Refusal

    return Refusal(
        "changed", f"version {was} was named; it is version {now} now", ({"field": "version", "was": was, "now": now},)
    )


def refuse(call: Call, refusal: Refusal) -> int:
    """Say why a decision was not taken. Exit code 2."""
    if call.output.json:
        told = {"code": refusal.code, "reason": refusal.reason, "difference": list(refusal.difference)}
        call.output.document({"refused": told})
    call.output.tell(f"refused ({refusal.code}): {refusal.reason}")
    if not call.output.json:
        for one in refusal.difference:
            before = f"{one['was']!r} -> " if "was" in one else ""
            call.output.tell(f"  {one['field']}: {before}{one.get('now')!r}")
    return 2


def tell(call: Call, id: str, entries: list[int]) -> int:
    """Say what was decided."""
    with call.archive() as archive:
        found = [row for row in archive.governed.find_decisions(id) if row.id == id]
    if not entries or not found:
        if call.output.json:
            call.output.document({"decision": None, "entry": entries[0] if entries else None})
        else:
            call.output.say("nothing would change; nothing was written")
        return 0
    row = found[0]
    if call.output.json:
        call.output.document({"decision": governed_documents.decision(row), "entry": entries[0]})
        return 0
    memory = f" -> memory/{row.memory}" if row.memory and row.verb == "approve" else ""
    call.output.say(
        f"{row.verb}: {row.what}/{row.object}@{row.version}{memory}  (decision {row.id}, entry/{entries[0]})"
    )
    return 0


def scope_of(said: str | None) -> ScopeRef | None:
    """A scope as it is written on a command line."""
    from affidavit.memory.candidate import ScopeRef

    if said is None:
        return None
    level, colon, key = said.partition(":")
    if not colon or level not in LEVELS or not key:
        raise click.UsageError(
            f"{said!r} is no scope: write LEVEL:KEY, such as repo:acme/app, with one of {', '.join(LEVELS)}"
        )
    return ScopeRef(level=next(one for one in LEVELS if one == level), key=key)


def _text(said: str | None) -> str | None:
    if said != "-":
        return said
    read = sys.stdin.read(MOST_TEXT + 1).rstrip("\n")
    if len(read) > MOST_TEXT:
        raise Refused(f"standard input holds more than {MOST_TEXT} characters")
    return read


@_verb(
    "approve",
    "Let a candidate into the store",
    _authority,
    _dates,
    click.option("--opened", is_flag=True, help="You opened and read what was flagged in a quarantined candidate."),
    memories=False,
    candidates=True,
)
def approve_command(**given: Any) -> dict[str, Any]:
    """Let a candidate into the store, as a memory that agents may be given.

    No agent approves anything: this is refused in a process an agent started.
    """
    return given


@_verb("reject", "Turn a candidate down", memories=False, candidates=True)
def reject_command(**given: Any) -> dict[str, Any]:
    """Turn a candidate down. One like it that comes later is shown with the reason."""
    return given


@_verb(
    "rewrite",
    "Say a candidate or memory in other words",
    click.option("--content", "--text", "content", metavar="TEXT", help="Its new words; - for standard input."),
    _authority,
    _dates,
    memories=True,
    candidates=True,
)
def rewrite_command(content: str | None, **given: Any) -> dict[str, Any]:
    """Give a candidate or memory other words, or other dates: a new version of it.

    A candidate's is pending and checked at once; a memory's takes the place of the one before.
    """
    said = _text(content)
    if said is None and not any(given.values()):
        raise click.UsageError("say what is to be other: --content, --expires, --review-after or --authority")
    return {"content": said, **given}


@_verb(
    "rescope",
    "Say elsewhere a candidate or memory applies",
    click.option("--scope", "scope", required=True, metavar="LEVEL:KEY", help="Where, such as repo:acme/app."),
    memories=True,
    candidates=True,
)
def rescope_command(scope: str, **given: Any) -> dict[str, Any]:
    """Say that a candidate or memory applies somewhere else: a new version of it."""
    return {"scope": scope_of(scope), **given}


@_verb(
    "ask",
    "Ask for more evidence of a candidate",
    click.option("--until", metavar="DATE", help="When to look at it again in any case, ISO 8601 with a zone."),
    memories=False,
    candidates=True,
)
def ask_command(**given: Any) -> dict[str, Any]:
    """Leave a candidate pending with an open question: the reason."""
    return given


@_verb(
    "merge",
    "Fold a candidate or memory into another",
    click.option("--into", required=True, metavar="ID", help="The candidate or memory it goes into."),
    memories=True,
    candidates=True,
)
def merge_command(**given: Any) -> dict[str, Any]:
    """Fold a candidate or memory into another that says the same; its evidence is added there."""
    return given


@_verb("withdraw", "Take a candidate back", memories=False, candidates=True)
def withdraw_command(**given: Any) -> dict[str, Any]:
    """Take a candidate back, without a judgement about it."""
    return given


@_verb("revoke", "Take a memory out of use for good", memories=True, candidates=False)
def revoke_command(**given: Any) -> dict[str, Any]:
    """Take a memory out of use. No agent is given it again, and what says the same later is known for it."""
    return given


@_verb("deprecate", "Keep a memory as history only", memories=True, candidates=False)
def deprecate_command(**given: Any) -> dict[str, Any]:
    """Keep a memory as history only; affidavit renew brings it back."""
    return given


@_verb("renew", "Say that a memory still holds", _dates, memories=True, candidates=False)
def renew_command(**given: Any) -> dict[str, Any]:
    """Say that a memory still holds: it is active again, verified now, with the dates given."""
    return given


FORGOTTEN = (
    f"decision{{{governed_documents.DECISION}}}, entries[], records, payloads, residue[], sessions[]; or "
    "refused{code, reason, difference[]} with exit code 2"
)


@command("forget", "Erase a memory's texts for good", prints=FORGOTTEN)
@_id
@deciding
@_expect
def forget_command(call: Call, id: str, who: str | None, reason: str, expect: str | None, key: str | None) -> int:
    """Take a memory or candidate out of use and erase its texts: where it was proposed, decided about and kept.

    What said the same is known again by a salted mark, without its text. Session events that still say it are listed;
    affidavit redact erases one. The exit code is 1 where anything of it is left in the governed tables.
    """
    from affidavit.policy.actors import Refusal
    from affidavit.review.commands import Decide
    from storage.forgetting import forget
    from storage.reviewing import PATIENCE_MILLIS
    from storage.store import Store

    actor = actor_of(call, who)
    with call.archive() as archive:
        named = find(archive, id)
        thing = named.candidate or named.memory
        assert thing is not None
    asked = Decide(key or os.urandom(16).hex(), "forget", actor, reason, expect)
    with Store.open(call.store, busy=PATIENCE_MILLIS) as store:
        done = forget(store, asked, thing.id, clock=lambda: datetime.now(UTC))
    if isinstance(done, Refusal):
        return refuse(call, done)
    with call.archive() as archive:
        row = next(one for one in archive.governed.find_decisions(asked.id) if one.id == asked.id)
    if call.output.json:
        document = {
            "decision": governed_documents.decision(row),
            "entries": done.entries,
            "records": done.records,
            "payloads": done.payloads,
            "residue": done.left,
            "sessions": done.sessions,
        }
        call.output.document(document)
    else:
        call.output.say(f"forgotten: {row.what}/{row.object} ({done.records} records, {done.payloads} contents erased)")
        for place in done.left:
            call.output.say(f"  left: {place}")
        for address in done.sessions:
            call.output.say(f"  still said in {address}")
    return 1 if done.left else 0


UNDONE = f"decision{{{governed_documents.DECISION}}}, entry; or refused{{code, reason, difference[]}} with exit code 2"


@command("undo", "Take a decision back", prints=UNDONE)
@click.argument("decision", metavar="DECISION")
@deciding
def undo_command(call: Call, decision: str, who: str | None, reason: str) -> int:
    """Take a decision back, as long as no other was built on it and no recall served it: what stood before holds again.

    The id of a batch takes all of its decisions back.
    """
    from affidavit.policy.actors import Refusal
    from affidavit.review.commands import Undo
    from storage.reviewing import PATIENCE_MILLIS, Desk
    from storage.store import Store

    with call.archive() as archive:
        together = archive.governed.batch(decision)
        found = archive.governed.find_decisions(decision)
    if together:
        return _undo_all(call, [row.id for row in together], actor_of(call, who), reason)
    exact = [row for row in found if row.id == decision] or found
    if not exact:
        raise Refused(f"there is no decision {decision!r} in this store", "affidavit show memory/ID lists them")
    if len(exact) > 1:
        raise Refused(f"{decision!r} could be any of these:", "\n".join(f"{row.id}  {row.verb}" for row in exact[:10]))
    asked = Undo(os.urandom(16).hex(), exact[0].id, actor_of(call, who), reason)
    with Store.open(call.store, busy=PATIENCE_MILLIS) as store:
        done = Desk(store, clock=lambda: datetime.now(UTC)).undo(asked)
    return refuse(call, done) if isinstance(done, Refusal) else tell(call, asked.id, done)


def _undo_all(call: Call, decisions: list[str], actor: Actor, reason: str) -> int:
    from affidavit.policy.actors import Refusal
    from affidavit.review.commands import Undo
    from storage.reviewing import PATIENCE_MILLIS, Desk
    from storage.store import Store

    asked = [Undo(os.urandom(16).hex(), decision, actor, reason) for decision in decisions]
    with Store.open(call.store, busy=PATIENCE_MILLIS) as store:
        done = Desk(store, clock=lambda: datetime.now(UTC)).undo_all(asked)
    if isinstance(done, Refusal):
        return refuse(call, done)
    with call.archive() as archive:
        rows = [row for one in asked for row in archive.governed.find_decisions(one.id) if row.id == one.id]
    if call.output.json:
        call.output.document({"decisions": [governed_documents.decision(row) for row in rows], "entries": done})
    else:
        call.output.say(f"{len(rows)} decisions undone")
    return 0


CLAIMED = "claim{by, at, until} or null, entry; or refused{code, reason, difference[]} with exit code 2"
WHO = click.option("--as", "who", metavar="WHO", help="Who decides; you, unless said.")


@command("claim", "Take something to decide about it alone", prints=CLAIMED)
@click.argument("id", metavar="ID")
@WHO
def claim_command(call: Call, id: str, who: str | None) -> int:
    """Take a candidate or memory to decide about it: for some minutes, or until you give it back, nobody else can."""
    return _claim(call, id, who, release=False)


@command("release", "Give back what was claimed", prints=CLAIMED)
@click.argument("id", metavar="ID")
@WHO
def release_command(call: Call, id: str, who: str | None) -> int:
    """Give back a candidate or memory that you claimed."""
    return _claim(call, id, who, release=True)


def _claim(call: Call, id: str, who: str | None, *, release: bool) -> int:
    from affidavit.policy.actors import Refusal
    from affidavit.review.commands import Claim
    from storage.reviewing import PATIENCE_MILLIS, Desk
    from storage.store import Store

    actor = actor_of(call, who)
    with call.archive() as archive:
        named = find(archive, id)
        thing = named.candidate or named.memory
        assert thing is not None
    with Store.open(call.store, busy=PATIENCE_MILLIS) as store:
        asked = Claim(os.urandom(16).hex(), actor, release)
        done = Desk(store, clock=lambda: datetime.now(UTC)).claim(asked, thing.id)
    if isinstance(done, Refusal):
        return refuse(call, done)
    with call.archive() as archive:
        held = governed_documents.claim(archive.governed.claim(thing.id), datetime.now(UTC))
    if call.output.json:
        call.output.document({"claim": held, "entry": done[0] if done else None})
    else:
        call.output.say("given back" if held is None else f"claimed by {held['by']} until {held['until']}")
    return 0
