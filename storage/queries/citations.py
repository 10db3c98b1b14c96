"""Citations: what a model wrote or did, led back through the snapshots it was given to the very texts.

Which texts those were is read from what was recorded before the event; nothing is searched.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, Final

from affidavit.context.failures import Found, smells_in
from affidavit.context.seen import EDITS, said_by_model
from affidavit.retrieval import recorded
from affidavit.retrieval.citing import Cited, Given, Kept, Resolved, citations_in, resolve
from affidavit.retrieval.using import Action, Uncited, Unsupported, uncited_uses, unsupported
from storage.numbers import record_number
from storage.queries import holdings
from storage.queries.connection import ReadConnection
from storage.queries.models import EventRow
from storage.queries.records import RecordError, Records
from storage.queries.snapshots import Snapshots
from storage.segments import parse

MOST_SNAPSHOTS: Final = 200
"""Snapshots of a session that are looked at, the latest before the event."""

LARGEST_SOURCE: Final = 4 * 1024 * 1024
"""Bytes of a source that are read to see what was cut from it."""

_LINES = re.compile(r":(\d{1,7})(?:-\d{1,7})?$")
_SHA256 = re.compile(r"sha256:([0-9a-f]{64})")
_WORDS: Final = ("model.message", "model.reasoning")


@dataclass(frozen=True, slots=True)
class Cites:
    """What one event cites, and does not. ``snapshots``: how many it was judged by."""

    snapshots: int
    citations: list[Resolved]
    uncited: list[Uncited]
    unsupported: list[Unsupported]


class Citations:
    """The citations of one session."""

    def __init__(self, link: ReadConnection, records: Records, snapshots: Snapshots, session: int) -> None:
        self._link = link
        self._records = records
        self._snapshots = snapshots
        self._session = session

    def of(self, row: EventRow) -> Cites | None:
        """What a model's words or an action of it cite.

        ``None``: it is neither, cannot be read, or no retrieval was recorded before it.
        """
        if not said_by_model(row):
            return None
        lines = self._before(row)
        if not lines:
            return None
        try:
            detail = self._records.detail(row)
        except RecordError:
            return None  # whoever shows the event says so
        given, kept = self._texts(lines)
        labels = [one.label for one in given]
        cited = citations_in(detail.text, labels)
        citations = [resolve(one, given, kept) for one in cited]
        if row.kind != "tool.intent":
            uncited = uncited_uses(detail.text, given) if row.kind == "model.message" else []
            return Cites(len(lines), citations, uncited, [])
        edits = (row.tool or "").lower() in EDITS
        if not edits:
            return Cites(len(lines), citations, [], [])
        named = citations or [resolve(one, given, kept) for one in self._said_before(row, labels)]
        items = [one.item for one in named if one.item is not None]
        action = Action(tuple(detail.refs), detail.text)
        return Cites(len(lines), citations, [], unsupported(action, items, given))

    def smells(self, row: EventRow) -> list[Found]:
        """What is odd about a recorded decision ledger; of other events nothing."""
        if row.kind != "context.projected":
            return []
        try:
            value, _, _ = parse(self._records.raw(row.key))
        except RecordError:
            return []
        line = value if isinstance(value, dict) else {}
        held = line.get("ledger")
        return smells_in(held if isinstance(held, dict) else line)

    def _before(self, row: EventRow) -> list[dict[str, Any]]:
        """The snapshots of the session that were recorded before an event, the oldest first."""
        sql = f"""SELECT n FROM snapshot WHERE session = ?1
            AND (CASE WHEN timed = 1 AND ?2 IS NOT NULL THEN at <= ?2 ELSE n <= ?3 END)
            ORDER BY at DESC, n DESC LIMIT {MOST_SNAPSHOTS}"""
        keys = [key for (key,) in self._link.rows(sql, (self._session, row.at, record_number(row.key)))]
        lines = []
        for key in reversed(keys):
            try:
                lines.append(self._snapshots.line(key))
            except RecordError:
                continue  # what cannot be read is told where the snapshot itself is shown
        return lines

    def _texts(self, lines: list[dict[str, Any]]) -> tuple[list[Given], list[Kept]]:
        """What the model was given, and of its sources, where they are at hand, what it was not."""
        given: list[Given] = []
        kept: list[Kept] = []
        for line in lines:
            body = recorded.body_of(line)
            id = recorded.word(body, "id") or ""
            items = recorded.objects(body, "selectedItems")
            for item, seen in zip(items, recorded.seen(line), strict=True):
                if seen.citation is None or seen.text is None:
                    continue
                ref = recorded.word(item, "sourceRef") or ""
                lines_named = _LINES.search(ref) if item.get("shortened") is not True else None
                first = int(lines_named[1]) if lines_named else None
                given.append(Given(id, seen.citation, ref, seen.text, first))
                kept += self._cut(item, seen.citation)
        return given, kept

    def _cut(self, item: dict[str, Any], label: str) -> list[Kept]:
        trimming = recorded.obj(item, "trimming")
        digest = _SHA256.fullmatch(str(item.get("sourceDigest")))
        if not item.get("shortened") or trimming.get("of") != "source" or digest is None:
            return []
        data = source_bytes(self._link, digest[1])
        if data is None:
            return []
        parts = []
        for cut in recorded.objects(trimming, "cut"):
            first, last = cut.get("from"), cut.get("to")
            if type(first) is int and type(last) is int:
                parts.append(Kept(f"what was cut from [{label}]", data[first:last].decode("utf-8", "replace")))
        return parts

    def _said_before(self, row: EventRow, labels: list[str]) -> list[Cited]:
        """What the model cited in its last words before an action, in the same lane."""
        sql = f"""SELECT n FROM event WHERE session = ?1 AND lane = ?2 AND kind IN {_WORDS}
            AND (sort < ?3 OR sort = ?3 AND n < ?4) ORDER BY sort DESC, n DESC LIMIT 1"""
        key = self._link.value(sql, (self._session, row.lane, row.sort, row.key))
        if key is None:
            return []
        from storage.queries.timeline import COLUMNS, TABLES, event_row

        found = self._link.row(f"SELECT {COLUMNS} FROM {TABLES} WHERE e.n = ?", (key,))
        try:
            return [] if found is None else citations_in(self._records.detail(event_row(found)).text, labels)
        except RecordError:
            return []


def source_bytes(link: ReadConnection, digest: str) -> bytes | None:
    """The bytes of a source by their SHA-256 (hex), ``None`` where the store does not hold them."""
    for content in holdings.contents(link, digest):
        if content.event is None and content.size <= LARGEST_SOURCE:
            data = b"".join(holdings.chunks(link, content.digest))
            if len(data) == content.size:
                return data
    return None
