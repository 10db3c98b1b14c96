"""Filters people keep by a name: ``filters.toml`` beside the settings, read with care and written whole.

A filter belongs to the view it was saved in. What it holds is that view's affair: words, yes or no, and lists of words.
"""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from console.written import Problem, line_of, nearest, read_table

Part = str | bool | tuple[str, ...]

LONGEST_NAME: Final = 40
MOST: Final = 200
"""Filters kept at most."""

PARTS: Final[Mapping[str, Mapping[str, type]]] = {
    "sessions": {"text": str, "agent": str, "project": str, "check": str, "since": str, "problems": bool},
    "timeline": {
        "text": str, "kinds": tuple, "hidden": tuple, "problems": bool, "abandoned": bool, "branches": bool,
    },
    "search": {"text": str, "kinds": tuple},
    "verify": {"text": str},
}  # fmt: skip
"""What a filter of each view may hold."""

_HEAD: Final = "# Filters saved in the console. It writes this file whole: comments in it are not kept.\n"
_SAID: Final[Mapping[type, str]] = {str: "a text in quotes", bool: "true or false", tuple: "a list of texts"}


@dataclass(frozen=True, slots=True)
class SavedFilter:
    """A filter by its name, in the view it belongs to."""

    name: str
    view: str
    parts: Mapping[str, Part]


def usable_name(name: str) -> str:
    """Why a filter cannot be called so; nothing if it can."""
    if not name.strip():
        return "a filter needs a name"
    if len(name) > LONGEST_NAME:
        return f"a name has at most {LONGEST_NAME} letters"
    return "" if name.isprintable() else "a name holds no control characters"


def read(file: Path) -> tuple[list[SavedFilter], list[Problem]]:
    """The filters that can be used, and every mistake in the file. No file: none."""
    table, text, problems = read_table(file)
    found: list[SavedFilter] = []
    for name, value in table.items():
        line = line_of(text, name) or line_of(text, json.dumps(name)[1:-1])
        try:
            found.append(_filter(name, value))
        except ValueError as error:
            problems.append(Problem(str(file), line, name, str(error)))
    return found[:MOST], problems


def _filter(name: str, value: Any) -> SavedFilter:
    if reason := usable_name(name):
        raise ValueError(reason)
    if not isinstance(value, dict):
        raise ValueError('must be a table, as ["failed tests"] on a line of its own')
    view = str(value.get("view"))
    if view not in PARTS:
        raise ValueError(f"view must be one of {', '.join(PARTS)}")
    parts: dict[str, Part] = {}
    for part, held in value.items():
        if part == "view":
            continue
        kind = PARTS[view].get(part)
        if kind is None:
            raise ValueError(f"{part} is nothing a filter of {view} holds; {nearest(part, PARTS[view])}")
        if isinstance(held, list) and all(isinstance(word, str) for word in held):
            held = tuple(held)
        if type(held) is not kind or not isinstance(held, str | bool | tuple):
            raise ValueError(f"{part} must be {_SAID[kind]}")
        parts[part] = held
    return SavedFilter(name, view, parts)


def keep(file: Path, saved: SavedFilter) -> str:
    """Add a filter, in the place of one of the same name; returns why it could not be, or nothing.

    A file with mistakes in it is left as it is: they would be lost.
    """
    return usable_name(saved.name) or _change(file, lambda kept: kept.update({saved.name: saved}))


def forget(file: Path, name: str) -> str:
    """Take a filter away; returns why it could not be, or nothing."""
    return _change(file, lambda kept: kept.pop(name, None))


def _change(file: Path, change: Callable[[dict[str, SavedFilter]], object]) -> str:
    found, problems = read(file)
    if problems:
        return f"not saved: {problems[0]}"
    kept = {saved.name: saved for saved in found}
    change(kept)
    if len(kept) > MOST:
        return f"{MOST} filters are kept at most: forget one first"
    try:
        _write(file, list(kept.values()))
    except OSError as error:
        return f"not saved: {error.strerror}"
    return ""


def _write(file: Path, filters: Sequence[SavedFilter]) -> None:
    """Write the file anew, so that a reader sees the old or the new."""
    file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    handle, temporary = tempfile.mkstemp(prefix="filters-", dir=file.parent)
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as stream:
            stream.write(_HEAD + "".join(map(_toml, filters)))
        os.replace(temporary, file)
    except OSError:
        with suppress(OSError):
            os.unlink(temporary)
        raise


def _toml(saved: SavedFilter) -> str:
    lines = [f"\n[{_quoted(saved.name)}]", f"view = {_quoted(saved.view)}"]
    for part, held in saved.parts.items():
        if isinstance(held, bool):
            value = "true" if held else "false"
        elif isinstance(held, str):
            value = _quoted(held)
        else:
            value = f"[{', '.join(map(_quoted, held))}]"
        lines.append(f"{part} = {value}")
    return "\n".join(lines) + "\n"


def _quoted(text: str) -> str:
    """A text as TOML writes it: as JSON does, but for DEL and what stands beyond the first 65,536 characters."""
    text = text.encode("utf-8", "replace").decode("utf-8")
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007F")
