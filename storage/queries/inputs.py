"""Model inputs: every text a model had in front of it in one request, read again from the recorded bytes."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from affidavit.context.failures import Found, Text, failures_in
from affidavit.context.seen import EDITS, NOT_RECORDED, OBSERVED, READS, Placed, is_fetched, is_full_compaction, placed
from affidavit.proof.verdict import text_hash
from affidavit.session.event import event_hex
from affidavit.session.prepare import INTENDS
from affidavit.text.tokens import estimate_tokens
from affidavit.trace.replay import Named, Replayed, named, replayed
from storage.queries import holdings
from storage.queries.connection import ReadConnection
from storage.queries.models import EventRow, Tokens
from storage.queries.records import RecordError, Records
from storage.queries.requests import Request, Requests
from storage.queries.snapshots import SnapshotRow, Snapshots
from storage.segments import parse

_DIGEST: Final = re.compile(r"(?:sha256:|payload/)?([0-9a-f]{64})")
LARGEST_INPUT: Final = 64 * 1024 * 1024
"""Bytes of a recorded model input that are read at once."""


@dataclass(frozen=True, slots=True)
class Block:
    """One text in front of a model. ``text`` ``None``: it cannot be had, ``problem`` says why.

    ``tokens``: an estimate; ``hash``: of the text as it stands. ``new``: it came after the request before.
    """

    row: EventRow
    placed: Placed
    text: str | None
    problem: str | None
    tokens: int
    hash: str | None
    new: bool
    refs: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ModelInput:
    """What a model had in front of it in one request.

    ``replaced``: older events that a compaction had replaced. ``tokens``: an estimate over the blocks; ``reported``:
    what the provider counted, with what no log holds. ``recorded``: what the log itself says of the request, if it
    records requests; ``text`` is then its input, ``None`` where it cannot be had.
    """

    request: Request
    requests: int
    replaced: int
    blocks: tuple[Block, ...]
    tokens: int
    reported: Tokens | None
    snapshots: tuple[SnapshotRow, ...]
    recorded: Named | None
    text: str | None
    replay: Replayed


def _text(block: Block, intents: Mapping[int, Block]) -> Text:
    """A block as what looks for failures knows it; a result shows the file its call was about."""
    row = block.row
    call = intents.get(row.pair) if row.pair is not None and row.kind in OBSERVED else None
    shows = call is not None and (call.row.tool or "").lower() in READS and call.refs
    return Text(
        event_hex(row.id),
        block.placed.source,
        block.text or "",
        block.placed.trust,
        block.tokens,
        path=call.refs[0].partition(":")[0] if call is not None and shows else None,
        changes=block.refs if row.kind in INTENDS and (row.tool or "").lower() in EDITS else (),
        compacts=is_full_compaction(row),
    )


class Inputs:
    """The model inputs of one session."""

    def __init__(self, link: ReadConnection, records: Records, snapshots: Snapshots, session: int) -> None:
        self._link = link
        self._records = records
        self._snapshots = snapshots
        self._session = session
        self.requests = Requests(link, session)

    def input(self, request: Request, *, texts: bool = True) -> ModelInput:
        """What stood in front of the model; without ``texts`` the blocks have none, and tokens follow from sizes."""
        rows, replaced = self.requests.in_front(request)
        before = self.requests.previous(request)
        since = (before.sort, before.key) if before is not None else (-(1 << 63), 0)
        blocks = tuple(
            self._block(row, place, (row.sort, row.key) >= since, texts)
            for row, place in zip(rows, placed(rows, self.requests.calls_of(rows)), strict=True)
        )
        recorded, native = self._recorded(request)
        snapshots = self._of(recorded, native)
        if recorded is None:
            snapshots = self._snapshots.between(self._session, None if before is None else before.at, request.row.at)
        text = None if recorded is None else self._input_text(recorded.input_ref)
        return ModelInput(
            request,
            self.requests.count(),
            replaced,
            blocks,
            sum(block.tokens for block in blocks),
            request.row.tokens,
            tuple(snapshots),
            recorded,
            text,
            self._replayed(recorded, text, snapshots, blocks),
        )

    def _block(self, row: EventRow, place: Placed, new: bool, texts: bool) -> Block:
        if not texts:
            return Block(row, place, None, None, (row.size + 3) // 4, None, new)
        try:
            detail = self._records.detail(row)
        except RecordError as error:
            return Block(row, place, None, error.reason, (row.size + 3) // 4, None, new)
        if detail.withheld_by is not None:
            return Block(row, place, None, f"withheld by entry {detail.withheld_by}", 0, None, new)
        tokens, hash = estimate_tokens(detail.text), text_hash(detail.text)
        return Block(row, place, detail.text, None, tokens, hash, new, detail.refs)

    def findings(self, given: ModelInput) -> list[Found]:
        """Ways in which a context fails, among the texts of one with its texts."""
        replaced = []
        for row in self.requests.replaced(given.request) if given.replaced else ():
            block = self._block(row, Placed("user_goal", "instruction", "full", False), new=False, texts=True)
            replaced.append(_text(block, {}))
        intents = {block.row.key: block for block in given.blocks if block.row.kind in INTENDS}
        return failures_in([_text(block, intents) for block in given.blocks], replaced)

    def _recorded(self, request: Request) -> tuple[Named | None, str | None]:
        """What a recorded request names, and its own id."""
        if request.row.kind != "model.request":
            return None, None
        try:
            value, _, _ = parse(self._records.raw(request.row.key))
        except RecordError:
            return named(None), None
        said: dict[str, Any] = value if isinstance(value, dict) else {}
        payload = said.get("payload")
        native = said.get("id")
        names = named({**said, **payload} if isinstance(payload, dict) else said)
        return names, native if isinstance(native, str) else None

    def _of(self, recorded: Named | None, native: str | None) -> list[SnapshotRow]:
        found = self._snapshots.of_request(self._session, native) if native is not None else []
        known = {row.id for row in found}
        for id in recorded.snapshots if recorded is not None else ():
            if id not in known:
                found += [row for row in self._snapshots.find(id) if row.id == id]
        return found

    def _input_text(self, ref: str | None) -> str | None:
        digest = _DIGEST.fullmatch(ref) if ref is not None else None
        for content in holdings.contents(self._link, digest[1]) if digest is not None else ():
            if content.size > LARGEST_INPUT:
                return None
            try:
                chunks = iter((self._records.body(content.event),)) if content.event is not None else None
                data = b"".join(chunks if chunks is not None else holdings.chunks(self._link, content.digest))
            except RecordError:
                continue
            return data.decode("utf-8", "surrogateescape")
        return None

    def _replayed(
        self, recorded: Named | None, text: str | None, snapshots: list[SnapshotRow], blocks: tuple[Block, ...]
    ) -> Replayed:
        if recorded is not None:
            return replayed(recorded, text, {row.id: row.verdict for row in snapshots})
        lost = [block.problem for block in blocks if block.problem is not None]
        missing = tuple(f"{what}: not recorded" for what in NOT_RECORDED)
        if lost:
            missing += (f"{len(lost)} of {len(blocks)} texts: {lost[0]}",)
        return Replayed("partial" if len(lost) < len(blocks) else "not_reconstructable", missing, None, None)

    def derived(self) -> Iterator[tuple[Request, list[EventRow]]]:
        """Every request that was given something by a search, a read or a fetch, with those events, in order.

        One walk over the session; what an abandoned branch had fetched, and what a compaction
        replaced before a model saw it, is left behind.
        """
        numbers = self.requests.numbers()
        waiting: dict[int, list[EventRow]] = {}
        intents: dict[int, EventRow] = {}
        for row in self.requests.visible():
            number = numbers.get(row.key)
            got = waiting.pop(row.lane, ()) if number is not None else ()
            if number is not None and (found := [one for one in got if one.branch in (0, row.branch)]):
                yield Request(number, row, self.requests.known_from), found
            if is_full_compaction(row):
                waiting.pop(row.lane, None)
            elif row.kind in INTENDS:
                intents[row.key] = row
            elif is_fetched(row, intents):
                waiting.setdefault(row.lane, []).append(row)

    def fetched(self, request: Request) -> list[EventRow]:
        """What was put before the model by searches, reads and fetches since the request before."""
        rows, _ = self.requests.in_front(request)
        before = self.requests.previous(request)
        since = (before.sort, before.key) if before is not None else (-(1 << 63), 0)
        places = zip(rows, placed(rows, self.requests.calls_of(rows)), strict=True)
        return [row for row, place in places if place.fetched and (row.sort, row.key) > since]
