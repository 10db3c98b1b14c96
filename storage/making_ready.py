"""From bytes to segments whose records are made ready: everything of an import that needs no store.

Runs in this process, or ahead of it in a second one (:mod:`storage.ahead`).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple, Protocol

from storage.folds.reading import Ready, make_ready
from storage.folds.sources import Voice
from storage.readers import is_document
from storage.segments import Cut, Cutter, Packed, Whole, pack
from storage.store import Random

BLOCK = 1 << 18
"""Bytes read at once: small enough that what is parsed is packed while it is still at hand."""


class Readable(Protocol):
    """Anything bytes can be read from."""

    def read(self, size: int, /) -> bytes: ...


class Step(NamedTuple):
    """What reading one block gave: its size, the segments now full, and (at the end) where a cut tail begins."""

    bytes: int
    segments: list[tuple[Packed, list[Ready]]]
    pending: int | None


def steps(
    stream: Readable, offset: int, line: int, voice: Voice, random: Random, *, live: bool = False
) -> Iterator[Step]:
    """Read a stream that stands at ``offset`` to its end.

    ``live``: give what a block completes at once, in a segment of its own, since the next block may be long in coming.
    """
    cutter = Whole() if is_document(voice.format) else Cutter(offset, line)
    waiting: list[Cut] = []
    start = offset
    while True:
        block = stream.read(BLOCK)
        pending = None
        if block:
            waiting += cutter.feed(block)
        else:
            cuts, pending = cutter.finish()
            waiting += cuts
        packed = list(pack(waiting, start, random, last=live or not block))
        del waiting[: sum(len(one.records) for one in packed)]
        start += sum(one.size for one in packed)
        segments = [(one._replace(records=()), make_ready(one.records, voice)) for one in packed]
        yield Step(len(block), segments, pending)
        if not block:
            return
