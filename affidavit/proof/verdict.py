"""What a check may claim: the level a verdict stands on, and what a text is beside the hash recorded of it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from hashlib import sha256
from typing import Literal
from unicodedata import normalize

Level = Literal["self-consistent", "signed", "pinned", "witnessed", "time-stamped"]

LEVELS: dict[Level, str] = {
    "self-consistent": (
        "every part fits every other; who can rewrite the whole store could make another that fits as well"
    ),
    "signed": "the newest state carries a signature by a key this machine trusts",
    "pinned": "the newest state continues one that was noted down outside the store",
    "witnessed": "enough independent witnesses have signed that they saw no other history",
    "time-stamped": "a time-stamping authority has signed that the state existed at a certain time",
}
"""Every level with what it means and does not mean, weakest first. A verdict is printed with its level."""

HashVerdict = Literal[
    "match", "line_ending_or_unicode", "differs", "text_missing", "hash_not_recorded", "unknown_algorithm"
]
"""What comparing a text with the hash recorded of it gave."""

HASH_VERDICTS: dict[str, str] = {
    "differs": "the text is not the one that was hashed",
    "text_missing": "a hash was recorded, the text was not",
    "unknown_algorithm": "the recorded hash is of a kind that is not known here",
    "hash_not_recorded": "no hash was recorded of this text",
    "line_ending_or_unicode": "the text differs from the hashed one only in line endings or Unicode form",
    "match": "the text is the one that was hashed",
}
"""Every hash verdict with what it means, the worst first."""

_SHA256 = re.compile(r"sha256:[0-9a-f]{64}")


def text_hash(text: str | bytes) -> str:
    """``sha256:`` and the hex digest of a text's UTF-8 bytes as they stand; half surrogates are kept as they are."""
    data = text.encode("utf-8", "surrogatepass") if isinstance(text, str) else text
    return "sha256:" + sha256(data).hexdigest()


def hash_verdict(text: str | bytes | None, recorded: object) -> HashVerdict:
    """Compare a text with what was recorded as its hash; ``text`` ``None``: it was not recorded."""
    if text is None:
        return "text_missing"
    if recorded is None or recorded == "":
        return "hash_not_recorded"
    if not isinstance(recorded, str) or not _SHA256.fullmatch(recorded.lower()):
        return "unknown_algorithm"
    recorded = recorded.lower()
    if text_hash(text) == recorded:
        return "match"
    return "line_ending_or_unicode" if recorded in map(text_hash, _same_reading(text)) else "differs"


def _same_reading(text: str | bytes) -> Iterator[str]:
    """A text in every line ending and Unicode form in which it reads the same."""
    if isinstance(text, bytes):
        text = text.decode("utf-8", "surrogateescape")
    plain = text.replace("\r\n", "\n").replace("\r", "\n")
    for shaped in (plain, normalize("NFC", plain), normalize("NFD", plain)):
        for ending in ("\n", "\r\n", "\r"):
            yield shaped.replace("\n", ending)


def worst(verdicts: Iterable[str]) -> str | None:
    """The worst of some hash verdicts, ``None`` where there is none."""
    order = list(HASH_VERDICTS)
    return min(verdicts, key=order.index, default=None)
