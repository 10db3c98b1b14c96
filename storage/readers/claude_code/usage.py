"""Tokens as the provider reported them on one line of a message."""

from __future__ import annotations

from typing import Any

from affidavit.session.event import Reading, Usage
from storage.readers.lenient import count


def read_usage(usage: Any, message: str, model: str | None, reading: Reading) -> None:
    """Give the reading its usage, if the line states one.

    A message stands on several lines with the same id, each repeating its usage, of which the last is right;
    a line whose usage cannot be read says nothing, so that it never replaces one that could.
    """
    if usage is None:
        return
    if type(usage) is not dict:
        reading.flags = (*reading.flags, "shape")
        return
    get = usage.get
    took, gave = count(get("input_tokens")), count(get("output_tokens"))
    read, wrote = count(get("cache_read_input_tokens")), count(get("cache_creation_input_tokens"))
    if took is None or gave is None or read is None or wrote is None:
        reading.flags = (*reading.flags, "shape")
    reading.usage = Usage(message, model, took or 0, gave or 0, read or 0, wrote or 0)
