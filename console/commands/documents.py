"""The JSON that commands print: one function a shape, keys as documented, values as the store holds them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from affidavit.session.event import event_hex
from affidavit.session.times import iso

if TYPE_CHECKING:
    from storage.queries.models import EventDetail, EventRow, Hit, SessionRow, SourceSpan, Tokens, Total


def tokens(counted: Tokens) -> dict[str, int]:
    """Tokens as the provider reported them."""
    return {
        "input": counted.input,
        "output": counted.output,
        "cacheRead": counted.cache_read,
        "cacheWrite": counted.cache_write,
    }


def session(row: SessionRow) -> dict[str, Any]:
    """One session as ``sessions`` and ``show`` print it."""
    return {
        "id": row.uid,
        "nativeId": row.native,
        "agent": row.agent,
        "title": row.title,
        "startedAt": iso(row.started),
        "endedAt": iso(row.ended),
        "events": row.events,
        "turns": row.turns,
        "lanes": row.lanes,
        "branches": row.branches,
        "parent": None if row.parent is None else {"nativeId": row.parent, "relation": row.relation},
        "models": list(row.models),
        "tokens": tokens(row.tokens),
        "unreadable": row.unreadable,
        "flags": list(row.flags),
    }


def event_address(session_uid: str, id: int) -> str:
    """The address that names an event in every store."""
    return f"session/{session_uid}#{event_hex(id)}"


def event(detail: EventDetail, session_uid: str, index: int) -> dict[str, Any]:
    """One event as ``show`` prints it: its text whole, and where the bytes it was read from stood."""
    document = _event(detail.row, session_uid, index, detail.text, list(detail.refs), _span(detail.source))
    return {**document, "copiesAt": [_span(place) for place in detail.copies]}


def damaged(row: EventRow, session_uid: str, index: int) -> dict[str, Any]:
    """An event whose bytes cannot be read any more: what the tables say of it, without text and source."""
    return {**_event(row, session_uid, index, None, [], None), "copiesAt": []}


def _span(place: SourceSpan) -> dict[str, Any]:
    return {"file": place.file, "line": place.line, "offset": place.offset, "length": place.length}


def _event(
    row: EventRow, session_uid: str, index: int, text: str | None, refs: list[str], source: dict[str, Any] | None
) -> dict[str, Any]:
    return {
        "id": event_hex(row.id),
        "address": event_address(session_uid, row.id),
        "index": index,
        "kind": row.kind,
        "turn": row.turn,
        "lane": row.lane,
        "branch": row.branch,
        "at": iso(row.at),
        "parent": None if row.parent is None else event_hex(row.parent),
        "actor": row.actor,
        "tool": row.tool,
        "summary": row.summary,
        "text": text,
        "refs": refs,
        "model": row.model,
        "tokens": None if row.tokens is None else tokens(row.tokens),
        "inferred": row.inferred,
        "abandoned": row.abandoned,
        "flags": list(row.flags),
        "copies": row.copies,
        "source": source,
    }


def hit(found: Hit) -> dict[str, Any]:
    """One search hit."""
    return {
        "address": event_address(found.session_uid, found.id),
        "kind": found.kind,
        "at": iso(found.at),
        "excerpt": found.excerpt,
    }


def total(count: Total) -> dict[str, Any]:
    """A count; ``exact`` is false where counting stopped early."""
    return {"value": count.value, "exact": count.exact}
