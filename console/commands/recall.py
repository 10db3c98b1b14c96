"""``affidavit recall``: what the recall gate hands over of what a search of memory found, and what it keeps back."""

from __future__ import annotations

import os
import sys
from collections import Counter
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from affidavit.text.marks import marked
from console.commands.call import Call, Refused, command
from console.commands.policy import policy_in
from console.words import plural

if TYPE_CHECKING:
    from affidavit.gate.gate import RecallGateResult
    from affidavit.gate.hit import MemoryHit, NotAHit, RecallQuery
    from affidavit.gate.settings import RecallGateConfig
    from affidavit.policy.document import Policy

PRINTS = (
    "at, query, scope{…}, acceptedIds[], accepted[…], rejected[{id, title, reason}], dryRun, "
    "unreadableList[{file, place, id, reason}], policyEntry, settings{…}, recorded, id, address"
)
MOST_BYTES = 64 << 20
"""Bytes a file of hits may have."""

LEVELS = ("user", "workspace", "repo", "branch", "module")


@command("recall", "See what the recall gate lets through", prints=PRINTS)
@click.argument("query", metavar="QUERY")
@click.option("--hits", metavar="FILE", help="What another search found: JSON or JSON Lines; - for stdin.")
@click.option("--scope", "scopes", metavar="LEVEL:KEY", multiple=True, help="Where it is asked, such as repo:acme/app.")
@click.option("--user", metavar="NAME", help="Who asks.")
@click.option("--agent", metavar="NAME", help="Which agent asks.")
@click.option("--space", "memory_space", metavar="NAME", help="The memory space asked.")
@click.option("--route", metavar="NAME", help="The route asked on.")
@click.option("--settings", metavar="FILE", help="With --dry-run: judge by this policy file, which is not applied.")
@click.option("--at", "moment", metavar="TIME", help="Judge ages by this time instead of now.")
@click.option("--limit", type=click.IntRange(1), metavar="N", help="At most N memories.")
@click.option("--dry-run", is_flag=True, help="Decide, and hand nothing over.")
def recall_command(
    call: Call,
    query: str,
    hits: str | None,
    scopes: tuple[str, ...],
    settings: str | None,
    moment: str | None,
    dry_run: bool,
    **asked: Any,
) -> int:
    """Search the store's memories, and pass what is found through the recall gate: scope, state, score, age and more.

    Every memory that is kept back is named with its reason. --hits judges what another search found instead: objects
    with id, title, body, score, updatedAt, status, visibility, source and tags, each alone on a line, in an array, or
    under the key hits.
    Each recall is recorded without the texts of memories, a dry run too: affidavit gate-runs lists them. Hits
    are judged by the policy applied to the store, or by the defaults where none is.
    """
    from affidavit.gate.gate import recall_gate
    from affidavit.gate.hit import RecallQuery
    from storage.readers.own_gate import run_uid
    from storage.recalling import keep_recall

    fields = {name: value for name, value in asked.items() if value is not None}
    for scope in scopes:
        level, _, key = scope.partition(":")
        if level not in LEVELS or not key:
            raise click.UsageError(f"--scope takes LEVEL:KEY with a level of {', '.join(LEVELS)}; not {scope!r}")
        fields[level] = key
    question = RecallQuery(text=marked(query), **{name: _text(value) for name, value in fields.items()})
    if settings is not None and not dry_run:
        raise click.UsageError("settings act once they are applied (affidavit policy apply); try them with --dry-run")
    by = in_force(call) if settings is None else By(policy_in(settings), None)
    config = by.policy.gate.of(question.memory_space)
    now = _now(moment)
    found, others = (_remembered(call, question, now), []) if hits is None else _given(hits)
    result = recall_gate(found, question, config, now, dry_run=dry_run)
    used = {"policyEntry": by.entry, "settings": shape(config)}
    passed = [{"id": one.id, "title": one.title, "score": one.score} for one in result.accepted]
    run = keep_recall(call.store, {**result.audit(), "accepted": passed, **used}, clock=lambda: datetime.now(UTC))
    address = None if run is None else f"gate/{run_uid(None, run)}"
    if call.output.json:
        call.output.document(
            {**document(result, others, hits or ""), **used, "recorded": run is not None, "id": run, "address": address}
        )
    else:
        _print(call, result, others, hits or "")
        call.output.tell(f"judged by {by.said(settings)}")
        call.output.tell(address or "not recorded: this store can only be read")
    return 3 if others else 0


def _remembered(call: Call, question: RecallQuery, now: datetime) -> list[MemoryHit]:
    """What the store's memories have for a question; a store that does not exist has none."""
    if not os.path.exists(call.store):
        return []
    with call.archive() as archive:
        return archive.governed.hits(question, now)


