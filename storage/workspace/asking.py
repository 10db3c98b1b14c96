"""Finding passages of a workspace: by words, names, paths and what refers to what, inside a scope's conditions.

Each way of finding gives its own strength between 0 and 1; what several find counts for all of them.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from posixpath import dirname, join, normpath
from typing import Final, NamedTuple

from affidavit.retrieval.terms import path_of, stem
from affidavit.text.search import any_query
from storage.queries.conditions import Condition, among, both
from storage.queries.connection import ReadConnection
from storage.workspace.languages import references, target_key
from storage.workspace.preparing import decoded_bytes, mark_of
from storage.workspace.within import TABLES, Within

MOST_TERMS: Final = 16
"""Words of a question that are searched: the rarest."""

COMMON: Final = 0.2
"""A word that stands in a larger share of all passages says nothing, as long as another is rarer."""

MOST_FILES: Final = 20
"""Files that one path, or what refers to it, leads to."""

EACH_FILE: Final = 3
"""Passages of one file that are taken because of its path."""

STRENGTHS: Final = {
    "place": 1.0,
    "path": 0.9,
    "definition": 0.9,
    "beside": 0.6,
    "words": 0.8,
    "reference": 0.5,
    "referrer": 0.4,
}
"""How much each way of finding says: the line a stack names, the file itself, a name defined, a file of the same bare
name (a test and what it tests), words, what a named file refers to, what refers to it."""

MANY: Final = frozenset({"code", "test"})
"""Kinds that most files are of: to look for them by their mark would save nothing."""

WEIGHTS: Final = "1.0, 2.0, 1.5"
"""Of a passage's text, the names in it, and its path."""


class Wanted(NamedTuple):
    """What is looked for: words that say something, names of code, paths, and places as a stack names them."""

    words: Sequence[str]
    names: Sequence[str]
    paths: Sequence[str]
    places: Sequence[tuple[str, int]] = ()


_PLACE = re.compile(
    r"(?<![\w./@~-])([\w./@~-]{1,300}\.[A-Za-z]\w{0,7})(?::|\()(\d{1,7})(?!\d)|\"([^\"\n]{1,300})\", line (\d{1,7})"
)
MOST_PLACES: Final = 10


def places(text: str) -> list[tuple[str, int]]:
    """Files with a line in them, as stacks and compilers write them: ``src/x.ts:12:5``, ``"x.py", line 12``."""
    named = [(one[1] or one[3], int(one[2] or one[4])) for one in _PLACE.finditer(text)]
    return [one for one in dict.fromkeys(named) if not one[0].startswith("//")][:MOST_PLACES]


class Rarity:
    """How many passages hold a word: looked up once while nothing is added, as every source is asked the same."""

    def __init__(self, link: ReadConnection) -> None:
        self._link = link
        self._version: int | None = None
        self._counts: dict[str, int] = {}
        self.total = 0

    def refresh(self) -> None:
        """Forget what was counted, if anything was committed since."""
        version = self._link.value("PRAGMA data_version")
        if version != self._version:
            self._version = version
            self._counts.clear()
            self.total = self._link.value("SELECT count(*) FROM ix_workspace_passage") or 0

    def of(self, word: str) -> int:
        """Passages that hold it; 0 also where it is cut into several words, which are not counted."""
        if word not in self._counts:
            row = self._link.row("SELECT doc FROM ix_workspace_words WHERE term = ?", (word,))
            self._counts[word] = row[0] if row else 0
        return self._counts[word]


class _File(NamedTuple):
    version: int
    path: str
    language: str


def find(
    link: ReadConnection, rarity: Rarity, within: Within, kinds: frozenset[str], wanted: Wanted, limit: int
) -> list[int]:
    """Numbers of passages, the most fitting first."""
    rarity.refresh()
    return _Search(link, rarity, within, kinds, wanted).run(limit)


