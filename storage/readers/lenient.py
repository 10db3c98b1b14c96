"""Reading values whose shape nobody vouches for: as JSON text, as one line, as a count. Nothing here raises."""

from __future__ import annotations

import json
from hashlib import sha256
from typing import Any

import orjson

SUMMARY = 200
"""A summary is one line of at most this many characters."""

LARGE = 1024
"""From this length on it matters to a reader of sizes that a value stands in a record twice."""

_NODES = 50_000
_COUNT = 1 << 53


def text(value: Any) -> str:
    """The value if it is text, else nothing."""
    return value if type(value) is str else ""


def obj(value: Any) -> dict[str, Any]:
    """The value if it is an object, else an empty one."""
    return value if type(value) is dict else {}


def lines_of(value: Any) -> str:
    """Text as it is, a list of texts as lines, anything else as JSON; ``None`` as nothing."""
    if type(value) is str:
        return value
    if value is None:
        return ""
    if type(value) is list and all(type(part) is str for part in value):
        return "\n".join(value)
    return compact(value)


def one_line(value: str, limit: int = SUMMARY) -> str:
    """The first line that says something, its white space drawn together, at most ``limit`` characters."""
    head = value[: limit * 8].strip()
    if "\n" in head or "\r" in head:
        head = head.splitlines()[0]
    if "  " in head or not head.isprintable():  # of all white space only the plain blank is printable
        head = " ".join(head.split())
    return head if len(head) <= limit else head[: limit - 1] + "…"


def count(value: Any) -> int | None:
    """A number of tokens or milliseconds: 0 for what is absent, ``None`` for what cannot be a count."""
    if type(value) is int:
        return value if 0 <= value <= _COUNT else None
    if value is None:
        return 0
    if type(value) is float:
        return int(value) if 0 <= value <= _COUNT else None
    if type(value) is str and value.isascii() and value.isdecimal() and len(value) <= 16:
        return count(int(value))
    return None


def millis(value: Any) -> int | None:
    """A duration in milliseconds, or ``None`` where none is recorded."""
    return None if value is None else count(value)


def size(characters: int) -> str:
    """``characters`` of base64 as the size of what they hold, in words."""
    return size_of(characters * 3 // 4)


def size_of(held: int) -> str:
    """A number of bytes in words."""
    if held < 1000:
        return f"{held} B"
    return f"{held / 1000:.0f} kB" if held < 1_000_000 else f"{held / 1_000_000:.1f} MB"


def compact(value: Any) -> str:
    """A value as JSON on one line, whole, to any depth that is parsed."""
    return _json(value, 0)


def pretty(value: Any) -> str:
    """A value as indented JSON, whole."""
    return _json(value, orjson.OPT_INDENT_2)


def _json(value: Any, option: int) -> str:
    try:
        return orjson.dumps(value, option=option).decode()
    except (TypeError, ValueError, RecursionError):  # a lone surrogate, an integer over 64 bit, great depth
        pass
    try:
        return json.dumps(value, ensure_ascii=False, indent=2 if option else None, default=str)
    except RecursionError:
        return "[nested too deep to show]"


def stands_twice(record: Any) -> bool:
    """Whether one text of at least ``LARGE`` characters stands in the record more than once."""
    seen: set[str] = set()
    stack = [record]
    left = _NODES
    while stack and left:
        left -= 1
        value = stack.pop()
        if type(value) is str:
            if len(value) >= LARGE:
                if value in seen:
                    return True
                seen.add(value)
        elif type(value) is dict:
            stack.extend(value.values())
        elif type(value) is list:
            stack.extend(value)
    return False


def text_hash(said: str) -> int:
    """A 64-bit hash of a text without the white space around it, to know it again where it stands a second time."""
    return int.from_bytes(sha256(said.strip().encode("utf-8", "surrogatepass")).digest()[:8], "big", signed=True)


def text_name(said: str) -> str:
    """:func:`text_hash` as 16 hex digits."""
    return f"{text_hash(said) & 0xFFFFFFFFFFFFFFFF:016x}"
