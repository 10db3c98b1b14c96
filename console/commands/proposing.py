"""``affidavit propose --from``: what recorded sessions hold that may be worth remembering."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from console.commands.call import Call, Refused
from console.commands.resolve import find_session
from console.output import Column
from console.words import plural

if TYPE_CHECKING:
    from storage.archive import Archive
    from storage.queries.models import SessionRow

PROPOSED = (
    "proposed[{id, rule, content, kind, scope{level, key}, source{type, eventIds[], artifactRefs[]}, confidence, "
    "status, createdAt, createdBy, traceRefs[]}], known, recorded"
)
COLUMNS = (
    Column("rule"),
    Column("kind", spare=2),
    Column("source", spare=1),
    Column("scope", shrinks=True, least=10, spare=3),
    Column("events", right=True),
    Column("content", shrinks=True, least=24),
)


def propose_from(call: Call, names: tuple[str, ...], *, dry_run: bool) -> int:
    """Propose what sessions hold, all of them where none is named; a dry run records nothing."""
    from storage.extracting import suggestions
    from storage.recording import record_lines
    from storage.store import Store

    now = datetime.now(UTC)
    with call.archive() as archive:
        sessions = [_session(archive, name) for name in names] or list(_every(archive))
        found = suggestions(archive, sessions, now)
    fresh = [one for one in found if not one.known]
    if fresh and not dry_run:
        with Store.open(call.store, create=True) as store:
            record_lines(store, "propose", [one.line for one in fresh], clock=lambda: datetime.now(UTC))
    if call.output.json:
        call.output.document(
            {
                "proposed": [
                    {"rule": one.rule, **{name: value for name, value in one.line.items() if name != "type"}}
                    for one in fresh
                ],
                "known": len(found) - len(fresh),
                "recorded": not dry_run,
            }
        )
        return 0
    if fresh:
        call.output.table(
            COLUMNS,
            [
                (
                    one.rule,
                    one.line["kind"],
                    one.line["source"]["type"],
                    f"{one.line['scope']['level']}:{one.line['scope']['key']}",
                    str(len(one.line["source"]["eventIds"])),
                    one.line["content"],
                )
                for one in fresh
            ],
        )
    by_rule = ", ".join(f"{count} {rule}" for rule, count in sorted(Counter(one.rule for one in fresh).items()))
    told = f"{plural(len(fresh), 'candidate')} {'would be ' if dry_run else ''}proposed"
    known = f"; {len(found) - len(fresh)} known already" if len(found) > len(fresh) else ""
    call.output.tell(told + (f": {by_rule}" if by_rule else "") + known)
    return 0


def _session(archive: Archive, name: str) -> SessionRow:
    id = name.removeprefix("session/")
    if not id or "#" in id or "/" in id:
        raise Refused(f"--from takes session/ID; not {name!r}")
    return find_session(archive, id)


def _every(archive: Archive) -> Iterator[SessionRow]:
    cursor: tuple[object, ...] | None = None
    while True:
        page = archive.sessions(cursor=cursor, limit=200)
        yield from page.rows
        if page.after is None:
            return
        cursor = page.after
