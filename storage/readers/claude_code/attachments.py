"""Attachments: what the client put before the model beside the conversation, and what its hooks did."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from affidavit.session.event import Draft, Reading
from storage.readers.claude_code.blocks import words
from storage.readers.claude_code.paths import is_memory
from storage.readers.claude_code.user import read_queued
from storage.readers.lenient import (
    LARGE,
    compact,
    lines_of,
    millis,
    obj,
    one_line,
    pretty,
    size,
    stands_twice,
    text,
)

Attachment = dict[str, Any]


def read_attachment(record: dict[str, Any], reading: Reading) -> None:
    """An ``attachment`` record by its attachment's type; one of an unknown type is counted unknown."""
    attachment = obj(record.get("attachment"))
    kind = attachment.get("type")
    if kind == "queued_command":
        read_queued(attachment, reading)
        return
    read = READ.get(kind) if type(kind) is str else None
    if read is None:
        reading.status = "unknown"
        shape = () if type(kind) is str else ("shape",)
        summary = f"unknown attachment {one_line(lines_of(kind), 80)}"
        reading.drafts.append(Draft("unknown", "runtime", compact(record), summary=summary, flags=shape))
        return
    draft = read(attachment)
    if "rendered" in record and draft.kind in ("context.injected", "memory.read"):
        draft.text = _rendered(record["rendered"]) or draft.text
    if len(draft.text) >= LARGE and stands_twice(record):
        draft.flags = (*draft.flags, "stored_twice")
    reading.drafts.append(draft)


def _rendered(rendered: Any) -> str:
    """The very text the model was given, where the record holds it."""
    if type(rendered) is not list:
        return ""
    parts = [obj(part).get("content") for part in rendered]
    return "\n".join(words(part)[0] for part in parts if part)


def _refs(attachment: Attachment) -> tuple[str, ...]:
    inner = obj(attachment.get("content"))
    found = (
        attachment.get("path"),
        attachment.get("filename"),
        obj(inner.get("file")).get("filePath"),
        attachment.get("planFilePath"),
        attachment.get("uri"),
        attachment.get("outputFilePath"),
    )
    return tuple(dict.fromkeys(value for value in found if type(value) is str and value))


SAYS = (
    "content", "text", "snippet", "banner", "message", "planContent", "addedLines", "addedBlocks", "files", "skills",
    "messages", "newDate", "condition", "description", "style", "agentType",
)  # fmt: skip
"""Where an attachment's own text stands, the first that has one."""


def _own_text(attachment: Attachment) -> str:
    for key in SAYS:
        value = attachment.get(key)
        if value:
            return _in_words(value)
    rest = {key: value for key, value in attachment.items() if key != "type"}
    return pretty(rest) if rest else ""


def _in_words(value: Any) -> str:
    """An attachment's content as text: of a file, of blocks, of several named parts, else as JSON."""
    if type(value) is dict:
        parts = value.get("contents")
        if type(parts) is list:
            return "\n".join(map(_resource, parts))
        file = obj(value.get("file"))
        if type(file.get("base64")) is str:
            medium = lines_of(file.get("type")) or "unknown medium"
            return f"[{lines_of(value.get('type'))} {medium}, {size(len(file['base64']))}]"
        said = file.get("content", value.get("content"))
        return said if type(said) is str and said else pretty(value)
    if type(value) is list and all(type(part) is dict for part in value):
        if all("type" in part for part in value):
            return words(value)[0]
        if all(type(_part(part)) is str for part in value):
            return "\n\n".join(f"{_heading(part)}\n{_part(part)}".strip() for part in value)
    return lines_of(value)


def _part(part: dict[str, Any]) -> Any:
    return part.get("content", part.get("text"))


def _heading(part: dict[str, Any]) -> str:
    return text(part.get("header")) or text(part.get("path")) or text(part.get("name")) or text(part.get("from"))


def _resource(part: Any) -> str:
    about = obj(part)
    if type(about.get("blob")) is str:
        return f"[{lines_of(about.get('mimeType')) or 'unknown medium'}, {size(len(about['blob']))}]"
    return lines_of(about.get("text", part))


def _injected(what: str, kind: str = "context.injected", actor: str = "runtime") -> Callable[[Attachment], Draft]:
    """Something put before the model, named by what it is and what it is of."""

    def read(attachment: Attachment) -> Draft:
        refs = _refs(attachment)
        about = refs[0] if refs else ""
        said = _own_text(attachment)
        summary = f"{what}: {one_line(about or said, 160)}" if about or said else what
        return Draft(kind, actor, said, summary=summary, refs=refs)

    return read


def _memory(attachment: Attachment) -> Draft:
    """An instruction or memory file put before the model: ``memory.read`` where it is Claude's own memory."""
    draft = _injected("instructions")(attachment)
    if any(map(is_memory, draft.refs)):
        draft.kind = "memory.read"
        draft.summary = "memory: " + one_line(draft.refs[0], 160)
    return draft


