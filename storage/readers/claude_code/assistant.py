"""Records of the model: what it said, thought and asked for."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from affidavit.session.event import Draft, Reading
from affidavit.session.sidechains import TASK
from affidavit.session.starters import TOOLS as STARTERS
from storage.readers.claude_code.blocks import SPOKEN
from storage.readers.claude_code.calls import read_call
from storage.readers.claude_code.results import read_result
from storage.readers.claude_code.usage import read_usage
from storage.readers.lenient import LARGE, compact, lines_of, obj, one_line, stands_twice, text, text_name

EMPTY = ("withheld_or_empty",)
SHAPE = ("shape",)
Record = dict[str, Any]


def read_assistant(record: Record, reading: Reading) -> None:
    """An ``assistant`` record: one API message's blocks, mostly one block a record.

    A message of model ``<synthetic>`` was made by the client: an error of the API, unless it says it is none. One
    that a fork copied from another session (``forkedFrom``) cost nothing here.
    """
    actor = "subagent" if reading.lane else "agent"
    message = record.get("message")
    if type(message) is not dict:
        reading.flags = (*reading.flags, "shape")
        message = {"content": message}
    reading.leaf = record.get("isMeta") is not True
    model = message.get("model")
    content = message.get("content")
    drafts = reading.drafts
    if type(content) is list:
        for number, block in enumerate(content):
            kind = block.get("type") if type(block) is dict else None
            read = READ.get(kind) if type(kind) is str else None
            path = str(number) if number and drafts else ""
            drafts.append(read(block, actor, path) if read else unread_block(block, path))
        if not drafts:
            drafts.append(Draft("model.message", actor, summary="empty message", flags=EMPTY))
    elif type(content) is str:
        drafts.append(Draft("model.message", actor, content, flags=() if content else EMPTY))
    else:
        drafts.append(unread_block(content, ""))
    if model == "<synthetic>" or record.get("isApiErrorMessage") is True:
        _made_by_client(record, drafts)
    else:
        key = message.get("id")
        if type(key) is not str or not key:
            key = reading.native or reading.at or ""
        if "forkedFrom" not in record:
            read_usage(message.get("usage"), key, model if type(model) is str else None, reading)
    for draft in drafts:
        if draft.tool in STARTERS and text(record.get("version")).startswith(TOGETHER):
            _task(content, draft)
    if "wireToolInputs" in record and len(drafts[0].text) >= LARGE and stands_twice(record):
        drafts[0].flags = (*drafts[0].flags, "stored_twice")


TOGETHER = ("0.", "1.", "2.0.")
"""Versions that may have written sub-agents' records between the main agent's, naming none of them."""


def _task(content: Any, draft: Draft) -> None:
    """Say of a call that starts a sub-agent what it tells it, which is all that leads to the sub-agent's records."""
    for block in content:
        if type(block) is dict and block.get("id") == draft.call:
            given = obj(block.get("input"))
            about = ": ".join(filter(None, (text(given.get("subagent_type")), text(given.get("description")))))
            if told := text(given.get("prompt")):
                draft.spawns = f"{TASK}{text_name(told)} {one_line(about)}"


def _made_by_client(record: Record, drafts: list[Draft]) -> None:
    harmless = record.get("isApiErrorMessage") is False and not record.get("error")
    for draft in drafts:
        if draft.kind == "model.message":
            draft.kind = "lifecycle" if harmless else "error"
            draft.actor = "runtime"
            draft.ok = None if harmless else False


def unread_block(block: Any, path: str) -> Draft:
    """A block no reader knows, kept whole. A block that is no object, or has no type, is flagged ``shape``."""
    kind = block.get("type") if type(block) is dict else None
    if type(kind) is str:
        return Draft("unknown", "runtime", compact(block), path=path, summary=f"unknown block {kind[:80]}")
    said = block if type(block) is str else compact(block)
    return Draft("unknown", "runtime", said, path=path, summary="not of the expected shape", flags=SHAPE)


def _text(block: Record, actor: str, path: str) -> Draft:
    said = block.get("text")
    if type(said) is not str:
        return Draft("model.message", actor, lines_of(said), path=path, flags=SHAPE)
    return Draft("model.message", actor, said, path=path, flags=() if said else EMPTY)


def _thinking(block: Record, actor: str, path: str) -> Draft:
    said = block.get("thinking")
    if type(said) is str and said:
        return Draft("model.reasoning", actor, said, path=path)
    if said is None or said == "":
        return Draft("model.reasoning", actor, path=path, summary="withheld or empty in the log", flags=EMPTY)
    return Draft("model.reasoning", actor, compact(said), path=path, flags=SHAPE)


def _withheld(_: Record, actor: str, path: str) -> Draft:
    return Draft("model.reasoning", actor, path=path, summary="withheld: the log holds it encrypted", flags=EMPTY)


def _call(block: Record, actor: str, path: str) -> Draft:
    return read_call(block, actor, path)


def _result(block: Record, _: str, path: str) -> Draft:
    """A result the provider's own tool gave within the model's message."""
    draft = read_result({"is_error": None, **block}, {}, path)
    if text(obj(block.get("content")).get("type")).endswith("_error"):
        draft.ok = False
    return draft


def _fallback(block: Record, _: str, path: str) -> Draft:
    before, after = text(obj(block.get("from")).get("model")), text(obj(block.get("to")).get("model"))
    said = f"model changed from {before or 'unknown'} to {after or 'unknown'}"
    return Draft("lifecycle", "runtime", said, path=path)


def _spoken(block: Record, actor: str, path: str) -> Draft:
    return Draft("model.message", actor, SPOKEN[block["type"]](block), path=path)


READ: dict[str, Callable[[Record, str, str], Draft]] = {
    "text": _text,
    "thinking": _thinking,
    "redacted_thinking": _withheld,
    "tool_use": _call,
    "server_tool_use": _call,
    "mcp_tool_use": _call,
    "tool_result": _result,
    "mcp_tool_result": _result,
    "web_search_tool_result": _result,
    "web_fetch_tool_result": _result,
    "code_execution_tool_result": _result,
    "bash_code_execution_tool_result": _result,
    "text_editor_code_execution_tool_result": _result,
    "tool_search_tool_result": _result,
    "fallback": _fallback,
    "image": _spoken,
    "document": _spoken,
    "container_upload": _spoken,
}
"""Blocks of a model's message."""
