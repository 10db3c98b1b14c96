"""Words for a full-text index that knows only spaces: what goes in, what a person's typing means, what matched.

The index is SQLite's FTS5 with its ``unicode61`` tokeniser: letters and digits make words, case and most accents
fall away. Chinese, Japanese and Korean have no spaces between words, so each run of theirs goes in as its
overlapping pairs and its last character (``役割を`` as ``役割 割を を``): a query of two or more is a phrase of
pairs, and a single character is the beginning of a pair.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import Final
from unicodedata import category, normalize

MAX_INDEXED: Final = 256 * 1024
"""Characters of one text that can be searched."""

MAX_WORDS: Final = 32
"""Words of a query that count; the rest is left out."""

MAX_WORD: Final = 200
"""Characters of a query's word that count."""

_CJK = "\u3005-\u3007\u3041-\u3096\u309d-\u309f\u30a1-\u30fa\u30fc-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff"
_CJK += "\uac00-\ud7a3\uf900-\ufaff\uff66-\uff9d\U00020000-\U0003134f"
_CJK_RUN = re.compile(f"[{_CJK}]+")
_UNSTORABLE = re.compile("[\0\ud800-\udfff]")


def index_text(text: str, cap: int = MAX_INDEXED) -> tuple[str, bool]:
    """``text`` as the index takes it, and whether it was cut to its first ``cap`` characters."""
    cut = is_cut(text, cap)
    if cut:
        text = text[:cap]
    if text.isascii():
        return (text.replace("\0", " ") if "\0" in text else text), cut
    text = normalize("NFC", _UNSTORABLE.sub(" ", text))
    return _CJK_RUN.sub(_pairs, text), cut


def is_cut(text: str, cap: int = MAX_INDEXED) -> bool:
    """Whether :func:`index_text` takes only the first part of a text."""
    return len(text) > cap


def match_query(text: str) -> str | None:
    """What a person typed as an FTS5 expression: every word literally, all of them, the last as a beginning.

    A word is what stands between spaces; inside it the tokeniser's words must follow each other (``src/x.py``,
    ``don't``). A space at the end makes the last word whole. Nothing is an operator. ``None`` if there is nothing
    to search.
    """
    words = _words(text)
    if not words:
        return None
    terms = [_term(word) for word in words]
    if not text[-1:].isspace() and not terms[-1].endswith("*"):
        terms[-1] += "*"
    return " ".join(terms)


def any_query(phrases: Iterable[str]) -> str | None:
    """An FTS5 expression for texts that hold any of these phrases, each literally, its words following each other.

    ``None`` where none of them holds anything to search. At most :data:`MAX_WORDS` count.
    """
    terms = [_term(phrase) for phrase in _words_of(phrases)]
    return " OR ".join(dict.fromkeys(terms)) or None


def _words_of(phrases: Iterable[str]) -> list[str]:
    clean = (normalize("NFC", _UNSTORABLE.sub(" ", phrase[:MAX_WORD])) for phrase in phrases)
    return [phrase for phrase in clean if any(map(_is_token, phrase))][:MAX_WORDS]


def find_spans(haystack: str, query: str, limit: int = 1000) -> list[tuple[int, int]]:
    """Where the words of a query stand in a text, as (start, end), in order and apart; at most ``limit``.

    Compares as the index does: without case and accents, whole words but for the last.
    """
    pattern = _pattern(query)
    if pattern is None:
        return []
    spans: list[tuple[int, int]] = []
    for found in pattern.finditer(_folded(haystack)):
        spans.append(found.span())
        if len(spans) >= limit:
            break
    return spans


