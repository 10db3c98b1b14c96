"""Checks of a candidate: findings with points and evidence, their visible sum, and what to do about it.

A pure function of the candidate, its surroundings, the settings and now. It advises; what it says must be looked at by
a person, or lies in quarantine, is binding.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from typing import Literal, NamedTuple

from affidavit.memory.candidate import MemoryCandidate
from affidavit.memory.guards import differing, marks, opposed
from affidavit.memory.hazards import hazards, hedged
from affidavit.memory.keys import Claim, claims
from affidavit.memory.likeness import Compared, Text, compare, content_words
from affidavit.memory.settings import GovernanceSettings
from affidavit.memory.surroundings import Evidence, Neighbour, Surroundings, one_chain
from affidavit.memory.transitions import OPEN
from affidavit.memory.words import LEVELS, Level, Likeness, Outcome, Severity
from affidavit.text.display import display


class Finding(NamedTuple):
    """Something a check found. ``evidence``: addresses, files with lines, or the words themselves, safe to show."""

    code: str
    severity: Severity
    points: int
    evidence: tuple[str, ...]


class Like(NamedTuple):
    """Another that is like it. ``differs``: the guards in which they differ."""

    id: str
    score: float
    verdict: Likeness
    differs: tuple[str, ...]


class Conflict(NamedTuple):
    """Another that says otherwise about the same key."""

    id: str
    key: str
    digest: str


class CheckReport(NamedTuple):
    """What checking gave. ``risk``: the sum of the findings' points."""

    findings: tuple[Finding, ...]
    risk: int
    outcome: Outcome
    likeness: tuple[Like, ...]
    conflicts: tuple[Conflict, ...]

    def codes(self) -> list[str]:
        """The findings' codes, in alphabetical order."""
        return sorted(finding.code for finding in self.findings)

    def status(self, stored: str) -> str:
        """The status an open candidate has once this is known."""
        if stored not in OPEN:
            return stored
        if self.outcome == "quarantine":
            return "quarantined"
        return "needs_review" if self.outcome == "needs_person" or stored == "needs_review" else "pending"


CODES: dict[str, str] = {
    "source": "how much its kind of source is trusted",
    "directive": "it orders what is to be done",
    "touches_rights": "it speaks of secrets, rights, production or an address",
    "lowers_safeguard": "it lowers a safeguard",
    "hides_itself": "it asks not to be mentioned",
    "hidden_characters": "it holds characters that cannot be seen",
    "secret": "it holds what looks like a secret",
    "noise": "it says nothing to be remembered",
    "hedged": "it or what it was taken from supposes, and does not say so",
    "directive_from_non_user": "an order that no person gave",
    "scope": "how far it reaches",
    "scope_unknown": "where it applies is not said",
    "scope_wider_than_evidence": "it reaches further than what speaks for it",
    "one_off": "a wish for one task, kept for longer",
    "authority": "the tone it asks for",
    "authority_without_user": "it asks to be more than a hint, and no person said so",
    "no_evidence": "no event that it names is in the store",
    "evidence_missing": "an event it names is not in the store",
    "artifact_missing": "a file or body it names is not there",
    "external_source": "it came in from outside: a page, a mail, a tool",
    "agent_echo": "a repeated pattern that no person repeated",
    "echo": "it says again what the agent had been given from memory",
    "inferred_preference": "a preference that was concluded from one exchange",
    "confidence_unfounded": "it claims to be surer than its source allows",
    "claimed_status": "its proposer says it is approved already",
    "conflict": "another says otherwise about the same",
    "restates_rule_file": "a rule file says it already",
    "contradicts_rule_file": "a rule file says otherwise",
    "tombstone": "it was revoked, rejected or forgotten before",
    "rejected_before": "one like it was rejected",
    "duplicate": "the store has it already",
    "ttl_missing": "it is of a kind that needs a time to live",
    "expired": "its time is over",
    "future": "it says it was made later than now",
}
"""Every code a finding may have and what it means."""


def check(candidate: MemoryCandidate, around: Surroundings, settings: GovernanceSettings, now: datetime) -> CheckReport:
    """Check one candidate."""
    findings = [
        *_source(candidate, around, settings),
        *_shape(candidate, around, settings),
        *_reach(candidate, around, settings),
        *_time(candidate, settings, now),
    ]
    likeness, conflicts, met = _neighbours(candidate, around, settings)
    findings += met
    findings += _rules(candidate, around, settings)
    if around.tombstones:
        findings.append(Finding("tombstone", "danger", settings.points.tombstone, tuple(sorted(around.tombstones))))
    findings.sort(key=lambda finding: (-finding.points, finding.code, finding.evidence))
    risk = sum(finding.points for finding in findings)
    outcome = _outcome(candidate, findings, risk, settings)
    return CheckReport(tuple(findings), risk, outcome, tuple(likeness), tuple(conflicts))


