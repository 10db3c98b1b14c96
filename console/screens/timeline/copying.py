"""What can be copied of events, made in a reading thread."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from hashlib import sha256
from typing import TYPE_CHECKING

from console.screens.event_pane.bytes import HexDump
from console.screens.event_pane.facts import address
from console.screens.sessions.columns import AGENTS
from console.screens.view import Copy
from console.widgets import figures
from console.widgets.safe import Outside

if TYPE_CHECKING:
    from console.screens.event_pane.pane import Form
    from storage.archive import Archive
    from storage.queries.models import EventDetail, SessionRow

MOST = 500
"""Marked events copied at once."""


def copies_of(
    archive: Archive,
    session: SessionRow,
    keys: Sequence[int],
    outside: Outside,
    command: Callable[[str], str],
) -> list[Copy]:
    """Text, address, command, citation, hash and JSON of one event or of several marked ones."""
    details = [archive.detail(key) for key in keys[:MOST]]
    addresses = [address(session.uid, detail.row) for detail in details]
    return [
        Copy("text", "text", "\n\n".join(outside.block(detail.text) for detail in details)),
        Copy("address", "address", "\n".join(addresses)),
        Copy("command", "command that opens it", "\n".join(map(command, addresses))),
        Copy("citation", "citation", "\n".join(_citation(session, detail, outside) for detail in details)),
        Copy("hash", "SHA-256 of the recorded bytes", "\n".join(_hash(archive, detail) for detail in details)),
        Copy("json", "JSON", _json(session, details, outside)),
    ]


def _citation(session: SessionRow, detail: EventDetail, outside: Outside) -> str:
    agent = AGENTS.get(session.agent) or outside.line(session.agent)
    said = outside.line(detail.row.summary, 120)
    where = address(session.uid, detail.row)
    return f"“{said}” ({agent}, {figures.moment(detail.row.at)}, {where}, entry {detail.source.entry})"


def _hash(archive: Archive, detail: EventDetail) -> str:
    if detail.withheld_by is not None:
        return f"withheld by entry {detail.withheld_by}"
    return sha256(archive.raw(detail.row.key)).hexdigest()


def _json(session: SessionRow, details: Sequence[EventDetail], outside: Outside) -> str:
    told = [
        {
            "address": address(session.uid, detail.row),
            "kind": detail.row.kind,
            "actor": detail.row.actor,
            "turn": detail.row.turn,
            "lane": detail.row.lane,
            "branch": detail.row.branch,
            "at": figures.iso(detail.row.at),
            "tool": outside.line(detail.row.tool) or None,
            "text": outside.block(detail.text),
            "refs": [outside.line(ref) for ref in detail.refs],
            "flags": list(detail.row.flags),
            "source": {
                "file": outside.line(detail.source.file),
                "line": detail.source.line,
                "offset": detail.source.offset,
                "length": detail.source.length,
            },
            "entry": detail.source.entry,
        }
        for detail in details
    ]
    return json.dumps(told if len(told) > 1 else told[0], ensure_ascii=False, indent=2)


def whole_text(archive: Archive, key: int, form: Form, outside: Outside) -> str:
    """The event as the pane shows it, for a pager."""
    if form == "text":
        return outside.block(archive.detail(key).text)
    data = archive.raw(key)
    if form == "hex":
        return "\n".join(HexDump(data))
    return outside.block(data.decode("utf-8", "backslashreplace"))
