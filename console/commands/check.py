"""``affidavit check``: what speaks against a candidate, and what to do about it."""

from __future__ import annotations

import os
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import click

from console.commands import governed_documents
from console.commands.call import Call, command
from console.commands.candidates import checked_of, rows_of
from console.commands.finding_governed import find
from console.words import number, plural

if TYPE_CHECKING:
    from storage.queries.governed_archive import Checked

SIGNS = {"info": "·", "warning": "!", "danger": "✗"}


@command(
    "check", "Check what was proposed to be remembered", prints=f"{governed_documents.CHECK}; --all: candidates[…]"
)
@click.argument("id", metavar="[ID]", required=False)
@click.option("--all", "everything", is_flag=True, help="Check every candidate that waits.")
@click.option("--let-in", is_flag=True, help="Let in what the applied policy lets in by itself, as hints; with --all.")
def check_command(call: Call, id: str | None, everything: bool, let_in: bool) -> int:
    """Check a candidate against its evidence, the store and the rule files.

    Each finding has a code, points and its evidence; the risk is their sum. The exit code is 1 where something must be
    seen by a person, or should not be remembered.
    """
    from storage.queries.governed import GovernedFilter

    if (id is None) != everything or (let_in and not everything):
        raise click.UsageError("name one candidate, or ask for --all that wait")
    if let_in:
        _let_in(call)
    now = datetime.now(UTC)
    code = 0
    with call.archive() as archive:
        if id is not None:
            named = find(archive, id, memories=False).candidate
            assert named is not None
            found = archive.governed.check(named, now)
            if found is None:
                call.output.tell("its text was erased; there is nothing to check")
                return 1
            if call.output.json:
                call.output.document(governed_documents.check(found))
            else:
                tell_check(call, found)
            return _code(found)
        rows = rows_of(archive, GovernedFilter(waiting=True), None, by_risk=True)
        checked = checked_of(archive, rows, now)
        if call.output.json:
            with call.output.listing("candidates") as (write, _):
                for one in checked:
                    write(governed_documents.check(one))
                    code = max(code, _code(one))
            return code
        count = 0
        for one in checked:
            tell_check(call, one)
            count += 1
            code = max(code, _code(one))
        call.output.tell(plural(count, "candidate") + " checked")
    return code


def _let_in(call: Call) -> None:
    """Let in what the policy lets in by itself: decisions whose actor is the policy."""
    from affidavit.policy.actors import Actor, Refusal
    from affidavit.review.commands import Decide
    from affidavit.review.decide import POLICY
    from storage.queries.governed import GovernedFilter
    from storage.reviewing import PATIENCE_MILLIS, Desk
    from storage.store import Store

    now = datetime.now(UTC)
    with call.archive() as archive:
        rows = rows_of(archive, GovernedFilter(waiting=True), None, by_risk=True)
        likely = [one.row.id for one in checked_of(archive, rows, now) if one.report.outcome == "may_approve"]
    entered = 0
    with Store.open(call.store, busy=PATIENCE_MILLIS) as store:
        desk = Desk(store, clock=lambda: datetime.now(UTC))
        for id in likely:
            asked = Decide(os.urandom(16).hex(), "auto-approve", Actor(POLICY, POLICY), "the applied policy lets it in")
            entered += not isinstance(desk.decide(asked, id), Refusal)
    call.output.tell(f"{plural(entered, 'candidate')} let in by the policy")


def _code(found: Checked) -> int:
    return 0 if found.report.outcome in ("may_approve", "wait", "shorten_ttl") else 1


def tell_check(call: Call, found: Checked) -> None:
    row, report = found.row, found.report
    call.output.line(
        f"candidate/{row.id}@{row.version}  risk {number(report.risk)}  {report.outcome}  ({found.status})"
    )
    call.output.line(f"  {found.candidate.content}")
    for finding in report.findings:
        evidence = ", ".join(finding.evidence)
        call.output.line(f"  {SIGNS[finding.severity]} {finding.points:>3}  {finding.code}  {evidence}".rstrip())
    for like in report.likeness:
        differs = f"  differing in {', '.join(like.differs)}" if like.differs else ""
        call.output.line(f"  ~ {like.score:.0f}  {like.verdict}  {like.id}{differs}")
    call.output.line(f"  shown {found.shown_hash}")
