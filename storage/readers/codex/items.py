"""What went to the model and came from it: messages, reasoning, calls and their results."""

from __future__ import annotations

import re
from collections.abc import Callable
from hashlib import sha256
from typing import Any

import orjson

from affidavit.session.echoes import CALL, ITEM, hash_of
from affidavit.session.event import Draft, Reading
from affidavit.session.policies import ASKS, ESCALATED
from affidavit.session.verification import telling_line
from storage.readers.lenient import compact, lines_of, obj, one_line, pretty, size, text

Record = dict[str, Any]

INJECTED = (
    "<environment_context>", "<user_instructions>", "<permissions instructions>", "# AGENTS.md", "<INSTRUCTIONS>",
    "<turn_aborted>", "<subagent_notification>", "<skill>", "<user_shell_command>", "<collaboration_mode>",
    "<recommended_plugins>", "<apps_instructions>", "<plugins_instructions>",
)  # fmt: skip
"""How a message of role ``user`` begins that the client put in."""

EMPTY = ("withheld_or_empty",)

MOST_PARTS = 64
"""Parts of one thought that are looked for in the other stream."""

_EXIT = re.compile(r"(?:Process exited with code|Exit code:|exit code)\s+(-?\d{1,6})")
_WALL = re.compile(r"Wall time:\s+(\d{1,9}(?:\.\d{1,6})?) seconds")
_OUTPUT = re.compile(r"^Output:\n", re.MULTILINE)
HEAD = 600
"""Where in a result what the client says of it stands: at its beginning."""


def read_item(payload: Record, reading: Reading) -> bool:
    """An item of the conversation, with or without an envelope; ``False`` for a type nobody knows."""
    read = ITEMS.get(text(payload.get("type")))
    if read is None:
        return False
    native = payload.get("id")
    if type(native) is str and native:
        reading.native = native
    read(payload, reading)
    return True


SPOKEN, THOUGHT, CALLED, SEARCHED, COMPACTED = "message", "reasoning", "call", "search", "compaction"
"""What of the conversation the terminal showed, too: kinds of what :func:`affidavit.session.echoes.hash_of` hashes."""


def _message(payload: Record, reading: Reading) -> None:
    role = payload.get("role")
    say(role if type(role) is str else "nobody", words(payload.get("content")), reading, ITEM)


def say(role: str, said: str, reading: Reading, stream: str) -> None:
    """A message of the conversation, or (``stream``) a notice of one."""
    flags = () if said else EMPTY
    if said and role in ("assistant", "user"):
        reading.queue = (stream, (hash_of(SPOKEN, f"{role}\0{said}"),))
    if role == "assistant":
        reading.leaf = True
        reading.drafts.append(Draft("model.message", "agent", said, flags=flags))
    elif role == "user" and not said.lstrip().startswith(INJECTED):
        reading.leaf = True
        names = f"{reading.at}\0{said}".encode("utf-8", "surrogatepass")
        reading.prompt = reading.native or "=" + sha256(names).hexdigest()[:32]
        if said.strip():
            reading.facts = {"title.prompt": one_line(said)}
        reading.drafts.append(Draft("user.message", "user", said, flags=flags))
    else:
        summary = f"{role}: {one_line(said, 160)}" if role != "user" else one_line(said)
        reading.drafts.append(Draft("context.injected", "runtime", said, summary=summary, flags=flags))


def words(content: Any) -> str:
    """A message's or result's content as text; a picture is named by its kind and size."""
    if type(content) is str:
        return content
    blocks = content if type(content) is list else [content] if type(content) is dict else []
    if not blocks and content:
        return compact(content)
    return "\n".join(part for part in map(_words_of, blocks) if part)


def _words_of(block: Any) -> str:
    if type(block) is not dict:
        return lines_of(block)
    kind = text(block.get("type"))
    if type(block.get("text")) is str:
        return str(block["text"])
    if "image" in kind:
        url = text(block.get("image_url")) or text(obj(block.get("image_url")).get("url"))
        return f"[image {size(len(url))}]" if url.startswith("data:") else f"[image {url}]".replace(" ]", "]")
    if kind == "encrypted_content":
        return "[withheld: the log holds it encrypted]"
    return compact(block)


def _reasoning(payload: Record, reading: Reading) -> None:
    parts = [part for key in ("summary", "content") for part in _parts(payload.get(key))]
    think(parts, reading, ITEM, withheld=bool(payload.get("encrypted_content")))


