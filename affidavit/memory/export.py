"""Memories written for the stores of other tools. What is written is given: nothing here decides what passes.

A memory that came from such a store keeps the fields Affidavit does not know, unless they hide something or hold a
secret: nobody has read them. What names and describes it is made of what was approved.
"""

from __future__ import annotations

import difflib
import json
import re
from collections.abc import Sequence
from typing import Any, Final, NamedTuple

from affidavit.memory.record import GovernanceMemoryRecord
from affidavit.memory.tone import told
from affidavit.text.hidden import hidden_payload
from affidavit.text.masking import holds_secret

BEGIN: Final = "<!-- affidavit memories: begin -->"
END: Final = "<!-- affidavit memories: end -->"
LONGEST_HOOK: Final = 150
_TYPES: Final = {"user_preference": "user", "procedure_rule": "feedback"}
_FILE = re.compile(r"[A-Za-z0-9][\w.-]{0,100}\.md", re.ASCII)
_OURS = re.compile(r"(?:name|description|affidavit)[ \t]*:")


class Out(NamedTuple):
    """A memory to write. ``foreign``: what its store said of it besides; ``unchanged``: its words are still those."""

    record: GovernanceMemoryRecord
    foreign: dict[str, Any] | None
    unchanged: bool


def safe(foreign: Any) -> dict[str, Any] | None:
    """A store's own fields, where they hide nothing and hold no secret."""
    if type(foreign) is not dict:
        return None
    text = json.dumps(foreign, ensure_ascii=False)
    return None if hidden_payload(text) or holds_secret(text) else foreign


def as_json(memories: Sequence[Out]) -> dict[str, Any]:
    """Memories as a document: each record, with its store's own fields under ``foreign``."""
    return {
        "memories": [
            {**one.record.document(), **({} if one.foreign is None else {"foreign": one.foreign})} for one in memories
        ]
    }


# ---------------------------------------------------------------------------------------------------- Claude


def as_claude(memories: Sequence[Out]) -> dict[str, str]:
    """Files of a Claude Code memory folder by their names: one a memory, and ``MEMORY.md``, their index."""
    files: dict[str, str] = {}
    index = []
    for one in memories:
        foreign = one.foreign or {}
        name = foreign.get("file")
        taken = {file.casefold() for file in files} | {"memory.md"}
        if type(name) is not str or not _FILE.fullmatch(name) or name.casefold() in taken:
            name = f"memory-{one.record.id}.md"
        title = _line(one.record.title or one.record.content, 80)
        hook = _line(one.record.content, LONGEST_HOOK)
        front = foreign.get("front")
        rest = [line for line in front.splitlines() if not _OURS.match(line)] if type(front) is str else []
        if not any("type:" in line for line in rest):
            rest.append("type: " + _TYPES.get(one.record.kind, "project"))
        about = (
            f"memory/{one.record.id}@{one.record.version}, {one.record.authority}, {one.record.confidence} confidence"
        )
        fields = [f"name: {_quoted(title)}", f"description: {_quoted(hook)}", *rest, f"affidavit: {_quoted(about)}"]
        files[name] = "\n".join(["---", *fields, "---", "", one.record.content.rstrip("\n"), ""])
        index.append(f"- [{re.sub(r'[][]', ' ', title).strip()}]({name}) — {hook}")
    return {"MEMORY.md": "\n".join([*index, ""]), **files}


def _line(text: str, most: int) -> str:
    flat = " ".join(text.split())
    return flat if len(flat) <= most else flat[: most - 1] + "…"


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


# ------------------------------------------------------------------------------------------------------- MCP


def as_mcp(memories: Sequence[Out]) -> str:
    """Lines of the MCP memory server: entities with their observations, and relations, in the order they came in."""
    lines: list[dict[str, Any]] = []
    entities: dict[str, dict[str, Any]] = {}
    for one in sorted(memories, key=_place):
        foreign = one.foreign or {}
        relation = foreign.get("relation")
        if type(relation) is dict and one.unchanged:
            lines.append(relation)
            continue
        entity = foreign.get("entity")
        if type(entity) is not dict:
            entity = {"type": "entity", "name": str(one.record.scope), "entityType": "scope"}
        key = json.dumps(entity, sort_keys=True)
        if key not in entities:
            entities[key] = {**entity, "observations": []}
            lines.append(entities[key])
        entities[key]["observations"].append(_observation(one, foreign.get("observation")))
    return "\n".join(json.dumps(line, ensure_ascii=False, separators=(",", ":")) for line in lines)


def _place(one: Out) -> tuple[int, int, str]:
    foreign = one.foreign or {}
    place, number = foreign.get("place"), foreign.get("number")
    return place if type(place) is int else 1 << 62, number if type(number) is int else 0, one.record.id


def _observation(one: Out, said: Any) -> Any:
    if type(said) is dict:
        return said if one.unchanged else {**said, "text": one.record.content}
    return said if type(said) is str and one.unchanged else one.record.content


# ------------------------------------------------------------------------------------------------- AGENTS.md


def section(memories: Sequence[Out]) -> str:
    """A section of a rule file: each memory in the tone a model is told it with, and its address."""
    lines = [BEGIN, "## Remembered", ""]
    for one in memories:
        said = _line(told(one.record), 1 << 20).replace("<!--", "&lt;!--")
        lines.append(f"- {said} <!-- memory/{one.record.id}@{one.record.version} -->")
    return "\n".join([*lines, END])


def patch(memories: Sequence[Out], before: str | None, file: str) -> str:
    """A patch that puts the section into a rule file, or in place of the one there; empty where nothing changes.

    ``before``: the file's text, ``None`` where there is none; ``file``: its name in the patch.
    """
    new = section(memories)
    text = before or ""
    start, end = text.find(BEGIN), text.find(END)
    if 0 <= start < end:
        after = text[:start] + new + text[end + len(END) :]
    else:
        gap = "" if not text else "\n" if text.endswith("\n") else "\n\n"
        after = text + gap + new + "\n"
    old = "/dev/null" if before is None else f"a/{file}"
    diff = difflib.unified_diff(_lines(text), _lines(after), old, f"b/{file}")
    return "".join(line if line.endswith("\n") else line + "\n\\ No newline at end of file\n" for line in diff)


def _lines(text: str) -> list[str]:
    parts = text.split("\n")
    return [part + "\n" for part in parts[:-1]] + ([parts[-1]] if parts[-1] else [])
