"""Showing one retrieval snapshot, or one of its citations, on the command line."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from affidavit.retrieval import recorded
from affidavit.session.times import iso
from console.commands.call import Call, Refused
from console.output import Column
from console.words import HASH_MARKS, moment, number, plural

if TYPE_CHECKING:
    from storage.archive import Archive
    from storage.queries.snapshots import SnapshotRow

Object = dict[str, Any]

SELECTED = (
    Column("citation"), Column("kind", spare=3), Column("source", shrinks=True, least=20), Column("authority", spare=2),
    Column("score", right=True, spare=1), Column("tokens", right=True, spare=2),
    Column("why", shrinks=True, least=12, spare=1), Column("hash"),
)  # fmt: skip
REJECTED = (
    Column("candidate", shrinks=True, least=10), Column("source", shrinks=True, least=20), Column("stage"),
    Column("reason"), Column("score", right=True, spare=1),
)  # fmt: skip

SCORES = (
    "semantic", "lexical", "authority", "recency", "actionability", "diversity", "anchor", "scope", "taskRelevance",
    "total",
)  # fmt: skip


def document(row: SnapshotRow, line: Object) -> Object:
    """The snapshot as it was recorded, with its texts filled in and what was found out about it."""
    body = recorded.body_of(line)
    seen = list(recorded.seen(line))
    selected = [
        {**item, "visibleText": one.text, "score": scores(item), "verdict": one.verdict}
        for item, one in zip(recorded.objects(body, "selectedItems"), seen, strict=True)
    ]
    rejected = [
        {**item, "stage": recorded.stage_of(item), "score": scores(item)}
        for item in recorded.objects(body, "rejectedItems")
    ]
    from affidavit.retrieval.misleading import misled

    block = recorded.block_seen(line)
    findings = [
        {"way": one.way, "caught": one.caught, "candidateId": one.candidate_id, "sourceRef": one.source_ref,
         "detail": one.detail}
        for one in misled(line)
    ]  # fmt: skip
    return {
        **body,
        "id": row.id,
        "uid": row.uid,
        "address": f"snapshot/{row.uid}",
        "session": row.session_uid,
        "at": iso(row.at),
        "derived": False,
        "candidateStats": {**recorded.obj(body, "candidateStats"), **recorded.counts(body)},
        "selectedItems": selected,
        "rejectedItems": rejected,
        "block": None if block is None else {"text": block.text, "verdict": block.verdict, "actual": block.actual},
        "findings": findings,
        "verdict": row.verdict,
    }


def scores(item: Object) -> Object:
    """A candidate's score with every named part, null where it was not recorded."""
    said = recorded.obj(item, "score")
    return {**dict.fromkeys(SCORES), **said}


def one(line: Object, citation: str) -> tuple[Object, recorded.Seen]:
    """The item a citation leads to, and its text; raises :class:`Refused`."""
    items = recorded.objects(recorded.body_of(line), "selectedItems")
    for item, seen in zip(items, recorded.seen(line), strict=True):
        if seen.citation == citation:
            return item, seen
    labels = ", ".join(str(item.get("citationId")) for item in items[:10])
    raise Refused(f"this snapshot has no citation {citation!r}", f"it has: {labels}" if labels else "it has none")


def show(call: Call, archive: Archive, row: SnapshotRow, citation: str | None, raw: bool) -> int:
    """Print a snapshot, one of its citations, or (``raw``) the bytes it was recorded in."""
    if raw:
        call.output.raw(archive.snapshots.raw(row.key))
        return 0
    line = archive.snapshots.line(row.key)
    if citation is not None:
        return _citation(call, row, *one(line, citation))
    if call.output.json:
        call.output.document(document(row, line))
    else:
        _print(call, row, line)
    return 0 if row.verdict != "differs" else 1


def _citation(call: Call, row: SnapshotRow, item: Object, seen: recorded.Seen) -> int:
    if call.output.json:
        found = {**item, "visibleText": seen.text, "score": scores(item), "verdict": seen.verdict}
        call.output.document({"snapshot": row.id, "address": f"snapshot/{row.uid}/{seen.citation}", **found})
    else:
        call.output.say(f"[{seen.citation}]  {item.get('sourceRef') or 'source not recorded'}")
        call.output.say(f"{HASH_MARKS[seen.verdict]}  recorded {seen.expected or 'no hash'}")
        call.output.say()
        call.output.say("its text was not recorded" if seen.text is None else seen.text)
    return 0 if seen.verdict != "differs" else 1


def _print(call: Call, row: SnapshotRow, line: Object) -> None:
    from affidavit.retrieval.misleading import WAYS, misled

    body = recorded.body_of(line)
    say = call.output.say
    say(f"snapshot {row.id}")
    if row.question:
        say(f"asked: {row.question}")
    at = moment(row.at) if row.at is not None else "time not recorded"
    of = f"session/{row.session_uid}" if row.session_uid else "of no session"
    say(f"{row.purpose or 'purpose not recorded'} · {at} · {of} · request {row.request or 'not recorded'}")
    say()
    counts = recorded.counts(body)
    for name, words in STEPS:
        value = counts[name]
        say(f"{words:<9} {'not recorded' if value is None else number(value)}")
    say()
    seen = list(recorded.seen(line))
    items = recorded.objects(body, "selectedItems")
    if items:
        call.output.table(SELECTED, [_selected(item, one) for item, one in zip(items, seen, strict=True)])
        say()
    rejected = recorded.objects(body, "rejectedItems")
    if rejected:
        call.output.table(REJECTED, [_rejected(item) for item in rejected])
        say()
    elif counts["recalled"]:
        say("what was turned away is not recorded by name")
        say()
    for finding in misled(line):
        word = "caught" if finding.caught else "!"
        say(f"{word} {WAYS[finding.way]}: {finding.source_ref or finding.candidate_id}  {finding.detail}")
    for item, one in zip(items, seen, strict=True):
        say(f"[{one.citation}] {item.get('sourceRef') or 'source not recorded'}")
        say("its text was not recorded" if one.text is None else one.text)
        say()
    block = recorded.block_seen(line)
    if block is not None and block.text is not None:
        say(f"the whole block the model was given: {HASH_MARKS[block.verdict]}")
    call.output.tell(f"{plural(len(items), 'item')} visible, {number(len(rejected))} turned away by name")


STEPS = (
    ("recalled", "found"), ("filtered", "filtered"), ("rankedOut", "ranked"), ("trimmed", "trimmed"),
    ("selected", "visible"),
)  # fmt: skip


def _selected(item: Object, one: recorded.Seen) -> tuple[str, ...]:
    tokens = item.get("tokens")
    return (
        f"[{one.citation}]", _text(item, "evidenceKind"), _text(item, "sourceRef"), _text(item, "authority"),
        score(item), number(tokens) if type(tokens) is int else "?", _text(item, "selectedReason"),
        HASH_MARKS[one.verdict],
    )  # fmt: skip


def _rejected(item: Object) -> tuple[str, ...]:
    return (
        _text(item, "candidateId"), _text(item, "sourceRef"), recorded.stage_of(item) or "?", _text(item, "reason"),
        score(item),
    )  # fmt: skip


def score(item: Object) -> str:
    """A candidate's total score in words."""
    total = recorded.obj(item, "score").get("total")
    return f"{total:.2f}" if isinstance(total, (int, float)) and not isinstance(total, bool) else "?"


def _text(item: Object, key: str) -> str:
    return recorded.word(item, key) or "?"
