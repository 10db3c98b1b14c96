"""What hidden characters say: text smuggled in tags, selectors and zero-width characters, decoded to be quoted.

The encodings are those used to slip instructions past a reader to a model: tag characters mirror ASCII, the 256
variation selectors stand for bytes, and two kinds of zero-width characters for bits.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from affidavit.text.display import display


class Payload(NamedTuple):
    """A hidden run: ``kind`` is ``tags``, ``selectors`` or ``bits``; characters ``start`` up to ``end`` of the text.

    ``text`` is what it says, safe to show; empty if it decodes to nothing readable.
    """

    kind: str
    start: int
    end: int
    text: str


_TAGS = re.compile("[\U000e0000-\U000e007f]+")
_SELECTORS = re.compile("[\ufe00-\ufe0f\U000e0100-\U000e01ef]{2,}")
# Fewer than two bytes' worth of bits are marks without a message.
_BITS = re.compile("[\u200b-\u200d\u2060-\u2064\ufeff\u180e]{16,}")


def hidden_payload(text: str) -> list[Payload]:
    """Every hidden run in ``text`` that can carry a message, in order."""
    if text.isascii():
        return []
    found = [Payload("tags", *run.span(), _from_tags(run.group())) for run in _TAGS.finditer(text)]
    found += [Payload("selectors", *run.span(), _from_selectors(run.group())) for run in _SELECTORS.finditer(text)]
    found += [Payload("bits", *run.span(), _from_bits(run.group())) for run in _BITS.finditer(text)]
    return sorted(found, key=lambda payload: payload.start)


def _from_tags(run: str) -> str:
    return "".join(chr(ord(tag) - 0xE0000) for tag in run if 0xE0020 <= ord(tag) <= 0xE007E)


def _from_selectors(run: str) -> str:
    data = bytes(ord(sign) - 0xFE00 if ord(sign) < 0xE0000 else ord(sign) - 0xE0100 + 16 for sign in run)
    return _readable(data)


def _from_bits(run: str) -> str:
    """Of the two commonest signs one is 0 and one is 1; a third separates. Tried both ways, in bytes of 8 and 7."""
    signs = sorted(set(run), key=run.count, reverse=True)[:2]
    if len(signs) < 2:
        return ""
    bits = "".join(sign for sign in run if sign in signs)
    for zero, one in (sorted(signs), sorted(signs, reverse=True)):
        digits = bits.replace(zero, "0").replace(one, "1")
        for size in (8, 7):
            whole = len(digits) - len(digits) % size
            data = bytes(int(digits[at : at + size], 2) for at in range(0, whole, size))
            if text := _readable(data):
                return text
    return ""


def _readable(data: bytes) -> str:
    """``data`` as text if that is what it is, else nothing."""
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        return ""
    return display(text) if text and sum(map(str.isprintable, text)) * 10 >= len(text) * 9 else ""
