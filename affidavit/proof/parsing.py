"""JSON in two manners: strict for what is ours, lenient for what other programs wrote.

*Strict* takes UTF-8 without byte order mark, no key twice in an object, no NaN or infinity, integers within
2^53 - 1, no half of a UTF-16 pair, nesting up to 64. *Lenient* takes these, maps them to something that can be
kept, and says so by a flag; only bytes that are not UTF-8, syntax, depth and size make a record unreadable.

orjson parses first. It silently takes the last of duplicate keys and makes floats of integers beyond 64 bits,
so a cheap proof that nothing of the kind happened stands behind it, see :func:`loads_lenient`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import accumulate
from json import JSONDecodeError, JSONDecoder
from math import isinf
from typing import Any, Final, NamedTuple

import orjson

MAX_SIZE: Final = 16 * 1024 * 1024
"""Bytes of the largest record that is parsed; a larger one is kept as it is, ``too_large``."""

MAX_DEPTH: Final = 254
"""Levels of nesting that are parsed, which is as deep as orjson writes."""

STRICT_DEPTH: Final = 64
"""Levels of nesting in JSON of our own."""

MAX_INTEGER: Final = (1 << 53) - 1
"""The largest integer that all programs read alike; the smallest is its negative."""

WHITESPACE: Final = b" \t\r\n"
"""What may stand between JSON values."""

BOM: Final = b"\xef\xbb\xbf"
"""UTF-8's byte order mark: skipped at the start by the lenient manner, refused by the strict."""

FLAGS: Final = ("duplicate_keys", "big_integer", "not_finite", "lone_surrogate")
"""What :func:`loads_lenient` may say of a value, in this order."""

REASONS: Final = {
    "syntax": "not JSON",
    "cut": "JSON that ends before it is complete",
    "empty": "nothing there",
    "utf8": "bytes that are not UTF-8",
    "utf16": "UTF-16 text; only UTF-8 is read",
    "nul": "NUL bytes where JSON should begin, as a crash or a full disk leaves them",
    "too_deep": f"nested more than {MAX_DEPTH} levels deep",
    "too_large": f"larger than {MAX_SIZE >> 20} MiB",
}
"""Every reason of :class:`Unreadable`, with words for people."""

STRICT_REASONS: Final = {
    **REASONS,
    "too_deep": f"nested more than {STRICT_DEPTH} levels deep",
    "bom": "a byte order mark before the JSON",
    "duplicate_keys": "a key named twice in one object",
    "big_integer": "an integer beyond 2^53 - 1",
    "not_finite": "NaN, an infinity, or a number too large to be one",
    "lone_surrogate": "half of a UTF-16 pair",
}
"""Every reason of :class:`StrictError`, with words for people."""


class Unreadable(ValueError):
    """Bytes that hold no JSON value. ``reason`` is a key of :data:`REASONS`, ``offset`` the byte it shows at."""

    def __init__(self, reason: str, offset: int) -> None:
        super().__init__(f"{REASONS.get(reason, reason)} (at byte {offset})")
        self.reason = reason
        self.offset = offset


class StrictError(ValueError):
    """JSON that is not ours. ``reason`` is a key of :data:`STRICT_REASONS`, ``offset`` the byte it shows at."""

    def __init__(self, reason: str, offset: int) -> None:
        super().__init__(f"{STRICT_REASONS.get(reason, reason)} (at byte {offset})")
        self.reason = reason
        self.offset = offset


class Span(NamedTuple):
    """One record within a line: bytes ``start`` up to ``end``; ``reason`` says why it cannot be read."""

    start: int
    end: int
    ok: bool
    reason: str | None


_STRICT_INTEGER = orjson.OPT_STRICT_INTEGER
# How orjson's output shows a float of 1e16 and more. Where a version writes no sign, any "e" sends a value to
# the standard decoder: slower and as right.
_HUGE = b"e+" if b"e+" in orjson.dumps(2.0**64) else b"e"
_HUGE_SIGN = _HUGE[-1:]
# Strings to their end or the data's: one that could fail would be tried again at each quote inside it.
_STRING = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"?+', re.DOTALL)
_DELTA = {0x5B: 1, 0x7B: 1, 0x5D: -1, 0x7D: -1}
_NOT_BRACKETS = bytes(byte for byte in range(256) if byte not in _DELTA)


