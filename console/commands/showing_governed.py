"""What ``affidavit show`` prints of a candidate or memory: it, its check, its versions, what was decided by whom."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from affidavit.memory.transitions import verbs
from affidavit.session.times import iso
from console.commands import governed_documents
from console.commands.call import Call, Refused
from console.commands.check import tell_check
from console.commands.memories import status
from console.words import moment

if TYPE_CHECKING:
    from storage.archive import Archive
    from storage.folds.governed_rows import CandidateRow, DecisionRow, MemoryRow


def candidate(call: Call, archive: Archive, row: CandidateRow, version: int | None) -> int:
    """A candidate, at a version or as it stands."""
    now = datetime.now(UTC)
    versions = archive.governed.candidate_versions(row.id)
    chosen = _chosen([one.version for one in versions], version or row.version, f"candidate/{row.id}")
    read = archive.governed.candidate(row.id, chosen)
    found = archive.governed.check(row, now)
    decisions = archive.governed.decisions(row.id)
    if call.output.json:
        document = {
            **governed_documents.candidate(row, read.content if read else None, found.status if found else None),
            "version": chosen,
            "candidate": None if read is None else read.document(),
            "check": None if found is None else governed_documents.check(found),
            "shown": None if found is None else found.shown,
            "shownHash": None if found is None else found.shown_hash,
            "claim": governed_documents.claim(archive.governed.claim(row.id), now),
            "versions": [{"version": one.version, "content": _content(one.body)} for one in versions],
            "decisions": [governed_documents.decision(one) for one in decisions],
            "verbs": [verb for verb in verbs("candidate", found.status if found else row.status) if verb != "check"],
        }
        call.output.document(document)
        return 0
    if found is not None and chosen == row.version:
        tell_check(call, found)
    else:
        call.output.line(f"candidate/{row.id}@{chosen}  {row.status}")
        call.output.say(read.content if read is not None else "(its text was erased)")
    call.output.line(f"  {row.kind}  {row.level}:{row.scope}  {row.source}  asks to be a {row.authority}")
    if read is not None and read.source.event_ids:
        call.output.line("  evidence: " + ", ".join(read.source.event_ids))
    if row.claimed:
        call.output.line(f"  its proposer says it is {row.claimed}")
    if row.memory:
        call.output.line(f"  let in as memory/{row.memory}")
    _history(call, decisions)
    return 0


def memory(call: Call, archive: Archive, row: MemoryRow, version: int | None) -> int:
    """A memory, at a version or as it stands; one that was revoked says so."""
    from affidavit.memory.tone import told

    now = datetime.now(UTC)
    versions = archive.governed.memory_versions(row.id)
    chosen = _chosen([one.version for one in versions], version or row.version, f"memory/{row.id}")
    held = next(one for one in versions if one.version == chosen)
    read = archive.governed.memory(row.id, chosen)
    state = status(row, now) if chosen == row.version else held.status
    shown = archive.governed.memory_shown(row)
    decisions = archive.governed.decisions(row.candidate, row.id)
    if call.output.json:
        document = {
            **governed_documents.memory(row, None if read is None else read.content, state),
            "version": chosen,
            "record": None if read is None else {**read.document(), "status": state},
            "told": None if read is None else told(read),
            "conflicts": [] if shown is None else [one["id"] for one in shown[0]["conflicts"]],
            "shown": None if shown is None else shown[0],
            "shownHash": None if shown is None else shown[1],
            "claim": governed_documents.claim(archive.governed.claim(row.id), now),
            "versions": [
                {"version": one.version, "status": one.status, "decision": one.decision, "content": _content(one.body)}
                for one in versions
            ],
            "decisions": [governed_documents.decision(one) for one in decisions],
            "verbs": verbs("memory", state),
        }
        call.output.document(document)
        return 0
    call.output.line(f"memory/{row.id}@{chosen}  {state}  {row.authority}  {row.kind}  {row.level}:{row.scope}")
    call.output.say(read.content if read is not None else "(its text was erased)")
    if read is not None and state == "active":
        call.output.line(f"  a model would be told: {told(read)}")
    if row.merged:
        call.output.line(f"  merged into {row.merged}")
    for name, at in (("expires", row.expires), ("to be reviewed", row.review), ("verified", row.verified)):
        if at is not None:
            call.output.line(f"  {name} {iso(at)}")
    for one in versions:
        call.output.line(f"  @{one.version}  {one.status}  {_content(one.body) or '(erased)'}")
    _history(call, decisions)
    if shown is not None:
        call.output.line(f"  shown {shown[1]}")
    return 0


def _chosen(versions: list[int], version: int, address: str) -> int:
    if version not in versions:
        raise Refused(f"{address} has no version {version}; it has {', '.join(map(str, versions))}")
    return version


def _content(body: str) -> str | None:
    read: Any = json.loads(body) if body else {}
    content: str | None = read.get("content")
    return content


def _history(call: Call, decisions: list[DecisionRow]) -> None:
    for one in decisions:
        undone = "  (undone)" if one.undone else ""
        call.output.line(
            f"  {moment(one.at)}  {one.verb}  {one.what}/{one.object}@{one.version}  by {one.by or '(erased)'}: "
            f"{one.reason or '(erased)'}  {one.id}{undone}"
        )