class _Search:
    def __init__(
        self, link: ReadConnection, rarity: Rarity, within: Within, kinds: frozenset[str], wanted: Wanted
    ) -> None:
        self.link = link
        self.rarity = rarity
        self.within = within
        self.kinds = kinds
        self.condition = within.of(kinds)
        self.wanted = wanted
        said = {phrase.casefold(): phrase for phrase in [*self._telling(), *reversed(wanted.names)]}
        self.terms = any_query(reversed(said.values()))
        self.left: dict[int, float] = defaultdict(lambda: 1.0)

    def run(self, limit: int) -> list[int]:
        """Find in every way and order by what they say together."""
        named = self._named()
        for file, way in named.items():
            self._take(self._of_file(file), STRENGTHS[way])
        self._stack()
        self._definitions()
        self._references([file for file, way in named.items() if way == "path"])
        self._words(limit * 4)
        return sorted(self.left, key=lambda no: (self.left[no], no))[:limit]

    def _take(self, passages: Iterable[int], strength: float) -> None:
        for rank, no in enumerate(passages):
            self.left[no] *= 1 - strength * 0.98 / (1 + rank * 0.1)

    # ----------------------------------------------------------------------------------------------- words

    def _telling(self) -> list[str]:
        """The rarest words of the question."""
        counted = []
        for place, word in enumerate(dict.fromkeys(self.wanted.words)):
            count = self.rarity.of(word.casefold())
            simple = word.isascii() and word.isalnum()
            if count or not simple:  # what is cut into several words is taken to be rare
                counted.append((count or 1, place, word))
        counted.sort()
        rare = [word for count, _, word in counted if count <= max(50, COMMON * self.rarity.total)]
        return (rare or [word for _, _, word in counted[:3]])[:MOST_TERMS]

    def _words(self, limit: int) -> None:
        if self.terms is None:
            return
        match = self.terms
        if not self.kinds & MANY:
            match = f"({match}) AND path : ({' OR '.join(map(mark_of, sorted(self.kinds)))})"
        tests = both([Condition("ix_workspace_text MATCH ?", (match,)), self.condition])
        found = self.link.rows(
            f"SELECT x.rowid, bm25(ix_workspace_text, {WEIGHTS}) FROM ix_workspace_text x "
            f"CROSS JOIN {TABLES.replace('ix_workspace_passage p', 'ix_workspace_passage p ON p.no = x.rowid')} "
            f"WHERE {tests.sql} ORDER BY 2, 1 LIMIT ?",
            (*tests.values, limit),
        )
        best = min((score for _, score in found), default=0.0)
        for no, score in found:
            self.left[no] *= 1 - STRENGTHS["words"] * (score / best if best < 0 else 0.0)

    # ---------------------------------------------------------------------------------------- files and names

    def _named(self) -> dict[_File, str]:
        """Files that the paths name, and files of the same bare name beside them."""
        named: dict[_File, str] = {}
        for said in self.wanted.paths:
            path = path_of(said).lower()
            for file in self._by_stem(stem(path)):
                way = "path" if _is(file.path.lower(), path) else "beside"
                if named.get(file) != "path":
                    named[file] = way
        return named

    def _by_stem(self, bare: str, limit: int = MOST_FILES) -> list[_File]:
        if not bare:
            return []
        sql = f"""SELECT v.no, f.path, v.language FROM ix_workspace_file f INDEXED BY ix_workspace_file_by_stem
            CROSS JOIN ix_workspace_version v ON v.file = f.no WHERE f.root = ? AND f.stem = ?
            AND {self.condition.sql} ORDER BY f.path LIMIT ?"""
        rows = self.link.rows(sql, (self.within.root, bare, *self.condition.values, limit))
        return [_File(*row) for row in rows]

    def _of_file(self, file: _File) -> list[int]:
        """The passages of a file that fit best; its first where no word stands in it."""
        bounds = self.link.row("SELECT min(no), max(no) FROM ix_workspace_passage WHERE version = ?", (file.version,))
        if bounds is None or bounds[0] is None:
            return []
        found = []
        if self.terms is not None:
            found = self.link.rows(
                f"SELECT rowid FROM ix_workspace_text WHERE ix_workspace_text MATCH ? AND rowid BETWEEN ? AND ? "
                f"ORDER BY bm25(ix_workspace_text, {WEIGHTS}), rowid LIMIT ?",
                (self.terms, *bounds, EACH_FILE),
            )
        return [no for (no,) in found] or list(range(bounds[0], min(bounds[0] + 2, bounds[1] + 1)))

    def _stack(self) -> None:
        """The passages that hold the lines a stack names."""
        for said, line in self.wanted.places:
            path = path_of(said).lower()
            for file in self._by_stem(stem(path)):
                if _is(file.path.lower(), path):
                    self._take(self._at(file.version, line), STRENGTHS["place"])

    def _at(self, version: int, line: int) -> list[int]:
        sql = "SELECT no FROM ix_workspace_passage WHERE version = ? AND first <= ? AND last >= ? ORDER BY no LIMIT 1"
        return [no for (no,) in self.link.rows(sql, (version, line, line))]

    def _definitions(self) -> None:
        names = {name.rpartition(".")[2].casefold(): None for name in self.wanted.names}
        if not names:
            return
        tests = both([among("s.folded", set(names)), self.condition])
        tables = TABLES.replace("ix_workspace_passage p", "ix_workspace_passage p ON p.no = s.passage")
        rows = self.link.rows(
            f"SELECT DISTINCT p.no FROM ix_workspace_symbol s CROSS JOIN {tables} WHERE {tests.sql} "
            "ORDER BY p.no LIMIT ?",
            (*tests.values, MOST_FILES),
        )
        self._take([no for (no,) in rows], STRENGTHS["definition"])

    def _references(self, files: list[_File]) -> None:
        """What the named files refer to, and what refers to them."""
        for file in files[:5]:
            text = decoded_bytes(self._bytes(file))
            for one in references(text, file.language)[:50]:
                for other in self._by_stem(target_key(one.target)):
                    if leads_to(one.target, file.path, other.path):
                        self._take(self._of_file(other), STRENGTHS["reference"])
            self._take(self._referrers(file), STRENGTHS["referrer"])

    def _referrers(self, file: _File) -> list[int]:
        key = target_key(file.path)
        sql = f"""SELECT v.no, f.path, v.language, r.target, r.line FROM ix_workspace_reference r
            CROSS JOIN ix_workspace_version v ON v.no = r.version CROSS JOIN ix_workspace_file f ON f.no = v.file
            WHERE r.key = ? AND {self.condition.sql} ORDER BY f.path LIMIT ?"""
        found: list[int] = []
        for version, path, _, target, line in self.link.rows(sql, (key, *self.condition.values, MOST_FILES * 5)):
            if path != file.path and leads_to(target, path, file.path):
                found += self._at(version, line)
        return found[:MOST_FILES]

    def _bytes(self, file: _File) -> bytes:
        return text_of(self.link, file.version)