def loads_lenient(data: bytes) -> tuple[Any, tuple[str, ...]]:
    """The JSON value of one record and its flags, of :data:`FLAGS`; raises :class:`Unreadable`.

    Of duplicate keys the last is taken. An integer beyond 2^53 - 1 becomes the text of its digits; NaN and the
    infinities become their names; a number too large for a float becomes its text, flagged ``not_finite``. Half
    of a UTF-16 pair stays in the text as the surrogate it is. Speaks of the value taken: what a duplicate key
    replaced is flagged for that only. Depends on nothing but the bytes.

    Why a value that orjson read is exact when the tests below pass: what orjson writes back has one structural
    colon a pair, and a colon inside a string is one colon on both sides unless it was escaped as ``\\u003a``; so
    equal counts mean that no pair was dropped. Integers it made floats of are 9.2e18 and more, and writing these
    back takes an exponent; smaller ones beyond 2^53 - 1 it refuses to write, as it does depth beyond 254.
    """
    if len(data) > MAX_SIZE:
        raise Unreadable("too_large", MAX_SIZE)
    try:
        value = orjson.loads(data)
        back = orjson.dumps(value, option=_STRICT_INTEGER)
    except (orjson.JSONDecodeError, orjson.JSONEncodeError):
        return _standard(data)
    if back == data or (
        data.count(b":") == back.count(b":")
        and (b"\\" not in data or b"\\u003" not in data)
        and (_HUGE_SIGN not in back or _HUGE not in back)
    ):
        return value, ()
    return _standard(data)


def loads_strict(data: bytes) -> Any:
    """The value of JSON that must be ours; raises :class:`StrictError` for everything the lenient manner maps."""
    if data.startswith(BOM):
        raise StrictError("bom", 0)
    try:
        value, flags = loads_lenient(data)
    except Unreadable as error:
        raise StrictError(error.reason, error.offset) from None
    if flags:
        raise StrictError(*_first_offence(data, flags))
    if (deep := _too_deep(data, STRICT_DEPTH)) is not None:
        raise StrictError("too_deep", deep)
    return value


def split_values(line: bytes) -> list[Span]:
    """Cuts a line that is not one JSON value into records.

    Each JSON value is one, whether or not whitespace stands between it and the next. At the first byte where no
    value can be read, the rest of the line is one more record, unreadable. A number or a word such as ``true``
    counts as a value only if it does not run into other text, so that ``2026-01-01 started`` is not a number.
    A byte order mark at the start counts as whitespace, which no span covers. Linear in the line's length.
    """
    spans: list[Span] = []
    if len(line) > MAX_SIZE:
        return [Span(0, len(line), False, "too_large")]
    at = _skip_blank(line, len(BOM) if line.startswith(BOM) else 0)
    stop = len(line.rstrip(WHITESPACE))
    # One character a byte: JSON's own characters are ASCII, and positions are those of the bytes.
    text = line.decode("latin-1")
    try:
        line.decode("utf-8")
        clean = True
    except UnicodeDecodeError:
        clean = False
    while at < stop:
        end = _value_end(text, at)
        reason = _why_nothing(line[at:stop]) if end is None else _why_not(line, at, end, clean)
        if end is None or reason is not None:
            spans.append(Span(at, stop, False, reason))
            break
        spans.append(Span(at, end, True, None))
        at = _skip_blank(line, end)
    return spans


