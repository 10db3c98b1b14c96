"""Rule files: what people write for an agent to follow, told by the name and place its maker looks for.

Such a file is one document and one record. It has no events and belongs to no session; it is folded into *sections*,
from one heading to the next, which tile the file byte for byte. Markdown's ``#`` headings count, outside of front
matter and code fences; the other form (underlined) does not.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from hashlib import sha256
from typing import Any, Final, NamedTuple

from affidavit.proof.parsing import looks_utf16
from affidavit.session.event import Draft, Reading
from affidavit.text.hidden import hidden_payload
from affidavit.text.marks import marked

NAME: Final = "rules"
OTHER: Final = "file"
"""The kind of a file that is in force nowhere by its place: one that a rule file brings in, that somebody said is one,
or that is called like one and stands where no agent looks."""

MOST_SECTIONS: Final = 2_000
"""Sections a file is cut into; the last one holds all the rest."""

MOST_IMPORTS: Final = 200
LONGEST_HEADING: Final = 200
LONGEST_TARGET: Final = 1_000
LONGEST_SAYS: Final = 500
"""Characters of what hidden ones say that are quoted."""

HEAD: Final = 8_192
"""Bytes in which front matter must end."""

KINDS: Final = (
    ("claude-rule", re.compile(r"(?:^|/)\.claude/rules/.+\.md$")),
    ("claude-local", re.compile(r"(?:^|/)CLAUDE\.local\.md$")),
    ("claude", re.compile(r"(?:^|/)CLAUDE\.md$")),
    ("agents-override", re.compile(r"(?:^|/)AGENTS\.override\.md$")),
    ("agents", re.compile(r"(?:^|/)AGENTS\.md$")),
    ("gemini", re.compile(r"(?:^|/)GEMINI\.md$")),
    ("cursor-rule", re.compile(r"(?:^|/)\.cursor/rules/.+\.mdc?$")),
    ("cursor", re.compile(r"(?:^|/)\.cursorrules$")),
    ("copilot-rule", re.compile(r"(?:^|/)\.github/instructions/.+\.instructions\.md$")),
    ("copilot", re.compile(r"(?:^|/)\.github/copilot-instructions\.md$")),
    ("cline", re.compile(r"(?:^|/)\.clinerules(?:/.+\.md)?$")),
    ("goose", re.compile(r"(?:^|/)\.goosehints$")),
    ("amazonq", re.compile(r"(?:^|/)\.amazonq/rules/.+\.md$")),
    (
        OTHER,
        re.compile(
            r"(?:^|/)(?:[^/]+[-._+](?:CLAUDE(?:\.local)?|AGENTS(?:\.override)?|GEMINI)\.md"
            r"|(?:[^/]+[-._+])?copilot-instructions\.md|[^/]+\.instructions\.md|[^/]+\.mdc|[^/]+\.cursorrules)$"
        ),
    ),
)
"""Kinds of rule files and where each stands."""

ENDS: Final = (".md", ".mdc", ".cursorrules", ".clinerules", ".goosehints")
"""How every such path ends: most are told by that alone."""

ROOTS: Final = frozenset({"claude", "claude-local", "claude-rule", "gemini"})
"""Kinds in which ``@path`` brings in another file. In one that was brought in it does so too, but not in one that
merely was imported: how deep one stands depends on where one begins."""

IMPORTING: Final = ROOTS | {OTHER}
"""Kinds that bring in others once they are in force."""

TEXTS: Final = (".md", ".mdc", ".markdown", ".txt", ".rst", ".adoc")
"""How the names of files end that hold words for people."""

_MARKS = re.compile(
    rb"^(?: {0,3}(?P<level>#{1,6})(?:[ \t]+(?P<title>[^\n]*))?| {0,3}(?P<fence>`{3,}|~{3,})[^\n]*)\r?$", re.MULTILINE
)
_CLOSING = re.compile(r"(?:^|[ \t]+)#+[ \t]*$")
_FRONT = re.compile(rb"\A(?:\xef\xbb\xbf)?---[ \t]*\r?\n(?P<fields>.*?)^---[ \t]*\r?$\n?", re.MULTILINE | re.DOTALL)
_TARGET = re.compile(r"(?:^|(?<=[\s(]))@([^\s`'\"<>()\[\]{}|,;*?:]+)")
_SPAN = re.compile(r"`+[^`]*`+")

Section = tuple[str, int, int, int, int, int, bytes | None, int]
"""(headings from the outermost in, as a JSON list; level, 0 before the first heading; first line; last line, both from
1; offset and size in bytes; SHA-256; runs of hidden characters in it). Without a digest its text cannot be had."""

NOTHING: Final[tuple[Section, ...]] = (("[]", 0, 0, 0, 0, 0, None, 0),)
"""What stands for a file that was erased, or is too large to be read."""


class Import(NamedTuple):
    """An ``@path`` as it was written, and its line from 1."""

    line: int
    target: str


class Rules:
    """Knows rule files by their place; see :class:`storage.readers.Documents`."""

    name = NAME
    title = "Rule files"

    def claims(self, path: str, samples: Sequence[Any]) -> float:  # noqa: ARG002
        """Never: no log is one."""
        return 0.0

    def scope(self, path: str) -> tuple[str | None, str]:  # noqa: ARG002
        """No session: a rule file belongs to whatever runs under it."""
        return "", ""

    def document(self, path: str, head: bytes) -> str | None:
        """The kind of rule file a path names."""
        return None if looks_utf16(head) else kind_of(path)

    def read(self, value: Any, scope: tuple[str | None, str]) -> Reading:  # noqa: ARG002
        """No record of a log is one of these."""
        return Reading("unknown", drafts=[Draft("unknown", "runtime", str(value)[:4096])])

    def read_document(self, name: str, value: bytes, whole: bytes, scope: tuple[str | None, str]) -> Reading:  # noqa: ARG002
        """Nothing a timeline shows."""
        return Reading()


def is_rules(format: str) -> bool:
    """Whether a source is a rule file."""
    return format.startswith(NAME + "+")


def kind_of(path: str) -> str | None:
    """The kind of rule file that stands at a path."""
    if not path.endswith(ENDS):
        return None
    path = path.replace("\\", "/")
    return next((kind for kind, place in KINDS if place.search(path)), None)


def sections(whole: bytes) -> tuple[Section, ...]:
    """The whole file as if it were one section, then its sections, which tile it.

    Never raises; the time it takes grows with the file's size alone.
    """
    begins = list(_begins(whole))
    if not begins or begins[0][0] > 0:
        begins.insert(0, (0, 0, ""))
    found: list[Section] = []
    above: list[tuple[int, str]] = []
    line = 1
    for (start, level, title), end in zip(begins, [start for start, _, _ in begins[1:]] + [len(whole)], strict=True):
        above = [one for one in above if one[0] < level]
        if level:
            above.append((level, title))
        text = whole[start:end]
        feeds = text.count(b"\n")
        last = line + feeds - text.endswith(b"\n")
        headings = json.dumps([title for _, title in above], ensure_ascii=False)
        found.append((headings, level, line, last, start, end - start, sha256(text).digest(), len(hidden(text))))
        line += feeds
    runs = sum(section[-1] for section in found)
    return ("[]", 0, 1, found[-1][3], 0, len(whole), sha256(whole).digest(), runs), *found


class Hidden(NamedTuple):
    """Hidden characters in a file: the line they stand in, from 1; what they are (``Payload.kind``) and say."""

    line: int
    kind: str
    says: str


def hidden(whole: bytes) -> list[Hidden]:
    """Every run of hidden characters that can carry a message, in order; a run never goes on over a line."""
    if whole.isascii():
        return []
    text = whole.decode("utf-8", "replace")
    found: list[Hidden] = []
    line, at = 1, 0
    for run in hidden_payload(text):
        line += text.count("\n", at, run.start)
        at = run.start
        found.append(Hidden(line, run.kind, run.text[:LONGEST_SAYS]))
    return found


def _begins(whole: bytes) -> Iterator[tuple[int, int, str]]:
    """(offset, level, title) of each heading; the first 1,999 at most."""
    front = _front(whole)
    lead = 3 if whole.startswith(b"\xef\xbb\xbf") else 0
    if lead:
        whole = b"\n" * lead + whole[lead:]  # a heading behind the mark begins a line
    fence = b""
    count = 1
    for mark in _MARKS.finditer(whole, front.end() if front else 0):
        ticks = mark["fence"]
        if ticks:
            if not fence:
                fence = ticks
            elif ticks[:1] == fence[:1] and len(ticks) >= len(fence) and not mark[0].strip(b" \t\r" + ticks[:1]):
                fence = b""
        elif not fence:
            count += 1
            if count > MOST_SECTIONS:
                return
            title = (mark["title"] or b"")[: 4 * LONGEST_HEADING].decode("utf-8", "replace").strip()
            begin = 0 if mark.start() == lead else mark.start()
            yield begin, len(mark["level"]), marked(_CLOSING.sub("", title)[:LONGEST_HEADING])


def _front(whole: bytes) -> re.Match[bytes] | None:
    return _FRONT.match(whole, 0, HEAD)


def body(whole: bytes) -> str:
    """A file's text without its front matter and the white space around it."""
    front = _front(whole)
    return whole[front.end() if front else 0 :].decode("utf-8", "replace").removeprefix("\ufeff").strip()