def _memories(attachment: Attachment) -> Draft:
    """Memory files the client chose for this moment."""
    found = attachment.get("memories")
    refs = _paths(found, "path")
    said = _in_words(found) if found else pretty(attachment)
    return Draft("memory.read", "runtime", said, summary=f"{len(refs)} memories", refs=refs)


def _paths(parts: Any, key: str) -> tuple[str, ...]:
    return tuple(path for part in (parts if type(parts) is list else ()) if (path := text(obj(part).get(key))))


def _diagnostics(attachment: Attachment) -> Draft:
    """What the IDE or a language server says of files, a line each."""
    files = attachment.get("files")
    lines = []
    for file in files if type(files) is list else []:
        uri, found = text(obj(file).get("uri")), obj(file).get("diagnostics")
        for one in found if type(found) is list else []:
            line = obj(obj(obj(one).get("range")).get("start")).get("line")
            where = f"{uri}:{line + 1}" if type(line) is int else uri
            lines.append(f"{where}: {text(obj(one).get('severity'))} {lines_of(obj(one).get('message', one))}")
    summary = "1 diagnostic" if len(lines) == 1 else f"{len(lines)} diagnostics"
    said = "\n".join(lines) or _own_text(attachment)
    return Draft("context.injected", "runtime", said, summary=summary, refs=_paths(files, "uri"))


def _system_prompt(attachment: Attachment) -> Draft:
    """The system prompt and the tools the model was given."""
    prompt = attachment.get("systemPrompt")
    rest = {key: value for key, value in attachment.items() if key not in ("type", "systemPrompt") and value}
    parts = [lines_of(part) for part in prompt] if type(prompt) is list else [lines_of(prompt)]
    said = "\n\n".join(filter(None, (*parts, pretty(rest) if rest else "")))
    tools = attachment.get("tools")
    summary = "system prompt" + (f", tools: {len(tools)}" if type(tools) is list else "")
    return Draft("context.injected", "runtime", said, summary=summary)


def _session_memory(attachment: Attachment) -> Draft:
    return _injected("memory of this session", "memory.read")(attachment)


def _granted(attachment: Attachment) -> Draft:
    """Tools a command allows while it runs: a decision the command's author made beforehand."""
    tools = attachment.get("allowedTools")
    if type(tools) is list and tools:
        said = ", ".join(map(lines_of, tools))
        summary = one_line("allowed by a command: " + said)
        return Draft("permission.decision", "runtime", said, summary=summary, ok=True)
    return Draft("lifecycle", "runtime", "", summary="a command that allows no tools of its own")


def _hook(attachment: Attachment) -> tuple[str, str | None, int | None]:
    """(name of a hook, tool it stood before or after, duration)."""
    name = text(attachment.get("hookName")) or text(attachment.get("hookEvent")) or "hook"
    tool = name.partition(":")[2] if name.startswith(("PreToolUse:", "PostToolUse", "PermissionRequest:")) else ""
    return name, tool or None, millis(attachment.get("durationMs"))


def _hook_ran(attachment: Attachment) -> Draft:
    name, tool, spent = _hook(attachment)
    code = attachment.get("exitCode")
    said = lines_of(attachment.get("content")) or text(attachment.get("stdout"))
    parts = filter(None, (said, text(attachment.get("stderr"))))
    command = text(attachment.get("command"))
    return Draft(
        "context.injected",
        "runtime",
        "\n".join(parts),
        summary=f"hook {name}" + (f": {one_line(command, 140)}" if command else ""),
        tool=tool,
        ok=code == 0 if type(code) is int else None,
        millis=spent,
    )


def _hook_failed(attachment: Attachment) -> Draft:
    draft = _hook_ran(attachment)
    draft.kind = "error"
    draft.ok = False
    draft.summary = f"hook {_hook(attachment)[0]} failed: {one_line(draft.text, 140)}"
    return draft


def _hook_blocked(attachment: Attachment) -> Draft:
    """A hook that refused: a decision by the runtime, inferred from the hook's outcome."""
    name, tool, spent = _hook(attachment)
    about = attachment.get("blockingError")
    said = text(obj(about).get("blockingError")) or text(attachment.get("message")) or lines_of(about)
    return Draft(
        "permission.decision",
        "runtime",
        said,
        summary=f"blocked by hook {name}: {one_line(said, 140)}",
        tool=tool,
        ok=False,
        millis=spent,
        inferred=True,
    )


def _hook_decided(attachment: Attachment) -> Draft:
    """The one decision Claude Code records as such: a hook asked for permission and answered."""
    name, tool, spent = _hook(attachment)
    decision = text(attachment.get("decision"))
    return Draft(
        "permission.decision",
        "runtime",
        f"{decision or 'decided'} by hook {name}",
        tool=tool,
        ok={"allow": True, "deny": False}.get(decision),
        millis=spent,
    )


