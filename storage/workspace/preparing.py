"""Making a file ready for the index: is it text, of what kind, what does it define, how is it cut.

No database here: all of this is done before a transaction begins.
"""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from typing import Final, NamedTuple

from affidavit.text.search import index_text
from storage.workspace.languages import PROSE, definitions, language_of, references, target_key
from storage.workspace.passages import Passage, cut
from storage.workspace.walking import Stat

PREPARATION: Final = 1
"""Version of what is made of a text. Raised when the same text would give other rows; the index is then made again."""

_KEY_FILE = re.compile(rb"\s{0,100}-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY-----")
"""A file that is a key. One that merely quotes a key is a text: what of it a model may see is settled elsewhere."""

_CONTROLS = bytes(set(range(32)) - set(b"\t\n\r\f\x1b")) + b"\x7f"
_MAGIC = (
    b"%PDF-",
    b"PK\x03\x04",
    b"\x89PNG",
    b"GIF8",
    b"\xff\xd8\xff",
    b"\x7fELF",
    b"\x1f\x8b",
    b"\xfe\xff",
    b"\xff\xfe",
)
_WORD = re.compile(r"[A-Za-z0-9]{3,200}")
_APART = {code: " " for code in range(128) if not chr(code).isalnum()}
_HUMP = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")

_RULE_FILE = re.compile(
    r"(?:.*/)?(?:agents(?:\.override)?\.md|claude(?:\.local)?\.md|gemini\.md|\.cursorrules|\.windsurfrules|\.clinerules)"
    r"|(?:.*/)?\.cursor/rules/.+|(?:.*/)?\.claude/rules/.+|\.github/copilot-instructions\.md"
    r"|\.github/instructions/.+\.md|(?:docs?/)?contributing\.(?:md|rst|txt)",
    re.IGNORECASE,
)
_DECISION_FILE = re.compile(
    r"(?:.*/)?(?:adrs?|decisions?|decision[-_]records?|architecture[-_]decisions?)/(?:.*/)?[^/]+\.(?:md|rst|txt|adoc)"
    r"|(?:.*/)?adr[-_ ]?\d{1,5}\b[^/]*\.(?:md|rst|txt|adoc)",
    re.IGNORECASE,
)
_TEST_FILE = re.compile(
    r"(?:.*/)?(?:tests?|__tests__|spec|specs|fixtures?)/.+|(?:.*/)?test_[^/]+|(?:.*/)?[^/]+[._-](?:test|spec|tests)\.\w+"
    r"|(?:.*/)?[^/]+(?:Test|Tests|Spec|IT)\.(?:java|kt|cs|scala|swift)|(?:.*/)?conftest\.py"
)

KINDS: Final = ("rule", "decision", "doc", "test", "code", "log")
"""What a file is to a reader: a rule file, a decision record, another document, a test, other code or data, a log."""


class Cut(NamedTuple):
    """A passage and what the index takes of it."""

    passage: Passage
    text: str
    names: str


@dataclass(slots=True)
class Prepared:
    """A file as the index takes it. ``symbols``: (folded name, name, kind, number of its passage, line from 1);
    ``references``: (last name of the target, the target, line from 1)."""

    path: str
    stat: Stat
    data: bytes
    digest: bytes
    language: str
    kind: str
    words: str
    cuts: list[Cut]
    symbols: list[tuple[str, str, str, int, int]]
    references: list[tuple[str, str, int]]


def prepare(path: str, data: bytes, stat: Stat) -> Prepared | str:
    """What the index takes of a file, or the reason why it takes nothing (as in ``walking.SKIPS``)."""
    text = decoded(data)
    if text is None:
        return "binary"
    if _KEY_FILE.match(data):
        return "secret"
    language = language_of(path, text)
    kind = kind_of(path, language)
    defined = definitions(text, language)
    passages = cut(data, language, defined)
    utf8 = len(text) == len(data) if text.isascii() else None
    cuts = []
    place = 0
    symbols = []
    for number, passage in enumerate(passages):
        part = text[passage.start : passage.stop] if utf8 else decoded_bytes(data[passage.start : passage.stop])
        names = []
        while place < len(defined) and defined[place].line < passage.last:
            symbol = defined[place]
            names.append(symbol.name)
            if symbol.kind != "heading":
                symbols.append((symbol.name.casefold(), symbol.name, symbol.kind, number, symbol.line + 1))
            place += 1
        cuts.append(Cut(passage, index_text(part)[0], index_text(" ".join([*names, *humps(part)]))[0]))
    referred = [(target_key(one.target), one.target, one.line + 1) for one in references(text, language)]
    return Prepared(
        path, stat, data, hashlib.sha256(data).digest(), language, kind, f"{words_of(path)} {mark_of(kind)}", cuts,
        symbols, [one for one in referred if one[0]],
    )  # fmt: skip


def decoded(data: bytes) -> str | None:
    """A file's text, ``None`` where its bytes are none. What is no UTF-8 but looks like text is shown with marks."""
    if b"\0" in data or data.startswith(_MAGIC):
        return None
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        foreign = sum(byte >= 0x80 for byte in data[:8_192])
        strange = len(data[:8_192]) - len(data[:8_192].translate(None, _CONTROLS))
        if strange or foreign * 3 > min(len(data), 8_192):
            return None
        return decoded_bytes(data)


def decoded_bytes(data: bytes) -> str:
    """A part of a text; what is no UTF-8 in it as marks."""
    return data.decode("utf-8", "replace")


def humps(text: str) -> list[str]:
    """The words inside names written with humps, each once: ``createUserMock`` → ``create``, ``User``, ``Mock``."""
    words = set(text.translate(_APART).split()) if text.isascii() else set(_WORD.findall(text))
    names = [word for word in words if not word.islower() and _is_humped(word)]
    found = {part for name in names for part in _HUMP.findall(name) if len(part) > 1}
    return sorted(found.difference(names))


def _is_humped(word: str) -> bool:
    return 2 < len(word) <= 200 and not word[1:].islower() and not word.isupper() and not word.isdigit()


def words_of(path: str) -> str:
    """A path as words for the index."""
    return index_text(" ".join([path, *humps(path)]))[0]


def mark_of(kind: str) -> str:
    """The word among a path's by which the index tells files of a kind, without looking at any other."""
    return f"kindis{kind}"


def kind_of(path: str, language: str) -> str:
    """One of :data:`KINDS`, by where a file lies and what it is called."""
    if _RULE_FILE.fullmatch(path):
        return "rule"
    if _DECISION_FILE.fullmatch(path):
        return "decision"
    if language in PROSE:
        return "doc"
    if language == "log":
        return "log"
    return "test" if _TEST_FILE.fullmatch(path) else "code"
