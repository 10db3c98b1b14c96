"""Deciding: ``decide(state, command, now)`` gives the entries to append, or why there are none. Pure.

An entry's body holds our own words and numbers only. Ids and versions stand in the content ``act``, texts in ``shown``
(what was decided about, whole, so that the decision stands by itself), ``made`` (what came of it) and ``reason``: each
salted, each erasable, ``act`` holding nothing anybody said.
"""

from __future__ import annotations

import hmac
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from typing import Any

from affidavit.memory.candidate import MemoryCandidate
from affidavit.memory.record import GovernanceMemoryRecord
from affidavit.memory.shown import difference
from affidavit.memory.transitions import ends
from affidavit.policy.actors import Actor, Refusal, refused
from affidavit.policy.decision import Content, Proposed
from affidavit.proof.canonical import canonical
from affidavit.review.commands import (
    CandidateState,
    Claim,
    Claimed,
    Decide,
    MemoryState,
    State,
    Undo,
)
from affidavit.text.normal import normal

DECISION, CLAIM, UNDO = "review.decision", "review.claim", "review.undo"
TYPES = (DECISION, CLAIM, UNDO)
"""The types of entries about candidates and memories."""

MOST_WORDS = 2_000
"""Characters of a text's words that a tombstone knows it by."""


def decide(state: State, command: Decide, now: datetime) -> list[Proposed] | Refusal:
    """What becomes of a decision somebody asks for."""
    thing = state.thing
    if thing is None:
        return Refusal("illegal_transition", "there is nothing there to decide about")
    if command.verb != "auto-approve" and (no := _may(state, command.actor)) is not None:
        return no
    if (no := _held(state.claim, command.actor, now)) is not None:
        return no
    if command.expect is not None and command.expect != thing.shown_hash:
        was = next((old for old in thing.earlier if sha256(canonical(old)).hexdigest() == command.expect), None)
        return Refusal("changed", "it is not any more what was shown", tuple(difference(was, thing.shown)))
    what = "candidate" if isinstance(thing, CandidateState) else "memory"
    if not ends("candidate" if what == "candidate" else "memory", thing.status, command.verb):
        return Refusal("illegal_transition", f"a {what} that is {thing.status} cannot be {_PAST[command.verb]}")
    if isinstance(thing, CandidateState):
        return _about_candidate(state, thing, command, now)
    return _about_memory(state, thing, command, now)


_PAST = {
    "approve": "approved", "reject": "rejected", "rewrite": "rewritten", "rescope": "moved to another scope",
    "ask": "asked about", "merge": "merged", "withdraw": "withdrawn", "revoke": "revoked", "deprecate": "deprecated",
    "renew": "renewed", "forget": "forgotten", "check": "checked", "auto-approve": "let in by itself", "undo": "undone",
}  # fmt: skip


def _may(state: State, actor: Actor) -> Refusal | None:
    return refused(actor, state.reviewers)


def _held(claim: Claimed | None, actor: Actor, now: datetime) -> Refusal | None:
    if claim is None or claim.by == actor.name or claim.until <= now:
        return None
    until = claim.until.isoformat(timespec="seconds")
    return Refusal("claimed", f"{claim.by} is deciding about it until {until}", ({"field": "claim", "now": claim.by},))


# -------------------------------------------------------------------------------------------- candidates


def decide_all(states: list[State], commands: list[Decide], now: datetime) -> list[Proposed] | Refusal:
    """What becomes of decisions taken together: all of them, or none. What is looked at alone is in no batch."""
    entries: list[Proposed] = []
    refusals: list[tuple[str, Refusal]] = []
    for state, command in zip(states, commands, strict=True):
        thing = state.thing
        id = "?" if thing is None else thing.id
        done = _alone(state) or decide(state, command, now)
        if isinstance(done, Refusal):
            refusals.append((id, done))
        else:
            entries += done
    if not refusals:
        return entries
    told = tuple({"field": id, "now": f"{no.code}: {no.reason}"} for id, no in refusals)
    return Refusal(refusals[0][1].code, f"{len(refusals)} of {len(commands)} cannot be decided so; none was", told)


def _alone(state: State) -> Refusal | None:
    """Why something is decided about alone, if it is."""
    thing = state.thing
    if not isinstance(thing, CandidateState):
        return None
    if thing.status == "quarantined" or thing.report.risk >= state.settings.single_from:
        return Refusal("not_allowed", f"its risk is {thing.report.risk}, it is {thing.status}: decide about it alone")
    return None


