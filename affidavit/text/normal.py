"""The normal form of a short text, for telling whether two say the same. Never what a decision is bound to.

NFKC, case folded, what cannot be seen taken out, runs of whitespace one blank. Signs that belong to paths, versions,
symbols, comparisons and signed numbers stay inside their token, so that ``> 1%`` and ``< 1%`` remain two texts.
"""

from __future__ import annotations

import re
from typing import NamedTuple
from unicodedata import normalize

from affidavit.text.characters import HIDDEN_BEYOND, HIDDEN_BMP

_HIDDEN = re.compile(f"[{HIDDEN_BMP}{HIDDEN_BEYOND}]")
_CJK = "\u3041-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7a3\uf900-\ufaff"
_TOKEN = re.compile(rf"[{_CJK}]|[<>=!]=?|[-+]?\d[\w.,:/%-]*|[^\W{_CJK}][\w./:@#-]*|[~./][\w./-]+")
_LONE = re.compile(rf"[{_CJK}]{{2,}}")


class Normal(NamedTuple):
    """A text's normal form. ``text``: all of it; ``tokens``: its words in order; ``hidden``: something in it cannot be
    seen."""

    text: str
    tokens: tuple[str, ...]
    hidden: bool

    @property
    def sorted(self) -> str:
        """Its tokens in alphabetical order, for comparing whatever their order."""
        return " ".join(sorted(self.tokens))


def normal(text: str) -> Normal:
    """The normal form of ``text``. Chinese, Japanese and Korean words are taken as pairs of characters."""
    seen = _HIDDEN.sub("", text)
    folded = " ".join(normalize("NFKC", seen).casefold().split())
    return Normal(folded, tuple(_tokens(folded)), seen != text)


def _tokens(folded: str) -> list[str]:
    spaced = _LONE.sub(lambda run: " " + " ".join(_pairs(run.group())) + " ", folded)
    found = []
    for part in spaced.split():
        if _LONE.fullmatch(part):
            found.append(part)
            continue
        found += [word for token in _TOKEN.findall(part) if (word := token.rstrip(".,:;!?/-") or token)]
    return found


def _pairs(run: str) -> list[str]:
    return [run[at : at + 2] for at in range(len(run) - 1)]
