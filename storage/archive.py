"""The read side of a store: everything a screen or a command asks. It never writes and never searches a source file.

One :class:`Archive` owns one read-only connection and belongs to one thread at a time; ``interrupt`` may be
called from any other thread. Lists are paged by key: a page costs the same at a hundred rows and at ten million.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from storage.queries.models import (
    EventDetail,
    EventRow,
    Hit,
    LaneRow,
    Page,
    SessionRow,
    Total,
    TurnRow,
)

SessionSort = Literal["started", "ended", "title", "events", "turns", "tokens", "problems"]
Direction = Literal["after", "before"]


@dataclass(frozen=True, slots=True)
class SessionFilter:
    """``text`` matches title, project, native id and uid, case-insensitively and literally."""

    text: str = ""
    agent: str | None = None
    project: str | None = None
    since: int | None = None
    until: int | None = None
    check: str | None = None
    problems_only: bool = False


@dataclass(frozen=True, slots=True)
class EventFilter:
    """Which events of a session to show. ``text`` matches summary and tool, case-insensitively and literally."""

    text: str = ""
    kinds: frozenset[str] | None = None
    hide_kinds: frozenset[str] = frozenset()
    lanes: frozenset[int] | None = None
    abandoned: bool = True
    problems_only: bool = False


class Archive:
    """See the module. Made by :meth:`open`; a missing or unusable store raises ``storage.store.StoreError``."""

    @classmethod
    def open(cls, path: str) -> Archive: ...  # noqa: E704
    def close(self) -> None: ...  # noqa: E704
    def interrupt(self) -> None:
        """Stop the query that is running, from another thread; it raises ``Interrupted`` there."""

    def data_version(self) -> int:
        """Changes when another connection has committed: a cheap test for "something new"."""

    # sessions
    def sessions(
        self,
        filter: SessionFilter = SessionFilter(),
        *,
        sort: SessionSort = "started",
        descending: bool = True,
        cursor: tuple[object, ...] | None = None,
        direction: Direction = "after",
        limit: int = 100,
    ) -> Page[SessionRow]:
        """Sessions in order. ``cursor=None`` with ``direction="before"`` gives the last page."""

    def count_sessions(self, filter: SessionFilter = SessionFilter()) -> Total: ...  # noqa: E704
    def session(self, key: int) -> SessionRow: ...  # noqa: E704
    def facet(self, name: Literal["agent", "project", "check"]) -> list[tuple[str, int]]:
        """Values of a field over all sessions with their counts, most frequent first, at most 100."""

    # one session
    def events(
        self,
        session: int,
        filter: EventFilter = EventFilter(),
        *,
        cursor: tuple[object, ...] | None = None,
        direction: Direction = "after",
        inclusive: bool = False,
        limit: int = 200,
    ) -> Page[EventRow]:
        """Events of a session in order. A cursor of any row is ``cursor_of(row)``."""

    @staticmethod
    def cursor_of(row: EventRow) -> tuple[object, ...]: ...  # noqa: E704
    def count_events(self, session: int, filter: EventFilter = EventFilter()) -> Total: ...  # noqa: E704
    def position(self, session: int, row: EventRow, filter: EventFilter = EventFilter()) -> int:
        """How many events of the filtered list stand before this one."""

    def event_at(
        self, session: int, position: int, filter: EventFilter = EventFilter()
    ) -> EventRow | None: ...  # noqa: E704
    def event(self, key: int) -> EventRow: ...  # noqa: E704
    def detail(self, key: int) -> EventDetail: ...  # noqa: E704
    def raw(self, key: int) -> bytes:
        """The record's very bytes as they stood in the source file."""

    def problem(
        self, session: int, cursor: tuple[object, ...] | None, direction: Direction
    ) -> EventRow | None:
        """The next or previous event marked as a problem (a failed check or tool, an error)."""

    def prompt(
        self, session: int, cursor: tuple[object, ...] | None, direction: Direction
    ) -> EventRow | None:
        """The next or previous event that begins a turn."""

    def turns(self, session: int) -> list[TurnRow]: ...  # noqa: E704
    def lanes(self, session: int) -> list[LaneRow]: ...  # noqa: E704
    def density(self, session: int, slices: int) -> list[tuple[int, int]]:
        """(events, problems) in each of ``slices`` equal parts of the session's time, by start of the part."""

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
        """Full text, newest first. ``text`` is taken literally word by word; nothing in it is an operator."""

    def count_hits(
        self, text: str, *, kinds: frozenset[str] | None = None, session: int | None = None, cap: int = 10_000
    ) -> Total: ...  # noqa: E704
    def unreadable(self, session: int | None = None) -> Iterator[tuple[str, int, int, str]]:
        """(file, line, offset, reason) of every record that could not be read."""

    def entries(self) -> int:
        """Number of ledger entries."""
