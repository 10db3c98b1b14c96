"""The read side of a store: everything a screen or a command asks. It never writes and never searches a source file.

One :class:`Archive` owns one read-only connection and belongs to one thread at a time; ``interrupt`` may be
called from any other thread. Lists are paged by key: a page costs the same at a hundred rows and at ten million.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeVar

from storage.numbers import place_of
from storage.queries import arrivals, holdings, sessions, structure, timeline
from storage.queries.connection import Interrupted, ReadConnection
from storage.queries.filters import Direction, EventFilter, Facet, SessionFilter, SessionSort
from storage.queries.models import (
    Arrival,
    Content,
    EventDetail,
    EventRow,
    Hit,
    Kin,
    LaneRow,
    Page,
    SessionRow,
    SourceRow,
    StoreTotals,
    Total,
    TurnRow,
)

if TYPE_CHECKING:
    from datetime import datetime

    from affidavit.gate.hit import MemoryHit, RecallQuery
    from affidavit.policy.change import Standing
    from affidavit.retrieval.candidate import Recaller
    from affidavit.retrieval.request import RetrievalScope
    from storage.queries.citations import Citations
    from storage.queries.gate_runs import GateRuns
    from storage.queries.governed_archive import Governed
    from storage.queries.inputs import Inputs
    from storage.queries.policy import PolicyChange
    from storage.queries.records import Records
    from storage.queries.rules import RuleFile, RuleSection
    from storage.queries.rules_in_force import RulesInForce
    from storage.queries.snapshots import Snapshots
    from storage.redacting import Doomed

__all__ = ["Archive", "Direction", "EventFilter", "Facet", "Interrupted", "SessionFilter", "SessionSort"]

Thing = TypeVar("Thing")

_ALL_SESSIONS = SessionFilter()
_ALL_EVENTS = EventFilter()


class Archive:
    """See the module. Made by :meth:`open`; a missing or unusable store raises ``storage.store.StoreError``.

    So does any query on a store that turns out to be damaged. What is asked for by a row number that the store
    does not have raises ``KeyError``. A record whose bytes cannot be had raises ``RecordError`` of
    ``storage.queries.records``, and only where those very bytes are asked for: no list fails because of one.
    """

    def __init__(self, link: ReadConnection) -> None:
        self._link = link
        self._opened: Records | None = None

    @classmethod
    def open(cls, path: str) -> Archive:
        """A new connection to the store at ``path``."""
        return cls(ReadConnection(path))

    def close(self) -> None:
        """Close the connection; nothing may be asked any more."""
        self._link.close()

    def __enter__(self) -> Archive:
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()

    def interrupt(self) -> None:
        """Stop the query that is running, from another thread; it raises ``Interrupted`` there."""
        self._link.interrupt()

    def data_version(self) -> int:
        """Changes when another connection has committed: a cheap test for "something new"."""
        return int(self._link.value("PRAGMA data_version"))

    @property
    def _records(self) -> Records:
        # Reading records brings the readers and the decompressor, which a list does without.
        if self._opened is None:
            from storage.queries.records import Records

            self._opened = Records(self._link)
        self._opened.refresh()
        return self._opened

    @cached_property
    def snapshots(self) -> Snapshots:
        """What the store knows of retrievals."""
        from storage.queries.snapshots import Snapshots

        return Snapshots(self._link, lambda: self._records)

    @property
    def gate_runs(self) -> GateRuns:
        """Runs of the recall gate."""
        from storage.queries.gate_runs import GateRuns

        return GateRuns(self._link, lambda: self._records)

    def inputs(self, session: int) -> Inputs:
        """What the model had in front of it in the requests of a session."""
        from storage.queries.inputs import Inputs

        return Inputs(self._link, self._records, self.snapshots, session)

    def citations(self, session: int) -> Citations:
        """What the model's words and actions in a session cite."""
        from storage.queries.citations import Citations

        return Citations(self._link, self._records, self.snapshots, session)

    def source_bytes(self, digest: str) -> bytes | None:
        """The bytes of what a retrieval took a text from, by their SHA-256 (hex); ``None``: the store holds none."""
        from storage.queries.citations import source_bytes

        return source_bytes(self._link, digest)

    def doomed(self, records: Iterable[int], texts: Iterable[bytes] = (), payloads: Iterable[bytes] = ()) -> Doomed:
        """What a redaction of records (numbers of events), files' texts (SHA-256) and contents would erase."""
        from storage.redacting import doom

        return doom(self._link, self.snapshots, self._records, records, texts, payloads)

    def erasable(self, entry: int) -> list[bytes] | None:
        """Contents of an entry that can be erased, by commitment; ``None`` where it is of a type that is not."""
        from storage.redacting import contents_of

        return contents_of(self._link, entry)

    def records_of_session(self, session: int) -> list[int]:
        """Every record that a session rests on, by the number of its first event."""
        from storage.redacting import records_of_session

        return records_of_session(self._link, session)

    def is_workspace_text(self, content: Content) -> bool:
        """Whether a payload is what a file of an indexed workspace said."""
        from storage.workspace.within import holds

        return holds(self._link, bytes.fromhex(content.digest))

    def recallers(self, scope: RetrievalScope) -> list[Recaller]:
        """What finds candidates in this store for a retrieval within a scope."""
        from storage.recallers import recallers

        return recallers(self._link, lambda: self._records, self._memories, scope)

    def _memories(self) -> Recaller:
        """What recalls memories, through the gate of the policy in force."""
        from affidavit.policy.document import Policy
        from affidavit.retrieval.memories import MemoryRecaller

        standing = self.policy()

        def find(query: RecallQuery, now: datetime) -> list[MemoryHit]:
            if standing.erased:
                raise LookupError("the policy in force was erased: nobody knows the gate's settings")
            return self.governed.hits(query, now)

        return MemoryRecaller(find, (standing.policy or Policy()).gate)

    @cached_property
    def governed(self) -> Governed:
        """Candidates, memories, and what was decided about them."""
        from storage.queries.governed_archive import Governed

        return Governed(self._link, lambda: self._records)

    # sessions

    def sessions(
        self,
        filter: SessionFilter = _ALL_SESSIONS,
        *,
        sort: SessionSort = "started",
        descending: bool = True,
        cursor: tuple[object, ...] | None = None,
        direction: Direction = "after",
        inclusive: bool = False,
        limit: int = 100,
    ) -> Page[SessionRow]:
        """Sessions in order. ``cursor=None`` with ``direction="before"`` gives the last page."""
        listing = sessions.listing(filter, sort, descending)
        return listing.page(self._link, sessions.session_row, cursor, direction, inclusive, limit)

    def session_cursor(self, key: int, sort: SessionSort = "started") -> tuple[object, ...] | None:
        """The cursor of a session in the list of that order; ``None`` if there is no such session."""
        return sessions.cursor_of(self._link, key, sort)

    def session_position(
        self,
        key: int,
        filter: SessionFilter = _ALL_SESSIONS,
        *,
        sort: SessionSort = "started",
        descending: bool = True,
    ) -> int:
        """How many sessions of the filtered list stand before this one; raises ``KeyError``."""
        cursor = _found(sessions.cursor_of(self._link, key, sort), "session", key)
        return sessions.listing(filter, sort, descending).position(self._link, cursor)

    def count_sessions(self, filter: SessionFilter = _ALL_SESSIONS) -> Total:
        """Sessions of the filtered list."""
        return sessions.count(self._link, filter)

    def session(self, key: int) -> SessionRow:
        """One session by its row number; raises ``KeyError``."""
        return _found(sessions.session(self._link, key), "session", key)

    def find_sessions(self, prefix: str) -> list[SessionRow]:
        """Sessions whose uid or native id is ``prefix``, or else begins with it; at most 20."""
        return sessions.find(self._link, prefix)

    def tops(
        self,
        *,
        sort: SessionSort = "started",
        descending: bool = True,
        cursor: tuple[object, ...] | None = None,
        direction: Direction = "after",
        inclusive: bool = False,
        limit: int = 100,
    ) -> Page[SessionRow]:
        """The sessions that hang on no other, paged like :meth:`sessions`."""
        from storage.queries import family

        listing = family.tops(sort, descending)
        return listing.page(self._link, sessions.session_row, cursor, direction, inclusive, limit)

    def count_tops(self) -> Total:
        """How many sessions hang on no other."""
        from storage.queries import family

        return family.count(self._link)

    def below(self, key: int) -> list[Kin]:
        """The sessions that hang on one directly: its forks, copies and sub-agents with a log of their own."""
        from storage.queries import family

        return family.below(self._link, key)

    def below_counts(self, keys: Sequence[int]) -> dict[int, int]:
        """How many sessions hang on each of some; those on which none does are left out."""
        from storage.queries import family

        return family.counts(self._link, keys)

    def facet(self, name: Facet) -> list[tuple[str, int]]:
        """Values of a field over all sessions with their counts, most frequent first, at most 100.

        The values are those that :class:`SessionFilter` takes: ``""`` where no project is recorded, ``none`` where
        no check was seen.
        """
        return sessions.facet(self._link, name)

    # one session

    def events(
        self,
        session: int,
        filter: EventFilter = _ALL_EVENTS,
        *,
        cursor: tuple[object, ...] | None = None,
        direction: Direction = "after",
        inclusive: bool = False,
        limit: int = 200,
    ) -> Page[EventRow]:
        """Events of a session in order. A cursor of any row is ``cursor_of(row)``.

        With ``inclusive`` the page begins (going ``before``: ends) with the cursor's own row.
        """
        listing = timeline.listing(self._link, session, filter)
        return listing.page(self._link, timeline.event_row, cursor, direction, inclusive, limit)

    @staticmethod
    def cursor_of(row: EventRow) -> tuple[object, ...]:
        """Where an event stands in its session's list, whatever the filter."""
        return timeline.cursor_of(row)

    def count_events(self, session: int, filter: EventFilter = _ALL_EVENTS) -> Total:
        """Events of the filtered list."""
        return timeline.count(self._link, session, filter)

    def kinds(self, session: int) -> list[tuple[str, int]]:
        """Every kind of event a session holds, with how many, the most frequent first."""
        return timeline.kinds(self._link, session)

    def position(self, session: int, row: EventRow, filter: EventFilter = _ALL_EVENTS) -> int:
        """How many events of the filtered list stand before this one."""
        return timeline.position(self._link, session, timeline.cursor_of(row), filter)

    def event_at(self, session: int, position: int, filter: EventFilter = _ALL_EVENTS) -> EventRow | None:
        """The event with that many of the filtered list before it; ``None`` past the end."""
        return timeline.at(self._link, session, position, filter)

    def event(self, key: int) -> EventRow:
        """One event by its row number; raises ``KeyError``."""
        return _found(timeline.event(self._link, key), "event", key)

    def event_by_id(self, id: int) -> EventRow | None:
        """One event by its 64-bit id."""
        found = timeline.by_id(self._link, id, id, None, 1)
        return found[0] if found else None

    def find_event(self, session: int, prefix: str) -> list[EventRow]:
        """Events of a session whose 16 hex digits begin with ``prefix``; at most 20."""
        bounds = timeline.id_bounds(prefix)
        return [] if bounds is None else timeline.by_id(self._link, *bounds, session, 20)

    def detail(self, key: int) -> EventDetail:
        """An event with its whole text, re-read; raises ``KeyError`` or ``RecordError``.

        Of an erased record the text is empty and ``withheld_by`` names the redaction.
        """
        return self.detail_of(self.event(key))

    def detail_of(self, row: EventRow) -> EventDetail:
        """The same for an event that is at hand; raises ``RecordError``."""
        return self._records.detail(row)

    def iter_events(self, session: int, filter: EventFilter = _ALL_EVENTS) -> Iterator[EventDetail]:
        """Every event of the filtered list, whole, in order; memory stays flat. Raises ``RecordError`` on the way."""
        return self._records.walk(session, filter)

    def raw(self, key: int) -> bytes:
        """The record's very bytes as they stood in the source file; raises ``KeyError`` or ``RecordError``."""
        self.event(key)
        return self._records.raw(key)

    def original(self, source: int) -> Iterator[bytes]:
        """The bytes taken from one revision of a file (``SourceRow.key``), in order; raises ``RecordError``."""
        return self._records.original(source)

    def children(self, key: int) -> list[EventRow]:
        """What an event led to: the observation of an intent, and what follows its record; at most 100."""
        return structure.children(self._link, self.event(key))

    def problem(self, session: int, cursor: tuple[object, ...] | None, direction: Direction) -> EventRow | None:
        """The next or previous event marked as a problem (a failed check or tool, an error)."""
        return timeline.next_problem(self._link, session, cursor, direction)

    def prompt(self, session: int, cursor: tuple[object, ...] | None, direction: Direction) -> EventRow | None:
        """The next or previous event that begins a turn."""
        return timeline.next_prompt(self._link, session, cursor, direction)

    def turn_start(self, session: int, turn: int) -> EventRow | None:
        """The event that begins the ``turn``-th turn, from 1."""
        return timeline.turn_start(self._link, session, turn)

    def turns(self, session: int) -> list[TurnRow]:
        """Turns in the order of the timeline, with the counts of their events; turn 0 where something came before."""
        return structure.turns(self._link, session)

    def lanes(self, session: int) -> list[LaneRow]:
        """The main lane and those of sub-agents."""
        return structure.lanes(self._link, session)

    def lane_events(
        self, session: int, lane: int, *, cursor: tuple[object, ...] | None = None, limit: int = 200
    ) -> Page[EventRow]:
        """Events of one lane in order."""
        return self.events(session, EventFilter(lanes=frozenset({lane})), cursor=cursor, limit=limit)

    def rules(self, path: str | None = None) -> Iterable[tuple[RuleFile, ...]]:
        """Every rule file by path, or those that a path or the end of one names: its revisions, the oldest first."""
        from storage.queries import rules

        return rules.rule_files(self._link) if path is None else rules.find_rules(self._link, path)

    def rule_sections(self, file: RuleFile) -> tuple[RuleSection, ...]:
        """A rule file's sections in order; none where its text cannot be had."""
        from storage.queries import rules

        return rules.sections_of(self._link, file)

    def rule_text(self, file: RuleFile) -> bytes | None:
        """A rule file's bytes as they were imported; ``None`` where they were erased or are too large to be read."""
        from storage.queries import rules

        return rules.text_of(self._records, file)

    def rules_in_force(self, session: int, at: int | None = None) -> RulesInForce:
        """The rule files a session ran under at a moment (``EventRow.sort``), by default at its end."""
        from storage.queries.rules_in_force import in_force

        return in_force(self._link, self._records, self.session(session), at)

    def policy(self) -> Standing:
        """What holds of the policy; raises ``StoreError`` (``newer``) where this program cannot read it."""
        from storage.queries import policy

        return policy.policy(self._link)

    def policy_changes(self, limit: int = 100) -> list[PolicyChange]:
        """Changes of the policy, the newest first."""
        from storage.queries import policy

        return policy.changes(self._link, limit)

    def density(self, session: int, slices: int) -> list[tuple[int, int]]:
        """(events, problems) in each of ``slices`` equal parts of the session's time, by start of the part."""
        return structure.density(self._link, session, slices)

    # everything

    def search(
        self,
        text: str,
        *,
        kinds: frozenset[str] | None = None,
        session: int | None = None,
        cursor: tuple[object, ...] | None = None,
        limit: int = 50,
    ) -> Page[Hit]:
        """Full text, newest first. ``text`` is taken literally word by word; nothing in it is an operator.

        Pages go forward only: ``before`` is always ``None``.
        """
        from storage.queries import search

        return search.page(self._link, self._records, text, kinds, session, cursor, limit)

    def count_hits(
        self, text: str, *, kinds: frozenset[str] | None = None, session: int | None = None, cap: int = 10_000
    ) -> Total:
        """Number of hits; where there are more than ``cap``, that and ``exact=False``."""
        from storage.queries import search

        return search.count(self._link, text, kinds, session, cap)

    def unreadable(self, session: int | None = None) -> Iterator[tuple[str, int, int, str]]:
        """(file, line, offset, reason) of every record that could not be read."""
        return holdings.unreadable(self._link, session)

    def sources(self, session: int | None = None) -> Iterator[SourceRow]:
        """The account of every file that was read, in the order they were first read."""
        return holdings.sources(self._link, session)

    def totals(self) -> StoreTotals:
        """What the store holds in all; as quick for ten million events as for ten."""
        return holdings.totals(self._link)

    def arrivals(self, since: int) -> list[Arrival]:
        """What came into which sessions with the ledger entry ``since`` and later ones; costs what is new."""
        return arrivals.arrivals(self._link, since)

    def touched(self, since: int) -> frozenset[int]:
        """Row numbers of the sessions of whose files something was recorded in that entry or a later one."""
        return arrivals.touched(self._link, since)

    @contextmanager
    def at_once(self) -> Iterator[None]:
        """What is asked within sees the store as it was at one moment. For brief questions only."""
        with self._link.at_once():
            yield

    def entries(self) -> int:
        """Number of ledger entries."""
        return holdings.entries(self._link)

    def entry(self, idx: int) -> bytes | None:
        """The exact bytes of a ledger entry."""
        return holdings.entry(self._link, idx)

    @staticmethod
    def entry_of(key: int) -> int:
        """The ledger entry that covers an event's bytes."""
        return place_of(key)[0]

    def contents(self, prefix: str) -> list[Content]:
        """Payloads and recorded bodies whose SHA-256 begins with ``prefix`` (hex digits); at most 20."""
        return holdings.contents(self._link, prefix)

    def naming(self, content: Content) -> list[int]:
        """Ledger entries that commit to a payload; a walk over the ledger."""
        return holdings.naming(self._link, content.digest)

    def chunks(self, content: Content) -> Iterator[bytes]:
        """The bytes of a payload or body, piece by piece. Raises ``RecordError`` for a body that cannot be had."""
        if content.event is not None:
            body = self._records.body(content.event)
            return iter((body if content.part is None else body[content.part[0] : sum(content.part)],))
        return holdings.chunks(self._link, content.digest)


def _found(thing: Thing | None, what: str, key: int) -> Thing:
    if thing is None:
        raise KeyError(f"no {what} {key}")
    return thing
