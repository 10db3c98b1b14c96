"""Exact guards beside likeness: what two texts must agree in to say the same, however alike they look.

Polarity, antonyms of this domain, numbers and versions, identifiers and paths. No model: word lists and patterns.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final, NamedTuple

from affidavit.memory.value_classes import members
from affidavit.text.normal import Normal, normal

_NEGATIONS = re.compile(
    r"\b(?:not|never|no|none|without|cannot|can't|don't|doesn't|won't|isn't|aren't|wasn't|shouldn't|mustn't|didn't|"
    r"no longer|avoid|avoids|refuse|refuses|stop using|instead of|deprecated|forbidden|forbid|forbids|prohibited|"
    r"disallow(?:s|ed)?|nor|neither|except|unless|dislikes?)\b|[ᐸ]"
    r"|ない(?!と)|ません|禁止|避け|ずに|しないで|不要|不(?:要|可|得|能|会|會|用|在)|没有|沒有|禁|别|別(?!の)|勿|从不|從不"
)
_NOT_NEGATIONS = re.compile(
    r"\bnot only\b|\bif not\b|\bno (?:matter|doubt|problem|wonder)\b|\bwhy not\b|\bnot just\b|\bor not\b"
)
_TWICE = re.compile(r"\b(?:never|not|don't|cannot|can't)\b[^.;]{0,20}\b(?:avoid|forget|skip|omit|without)\b")
"""Said with two negatives: do not forget to."""

_ANTONYMS: Final[tuple[tuple[str, str], ...]] = tuple(
    (f"{one} {many}".strip(), other)
    for one, many, other in (
        ("enable enables enabled enabling on", "", "disable disables disabled disabling off"),
        ("allow allows allowed permit permits permitted", "", "forbid forbids forbidden deny denies denied refuse"),
        ("tabs tab", "", "spaces space"),
        ("sync synchronous synchronously", "", "async asynchronous asynchronously"),
        ("merge merges merged merging", "", "rebase rebases rebased rebasing"),
        ("before", "", "after"),
        ("public", "", "private"),
        ("include includes included", "", "exclude excludes excluded"),
        ("single", "", "double"),
        ("strict", "", "lenient loose"),
        ("manual manually", "", "automatic automatically"),
        ("lower lowercase", "", "upper uppercase"),
        ("internal", "", "external"),
        ("required mandatory", "", "optional"),
        ("always", "", "never"),
        ("first", "", "last"),
        ("minimum least", "", "maximum most"),
        ("ascending", "", "descending"),
        ("start starts begin begins", "", "end ends stop stops"),
        ("true", "", "false"),
        ("passes passing passed", "", "fails failing failed"),
        ("有効", "", "無効"),
        ("許可 允许 允許", "", "禁止"),
    )
)
_SIDES: Final = {
    word: (place, side)
    for place, pair in enumerate(_ANTONYMS)
    for side, words in enumerate(pair)
    for word in words.split()
}

_NUMBER = re.compile(r"(?<![\w.])[<>]=?\s*-?\d[\d.,:/_]*%?|(?<![\w.])-?v?\d[\d.,:/_]*(?:%|[a-z]{1,3}\b)?")
_IDENTIFIER = re.compile(
    r"`[^`\n]+`|https?://\S+|(?<!\w)[~.]{0,2}/[\w./-]+|\b[\w-]+(?:/[\w.-]+)+|\b\w+\.[a-z]{1,5}\b|"
    r"\b[A-Za-z]+_[\w]+\b|\b[a-z]+[A-Z]\w*\b|\b[A-Z]{2,}[A-Z0-9_]*\b|(?<!\w)--?[a-z][\w-]*"
)


class Marks(NamedTuple):
    """What a text says that another must say too. ``negative``: an odd number of negations."""

    negative: bool
    sides: frozenset[tuple[int, int]]
    numbers: frozenset[str]
    identifiers: frozenset[str]
    values: frozenset[tuple[str, str]]


@lru_cache(maxsize=65_536)
def marks(text: str) -> Marks:
    """The marks of a text."""
    form = normal(text)
    return Marks(
        _negative(form.text),
        frozenset(_SIDES[token] for token in form.tokens if token in _SIDES),
        frozenset(_number(found) for found in _NUMBER.findall(form.text)) | _months(form),
        frozenset(found.strip("`").rstrip(".,;:").casefold() for found in _IDENTIFIER.findall(text)),
        frozenset(members(form)),
    )


def negative(text: str) -> bool:
    """Whether a text denies, forbids or turns away from something."""
    return marks(text).negative


def differing(one: str, other: str) -> list[str]:
    """The guards two texts differ in: ``polarity antonyms numbers identifiers values``; empty: in none."""
    mine, theirs = marks(one), marks(other)
    found = []
    if mine.negative != theirs.negative:
        found.append("polarity")
    if _opposed(mine.sides, theirs.sides):
        found.append("antonyms")
    if mine.numbers != theirs.numbers:
        found.append("numbers")
    if mine.identifiers != theirs.identifiers:
        found.append("identifiers")
    if mine.values != theirs.values:
        found.append("values")
    return found


def opposed(one: str, other: str) -> bool:
    """Whether two texts about the same thing say opposite things: of one polarity each, or with opposite words."""
    mine, theirs = marks(one), marks(other)
    return (mine.negative != theirs.negative) != _opposed(mine.sides, theirs.sides)


def _opposed(mine: frozenset[tuple[int, int]], theirs: frozenset[tuple[int, int]]) -> bool:
    mine, theirs = mine - theirs, theirs - mine
    return any((place, 1 - side) in theirs for place, side in mine)


def _negative(text: str) -> bool:
    text = _NOT_NEGATIONS.sub(" ", text)
    said = len(_NEGATIONS.findall(text))
    twice = len(_TWICE.findall(text))
    return said > 0 and not (twice and said == 2 * twice)


def _number(found: str) -> str:
    return "".join(found.split()).rstrip(".,:/_").removeprefix("v")


def _months(form: Normal) -> frozenset[str]:
    return frozenset(token for token in form.tokens if _MONTH.fullmatch(token))


_MONTH = re.compile(
    "jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|june?|july?|aug(?:ust)?|sep(?:tember)?|oct(?:ober)?|"
    "nov(?:ember)?|dec(?:ember)?"
)
