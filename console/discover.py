"""What agents left on this machine, told by where they keep it: names and sizes only, no content is read."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from pathlib import Path

from console.services import Found

LOG = ".jsonl"


def discover(environment: Mapping[str, str] = os.environ) -> list[Found]:
    """Folders with sessions of known agents, in the order they should be offered."""
    folder = claude_folder(environment)
    if not folder.is_dir():
        return []
    sessions = size = 0
    for depth, entry in _logs(folder, 0):
        size += entry.stat(follow_symlinks=False).st_size
        # PROJECT/SESSION.jsonl is a session; what lies deeper, or is named after a helper, belongs to one.
        sessions += depth == 1 and not entry.name.startswith("agent-")
    return [Found(str(folder), "Claude Code", sessions, size)] if sessions else []


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
            elif entry.name.endswith(LOG) and entry.is_file(follow_symlinks=False):
                yield depth, entry
        except OSError:
            continue
