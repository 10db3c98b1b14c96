"""What a session ran under: how it was opened, each turn's policy, and windows that replaced the context."""

from __future__ import annotations

from typing import Any

from affidavit.session.echoes import CALL, hash_of
from affidavit.session.event import Draft, Reading, Usage
from affidavit.session.forks import FROM, SINCE, START
from affidavit.session.policies import POLICY
from storage.readers.codex.items import COMPACTED
from storage.readers.lenient import compact, obj, one_line, pretty, text

Record = dict[str, Any]

LONGEST = 300
"""Characters kept of one thing a policy states."""


def read_opening(payload: Record, reading: Reading) -> bool:
    """``session_meta``, or the first line of the oldest files.

    A file of a fork or a sub-agent holds its parent's too, copied with the parent's history: that opens nothing here.
    """
    named = text(payload.get("id"))
    if reading.session is not None and named and named != reading.session:
        said = f"history copied from session {named}"
        reading.facts = {FROM: named}
        reading.drafts.append(Draft("lifecycle", "runtime", pretty(payload), summary=said))
        return True
    if named:
        reading.session = named
    git = obj(payload.get("git"))
    facts = {
        "cwd": text(payload.get("cwd")),
        "git_branch": text(git.get("branch")),
        "version": text(payload.get("cli_version")),
    }
    reading.facts = {name: value for name, value in facts.items() if value}
    reading.facts.update(_taken_along(payload, reading))
    if starter := _starter(payload):
        reading.facts["started_by"] = starter
    told = [text(payload.get("originator")), text(payload.get("cli_version")), _from(payload)]
    summary = " · ".join(part for part in told if part) or "session opened"
    reading.drafts.append(Draft("session.opened", "runtime", pretty(payload), summary=one_line(summary)))
    return True


def _taken_along(payload: Record, reading: Reading) -> dict[str, str]:
    """What a fork's or a sub-agent's opening says of the history it may begin with: whose, and how far it goes.

    A sub-agent that was not forked began with nothing, or says whose history it has in the next record.
    """
    source = payload.get("source")
    fork = text(payload.get("forked_from_id"))
    start = payload.get("subagent_history_start_ordinal")
    if not fork and start is None and not text(payload.get("parent_thread_id")) and type(source) is not dict:
        return {}
    since = text(payload.get("timestamp")) or reading.at or ""
    facts = {FROM: fork, SINCE: since}
    if type(start) is int:
        facts[START] = str(start)
    if fork:
        facts["forked_from"] = fork
    return facts


def _from(payload: Record) -> str:
    """What started the session, where another one did."""
    source = payload.get("source")
    if fork := text(payload.get("forked_from_id")):
        return f"forked from {fork}"
    if type(source) is dict:
        parent = _starter(payload)
        kind = source.get("subagent")
        return f"sub-agent of {parent}" if parent else f"sub-agent {kind}" if type(kind) is str else "sub-agent"
    return text(source)


def _starter(payload: Record) -> str:
    """The session that started this one as its sub-agent; empty where none did, or is not named."""
    spawn = obj(obj(obj(payload.get("source")).get("subagent")).get("thread_spawn"))
    return text(spawn.get("parent_thread_id")) or text(payload.get("parent_thread_id"))


def read_policy(payload: Record, reading: Reading) -> bool:
    """``turn_context``: the model, and what it may do without asking, from here on."""
    told = policy_of(payload)
    if cwd := text(payload.get("cwd")):
        reading.facts = {"cwd": cwd}
    summary = _summary(told) or "turn context"
    reading.drafts.append(Draft("lifecycle", "runtime", pretty(payload), summary=one_line(summary)))
    reading.queue = (POLICY, told)
    if model := told.get("model"):
        reading.usage = Usage(f"model {model}", model, 0, 0, 0, 0)
    return True


def policy_of(payload: Record) -> dict[str, str]:
    """What a turn's context, or settings that were applied, state: each of them in a word."""
    approval = payload.get("approval_policy")
    sandbox = obj(payload.get("sandbox_policy"))
    network = sandbox.get("network_access")
    told = {
        "model": text(payload.get("model")),
        "effort": text(payload.get("effort")) or text(payload.get("reasoning_effort")),
        "approval": approval if type(approval) is str else compact(approval) if approval else "",
        "sandbox": text(sandbox.get("type")) or text(sandbox.get("mode")) or text(payload.get("sandbox_policy")),
        "network": "allowed" if network is True else "refused" if network is False else "",
        "reviewer": text(payload.get("approvals_reviewer")),
        "permissions": text(obj(payload.get("permission_profile")).get("type")),
        "mode": text(obj(payload.get("collaboration_mode")).get("mode")),
        "cwd": text(payload.get("cwd")),
    }
    return {name: one_line(value, LONGEST) for name, value in told.items() if value}


def _summary(told: dict[str, str]) -> str:
    return " · ".join(
        f"{name} {value}" for name, value in told.items() if name != "cwd" and (name, value) != ("network", "refused")
    )


def read_settings(payload: Record, reading: Reading) -> None:
    """``thread_settings_applied``: the same, changed between turns."""
    told = policy_of(obj(payload.get("thread_settings")))
    summary = _summary(told) or "settings applied"
    reading.drafts.append(Draft("lifecycle", "runtime", pretty(payload), summary=one_line(summary)))
    reading.queue = (POLICY, told)


def read_window(payload: Record, reading: Reading) -> bool:
    """``compacted``: the context was replaced by a summary, and by which messages."""
    said = text(payload.get("message"))
    kept = payload.get("replacement_history")
    count = len(kept) if type(kept) is list else 0
    whole = "\n\n".join(part for part in (said, pretty(kept) if count else "") if part)
    summary = one_line(said) if said else f"context replaced by {count} messages" if count else "context compacted"
    reading.queue = (CALL, (hash_of(COMPACTED, ""),))
    reading.drafts.append(Draft("compaction", "runtime", whole, summary=summary))
    return True
