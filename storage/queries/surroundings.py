"""What a candidate is checked against, read from a store: its evidence, others like it, rule files, tombstones."""

from __future__ import annotations

from datetime import datetime
from typing import Final

import orjson

from affidavit.memory.candidate import MemoryCandidate
from affidavit.memory.checks import CheckReport, check, claims_of, text_of
from affidavit.memory.likeness import Text, compare, nearest
from affidavit.memory.settings import GovernancePolicy
from affidavit.memory.shown import digest
from affidavit.memory.surroundings import Evidence, Neighbour, RuleLine, Surroundings, one_chain
from affidavit.memory.words import LEVELS, Level
from affidavit.session.event import event_id
from storage.folds.governed import words_of
from storage.folds.governed_rows import CandidateRow
from storage.queries import governed
from storage.queries.connection import ReadConnection
from storage.queries.records import RecordError, Records
from storage.queries.timeline import by_id

MOST_COMPARED: Final = 50_000
"""Texts that are compared one by one; among more only those with the same words or a common key are found."""

MOST_NEIGHBOURS: Final = 40
MOST_EVIDENCE: Final = 50
LONGEST_LINE: Final = 2_000


class Checker:
    """Checks candidates of one store through one connection, in one state of it."""

    def __init__(self, link: ReadConnection, records: Records, governance: GovernancePolicy) -> None:
        self.link = link
        self.records = records
        self.governance = governance
        self._words: tuple[list[tuple[str, str]], list[str]] | None = None
        self._rules: list[tuple[str, list[RuleLine]]] | None = None

    def check(self, row: CandidateRow, candidate: MemoryCandidate, now: datetime) -> CheckReport:
        """Check one candidate as it stands."""
        settings = self.governance.of(candidate.scope.key)
        return check(candidate, self.around(row.id, candidate), settings, now)

    def around(self, id: str, candidate: MemoryCandidate) -> Surroundings:
        """What a candidate is checked against."""
        evidence, missing = self._evidence(candidate)
        words = words_of(candidate.content)
        neighbours = self._neighbours(id, candidate, words)
        stones = set(governed.tombstones(self.link, words)) | self._revoked(candidate, words)
        return Surroundings(
            evidence=evidence,
            missing=missing,
            lost=self._lost(candidate),
            neighbours=neighbours,
            rules=self._rule_lines(candidate),
            tombstones=tuple(sorted(stone for stone in stones if not stone.startswith(f"candidate/{id}@"))),
        )

    # ------------------------------------------------------------------------------------------ evidence

    def _evidence(self, candidate: MemoryCandidate) -> tuple[tuple[Evidence, ...], tuple[str, ...]]:
        found: list[Evidence] = []
        missing: list[str] = []
        for name in candidate.source.event_ids[:MOST_EVIDENCE]:
            one = self.evidence(name, candidate.session)
            if one is None:
                missing.append(name)
            else:
                found.append(one)
        return tuple(found), tuple(missing)

    def evidence(self, name: str, session: str | None) -> Evidence | None:
        """An event that speaks for something, by what it is called there."""
        for id in self._ids(name, session):
            rows = by_id(self.link, id, id, None, 1)
            if not rows:
                continue
            row = rows[0]
            uid, project = self.link.rows("SELECT uid, project FROM session WHERE no = ?", (row.session,))[0]
            try:
                text = self.records.detail(row).text
            except RecordError:
                text = ""
            return Evidence(name, row.kind == "user.message" and row.actor == "user", project, uid, text)
        return None

    def _ids(self, name: str, session: str | None) -> list[int]:
        """The event ids a name may stand for: an address, 16 hex digits, or an id in the session that is named."""
        digits = name.rpartition("#")[2]
        ids = []
        if len(digits) == 16 and set(digits) <= set("0123456789abcdef"):
            ids.append(int.from_bytes(bytes.fromhex(digits), "big", signed=True))
        if session is not None:
            query = "SELECT DISTINCT format, native FROM session WHERE native = ?1 OR uid = ?1 LIMIT 4"
            for format, native in self.link.rows(query, (session,)):
                ids.append(event_id(format, native, name, ""))
        return ids

    def _lost(self, candidate: MemoryCandidate) -> tuple[str, ...]:
        """Bodies it names by their digest that the store does not hold. Of paths nothing is known here."""
        lost = []
        for ref in candidate.source.artifact_refs:
            digits = ref.removeprefix("sha256:").removeprefix("payload/")
            if len(digits) != 64 or set(digits) - set("0123456789abcdef"):
                continue
            held = self.link.value(
                "SELECT EXISTS (SELECT 1 FROM artifact WHERE digest = ?1) "
                "OR EXISTS (SELECT 1 FROM payload WHERE sha256 = ?1)",
                (bytes.fromhex(digits),),
            )
            if not held:
                lost.append(ref)
        return tuple(lost)

    # ---------------------------------------------------------------------------------------- neighbours

    def _neighbours(self, id: str, candidate: MemoryCandidate, words: str) -> tuple[Neighbour, ...]:
        wanted = self._alike(words) | self._of_keys(candidate)
        wanted.discard(("candidate", id))
        found = [one for what, other in sorted(wanted) if (one := self._neighbour(what, other, candidate)) is not None]
        return tuple(found)

    def _alike(self, words: str) -> set[tuple[str, str]]:
        """Candidates and memories whose words are most like these."""
        exact = self.link.rows(
            "SELECT 'candidate', id FROM candidate WHERE words = ?1 UNION ALL "
            f"SELECT 'memory', id FROM memory WHERE words = ?1 LIMIT {MOST_NEIGHBOURS}",
            (words,),
        )
        names, texts = self._all_words()
        close = nearest(words, texts, self.governance.default.likeness.related, MOST_NEIGHBOURS)
        return {(what, id) for what, id in exact} | {names[place] for place in close}

    def _all_words(self) -> tuple[list[tuple[str, str]], list[str]]:
        if self._words is None:
            rows = self.link.rows(
                f"SELECT 'candidate', id, words FROM candidate WHERE {governed.WAITING} OR status = 'rejected' "
                "UNION ALL SELECT 'memory', id, words FROM memory WHERE status IN ('active', 'revoked') "
                f"LIMIT {MOST_COMPARED + 1}"
            )
            rows = [] if len(rows) > MOST_COMPARED else sorted(rows)
            self._words = [(what, id) for what, id, _ in rows], [words for _, _, words in rows]
        return self._words

    def _of_keys(self, candidate: MemoryCandidate) -> set[tuple[str, str]]:
        """Those that say something of the same attributes."""
        attributes = [claim.key.rsplit(":", 1)[-1] for claim in claims_of(candidate)]
        if not attributes:
            return set()
        query = "SELECT DISTINCT what, id FROM said WHERE attribute IN (SELECT value FROM json_each(?)) LIMIT 500"
        return {(what, id) for what, id in self.link.rows(query, (orjson.dumps(attributes).decode(),))}

    def _neighbour(self, what: str, id: str, candidate: MemoryCandidate) -> Neighbour | None:
        """Another as it is compared; ``None`` where it says nothing any more, or holds somewhere else."""
        table = "candidate" if what == "candidate" else "memory"
        row = self.link.row(f"SELECT version, status, level, scope FROM {table} WHERE id = ?", (id,))
        if row is None:
            return None
        version, status, level, scope = row
        if status not in (
            ("pending", "needs_review", "quarantined", "rejected") if what == "candidate" else ("active",)
        ):
            return None
        known: Level = next((name for name in LEVELS if name == level), "task")
        if not one_chain((candidate.scope.level, candidate.scope.key), (known, scope)):
            return None
        reason = self._reason(id) if status == "rejected" else None
        if what == "candidate":
            other = governed.read_candidate(self.link, id, version)
            if other is None:
                return None
            keys = tuple((claim.key, claim.value) for claim in claims_of(other))
            stamp = digest({"id": id, "version": version, "content": other.content})
            return Neighbour("candidate", id, version, status, text_of(other), keys, stamp, reason)
        record = governed.read_memory(self.link, id, version)
        if record is None:
            return None
        rows = self.link.rows('SELECT "key", value FROM said WHERE what = ? AND id = ? ORDER BY "key"', ("memory", id))
        text = Text(record.content, str(record.scope), record.kind, (record.valid_from, record.valid_until))
        stamp = digest({"id": id, "version": version, "content": record.content})
        return Neighbour("memory", id, version, status, text, tuple((key, said) for key, said in rows), stamp)

    def _reason(self, id: str) -> str:
        query = "SELECT reason FROM decision WHERE object = ? AND verb = 'reject' ORDER BY entry DESC LIMIT 1"
        return str(self.link.value(query, (id,)) or "")

    def _revoked(self, candidate: MemoryCandidate, words: str) -> set[str]:
        """Memories that were revoked and said nearly the same, here."""
        found = set()
        for what, id in self._alike(words):
            if what != "memory":
                continue
            row = self.link.row("SELECT version, status, scope, level FROM memory WHERE id = ?", (id,))
            if row is None or row[1] != "revoked":
                continue
            record = governed.read_memory(self.link, id, row[0])
            if record is None:
                continue
            thresholds = self.governance.of(candidate.scope.key).likeness.thresholds()
            alike = compare(Text(candidate.content), Text(record.content), thresholds).verdict
            stone = self.link.value("SELECT 1 FROM tombstone WHERE object = ? AND undone = 0 LIMIT 1", (id,))
            if alike in ("duplicate", "near") and stone:
                found.add(f"memory/{id}@{row[0]}")
        return found

    # --------------------------------------------------------------------------------------------- rules

    def _rule_lines(self, candidate: MemoryCandidate) -> tuple[RuleLine, ...]:
        """Lines of rule files for where it applies: of that repository's own, where one is called so; else of all."""
        files = self._all_rules()
        key = candidate.scope.key.replace("\\", "/").rstrip("/").rpartition("/")[2].partition("@")[0]
        own = [lines for path, lines in files if key and key in path.replace("\\", "/").split("/")[:-1]]
        chosen = own or [lines for _, lines in files]
        return tuple(line for lines in chosen for line in lines)

    def every_rule_line(self) -> list[RuleLine]:
        """Every line of every rule file, as last imported."""
        return [line for _, lines in self._all_rules() for line in lines]

    def _all_rules(self) -> list[tuple[str, list[RuleLine]]]:
        if self._rules is None:
            from storage.queries import rules

            self._rules = []
            for revisions in rules.rule_files(self.link):
                newest = revisions[-1]
                text = rules.text_of(self.records, newest)
                if text is None:
                    continue
                lines = text.decode("utf-8", "replace").split("\n")
                self._rules.append(
                    (
                        newest.path,
                        [
                            RuleLine(newest.path, number, line[:LONGEST_LINE])
                            for number, line in enumerate(lines, 1)
                            if line.strip() and not line.lstrip().startswith("#")
                        ],
                    )
                )
        return self._rules