APPLIES: Final = ("paths", "globs", "applyTo")
"""Fields of front matter that say for which files rules are."""


def patterns(whole: bytes) -> tuple[str, ...]:
    """For which files a rule file says that it is; none where it is for all. YAML is read as far as these need it."""
    front = _front(whole)
    found: list[str] = []
    wanted = False
    for line in front["fields"].decode("utf-8", "replace").splitlines() if front else ():
        name, colon, rest = line.partition(":")
        if colon and name == name.strip() and name.isidentifier():
            if name == "alwaysApply" and rest.strip().lower() == "true":
                return ()
            wanted = name in APPLIES
            rest = rest.strip().removeprefix("[").removesuffix("]")
            if wanted:
                found += [part.strip(" \t'\"") for part in re.split(r",(?![^{]*\})", rest)]
        elif wanted and line.strip().startswith("- "):
            found.append(line.strip()[2:].strip(" \t'\""))
    return tuple(marked(one) for one in found if one and one != "**")[:100]


def is_path(target: str) -> bool:
    """Whether what stands behind an ``@`` is a path and nothing else; ``types/node`` is a package as well."""
    return target.startswith(("/", "./", "../", "~/")) or target.lower().endswith(TEXTS)


def imports(whole: bytes) -> list[Import]:
    """What a file brings in with ``@path``, outside of code: each once, the first 200.

    A name without ``/`` or ``.`` is nobody's path but a person or a package, and left out.
    """
    found: list[Import] = []
    if b"@" not in whole:
        return found
    seen: set[str] = set()
    fence = ""
    for number, line in enumerate(whole.decode("utf-8", "replace").split("\n"), 1):
        bare = line.strip()
        if bare.startswith(("```", "~~~")):
            ticks = bare[: len(bare) - len(bare.lstrip(bare[0]))]
            if not fence:
                fence = ticks
            elif ticks[0] == fence[0] and len(ticks) >= len(fence) and not bare.strip(bare[0]):
                fence = ""
            continue
        if fence or "@" not in line:
            continue
        for match in _TARGET.finditer(_SPAN.sub(" ", line)):
            target = match[1].rstrip(".,!")
            if target in seen or len(target) > LONGEST_TARGET or "\0" in target:
                continue
            if "/" in target or "." in target:
                seen.add(target)
                found.append(Import(number, marked(target)))
                if len(found) == MOST_IMPORTS:
                    return found
    return found
