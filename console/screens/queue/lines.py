"""How a candidate looks: as one line of the queue, and whole, with what speaks against it."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING

from console.widgets import figures
from console.widgets.ink import Ink, Line, left, right
from console.widgets.safe import Outside

if TYPE_CHECKING:
    from storage.folds.governed_rows import CandidateRow, ClaimRow
    from storage.queries.governed_archive import Checked

KINDS = {
    "user_preference": "preference",
    "project_fact": "fact",
    "task_experience": "experience",
    "procedure_rule": "procedure",
}
"""Kinds in a word."""

SIGNS = {"info": Ink("quiet", "·"), "warning": Ink("person", "!"), "danger": Ink("fails", "✗")}
STATUS = {"needs_review": "!", "quarantined": "⚠", "pending": " "}
HIGH, MIDDLING = 60, 30


def risk_ink(risk: int, room: int) -> Ink:
    """Risk points, coloured by how much they weigh."""
    style = "fails" if risk >= HIGH else "person" if risk >= MIDDLING else "text"
    return Ink(style, right(str(risk), room))


def heading(room: int) -> Line:
    """The names of the columns."""
    scope = 24 if room >= 80 else 0
    head = [Ink("quiet", "risk age   kind        ")]
    if scope:
        head.append(Ink("quiet", left("scope", scope)))
    return (*head, Ink("quiet", "candidate"))


def candidate_line(row: CandidateRow, says: str, room: int, outside: Outside, now: datetime) -> Line:
    """One candidate that waits."""
    age = age_of(row.created, now)
    status = STATUS.get(row.status, " ")
    head: list[Ink] = [
        risk_ink(row.risk, 4),
        Ink("person" if status.strip() else "text", status),
        Ink("quiet", left(age, 5) + " "),
        Ink("text", left(KINDS.get(row.kind, row.kind), 12)),
    ]
    taken = 22
    if room >= 80:
        head.append(Ink("quiet", left(outside.line(f"{row.level} {row.scope}", 23), 24)))
        taken += 24
    return (*head, Ink("outside", outside.line(says, max(room - taken, 4)) or "its text was erased"))


def age_of(created: int, now: datetime) -> str:
    """How long something has waited, in at most five characters."""
    minutes = max((now.timestamp() * 1_000_000 - created) / 60_000_000, 0)
    if minutes < 60:
        return f"{minutes:.0f} m"
    return f"{minutes / 60:.0f} h" if minutes < 48 * 60 else f"{minutes / 1440:.0f} d"


def whole_lines(found: Checked, told: str, claim: ClaimRow | None, outside: Outside, now: datetime) -> list[Line]:
    """Everything a decision rests on: what it says, how it would be told, why it waits, what it rests on, what is like
    it, what says otherwise, and the digest of all this."""
    row, report, candidate = found.row, found.report, found.candidate
    by = outside.line(getattr(candidate.source, "type", row.source), 40)
    lines: list[Line] = [
        (
            Ink("head", f"candidate {row.id[:8]}@{row.version}"),
            Ink("quiet", f"  {found.status.replace('_', ' ')} · {by}"),
        ),
        (),
    ]
    lines += [(Ink("outside", text),) for text in outside.block(candidate.content).split("\n")[:60]]
    lines.append(())
    lines.append((Ink("quiet", "would be told as  "), Ink("memory", outside.line(told))))
    scope = outside.line(f"{row.level}:{row.scope}", 60)
    lines.append(
        (
            Ink(
                "quiet",
                f"{KINDS.get(row.kind, row.kind)} · {scope} · confidence {row.confidence} · asks for {row.authority}",
            ),
        )
    )
    if row.expires is not None:
        lines.append((Ink("quiet", f"expires {figures.moment(row.expires)}"),))
    if claim is not None and claim.until > now.timestamp() * 1_000_000:
        lines.append((Ink("person", f"! claimed by {outside.line(claim.by, 40)}"),))
    lines += [(), (Ink("head", left("why it waits", 40)), risk_ink(report.risk, 6))]
    for finding in report.findings:
        sign = SIGNS[finding.severity]
        evidence = outside.line(" · ".join(finding.evidence), 200)
        lines.append(
            (
                sign,
                Ink("text", f" {left(finding.code.replace('_', ' '), 37)}"),
                Ink("text", right(f"+{finding.points}", 7)),
            )
        )
        if evidence:
            lines.append((Ink("quiet", f"    {evidence}"),))
    if not report.findings:
        lines.append((Ink("quiet", "nothing speaks against it"),))
    lines += [(), (Ink("head", "evidence"),)]
    events = candidate.source.event_ids
    lines += [(Ink("evidence", f"  {outside.line(event, 90)}"),) for event in events] or [(Ink("unknown", "  ? none"),)]
    if report.likeness:
        lines += [(), (Ink("head", "near"),)]
    for like in report.likeness:
        differs = f"  differing in {', '.join(like.differs)}" if like.differs else ""
        style = "fails" if like.verdict == "contradicts" else "memory"
        lines.append(
            (Ink(style, f"  {like.verdict}"), Ink("quiet", f"  {like.score:.0f}  {outside.line(like.id, 20)}{differs}"))
        )
    if report.conflicts:
        lines += [(), (Ink("fails", "✗ conflicts"),)]
        lines += [
            (Ink("fails", f"  {outside.line(one.id, 20)}  {outside.line(one.key, 60)}"),) for one in report.conflicts
        ]
    lines += [(), (Ink("quiet", f"you read {row.id[:8]}@{row.version} · sha {found.shown_hash[:16]}"),)]
    return lines
