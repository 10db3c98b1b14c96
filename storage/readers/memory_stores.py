"""Memory stores of other tools, read into lines that propose what they hold: each is told by what stands in the file.

Known are Claude Code's auto memory (a file per memory with front matter), Codex's memories, the JSON Lines of the MCP
memory server and mem0's export. Whatever such a store says of itself, what it holds comes in pending and low, as an
agent's reflection, and its own fields are kept under ``foreign``.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Iterator
from datetime import datetime
from typing import Any, Final, NamedTuple

from affidavit.proof.parsing import Unreadable, loads_lenient, split_values
from affidavit.text.normal import normal

LARGEST: Final = 16 << 20
"""Bytes of a file that is looked at as a store."""

MOST: Final = 20_000
"""Memories that are taken of one file."""

LONGEST: Final = 16_384
"""Characters a memory may have; what is longer is counted and left."""

NAMES: Final = {
    "claude-memory": "Claude Code auto memory",
    "codex-memory": "Codex memories",
    "mcp-memory": "MCP memory server",
    "mem0": "mem0 export",
}

_FRONT = re.compile(r"\A\ufeff?---[ \t]*\r?\n(?P<fields>.*?)^---[ \t]*\r?$\n?", re.MULTILINE | re.DOTALL)
_LINK = re.compile(r"^\s*[-*]\s+\[[^\]\n]{1,300}\]\([^)\n]{1,300}\.md\)", re.MULTILINE)
_PROJECT = re.compile(r"(?:^|/)(?P<slug>-[^/]+)(?:/memory)?/[^/]+$")
_CODEX = re.compile(
    r"^# (?:Raw Memories|Task Group:)|^## (?:User [Pp]references|Reusable knowledge|Thread `)", re.MULTILINE
)
_HEADING = re.compile(r"^(#{1,6})\s+(.*?)\s*#*$")
_BULLET = re.compile(r"^(\s{0,3})[-*]\s+(.*)$")
_LABEL = re.compile(r"^([A-Z][A-Za-z ,]{2,60}):$")
_CWD = re.compile(r"^cwd:\s*(\S.*)$")
_NOT_OF_IT = re.compile(r"\b(?:rollout|keyword|reference|source)|\btask\s+\d", re.IGNORECASE)
_KINDS: Final = {
    "user": "user_preference",
    "feedback": "procedure_rule",
    "project": "project_fact",
    "reference": "project_fact",
}


class Foreign(NamedTuple):
    """What a store's file holds.

    ``lines``: what it proposes; ``copies``: memories that say what another one in it does; ``left``: what is none, or
    too long; ``note``: more to say of it.
    """

    store: str
    lines: list[dict[str, Any]]
    copies: int
    left: int
    note: str


class _Item(NamedTuple):
    content: str
    kind: str
    scope: tuple[str, str]
    foreign: dict[str, Any]
    title: str | None = None
    at: str | None = None
    user: str | None = None
    agent: str | None = None


def read(path: str, whole: bytes, at: datetime) -> Foreign | None:
    """What a file of a memory store proposes; ``None`` where it is none. ``at``: when it was written last.

    Never raises on any bytes; the time it takes grows with the file's size alone.
    """
    found = _json(whole) if whole.lstrip(b"\xef\xbb\xbf \t\r\n")[:1] in (b"{", b"[") else _markdown(path, whole)
    if found is None:
        return None
    store, items, note = found
    lines: dict[str, dict[str, Any]] = {}
    copies = left = 0
    for item in items:
        if item is None or not item.content.strip() or len(item.content) > LONGEST or len(lines) >= MOST:
            left += 1
            continue
        line = _line(store, path, item, at)
        if line["id"] in lines:
            copies += 1
        else:
            lines[line["id"]] = line
    return Foreign(store, list(lines.values()), copies, left, note)


def _line(store: str, path: str, item: _Item, at: datetime) -> dict[str, Any]:
    level, key = item.scope
    said = "\0".join((level, key, item.user or "", item.agent or "", normal(item.content).text))
    value = {
        "type": "memory.candidate",
        "id": "foreign-" + hashlib.sha256(said.encode("utf-8", "surrogatepass")).hexdigest()[:24],
        "content": item.content,
        "title": item.title and item.title[:512],
        "kind": item.kind,
        "scope": {"level": level, "key": key[:512]},
        "source": {"type": "agent_reflection", "eventIds": [], "artifactRefs": []},
        "confidence": "low",
        "createdAt": _instant(item.at) or at.isoformat(timespec="milliseconds"),
        "createdBy": "runtime",
        "traceRefs": [f"store:{store}", f"file:{path}"[:512], "rule:foreign-store"],
        "user": item.user,
        "agent": item.agent,
        "foreign": {"store": store, **item.foreign},
    }
    return {name: one for name, one in value.items() if one is not None}


def _instant(said: str | None) -> str | None:
    try:
        return said if said and datetime.fromisoformat(said).tzinfo is not None else None
    except ValueError:
        return None


# ------------------------------------------------------------------------------------------------------ JSON


def _json(whole: bytes) -> tuple[str, Iterator[_Item | None], str] | None:
    values: list[Any] = []
    bad = 0
    try:
        values.append(loads_lenient(whole)[0])
    except Unreadable:
        for line in whole.split(b"\n"):
            for begin, end, fine, _ in split_values(line) if line.strip() else ():
                try:
                    values.append(loads_lenient(line[begin:end])[0] if fine else None)
                except Unreadable:
                    values.append(None)
    bad = sum(type(value) is not dict for value in values)
    if len(values) == 1 and (results := _results(values[0])) is not None:
        return "mem0", (_mem0(one) for one in results), ""
    told = sum(_is_graph(value) for value in values)
    if told and 2 * told >= len(values):
        return "mcp-memory", _graph(values), f"{bad} unreadable" if bad else ""
    return None


def _results(value: Any) -> list[Any] | None:
    """The memories of a mem0 export."""
    results = value.get("results") if type(value) is dict else value
    if type(results) is not list or not results:
        return None
    told = sum(type(one) is dict and type(one.get("memory")) is str and type(one.get("id")) is str for one in results)
    return results if 2 * told > len(results) else None


def _mem0(one: Any) -> _Item | None:
    if type(one) is not dict or type(one.get("memory")) is not str:
        return None
    user, agent = _name(one.get("user_id")), _name(one.get("agent_id"))
    categories = one.get("categories")
    likes = type(categories) is list and "preferences" in categories
    at = one.get("updated_at", one.get("created_at"))
    return _Item(
        one["memory"],
        "user_preference" if likes else "project_fact",
        ("user", user or ""),
        {"item": {name: field for name, field in one.items() if name != "memory"}},
        at=at if type(at) is str else None,
        user=user,
        agent=agent,
    )


def _name(said: Any) -> str | None:
    return said[:512] if type(said) is str and said else None


def _is_graph(value: Any) -> bool:
    if type(value) is not dict:
        return False
    entity = type(value.get("name")) is str and type(value.get("observations")) is list
    kind = value.get("type")
    return (entity and (kind == "entity" or "entityType" in value)) or (
        kind in (None, "relation") and all(type(value.get(name)) is str for name in ("from", "to", "relationType"))
    )


def _graph(values: list[Any]) -> Iterator[_Item | None]:
    for place, value in enumerate(values):
        if not _is_graph(value):
            yield None
        elif "observations" in value:
            about = {name: field for name, field in value.items() if name != "observations"}
            for number, said in enumerate(value["observations"]):
                content = said.get("text") if type(said) is dict else said
                if type(content) is not str or not content.strip():
                    yield None
                    continue
                foreign = {"place": place, "number": number, "entity": about, "observation": said}
                name = value["name"]
                text = content if name.casefold() in content.casefold() else f"{name}: {content}"
                yield _Item(text, "project_fact", ("repo", ""), foreign, name, _time(said, value))
        else:
            text = f"{value['from']} {value['relationType'].replace('_', ' ')} {value['to']}"
            yield _Item(text, "project_fact", ("repo", ""), {"place": place, "relation": value}, at=_time(value, value))


def _time(said: Any, value: dict[str, Any]) -> str | None:
    given = said.get("timestamp") if type(said) is dict else None
    given = given or value.get("updatedAt", value.get("createdAt"))
    return given if type(given) is str else None


# -------------------------------------------------------------------------------------------------- Markdown


def _markdown(path: str, whole: bytes) -> tuple[str, Iterator[_Item | None], str] | None:
    if not path.lower().endswith((".md", ".markdown")) or b"\0" in whole:
        return None
    text = whole.decode("utf-8", "replace")
    place = path.replace("\\", "/")
    front = _FRONT.match(text)
    if front is not None:
        fields = dict(_fields(front["fields"]))
        if fields.get("type") in _KINDS and "name" in fields and "description" in fields:
            return "claude-memory", iter([_claude(place, text[front.end() :], front["fields"], fields)]), ""
    if _CODEX.search(text):
        return "codex-memory", _bullets(text), ""
    base = os.path.basename(place)
    links = len(_LINK.findall(text))
    if base == "MEMORY.md" and (links or _PROJECT.search(place)):
        many = len(text.splitlines()) > 200 or len(whole) > 25_600
        note = "an index; what it names is read from files of their own" if links else ""
        late = "; what stands behind line 200 or 25 kB no agent is shown" if many else ""
        return "claude-memory", _plain(place, text), note + late
    return None


def _fields(text: str) -> Iterator[tuple[str, str]]:
    for line in text.splitlines():
        name, colon, rest = line.partition(":")
        if colon and name.strip() in ("name", "description", "type", "modified"):
            yield name.strip(), rest.strip().strip("\"'")


def _repo(place: str) -> tuple[str, str]:
    found = _PROJECT.search(place)
    return "repo", found["slug"] if found else ""


def _claude(place: str, text: str, raw: str, fields: dict[str, str]) -> _Item:
    foreign = {"file": os.path.basename(place), "front": raw}
    content = text.strip() or fields["description"]
    return _Item(content, _KINDS[fields["type"]], _repo(place), foreign, fields["name"], fields.get("modified"))


def _plain(place: str, text: str) -> Iterator[_Item | None]:
    """Facts that stand in an index itself."""
    for line in text.splitlines():
        bullet = _BULLET.match(line)
        if bullet and not _LINK.match(line):
            yield _Item(bullet[2].strip(), "project_fact", _repo(place), {"file": os.path.basename(place)})


def _bullets(text: str) -> Iterator[_Item | None]:
    """What stands in lists, under which heading; folders of threads say for which repository."""
    heading, key = "", ""
    for line in text.splitlines():
        if found := _HEADING.match(line):
            heading = found[2]
            key = key if len(found[1]) > 2 else ""
        elif found := _LABEL.match(line.strip()):
            heading = found[1]
        elif found := _CWD.match(line):
            key = found[1].strip()
        elif (found := _BULLET.match(line)) and not _NOT_OF_IT.search(heading):
            likes = "prefer" in heading.casefold()
            kind = "user_preference" if likes else "task_experience" if "fail" in heading.casefold() else "project_fact"
            yield _Item(found[2].strip(), kind, ("repo", key), {"heading": heading})
