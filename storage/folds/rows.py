"""Writing what a batch of records changed into the fold tables, and their texts into the search index."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import orjson

from affidavit.policy.rows import PolicyRow
from affidavit.session.derive import Call, Changes
from affidavit.session.event import KEPT
from affidavit.session.forks import Fork
from affidavit.session.prepare import EVENT_COLUMNS
from affidavit.session.state import SessionState
from affidavit.text.marks import marked
from storage.driver import Connection
from storage.folds.governed_rows import Kept, Stored
from storage.folds.sources import SOURCE_COLUMNS, SourceRow

SESSION_COLUMNS = (
    "no", "uid", "format", "native", "title", "project", "cwd", "git_branch", "version", "timed", "started", "ended",
    "events", "turns", "lanes", "branches", "problems", "unreadable", "unknown", "duplicates", "models", "tokens",
    "tokens_in", "tokens_out", "cache_read", "cache_write", "checked", "parent", "relation",
    "state",
)  # fmt: skip

SECTION_COLUMNS = (
    "source", "section", "n", "heading", "level", "first", "last", "offset", "size", "digest", "hidden",
)  # fmt: skip
SectionRow = tuple[int, int, int, str, int, int, int, int, int, bytes | None, int]
"""A section of a rule file in the order of :data:`SECTION_COLUMNS`."""

FORK_COLUMNS = (
    "source", "format", "native", "parent", "since", "start", "sure", "timed", "frontier", "seen", "end", "awaits",
)  # fmt: skip


def _holes(count: int) -> str:
    return ", ".join("?" * count)


class Writer:
    """Writes changes through one connection (``prefix``: a shadow set of tables)."""

    def __init__(self, connection: Connection, prefix: str = "") -> None:
        self.connection = connection
        self.prefix = prefix
        self.governed: Kept = Stored(connection, prefix)

    def write(self, changes: Changes, sessions: dict[int, SessionState]) -> None:
        """Everything a batch changed, inside the caller's transaction."""
        many = self.connection.executemany
        p = self.prefix
        if changes.removed:
            many(f"DELETE FROM {p}event WHERE n = ?", [(n,) for n in changes.removed])
        if changes.events:
            many(
                f"INSERT INTO {p}event({', '.join(EVENT_COLUMNS)}) VALUES({_holes(len(EVENT_COLUMNS))})",
                changes.events.values(),
            )
        if changes.corrected:
            many(
                f"INSERT OR REPLACE INTO {p}event({', '.join(EVENT_COLUMNS)}) VALUES({_holes(len(EVENT_COLUMNS))})",
                changes.corrected.values(),
            )
        if changes.passed:
            many(f"INSERT OR IGNORE INTO {p}passed(id, turn, lane, parent, n) VALUES(?, ?, ?, ?, ?)", changes.passed)
        if changes.usage:
            many(
                f"INSERT OR REPLACE INTO {p}usage(session, message, n, model, tokens_in, tokens_out, cache_read, "
                f"cache_write) VALUES({_holes(8)})",
                [(*key, *usage) for key, usage in changes.usage.items()],
            )
        self._calls(changes.calls)
        if changes.answered:
            many(f"DELETE FROM {p}awaited WHERE parent = ?", [(parent,) for parent in changes.answered])
        if changes.awaited:
            many(
                f"INSERT OR IGNORE INTO {p}awaited VALUES(?, ?)",
                [(parent, n) for parent, waiting in sorted(changes.awaited.items()) for n in waiting],
            )
        if changes.beginnings:
            many(
                f"INSERT OR IGNORE INTO {p}beginning(record, session) VALUES(?, ?)",
                [(record, session) for record, began in sorted(changes.beginnings.items()) for session, _ in began],
            )
        if changes.copied:
            many(f"INSERT INTO {p}copied(n, original) VALUES(?, ?)", changes.copied)
        if changes.repeated:
            many(
                f"INSERT OR REPLACE INTO {p}repeated VALUES(?, ?, ?)",
                [(*key, count) for key, count in changes.repeated.items()],
            )
        if changes.summaries:
            many(
                f"INSERT OR REPLACE INTO {p}summary VALUES(?, ?, ?)",
                [(*key, summary) for key, summary in changes.summaries.items()],
            )
        if changes.unreadable:
            many(f"INSERT INTO {p}unreadable VALUES({_holes(7)})", changes.unreadable)
        if changes.forks:
            many(
                f"INSERT OR REPLACE INTO {p}fork VALUES({_holes(len(FORK_COLUMNS))})",
                map(fork_row, changes.forks.values()),
            )
        if changes.holders:
            many(f"INSERT OR IGNORE INTO {p}ix_holder VALUES(?, ?)", sorted(changes.holders))
        if changes.echoes:
            many(
                f"INSERT OR REPLACE INTO {p}echo VALUES({_holes(5)})",
                [(*key, *echo) for key, echo in changes.echoes.items()],
            )
        for table, rows in changes.kept.items():
            many(f"INSERT OR IGNORE INTO {p}{table} VALUES({_holes(len(KEPT[table]) + 2)})", rows)
        self._sessions(changes, sessions)
        if changes.texts:
            # The index flushes to disk at every step back, so its rows go in by ascending rowid.
            many(
                f"INSERT INTO {p}ix_text(rowid, text) VALUES(?, ?)", [(-n, text) for n, text in reversed(changes.texts)]
            )

    def _calls(self, calls: dict[tuple[int, int], Call | None]) -> None:
        p = self.prefix
        closed = [key for key, call in calls.items() if call is None]
        waiting = [(*key, *call) for key, call in calls.items() if call is not None]
        if closed:
            self.connection.executemany(f"DELETE FROM {p}open_call WHERE session = ? AND call = ?", closed)
        if waiting:
            self.connection.executemany(f"INSERT OR REPLACE INTO {p}open_call VALUES({_holes(8)})", waiting)

    def _sessions(self, changes: Changes, sessions: dict[int, SessionState]) -> None:
        p = self.prefix
        many = self.connection.executemany
        turns = [turn_row(session, number, sessions[session]) for session, number in sorted(changes.turns)]
        if turns:
            many(f"INSERT OR REPLACE INTO {p}turn VALUES({_holes(8)})", turns)
        lanes = [lane_row(session, number, sessions[session]) for session, number in sorted(changes.lanes)]
        if lanes:
            many(f"INSERT OR REPLACE INTO {p}lane VALUES({_holes(12)})", lanes)
        if sessions:
            names = ", ".join(SESSION_COLUMNS)
            many(
                f"INSERT OR REPLACE INTO {p}session({names}) VALUES({_holes(len(SESSION_COLUMNS))})",
                [session_row(state) for state in sessions.values()],
            )

    def sections(self, rows: Sequence[SectionRow]) -> None:
        """Sections of rule files."""
        if rows:
            self.connection.executemany(
                f"INSERT INTO {self.prefix}rule_section VALUES({_holes(len(SECTION_COLUMNS))})", rows
            )

    def policy(self, row: PolicyRow) -> None:
        """A change of the policy."""
        self.connection.execute(
            f"INSERT INTO {self.prefix}policy({', '.join(PolicyRow._fields)}) VALUES({_holes(len(PolicyRow._fields))})",
            [marked(value) if isinstance(value, str) else value for value in row],
        )

    def source(self, row: SourceRow) -> None:
        """Where reading a source stands now."""
        self.connection.execute(
            f"INSERT OR REPLACE INTO {self.prefix}source({', '.join(SOURCE_COLUMNS)}) "
            f"VALUES({_holes(len(SOURCE_COLUMNS))})",
            row.columns(),
        )

    def withheld(self, entry: int, commitments: Iterable[bytes]) -> None:
        """Commitments whose contents a redaction entry says were erased."""
        self.connection.executemany(
            f"INSERT OR IGNORE INTO {self.prefix}withheld VALUES(?, ?)",
            [(commitment, entry) for commitment in commitments],
        )

    def folded(self, version: int, entries: int) -> None:  # noqa: ARG002
        """How far the tables have come."""
        # The version stays what it is: where a redaction made these tables stale, they are until they are rebuilt.
        self.connection.execute(f"UPDATE {self.prefix}fold SET entries = ? WHERE name = 'sessions'", (entries,))


