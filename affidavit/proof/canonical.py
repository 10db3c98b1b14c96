"""Canonical bytes of JSON values: RFC 8785 (JCS), so that one value has one digest."""

from __future__ import annotations

from typing import Any, Final

import orjson

MAX_ENTRY_SIZE: Final = 32 * 1024
"""Bytes a ledger entry may have."""

MAX_INTEGER: Final = (1 << 53) - 1
"""The largest integer JSON carries exactly between all programs; the smallest is its negative."""


class CanonicalError(ValueError):
    """A value has no canonical form, or not one that a ledger entry may have."""


def canonical(value: Any) -> bytes:
    """The RFC 8785 bytes of a JSON value.

    Raises :class:`CanonicalError` for what RFC 8785 cannot carry: integers beyond 2^53 - 1, NaN and
    infinities, lone surrogates, keys that are no strings, other types, and nesting too deep to walk.
    """
    try:
        if _plain(value):
            return orjson.dumps(value, option=orjson.OPT_SORT_KEYS)
    except (orjson.JSONEncodeError, RecursionError):
        pass  # the slow encoder says what is wrong
    # Imported here because most values never need it and it costs time at start-up.
    import rfc8785

    try:
        return rfc8785.dumps(value)
    except RecursionError:
        raise CanonicalError("nested too deeply") from None
    except rfc8785.IntegerDomainError:
        raise CanonicalError("an integer beyond 2^53 - 1") from None
    except (ValueError, TypeError) as error:  # rfc8785's other errors are ValueErrors
        raise CanonicalError(str(error)[:200]) from None


def canonical_entry(value: Any) -> bytes:
    """The canonical bytes of a ledger entry: an object of objects, lists, strings, integers and booleans.

    Raises :class:`CanonicalError` also for floats and nulls, and for more than :data:`MAX_ENTRY_SIZE` bytes.
    """
    if not isinstance(value, dict):
        raise CanonicalError("a ledger entry is a JSON object")
    _refuse_floats(value)
    data = canonical(value)
    if len(data) > MAX_ENTRY_SIZE:
        raise CanonicalError(f"a ledger entry has at most {MAX_ENTRY_SIZE} bytes; this one has {len(data)}")
    return data


def _plain(value: Any) -> bool:
    """Whether orjson's sorted output is RFC 8785's: integers to 2^53 - 1, ASCII keys, floats that both write alike.

    RFC 8785 sorts keys by UTF-16 units and orjson by UTF-8 bytes; for ASCII these agree. Both write the shortest digits
    of a float, but whole numbers and exponents differently. Exact types only: orjson writes subclasses, enumerations
    and dataclasses in ways of its own.
    """
    kind = type(value)
    if kind is str or kind is bool or value is None:
        return True
    if kind is int:
        return bool(-MAX_INTEGER <= value <= MAX_INTEGER)
    if kind is float:
        return bool(1e-4 <= abs(value) < 1e15 and value % 1)
    if kind is dict:
        for key, item in value.items():
            if type(key) is not str or not key.isascii() or not (type(item) is str or _plain(item)):
                return False
        return True
    if kind is list or kind is tuple:
        return all(type(item) is str or _plain(item) for item in value)
    return False


def _refuse_floats(value: Any) -> None:
    waiting = [value]
    while waiting:
        item = waiting.pop()
        if isinstance(item, dict):
            waiting.extend(item.values())
        elif isinstance(item, list | tuple):
            waiting.extend(item)
        elif not isinstance(item, str | int):
            raise CanonicalError(f"a ledger entry holds no {type(item).__name__}")
