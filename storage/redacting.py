"""What goes when something is redacted: the records that say it, and what was cut from them for a model to see.

A snapshot's visible texts are cut from its sources. One that shows a text of an erased event, artifact or file is
erased with it, whole: of a record nothing but its envelope can be kept.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, NamedTuple

import orjson

from affidavit.policy.actors import Actor, Refusal, refused
from affidavit.session.event import event_hex
from storage.driver import Connection
from storage.ledger import Clock
from storage.numbers import number, place_of, record_number
from storage.queries import policy
from storage.queries.connection import ReadConnection
from storage.queries.records import RecordError, Records
from storage.redact import redact
from storage.refold import Progress
from storage.said_elsewhere import LEAST_SAID, copies_of, same_elsewhere, texts_of
from storage.segments import SALT
from storage.store import Store
from storage.workspace.erasing import erase

if TYPE_CHECKING:
    from storage.queries.snapshots import Snapshots


class Doomed(NamedTuple):
    """What a redaction will erase. ``records``: of segments, by the number of their first event; ``texts``: files of
    workspaces by the SHA-256 of what they said; ``snapshots``: uids of snapshots among the records, because they show a
    text cut from what is erased. ``payloads``: contents of entries, by commitment. ``copies``: (file, line) of records
    that repeat one of these and go with it. ``elsewhere``: addresses of events that say the same and stay."""

    records: tuple[int, ...]
    texts: tuple[bytes, ...]
    snapshots: tuple[str, ...]
    payloads: tuple[bytes, ...] = ()
    copies: tuple[tuple[str, int], ...] = ()
    elsewhere: tuple[str, ...] = ()


class Denied(Exception):
    """Whoever asked may not erase; ``refusal`` says why."""

    def __init__(self, refusal: Refusal) -> None:
        super().__init__(refusal.reason)
        self.refusal = refusal


ERASABLE = {"policy.change": ("policy", "actor", "reason")}
"""Types of entries whose contents are erased alone, with their roles. Decisions go when a memory is forgotten."""


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


def contents_of(link: ReadConnection, entry: int) -> list[bytes] | None:
    """Commitments of an entry's contents that can be erased and still stand; ``None``: its type is not erased alone."""
    read = orjson.loads(link.value("SELECT entry FROM ledger_entry WHERE idx = ?", (entry,)))
    roles = ERASABLE.get(read["type"])
    if roles is None:
        return None
    commits = [bytes.fromhex(ref["commit"]) for ref in read["refs"] if ref["role"] in roles]
    return [commit for commit in commits if link.row('SELECT 1 FROM payload WHERE "commit" = ?', (commit,))]


def doom(
    link: ReadConnection,
    snapshots: Snapshots,
    reading: Records,
    records: Iterable[int],
    texts: Iterable[bytes] = (),
    payloads: Iterable[bytes] = (),
) -> Doomed:
    """What is to be erased for some records, texts of files and contents: these, and every snapshot that shows a part.

    A snapshot shows a part where it names one of these as a source, or where a text it shows stands in one.
    """
    wanted = set(standing(link, records))
    texts = tuple(dict.fromkeys(texts))
    names = {f"sha256:{digest.hex()}" for digest in texts}
    for key in sorted(wanted):
        span = (key, key + (1 << 22))
        names |= {event_hex(id) for (id,) in link.rows("SELECT id FROM event WHERE n >= ? AND n < ?", span)}
        names |= {f"sha256:{one.hex()}" for (one,) in link.rows("SELECT digest FROM artifact WHERE n = ?", (key,))}
    said = texts_of(link, reading, wanted)
    whole = "\0".join(sorted(said))
    copies = tuple(copies_of(link, reading, sorted(wanted)))
    elsewhere = tuple(same_elsewhere(link, reading, set(wanted), said))
    shown = []
    for key in snapshots.keys():  # noqa: SIM118 - the list, which knows its keys
        if record_number(key) in wanted or not names:
            continue
        try:
            line = snapshots.line(key)
        except RecordError:
            continue  # erased before: it shows nothing
        if names & _shown(line) or _cut_from(line, whole):
            row = snapshots.row(key)
            wanted.add(record_number(key))
            shown.append(row.uid if row is not None else str(key))
    return Doomed(tuple(sorted(wanted)), texts, tuple(shown), tuple(payloads), copies, elsewhere)


def _cut_from(line: dict[str, Any], whole: str) -> bool:
    """Whether a snapshot shows a text of some length that stands in ``whole``."""
    from affidavit.retrieval import recorded

    texts = [one.text for one in recorded.seen(line)]
    return any(text is not None and len(text) >= LEAST_SAID and text in whole for text in texts)


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
    store: Store, doomed: Doomed, *, actor: Actor, reason: str, clock: Clock, progress: Progress | None = None
) -> Gone:
    """Erase it all. Killed between the two steps, it is to be asked for again: what is gone is passed over.

    Raises :class:`Denied` where the policy in force does not let this person; then nothing changes.
    """

    def allowed(connection: Connection) -> None:
        no = refused(actor, policy.standing(connection, store.path).reviewers)
        if no is not None:
            raise Denied(no)

    allowed(store.connection)
    entries: list[int] = []
    records = 0
    if doomed.records or doomed.payloads:
        done = redact(
            store,
            doomed.records,
            actor=actor.name,
            reason=reason,
            clock=clock,
            progress=progress,
            payloads=doomed.payloads,
            allowed=allowed,
        )
        entries.append(done.entry)
        records = done.records
    if doomed.texts:
        entries += erase(store, doomed.texts, actor=actor.name, reason=reason, clock=clock)
    return Gone(tuple(entries), records, len(doomed.texts))
