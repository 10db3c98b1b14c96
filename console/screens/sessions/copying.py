"""What can be copied of sessions, and everything the list knows of one as text."""

from __future__ import annotations

from console.screens.sessions.columns import AGENTS, project
from console.screens.view import Copy
from console.widgets import figures
from console.widgets.safe import Outside
from storage.queries.models import SessionRow


def session_text(row: SessionRow, outside: Outside) -> str:
    """Everything the list knows of a session, one fact a line."""
    tokens = row.tokens
    facts = [
        ("title", outside.line(row.title)),
        ("address", f"session/{row.uid}"),
        ("native id", outside.line(row.native)),
        ("came from", f"{row.relation} of {outside.line(row.parent)}" if row.parent else ""),
        ("agent", f"{AGENTS.get(row.agent) or outside.line(row.agent)} {outside.line(row.version)}".strip()),
        ("project", outside.line(project(row))),
        ("folder", outside.line(row.cwd)),
        ("git branch", outside.line(row.git_branch)),
        ("time", figures.span(row.started, row.ended)),
        ("turns", str(row.turns)),
        ("events", str(row.events)),
        ("lanes", str(row.lanes)),
        ("branches", str(row.branches)),
        ("tokens", f"in {tokens.input}, out {tokens.output}, cache {tokens.cache_read} / {tokens.cache_write}"),
        ("models", outside.line(", ".join(row.models))),
        ("check", row.check or "none"),
        ("problems", str(row.problems)),
        ("unreadable", str(row.unreadable)),
        ("unknown", str(row.unknown)),
        ("duplicates", str(row.duplicates)),
        ("files", "replaced or cut since they were first read" if "superseded" in row.flags else "as first read"),
    ]
    return "\n".join(f"{name:<11}{value}" for name, value in facts)


def session_copies(rows: list[SessionRow], outside: Outside) -> list[Copy]:
    """What can be copied of sessions."""
    import json
    import shlex

    if not rows:
        return []
    addresses = [f"session/{row.uid}" for row in rows]
    told = [
        {
            "id": row.uid,
            "agent": row.agent,
            "title": outside.line(row.title),
            "project": outside.line(project(row)),
            "startedAt": figures.iso(row.started),
            "endedAt": figures.iso(row.ended),
            "events": row.events,
            "turns": row.turns,
        }
        for row in rows
    ]
    return [
        Copy("address", "address", "\n".join(addresses)),
        Copy("command", "command that opens it", "\n".join(shlex.join(["affidavit", name]) for name in addresses)),
        Copy("text", "title", "\n".join(outside.line(row.title) for row in rows)),
        Copy("json", "JSON", json.dumps(told if len(told) > 1 else told[0], ensure_ascii=False, indent=2)),
    ]
