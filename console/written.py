"""Files people write for this program: TOML, read with care, every mistake told with its line and what was meant."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

LARGEST_FILE = 1_048_576
"""Bytes such a file may have."""


@dataclass(frozen=True, slots=True)
class Problem:
    """One mistake in a file. ``line`` counts from 1; ``None``: the file as a whole."""

    file: str
    line: int | None
    key: str | None
    reason: str
    hint: str = ""

    def __str__(self) -> str:
        place = self.file + (f":{self.line}" if self.line is not None else "")
        name = f"{self.key}: " if self.key is not None else ""
        return f"{place}: {name}{self.reason}" + (f" ({self.hint})" if self.hint else "")


def read_table(file: Path) -> tuple[dict[str, Any], str, list[Problem]]:
    """What stands in a TOML file, its text, and why it cannot be used. No file: nothing, and no mistakes."""
    import tomllib

    name = str(file)
    try:
        with open(file, "rb") as stream:
            raw = stream.read(LARGEST_FILE + 1)
    except FileNotFoundError:
        return {}, "", []
    except OSError as error:
        return {}, "", [Problem(name, None, None, f"cannot be read: {error.strerror}")]
    if len(raw) > LARGEST_FILE:
        return {}, "", [Problem(name, None, None, f"is larger than {LARGEST_FILE:,} bytes")]
    try:
        text = raw.decode("utf-8")
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        return {}, "", [Problem(name, line, None, f"byte {error.start} is not UTF-8")]
    try:
        return tomllib.loads(text), text, []
    except tomllib.TOMLDecodeError as error:
        return {}, text, [_syntax(name, text, str(error))]
    except RecursionError:
        return {}, text, [Problem(name, None, None, "is nested too deeply")]


def _syntax(name: str, text: str, message: str) -> Problem:
    """A TOML error as a problem; its place is stated by the parser at the end of its message."""
    found = re.search(r" \(at (?:line (\d+), column \d+|end of document)\)$", message)
    if not found:
        return Problem(name, None, None, message)
    line = int(found[1]) if found[1] else max(1, text.count("\n") + (not text.endswith("\n")))
    return Problem(name, line, None, "not valid TOML: " + message[: found.start()].rstrip(".").lower())


def line_of(text: str, key: str) -> int | None:
    """The first line on which a key is given a value, or begins a table."""
    pattern = rf"""^\s*(?:\[+\s*)?(["']?){re.escape(key)}\1\s*(?:[=.\]])"""
    return next((n for n, line in enumerate(text.split("\n"), 1) if re.match(pattern, line)), None)


def nearest(key: str, known: Iterable[str]) -> str:
    """The known name that was meant, or all of them."""
    from difflib import get_close_matches

    known = list(known)
    near = get_close_matches(key.lower(), known, n=1, cutoff=0.6)
    return f"did you mean {near[0]}?" if near else "known are " + ", ".join(known)
