"""Which files are logs, and of which format: told by content, never by a name or an ending."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from typing import Any, BinaryIO, NamedTuple

from affidavit.proof.parsing import Unreadable, loads_lenient, split_values
from storage.readers import readers
from storage.segments import BLANK, BOM, RECORD_BYTES

SAMPLE_LINES = 200
SAMPLE_BYTES = 1 << 20

CLEAR = 0.1
"""Share of a file's first records that must be clearly of a format. A log is one however much else stands in it; no
other program writes records like these."""

SKIPS = {
    "empty": "nothing stands in it",
    "not_a_log": "more than half of its first lines are not JSON",
    "utf16": "it is UTF-16; save it as UTF-8",
    "unknown_format": "JSON lines, but of no format Affidavit reads",
    "not_a_file": "neither a file nor a folder",
    "missing": "there is nothing there",
    "unreadable": "the system does not let it be read",
}
"""Why a file was not imported."""


class Detected(NamedTuple):
    """A file's format and what it speaks of, or why it is skipped."""

    format: str | None
    samples: list[Any]
    skip: str | None


def files(path: str) -> Iterator[str]:
    """The regular files below a folder in a stable order; links are not followed."""
    try:
        entries = sorted(os.scandir(path), key=lambda entry: entry.name)
    except OSError:
        return
    for entry in entries:
        try:
            mode = entry.stat(follow_symlinks=False).st_mode
        except OSError:
            continue
        if stat.S_ISDIR(mode):
            yield from files(entry.path)
        elif stat.S_ISREG(mode):
            yield entry.path


def sample(head: bytes) -> tuple[list[Any], int, int]:
    """(values, lines that are JSON, lines that are not) of the first 200 non-blank lines of a file's head."""
    values: list[Any] = []
    good = bad = 0
    lines = head.removeprefix(BOM).split(b"\n")
    for line in lines:
        text = line.strip(BLANK)
        if not text:
            continue
        if good + bad >= SAMPLE_LINES:
            break
        value, fine = _value(text)
        if fine:
            good += 1
            values.append(value)
        else:
            bad += 1
    return values, good, bad


def _value(text: bytes) -> tuple[Any, bool]:
    try:
        return loads_lenient(text)[0], True
    except Unreadable:
        pass
    if text[:1] in (b"{", b"[") and len(text) <= SAMPLE_BYTES:
        begin, end, fine, _ = split_values(text)[0]
        if fine and end - begin > 1:
            return loads_lenient(text[begin:end])[0], True
    return None, False


def head_of(stream: BinaryIO) -> bytes:
    """Enough of a file to tell what it is: 1 MiB, or its first line where that is longer."""
    head = stream.read(SAMPLE_BYTES)
    while head and b"\n" not in head and len(head) <= RECORD_BYTES:
        more = stream.read(SAMPLE_BYTES)
        if not more:
            break
        head += more
    return head


def detect(path: str, head: bytes, format: str | None = None, *, whole: bool = True) -> Detected:
    """What a file is, from its first bytes. ``whole``: the head is the whole file, so its last line counts too."""
    if not head.strip(BLANK):
        return Detected(None, [], "empty")
    if head[:2] in (b"\xff\xfe", b"\xfe\xff") or (head[1:2] == b"\0" and head[3:4] == b"\0"):
        return Detected(None, [], "utf16")
    if not whole:
        cut = head.rfind(b"\n")
        head = head[:cut] if cut > 0 else head
    values, good, bad = sample(head)
    if not good or bad > good:
        return Detected(None, values, "not_a_log")
    if format is not None:
        return Detected(format, values, None)
    best, sure = None, 0.0
    for name, reader in readers().items():
        claim = reader.claims(path, values)
        if claim > sure:
            best, sure = name, claim
    if best is None or sure < CLEAR:
        return Detected(None, values, "unknown_format")
    return Detected(best, values, None)
