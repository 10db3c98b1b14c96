"""What records say, by the readers of their formats."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from affidavit.session.event import Draft, Reading
from affidavit.session.prepare import Preparer
from storage.folds.sources import Voice
from storage.readers import Documents, base_of, is_document, readers
from storage.readers.rules import is_rules, sections
from storage.segments import RECORD_BYTES, Cut

Ready = tuple[Any, ...] | list[Any]
"""A record made ready: a prepared tuple (of a rule file: its sections), or ``[line, offset, length, reason]`` of one
that could not be read."""


def make_ready(cuts: Iterable[Cut], voice: Voice, *, texts: bool = True) -> list[Ready]:
    """What each record says, by the reader of its source's format, as far as it can be known alone.

    Without ``texts`` what the search index takes is left out.
    """
    if is_rules(voice.format):
        return [_sections_ready(cut) for cut in cuts]
    if is_document(voice.format):
        return _document_ready(cuts, voice, texts)
    read = readers().get(voice.format, _UNKNOWN).read
    scope = (voice.native, voice.lane)
    prepare = Preparer(voice.format, voice.native, texts=texts).prepare
    ready: list[Ready] = []
    for _, offset, line, value, parsed, flags, reason in cuts:
        if reason is not None:
            ready.append([line, offset, len(value), reason])
            continue
        reading = read(parsed, scope)
        if flags:
            reading.flags = (*reading.flags, *flags)
        ready.append(prepare(reading, value))
    return ready


def _sections_ready(cut: Cut) -> Ready:
    if len(cut.value) > RECORD_BYTES:
        return [cut.line, cut.offset, len(cut.value), str(cut.reason)]
    return sections(cut.span)


def _document_ready(cuts: Iterable[Cut], voice: Voice, texts: bool) -> list[Ready]:
    prepare = Preparer(base_of(voice.format), voice.native, texts=texts).prepare
    ready: list[Ready] = []
    for cut in cuts:
        reading = reading_of(cut, voice)
        if reading is None:
            ready.append([cut.line, cut.offset, len(cut.value), str(cut.reason)])
        else:
            ready.append(prepare(reading, cut.value))
    return ready


def document_reading(format: str, value: bytes, whole: bytes, scope: tuple[str, str]) -> Reading | None:
    """What a document says; ``None`` where it is larger than what is read at once."""
    name, _, document = format.partition("+")
    reader = readers().get(name)
    if len(value) > RECORD_BYTES:
        return None
    if not isinstance(reader, Documents):
        return _UNKNOWN.read(value, scope)
    return reader.read_document(document, value, whole, scope)


def reading_of(cut: Cut, voice: Voice) -> Reading | None:
    """What one record says; ``None`` where it could not be parsed."""
    if is_document(voice.format):
        return document_reading(voice.format, cut.value, cut.span, (voice.native, voice.lane))
    if cut.reason is not None:
        return None
    return readers().get(voice.format, _UNKNOWN).read(cut.parsed, (voice.native, voice.lane))


class _Unknown:
    """Stands for a reader this program does not have: every record is kept and shown as unknown."""

    name = title = "unknown"

    def claims(self, path: str, samples: Sequence[Any]) -> float:  # noqa: ARG002
        return 0.0

    def scope(self, path: str) -> tuple[str | None, str]:  # noqa: ARG002
        return None, ""

    def read(self, value: Any, scope: tuple[str | None, str]) -> Reading:  # noqa: ARG002
        return Reading("unknown", drafts=[Draft("unknown", "runtime", str(value)[:4096])])


_UNKNOWN = _Unknown()