def envelope(data: bytes, budget: int = 2_000_000) -> dict[str, Any]:
    """The members of a huge JSON object that are strings, numbers, booleans or null, without parsing the rest.

    For records that are ``too_large``: reads the object's own level only, skips nested values by their
    brackets, drops strings over 4 KiB, stops at the first thing that is not JSON or after ``budget`` tokens, and
    gives what it found until then. Never raises on any bytes.
    """
    found: dict[str, Any] = {}
    start = re.compile(rb"[ \t\r\n]*\{").match(data, 3 if data.startswith(BOM) else 0)
    at = start.end() if start else len(data)
    while budget > 0:
        member = _MEMBER.match(data, at)
        if member is None:
            break
        name, scalar = member["name"], member["scalar"]
        at = member.end()
        if scalar is None:
            at, budget = _skip_nested(data, at, budget)
        elif len(name) <= 4096 and len(scalar) <= 4096:
            try:
                found[loads_lenient(name)[0]] = loads_lenient(scalar)[0]
            except Unreadable:
                break
        budget -= 1
        if data[at : at + 1] == b",":
            at += 1
    return found


_MEMBER = re.compile(
    rb"""[ \t\r\n]*+ (?P<name> "[^"\\]*+(?:\\.[^"\\]*+)*+" ) [ \t\r\n]*+ : [ \t\r\n]*+
    (?: (?P<scalar> "[^"\\]*+(?:\\.[^"\\]*+)*+" | [-+.\w]++ ) [ \t\r\n]*+ (?=[,}]) | (?=[\[{]) )""",
    re.VERBOSE | re.DOTALL,
)
_TO_BRACKET = re.compile(rb'(?:[^"{}\[\]]++|"[^"\\]*+(?:\\.[^"\\]*+)*+")*+([{}\[\]])', re.DOTALL)


def _skip_nested(data: bytes, at: int, budget: int) -> tuple[int, int]:
    """The byte after the array or object at ``at`` and the whitespace behind it, and what is left to spend."""
    depth = 0
    while budget > 0 and (bracket := _TO_BRACKET.match(data, at)):
        at = bracket.end()
        budget -= 1
        depth += _DELTA[data[at - 1]]
        if depth == 0:
            return _skip_blank(data, at), budget
    return len(data), 0


def _standard(data: bytes) -> tuple[Any, tuple[str, ...]]:
    """What :func:`loads_lenient` gives, by the standard library's decoder, which can be told of everything."""
    start = len(BOM) if data.startswith(BOM) else 0
    try:
        text = data[start:].decode("utf-8")
    except UnicodeDecodeError as error:
        raise Unreadable(*_reason(data, start + error.start)) from None
    if (deep := _too_deep(data, MAX_DEPTH)) is not None:
        raise Unreadable("too_deep", deep)
    seen: set[str] = set()
    try:
        value = _decoder(seen).decode(text)
    except RecursionError:
        raise Unreadable("too_deep", start) from None
    except JSONDecodeError as error:
        offset = start + len(text[: error.pos].encode("utf-8"))
        cut = error.pos >= len(text.rstrip(" \t\r\n")) or error.msg.startswith("Unterminated string")
        raise Unreadable(*_reason(data, offset, "cut" if cut else "syntax")) from None
    try:
        orjson.dumps(value)
    except orjson.JSONEncodeError:  # of all that can stand in the value, only surrogates are refused
        seen.add("lone_surrogate")
    return value, tuple(flag for flag in FLAGS if flag in seen)


def _decoder(seen: set[str]) -> JSONDecoder:
    """A decoder that notes the flags it meets in ``seen``."""

    def pairs(items: list[tuple[str, Any]]) -> dict[str, Any]:
        members = dict(items)
        if len(members) != len(items):
            seen.add("duplicate_keys")
        return members

    def integer(digits: str) -> int | str:
        # Longer ones are beyond it by their length: JSON allows no leading zeros. int() of thousands of digits
        # would raise, and of millions would take minutes.
        if len(digits) <= 17:
            number = int(digits)
            if -MAX_INTEGER <= number <= MAX_INTEGER:
                return number
        seen.add("big_integer")
        return digits

    def real(digits: str) -> float | str:
        number = float(digits)
        if isinf(number):
            seen.add("not_finite")
            return digits
        return number

    def constant(name: str) -> str:
        seen.add("not_finite")
        return name

    return JSONDecoder(object_pairs_hook=pairs, parse_int=integer, parse_float=real, parse_constant=constant)


