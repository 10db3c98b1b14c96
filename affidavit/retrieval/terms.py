"""A text taken apart into what a search for code and prose goes by: words, identifiers, paths.

Words are compared without case; the parts of ``camelCase`` and ``snake_case`` count besides the whole. Chinese and
Japanese have no spaces between words, so each pair of neighbouring characters is one.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache
from typing import Final

MAX_SCORED: Final = 64 * 1024
"""Characters of a text that are looked at for its score."""

_WORD = re.compile(r"[A-Za-z0-9_À-ɏͰ-ӿ]+|[\u3041-\u30fa\u30fc-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7a3]+")
_PART = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|\d+|[^\x00-\x7f]+")
_IDENTIFIER = re.compile(r"[A-Za-z_][A-Za-z0-9_]*(?:\.[A-Za-z_][A-Za-z0-9_]*)*")
_SHAPED = re.compile(r"[a-z0-9][A-Z]|_|[A-Za-z]\.[A-Za-z]")
_PATH = re.compile(r"(?:[\w.@~+-]{1,100}/){1,20}[\w.@+-]{1,100}|\b[\w-]{1,100}(?:\.[\w-]{1,30}){1,4}\b")
_FILE_NAME = re.compile(r"\.[A-Za-z][A-Za-z0-9]{0,7}$")
_LINES = re.compile(r":\d+(?:[-:]\d+)*$")
_VERSION = re.compile(r"@\d+$")

_COMMON = """
a about after all also an and any are as at be because been before but by can could did do does for from had has have
how i if in into is it its just may me my no not of on or our please should so some such than that the their them then
there these they this to up use was we were what when where which who why will with would you your
"""
_COMMON_WORDS = frozenset(_COMMON.split())

_ENDINGS = """
bash c cc cfg cjs clj conf cpp cs css csv cts dart env ex exs fs gd go gradle graphql h hpp hs html ini ipynb java js
json jsonl jsx kt kts less lock log lua m md mdx mjs ml mod mts nix patch php pl proto ps1 py pyi r rb rs rst sass
scala scss sh snap sql sum svelte swift tf toml ts tsx txt vue xml yaml yml zig zsh
"""
_FILE_ENDINGS = frozenset(_ENDINGS.split())


def words(text: str) -> list[str]:
    """The words of a text in order, as they are compared."""
    found: list[str] = []
    for word in _WORD.findall(text[:MAX_SCORED]):
        found.extend(_forms(word))
    return found


def query_words(text: str) -> list[str]:
    """The words of a question that say something, each once, in order."""
    return list(
        dict.fromkeys(word for word in words(text) if word not in _COMMON_WORDS and (len(word) > 1 or word.isdigit()))
    )


def identifiers(text: str) -> list[str]:
    """What looks like a name of code (``createUserMock``, ``user_role``, ``auth.session``), each once, in order."""
    found = (name for name in _IDENTIFIER.findall(text[:MAX_SCORED]) if _SHAPED.search(name))
    return [name for name in dict.fromkeys(found) if not is_file(name)]


def paths(text: str) -> list[str]:
    """What looks like a file, each once, in order."""
    return [path for path in dict.fromkeys(_PATH.findall(text[:MAX_SCORED])) if "/" in path or is_file(path)]


def is_file(name: str) -> bool:
    """Whether a name ends as files do: in a short ending of letters that is not a member of an object."""
    ending = _FILE_NAME.search(name)
    return ending is not None and ending.group()[1:].lower() in _FILE_ENDINGS


@lru_cache(maxsize=16384)
def path_of(source_ref: str) -> str:
    """The path a source reference names, without lines, anchor, version and ``./``, with ``/`` between its parts."""
    path = _VERSION.sub("", _LINES.sub("", source_ref.split("#", 1)[0])).replace("\\", "/")
    return path.removeprefix("./")


def stem(path: str) -> str:
    """The bare name of a file and of the tests and fixtures beside it: ``session`` for ``auth/session.test.ts``."""
    name = path.rsplit("/", 1)[-1].lower()
    name = name.split(".", 1)[0] if not name.startswith(".") else name
    return re.sub(r"^(?:test|spec)[_-]|[_-](?:test|tests|spec|fixture|fixtures|mock|mocks)$", "", name)


def distinct(*lists: Iterable[str]) -> tuple[str, ...]:
    """All of several lists in order, each once."""
    return tuple(dict.fromkeys(one for each in lists for one in each if one))


@lru_cache(maxsize=65536)
def _forms(word: str) -> tuple[str, ...]:
    """A run of letters as the words it counts for."""
    if word[0] >= "\u3041" and not word[0].isascii():
        return tuple(word[at : at + 2] for at in range(len(word) - 1)) or (word,)
    whole = word.lower().strip("_") or word
    if word.isascii() and word.islower() and "_" not in word and word.isalpha():
        return (whole,)
    parts = [part.lower() for part in _PART.findall(word)]
    return (whole, *parts) if len(parts) > 1 else (whole,)
