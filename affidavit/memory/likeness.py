"""How like two memories are: a number proposes, guards decide.

The score is the smaller of two edit ratios, of the words sorted and of the words as sets (0 to 100). It only says what
is worth comparing. Texts that differ in a guard are never the same, however high the score; where they say opposite
things they contradict each other.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Final, NamedTuple

from affidavit.memory.guards import differing, marks, opposed
from affidavit.memory.words import Likeness
from affidavit.text.normal import normal


class Thresholds(NamedTuple):
    """Scores from which two texts are the same (``same``), near each other, or worth a comparison of guards."""

    same: float = 95.0
    near: float = 85.0
    compare: float = 70.0
    related: float = 55.0


THRESHOLDS: Final = Thresholds()

_WORDS = """
    a an the this that these those of to in on at for with by from into as is are was were be been being it its we
    our you your they their he she i me my us should must shall will would can could may might do does did has
    have had please always agent assistant model claude codex user users everyone every all any when while and or
    but so then than there here also just only very what which
    who whom whose how where why
"""
_FUNCTION_WORDS: Final = frozenset(_WORDS.split())


class Compared(NamedTuple):
    """What comparing gave: the score, the verdict, and the guards that differ."""

    score: float
    verdict: Likeness
    differs: tuple[str, ...]


class Text(NamedTuple):
    """A memory's text to be compared: its content with what else must agree for two to be the same."""

    content: str
    scope: str = ""
    kind: str = ""
    validity: tuple[str | None, str | None] = (None, None)


@lru_cache(maxsize=65_536)
def content_words(text: str) -> frozenset[str]:
    """The words of a text that carry meaning, plural and third person folded."""
    return frozenset(
        _stem(token) for token in normal(text).tokens if token not in _FUNCTION_WORDS and re.search(r"\w", token)
    )


def _stem(token: str) -> str:
    if len(token) > 3 and token.endswith("s") and not token.endswith(("ss", "us", "is", ".js")):
        return token[:-1]
    return token


_normal = lru_cache(maxsize=16_384)(normal)


def score(one: str, other: str) -> float:
    """How alike two texts look, 0 to 100."""
    from rapidfuzz import fuzz

    mine, theirs = _normal(one), _normal(other)
    if mine.text == theirs.text:
        return 100.0
    ordered = fuzz.ratio(mine.sorted, theirs.sorted)
    return min(ordered, fuzz.token_set_ratio(mine.sorted, theirs.sorted))


def compare(one: Text, other: Text, thresholds: Thresholds = THRESHOLDS) -> Compared:
    """What two memories are to each other."""
    points = score(one.content, other.content)
    differs = tuple(differing(one.content, other.content))
    if one.scope != other.scope:
        differs += ("scope",)
    if one.kind != other.kind:
        differs += ("kind",)
    if one.validity != other.validity:
        differs += ("validity",)
    return Compared(round(points, 1), _verdict(points, differs, one.content, other.content, thresholds), differs)


def _verdict(points: float, differs: tuple[str, ...], one: str, other: str, thresholds: Thresholds) -> Likeness:
    shared = content_words(one) & content_words(other)
    if points >= thresholds.compare and shared and opposed(one, other) and not _only_apart(differs):
        return "contradicts"
    if points >= thresholds.compare and shared and "values" in differs and _one_class(one, other):
        return "contradicts"
    if points >= thresholds.same and not differs:
        return "duplicate"
    if points >= thresholds.near and not differs:
        return "near"
    if points >= thresholds.related and shared:
        return "related"
    return "distinct"


def _only_apart(differs: tuple[str, ...]) -> bool:
    return "validity" in differs


def _one_class(one: str, other: str) -> bool:
    """Whether each names exactly one member of the same class of values, and another one."""
    mine: dict[str, set[str]] = {}
    theirs: dict[str, set[str]] = {}
    for side, said in ((mine, marks(one).values), (theirs, marks(other).values)):
        for name, member in said:
            side.setdefault(name, set()).add(member)
    return any(len(said) == 1 == len(theirs.get(name, ())) and said != theirs[name] for name, said in mine.items())


def nearest(sorted_tokens: str, others: Sequence[str], cutoff: float, most: int) -> list[int]:
    """Places of the texts (sorted tokens) most alike, the best first, none below ``cutoff``."""
    from rapidfuzz import fuzz, process

    found = process.extract(sorted_tokens, others, scorer=fuzz.ratio, processor=None, score_cutoff=cutoff, limit=most)
    return [place for _, _, place in found]


def clusters(texts: Iterable[tuple[str, Text]], thresholds: Thresholds = THRESHOLDS) -> list[list[str]]:
    """Ids of texts that are duplicates of each other or near it, in groups of two or more, in the order given.

    What contradicts a member of a group never joins it.
    """
    groups: list[list[tuple[str, Text]]] = []
    for id, text in texts:
        for group in groups:
            verdicts = {compare(text, member, thresholds).verdict for _, member in group}
            if verdicts & {"duplicate", "near"} and "contradicts" not in verdicts:
                group.append((id, text))
                break
        else:
            groups.append([(id, text)])
    return [[id for id, _ in group] for group in groups if len(group) > 1]
