"""Folding candidates and what was decided about them: one state machine for live writing, rebuilding and verifying."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any

import orjson

from affidavit.session.times import instant
from affidavit.text.normal import normal
from storage.folds.governed_rows import (
    CandidateLineRow,
    CandidateRow,
    CandidateVersionRow,
    Kept,
    SaidRow,
)

MOST_WORDS = 2_000
"""Characters of a text's words that are kept for comparing it."""


class Governed:
    """Takes lines and entries in the ledger's order into rows."""

    def __init__(self, rows: Kept) -> None:
        self.rows = rows

    # --------------------------------------------------------------------------------------- candidates

    def line(self, n: int, session: str, native: str, body: str) -> None:
        """A line that proposes a candidate. One that says what is known already adds nothing.

        While nobody has decided anything about a candidate its proposer may say it anew, which is another version of
        it; afterwards what has the same id and says something else is another candidate.
        """
        origin = hashlib.sha256(body.encode()).hexdigest()
        for id in (candidate_uid(session, native), candidate_uid(session, native, origin)):
            row: CandidateRow | None = self.rows.get("candidate", (id,))
            if row is None:
                row = self.candidate(id, native, n, origin, 1, body)
                self.rows.put("candidate", row)
                self.rows.put("candidate_line", CandidateLineRow(n, id))
                self._version(row, None, body)
                return
            if row.origin == origin:
                self.rows.put("candidate_line", CandidateLineRow(n, id))
                return
            if row.entry is None:
                self.unsay("candidate", id, row.version)
                new = self.candidate(id, native, n, origin, row.version + 1, body)
                new = new._replace(seen=row.seen)
                self.rows.put("candidate", new)
                self.rows.put("candidate_line", CandidateLineRow(n, id))
                self._version(new, None, body)
                return

    def candidate(self, id: str, native: str, n: int, origin: str, version: int, body: str) -> CandidateRow:
        """The row of a candidate whose version says ``body``."""
        # Reading a candidate whole loads its model; only stores with candidates pay for that.
        from affidavit.memory.candidate import MemoryCandidate
        from affidavit.memory.checks import own_risk

        read = MemoryCandidate.model_validate(orjson.loads(body))
        over = read.expires()
        return CandidateRow(
            id=id,
            native=native,
            n=n,
            seen=n,
            origin=origin,
            version=version,
            status="pending",
            claimed=read.claimed_status or "",
            kind=read.kind,
            level=read.scope.level,
            scope=read.scope.key,
            source=read.source.type,
            confidence=read.confidence,
            authority=read.authority_asked,
            created=micros(read.created_at),
            expires=None if over is None else micros(over.isoformat()),
            risk=own_risk(read),
            words=words_of(read.content),
            memory=None,
            merged=None,
            until=None,
            stream=None,
            sseq=None,
            entry=None,
        )

    def _version(self, row: CandidateRow, entry: int | None, body: str) -> None:
        self.rows.put("candidate_version", CandidateVersionRow(row.id, row.version, entry, body))
        self.say("candidate", row.id, body)

    # -------------------------------------------------------------------------------------- what is said

    def say(self, what: str, id: str, body: str) -> None:
        """Note what a version says."""
        for row in said_rows(what, id, body):
            self.rows.put("said", row)

    def unsay(self, what: str, id: str, version: int) -> None:
        """Strike out what a version said."""
        held = self.rows.get(f"{what}_version", (id, version))
        for row in said_rows(what, id, held.body) if held is not None else ():
            self.rows.drop("said", (row.what, row.id, row.key))


def candidate_uid(session: str, native: str, origin: str = "") -> str:
    """The fixed-form id of a candidate: ``c`` and 15 hex digits, so that no prefix of it is a number."""
    names = f"memory.candidate\0{session}\0{native}\0{origin}".encode("utf-8", "surrogatepass")
    return "c" + hashlib.sha256(names).hexdigest()[:15]


def words_of(content: str) -> str:
    """A text's words in alphabetical order."""
    return normal(content).sorted[:MOST_WORDS]


def micros(time: str) -> int:
    """A recorded time in UTC microseconds since 1970."""
    return instant(time)[0] or 0


def said_rows(what: str, id: str, body: str) -> list[SaidRow]:
    """What a version says of which attributes."""
    from affidavit.memory.keys import claims

    if not body:
        return []
    read: Mapping[str, Any] = json.loads(body)
    scope = f"{read['scope']['level']}:{read['scope']['key']}"
    found = claims(read["content"], scope, read.get("conflictKeys", []), read.get("value"))
    return [SaidRow(what, id, claim.key, claim.key.rsplit(":", 1)[-1], claim.value) for claim in found]