def excerpt(text: str, query: str, width: int) -> tuple[str, list[tuple[int, int]]]:
    """About ``width`` characters of ``text`` around the first match, on one line, and the matches in them.

    Runs of whitespace become one space; ``…`` stands where something was cut off. Not made safe to show.
    """
    pattern = _pattern(query)
    first = None if pattern is None else pattern.search(_folded(text[:MAX_INDEXED]))
    start = max(0, first.start() - width // 3) if first is not None else 0
    if start:  # back to the beginning of a word, if one is near
        space = re.compile(r"\s").search(text, start, start + 16)
        start = space.end() if space is not None and first is not None and space.end() <= first.start() else start
    # Twice the width, as whitespace shrinks.
    part = " ".join(text[start : start + 2 * width + 16].split())
    ends = len(part) <= width and start + 2 * width + 16 >= len(text)
    if not ends:
        part = part[: max(width - 1, 0)].rstrip() + "…"
    if start:
        part = "…" + part
    return part, find_spans(part, query)


def _pairs(run: re.Match[str]) -> str:
    return f" {' '.join(_pairs_of(run.group()))} "


def _pairs_of(run: str) -> list[str]:
    return [run[at : at + 2] for at in range(len(run))]


def _words(text: str) -> list[str]:
    """The query's words that hold anything the tokeniser would index."""
    clean = normalize("NFC", _UNSTORABLE.sub(" ", text[: MAX_WORDS * MAX_WORD]))
    words = [word[:MAX_WORD] for word in clean.split()]
    return [word for word in words if any(map(_is_token, word))][:MAX_WORDS]


def _is_token(character: str) -> bool:
    return category(character)[0] in "LN" or category(character) == "Co"


def _pieces(word: str) -> Iterator[str]:
    """A word cut into runs of letters and digits, each either Chinese, Japanese, Korean or not at all."""
    for piece in re.split(f"([{_CJK}]+)", word):
        if _CJK_RUN.fullmatch(piece):
            yield piece
        else:
            yield from _runs(piece)


def _runs(piece: str) -> Iterator[str]:
    run = ""
    for character in piece:
        if _is_token(character) or (run and category(character)[0] == "M"):
            run += character
        elif run:
            yield run
            run = ""
    if run:
        yield run


def _term(word: str) -> str:
    """A word as an FTS5 phrase, left to the same tokeniser that the text went through."""
    word = word.replace('"', " ")
    runs = list(_CJK_RUN.finditer(word))
    if not runs or runs[-1].end() < len(word):
        return f'"{_CJK_RUN.sub(_pairs, word)}"'
    # The text's run may go on where the query ends: its last character alone is not asked for, unless it is all
    # there is, and then it begins a pair.
    last = runs[-1]
    pairs = _pairs_of(last.group())
    end = " ".join(pairs[:-1] or pairs)
    return f'"{_CJK_RUN.sub(_pairs, word[: last.start()])} {end}"' + ("*" if len(pairs) == 1 else "")


class _Folding(dict[int, str]):
    """Maps characters one to one to what the tokeniser compares: lower case, without accent; marks to one mark."""

    def __missing__(self, code: int) -> str:
        character = chr(code)
        if category(character)[0] == "M":
            folded = "\u0300"
        else:
            parts = normalize("NFD", character)
            bare = parts[0] if all(category(mark)[0] == "M" for mark in parts[1:]) else character
            folded = bare.lower()[:1] or character
        self[code] = folded
        return folded


_FOLDING = _Folding()


def _folded(text: str) -> str:
    return text.lower() if text.isascii() else text.translate(_FOLDING)


@lru_cache(maxsize=64)
def _pattern_of(words: tuple[str, ...], open_end: bool) -> re.Pattern[str]:
    alternatives = []
    for number, word in enumerate(words):
        last = number == len(words) - 1 and open_end
        alternatives.append(_expression(list(_pieces(word)), last))
    # Longer words first: of two that begin alike the longer match is the one to show.
    alternatives.sort(key=len, reverse=True)
    return re.compile("|".join(alternatives))


def _expression(pieces: list[str], open_end: bool) -> str:
    """One word's pieces with whatever separates words between them."""
    text = ""
    for number, piece in enumerate(pieces):
        cjk = _CJK_RUN.fullmatch(piece) is not None
        if number:
            text += r"[\W_]*?" if cjk or _CJK_RUN.fullmatch(pieces[number - 1]) else r"[\W_]+?"
        elif not cjk:
            text += rf"(?<![^\W_{_CJK}])(?<!\u0300)"
        text += "".join(re.escape(character) + "\u0300*+" for character in _folded(piece) if character != "\u0300")
        if number == len(pieces) - 1 and not cjk and not open_end:
            text += rf"(?![^\W_{_CJK}])"
    return text


def _pattern(query: str) -> re.Pattern[str] | None:
    words = tuple(_words(query))
    if not words:
        return None
    return _pattern_of(words, not query[-1:].isspace())
