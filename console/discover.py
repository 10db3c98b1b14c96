"""What agents left on this machine, told by where they keep it: names and sizes only, no content is read."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from console.services import Found

LOGS = (".jsonl", ".jsonl.zst")


RULES = "rules for every project"

BESIDE = {
    "history.jsonl": "prompts",
    "file-history": "file versions",
    "todos": "to-do lists",
    "tasks": "tasks",
    "CLAUDE.md": RULES,
    "rules": RULES,
}
"""What Claude Code keeps beside its sessions, by the name of its place."""

BESIDE_CODEX = {"AGENTS.md": RULES, "AGENTS.override.md": RULES, "memories": "memories"}
"""The same of Codex."""


def discover(environment: Mapping[str, str] = os.environ) -> list[Found]:
    """What known agents left, in the order it should be offered: sessions, then what is kept beside them."""
    # PROJECT/SESSION.jsonl is a session; what lies deeper, or is named after a helper, belongs to one.
    projects = claude_folder(environment)
    claude = _sessions(projects, "Claude Code", lambda depth, name: depth == 1 and not name.startswith("agent-"))
    codex = [
        _sessions(codex_folder(environment) / name, "Codex", lambda _, name: name.startswith("rollout-"))
        for name in ("sessions", "archived_sessions")
    ]
    kept = [_beside(projects.parent / name, what, "Claude Code") for name, what in BESIDE.items()]
    kept += [_beside(codex_folder(environment) / name, what, "Codex") for name, what in BESIDE_CODEX.items()]
    return [found for found in (claude, *codex, *kept) if found is not None]


def beside(folder: str, environment: Mapping[str, str] = os.environ) -> list[str]:
    """What is to be read along with a folder of sessions: what the agent keeps beside it."""
    asked = Path(os.path.abspath(folder))
    if asked == Path(os.path.abspath(claude_folder(environment))):
        names, agent = BESIDE, "Claude Code"
    elif asked == Path(os.path.abspath(codex_folder(environment) / "sessions")):
        names, agent = BESIDE_CODEX, "Codex"
    else:
        return []
    return [found.folder for name, what in names.items() if (found := _beside(asked.parent / name, what, agent))]


def _sessions(folder: Path, agent: str, is_session: Callable[[int, str], bool]) -> Found | None:
    sessions = size = files = 0
    for depth, entry in _files(folder, 0):
        if entry.name.endswith(LOGS):
            size += entry.stat(follow_symlinks=False).st_size
            files += 1
            sessions += is_session(depth, entry.name)
    return Found(str(folder), agent, sessions, size, files=files) if sessions else None


def _beside(place: Path, what: str, agent: str) -> Found | None:
    """A place beside the sessions; a file or a folder, of which each file is one document.

    A link is left alone, but where it is a file of rules: many keep theirs elsewhere.
    """
    if place.is_symlink() and not (what == RULES and place.is_file()):
        return None
    sizes = [entry.stat(follow_symlinks=False).st_size for _, entry in _files(place, 0)]
    if place.is_file():
        sizes = [place.stat().st_size]
    return Found(str(place), agent, 0, sum(sizes), what, len(sizes)) if sizes else None


def codex_folder(environment: Mapping[str, str] = os.environ) -> Path:
    """Where Codex keeps its own: ``$CODEX_HOME``, else ``~/.codex``."""
    moved = environment.get("CODEX_HOME")
    return Path(moved) if moved else Path.home() / ".codex"


def claude_folder(environment: Mapping[str, str] = os.environ) -> Path:
    """Where Claude Code keeps its sessions: ``$CLAUDE_CONFIG_DIR/projects``, else ``~/.claude/projects``."""
    moved = environment.get("CLAUDE_CONFIG_DIR")
    return (Path(moved) if moved else Path.home() / ".claude") / "projects"


def _files(folder: str | os.PathLike[str], depth: int) -> Iterator[tuple[int, os.DirEntry[str]]]:
    """Every file below a folder and how many folders deep it lies. Links are not followed."""
    try:
        entries = list(os.scandir(folder))
    except OSError:
        return
    for entry in entries:
        try:
            if entry.is_dir(follow_symlinks=False):
                yield from _files(entry.path, depth + 1)
            elif entry.is_file(follow_symlinks=False):
                yield depth, entry
        except OSError:
            continue