# ------------------------------------------------------------------------------------------------ source


def _source(candidate: MemoryCandidate, around: Surroundings, settings: GovernanceSettings) -> Iterator[Finding]:
    points, source = settings.points, candidate.source
    yield Finding("source", "info", points.source(source.type), (source.type,))
    if not around.evidence:
        yield Finding("no_evidence", "warning", points.no_evidence, ())
    if around.missing and around.evidence:
        yield Finding("evidence_missing", "warning", 0, tuple(sorted(around.missing)))
    if around.lost:
        yield Finding("artifact_missing", "warning", points.artifact_missing, tuple(sorted(around.lost)))
    persons = [evidence for evidence in around.evidence if evidence.from_person]
    if source.type == "repeated_pattern" and around.evidence and len(persons) < 2:
        yield Finding("agent_echo", "warning", 0, tuple(evidence.id for evidence in around.evidence))
    if source.type == "tool_output":
        yield Finding("external_source", "warning", 0, tuple(evidence.id for evidence in around.evidence))
    supposed = [
        evidence.id for evidence in around.evidence if hedged(evidence.text) and _speaks_of(candidate, evidence.text)
    ]
    if supposed and source.type != "explicit_user":
        yield Finding("hedged", "warning", 0, tuple(supposed))
    said_again = tuple(address for address, text in around.served if _same_words(candidate.content, text))
    if said_again:
        yield Finding("echo", "warning", 0, said_again)
    if candidate.kind == "user_preference" and source.type in ("agent_reflection", "verified_observation"):
        yield Finding("inferred_preference", "warning", 0, (source.type,))
    if candidate.confidence == "high" and not _may_be_sure(candidate, around):
        yield Finding("confidence_unfounded", "warning", 0, (source.type,))
    if candidate.claimed_status is not None:
        yield Finding("claimed_status", "info", 0, (display(candidate.claimed_status),))


def _may_be_sure(candidate: MemoryCandidate, around: Surroundings) -> bool:
    """High only from an explicit user, or from what was verified in three tasks."""
    if candidate.source.type == "explicit_user":
        return True
    sessions = {evidence.session for evidence in around.evidence}
    return candidate.source.type in ("verified_observation", "repeated_pattern") and len(sessions) >= 3


def _speaks_of(candidate: MemoryCandidate, text: str) -> bool:
    return bool(content_words(candidate.content) & content_words(text[:20_000]))


def _same_words(one: str, other: str) -> bool:
    mine, theirs = content_words(one), content_words(other)
    return bool(mine) and len(mine & theirs) >= 0.85 * max(len(mine), len(theirs)) and not differing(one, other)


def by_person(candidate: MemoryCandidate, around: Surroundings) -> bool:
    """Whether a person said it, in an event that is there."""
    return candidate.source.type == "explicit_user" and any(evidence.from_person for evidence in around.evidence)


# ------------------------------------------------------------------------------------------------- shape


def _shape(candidate: MemoryCandidate, around: Surroundings, settings: GovernanceSettings) -> Iterator[Finding]:
    points = settings.points
    said = by_person(candidate, around)
    texts = "\n".join(part for part in (candidate.title, candidate.content, candidate.value) if part)
    for found in hazards(texts):
        where = (found.said,) if found.said else ()
        if found.code == "directive":
            yield Finding("directive", "info", 0 if said else points.directive, where)
            if candidate.source.type != "explicit_user":
                yield Finding("directive_from_non_user", "danger", 0, (candidate.source.type,))
        elif found.code == "touches_rights":
            yield Finding("touches_rights", "warning", 0 if said else points.touches_rights, where)
        elif found.code == "lowers_safeguard":
            yield Finding("lowers_safeguard", "danger", points.lowers_safeguard, where)
        elif found.code == "hides_itself":
            yield Finding("hides_itself", "danger", points.hides_itself, where)
        elif found.code == "hidden_characters":
            yield Finding("hidden_characters", "danger", points.hidden_characters, where)
        elif found.code == "secret":
            yield Finding("secret", "danger", 0, ())
        elif found.code == "noise":
            yield Finding("noise", "warning", 0, where)
        elif not said:
            yield Finding("hedged", "warning", 0, where)


# ------------------------------------------------------------------------------------------------- reach


_ONE_OFF = (
    "this time",
    "just now",
    "for now",
    "only today",
    "just this once",
    "this task",
    "today",
    "今回",
    "这次",
    "這次",
)