def _parts(content: Any) -> list[str]:
    blocks = content if type(content) is list else [content]
    return [part for part in map(words, blocks) if part]


def think(parts: list[str], reading: Reading, stream: str, *, withheld: bool = False) -> None:
    """Reasoning in parts, or (``stream``) a notice of one; without any, that it was ``withheld`` or is empty."""
    if parts:
        reading.drafts.append(Draft("model.reasoning", "agent", "\n\n".join(parts)))
        reading.queue = (stream, tuple([hash_of(THOUGHT, part) for part in parts[:MOST_PARTS]]))
    elif stream == ITEM:
        summary = "withheld: the log holds it encrypted" if withheld else "empty"
        reading.drafts.append(Draft("model.reasoning", "agent", summary=summary, flags=EMPTY))


def _arguments(payload: Record) -> Any:
    """A call's arguments, which are JSON within a text."""
    given = payload.get("arguments", payload.get("input", payload.get("action")))
    if type(given) is not str or given[:1] not in "{[":
        return given
    try:
        return orjson.loads(given)
    except orjson.JSONDecodeError:
        return given


def _call(payload: Record, reading: Reading) -> None:
    """A call of a tool. One that asks to leave the sandbox says so, with the reason it gives."""
    name = text(payload.get("name")) or text(obj(payload.get("function")).get("name")) or text(payload.get("type"))
    space = text(payload.get("namespace"))
    given = _arguments(payload)
    call = text(payload.get("call_id"))
    draft = Draft("tool.intent", "agent", tool=f"{space}.{name}" if space else name, call=call or None)
    if call:
        reading.queue = (CALL, (hash_of(CALLED, call),))
    command = command_of(given)
    if command:
        draft.command = command
        draft.summary = one_line(command)
        rest = {key: value for key, value in given.items() if key not in ("command", "cmd") and value is not None}
        draft.text = command + ("\n\n" + pretty(rest) if rest else "")
    elif type(given) is str:
        draft.text = given
        draft.refs = patched(given)
        draft.summary = ", ".join(draft.refs)[:200] or one_line(given)
    else:
        draft.text = pretty(given) if given else ""
        draft.summary = one_line(compact(given)) if given else draft.tool
    reading.drafts.append(draft)
    asked = obj(given)
    if asked.get("sandbox_permissions") == "require_escalated" or asked.get("with_escalated_permissions") is True:
        draft.flags = (ESCALATED,)
        why = one_line(text(asked.get("justification")), 120)
        summary = f"{ASKS} leave the sandbox" + (f" ({why})" if why else "") + f": {draft.summary or ''}"
        said = "\n\n".join(part for part in (why and text(asked["justification"]), draft.command) if part)
        reading.drafts.append(
            Draft("permission.decision", "agent", said, path="asks", summary=summary, tool=draft.tool)
        )


def command_of(given: Any) -> str:
    """The shell command of a call's arguments, if it runs one."""
    if type(given) is not dict:
        return ""
    command = given.get("command", given.get("cmd"))
    if type(command) is list and command and all(type(part) is str for part in command):
        if len(command) >= 3 and command[1] in ("-c", "-lc", "-Command"):
            return str(command[2])
        return " ".join(command)
    return command if type(command) is str else ""


_PATCHED = re.compile(r"^\*\*\* (?:Add|Update|Delete) File: (.+)$", re.MULTILINE)


def patched(patch: str) -> tuple[str, ...]:
    """The files a patch names, in order."""
    return tuple(dict.fromkeys(name.strip() for name in _PATCHED.findall(patch)))[:50]


def _result(payload: Record, reading: Reading) -> None:
    """What a call gave. The oldest form wraps it in JSON of its own, with the exit code beside it."""
    given = payload.get("output", payload.get("result"))
    said = body = words(given)
    code = millis = ok = None
    if said.startswith('{"output"'):
        try:
            inner = orjson.loads(said)
        except orjson.JSONDecodeError:
            inner = {}
        about = obj(obj(inner).get("metadata"))
        if type(obj(inner).get("output")) is str:
            said = inner["output"]
            code = about.get("exit_code")
            spent = about.get("duration_seconds")
            millis = int(spent * 1000) if isinstance(spent, (int, float)) and 0 <= spent < 1e9 else None
        body = said
    else:
        head = said[:HEAD]
        begins = _OUTPUT.search(head)
        body = said[begins.end() :] if begins else said
        if found := _EXIT.search(head[: begins.start()] if begins else head):
            code = int(found[1])
        if found := _WALL.search(head):
            millis = int(float(found[1]) * 1000)
    if type(code) is int:
        ok = code == 0
    call = text(payload.get("call_id"))
    draft = Draft("tool.finished", "tool", said, call=call or None, ok=ok, millis=millis)
    if body is not said:
        draft.summary = telling_line(body) if ok is False else one_line(body)
    if not said:
        draft.flags = EMPTY
    refusal = _refused(said[:HEAD])
    if refusal:
        draft.kind, draft.actor, draft.ok, draft.inferred = "permission.decision", *refusal, False, True
        draft.summary = "rejected: " + one_line(said, 160)
    reading.drafts.append(draft)