def _given(file: str) -> tuple[list[MemoryHit], list[NotAHit]]:
    """The hits a file holds, and what in it is none, by its places there."""
    from affidavit.gate.hit import read_hits

    values, cut = _values(file)
    found, none = read_hits(values.values())
    places = list(values)
    return found, sorted([*cut, *(other._replace(place=places[other.place]) for other in none)])


def document(result: RecallGateResult, others: list[NotAHit], file: str) -> dict[str, Any]:
    """The command's document: the audit record, and the memories handed over unless it was a dry run."""
    handed = [] if result.dry_run else [_handed(hit) for hit in result.accepted]
    unread = [{"file": file, "place": other.place, "id": other.id, "reason": other.reason} for other in others]
    return {**result.audit(), "accepted": handed, "unreadableList": unread}


def _handed(hit: MemoryHit) -> dict[str, Any]:
    return hit.model_dump(mode="json", by_alias=True, exclude_none=True)


def _print(call: Call, result: RecallGateResult, others: list[NotAHit], file: str) -> None:
    from affidavit.gate.gate import REASONS

    say = call.output.line
    for hit in result.accepted:
        say(f"accepted  {hit.score:.2f}  {hit.id}  {hit.title}")
    for one in result.rejected:
        why = REASONS[one.reason] + (f" ({one.detail})" if one.detail else "")
        say(f"rejected        {one.id}  {one.title}")
        say(f"                {one.reason}: {why}")
    for other in others:
        call.output.tell(
            f"{file}: value {other.place + 1}{' ' + other.id if other.id else ''} is no hit: {other.reason}"
        )
    candidates = len(result.accepted) + len(result.rejected)
    kept = Counter(one.reason for one in result.rejected)
    told = f"{plural(len(result.accepted), 'memory')} of {candidates} accepted"
    reasons = ", ".join(f"{count} {reason}" for reason, count in kept.most_common())
    call.output.tell(told + (f"; kept back: {reasons}" if reasons else ""))
    if not candidates:
        call.output.tell("the search found nothing, so there was nothing to judge")
    elif not result.accepted:
        call.output.tell("all that was found was kept back")
    if result.dry_run:
        call.output.tell("a dry run: nothing was handed over")


def _now(moment: str | None) -> datetime:
    from affidavit.gate.hit import moment_of

    if moment is None:
        return datetime.now(UTC)
    at = moment_of(moment)
    if at is None:
        raise click.UsageError(f"--at takes a time such as 2026-05-14T10:02:11Z; not {moment!r}")
    return at


def _text(value: Any) -> Any:
    return marked(value) if isinstance(value, str) else value


class By(NamedTuple):
    """What hits are judged by: a policy and the entry that applied it, ``None`` where none did."""

    policy: Policy
    entry: int | None

    def said(self, file: str | None) -> str:
        """Where the settings come from, for people."""
        if file is not None:
            return f"the settings of {file}, which are not applied"
        return "the default settings" if self.entry is None else f"the policy of entry/{self.entry}"


def in_force(call: Call) -> By:
    """The policy that acts; a store that does not exist has none. Raises :class:`Refused` where it was erased."""
    from affidavit.policy.document import Policy

    if not os.path.exists(call.store):
        return By(Policy(), None)
    with call.archive() as archive:
        standing = archive.policy()
    entry = standing.head.entry if standing.head else None
    if standing.erased:
        raise Refused(f"the policy in force (entry/{entry}) was erased: nobody knows its settings", "apply another")
    return By(standing.policy or Policy(), entry)


def shape(config: RecallGateConfig) -> dict[str, Any]:
    """The settings used, as JSON."""
    return config.model_dump(mode="json", by_alias=True)


def _values(file: str) -> tuple[dict[int, Any], list[NotAHit]]:
    """The values a file holds by their places (of JSON Lines: the lines), and lines that are no JSON."""
    from affidavit.gate.hit import NotAHit
    from affidavit.proof.parsing import Unreadable, loads_lenient

    data = _bytes(file)
    try:
        value = loads_lenient(data)[0]
    except Unreadable as whole:
        values, cut = {}, []
        for number, line in enumerate(data.split(b"\n")):
            if not line.strip():
                continue
            try:
                values[number] = loads_lenient(line)[0]
            except Unreadable as error:
                cut.append(NotAHit(number, "", str(error)))
        if not any(isinstance(value, dict) for value in values.values()):
            raise Refused(f"{file}: {whole}") from None
        return values, cut
    if isinstance(value, dict) and isinstance(value.get("hits"), list):
        value = value["hits"]
    return dict(enumerate(value if isinstance(value, list) else [value])), []


def _bytes(file: str) -> bytes:
    try:
        if file == "-":
            data = sys.stdin.buffer.read(MOST_BYTES + 1)
        else:
            with open(file, "rb") as stream:
                data = stream.read(MOST_BYTES + 1)
    except OSError as error:
        raise Refused(f"{file}: {error.strerror}") from None
    if len(data) > MOST_BYTES:
        raise Refused(f"{file}: larger than {MOST_BYTES >> 20} MiB")
    return data
