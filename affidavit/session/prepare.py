"""Everything of a record that can be worked out without its neighbours, so that another process can do it.

:func:`prepare` turns a reading into plain tuples, lists, numbers and strings (what :mod:`marshal` carries): ids are
hashed, times read, summaries cut, commands classified, and each event's row is filled in as far as it goes.
:mod:`affidavit.session.derive` adds what depends on the records before.
"""

from __future__ import annotations

from hashlib import sha256
from struct import Struct
from typing import Any, NamedTuple

from affidavit.session.echoes import ONCE
from affidavit.session.event import Draft, Reading
from affidavit.session.times import instant
from affidavit.session.verification import classify, outcome, passing_line, telling_line
from affidavit.text.marks import marked
from affidavit.text.search import index_text, is_cut

SUMMARY_CELLS = 200
"""Most characters an event's summary keeps; the whole text stays in the recorded bytes."""

MOST_TOKENS = 1 << 36
"""More than this no message took: such a figure is not counted, so that no sum of them outgrows a table's integers."""

MOST_CALLS = 20_000
"""Calls of which it is remembered whether they run a check."""

# Positions in an event row, in the order of the table's columns.
(N, ID, SESSION, LANE, TURN, KIND, ACTOR, AT, SORT, PARENT, PAIR, TOOL, MODEL, SUMMARY, SIZE, OK, MILLIS, COPIES,
 INFERRED, PROBLEM, FLAGS) = range(21)  # fmt: skip
EVENT_COLUMNS = (
    "n", "id", "session", "lane", "turn", "kind", "actor", "at", "sort", "parent", "pair", "tool", "model", "summary",
    "size", "ok", "millis", "copies", "inferred", "problem", "flags",
)  # fmt: skip

Row = list[Any]

FAILS = frozenset({"tool.finished", "verification", "permission.decision"})
OBSERVES = frozenset({"tool.finished", "permission.decision"})
INTENDS = frozenset({"tool.intent", "memory.write", "memory.read", "retrieval.request"})

_ALONE = ("",)
"""The path of a record's only block."""

Prepared = tuple[Any, ...]
"""What :func:`prepare` gives: the fields of :class:`Fields`, as a plain tuple."""


class Fields(NamedTuple):
    """The fields of a prepared record, by name.

    ``record``: native id (after a blank if it begins with ``=``), or ``=`` and the SHA-256 of its bytes (``=`` alone:
    they were erased). ``first``,
    ``above``, ``message``: ids of its first event, of the record it follows and of its model message (0: none).
    ``spent``: (model, input, output, cache read, cache write). ``rows``: event rows. ``joins``: (row, call id, is an
    intent, kind of check an intent runs or outcome an observation's text tells (after ``passed`` and a blank, the line
    that counts what passed), spawned lane). ``texts``: (row, text
    for the search index). ``paths``: block path of each row.
    """

    session: str
    record: str
    first: int
    above: int
    message: int
    at: int | None
    lane: str
    prompt: str | None
    leaf: bool
    unknown: bool
    facts: dict[str, str] | None
    lane_facts: dict[str, str] | None
    spent: tuple[str | None, int, int, int, int] | None
    kept: tuple[str, tuple[Any, ...]] | None
    queue: tuple[str, Any] | None
    rows: list[Row]
    joins: list[tuple[int, int, bool, str | None, str | None]]
    texts: list[tuple[int, str]]
    paths: tuple[str, ...]


