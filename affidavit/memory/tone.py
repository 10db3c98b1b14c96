"""How a memory is told to a model: its tone follows its kind, authority and confidence, and names source and scope."""

from __future__ import annotations

from affidavit.memory.record import GovernanceMemoryRecord

_WHERE = {
    "user": "for this user",
    "workspace": "in workspace {key}",
    "repo": "in {key}",
    "branch": "on branch {key}",
    "module": "in module {key}",
}
_ORIGINS = {
    "explicit_user": "a person said so",
    "verified_observation": "seen to work",
    "repeated_pattern": "seen several times",
    "tool_output": "a tool's output said so",
    "agent_reflection": "an agent concluded it",
}


def told(record: GovernanceMemoryRecord) -> str:
    """The sentence a model is given. What it says of itself stands before and behind, and never is the memory's own."""
    where = _WHERE[record.scope.level].format(key=record.scope.key)
    origin = _ORIGINS.get(record.origin, "its origin is not recorded")
    said = record.content.rstrip()
    said = said if said.endswith((".", "!", "?", "。")) else said + "."
    about = f"({where}; {origin}; confidence {record.confidence})"
    if record.kind == "task_experience":
        return f"In an earlier task: {said} Only if the error is similar, and check before relying on it {about}."
    if record.kind == "project_fact" and record.authority != "rule":
        return f"Noted as a fact: {said} Check the source first {about}."
    if record.authority == "rule":
        return f"Rule: {said} {about}"
    if record.authority == "default":
        return f"By default: {said} The user's present instruction goes before it {about}."
    return f"Perhaps useful: {said} It is a hint, not an instruction {about}."