def text_of(link: ReadConnection, version: int) -> bytes:
    """The bytes of a version that is kept; a file is never larger than one piece of a payload."""
    data = link.value(
        'SELECT CAST(c.data AS BLOB) FROM payload_chunk c WHERE c."commit" = '
        '(SELECT v."commit" FROM ix_workspace_version v WHERE v.no = ?) AND c.no = 0',
        (version,),
    )
    return data or b""


def _is(own: str, path: str) -> bool:
    """Whether a file is the one a path names, from whichever folder the path is meant; both in small letters."""
    return own == path or own.endswith("/" + path) or path.endswith("/" + own)


def leads_to(target: str, origin: str, path: str) -> bool:
    """Whether what a file at ``origin`` refers to as ``target`` can be the file at ``path``."""
    bare = _without_ending(path)
    for index in ("/index", "/__init__", "/mod"):
        bare = bare.removesuffix(index)
    if target.startswith(("./", "../")):
        said = normpath(join(dirname(origin), target))
        return _without_ending(said) == bare or said in (path, bare)
    if "/" in target:
        said = _without_ending(target.lstrip("@~/"))
        return bare == said or bare.endswith("/" + said)
    dots = len(target) - len(target.lstrip("."))
    said = target.replace("::", ".").replace("\\", ".").strip(".").replace(".", "/")
    if dots:
        base = dirname(origin)
        for _ in range(dots - 1):
            base = dirname(base)
        return bare == normpath(join(base, said))
    return bare == said or bare.endswith("/" + said) or (target == path.rpartition("/")[2])


def _without_ending(path: str) -> str:
    head, slash, name = path.rpartition("/")
    return head + slash + (name.split(".")[0] if not name.startswith(".") else name)