def _too_deep(data: bytes, limit: int) -> int | None:
    """The offset of the first bracket nested more than ``limit`` levels deep, if there is one."""
    if data.count(b"[") + data.count(b"{") <= limit:
        return None
    brackets = _STRING.sub(b"", data).translate(None, _NOT_BRACKETS)
    if all(depth <= limit for depth in accumulate(map(_DELTA.__getitem__, brackets))):
        return None
    depth = 0
    for token in _tokens(data):
        depth += _DELTA.get(data[token.start()], 0)
        if depth > limit:
            return token.start()
    return None


_TOKEN = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"?+|[{}\[\]:,]|[^ \t\r\n"{}\[\]:,]++', re.DOTALL)


def _tokens(data: bytes) -> Iterator[re.Match[bytes]]:
    return _TOKEN.finditer(data)


def _first_offence(data: bytes, flags: tuple[str, ...]) -> tuple[str, int]:
    """Which of the flags is met first in the bytes of a JSON value, and where."""
    objects: list[set[str] | None] = []
    previous = b""
    for token in _tokens(data):
        word, at = token.group(), token.start()
        if word in (b"{", b"["):
            objects.append(set() if word == b"{" else None)
        elif word in (b"}", b"]"):
            objects.pop()
        elif word not in (b":", b","):
            text, found = _standard(word)
            if found:
                return found[0], at
            if previous != b":" and objects and (names := objects[-1]) is not None:
                if text in names:
                    return "duplicate_keys", at
                names.add(text)
        previous = word
    return flags[0], 0


def _why_nothing(run: bytes) -> str:
    """Why bytes that do not begin with a value cannot be read."""
    try:
        _standard(run)
    except Unreadable as error:
        return error.reason
    return "syntax"


def _reason(data: bytes, offset: int, otherwise: str = "syntax") -> tuple[str, int]:
    """Why bytes that hold no JSON value do not, and where; ``otherwise`` if it is a matter of syntax."""
    if not data.strip(WHITESPACE):
        return "empty", 0
    if looks_utf16(data):
        return "utf16", 0
    if data.lstrip(WHITESPACE).startswith(b"\0"):
        return "nul", 0
    try:
        data.decode("utf-8")
    except UnicodeDecodeError as error:
        return "utf8", error.start
    return otherwise, offset


def looks_utf16(data: bytes) -> bool:
    """Whether bytes begin like UTF-16: with its byte order mark, or with every second byte NUL."""
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        return True
    head = data[:64]
    half = len(head) // 2
    even, odd = head[0::2].count(0), head[1::2].count(0)
    return half >= 2 and max(even, odd) * 4 >= half * 3 and min(even, odd) * 4 <= half


def _nothing(_: Any) -> None:
    return None


# Finds where a value ends without keeping it, nor turning digits into numbers.
_SCAN = JSONDecoder(object_pairs_hook=_nothing, parse_int=_nothing, parse_float=_nothing).scan_once  # type: ignore[attr-defined]


def _value_end(text: str, at: int) -> int | None:
    """The end of the JSON value at ``at``; ``None`` if there is none, it is too deep, or it runs into text."""
    try:
        end: int = _SCAN(text, at)[1]
    except (StopIteration, ValueError, RecursionError):
        return None
    if text[at] not in '"[{' and end < len(text) and text[end] not in ' \t\r\n"[{':
        return None
    return end


def _why_not(line: bytes, start: int, end: int, clean: bool) -> str | None:
    """Why a value with sound syntax cannot be read all the same."""
    if not clean:
        try:
            line[start:end].decode("utf-8")
        except UnicodeDecodeError:
            return "utf8"
    if line.count(b"[", start, end) + line.count(b"{", start, end) <= MAX_DEPTH:
        return None
    return None if _too_deep(line[start:end], MAX_DEPTH) is None else "too_deep"


_BLANK = re.compile(rb"[ \t\r\n]*+")


def _skip_blank(line: bytes, at: int) -> int:
    """The first byte from ``at`` on that is not whitespace."""
    blank = _BLANK.match(line, at)
    return blank.end() if blank else at
