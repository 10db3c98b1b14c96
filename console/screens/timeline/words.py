"""What an event is called in one word, with its glyph and its voice."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from storage.queries.models import EventRow


class Told(NamedTuple):
    """A glyph, a word of at most eight cells, the ink of both, and the ink of the text that follows."""

    glyph: str
    word: str
    ink: str
    voice: str


VOICES = {"user": "user", "agent": "agent", "subagent": "agent", "tool": "tool", "runtime": "runtime"}
"""Whose words an event's text is, so that a reader always knows."""

MODE = "mode: "
"""How a permission decision begins that only tells which mode the agent went into."""

QUIET_FLAGS = frozenset(
    {"stored_twice", "time_missing", "truncated_search", "naive_time", "big_integer", "withheld_or_empty"}
)
"""Flags that a reader of the event is told, but that nobody need look for in a list."""

_TOOLS = {
    "run": ("bash", "shell", "exec", "exec_command", "local_shell", "run_terminal_cmd", "bashoutput", "terminal"),
    "edit": ("edit", "multiedit", "notebookedit", "apply_patch", "str_replace", "str_replace_editor"),
    "write": ("write", "create_file", "write_file"),
    "read": ("read", "read_file", "view", "notebookread", "cat"),
    "look": ("grep", "glob", "ls", "find", "search", "list_dir", "codebase_search"),
    "fetch": ("webfetch", "websearch", "web_search", "fetch"),
    "send": ("task", "agent", "spawn_agent"),
    "plan": ("todowrite", "update_plan", "exitplanmode", "taskcreate", "taskupdate"),
    "ask": ("askuserquestion",),
}
_WORD_OF = {name: word for word, names in _TOOLS.items() for name in names}

PATH_WORDS = frozenset({"edit", "write", "read"})
"""Tools whose intent is summed up by the path of a file."""

_KINDS = {
    "session.opened": ("·", "opened", "quiet"),
    "session.closed": ("·", "closed", "quiet"),
    "model.request": ("·", "request", "quiet"),
    "model.reasoning": ("·", "thinks", "quiet"),
    "retrieval.request": ("⌕", "asked", "evidence"),
    "retrieval.snapshot.created": ("⌕", "saw", "evidence"),
    "context.projected": ("·", "context", "quiet"),
    "context.injected": ("·", "context", "quiet"),
    "compaction": ("!", "compact", "person"),
    "memory.candidate.proposed": ("◆", "proposed", "memory"),
    "memory.read": ("◆", "recalls", "memory"),
    "memory.write": ("◆", "notes", "memory"),
    "lifecycle": ("·", "runtime", "quiet"),
    "error": ("✗", "error", "fails"),
    "note": ("·", "note", "quiet"),
    "unknown": ("·", "unknown", "unknown"),
}


def told(row: EventRow) -> Told:
    """How the timeline names an event."""
    voice = VOICES.get(row.actor, "outside")
    match row.kind:
        case "lifecycle" if row.inferred and row.actor == "user":
            return Told("!", "stopped", "person", voice)
        case "permission.decision" if row.ok is None and row.summary.startswith(MODE):
            return Told("·", "mode", "quiet", "quiet")
        case "user.message" if row.lane:
            # What begins a sub-agent's lane was written by the agent that sent it, not by a person.
            return Told(" ", "Task", "agent", "agent")
        case "user.message":
            return Told(" ", "User", "user", voice)
        case "model.message":
            return Told(" ", "Agent", "agent", voice)
        case "tool.intent":
            return Told("▸", tool_word(row.tool), "head", voice)
        case "tool.finished":
            return Told(*_outcome(row, "done", "failed", "ended"), voice)
        case "verification":
            return Told(*_outcome(row, "check", "check", "check"), voice)
        case "permission.decision":
            glyph, word, ink = _outcome(row, "allowed", "refused", "asked")
            return Told("~" if row.inferred else glyph, word, "guess" if row.inferred else ink, voice)
        case kind:
            return Told(*_KINDS.get(kind, ("·", kind.rpartition(".")[2][:8], "unknown")), voice)


def _outcome(row: EventRow, well: str, badly: str, open: str) -> tuple[str, str, str]:
    if row.ok is None:
        return "?", open, "unknown"
    return ("✓", well, "holds") if row.ok else ("✗", badly, "fails")


def tool_word(tool: str | None) -> str:
    """What a tool does in a word of at most eight cells: a verb we know, or the end of its own (ASCII) name."""
    if not tool:
        return "tool"
    name = tool.lower()
    known = _WORD_OF.get(name)
    if known is not None:
        return known
    last = name.rpartition("__")[2] or name
    plain = "".join(sign for sign in last if sign.isascii() and (sign.isalnum() or sign in "_-"))
    return plain[:8] or "tool"
