"""Workspaces for tests: trees of files, a clock that is put on by hand, scopes, and what is recalled in them."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from affidavit.retrieval.candidate import RetrievalCandidate
from affidavit.retrieval.plan import RetrievalSubQuery
from affidavit.retrieval.request import RetrievalScope
from affidavit.retrieval.terms import identifiers, paths, query_words
from storage.archive import Archive

SOURCES = (
    "current-session", "past-sessions", "artifact-store", "workspace-index", "project-documents", "decision-records",
    "team-rules",
)  # fmt: skip
INTENTS = {
    "workspace-index": "find-code",
    "project-documents": "find-rule",
    "team-rules": "find-rule",
    "decision-records": "find-decision",
}


class Later:
    """A clock a little ahead of the present, so that no file is too fresh to be trusted; put on by hand."""

    def __init__(self) -> None:
        self.now = datetime.now(UTC) + timedelta(seconds=10)

    def __call__(self) -> datetime:
        self.now += timedelta(milliseconds=1)
        return self.now

    def on(self, seconds: float) -> datetime:
        """Put it on; gives the moment before."""
        before = self.now
        self.now += timedelta(seconds=seconds)
        return before


def tree(root: Path, files: dict[str, str | bytes]) -> Path:
    """A folder with these files."""
    for path, text in files.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_bytes(text if isinstance(text, bytes) else text.encode())
    return root


def scope(root: Path | None, as_of: datetime, **more: Any) -> RetrievalScope:
    """A scope that allows every source, as things were at a time."""
    boundary = {"as_of": as_of.isoformat(), **more.pop("time", {})}
    return RetrievalScope.model_validate(
        {
            "purpose": "fix-test",
            "workspace_root": None if root is None else str(root),
            "allowed_sources": SOURCES,
            "permission_context": {"readable_sources": SOURCES, "model_visible_sources": SOURCES},
            "time_boundary": boundary,
            **more,
        }
    )


def question(text: str, source: str, **more: Any) -> RetrievalSubQuery:
    """A sub-query that asks one source for a text, taken apart as a plan does."""
    return RetrievalSubQuery.model_validate(
        {
            "id": "q1",
            "intent": INTENTS.get(source, "find-error"),
            "query_text": text,
            "sources": (source,),
            "top_k": 10,
            "terms": tuple(query_words(text)),
            "identifiers": tuple(identifiers(text)),
            "paths": tuple(paths(text)),
            **more,
        }
    )


def recall(
    store: str, text: str, within: RetrievalScope, source: str = "workspace-index", **more: Any
) -> list[RetrievalCandidate]:
    """What the recaller of one source gives for a text."""
    with Archive.open(store) as archive:
        found = []
        for recaller in archive.recallers(within):
            if source in recaller.sources:
                found += recaller.recall(question(text, source, **more), within, datetime.now(UTC))
        return found


def files(found: list[RetrievalCandidate]) -> list[str]:
    """The files of candidates in order, each once."""
    return list(dict.fromkeys(one.source_ref.rpartition(":")[0] for one in found))
