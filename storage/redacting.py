"""What goes when something is redacted: the records that say it, and what was cut from them for a model to see.

A snapshot's visible texts are cut from its sources. One that shows a text of an erased event, artifact or file is
erased with it, whole: of a record nothing but its envelope can be kept.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, NamedTuple

from affidavit.session.event import event_hex
from storage.ledger import Clock
from storage.numbers import number, place_of, record_number
from storage.queries.connection import ReadConnection
from storage.queries.records import RecordError
from storage.redact import redact
from storage.refold import Progress
from storage.segments import SALT
from storage.store import Store
from storage.workspace.erasing import erase

if TYPE_CHECKING:
    from storage.queries.snapshots import Snapshots


class Doomed(NamedTuple):
    """What a redaction will erase. ``records``: of segments, by the number of their first event; ``texts``: files of
    workspaces by the SHA-256 of what they said; ``snapshots``: uids of snapshots among the records, because they show a
    text cut from what is erased."""

    records: tuple[int, ...]
    texts: tuple[bytes, ...]
    snapshots: tuple[str, ...]


class Gone(NamedTuple):
    """What was erased: numbers of the redaction entries, records and texts of files."""

    entries: tuple[int, ...]
    records: int
    texts: int


def records_of_session(link: ReadConnection, session: int) -> list[int]:
    """Every record of a session: those its events stand in, and all of files that speak of no other session."""
    found = {record_number(n) for (n,) in link.rows("SELECT n FROM event WHERE session = ?", (session,))}
    found |= {record_number(n) for (n,) in link.rows("SELECT n FROM unreadable WHERE session = ?", (session,))}
    found |= {record_number(n) for (n,) in link.rows("SELECT n FROM snapshot WHERE session = ?", (session,))}
    for (source,) in link.rows("SELECT no FROM source WHERE session = ?", (session,)):
        segments = link.rows("SELECT entry, records FROM segment WHERE source = ?", (source,))
        shared = any(
            link.value(
                "SELECT 1 FROM event WHERE n >= ? AND n < ? AND session <> ? LIMIT 1",
                (number(entry, 0), number(entry + 1, 0), session),
            )
            for entry, _ in segments
        )
        if not shared:
            found |= {number(entry, record) for entry, records in segments for record in range(records)}
    return sorted(found)


def standing(link: ReadConnection, records: Iterable[int]) -> list[int]:
    """Those of the records that were not erased before."""
    salts: dict[int, bytes] = {}
    left = []
    for key in sorted({record_number(key) for key in records}):
        entry, record, _ = place_of(key)
        if entry not in salts:
            salts[entry] = link.value("SELECT salts FROM segment WHERE entry = ?", (entry,)) or b""
        if any(salts[entry][record * SALT : (record + 1) * SALT]):
            left.append(key)
    return left


def doom(link: ReadConnection, snapshots: Snapshots, records: Iterable[int], texts: Iterable[bytes] = ()) -> Doomed:
    """What is to be erased for some records and texts of files: these, and every snapshot that shows a part of them."""
    wanted = set(standing(link, records))
    texts = tuple(dict.fromkeys(texts))
    names = {f"sha256:{digest.hex()}" for digest in texts}
    for key in sorted(wanted):
        span = (key, key + (1 << 22))
        names |= {event_hex(id) for (id,) in link.rows("SELECT id FROM event WHERE n >= ? AND n < ?", span)}
        names |= {f"sha256:{one.hex()}" for (one,) in link.rows("SELECT digest FROM artifact WHERE n = ?", (key,))}
    shown = []
    for key in snapshots.keys():  # noqa: SIM118 - the list, which knows its keys
        if key in wanted or not names:
            continue
        try:
            line = snapshots.line(key)
        except RecordError:
            continue  # erased before: it shows nothing
        if names & _shown(line):
            row = snapshots.row(key)
            wanted.add(record_number(key))
            shown.append(row.uid if row is not None else str(key))
    return Doomed(tuple(sorted(wanted)), texts, tuple(shown))


def _shown(line: dict[str, Any]) -> set[str]:
    """What a snapshot's selected items name as their sources: by reference, version or digest."""
    snapshot = line.get("snapshot", line)
    items = snapshot.get("selectedItems") if isinstance(snapshot, dict) else None
    found: set[str] = set()
    for item in items if isinstance(items, list) else ():
        if isinstance(item, dict):
            said = (item.get("sourceRef"), item.get("sourceVersion"), item.get("sourceDigest"))
            found |= {one for one in said if isinstance(one, str)}
            found |= {one.rpartition("#")[2] for one in found if one.startswith("session/")}
    return found


def carry_out(
    store: Store, doomed: Doomed, *, actor: str, reason: str, clock: Clock, progress: Progress | None = None
) -> Gone:
    """Erase it all. Killed between the two steps, it is to be asked for again: what is gone is passed over."""
    entries: list[int] = []
    records = 0
    if doomed.records:
        done = redact(store, doomed.records, actor=actor, reason=reason, clock=clock, progress=progress)
        entries.append(done.entry)
        records = done.records
    if doomed.texts:
        entries += erase(store, doomed.texts, actor=actor, reason=reason, clock=clock)
    return Gone(tuple(entries), records, len(doomed.texts))
