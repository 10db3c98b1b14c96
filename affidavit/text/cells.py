"""How many terminal cells a text takes, for text that :func:`affidavit.text.display.display` made safe.

Terminals differ; this follows what most do and errs on the wide side, so that nothing runs over its place.
East Asian wide characters and emoji take two cells, combining marks and joiners none.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache, lru_cache
from unicodedata import category, east_asian_width

from affidavit.text import characters as c

_WIDE_ALWAYS = (
    (0x2630, 0x2637), (0x268A, 0x268F), (0x2FF0, 0x2FFF), (0x31E4, 0x31EF), (0x4DC0, 0x4DFF), (0xFA6E, 0xFAFF),
    (0x16FF2, 0x16FFF), (0x187F8, 0x187FF), (0x18CFF, 0x18DFF), (0x1B123, 0x1B16F), (0x1D300, 0x1D376),
    (0x1F300, 0x1F64F), (0x1F680, 0x1F6FF), (0x1F900, 0x1F9FF), (0x1FA70, 0x1FAFF), (0x20000, 0x3FFFD),
)  # fmt: skip
"""Wide in newer editions of Unicode than Python may have: symbols, and blocks in which emoji are added."""


@lru_cache(maxsize=4096)
def _cell(character: str) -> int:
    code = ord(character)
    kind = category(character)
    if kind in ("Mn", "Me") or character in "\u200b\u200c\u200d\u2060\ufeff" or 0x1160 <= code <= 0x11FF:
        return 0
    if code < 0x20 or 0x7F <= code < 0xA0:
        return 0
    if any(first <= code <= last for first, last in _WIDE_ALWAYS):
        return 2
    return 2 if kind != "Cn" and east_asian_width(character) in "WF" else 1


@cache
def _joined() -> re.Pattern[str]:
    """Emoji sequences that a terminal draws as one emoji, and a selector that makes a sign an emoji."""
    return re.compile(
        r"\U0001f3f4[\U000e0020-\U000e007f]+"
        rf"|(?:[{c.PICTOGRAPHIC}](?:\ufe0f|[{c.SKIN_TONES}])?(?:\u200d[{c.PICTOGRAPHIC}](?:\ufe0f|[{c.SKIN_TONES}])?)*)"
        r"|[0-9#*]\ufe0f\u20e3"
    )


_SEQUENCE_PART = re.compile("[\u200d\ufe0f\U0001f3fb-\U0001f3ff\U000e0020-\U000e007f]")


def _sequence(found: re.Match[str]) -> str:
    """A stand-in of the same cells: one wide character for what became one, the character itself else."""
    return "\u3000" if len(found.group()) > 1 else found.group()


def cells(text: str) -> int:
    """The cells ``text`` takes in a row. Control characters, of which safe text has none, count nothing."""
    if text.isascii():
        return len(text)
    if _SEQUENCE_PART.search(text) is not None:
        text = _joined().sub(_sequence, text)
    return sum(map(_cell, text))


def fitting(text: str, width: int, measure: Callable[[str], int] = cells) -> str:
    """The longest beginning of ``text`` that takes at most ``width`` cells, cut between whole characters."""
    if text.isascii():
        return text[: max(width, 0)]
    low, high = 0, len(text)
    while low < high:
        middle = (low + high + 1) // 2
        if measure(text[:middle]) <= width:
            low = middle
        else:
            high = middle - 1
    cut = low
    while 0 < cut < len(text) and _cell(text[cut]) == 0:
        cut -= 1
    if 0 < cut < len(text) and text[cut - 1] == "\u200d":
        cut -= 1
    return text[:cut]
