"""The workspace as four sources: its files, its documents, its decision records, its rule files.

All are passages of the workspace index, read from the version that held at the time asked for; a working copy on disk
is never looked at.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from datetime import datetime
from hashlib import sha256
from typing import Any, Final, NamedTuple

from affidavit.retrieval.candidate import RetrievalCandidate
from affidavit.retrieval.plan import RetrievalSubQuery
from affidavit.retrieval.request import RetrievalScope
from affidavit.retrieval.terms import MAX_SCORED, is_file
from affidavit.retrieval.trimming import forbids
from affidavit.session.times import iso
from affidavit.text.marks import marked
from storage.queries.conditions import among, both
from storage.queries.connection import ReadConnection
from storage.workspace.asking import Rarity, Wanted, find, places, text_of
from storage.workspace.languages import definitions
from storage.workspace.preparing import decoded_bytes
from storage.workspace.within import TABLES, Within, within


class Source(NamedTuple):
    """A source by its name: the kinds of files that are in it, and what its recaller is called."""

    name: str
    kinds: frozenset[str]
    recaller: str


SOURCES: Final = (
    Source("workspace-index", frozenset({"code", "test", "log"}), "workspace files"),
    Source("project-documents", frozenset({"doc"}), "project documents"),
    Source("decision-records", frozenset({"decision"}), "decision records"),
    Source("team-rules", frozenset({"rule"}), "rule files"),
)

_EVIDENCE: Final = {"code": "code", "test": "code", "log": "test-log", "doc": "doc", "decision": "decision-record"}
_FOREIGN = re.compile(r"(?:.*/)?(?:vendor|third[_-]party|external|extern|deps)/.+", re.IGNORECASE)
"""Other people's texts that lie in a workspace."""

_OWN_RULES = re.compile(
    r"\.github/(?!contributing\.)[^/]+|\.(?:cursor|claude)/rules/.+|(?!contributing\.)[^/]+", re.IGNORECASE
)
"""Rule files for agents at the root: instructions; others, and rules for people, are evidence of what is wanted."""

_STATUS = re.compile(
    r"^[ \t>*_-]{0,6}status[ \t*_]{0,6}:?[ \t*_]{0,6}\s{0,4}[-*\s]{0,4}(superseded|deprecated|rejected|obsolete)\b"
    r"|^\#{1,4}[ \t]+status[ \t]*\n\s{0,4}[*_-]{0,3}[ \t]{0,2}(superseded|deprecated|rejected|obsolete)\b",
    re.IGNORECASE | re.MULTILINE,
)
_HEADER: Final = 2_000
"""Characters of a decision record in which its status stands."""

_NAMED = re.compile(r"(?<![\w.@+*-])(?:[\w.@+*-]{0,80}(?:/[\w.@+*-]{1,80}){1,12}/?|[\w-]{1,80}\.[A-Za-z]{1,8}\b)")
_ADDRESS = re.compile(r"\b\w{2,20}://\S{0,500}")
MOST_GOVERNED: Final = 40


class FileRecaller:
    """Recalls passages of one source of the workspace; see :class:`affidavit.retrieval.candidate.Recaller`."""

    def __init__(self, link: ReadConnection, source: Source, rarity: Rarity) -> None:
        self._link = link
        self._source = source
        self._rarity = rarity

    @property
    def name(self) -> str:
        return self._source.recaller

    @property
    def sources(self) -> tuple[str, ...]:
        return (self._source.name,)

    def recall(self, sub_query: RetrievalSubQuery, scope: RetrievalScope, now: datetime) -> list[RetrievalCandidate]:  # noqa: ARG002
        """Passages that fit, twice as many as are asked for: how they are ranked is settled among all sources."""
        if self._source.name not in sub_query.sources or sub_query.top_k == 0:
            return []
        inside = within(self._link, scope)
        if inside is None:
            return []
        words = sub_query.terms or tuple(sub_query.query_text.split())
        wanted = Wanted(
            [marked(word) for word in words],
            [marked(name) for name in sub_query.identifiers],
            [marked(path) for path in sub_query.paths],
            places(marked(sub_query.query_text)),
        )
        found = find(self._link, self._rarity, inside, self._source.kinds, wanted, 2 * sub_query.top_k)
        return list(self._candidates(inside, found, scope))

    def _candidates(self, inside: Within, found: list[int], scope: RetrievalScope) -> Iterable[RetrievalCandidate]:
        tests = both([among("p.no", set(found)), inside.of(self._source.kinds)])
        rows = self._link.rows(
            f"""SELECT p.no, p.version, p.start, p.stop, p.first, p.last, p.anchor, f.path, v.kind, v.since, v.until,
            v.captured, v."commit", v.language FROM {TABLES} WHERE {tests.sql}""",
            tests.values,
        )
        by_number = {row[0]: row[1:] for row in rows}
        for no in found:
            if no in by_number:
                candidate = self._candidate(scope, *by_number[no])
                if candidate is not None:
                    yield candidate

    def _candidate(
        self, scope: RetrievalScope, version: int, start: int, stop: int, first: int, last: int, anchor: str, path: str,
        kind: str, since: int, until: int | None, captured: int, commit: bytes, language: str,
    ) -> RetrievalCandidate | None:  # fmt: skip
        digest = self._link.value('SELECT sha256 FROM payload WHERE "commit" = ?', (commit,))
        if digest is None:
            return None
        data = text_of(self._link, version)
        version_name = f"sha256:{digest.hex()}"
        names = sha256(f"{path}\0{start}\0{stop}\0{version_name}\0{since}".encode()).hexdigest()[:12]
        more: dict[str, Any] = {}
        if kind == "rule" and _OWN_RULES.fullmatch(path):
            more["trust"] = "instruction"
        elif _FOREIGN.match(path):
            more["trust"], more["authority_level"] = "untrusted-observation", "low"
        text = decoded_bytes(data[start:stop])
        if kind == "decision":
            more |= _decision(decoded_bytes(data), text)
        return RetrievalCandidate.model_validate(
            {
                "id": f"file-{names}",
                "source": self._source.name,
                "source_ref": f"{path}:{first}-{last}",
                "source_version": version_name,
                "source_digest": version_name,
                "captured_at": iso(captured),
                "updated_at": iso(since),
                "valid_from": iso(since),
                "valid_until": iso(until),
                "text": text,
                "title": anchor,
                "evidence_kind": _EVIDENCE.get(kind, "doc"),
                "byte_range": {"from": start, "to": stop},
                "symbols": tuple(dict.fromkeys(one.name for one in definitions(text, language)))[:50],
                "scope": {"workspace_root": scope.workspace_root, "branch": scope.branch},
                **more,
            }
        )


def _decision(whole: str, text: str) -> dict[str, Any]:
    """What a decision record says of itself: whether this part forbids something, and which files it names."""
    status = _STATUS.search(whole[:_HEADER])
    said: dict[str, Any] = {"forbids": forbids(text), "governs": governed(whole)}
    if status is not None:
        word = (status[1] or status[2]).lower()
        said["refusal"] = {"reason": "superseded", "detail": f"its status is {word}"}
    return said


def governed(text: str) -> tuple[str, ...]:
    """Paths and patterns of files that a text names; a folder as everything in it."""
    found: dict[str, None] = {}
    for name in _NAMED.findall(_ADDRESS.sub(" ", text[:MAX_SCORED])):
        if not ("/" in name or is_file(name)):
            continue
        name = name.removeprefix("./").strip("/") + ("/*" if name.endswith("/") else "")
        if name and not set(name) <= set("*/."):
            found[name] = None
        if len(found) >= MOST_GOVERNED:
            break
    return tuple(found)
