"""Carrying out what reviewers ask for: what a decision is made from is read in the transaction that appends it."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

import orjson

from affidavit.memory.candidate import MemoryCandidate
from affidavit.memory.settings import GovernancePolicy, GovernanceSettings
from affidavit.memory.shown import candidate_shown, digest, record_shown
from affidavit.policy.actors import Refusal
from affidavit.policy.decision import Head, Proposed
from affidavit.review import decide as deciding
from affidavit.review.commands import (
    CandidateState,
    Claim,
    Claimed,
    Decide,
    DecisionState,
    MemoryState,
    State,
    Undo,
)
from affidavit.session.times import EPOCH
from storage.deciding import decided
from storage.driver import Connection
from storage.folds.governed_decisions import LETS_IN
from storage.folds.governed_rows import CandidateRow, DecisionRow, MemoryRow
from storage.ledger import Clock
from storage.numbers import number as record_number
from storage.queries import governed
from storage.queries.checking import checked, memory_shown
from storage.queries.connection import ReadConnection
from storage.queries.policy import policy
from storage.queries.records import RecordError, Records
from storage.queries.surroundings import Checker
from storage.store import Random, Store

PATIENCE_MILLIS = 60_000
"""How long a decision waits for other writers: many reviewers at once take turns, and none of them is turned away."""

MOST_EARLIER = 20
"""Older versions that are tried for what somebody was shown."""


class WithinTransaction(ReadConnection):
    """Reads through the connection of an open transaction."""

    def __init__(self, path: str, connection: Connection) -> None:
        self.path = path
        self._connection = connection


class Desk:
    """Where decisions about candidates and memories of one store are taken."""

    def __init__(self, store: Store, *, clock: Clock, random: Random = os.urandom) -> None:
        self.store = store
        self.clock = clock
        self.random = random

    def decide(self, command: Decide, object: str) -> list[int] | Refusal:
        """Decide about a candidate or memory by its id. Gives the ledger entries, none where nothing would change."""
        return self._carry_out(command, deciding.decide, lambda link, now: self._state(link, now, object, command.into))

    def claim(self, command: Claim, object: str) -> list[int] | Refusal:
        """Claim something, or give it back."""
        return self._carry_out(command, deciding.claim, lambda link, now: self._state(link, now, object, None))

    def undo(self, command: Undo) -> list[int] | Refusal:
        """Take a decision back."""
        return self._carry_out(command, deciding.undo, lambda link, _: self._undoing(link, command.decision))

    def decide_all(self, commands: Sequence[tuple[Decide, str]]) -> list[int] | Refusal:
        """Decide about several at once: all of them, or none."""
        asked = [command for command, _ in commands]
        return self._carry_out(
            asked,
            deciding.decide_all,
            lambda link, now: [self._state(link, now, object, command.into) for command, object in commands],
            asked[0].id,
        )

    def undo_all(self, commands: Sequence[Undo]) -> list[int] | Refusal:
        """Take several decisions back at once: all of them, or none."""
        asked = list(commands)
        return self._carry_out(
            asked, deciding.undo_all, lambda link, _: [self._undoing(link, one.decision) for one in asked], asked[0].id
        )

    def preview(self, commands: Sequence[tuple[Decide, str]]) -> list[int] | Refusal:
        """What :meth:`decide_all` would say; nothing is written."""
        now = self.clock()
        connection = self.store.connection
        connection.execute("BEGIN")
        try:
            link = WithinTransaction(self.store.path, connection)
            states = [self._state(link, now, object, command.into) for command, object in commands]
            done = deciding.decide_all(states, [command for command, _ in commands], now)
        finally:
            connection.execute("ROLLBACK")
        return done if isinstance(done, Refusal) else []

    def _carry_out(
        self,
        command: Any,
        decide: Callable[[Any, Any, datetime], list[Proposed] | Refusal],
        read: Callable[[ReadConnection, datetime], Any],
        id: str = "",
    ) -> list[int] | Refusal:
        now = self.clock()

        def reading(connection: Connection) -> Any:
            query = "SELECT idx FROM ledger_entry WHERE id = ?"
            known = connection.execute(query, (id or command.id,)).fetchone()
            if known is not None:
                raise _Done(known[0])
            return read(WithinTransaction(self.store.path, connection), now)

        try:
            return decided(self.store, reading, decide, command, clock=lambda: now, random=self.random)
        except _Done as done:
            return [done.index]

    # ---------------------------------------------------------------------------------------------- state

    def _state(self, link: ReadConnection, now: datetime, object: str, into: str | None) -> State:
        standing = policy(link)
        governance = standing.policy.governance if standing.policy is not None else GovernancePolicy()
        checker = Checker(link, Records(link), governance)
        thing = self._thing(checker, object, now)
        return State(
            reviewers=standing.reviewers,
            settings=governance.of("" if thing is None else _scope(thing)),
            thing=thing,
            claim=_claimed(link, object),
            into=None if into is None else self._thing(checker, into, now),
            salt=self.random(32),
        )

    def _thing(self, checker: Checker, id: str, now: datetime) -> CandidateState | MemoryState | None:
        row = governed.candidate(checker.link, id)
        if row is not None:
            return self._candidate(checker, row, now)
        memory = governed.memory(checker.link, id)
        return None if memory is None else self._memory(checker, memory, now)

    def _candidate(self, checker: Checker, row: CandidateRow, now: datetime) -> CandidateState | None:
        read = governed.read_candidate(checker.link, row.id, row.version)
        if read is None:
            return None
        found = checked(checker, row, read, now)
        earlier: list[dict[str, Any]] = []
        for version in governed.candidate_versions(checker.link, row.id)[:-1][-MOST_EARLIER:]:
            if version.body:
                older = MemoryCandidate.model_validate_json(version.body)
                report = checker.check(row, older, now)
                earlier.append(candidate_shown(row.id, version.version, older, report))
        # What was shown before another came that contradicts it, or is like it.
        alone = {**found.shown, "conflicts": []}
        earlier += [alone, {**alone, "findings": [code for code in alone["findings"] if code != "conflict"]}]
        return CandidateState(
            id=row.id,
            version=row.version,
            status=found.status,
            candidate=read,
            report=found.report,
            shown=found.shown,
            shown_hash=found.shown_hash,
            head=_head(row),
            earlier=tuple(earlier),
        )

    def _memory(self, checker: Checker, row: MemoryRow, now: datetime) -> MemoryState | None:
        record = governed.read_memory(checker.link, row.id, row.version)
        if record is None:
            return None
        shown = memory_shown(checker, row, record)
        over = record.expires()
        status = "expired" if row.status == "active" and over is not None and over <= now else row.status
        earlier = []
        for version in governed.memory_versions(checker.link, row.id)[:-1][-MOST_EARLIER:]:
            older = governed.read_memory(checker.link, row.id, version.version)
            if older is not None:
                earlier.append({**record_shown(older, [], []), "conflicts": shown["conflicts"]})
        return MemoryState(row.id, row.version, status, record, shown, digest(shown), _head(row), tuple(earlier))

    def _undoing(self, link: ReadConnection, id: str) -> State:
        found = [row for row in governed.decision(link, id) if row.id == id]
        decision = None
        claim = None
        if found:
            row = found[0]
            after = governed.decisions(link, [row.object, *([row.memory] if row.memory else [])])
            thing = governed.candidate(link, row.object) or governed.memory(link, row.object)
            decision = DecisionState(
                id=row.id,
                verb=row.verb,
                thing=row.what,
                object=row.object,
                undone=row.undone is not None,
                built_on=tuple(_built_on(row, after)),
                head=None if thing is None else _head(thing),
                served=_served(link, row),
            )
            claim = _claimed(link, row.object)
        return State(policy(link).reviewers, GovernanceSettings(), None, claim, None, decision)


class _Done(Exception):
    """The entry was appended by an earlier try."""

    def __init__(self, index: int) -> None:
        super().__init__(index)
        self.index = index


def _scope(thing: CandidateState | MemoryState) -> str:
    return thing.candidate.scope.key if isinstance(thing, CandidateState) else thing.record.scope.key


def _built_on(row: DecisionRow, after: Sequence[DecisionRow]) -> list[str]:
    return [one.id for one in after if one.entry > row.entry and one.verb != "undo" and one.undone is None]


def _served(link: ReadConnection, row: DecisionRow) -> tuple[str, ...]:
    """Recalls since a decision that handed over the memory it let in or changed: one is enough to know of."""
    memory = row.memory if row.verb in LETS_IN else row.object if row.verb in ("rewrite", "rescope", "renew") else None
    if memory is None:
        return ()
    records = Records(link)
    after = record_number(row.entry + 1, 0)
    query = "SELECT n, uid FROM gate_run WHERE n >= ? AND dry = 0 AND accepted > 0 ORDER BY n"
    for n, uid in link.rows(query, (after,)):
        try:
            said = orjson.loads(records.raw(n))
        except (RecordError, orjson.JSONDecodeError):
            continue
        if memory in said.get("acceptedIds", ()):
            return (f"gate/{uid}",)
    return ()


def _head(row: CandidateRow | MemoryRow) -> Head | None:
    if row.stream is None or row.sseq is None or row.entry is None:
        return None
    return Head(row.stream, row.sseq, row.entry)


def _claimed(link: ReadConnection, object: str) -> Claimed | None:
    claim = governed.claim(link, object)
    if claim is None:
        return None
    return Claimed(claim.by, (EPOCH + timedelta(microseconds=claim.until)).astimezone(UTC))
