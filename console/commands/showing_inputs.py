"""Showing what a model had in front of it: of one request, and as a retrieval that a foreign log implies."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from affidavit.context.seen import NOT_RECORDED
from affidavit.session.event import event_hex
from affidavit.session.times import iso
from affidavit.text.tokens import METHOD
from affidavit.trace.replay import RESULTS
from console.commands import documents
from console.commands.call import Call, Refused
from console.output import Column
from console.words import HASH_MARKS, count, number, plural

if TYPE_CHECKING:
    from affidavit.context.failures import Found
    from storage.archive import Archive
    from storage.queries.inputs import Block, Inputs, ModelInput
    from storage.queries.models import EventRow, SessionRow
    from storage.queries.requests import Request

Object = dict[str, Any]

BLOCKS = (
    Column("#", right=True), Column("trust"), Column("source"), Column("new", spare=2), Column("event", spare=3),
    Column("tokens", right=True), Column("words", shrinks=True, least=20),
)  # fmt: skip

DERIVED = "x"
"""What the id of a snapshot begins with that no program recorded; the id of its request's first event follows."""


def find_request(inputs: Inputs, session: SessionRow, number: int) -> Request:
    """The ``number``-th request; raises :class:`Refused`."""
    request = inputs.requests.numbered(number)
    if request is None:
        has = plural(inputs.requests.count(), "request")
        raise Refused(f"there is no request {number} in session/{session.uid}, which has {has}")
    return request


def document(session: SessionRow, given: ModelInput, findings: Sequence[Found]) -> Object:
    """A model input as ``show context/…`` prints it."""
    request = given.request
    return {
        "address": f"context/{session.uid}/{request.number}",
        "session": session.uid,
        "request": request.number,
        "requests": given.requests,
        "knownFrom": request.known_from,
        "event": documents.event_address(session.uid, request.row.id),
        "turn": request.row.turn,
        "lane": request.row.lane,
        "at": iso(request.row.at),
        "model": request.row.model,
        "derived": given.recorded is None,
        "replaced": given.replaced,
        "estimatedTokens": given.tokens,
        "tokenMethod": METHOD,
        "reportedTokens": None if given.reported is None else documents.tokens(given.reported),
        "blocks": [_block(session, number, block) for number, block in enumerate(given.blocks, 1)],
        "snapshots": [
            {"id": row.id, "address": f"snapshot/{row.uid}", "verdict": row.verdict} for row in given.snapshots
        ],
        "modelInput": _recorded(given),
        "findings": [{"kind": found.kind, "events": list(found.ids), "detail": found.detail} for found in findings],
        "notRecorded": list(NOT_RECORDED if given.recorded is None else given.replay.missing),
    }


def _recorded(given: ModelInput) -> Object | None:
    if given.recorded is None:
        return None
    return {
        "ref": given.recorded.input_ref,
        "text": given.text,
        "contextHash": given.recorded.context_hash,
        "actual": given.replay.actual,
        "verdict": given.replay.verdict,
        "visibleTools": None if given.recorded.tools is None else list(given.recorded.tools),
    }


def _block(session: SessionRow, number: int, block: Block) -> Object:
    return {
        "number": number,
        "address": documents.event_address(session.uid, block.row.id),
        "kind": block.row.kind,
        "source": block.placed.source,
        "trust": block.placed.trust,
        "mode": block.placed.mode,
        "fetched": block.placed.fetched,
        "new": block.new,
        "tokens": block.tokens,
        "hash": block.hash,
        "text": block.text,
        "problem": block.problem,
    }


def replay_document(session: SessionRow, given: ModelInput, findings: Sequence[Found]) -> Object:
    """A replayed request as ``replay`` prints it."""
    replay = given.replay
    return {**document(session, given, findings), "result": replay.result, "missing": list(replay.missing)}


