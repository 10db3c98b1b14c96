"""What a session's own log says of its rules: the folders its agent worked in, and texts it says it was given."""

from __future__ import annotations

from collections.abc import Iterator
from hashlib import sha256
from typing import Any, Final, NamedTuple

from storage.queries.connection import ReadConnection
from storage.queries.models import EventRow, SessionRow
from storage.queries.records import RecordError, Records
from storage.queries.rules import plain
from storage.queries.timeline import COLUMNS, TABLES, event_row
from storage.segments import parse

MOST: Final = 2_000
"""Events looked at."""

MOST_GIVEN: Final = 200

_INJECTED: Final = (
    "e.kind = 'context.injected' AND (e.summary GLOB 'instructions: *' OR e.summary GLOB '# AGENTS.md*' "
    "OR e.summary GLOB '<user_instructions>*' OR e.summary GLOB '<INSTRUCTIONS>*')"
)
_SETTINGS: Final = "e.kind IN ('session.opened', 'lifecycle')"
"""Codex tells them when a session opens, and in some versions with every turn."""

_GIVEN: Final = "('tool.intent', 'memory.write', 'memory.read')"
"""Events whose summary is the file a tool was given, if it was given one."""

_FIELDS: Final = ("instructions", "user_instructions")


NEAR: Final = 20
"""Events looked at for the folder a session was in at one moment."""


class Evidence(NamedTuple):
    """An event that holds the text of rules. ``path``: the file the log names; Codex names none and gives several files
    as one text."""

    event: EventRow
    path: str | None
    text: str


def evidence(link: ReadConnection, records: Records, session: SessionRow, at: int | None) -> Iterator[Evidence]:
    """What a session was given until a moment, in order; the same text of the same file again is left out."""
    which = f"{_INJECTED} OR {_SETTINGS}" if session.agent == "codex" else _INJECTED
    sql = f"SELECT {COLUMNS} FROM {TABLES} WHERE e.session = ? AND ({which})"
    values: list[object] = [session.key]
    if at is not None:
        sql += " AND e.sort <= ?"
        values.append(at)
    latest: dict[str | None, bytes] = {}
    unnamed = ""
    given = 0
    for row in link.rows(f"{sql} ORDER BY e.sort, e.n LIMIT ?", (*values, MOST)):
        event = event_row(row)
        try:
            found = _injected(records, event) if event.kind == "context.injected" else _told(records, event)
        except RecordError:
            continue  # what cannot be read is told where it stands
        if found is None or not found.text.strip():
            continue
        digest = sha256(found.text.encode("utf-8", "surrogatepass")).digest()
        if latest.get(found.path) == digest:
            continue
        latest[found.path] = digest
        if found.path is None:
            # Codex tells the same rules several times: as a message with words around them, and as a setting.
            if found.text.strip() in unnamed:
                continue
            unnamed = found.text
        yield found
        given += 1
        if given == MOST_GIVEN:
            return


def _injected(records: Records, event: EventRow) -> Evidence | None:
    detail = records.detail(event)
    return Evidence(event, plain(detail.refs[0]) if detail.refs else None, detail.text)


def _told(records: Records, event: EventRow) -> Evidence | None:
    payload = _payload(records, event.key)
    said = next((payload[field] for field in _FIELDS if isinstance(payload.get(field), str)), None)
    return None if said is None else Evidence(event, None, said)


def _payload(records: Records, key: int) -> dict[str, Any]:
    """What the record of an event states; of Codex that is its payload."""
    value, _, reason = parse(records.raw(key))
    record = value if reason is None and isinstance(value, dict) else {}
    payload = record.get("payload", record)
    return payload if isinstance(payload, dict) else {}


def worked_in(link: ReadConnection, records: Records, session: SessionRow, at: int | None) -> list[str]:
    """The folders a session was started in and was in at a moment (``None``: its end)."""
    found = [_folder(link, records, session, "ORDER BY e.sort, e.n", ())]
    if at is not None:
        found.append(_folder(link, records, session, "AND e.sort <= ? ORDER BY e.sort DESC, e.n DESC", (at,)))
    return [folder for folder in (*found, session.cwd if at is None or not any(found) else None) if folder]


def touched(link: ReadConnection, session: SessionRow, at: int | None) -> dict[str, int]:
    """Folders with a file that a tool was given until a moment, and the first event that says so."""
    sql = f"""SELECT e.id, e.summary FROM event e WHERE e.session = ? AND e.kind IN {_GIVEN} AND instr(e.summary, '/')
        {"" if at is None else "AND e.sort <= ?"} ORDER BY e.sort, e.n"""
    found: dict[str, int] = {}
    for id, path in link.rows(sql, (session.key,) if at is None else (session.key, at)):
        found.setdefault(plain(path).rpartition("/")[0], id)
    return found


def _folder(
    link: ReadConnection, records: Records, session: SessionRow, where: str, values: tuple[object, ...]
) -> str | None:
    """The first folder that events in some order name."""
    which = f"AND {_SETTINGS}" if session.agent == "codex" else ""
    sql = f"SELECT e.n FROM event e WHERE e.session = ? AND e.lane = 0 {which} {where} LIMIT {NEAR}"
    for (key,) in link.rows(sql, (session.key, *values)):
        try:
            folder = _payload(records, key).get("cwd")
        except RecordError:
            continue
        if isinstance(folder, str) and folder:
            return folder
    return None
