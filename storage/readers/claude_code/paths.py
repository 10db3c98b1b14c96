"""What the place of a Claude Code file says, and which files are its memory."""

from __future__ import annotations


def scope_of(path: str) -> tuple[str | None, str]:
    """(session, lane) that a file's place among its neighbours implies.

    ``SESSION/subagents/[workflows/RUN/]agent-ID.jsonl`` belongs to the session its folder is named after and is
    the lane ``ID``; an older ``agent-ID.jsonl`` beside the sessions is a lane of the session its records name.
    A session's own file implies nothing: its name may have been changed, its records say what they belong to.
    """
    *folders, name = path.replace("\\", "/").split("/")
    lane = ""
    if name.startswith("agent-"):
        for ending in (".meta.json", ".jsonl"):
            if name.endswith(ending):
                lane = name[len("agent-") : -len(ending)]
    session = None
    if lane or name == "journal.jsonl":
        if folders[-1:] == ["subagents"]:
            session = "".join(folders[-2:-1])
        elif folders[-3:-1] == ["subagents", "workflows"]:
            session = "".join(folders[-4:-3])
    elif name == "custom-title.json":
        session = "".join(folders[-1:])
    return session or None, lane


def is_memory(path: str) -> bool:
    """Whether a path is one of the files Claude Code keeps its own memory in.

    ``…/.claude/projects/SLUG/memory/*.md``, also under a moved configuration folder (a slug is an absolute path
    with ``-`` for everything else, so it begins with ``-`` or a drive letter), and agents' own
    ``.claude/agent-memory[-local]/…/*.md``.
    """
    if not path.endswith(".md"):
        return False
    path = path.replace("\\", "/")
    home, found, inside = path.rpartition("/projects/")
    slug, _, rest = inside.partition("/")
    if found and slug and rest.startswith("memory/"):
        return home.endswith("/.claude") or home == ".claude" or slug[0] == "-" or slug[1:3] == "--"
    return ".claude/agent-memory/" in path or ".claude/agent-memory-local/" in path