def show(
    call: Call, session: SessionRow, given: ModelInput, findings: Sequence[Found], *, replay: bool = False
) -> None:
    """Print what a model had in front of it."""
    if call.output.json:
        call.output.document((replay_document if replay else document)(session, given, findings))
        return
    from affidavit.context.failures import FAILURES

    ways: dict[str, str] = {str(kind): words for kind, words in FAILURES.items()}
    request = given.request
    say = call.output.say
    say(f"context/{session.uid}/{request.number}  {session.title}")
    lane = "main" if request.row.lane == 0 else f"lane {request.row.lane}"
    model = request.row.model or "model not recorded"
    say(f"  request {request.number} of {given.requests} · turn {request.row.turn} · {lane} · {model}")
    say(f"  ~ worked out from the log; requests are known from its {request.known_from}" * (given.recorded is None))
    tokens = f"  about {count(given.tokens)} tokens in {plural(len(given.blocks), 'text')}"
    if given.reported is not None:
        reported = given.reported.input + given.reported.cache_read + given.reported.cache_write
        tokens += f" · the provider counted {count(reported)}, with what no log holds"
    say(tokens)
    if given.replaced:
        say(f"  {plural(given.replaced, 'older event')} before the last compaction no longer stood in front of it")
    if replay:
        say(f"  replay: {given.replay.result}, {RESULTS[given.replay.result]}")
    for missing in given.replay.missing:
        say(f"  ? {missing}")
    if given.replay.verdict is not None:
        say(f"  {HASH_MARKS[given.replay.verdict]}  context hash")
    for found in findings:
        say(f"  ! {ways.get(found.kind, found.kind)}: {found.detail}")
    for row in given.snapshots:
        say(f"  ⌕ snapshot/{row.uid}  {row.id}  {HASH_MARKS.get(row.verdict or '', '– none')}")
    say()
    call.output.table(BLOCKS, [_cells(number, block) for number, block in enumerate(given.blocks, 1)])
    if given.text is not None:
        say()
        say(given.text)


def _cells(at: int, block: Block) -> tuple[str, ...]:
    words = block.row.summary if block.problem is None else f"✗ {block.problem}"
    return (
        str(at), block.placed.trust or "its own words", block.placed.source, "new" if block.new else "",
        f"#{event_hex(block.row.id)[:8]}", number(block.tokens), words,
    )  # fmt: skip


def derived_id(request: Request) -> str:
    """The id of the snapshot a foreign log implies for a request."""
    return DERIVED + event_hex(request.row.id)


def derived_row(session: SessionRow, request: Request, rows: Sequence[EventRow]) -> Object:
    """A derived snapshot as ``snapshots`` prints it: what reached the model is known, what was left out is not."""
    return {
        "id": derived_id(request),
        "uid": derived_id(request),
        "address": f"snapshot/{derived_id(request)}",
        "session": session.uid,
        "purpose": None,
        "question": "",
        "at": iso(request.row.at),
        "derived": True,
        "modelRequestId": f"context/{session.uid}/{request.number}",
        "candidateStats": {
            "recalled": None, "filtered": None, "rankedOut": None, "trimmed": None, "selected": len(rows),
            "redacted": None,
        },
        "sources": sorted({row.tool or row.kind for row in rows}),
        "reasons": [],
        "verdict": "hash_not_recorded",
    }  # fmt: skip


def derived_document(session: SessionRow, given: ModelInput) -> Object:
    """A derived snapshot whole, as ``show snapshot/…`` prints it."""
    blocks = [block for block in given.blocks if block.placed.fetched and block.new]
    about = derived_row(session, given.request, [block.row for block in blocks])
    items = [_item(session, number, block) for number, block in enumerate(blocks, 1)]
    return {
        **about,
        "selectedItems": items,
        "rejectedItems": [],
        "rejected": "not recorded",
        "budget": None,
        "contextProjection": {
            "visibleTextHash": None,
            "citationMap": {
                item["citationId"]: {"snapshotItemId": item["candidateId"], "sourceRef": item["sourceRef"]}
                for item in items
            },
        },
    }


def _item(session: SessionRow, number: int, block: Block) -> Object:
    return {
        "candidateId": event_hex(block.row.id),
        "sourceRef": documents.event_address(session.uid, block.row.id),
        "capturedAt": iso(block.row.at),
        "evidenceKind": "session-event",
        "source": block.row.tool or block.row.kind,
        "selectedReason": "not recorded",
        "visibleText": block.text,
        "visibleTextHash": None,
        "actualHash": block.hash,
        "citationId": f"event#{number}",
        "tokens": block.tokens,
        "trust": block.placed.trust,
        "verdict": "hash_not_recorded" if block.text is not None else "text_missing",
        "problem": block.problem,
    }


def is_derived(id: str) -> bool:
    """Whether an id is one of a derived snapshot, whole."""
    digits = id[len(DERIVED) :].lower()
    return id[:1] == DERIVED and len(digits) == 16 and all(digit in "0123456789abcdef" for digit in digits)


def find_derived(archive: Archive, id: str) -> tuple[SessionRow, ModelInput]:
    """The request whose derived snapshot an id names, with its input; raises :class:`Refused`."""
    value = int(id[len(DERIVED) :], 16)
    row = archive.event_by_id(value - (1 << 64) if value >> 63 else value)
    if row is None:
        raise Refused(
            f"there is no snapshot {id!r} in this store", "affidavit snapshots --session ID lists those of one"
        )
    session = archive.session(row.session)
    inputs = archive.inputs(row.session)
    request = inputs.requests.at(row)
    if request is None:
        raise Refused(f"no model request of session/{session.uid} saw event {event_hex(row.id)}")
    return session, inputs.input(request)
