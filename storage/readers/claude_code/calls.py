"""What the model asked for: a tool call as an event, with its input in a form a person can read."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from affidavit.session.event import Draft
from storage.readers.claude_code.paths import is_memory
from storage.readers.lenient import compact, lines_of, one_line, pretty, text

Input = dict[str, Any]

SHELLS = frozenset({"Bash", "bash", "PowerShell", "powershell", "Shell", "shell", "run_command", "execute_command"})
WRITERS = frozenset({"Write", "Edit", "MultiEdit", "NotebookEdit"})

SAYS = (
    "file_path", "notebook_path", "pattern", "path", "query", "url", "command", "description", "skill", "subject",
    "prompt", "question", "task_id", "taskId", "name", "text",
)  # fmt: skip
"""Inputs that say in one line what a call is about, the most telling first."""

PATHS = ("file_path", "notebook_path", "path", "url")
"""Inputs that name what a call touches."""


def read_call(block: dict[str, Any], actor: str, path: str) -> Draft:
    """A ``tool_use`` block: ``tool.intent``, or ``memory.write`` / ``memory.read`` of Claude's own memory files.

    All three carry the call's id: each is answered by the observation of that id.
    """
    name = block.get("name")
    tool = name if type(name) is str else None
    given = block.get("input")
    flags: tuple[str, ...] = ()
    if tool is None or type(given) is not dict:
        flags = ("shape",)
    call = block.get("id")
    draft = Draft("tool.intent", actor, path=path, tool=tool, call=call if type(call) is str else None, flags=flags)
    if type(given) is not dict:
        draft.text = lines_of(given)
        draft.summary = one_line(draft.text) or None
        return draft
    unread = given.get("__unparsedToolInput")
    if type(unread) is dict and type(unread.get("raw")) is str:
        draft.text = unread["raw"]
        draft.summary = "input that could not be parsed: " + one_line(draft.text, 160)
        return draft
    touched = tuple(value for key in PATHS if type(value := given.get(key)) is str and value)
    draft.refs = touched
    if tool in SHELLS and type(given.get("command")) is str:
        draft.command = given["command"]
        draft.text = _with_rest(given["command"], given, {"command"})
        draft.summary = one_line(given["command"])
        return draft
    show: Callable[[Input], str] = SHOWN.get(tool or "", pretty)
    draft.text = show(given)
    draft.summary = summed_up(tool, given)
    if touched and is_memory(touched[0]):
        if tool in WRITERS:
            draft.kind = "memory.write"
        elif tool == "Read":
            draft.kind = "memory.read"
    return draft


def summed_up(tool: str | None, given: Input) -> str:
    """One line on what a call asks for."""
    return PLANS[tool](given) if tool in PLANS else _summary(given)


def _plan(given: Input) -> str:
    """A list of things to do, counted: ``3 todos: 1 done, 1 in progress``."""
    todos = given.get("todos")
    if type(todos) is not list or not todos or not all(type(todo) is dict for todo in todos):
        return _summary(given)
    states = [todo.get("status") for todo in todos]
    told = [
        f"{count} {words}"
        for state, words in (("completed", "done"), ("in_progress", "in progress"))
        if (count := states.count(state))
    ]
    counted = f"{len(todos)} todo" + ("s" if len(todos) > 1 else "")
    return f"{counted}: {', '.join(told)}" if told else counted


def _task(given: Input) -> str:
    """What becomes of one thing to do: ``task 3: completed``."""
    told = (text(given.get(key)) for key in ("status", "subject", "activeForm", "owner"))
    said = next(filter(None, told), "")
    number = lines_of(given.get("taskId"))
    return one_line(f"task {number}: {said}" if said else f"task {number}") if number else _summary(given)


PLANS: dict[str, Callable[[Input], str]] = {"TodoWrite": _plan, "TaskUpdate": _task}
"""Tools that say what is to be done and how far it is, and how each is summed up."""


def _summary(given: Input) -> str:
    for key in SAYS:
        value = given.get(key)
        if type(value) is str and value:
            return one_line(value)
    return one_line(compact(given)) if given else ""


def _with_rest(shown: str, given: Input, used: set[str]) -> str:
    """What was shown in its own form, then every other input by name, so that nothing asked for is hidden."""
    rest = [f"{key}: {lines_of(value)}" for key, value in given.items() if key not in used and value is not None]
    return shown + "\n\n" + "\n".join(rest) if rest else shown


def _marked(mark: str, value: Any) -> str:
    said = lines_of(value)
    return mark + said.replace("\n", "\n" + mark) if said else ""


def _change(given: Input) -> str:
    return "\n".join(filter(None, (_marked("-", given.get("old_string")), _marked("+", given.get("new_string")))))


def _edit(given: Input) -> str:
    shown = f"{text(given.get('file_path'))}\n{_change(given)}"
    used = {"file_path", "old_string", "new_string"}
    if given.get("replace_all") is False:
        used.add("replace_all")
    return _with_rest(shown, given, used)


def _edits(given: Input) -> str:
    edits = given.get("edits")
    if type(edits) is not list or not all(type(edit) is dict for edit in edits):
        return pretty(given)
    shown = "\n\n".join(_with_rest(_change(edit), edit, {"old_string", "new_string"}) for edit in edits)
    return _with_rest(f"{text(given.get('file_path'))}\n{shown}", given, {"file_path", "edits"})


def _write(given: Input) -> str:
    shown = f"{text(given.get('file_path'))}\n{lines_of(given.get('content'))}"
    return _with_rest(shown, given, {"file_path", "content"})


def _plain(key: str) -> Callable[[Input], str]:
    """The one long input first, the others by name below."""

    def shown(given: Input) -> str:
        return _with_rest(lines_of(given.get(key)), given, {key})

    return shown


SHOWN: dict[str, Callable[[Input], str]] = {
    "Edit": _edit,
    "MultiEdit": _edits,
    "Write": _write,
    "Read": _plain("file_path"),
    "Grep": _plain("pattern"),
    "Glob": _plain("pattern"),
    "LS": _plain("path"),
    "WebSearch": _plain("query"),
    "WebFetch": _plain("url"),
    "ToolSearch": _plain("query"),
    "Task": _plain("prompt"),
    "Agent": _plain("prompt"),
    "Skill": _plain("skill"),
    "ExitPlanMode": _plain("plan"),
}
"""Tools whose input reads better in a form of its own than as JSON."""
