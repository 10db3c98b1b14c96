"""Which files are logs, and of which format: told by content, never by a name or an ending."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from typing import Any, BinaryIO, NamedTuple

from affidavit.proof.parsing import Unreadable, envelope, loads_lenient, looks_utf16, split_values
from storage.readers import Documents, base_of, is_document, readers, rules
from storage.rule_places import is_rule_link
from storage.segments import BLANK, BOM, RECORD_BYTES

SAMPLE_LINES = 200
SAMPLE_BYTES = 1 << 20
LONGEST_FIRST = 4 * RECORD_BYTES
"""How far the end of a first line is looked for."""

CLEAR = 0.1
"""Share of a file's first records that must be clearly of a format. A log is one however much else stands in it; no
other program writes records like these."""

VALUES = frozenset(bytes((byte,)) for byte in b'{["-0123456789tfnNI')
"""How JSON values begin, those that a lenient reader takes too."""

SKIPS = {
    "empty": "nothing stands in it",
    "unfinished": "its first line is still being written",
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


def files(path: str, closed: list[str]) -> Iterator[str]:
    """The regular files below a folder in a stable order, a folder's own first.

    Links are not followed, but those called like a rule file that lead to one nearby: often one agent's name for it is
    a link to another's.

    So a session is read before its sub-agents, whose files lie in a folder named after it. Folders that the system
    does not let be read are added to ``closed``.
    """
    try:
        entries = sorted(os.scandir(path), key=lambda entry: entry.name)
    except OSError:
        closed.append(path)
        return
    folders = []
    for entry in entries:
        try:
            mode = entry.stat(follow_symlinks=False).st_mode
        except OSError:
            continue
        if stat.S_ISDIR(mode):
            folders.append(entry.path)
        elif stat.S_ISREG(mode) or (stat.S_ISLNK(mode) and is_rule_link(entry.path)):
            yield entry.path
    for folder in folders:
        yield from files(folder, closed)


def sample(head: bytes) -> tuple[list[Any], int, int]:
    """(values, lines that are JSON, lines that are not) of the first 200 non-blank lines of a file's head.

    A last line without a line feed that is the beginning of an object is still being written: it is neither.
    """
    values: list[Any] = []
    good = bad = 0
    lines = head.removeprefix(BOM).split(b"\n")
    for number, line in enumerate(lines, 1):
        text = line.strip(BLANK)
        if not text:
            continue
        if good + bad >= SAMPLE_LINES:
            break
        if text[:1] not in VALUES:
            bad += 1
            if 2 * bad > SAMPLE_LINES:
                break  # whatever follows, most are none
            continue
        value, reason = _value(text)
        if reason is None:
            good += 1
            values.append(value)
        elif number < len(lines) or reason != "cut" or text[:1] != b"{":
            bad += 1
    return values, good, bad


def _value(text: bytes) -> tuple[Any, str | None]:
    """The first value on a line, or why there is none. Of an object too large or too deep to read, its own fields."""
    if len(text) > RECORD_BYTES:
        reason = "too_large"
    else:
        try:
            return loads_lenient(text)[0], None
        except Unreadable as error:
            reason = error.reason
    if reason in ("too_large", "too_deep") and (fields := envelope(text)):
        return fields, None
    if text[:1] in (b"{", b"[") and len(text) <= SAMPLE_BYTES:
        begin, end, fine, _ = split_values(text)[0]
        if fine and end - begin > 1:
            return loads_lenient(text[begin:end])[0], None
    return None, reason


def head_of(stream: BinaryIO, lines: int = SAMPLE_LINES) -> tuple[bytes, bool]:
    """Enough of a file to tell what it is, and whether that is all of it.

    1 MiB or ``lines`` lines; where the first line is longer than that, it and what stands behind it.
    """
    blocks: list[bytes] = []
    size = feeds = 0
    enough = SAMPLE_BYTES
    while size < (enough if feeds else LONGEST_FIRST) and feeds < lines:
        block = stream.read(SAMPLE_BYTES)
        if not block:
            return b"".join(blocks), True
        blocks.append(block)
        if not feeds and size:
            enough = max(enough, size + 2 * SAMPLE_BYTES)
        size += len(block)
        feeds += block.count(b"\n")
    return b"".join(blocks), False


def detect(path: str, head: bytes, format: str | None = None, *, whole: bool = True) -> Detected:
    """What a file is, from its first bytes. ``whole``: the head is the whole file, so its last line counts too."""
    if not head.strip(BLANK):
        return Detected(None, [], "empty")
    for name, reader in readers().items():
        if isinstance(reader, Documents) and (document := reader.document(path, head)) and format in (None, name):
            return Detected(f"{name}+{document}", [], None)
    if looks_utf16(head):
        return Detected(None, [], "utf16")
    if format is not None and base_of(format) == rules.NAME:
        return Detected(format if is_document(format) else f"{format}+{rules.OTHER}", [], None)
    if not whole:
        cut = head.rfind(b"\n")
        head = head[: cut + 1] if cut > 0 else head
    values, good, bad = sample(head)
    if not good and not bad:
        return Detected(None, [], "unfinished")
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
