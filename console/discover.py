"""What agents left on this machine, told by where they keep it: names and sizes only, no content is read."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from console.services import Found

LOGS = (".jsonl", ".jsonl.zst")


BESIDE = {
    "history.jsonl": "prompts",
    "file-history": "file versions",
    "todos": "to-do lists",
    "tasks": "tasks",
}
"""What Claude Code keeps beside its sessions, by the name of its place."""


def discover(environment: Mapping[str, str] = os.environ) -> list[Found]:
    """What known agents left, in the order it should be offered: sessions, then what is kept beside them."""
    # PROJECT/SESSION.jsonl is a session; what lies deeper, or is named after a helper, belongs to one.
    projects = claude_folder(environment)
    claude = _sessions(projects, "Claude Code", lambda depth, name: depth == 1 and not name.startswith("agent-"))
    codex = [
        _sessions(codex_folder(environment) / name, "Codex", lambda _, name: name.startswith("rollout-"))
        for name in ("sessions", "archived_sessions")
    ]
    beside = [_beside(projects.parent / name, what) for name, what in BESIDE.items()]
    return [found for found in (claude, *codex, *beside) if found is not None]


def beside(folder: str, environment: Mapping[str, str] = os.environ) -> list[str]:
    """What is to be read along with a folder of sessions: what the agent keeps beside it."""
    projects = claude_folder(environment)
    if os.path.abspath(folder) != os.path.abspath(projects):
        return []
    return [found.folder for name, what in BESIDE.items() if (found := _beside(projects.parent / name, what))]


def _sessions(folder: Path, agent: str, is_session: Callable[[int, str], bool]) -> Found | None:
    sessions = size = files = 0
    for depth, entry in _files(folder, 0):
        if entry.name.endswith(LOGS):
            size += entry.stat(follow_symlinks=False).st_size
            files += 1
            sessions += is_session(depth, entry.name)
    return Found(str(folder), agent, sessions, size, files=files) if sessions else None


def _beside(place: Path, what: str) -> Found | None:
    """A place beside the sessions; a file or a folder, of which each file is one document."""
    if place.is_symlink():
        return None
    sizes = [entry.stat(follow_symlinks=False).st_size for _, entry in _files(place, 0)]
    if place.is_file():
        sizes = [place.stat().st_size]
    return Found(str(place), "Claude Code", 0, sum(sizes), what, len(sizes)) if sizes else None


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
