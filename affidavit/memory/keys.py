"""Conflict keys: what a memory says something about, ``level:key:attribute``, apart from the value it says.

Keys come with a candidate, from the lexicon of values, or from sentences of a plain form ("X is on Y"). Two with one
key and different values contradict each other; those without a common key never do by their keys.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from affidavit.memory.guards import marks
from affidavit.memory.likeness import content_words
from affidavit.text.normal import normal

_PLAIN = re.compile(
    r"^(?:the |our |all )?(?P<subject>[\w./'-]+(?: [\w./'-]+){0,3}?) "
    r"(?P<verb>(?:is|are|was|were) (?:now )?"
    r"(?:(?:defined|located|stored|kept|documented|declared|implemented|configured|"
    r"hosted|deployed|run|built|released|served) (?:in|at|on|to|by|with|under|from)|"
    r"on|in|at|pinned to|set to|written in|called|named|owned by)|goes? to|"
    r"runs? (?:on|with|under|in)|lives? (?:in|at|on|under)|deploys? to|points? to|listens? on|defaults? to|"
    r"(?:is|are)(?: now)?|(?:now )?uses?|requires?|targets?|returns?|exports?|supports?|(?:now )?=) "
    r"(?:a |an |the |now )*(?P<value>(?:[^.;]|\.(?=\S)){1,80}?)"
    r"(?: now)?\.?$",
    re.IGNORECASE,
)
_MANY = re.compile(
    r"\b(?:also|too|both|and|or|some|several|one of|includes?|supports?|exports?|knows?)\b", re.IGNORECASE
)
"""Such a sentence says one value of many: another one does not contradict it."""

_INSTEAD = re.compile(
    r"\buse (?P<value>[\w./@-]+)(?:,)? (?:instead of|rather than|not|over) (?P<other>[\w./@-]+)", re.I
)
_CHOICE = re.compile(
    r"\b(?:chose|picked|prefer(?:red)?) (?P<value>[\w./@-]+) (?:over|instead of|to) (?P<other>[\w./@-]+)", re.I
)


_LABEL = re.compile(r"^[\w./-]+: ")
"""What a sentence is about, before a colon."""


class Claim(NamedTuple):
    """What a text says of a key. ``value``: casefolded, empty where only the whole text tells; ``stated``: the proposer
    named the key."""

    key: str
    value: str
    stated: bool


def claims(content: str, scope: str, stated: tuple[str, ...] | list[str], value: str | None) -> list[Claim]:
    """Every key a text has a value for. ``scope``: ``level:key``."""
    found = {key: Claim(key, normal(value).text if value else "", True) for key in stated}
    for attribute, said in sorted(_derived(content)):
        key = f"{scope}:{attribute}"
        found.setdefault(key, Claim(key, said, False))
    return list(found.values())


def _derived(content: str) -> set[tuple[str, str]]:
    named = marks(content)
    choice = _INSTEAD.search(content) or _CHOICE.search(content)
    turned_from = choice["other"].casefold() if choice else ""
    chosen: dict[str, set[str]] = {}
    for name, member in named.values:
        if member != turned_from:
            chosen.setdefault(name, set()).add(member)
    # Of a sentence that names several of a class it is not known which one holds, nor of one that turns one away.
    found = {
        (f"class/{name}", said.copy().pop()) for name, said in chosen.items() if len(said) == 1 and not named.negative
    }
    first = _LABEL.sub("", re.split(r"(?<=[.;])\s", " ".join(content.split()), maxsplit=1)[0])
    plain = _PLAIN.match(first)
    if plain and not _MANY.search(plain["value"]) and not named.negative:
        subject = "-".join(sorted(content_words(plain["subject"])))
        verb = re.sub(r"\b(now|is|are|was|were) ?", "", plain["verb"].casefold()).strip() or "is"
        if subject:
            found.add((f"{subject}/{_stem(verb)}", normal(plain["value"]).text))
    return found


def _stem(verb: str) -> str:
    words = verb.split()
    words[0] = words[0].removesuffix("s") if len(words[0]) > 2 else words[0]
    return "-".join(words)
