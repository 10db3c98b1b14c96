"""Segments: a file's bytes cut into records, and records kept so that each one can be proven alone.

A file is tiled byte for byte. Each JSON value, and each maximal run up to a line feed that is none, is a record; its
*span* also holds the blanks before it and the line feed behind it. A span's *value* is the span without white space
(and without a byte order mark at the very start of the file).
"""

from __future__ import annotations

import hashlib
import struct
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import accumulate
from typing import Any, NamedTuple

import zstandard

from affidavit.proof.commitment import commit_all, segment_root
from affidavit.proof.parsing import Unreadable, envelope, loads_lenient, split_values
from affidavit.text.marks import marked

SEGMENT_BYTES = 256 * 1024
SEGMENT_RECORDS = 1_000
RECORD_BYTES = 16 * 1024 * 1024
"""A record larger than this is kept but not parsed."""

SALT = 32
BLANK = b" \t\r\n"
BOM = b"\xef\xbb\xbf"
_ENVELOPE = ("type", "uuid", "timestamp", "sessionId", "id", "kind")
"""Fields that say what an unparsed record is, where they can be had."""


class Cut(NamedTuple):
    """One record: its span, where its value stands in the file, and the value parsed, or why it could not be."""

    span: bytes
    offset: int
    line: int
    value: bytes
    parsed: Any
    flags: tuple[str, ...]
    reason: str | None


_cut = tuple.__new__
"""Makes a :class:`Cut` of a tuple of its fields in half the time."""


class Cutter:
    """Cuts a growing stream of bytes into records. Feed blocks in order; :meth:`finish` once at the end."""

    def __init__(self, offset: int = 0, line: int = 1) -> None:
        self.offset = offset
        self.line = line
        self._blank: list[bytes] = []
        self._rest: list[bytes] = []

    def feed(self, block: bytes) -> list[Cut]:
        """The records that ``block`` completes."""
        end = block.rfind(b"\n") + 1
        if not end:
            self._rest.append(block)
            return []
        whole = b"".join((*self._rest, block[:end]))
        self._rest = [block[end:]] if end < len(block) else []
        return self._lines(whole)

    def finish(self) -> tuple[list[Cut], int | None]:
        """Records of a last line without a line feed, and the offset of what is still being written, if anything.

        A complete object or array is taken; a scalar could still grow and a cut value is not yet a record.
        """
        line = b"".join(self._rest)
        self._rest = []
        mark = len(BOM) if self.offset == 0 and line.startswith(BOM) else 0
        end = 0
        for begin, stop, fine, _ in split_values(line[mark:]):
            if not fine or line[mark + begin : mark + begin + 1] not in (b"{", b"["):
                break
            end = mark + stop
        cuts = self._lines(line[:end]) if end else []
        pending = line[end:]
        if not pending.strip(BLANK):
            return cuts, None
        return cuts, self.offset + len(pending) - len(pending.lstrip(BLANK))

    def _lines(self, whole: bytes) -> list[Cut]:
        """Records of complete lines; blank lines at the end wait for the record they belong to."""
        cuts: list[Cut] = []
        base, number = self.offset, self.line - 1
        start = position = 0
        for line in whole.split(b"\n"):
            number += 1
            stop = position + len(line) + 1
            text, lead = line, 0
            if line[:1] != b"{" or line[-1:] != b"}":
                if base + position == 0 and line.startswith(BOM):
                    line = line[len(BOM) :]
                    lead = len(BOM)
                text = line.strip(BLANK)
                lead += line.index(text)
            if not text:
                position = stop
                continue
            span = whole[start:stop]
            at = position - start + lead
            if self._blank:
                self._blank.append(span)
                at += sum(map(len, self._blank)) - len(span)
                span = b"".join(self._blank)
                self._blank = []
            parsed, flags, reason = parse(text)
            if reason is None or reason.startswith("too_large"):
                cuts.append(_cut(Cut, (span, base + position + lead, number, text, parsed, flags, reason)))
            else:
                cuts += _glued(span, at, base + position + lead, number, text)
            start = position = stop
        if start < len(whole):
            self._blank.append(whole[start:])
        self.offset = base + len(whole)
        self.line = number
        return cuts


class Whole:
    """Takes a stream of bytes as one record, whatever stands in it; fed and finished like a :class:`Cutter`."""

    def __init__(self) -> None:
        self._blocks: list[bytes] = []

    def feed(self, block: bytes) -> list[Cut]:
        """Nothing yet: a document is whole at its end."""
        self._blocks.append(block)
        return []

    def finish(self) -> tuple[list[Cut], int | None]:
        """The document, if anything stands in it."""
        span = b"".join(self._blocks)
        lead, value = value_of(span, at_file_start=True)
        if not value:
            return [], None
        return [Cut(span, lead, 1 + span.count(b"\n", 0, lead), value, *parse(value))], None


