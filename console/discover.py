"""What agents left on this machine, told by where they keep it: names and sizes only, no content is read."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from console.services import Found

LOGS = (".jsonl", ".jsonl.zst")


def discover(environment: Mapping[str, str] = os.environ) -> list[Found]:
    """Folders with sessions of known agents, in the order they should be offered."""
    # PROJECT/SESSION.jsonl is a session; what lies deeper, or is named after a helper, belongs to one.
    claude = _found(
        claude_folder(environment), "Claude Code", lambda depth, name: depth == 1 and not name.startswith("agent-")
    )
    codex = [
        _found(codex_folder(environment) / name, "Codex", lambda _, name: name.startswith("rollout-"))
        for name in ("sessions", "archived_sessions")
    ]
    return [found for found in (claude, *codex) if found is not None]


def _found(folder: Path, agent: str, is_session: Callable[[int, str], bool]) -> Found | None:
    sessions = size = 0
    for depth, entry in _logs(folder, 0) if folder.is_dir() else ():
        size += entry.stat(follow_symlinks=False).st_size
        sessions += is_session(depth, entry.name)
    return Found(str(folder), agent, sessions, size) if sessions else None


def codex_folder(environment: Mapping[str, str] = os.environ) -> Path:
    """Where Codex keeps its own: ``$CODEX_HOME``, else ``~/.codex``."""
    moved = environment.get("CODEX_HOME")
    return Path(moved) if moved else Path.home() / ".codex"


def claude_folder(environment: Mapping[str, str] = os.environ) -> Path:
    """Where Claude Code keeps its sessions: ``$CLAUDE_CONFIG_DIR/projects``, else ``~/.claude/projects``."""
    moved = environment.get("CLAUDE_CONFIG_DIR")
    return (Path(moved) if moved else Path.home() / ".claude") / "projects"


def _logs(folder: str | os.PathLike[str], depth: int) -> Iterator[tuple[int, os.DirEntry[str]]]:
    """Every log below a folder and how many folders deep it lies. Links are not followed."""
    try:
        entries = list(os.scandir(folder))
    except OSError:
        return
    for entry in entries:
        try:
            if entry.is_dir(follow_symlinks=False):
                yield from _logs(entry.path, depth + 1)
            elif entry.name.endswith(LOGS) and entry.is_file(follow_symlinks=False):
                yield depth, entry
        except OSError:
            continue