def _reach(candidate: MemoryCandidate, around: Surroundings, settings: GovernanceSettings) -> Iterator[Finding]:
    points, scope = settings.points, candidate.scope
    yield Finding("scope", "info", points.scope(scope.level), (str(scope),))
    if not scope.key.strip():
        yield Finding("scope_unknown", "warning", 0, (scope.level,))
    seen_in = sorted({evidence.project for evidence in around.evidence if evidence.project})
    if scope.level in ("user", "workspace") and len(seen_in) == 1 and not by_person(candidate, around):
        yield Finding("scope_wider_than_evidence", "warning", points.scope_wider_than_evidence, tuple(seen_in))
    lower = candidate.content.casefold()
    once = [words for words in _ONE_OFF if words in lower]
    if once and scope.level != "task":
        yield Finding("one_off", "warning", 0, (once[0],))
    asked = candidate.authority_asked
    if asked != "hint":
        added = points.authority_rule if asked == "rule" else points.authority_default
        yield Finding("authority", "info", added, (asked,))
        if not by_person(candidate, around):
            yield Finding("authority_without_user", "warning", 0, (asked, candidate.source.type))


def _time(candidate: MemoryCandidate, settings: GovernanceSettings, now: datetime) -> Iterator[Finding]:
    over = candidate.expires()
    if over is None and candidate.kind in settings.ttl_kinds:
        yield Finding("ttl_missing", "info", settings.points.ttl_missing, (candidate.kind,))
    if over is not None and over <= now:
        yield Finding("expired", "warning", 0, (over.isoformat(),))
    if datetime.fromisoformat(candidate.created_at) > now:
        yield Finding("future", "warning", 0, (candidate.created_at,))


# -------------------------------------------------------------------------------------------- neighbours


def text_of(candidate: MemoryCandidate) -> Text:
    """A candidate as it is compared."""
    return Text(candidate.content, str(candidate.scope), candidate.kind, (candidate.valid_from, candidate.valid_until))


def claims_of(candidate: MemoryCandidate) -> list[Claim]:
    """What a candidate says of which keys."""
    return claims(candidate.content, str(candidate.scope), candidate.conflict_keys, candidate.value)


def _neighbours(
    candidate: MemoryCandidate, around: Surroundings, settings: GovernanceSettings
) -> tuple[list[Like], list[Conflict], list[Finding]]:
    mine = text_of(candidate)
    keys = {(claim.key, claim.value): claim for claim in claims_of(candidate)}
    likeness: list[Like] = []
    conflicts: list[Conflict] = []
    copies: list[str] = []
    refused: list[str] = []
    for neighbour in around.neighbours:
        compared = compare(mine, neighbour.text, settings.likeness.thresholds())
        if neighbour.rejected_for is not None:
            if compared.verdict in ("duplicate", "near"):
                refused.append(f"{neighbour.address}: {neighbour.rejected_for}")
            continue
        key = _disagree(candidate, keys, neighbour, compared)
        if key is not None:
            conflicts.append(Conflict(neighbour.id, key, neighbour.digest))
            compared = compared._replace(verdict="contradicts")
        elif compared.verdict == "duplicate" and neighbour.what == "memory" and neighbour.status == "active":
            copies.append(neighbour.address)
        if compared.verdict != "distinct":
            likeness.append(Like(neighbour.id, compared.score, compared.verdict, compared.differs))
    likeness.sort(key=lambda like: (-like.score, like.id))
    conflicts.sort()
    findings = []
    if conflicts:
        named = tuple(f"{conflict.id} ({conflict.key})" for conflict in conflicts)
        findings.append(Finding("conflict", "danger", settings.points.conflict, named))
    if copies:
        findings.append(Finding("duplicate", "info", 0, tuple(sorted(copies))))
    if refused:
        findings.append(Finding("rejected_before", "warning", 0, tuple(sorted(refused))))
    return likeness, conflicts, findings


def _disagree(
    candidate: MemoryCandidate, keys: dict[tuple[str, str], Claim], neighbour: Neighbour, compared: Compared
) -> str | None:
    """The key about which a neighbour says otherwise; ``None``: it does not."""
    level, _, key = neighbour.text.scope.partition(":")
    theirs: tuple[Level, str] = (_level(level), key)
    if not one_chain((candidate.scope.level, candidate.scope.key), theirs):
        return None
    if _apart(candidate, neighbour.text):
        return None
    for (name, value), _ in sorted(keys.items()):
        for other, said in neighbour.keys:
            if _attribute(other) != _attribute(name):
                continue
            if value and said and value != said:
                return name
            if not (value and said) and compared.verdict not in ("duplicate", "near"):
                return name
    if compared.verdict == "contradicts":
        return f"{candidate.scope}:text"
    return None


