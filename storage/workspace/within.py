"""What of the workspace index a retrieval may look at, as conditions of its queries: nothing else is ever read."""

from __future__ import annotations

import os
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Final

from affidavit.retrieval.pool import micros
from storage.queries.conditions import Condition, among, both
from storage.queries.connection import ReadConnection
from storage.workspace.ignoring import Rules
from storage.workspace.tables import VERSION

if TYPE_CHECKING:
    from affidavit.retrieval.request import RetrievalScope

TABLES: Final = """ix_workspace_passage p CROSS JOIN ix_workspace_version v ON v.no = p.version
 CROSS JOIN ix_workspace_file f ON f.no = v.file"""
"""Passages with the version and the file they are of."""


@dataclass(frozen=True, slots=True)
class Within:
    """A root at a time. ``root``: its row; ``condition``: of a version ``v`` and its file ``f``."""

    root: int
    condition: Condition

    def of(self, kinds: frozenset[str]) -> Condition:
        """The same for files of some kinds only."""
        return both([self.condition, among("v.kind", kinds)])


def within(link: ReadConnection, scope: RetrievalScope) -> Within | None:
    """What a scope lets be asked of the index; ``None`` where that is nothing.

    Nothing where the scope names no workspace, where that is not indexed, or where the branch the scope names is not
    what was checked out at the time asked for. Beside the declared fields of a scope, ``includePaths`` and
    ``excludePaths`` (patterns as in a ``.gitignore``) narrow it.
    """
    as_of = micros(scope.time_boundary.as_of)
    if not scope.workspace_root or as_of is None or not usable(link):
        return None
    root = link.value("SELECT no FROM ix_workspace_root WHERE path = ?", (_real(scope.workspace_root),))
    if root is None or (scope.branch is not None and _branch(link, root, as_of) != scope.branch):
        return None
    tests = [
        Condition("f.root = ? AND v.withheld = 0", (root,)),
        Condition("v.since <= ? AND (v.until IS NULL OR v.until > ?)", (as_of, as_of)),
    ]
    boundary = scope.time_boundary
    for said, sql in ((boundary.include_after, "v.since > ?"), (boundary.exclude_after, "v.since <= ?")):
        if said is not None:
            tests.append(Condition(sql, (micros(said),)))
    more = scope.model_extra or {}
    included, excluded = patterns(more.get("includePaths")), patterns(more.get("excludePaths"))
    if included or excluded:
        link.function("in_paths", 3, in_paths)
        tests.append(Condition("in_paths(f.path, ?, ?)", (included, excluded)))
    return Within(root, both(tests))


def _real(path: str) -> str | None:
    """The path a root is kept under; ``None`` for what no folder can be called."""
    try:
        return os.path.realpath(path.encode("utf-8")).decode("utf-8")
    except ValueError:
        return None


def usable(link: ReadConnection) -> bool:
    """Whether the store has a workspace index that this program understands."""
    if link.value("SELECT 1 FROM sqlite_schema WHERE name = 'ix_workspace'") is None:
        return False
    return link.row("SELECT version, whole FROM ix_workspace") == (VERSION, 1)


def holds(link: ReadConnection, digest: bytes) -> bool:
    """Whether a text with this SHA-256 is kept as one of a workspace's file."""
    sql = """SELECT 1 FROM payload p JOIN ix_workspace_version v ON v."commit" = p."commit" WHERE p.sha256 = ?"""
    return usable(link) and link.value(sql, (digest,)) is not None


def _branch(link: ReadConnection, root: int, as_of: int) -> str | None:
    found: str | None = link.value(
        "SELECT branch FROM ix_workspace_head WHERE root = ? AND at <= ? ORDER BY at DESC LIMIT 1", (root, as_of)
    )
    return found


def patterns(said: object) -> str:
    """Patterns of a scope as the lines of a file of them."""
    if isinstance(said, str):
        said = [said]
    return "\n".join(one for one in said if isinstance(one, str)) if isinstance(said, (list, tuple)) else ""


def in_paths(path: str, included: str, excluded: str) -> bool:
    """The SQL function: whether a path is among those included (all, where none are named) and not excluded."""
    return (not included or _hits(included, path)) and not (excluded and _hits(excluded, path))


@lru_cache(maxsize=8)
def _rules(lines: str) -> Rules:
    return Rules.of(lines)


def _hits(lines: str, path: str) -> bool:
    """Whether the patterns hit a path or a folder it lies in, the innermost that says anything deciding."""
    rules = _rules(lines)
    at, folder = path, False
    while at:
        found = rules.decide(at, at.rpartition("/")[2], folder)
        if found is not None:
            return found
        at, folder = at.rpartition("/")[0], True
    return False
