"""What a model did with its evidence: passages passed off as its own, and actions its citations do not support."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from affidavit.retrieval.citing import Given, sentence_around
from affidavit.retrieval.terms import is_file, path_of, stem, words
from affidavit.retrieval.trimming import forbids

LEAST_WORDS = 8
"""Words in a row that a model's text must share with an item to count as taken from it."""

LEAST_CHARACTERS = 30


class Uncited(NamedTuple):
    """A passage of an item that stands in a model's text without its label: characters ``start`` to ``end`` of it."""

    item: Given
    start: int
    end: int
    passage: str


def uncited_uses(text: str, given: Sequence[Given]) -> list[Uncited]:
    """Passages of at least :data:`LEAST_WORDS` words that a model took from an item without citing it.

    An item cited in the same sentence or the same paragraph is cited. Code in fences is an action's matter.
    """
    spots = _word_spots(text)
    fenced = _fenced(text)
    said = [word for word, _, _ in spots]
    taken: list[Uncited] = []
    covered: list[tuple[int, int]] = []
    for item in given:
        runs = {
            tuple(its[at : at + LEAST_WORDS]) for its in [words(item.text)] for at in range(len(its) - LEAST_WORDS + 1)
        }
        at = 0
        while at + LEAST_WORDS <= len(said):
            if tuple(said[at : at + LEAST_WORDS]) not in runs:
                at += 1
                continue
            last = at + LEAST_WORDS
            while last < len(said) and tuple(said[last - LEAST_WORDS + 1 : last + 1]) in runs:
                last += 1
            start, end = spots[at][1], spots[last - 1][2]
            at = last
            if end - start < LEAST_CHARACTERS or any(a < end and start < b for a, b in (*fenced, *covered)):
                continue
            if not _cited_near(text, start, end, item, given):
                covered.append((start, end))
                taken.append(Uncited(item, start, end, text[start:end]))
    return sorted(taken, key=lambda use: use.start)


def _word_spots(text: str) -> list[tuple[str, int, int]]:
    """Words as they are compared, each with its place; the parts of one name share its place."""
    runs = re.finditer(r"\S+", text)
    return [(word, run.start(), run.end()) for run in runs for word in words(run.group())]


def _fenced(text: str) -> list[tuple[int, int]]:
    parts, at, fences = text.split("```"), 0, []
    for number, part in enumerate(parts):
        if number % 2:
            fences.append((at, at + len(part)))
        at += len(part) + 3
    return fences


def _cited_near(text: str, start: int, end: int, item: Given, given: Sequence[Given]) -> bool:
    """Whether the sentence or paragraph cites the item, or another that says the same words."""
    first, last = sentence_around(text, start, end)
    first = min(first, text.rfind("\n\n", 0, start) + 1)
    after = text.find("\n\n", end)
    last = max(last, after if after >= 0 else len(text))
    part = text[first:last]
    passage = words(text[start:end])[:LEAST_WORDS]
    return any(
        f"[{one.label}]" in part and (one is item or " ".join(passage) in " ".join(words(one.text))) for one in given
    )


class Action(NamedTuple):
    """What a model set out to do: the files it changes, and all it says of it (arguments, command, patch)."""

    targets: tuple[str, ...]
    text: str = ""


class Unsupported(NamedTuple):
    """A piece of evidence an action leads back to that does not support it: which, and why."""

    item: Given | None
    reason: str


def unsupported(action: Action, cited: Sequence[Given], standing: Sequence[Given] = ()) -> list[Unsupported]:
    """What speaks against an action among what it cites, and that nothing it cites speaks for it.

    ``standing``: what else the model was given: a prohibition in there about the action's files counts too. This reads
    words, not sense: it points to where a person should look.
    """
    targets = [path_of(target) for target in action.targets if target]
    against = [
        Unsupported(item, f"it says what must not be done there: {line.strip()[:200]}")
        for item in dict.fromkeys((*cited, *standing))
        for line in item.text.split("\n")
        if forbids(line) and _speaks_of(line, targets)
    ]
    if cited and targets and not any(_about(item, targets) for item in cited):
        names = ", ".join(targets[:3])
        return [*against, Unsupported(None, f"nothing it cites speaks of {names}")]
    return against


def _about(item: Given, targets: Sequence[str]) -> bool:
    path = path_of(item.source_ref)
    return any(path == target or target.endswith("/" + path) or path.endswith("/" + target) for target in targets) or (
        _speaks_of(item.text, targets)
    )


def _speaks_of(text: str, targets: Sequence[str]) -> bool:
    """Whether a text names one of the files, or most of the words its name is made of."""
    said = set(words(text))
    for target in targets:
        if target in text or target.rsplit("/", 1)[-1] in text:
            return True
        name = words(stem(target)) if is_file(target) else words(target)
        telling = {word for word in name if len(word) > 2} or set(name)
        if telling and len(telling & said) * 2 > len(telling):
            return True
        if any(_alike(word, other) for word in telling for other in said):
            return True
    return False


def _alike(word: str, other: str) -> bool:
    """Singular and plural of one word."""
    return len(word) > 3 and (word == other + "s" or other == word + "s")