def _attribute(key: str) -> str:
    """A key without its scope's level, so that a wider scope's key meets a narrower one's."""
    return key.rsplit(":", 1)[-1]


def _level(word: str) -> Level:
    return next((level for level in LEVELS if level == word), "task")


def _apart(candidate: MemoryCandidate, other: Text) -> bool:
    """Whether two hold at times that do not touch."""
    from_, until = other.validity
    return bool(
        (
            candidate.valid_until
            and from_
            and datetime.fromisoformat(candidate.valid_until) <= datetime.fromisoformat(from_)
        )
        or (
            candidate.valid_from
            and until
            and datetime.fromisoformat(until) <= datetime.fromisoformat(candidate.valid_from)
        )
    )


# ------------------------------------------------------------------------------------------------- rules


def _rules(candidate: MemoryCandidate, around: Surroundings, settings: GovernanceSettings) -> Iterator[Finding]:
    restated, against = [], []
    for rule in around.rules:
        verdict = rule_verdict(candidate.content, rule.text)
        if verdict == "restates":
            restated.append(f"{rule.file}:{rule.line}")
        elif verdict == "contradicts":
            against.append(f"{rule.file}:{rule.line}")
    if restated:
        yield Finding("restates_rule_file", "warning", 0, tuple(restated))
    elif against:
        yield Finding("contradicts_rule_file", "danger", settings.points.contradicts_rule_file, tuple(against))


def rule_verdict(content: str, line: str) -> Literal["restates", "contradicts"] | None:
    """What a memory is to a line of a rule file."""
    mine, theirs = content_words(content), content_words(line)
    if not mine or not theirs:
        return None
    differs = differing(content, line)
    shared = mine & theirs
    if len(shared) >= 0.85 * max(len(mine), len(theirs)) and not differs:
        return "restates"
    said = {claim.key: claim.value for claim in claims(content, "", [], None)}
    told = {claim.key: claim.value for claim in claims(line, "", [], None)}
    if any(told.get(key, value) != value for key, value in said.items()):
        return "contradicts"
    named = marks(content).identifiers & marks(line).identifiers
    alike = len(shared) >= 0.5 * min(len(mine), len(theirs)) and len(shared) > 1
    return "contradicts" if (named or alike) and opposed(content, line) else None


# ----------------------------------------------------------------------------------------------- outcome

_PERSON = frozenset(
    {
        "directive_from_non_user", "hedged", "inferred_preference", "agent_echo", "echo", "external_source", "conflict",
        "contradicts_rule_file", "lowers_safeguard", "hides_itself", "confidence_unfounded",
        "authority_without_user", "tombstone", "rejected_before", "artifact_missing", "expired",
    }
)  # fmt: skip


def _outcome(candidate: MemoryCandidate, findings: list[Finding], risk: int, settings: GovernanceSettings) -> Outcome:
    codes = {finding.code for finding in findings}
    ordered_from_outside = candidate.source.type == "tool_output" and "directive" in codes
    if codes & {"secret", "hidden_characters"} or risk >= settings.quarantine_from or ordered_from_outside:
        return "quarantine"
    if codes & {"restates_rule_file", "noise", "tombstone"}:
        return "reject"
    if (
        codes & _PERSON
        or risk >= settings.single_from
        or candidate.kind in settings.person_kinds
        or candidate.scope.level in settings.person_levels
        or candidate.authority_asked == "rule"
    ):
        return "needs_person"
    if codes & {"scope_wider_than_evidence", "scope_unknown", "one_off"}:
        return "narrow_scope"
    if codes & {"no_evidence", "evidence_missing", "duplicate"}:
        return "wait"
    if risk >= settings.batch_from:
        return "needs_person"
    return "shorten_ttl" if "ttl_missing" in codes else "may_approve"


def own_risk(candidate: MemoryCandidate) -> int:
    """The points a candidate carries by itself, whatever it meets in a store: what a queue is ordered by."""
    settings = GovernanceSettings()
    said = candidate.source.type == "explicit_user" and candidate.source.event_ids
    evidence = tuple(Evidence(id, bool(said), None, "", "") for id in candidate.source.event_ids[:1])
    around = Surroundings(evidence=evidence)
    findings = (
        *_source(candidate, around, settings),
        *_shape(candidate, around, settings),
        *_reach(candidate, around, settings),
    )
    return sum(finding.points for finding in findings)
