"""Sources: one revision of one file or stream, where its chain and its reading stand."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

from affidavit.session.state import SourceState

SOURCE_COLUMNS = (
    "no", "id", "revision", "key", "path", "format", "native", "lane", "session", "cursor", "line", "sort", "entries",
    "last", "records", "mapped", "unknown", "duplicates", "unreadable", "turn",
)  # fmt: skip


class Voice(NamedTuple):
    """How a source's records are read: its format, and the session and lane it speaks of."""

    format: str
    native: str
    lane: str


@dataclass(slots=True)
class SourceRow:
    """A revision of a source. ``key``: HMAC of its path. ``entries``, ``last``: its chain's length and newest entry."""

    id: str
    revision: int
    key: bytes
    path: str
    state: SourceState
    cursor: int
    line: int
    entries: int
    last: int

    @property
    def voice(self) -> Voice:
        """How its records are read."""
        return Voice(self._format, self.state.native, self.state.lane)

    @property
    def _format(self) -> str:
        return f"{self.state.format}+{self.state.document}" if self.state.document else self.state.format

    def columns(self) -> tuple[Any, ...]:
        """Its row in the order of :data:`SOURCE_COLUMNS`."""
        state = self.state
        return (
            state.no, self.id, self.revision, self.key, self.path, self._format, state.native, state.lane,
            state.session, self.cursor, self.line, state.sort, self.entries, self.last, state.records,
            state.mapped, state.unknown, state.duplicates, state.unreadable, state.turn,
        )  # fmt: skip


def state_of(no: int, format: str, native: str, lane: str, *rest: Any) -> SourceState:
    """The state of a source of a format, which may be one document of it."""
    format, _, document = format.partition("+")
    state = SourceState(no, format, native, lane, *rest)
    state.document = document
    return state


def source_from(columns: tuple[Any, ...]) -> SourceRow:
    """A source from its row in the order of :data:`SOURCE_COLUMNS`."""
    no, id, revision, key, path, format, native, lane, session, cursor, line, sort, entries, last, *counts = columns
    state = state_of(no, format, native, lane, session, sort, *counts)
    return SourceRow(id, revision, key, path, state, cursor, line, entries, last)
