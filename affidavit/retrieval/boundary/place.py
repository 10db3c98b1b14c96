"""The scope's boundary: a candidate belongs to this project, branch, workspace, user, or to nobody in particular."""

from __future__ import annotations

from affidavit.retrieval.pool import Found, Turned
from affidavit.retrieval.request import RetrievalScope
from affidavit.retrieval.terms import path_of

_FILES = frozenset(("workspace-index", "project-documents", "team-rules", "decision-records"))
_FIELDS = (
    ("project_id", "out_of_project", "project"),
    ("workspace_root", "out_of_workspace", "workspace"),
    ("branch", "out_of_branch", "branch"),
    ("user_id", "scope_mismatch", "user"),
    ("test_suite", "scope_mismatch", "test suite"),
)


def outside_scope(one: Found, scope: RetrievalScope) -> Turned | None:
    """Why a candidate is out of scope; ``None``: it is not.

    Every field a candidate sets must be the scope's. A field the scope leaves open widens nothing. A past session must
    say that it is of this project: what does not say whose it is could be anybody's.
    """
    refusal = one.candidate.refusal
    if refusal is not None and refusal.reason == "scope_mismatch":
        return Turned("scope_mismatch", refusal.detail)
    belongs = one.candidate.scope
    for name, reason, word in _FIELDS:
        its, asked = getattr(belongs, name), getattr(scope, name)
        if its is not None and its != asked:
            told = "the scope names none" if asked is None else f"the scope is {asked}"
            return Turned(reason, f"{word} {its}; {told}")
    if one.candidate.source == "past-sessions" and belongs.project_id is None:
        return Turned("out_of_project", "it does not say which project it is of")
    if one.candidate.source == "current-session" and belongs.session_id not in (None, scope.session_id):
        return Turned("scope_mismatch", f"session {belongs.session_id}")
    if one.candidate.source in _FILES and _leads_out(path_of(one.candidate.source_ref), scope.workspace_root):
        return Turned("out_of_workspace", one.candidate.source_ref)
    return None


def _leads_out(path: str, root: str | None) -> bool:
    """Whether a path leads out of the workspace: up beyond its root, or to another place of the machine."""
    if "://" in path:
        return False
    absolute = path.startswith("/") or (path[1:3] == ":/" and path[:1].isalpha())
    if absolute:
        inside = (root or "").replace("\\", "/").rstrip("/")
        if not inside or not path.startswith(inside + "/"):
            return True
        path = path[len(inside) + 1 :]
    depth = 0
    for part in path.split("/"):
        depth += -1 if part == ".." else part not in ("", ".")
        if depth < 0:
            return True
    return False