def undo_all(states: list[State], commands: list[Undo], now: datetime) -> list[Proposed] | Refusal:
    """Take decisions back together: all of them, or none."""
    entries: list[Proposed] = []
    for state, command in zip(states, commands, strict=True):
        done = undo(state, command, now)
        if isinstance(done, Refusal):
            return done
        entries += done
    return entries


def _about_candidate(state: State, thing: CandidateState, command: Decide, now: datetime) -> list[Proposed] | Refusal:
    made: dict[str, Any] | None = None
    if command.verb in ("approve", "auto-approve"):
        allowed = _approvable if command.verb == "approve" else _by_itself
        if (no := allowed(state, thing, command)) is not None:
            return no
        made = _promoted(thing, command, now).document()
    elif command.verb in ("rewrite", "rescope"):
        changed = _rewritten(thing, command)
        if changed is None:
            return []
        made = changed.document()
    elif command.verb == "merge" and (no := _mergeable(state, thing)) is not None:
        return no
    elif command.verb == "merge":
        made = _merged(state, thing.candidate.source.event_ids)
    return [_entry(state, thing, command, made)]


def _approvable(state: State, thing: CandidateState, command: Decide) -> Refusal | None:
    candidate, settings = thing.candidate, state.settings
    if candidate.proposed_by_agent == command.actor.name:
        return Refusal("agent", f"{command.actor.name} proposed it as an agent")
    if candidate.scope.level == "task":
        return Refusal("illegal_transition", "what holds for one task stays with it; rescope it first")
    if thing.status == "quarantined" and not command.opened:
        codes = [one.code for one in thing.report.findings if one.severity == "danger"]
        why = f"open what was found in it first ({', '.join(codes) or 'its risk'}): give --opened once you have read it"
        return Refusal("not_opened", why)
    asked = settings.four_eyes
    wanted = (
        candidate.kind in asked.kinds
        or candidate.scope.level in asked.levels
        or (asked.risk is not None and thing.report.risk >= asked.risk)
    )
    if wanted and candidate.proposed_by == command.actor.name:
        return Refusal(
            "four_eyes", f"{command.actor.name} proposed it; the policy asks for somebody else to approve it"
        )
    if command.authority == "rule" and command.batch is not None:
        return Refusal("not_allowed", "a rule is never let in with others at once")
    return None


POLICY = "policy"
"""Who decides where something enters by itself."""


def _by_itself(state: State, thing: CandidateState, command: Decide) -> Refusal | None:  # noqa: ARG001
    """Why something does not enter by itself: the applied policy must name its class, and nothing speak against it."""
    asked, report = state.settings.auto_approve, thing.report
    if thing.candidate.kind not in asked.kinds or thing.candidate.source.type not in asked.sources:
        return Refusal("not_allowed", "the policy in force lets nothing of its class in by itself")
    ordered = "directive" in report.codes() and thing.candidate.source.type != "explicit_user"
    if report.outcome != "may_approve" or report.risk >= state.settings.batch_from or ordered:
        return Refusal("not_allowed", f"its risk is {report.risk}, its check says {report.outcome}: a person decides")
    return None


def memory_id(decision: str) -> str:
    """The id of the memory a decision lets in: ``m`` and 15 hex digits, made from the decision's own id."""
    return "m" + sha256(f"memory\0{decision}".encode()).hexdigest()[:15]


def _promoted(thing: CandidateState, command: Decide, now: datetime) -> GovernanceMemoryRecord:
    candidate = thing.candidate
    ttl = candidate.ttl
    given = candidate.document()
    kept = (
        "user", "agent", "memorySpace", "route", "taskType", "riskMode", "title", "tags", "visibility", "validFrom",
        "validUntil", "conflictKeys", "value", "kind", "scope", "content", "confidence",
    )  # fmt: skip
    at = _iso(now)
    return GovernanceMemoryRecord.model_validate(
        {
            **{name: given[name] for name in kept if name in given},
            "id": memory_id(command.id),
            "candidateId": thing.id,
            "authority": "hint" if command.verb == "auto-approve" else command.authority or candidate.authority_asked,
            "sourceRefs": list(candidate.source.event_ids),
            "version": 1,
            "status": "active",
            "createdAt": candidate.created_at,
            "approvedAt": at,
            "updatedAt": at,
            "lastVerifiedAt": at,
            "expiresAt": command.expires or (ttl.expires_at if ttl else None),
            "reviewAfter": command.review or (ttl.review_after if ttl else None),
            "origin": candidate.source.type,
            "decidedBy": command.actor.name,
            "reason": command.reason,
        }
    )