def _refused(head: str) -> tuple[str] | None:
    """Who refused a call, as its result says it: Codex records no decision of its own."""
    lower = head.lower()
    if "rejected by user" in lower or lower.startswith("aborted by user"):
        return ("user",)
    if "sandbox(denied" in lower or "rejected by policy" in lower or ("approval policy" in lower and "reject" in lower):
        return ("runtime",)
    return None


def _searched(payload: Record, reading: Reading) -> None:
    """A search the provider ran itself: what was asked; what was found is not recorded here."""
    action = obj(payload.get("action"))
    asked = text(action.get("query")) or text(action.get("url")) or text(action.get("pattern"))
    draft = Draft("retrieval.request", "agent", pretty(action) if action else "", tool="web_search")
    draft.summary = one_line(asked) if asked else "web search"
    if asked:
        reading.queue = (ITEM, (hash_of(SEARCHED, asked),))
    reading.drafts.append(draft)


def _tools(payload: Record, reading: Reading) -> None:
    given = _arguments(payload)
    call = text(payload.get("call_id"))
    asked = text(obj(given).get("query"))
    reading.drafts.append(
        Draft(
            "tool.intent", "agent", pretty(given) if given else "", tool="tool_search", call=call or None,
            summary=one_line(asked) if asked else None,
        )
    )  # fmt: skip


def _tools_found(payload: Record, reading: Reading) -> None:
    call = text(payload.get("call_id"))
    tools = payload.get("tools")
    count = len(tools) if type(tools) is list else 0
    summary = f"{count} groups of tools"
    reading.drafts.append(Draft("tool.finished", "tool", pretty(tools), call=call or None, ok=True, summary=summary))


def _from_agent(payload: Record, reading: Reading) -> None:
    sender, to = text(payload.get("author")), text(payload.get("recipient"))
    said = words(payload.get("content"))
    summary = f"{sender or 'an agent'} to {to or 'another'}: {one_line(said, 140)}"
    reading.drafts.append(Draft("context.injected", "agent", said, summary=summary))


def _picture(payload: Record, reading: Reading) -> None:
    made = text(payload.get("result"))
    said = text(payload.get("revised_prompt"))
    text_ = f"{said}\n[image {size(len(made))}]" if made else said
    reading.drafts.append(Draft("model.message", "agent", text_, flags=() if text_ else EMPTY))


def _compaction(payload: Record, reading: Reading) -> None:
    said = words(payload.get("content")) or text(payload.get("summary"))
    reading.drafts.append(Draft("compaction", "runtime", said, summary=one_line(said) or "context compacted"))


def _ghost(payload: Record, reading: Reading) -> None:
    commit = text(obj(payload.get("ghost_commit")).get("id"))
    summary = "state of the work tree kept" + (f" as {commit[:12]}" if commit else "")
    reading.drafts.append(Draft("lifecycle", "runtime", pretty(payload), summary=summary))


ITEMS: dict[str, Callable[[Record, Reading], None]] = {
    "message": _message,
    "reasoning": _reasoning,
    "function_call": _call,
    "local_shell_call": _call,
    "custom_tool_call": _call,
    "tool_call": _call,
    "function_call_output": _result,
    "local_shell_call_output": _result,
    "custom_tool_call_output": _result,
    "function_result": _result,
    "tool_result": _result,
    "tool_search_call": _tools,
    "tool_search_output": _tools_found,
    "web_search_call": _searched,
    "image_generation_call": _picture,
    "agent_message": _from_agent,
    "compaction": _compaction,
    "compaction_summary": _compaction,
    "context_compaction": _compaction,
    "ghost_snapshot": _ghost,
}
"""Items of the conversation by their type."""
