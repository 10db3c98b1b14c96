"""Proposing what imported sessions hold: events in, lines of candidates out, none twice."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from typing import Any, NamedTuple

from affidavit.memory.extracting import LOOKED_AT, Found, Seen, found_in, together
from affidavit.proof.canonical import canonical
from affidavit.session.event import event_hex
from affidavit.text.normal import normal
from storage.archive import Archive
from storage.folds.governed import candidate_uid
from storage.queries.filters import EventFilter
from storage.queries.models import EventDetail, SessionRow
from storage.readers.rules import OTHER, kind_of


class Suggested(NamedTuple):
    """A candidate's line, the rule that made it, and whether it is to be taken in: not where one was decided about."""

    line: dict[str, Any]
    rule: str
    known: bool


def suggestions(archive: Archive, sessions: Iterable[SessionRow], now: datetime) -> list[Suggested]:
    """What sessions propose. ``now``: when they are asked; an event's own time goes before it."""
    scopes: dict[tuple[str, str], list[tuple[str, Found]]] = {}
    times: dict[str, int] = {}
    for session in sessions:
        repo = ("repo", session.project or "")
        for one in found_in(_seen(archive, session, times), _is_rule_file):
            scope = ("task", session.uid) if one.once else repo
            scopes.setdefault(scope, []).append((session.uid, one))
    return [_suggested(archive, scope, one, times, now) for scope, found in scopes.items() for one in together(found)]


def _is_rule_file(path: str) -> bool:
    return kind_of(path) not in (None, OTHER)


def _seen(archive: Archive, session: SessionRow, times: dict[str, int]) -> Iterator[Seen]:
    """The chosen events of a session, as rules look at them; copies of another session's history are left out."""
    called: dict[int, EventDetail] = {}
    for detail in archive.iter_events(session.key, EventFilter(kinds=LOOKED_AT, abandoned=False)):
        row = detail.row
        if "inherited" in row.flags or detail.withheld_by is not None:
            continue
        if row.kind == "tool.intent":
            called[row.key] = detail
        intent = called.get(row.pair) if row.pair is not None and row.kind != "tool.intent" else None
        address = f"session/{session.uid}#{event_hex(row.id)}"
        if row.at is not None:
            times[address] = row.at
        refs = detail.refs or (intent.refs if intent is not None else ())
        command = intent.text if intent is not None and row.kind == "verification" else ""
        yield Seen(address, row.kind, row.actor, detail.text, refs, row.tool, row.ok, command)


def _suggested(archive: Archive, scope: tuple[str, str], one: Found, times: dict[str, int], now: datetime) -> Suggested:
    said = "\0".join((*scope, normal(one.content).text))
    id = "extracted-" + hashlib.sha256(said.encode("utf-8", "surrogatepass")).hexdigest()[:24]
    at = times.get(one.events[0])
    moment = now if at is None else datetime.fromtimestamp(at / 1_000_000, UTC)
    line = {
        "type": "memory.candidate",
        "id": id,
        "content": _clean(one.content),
        "kind": one.kind,
        "scope": {"level": scope[0], "key": _clean(scope[1][:512])},
        "source": {
            "type": one.source,
            "eventIds": list(one.events),
            "artifactRefs": [_clean(ref[:512]) for ref in one.artifacts if ref],
        },
        "confidence": "low",
        "status": "pending",
        "createdAt": moment.isoformat(timespec="milliseconds"),
        "createdBy": "runtime",
        "traceRefs": [f"rule:{one.rule}"],
    }
    return Suggested(line, one.rule, _known(archive, line))


def _known(archive: Archive, line: dict[str, Any]) -> bool:
    """Whether somebody decided about it, or it stands in the store as it is."""
    from affidavit.memory.lines import candidate_of

    rows = archive.governed.find_candidates(candidate_uid("", line["id"]))
    if not rows:
        return False
    origin = hashlib.sha256(canonical(candidate_of(line).document())).hexdigest()
    return any(row.entry is not None or row.origin == origin for row in rows)


def _clean(text: str) -> str:
    """A text without halves of surrogate pairs."""
    return text.encode("utf-8", "replace").decode()