def session_row(state: SessionState) -> tuple[object, ...]:
    """A session's row in the order of :data:`SESSION_COLUMNS`."""
    facts = state.facts
    cwd = facts.get("cwd")
    project = facts.get("project") or (cwd.replace("\\", "/").rstrip("/").rsplit("/", 1)[-1] if cwd else None)
    return (
        state.no,
        state.uid,
        state.format,
        state.native,
        state.title,
        project,
        cwd,
        facts.get("git_branch"),
        facts.get("version"),
        int(state.started is not None),
        state.started or 0,
        state.ended or 0,
        state.events,
        len(state.turns),
        state.live_lanes,
        state.branches,
        state.problems,
        state.unreadable,
        state.unknown,
        state.duplicates,
        orjson.dumps(state.models).decode(),
        state.tokens_in + state.tokens_out,
        state.tokens_in,
        state.tokens_out,
        state.cache_read,
        state.cache_write,
        state.checked,
        *came_from(facts),
        orjson.dumps(state.carried()).decode(),
    )


def came_from(facts: Mapping[str, str]) -> tuple[str | None, str | None]:
    """The session a session came from by its facts, and how: as a sub-agent or as a fork."""
    if starter := facts.get("started_by"):
        return starter, "sub-agent"
    if origin := facts.get("forked_from"):
        return origin, "fork"
    return None, None


def turn_row(session: int, number: int, state: SessionState) -> tuple[object, ...]:
    """A turn's row."""
    turn = state.turns[number]
    return session, number, turn.key, turn.n, turn.sort, turn.parent, turn.branch, turn.alias


def lane_row(session: int, number: int, state: SessionState) -> tuple[object, ...]:
    """A lane's row."""
    lane = state.lanes[number]
    place = lane.parent, lane.depth, lane.turn, lane.spawn
    return session, number, lane.name, lane.title, *place, lane.events, lane.began, lane.first, lane.told


def fork_row(fork: Fork) -> tuple[object, ...]:
    """A copied beginning's row in the order of :data:`FORK_COLUMNS`."""
    values = (getattr(fork, name) for name in FORK_COLUMNS)
    return tuple(int(value) if type(value) is bool else value for value in values)


def fork_from(columns: tuple[Any, ...]) -> Fork:
    """A copied beginning from its row."""
    fork = Fork(*columns)
    fork.sure, fork.timed = bool(fork.sure), bool(fork.timed)
    return fork