def _hook_cancelled(attachment: Attachment) -> Draft:
    name, tool, spent = _hook(attachment)
    why = "timed out" if attachment.get("timedOut") is True else "cancelled"
    said = f"hook {name} {why}"
    command = text(attachment.get("command"))
    full = f"{said}\n{command}" if command else said
    return Draft("lifecycle", "runtime", full, summary=said, tool=tool, ok=False, millis=spent)


def _goal(attachment: Attachment) -> Draft:
    met = attachment.get("met")
    said = lines_of(attachment.get("condition"))
    state = "met" if met is True else "not met yet" if met is False else "set"
    full = "\n".join(filter(None, (said, text(attachment.get("reason")))))
    spent = millis(attachment.get("durationMs"))
    return Draft("lifecycle", "runtime", full, summary=f"goal {state}: {one_line(said, 150)}", millis=spent)


READ: dict[str, Callable[[Attachment], Draft]] = {
    "file": _injected("file"),
    "already_read_file": _injected("file read before"),
    "compact_file_reference": _injected("file read before the compaction"),
    "pdf_reference": _injected("PDF"),
    "edited_text_file": _injected("file changed outside"),
    "edited_image_file": _injected("picture changed outside"),
    "directory": _injected("folder"),
    "opened_file_in_ide": _injected("file opened in the IDE"),
    "selected_lines_in_ide": _injected("lines selected in the IDE"),
    "selected_lines_in_diff": _injected("lines selected in the diff"),
    "diagnostics": _diagnostics,
    "mcp_resource": _injected("MCP resource"),
    "plan_file_reference": _injected("plan"),
    "nested_memory": _memory,
    "relevant_memories": _memories,
    "current_session_memory": _session_memory,
    "instructions": _injected("instructions"),
    "claude_md_delta": _injected("instructions changed"),
    "git_status_delta": _injected("git status changed"),
    "bash_git_instructions": _injected("instructions on git"),
    "session_context": _injected("session context"),
    "environment": _injected("environment"),
    "model": _injected("model"),
    "date": _injected("date"),
    "date_change": _injected("date changed"),
    "prompt_snapshot": _system_prompt,
    "output_style": _injected("output style"),
    "critical_system_reminder": _injected("reminder"),
    "task_reminder": _injected("task reminder"),
    "todo_reminder": _injected("to-do reminder"),
    "todo_reminder_delta": _injected("to-do reminder"),
    "task_reconcile": _injected("task reminder"),
    "compaction_reminder": _injected("reminder of the compaction"),
    "context_efficiency": _injected("reminder on context"),
    "batching_reminder_sent": _injected("reminder on batching"),
    "silent_turn_reminder": _injected("reminder on silent turns"),
    "total_tokens_reminder": _injected("tokens left"),
    "verify_plan_reminder": _injected("reminder to verify the plan"),
    "read_truncation_notice": _injected("a file was read in part"),
    "token_usage": _injected("tokens used"),
    "output_token_usage": _injected("tokens written"),
    "budget_usd": _injected("budget"),
    "skill_listing": _injected("skills"),
    "skill_discovery": _injected("skills found"),
    "dynamic_skill": _injected("skills found"),
    "invoked_skills": _injected("skills in use"),
    "deferred_tools_delta": _injected("tools changed"),
    "deferred_tools_record": _injected("tools"),
    "agent_listing_delta": _injected("agents changed"),
    "mcp_instructions_delta": _injected("MCP instructions changed"),
    "agent_mention": _injected("agent named"),
    "plan_mode": _injected("plan mode"),
    "plan_mode_reentry": _injected("plan mode again"),
    "plan_mode_exit": _injected("plan mode left"),
    "auto_mode": _injected("auto mode"),
    "auto_mode_exit": _injected("auto mode left"),
    "ultrathink_effort": _injected("effort raised"),
    "ultra_effort_enter": _injected("effort raised"),
    "ultra_effort_exit": _injected("effort back to normal"),
    "workflow_keyword_request": _injected("workflow asked for"),
    "companion_intro": _injected("companion"),
    "bagel_console": _injected("console"),
    "remote_session_change": _injected("remote session changed"),
    "team_context": _injected("team"),
    "teammate_mailbox": _injected("messages of teammates", actor="agent"),
    "teammate_shutdown_batch": _injected("teammates ended", "lifecycle"),
    "task_status": _injected("task", "lifecycle"),
    "structured_output": _injected("structured output", "lifecycle"),
    "max_turns_reached": _injected("most turns reached", "lifecycle"),
    "goal_status": _goal,
    "command_permissions": _granted,
    "hook_success": _hook_ran,
    "async_hook_response": _hook_ran,
    "hook_additional_context": _hook_ran,
    "hook_system_message": _hook_ran,
    "hook_deferred_tool": _hook_ran,
    "hook_non_blocking_error": _hook_failed,
    "hook_error_during_execution": _hook_failed,
    "hook_blocking_error": _hook_blocked,
    "hook_stopped_continuation": _hook_blocked,
    "hook_permission_decision": _hook_decided,
    "hook_cancelled": _hook_cancelled,
}
"""Types of attachments."""
