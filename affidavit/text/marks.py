"""Text as tables can hold it: NUL and lone surrogates replaced by visible marks, everything else untouched."""

from __future__ import annotations

import re

_UNSTORABLE = re.compile("[\0\ud800-\udfff]")


def _mark(match: re.Match[str]) -> str:
    character = match.group()
    return "\u2400" if character == "\0" else f"\u27e8U+{ord(character):04X}\u27e9"


def marked(text: str) -> str:
    """``text`` with NUL as a control picture and half a UTF-16 pair as its code point; recorded bytes keep both."""
    if text.isascii() and "\0" not in text:
        return text
    return _UNSTORABLE.sub(_mark, text)