def _rewritten(thing: CandidateState, command: Decide) -> MemoryCandidate | None:
    """The next version; ``None`` where nothing would change."""
    changes: dict[str, Any] = {}
    if command.content is not None and command.content != thing.candidate.content:
        changes["content"] = command.content
    if command.scope is not None and command.scope != thing.candidate.scope:
        changes["scope"] = command.scope.model_dump(by_alias=True)
    ttl = thing.candidate.ttl
    dates = (
        command.expires or (ttl.expires_at if ttl else None),
        command.review or (ttl.review_after if ttl else None),
    )
    if dates != (ttl.expires_at if ttl else None, ttl.review_after if ttl else None):
        changes["ttl"] = {"expiresAt": dates[0], "reviewAfter": dates[1]}
    if not changes:
        return None
    return thing.candidate.own(**changes, proposedBy=command.actor.name, createdBy="reviewer")


def _mergeable(state: State, thing: CandidateState | MemoryState) -> Refusal | None:
    into = state.into
    if into is None or into.id == thing.id:
        return Refusal("illegal_transition", "a merge names another candidate or memory to go into")
    if isinstance(into, MemoryState) and into.status != "active":
        return Refusal("illegal_transition", f"memory/{into.id} is {into.status}: nothing can be merged into it")
    if isinstance(into, CandidateState) and (
        into.status not in ("pending", "needs_review", "quarantined") or isinstance(thing, MemoryState)
    ):
        return Refusal("illegal_transition", f"candidate/{into.id} is no place to merge this into")
    return None


def _merged(state: State, refs: list[str]) -> dict[str, Any]:
    """What it is merged into, with the evidence added."""
    into = state.into
    if isinstance(into, MemoryState):
        known = into.record.source_refs
        more = [ref for ref in refs if ref not in known]
        return {**into.record.document(), "sourceRefs": [*known, *more]}
    assert into is not None
    source = into.candidate.source
    more = [ref for ref in refs if ref not in source.event_ids]
    found = into.candidate.document()
    return {**found, "source": {**found["source"], "eventIds": [*source.event_ids, *more]}}


# ---------------------------------------------------------------------------------------------- memories


def _about_memory(state: State, thing: MemoryState, command: Decide, now: datetime) -> list[Proposed] | Refusal:
    made: dict[str, Any] | None = None
    if command.verb in ("rewrite", "rescope", "renew"):
        changed = _changed(thing, command, now)
        if changed is None:
            return []
        made = changed.document()
    elif command.verb == "merge":
        if (no := _mergeable(state, thing)) is not None:
            return no
        made = _merged(state, thing.record.source_refs)
    return [_entry(state, thing, command, made)]


def _changed(thing: MemoryState, command: Decide, now: datetime) -> GovernanceMemoryRecord | None:
    """The memory as it is afterwards; ``None`` where a rewrite or rescope would change nothing."""
    record = thing.record
    changes: dict[str, Any] = {}
    if command.content is not None and command.content != record.content:
        changes["content"] = command.content
    if command.scope is not None and command.scope != record.scope:
        changes["scope"] = command.scope.model_dump(by_alias=True)
    if command.authority is not None and command.authority != record.authority:
        changes["authority"] = command.authority
    if command.expires is not None:
        changes["expiresAt"] = command.expires
    if command.review is not None:
        changes["reviewAfter"] = command.review
    if command.verb == "renew":
        over = record.expires()
        if over is not None and over <= now and command.expires is None:
            changes["expiresAt"] = None
        return _again(record, {**changes, "lastVerifiedAt": _iso(now), "status": "active"}, command, now)
    if not changes:
        return None
    more = {"version": thing.version + 1, "supersedes": [f"memory/{thing.id}@{thing.version}"]}
    return _again(record, {**changes, **more}, command, now)


def _again(
    record: GovernanceMemoryRecord, changes: dict[str, Any], command: Decide, now: datetime
) -> GovernanceMemoryRecord:
    told = {"updatedAt": _iso(now), "decidedBy": command.actor.name, "reason": command.reason}
    return GovernanceMemoryRecord.model_validate({**record.model_dump(by_alias=True), **changes, **told})


# ------------------------------------------------------------------------------------------------ entries


