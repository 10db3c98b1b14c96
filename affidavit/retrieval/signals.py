"""What of the task a text hits: words by their rarity, identifiers, paths, test names, the error's own words.

Words are weighed as BM25 does (Robertson and Zaragoza, *The Probabilistic Relevance Framework*, 2009), and the sum is
given as a share of what a text that says every word would have, so that it lies between 0 and 1.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import pairwise
from math import fsum, log
from typing import NamedTuple

from affidavit.retrieval.plan import RetrievalPlan
from affidavit.retrieval.pool import Found
from affidavit.retrieval.request import RetrievalIntent, TaskState
from affidavit.retrieval.terms import MAX_SCORED, distinct, identifiers, path_of, paths, query_words, stem, words

K1, B = 1.2, 0.75

STRENGTH = {"words": 0.6, "identifiers": 0.5, "paths": 0.7, "testName": 0.9, "errorText": 0.7}
"""How much of the lexical part a signal alone can give; together they give 1 - the product of what each leaves."""

_TEST_PARTS = re.compile(r"\s*(?:::|›|>|\s-\s)\s*")
_SPACE = re.compile(r"\s+")


class Task(NamedTuple):
    """What to look for in every candidate."""

    words: tuple[str, ...]
    identifiers: tuple[str, ...]
    files: tuple[str, ...]
    test_file: str
    test_names: tuple[str, ...]
    errors: tuple[str, ...]

    @property
    def stems(self) -> frozenset[str]:
        """Bare names of the files the task is about."""
        return frozenset(stem(path) for path in (*self.files, self.test_file) if path)


def task_of(intent: RetrievalIntent, plan: RetrievalPlan) -> Task:
    """What a request looks for, from its anchors, the task's state and its sub-queries."""
    anchors, state = intent.anchors, intent.task_state or TaskState()
    failing = anchors.failing_test or ""
    parts = [part for part in _TEST_PARTS.split(failing) if part]
    test_file = next((path_of(part) for part in parts if paths(part)), "")
    errors = [line.strip() for text in (anchors.error_text, state.current_failure) for line in (text or "").split("\n")]
    return Task(
        words=distinct(query_words(intent.question), *(query.terms for query in plan.sub_queries)),
        identifiers=distinct(anchors.symbols, identifiers(intent.question), *map(identifiers, errors)),
        files=tuple(map(path_of, distinct(anchors.current_files, state.modified_files))),
        test_file=test_file,
        test_names=tuple(part.lower() for part in parts if not paths(part) and len(part) > 2),
        errors=tuple(dict.fromkeys(_plain(line) for line in errors if len(line) >= 8))[:20],
    )


def signals_of(found: Sequence[Found], pool: Sequence[Found], task: Task) -> dict[str, dict[str, float]]:
    """Every candidate's signals by its id, each 0 to 1. How rare a word is, is seen from ``pool`` alone."""
    said_by = {one.id: words(_all_of(one)) for one in {one.id: one for one in (*pool, *found)}.values()}
    counted = {id: Counter(said) for id, said in said_by.items()}
    sizes = {id: len(said) for id, said in said_by.items()}
    seen = [one.id for one in pool]
    average = (sum(sizes[id] for id in seen) / len(seen) if seen else 0) or 1
    rarity = {word: _rarity(sum(word in counted[id] for id in seen), len(seen)) for word in task.words}
    whole = fsum(rarity.values())
    result = {}
    for one in found:
        counts, length = counted[one.id], 1 - B + B * sizes[one.id] / average
        said = fsum(rarity[word] * counts[word] / (counts[word] + K1 * length) for word in task.words if word in counts)
        text = _plain(_all_of(one)[:MAX_SCORED])
        path = path_of(one.candidate.source_ref).lower()
        result[one.id] = {
            "words": said / whole if whole else 0.0,
            "identifiers": _identifiers(one, task.identifiers),
            "paths": _paths(path, text, task),
            "testName": _test(path, text, task),
            "errorText": _error(text, said_by[one.id], task),
        }
    return result


def lexical(signals: dict[str, float]) -> float:
    """The lexical part of a score: what all signals say together."""
    return 1 - _left(signals, STRENGTH)


def anchor(signals: dict[str, float]) -> float:
    """How much a text hits what the task names: the signals but for words."""
    return 1 - _left(signals, (name for name in STRENGTH if name != "words"))


def _left(signals: dict[str, float], names: Iterable[str]) -> float:
    left = 1.0
    for name in names:
        left *= 1 - STRENGTH[name] * signals.get(name, 0.0)
    return left


def _rarity(holding: int, all: int) -> float:
    return log(1 + (all - holding + 0.5) / (holding + 0.5))


def _all_of(one: Found) -> str:
    return f"{one.candidate.title}\n{one.candidate.source_ref}\n{one.candidate.text}"


def _plain(text: str) -> str:
    return _SPACE.sub(" ", text).strip().lower()


def _identifiers(one: Found, wanted: tuple[str, ...]) -> float:
    """The share of names that stand in a text, a name defined there counting as much as one used."""
    if not wanted:
        return 0.0
    text, symbols = one.candidate.text[:MAX_SCORED], set(one.candidate.symbols)
    return sum(name in symbols or _stands(name, text) for name in wanted) / len(wanted)


def _stands(name: str, text: str) -> bool:
    """Whether a name stands in a text as a whole word."""
    at = text.find(name)
    while at >= 0:
        end = at + len(name)
        if not (at and _is_word(text[at - 1])) and not (end < len(text) and _is_word(text[end])):
            return True
        at = text.find(name, at + 1)
    return False


def _is_word(character: str) -> bool:
    return character.isalnum() or character == "_"


def _paths(path: str, text: str, task: Task) -> float:
    """1: it is a file the task is about; less: it is beside one, or speaks of one."""
    best = 0.0
    for file in map(str.lower, (*task.files, task.test_file)):
        if not file:
            continue
        if path == file or path.endswith("/" + file) or (path and file.endswith("/" + path)):
            return 1.0
        if file in text:
            best = max(best, 0.6)
        if "/" in file and path.startswith(file.rsplit("/", 1)[0] + "/"):
            best = max(best, 0.3)
    return max(best, 0.7) if path and stem(path) in task.stems else best


def _test(path: str, text: str, task: Task) -> float:
    """1: it is the failing test's file or says the test's whole name; less: the file is named in it, or a part is."""
    file = task.test_file.lower()
    if file and (path == file or path.endswith("/" + file)):
        return 1.0
    named = [name for name in task.test_names if name in text]
    if task.test_names and len(named) == len(task.test_names):
        return 1.0
    if file and (file in text or _stands(file.rsplit("/", 1)[-1], text)):
        return 0.8
    if file and path and stem(path) == stem(file):
        return 0.7
    return 0.5 * len(named) / len(task.test_names) if task.test_names else 0.0


def _error(text: str, said: Sequence[str], task: Task) -> float:
    """1: a line of the error stands in it; else the share of the best line's neighbouring words that are neighbours.

    That the same words stand about somewhere says nothing.
    """
    best = 0.0
    pairs: set[tuple[str, str]] = set()
    for line in task.errors:
        if line in text:
            return 1.0
        wanted = list(pairwise(words(line)))
        if len(wanted) >= 2:
            pairs = pairs or set(pairwise(said))
            share = sum(pair in pairs for pair in wanted) / len(wanted)
            best = max(best, share if share >= 0.5 else 0.0)
    return 0.8 * best
