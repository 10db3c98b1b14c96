"""Where in a TOML or JSON text each key stands, for messages that name a line.

Only texts that were parsed before come here: nothing is checked again.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Sequence

Path = tuple[str | int, ...]
"""Keys and places in lists (from 0), outermost first."""

_JSON = re.compile(r'"(?:[^"\\]|\\.)*"|[{}\[\],:\n]|[^\s{}\[\],:"]+')
_TOML = re.compile(
    r'"""(?:[^\\]|\\.)*?"{3,5}|\'\'\'.*?\'{3,5}|"(?:[^"\\\n]|\\.)*"|\'[^\'\n]*\'|#[^\n]*|[\[\]{}=.,\n]|[^\s\[\]{}=.,#"\']+',
    re.DOTALL,
)


def json_lines(text: str) -> dict[Path, int]:
    """The line (from 1) of every key and list item of a JSON text; of a key said twice the last."""
    found: dict[Path, int] = {}
    path: list[str | int | None] = []  # None: a key is still to come
    line = 1

    def met() -> None:
        found[tuple(part for part in path if part is not None)] = line

    for token in _JSON.findall(text):
        if token == "\n":
            line += 1
        elif token in "}]":
            path.pop()
        elif token == ",":
            last = path[-1]
            path[-1] = last + 1 if isinstance(last, int) else None
        elif token == ":":
            continue
        elif path and path[-1] is None:
            path[-1] = json.loads(token, strict=False)
            met()
        else:
            if path and isinstance(path[-1], int):
                met()
            if token in "{[":
                path.append(None if token == "{" else 0)
    return found


def toml_lines(text: str) -> dict[Path, int]:
    """The line (from 1) of every key and table of a TOML text; what stands in a value has that value's line."""
    found: dict[Path, int] = {}
    table: Path = ()
    tables: dict[Path, int] = {}
    said: list[str] = []
    depth = line = begun = 0
    line = 1
    for token in [*_TOML.findall(text), "\n"]:
        if token == "\n" and (depth == 0 or said[:1] == ["["]):
            if said[:1] == ["["]:
                array = said[:2] == ["[", "["]
                table = _keys(said[1 + array :])
                if array:
                    tables[table] = tables.get(table, -1) + 1
                    found.setdefault(table, begun)
                    table = (*table, tables[table])
                found[table] = begun
            elif said:
                keys = _keys(said)
                for length in range(1, len(keys) + 1):
                    found.setdefault((*table, *keys[:length]), begun)
            said, depth = [], 0
        elif token[0] != "#" and token != "\n":
            if not said:
                begun = line
            said.append(token)
            depth += (token in "[{") - (token in "]}")
        line += token.count("\n")
    return found


def line_of(lines: dict[Path, int], path: Sequence[str | int]) -> int | None:
    """The line of what stands at a path, or of the nearest thing around it that has one.

    A key may be spelt ``min_score`` or ``minScore``.
    """
    for length in range(len(path), 0, -1):
        for known, line in lines.items():
            if len(known) == length and all(map(_same, known, path)):
                return line
    return None


def _same(one: str | int, other: str | int) -> bool:
    return one == other or (
        isinstance(one, str)
        and isinstance(other, str)
        and one.replace("_", "").lower() == other.replace("_", "").lower()
    )


def _keys(tokens: Sequence[str]) -> Path:
    """The parts of a dotted key, up to what ends it."""
    keys: list[str | int] = []
    for token in tokens:
        if token in "=]":
            break
        if token != ".":
            keys.append(str(tomllib.loads(f"k = {token}")["k"]) if token[0] in "\"'" else token)
    return tuple(keys)