def _glued(span: bytes, at: int, offset: int, number: int, text: bytes) -> list[Cut]:
    """A line that is not one JSON value: every value and every undecodable run on it.

    ``text``, the line without white space, stands at ``at`` in ``span`` and at ``offset`` in the file.
    """
    # Inside a file a byte order mark is no white space: a line that begins with one is one value or none.
    pieces = [(0, len(text))] if text.startswith(BOM) else [piece[:2] for piece in split_values(text)]
    cuts = []
    start = 0
    for index, (begin, end) in enumerate(pieces):
        value = text[begin:end]
        stop = at + pieces[index + 1][0] if index + 1 < len(pieces) else len(span)
        parsed, flags, reason = parse(value)
        cuts.append(Cut(span[start:stop], offset + begin, number, value, parsed, flags, reason))
        start = stop
    return cuts


def parse(value: bytes) -> tuple[Any, tuple[str, ...], str | None]:
    """A record's JSON value, what was odd about it, or the reason it is unreadable."""
    if len(value) > RECORD_BYTES:
        fields = envelope(value)
        near = ", ".join(f"{name} {marked(str(fields[name])[:80])}" for name in _ENVELOPE if name in fields)
        return None, (), f"too_large: {len(value)} bytes" + (f"; {near}" if near else "")
    try:
        parsed, flags = loads_lenient(value)
    except Unreadable as error:
        return None, (), error.reason
    return parsed, flags, None


class Packed(NamedTuple):
    """A segment ready to be stored."""

    start: int
    line: int
    size: int
    cuts: bytes
    data: bytes
    digest: bytes
    salts: bytes
    commits: bytes
    root: bytes
    lines: int
    records: Sequence[Cut]


def pack(
    cuts: Sequence[Cut], start: int, random: Callable[[int], bytes], *, last: bool = True, level: int = 3
) -> Iterator[Packed]:
    """Consecutive records as segments of at most 1,000 records and 256 KiB (unless one alone is larger).

    Without ``last`` only full segments are made: more records may come.
    """
    compressor = zstandard.ZstdCompressor(level=level, write_checksum=True)
    first = 0
    while first < len(cuts):
        size = 0
        end = first
        while end < len(cuts) and end - first < SEGMENT_RECORDS:
            more = len(cuts[end].span)
            if size + more > SEGMENT_BYTES and end > first:
                break
            size += more
            end += 1
        if end == len(cuts) and not last and size < SEGMENT_BYTES and end - first < SEGMENT_RECORDS:
            return
        part = cuts[first:end]
        spans = [cut.span for cut in part]
        salts = random(SALT * len(part))
        commits = commit_all(salts, spans)
        data = compressor.compress(b"".join(spans))
        line = part[0].line - spans[0].count(b"\n", 0, part[0].offset - start)
        yield Packed(
            start,
            line,
            size,
            struct.pack(f"<{len(part)}I", *map(len, spans)),
            data,
            hashlib.sha256(data).digest(),
            salts,
            b"".join(commits),
            segment_root(commits),
            sum(span.count(b"\n") for span in spans),
            part,
        )
        start += size
        first = end


class SegmentError(Exception):
    """A stored segment does not hold together; ``args[0]`` says how."""


def spans_of(data: bytes, cuts: bytes, size: int) -> list[bytes]:
    """The record spans of a stored segment."""
    if len(cuts) % 4:
        raise SegmentError("its record lengths are damaged")
    lengths = struct.unpack(f"<{len(cuts) // 4}I", cuts)
    if sum(lengths) != size:
        raise SegmentError("its record lengths do not add up to its size")
    try:
        if zstandard.frame_content_size(data) != size:
            raise SegmentError("its bytes do not unpack to its size")
        whole = zstandard.ZstdDecompressor().decompress(data, max_output_size=size)
    except zstandard.ZstdError as error:
        raise SegmentError(f"its bytes cannot be unpacked ({error})") from error
    if len(whole) != size:
        raise SegmentError("its bytes are not as long as recorded")
    ends = list(accumulate(lengths))
    return [whole[start:end] for start, end in zip([0, *ends], ends, strict=False)]


def value_of(span: bytes, at_file_start: bool = False) -> tuple[int, bytes]:
    """(offset in the span, bytes) of a record's value."""
    rest = (span[len(BOM) :] if at_file_start and span.startswith(BOM) else span).lstrip(BLANK)
    return len(span) - len(rest), rest.rstrip(BLANK)


def recut(spans: Iterable[bytes], start: int, line: int) -> Iterator[Cut]:
    """The records of a stored segment, cut as they were when they were taken."""
    at, number = start, line
    for span in spans:
        lead = before = 0
        if span[:1] == b"{" and span[-2:] == b"}\n":
            value = span[:-1]
        else:
            lead, value = value_of(span, at == 0)
            before = span.count(b"\n", 0, lead)
        parsed, flags, reason = parse(value)
        yield _cut(Cut, (span, at + lead, number + before, value, parsed, flags, reason))
        number += span.count(b"\n")
        at += len(span)