def _entry(state: State, thing: CandidateState | MemoryState, command: Decide, made: dict[str, Any] | None) -> Proposed:
    candidate = isinstance(thing, CandidateState)
    document = thing.candidate.document() if isinstance(thing, CandidateState) else thing.record.document()
    content = thing.candidate.content if isinstance(thing, CandidateState) else thing.record.content
    act: dict[str, Any] = {
        "what": "candidate" if candidate else "memory",
        "id": thing.id,
        "version": thing.version,
        "memory": memory_id(command.id) if command.verb in ("approve", "auto-approve") else None,
        "into": None if state.into is None or command.verb != "merge" else state.into.id,
        "until": command.until,
        "batch": command.batch,
        "about": _about(made if command.verb != "merge" and made is not None else document),
    }
    body = {
        "verb": command.verb,
        "shownHash": hmac.digest(state.salt, thing.shown_hash.encode(), "sha256").hex(),
        "findings": thing.shown["findings"],
        "opened": command.opened,
    }
    act["salt"] = state.salt.hex()
    forgets = command.verb == "forget"
    contents = [Content("act", "application/json", canonical({k: v for k, v in act.items() if v is not None}))]
    if not forgets:
        contents.append(Content("shown", "application/json", canonical({"document": document, "shown": thing.shown})))
    if made is not None:
        contents.append(Content("made", "application/json", canonical(made)))
    if forgets or command.verb in ("reject", "revoke"):
        contents.append(_stone(content, state.salt, forgets))
    contents += _signed(command.actor, command.reason)
    return Proposed(command.id, DECISION, thing.head, body, tuple(contents))


def _stone(content: str, salt: bytes, forgets: bool) -> Content:
    """What it is known again by: its words, or of what is forgotten their HMAC."""
    words = normal(content).sorted[:MOST_WORDS]
    mac = hmac.digest(salt, words.encode("utf-8", "surrogatepass"), "sha256").hex()
    known = {"salt": salt.hex(), "mac": mac} if forgets else {"words": words}
    return Content("tombstone", "application/json", canonical(known))


_KEPT = (
    "kind", "authority", "authorityAsked", "confidence", "visibility", "createdAt", "approvedAt", "updatedAt",
    "lastVerifiedAt", "expiresAt", "reviewAfter",
)  # fmt: skip


def _about(document: dict[str, Any]) -> dict[str, Any]:
    """What of a document is nobody's text, and stays when its texts are erased."""
    found = {name: document[name] for name in _KEPT if name in document}
    return {**found, "level": document["scope"]["level"], "source": document.get("source", {}).get("type", "")}


def _signed(actor: Actor, reason: str) -> list[Content]:
    return [
        Content("actor", "text/plain", actor.name.encode("utf-8", "replace")),
        Content("reason", "text/plain", reason.encode("utf-8", "replace")),
    ]


def claim(state: State, command: Claim, now: datetime) -> list[Proposed] | Refusal:
    """What becomes of taking something to decide about it, or giving it back."""
    thing = state.thing
    if thing is None:
        return Refusal("illegal_transition", "there is nothing there to decide about")
    if (no := _may(state, command.actor)) is not None:
        return no
    if (no := _held(state.claim, command.actor, now)) is not None:
        return no
    if isinstance(thing, CandidateState) and not ends("candidate", thing.status, "reject"):
        return Refusal("illegal_transition", f"it is {thing.status}: there is nothing to decide")
    if command.release and (state.claim is None or state.claim.until <= now):
        return []
    until = now if command.release else now + timedelta(minutes=state.settings.claim_minutes)
    what = "candidate" if isinstance(thing, CandidateState) else "memory"
    body = {"verb": "release" if command.release else "claim", "until": _iso(until)}
    contents = (
        Content("act", "application/json", canonical({"what": what, "id": thing.id, "version": thing.version})),
        Content("actor", "text/plain", command.actor.name.encode("utf-8", "replace")),
    )
    return [Proposed(command.id, CLAIM, thing.head, body, contents)]


def undo(state: State, command: Undo, now: datetime) -> list[Proposed] | Refusal:
    """What becomes of taking a decision back."""
    decision = state.decision
    if decision is None:
        return Refusal("illegal_transition", "there is no such decision")
    if (no := _may(state, command.actor)) is not None:
        return no
    if (no := _held(state.claim, command.actor, now)) is not None:
        return no
    if decision.undone:
        return Refusal("illegal_transition", "it was undone already")
    if decision.verb in ("forget", "undo"):
        return Refusal("illegal_transition", f"a decision to {decision.verb} cannot be undone")
    if decision.built_on:
        after = ", ".join(decision.built_on)
        return Refusal("illegal_transition", f"another decision was built on it ({after}); undo that first, or revoke")
    if decision.served:
        return Refusal("illegal_transition", f"a recall served it since ({decision.served[0]}): revoke it instead")
    act = {"decision": decision.id, "what": decision.thing, "id": decision.object}
    contents = (Content("act", "application/json", canonical(act)), *_signed(command.actor, command.reason))
    return [Proposed(command.id, UNDO, decision.head, {"verb": "undo"}, contents)]


def _iso(moment: datetime) -> str:
    return moment.astimezone(UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")