class Preparer:
    """Prepares the records of one source: ``format`` and, for records that name none, ``session``.

    Without ``texts`` the texts for the search index are left out.
    """

    def __init__(self, format: str, session: str, *, texts: bool = True) -> None:
        self.format = format
        self.texts = texts
        self.default = session
        self._named = self._session = ""
        self._stem = b""
        self._short: dict[str, str] = {}
        self._checks: dict[int, str | None] = {}
        self._last = ("", 0)

    def prepare(self, reading: Reading, raw: bytes, ids: tuple[int, ...] = (), first: int = 0) -> Prepared:
        """A record's reading and value bytes as a :class:`Fields` tuple.

        Of a record whose bytes were erased, ``ids`` are those its events had and ``first``, where it has no id, is
        that of the first record with its bytes.
        """
        named = reading.session or self.default
        if named != self._named:
            self._named = named
            self._session = marked(named)
            self._stem = f"{self.format}\0{self._session}\0".encode()
            self._last = ("", 0)
        session, stem = self._session, self._stem
        drafts = reading.drafts
        record = reading.native or ""
        if ids:
            record = "=" if first else record
            first = first or ids[0]
        elif record:
            first = _id(stem, record)
            record = " " + record if record[0] == "=" else record
        elif drafts:
            record = "=" + sha256(raw).hexdigest()
            first = _id(stem, record + "#0")
        usage = reading.usage
        model = None
        message = 0
        spent = None
        flags = reading.flags
        if usage is not None:
            model = usage.model if usage.model is None else self._marked(usage.model)
            message = _id(stem, usage.message, b"\0usage")
            spent = (model, usage.input, usage.output, usage.cache_read, usage.cache_write)
            if usage.input + usage.output + usage.cache_read + usage.cache_write > MOST_TOKENS < max(spent[1:]):
                took, gave, read, wrote = (tokens if tokens <= MOST_TOKENS else 0 for tokens in spent[1:])
                spent = (model, took, gave, read, wrote)
                flags = flags if "shape" in flags else (*flags, "shape")
        at, time_flag = instant(reading.at)
        if time_flag and drafts and (time_flag != "time_missing" or drafts[0].kind != "unknown"):
            flags = (*flags, time_flag)
        above = 0
        if reading.parent:
            above = self._last[1] if reading.parent == self._last[0] else _id(stem, reading.parent)
        self._last = (record, first)
        rows: list[Row] = []
        joins: list[tuple[int, int, bool, str | None, str | None]] = []
        texts: list[tuple[int, str]] = []
        if drafts and not self._is_repeated(reading, stem):
            name = record + "#0" if record[:1] == "=" else reading.native or ""
            begins = ids[0] if ids else first
            for block, draft in enumerate(drafts):
                if not block and not draft.path:
                    id = begins
                elif ids:
                    id = ids[block]
                else:
                    id = _id(stem, name, b"\0" + draft.path.encode("utf-8", "surrogatepass"))
                row = self._row(draft, id, at, above or None, model, flags)
                if draft.text:
                    if is_cut(draft.text):
                        row[FLAGS] = f"{row[FLAGS]} truncated_search".strip()
                    if self.texts:
                        texts.append((block, index_text(draft.text)[0]))
                if draft.call or draft.spawns:
                    joins.append(self._join(stem, block, draft))
                rows.append(row)
        return (
            session, record, first, above, message, at, reading.lane and marked(reading.lane),
            reading.prompt and marked(reading.prompt), reading.leaf, reading.status == "unknown", reading.facts,
            reading.lane_facts, spent, reading.kept, reading.queue, rows, joins, texts,
            _ALONE if len(rows) == 1 and not drafts[0].path else tuple([draft.path for draft in drafts[: len(rows)]]),
        )  # fmt: skip

    def _row(
        self, draft: Draft, id: int, at: int | None, parent: int | None, model: str | None, flags: tuple[str, ...]
    ) -> Row:
        ok = draft.ok
        kind = draft.kind
        text = draft.text
        if draft.flags:
            flags = (*flags, *draft.flags)
        tool = draft.tool
        summary = telling_line(text) if ok is False and kind == "tool.finished" and "\n" in text else text
        return [
            0,
            id,
            0,
            0,
            0,
            kind,
            draft.actor,
            at,
            0,
            parent,
            None,
            tool if tool is None else self._marked(tool),
            model,
            summarise(draft.summary if draft.summary is not None else summary),
            len(text),
            None if ok is None else int(ok),
            draft.millis,
            1,
            int(draft.inferred),
            int(kind == "error" or (ok is False and kind in FAILS)),
            " ".join(flags) if flags else "",
        ]

    def _join(self, stem: bytes, block: int, draft: Draft) -> tuple[int, int, bool, str | None, str | None]:
        call = _id(stem, draft.call, b"\0call") if draft.call else 0
        intends = draft.kind in INTENDS
        if not intends and draft.kind not in OBSERVES:
            call = 0
        told = draft.told
        if intends:
            if len(self._checks) > MOST_CALLS:
                self._checks.clear()
            told = self._checks[call] = classify(draft.command) if draft.command else told
        elif draft.kind == "tool.finished" and draft.ok is not False and draft.text and self._may_check(call):
            told = outcome(draft.text, draft.ok)
            if told == "passed" and "\n" in draft.text and (line := passing_line(draft.text)):
                told = f"passed {summarise(line)}"
        return block, call, intends, told, draft.spawns and marked(draft.spawns)

    def _is_repeated(self, reading: Reading, stem: bytes) -> bool:
        """Whether it is sure that a record only shows a call again that stands before it: it makes no event then."""
        queue = reading.queue
        if queue is None or queue[0] != ONCE:
            return False
        call = reading.drafts[0].call
        return call is not None and _id(stem, call, b"\0call") in self._checks

    def _may_check(self, call: int) -> bool:
        """Whether a result may be a check's: reading how one went costs more than all the rest of a record."""
        return self._checks.get(call, "unknown") is not None

    def _marked(self, name: str) -> str:
        """A short name that comes again and again (a tool, a model), as tables can hold it."""
        kept = self._short.get(name)
        if kept is None:
            if len(self._short) > 1_000:
                self._short.clear()
            kept = self._short[name] = marked(name[:SUMMARY_CELLS])
        return kept


def _id(stem: bytes, record: str, path: bytes = b"\0") -> int:
    """:func:`affidavit.session.event.event_id` with format and session (``stem``) encoded once for many records."""
    try:
        name = record.encode()
    except UnicodeEncodeError:
        name = record.encode("utf-8", "surrogatepass")
    id: int = _LEADING(sha256(stem + name + path).digest())[0]
    return id


_LEADING = Struct(">q").unpack_from


def summarise(text: str) -> str:
    """The first line that says something, on one line, cut at :data:`SUMMARY_CELLS` characters with ``…``."""
    if len(text) <= SUMMARY_CELLS and text.isascii() and text.isprintable() and text[:1] != " " and text[-1:] != " ":
        return text
    head = text[: SUMMARY_CELLS * 4]
    line = head.partition("\n")[0]
    if not line or line.isspace():
        line = next((part for part in head.split("\n") if part and not part.isspace()), "")
    if len(line) > SUMMARY_CELLS:
        line = line[: SUMMARY_CELLS - 1] + "…"
    return marked(line.strip())
