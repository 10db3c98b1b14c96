"""What the terminal showed of the conversation itself: told where the conversation's own items do not.

Each names what it shows, so that the same in the other stream is known to be the same; see
:mod:`affidavit.session.echoes`. Calls are known by their ids, messages and thoughts by their words.
"""

from __future__ import annotations

from typing import Any

from affidavit.session.echoes import NOTICE, ONCE, hash_of
from affidavit.session.event import Draft, Reading
from storage.readers.codex.items import CALLED, COMPACTED, SEARCHED, command_of, say, think, words
from storage.readers.lenient import compact, lines_of, obj, one_line, pretty, text

Record = dict[str, Any]


def user(payload: Record, reading: Reading) -> None:
    say("user", text(payload.get("message")), reading, NOTICE)


def agent(payload: Record, reading: Reading) -> None:
    say("assistant", text(payload.get("message")), reading, NOTICE)


def thought(payload: Record, reading: Reading) -> None:
    said = text(payload.get("text"))
    think([said] if said else [], reading, NOTICE)


def ran(payload: Record, reading: Reading) -> None:
    """A command that ended: the call and what came of it."""
    command = command_of(payload)
    out = text(payload.get("aggregated_output")) or text(payload.get("formatted_output"))
    out = out or "".join((text(payload.get("stdout")), text(payload.get("stderr"))))
    code = payload.get("exit_code")
    ok = code == 0 if type(code) is int else _ended(payload)
    _called(payload, reading, "exec_command", command, one_line(command), out, ok)
    if reading.drafts:
        reading.drafts[0].command = command or None


def patched(payload: Record, reading: Reading) -> None:
    """A patch that was applied, or could not be."""
    changes = obj(payload.get("changes"))
    files = tuple(changes)[:50]
    ok = payload.get("success")
    out = "\n".join(part for part in (text(payload.get("stdout")), text(payload.get("stderr"))) if part)
    said = pretty(changes) if changes else ""
    name = ", ".join(files)[:200] or "patch"
    _called(payload, reading, "apply_patch", said, name, out, ok if type(ok) is bool else _ended(payload), files)


def served(payload: Record, reading: Reading) -> None:
    """A call of a tool of an MCP server."""
    asked = obj(payload.get("invocation")) or payload
    server, tool = text(asked.get("server")), text(asked.get("tool")) or "mcp tool"
    given, found = asked.get("arguments"), payload.get("result")
    failed = payload.get("error")
    inner = obj(found)
    if "Err" in inner:
        failed, found = inner["Err"], None
    elif "Ok" in inner:
        found = inner["Ok"]
    ok = not failed and obj(found).get("isError") is not True
    out = lines_of(failed) if failed else words(obj(found).get("content")) or (pretty(found) if found else "")
    name = f"{server}.{tool}" if server else tool
    _called(
        payload, reading, name, pretty(given) if given else "", one_line(compact(given)) if given else name, out, ok
    )


def answered(payload: Record, reading: Reading) -> None:
    """A call of a tool that whoever runs the agent provides."""
    ok = payload.get("success")
    given = payload.get("arguments")
    out = words(payload.get("content_items", payload.get("contentItems"))) or text(payload.get("error"))
    name = text(payload.get("tool")) or "dynamic tool"
    said = pretty(given) if given else ""
    _called(
        payload,
        reading,
        name,
        said,
        one_line(compact(given)) if given else name,
        out,
        ok if ok in (True, False) else None,
    )


def viewed(payload: Record, reading: Reading) -> None:
    """A picture the agent looked at."""
    path = text(payload.get("path"))
    _called(payload, reading, "view_image", path, one_line(path) or "picture", None, None)


def searched(payload: Record, reading: Reading) -> None:
    """A search the provider ran; where it is not known what was asked, the item of it tells."""
    action = obj(payload.get("action"))
    asked = (
        text(payload.get("query"))
        or text(action.get("query"))
        or text(action.get("url"))
        or text(action.get("pattern"))
    )
    if asked:
        told = pretty(payload.get("results")) if payload.get("results") else ""
        said = (pretty(action) if action else asked) + (f"\n\n{told}" if told else "")
        reading.drafts.append(Draft("retrieval.request", "agent", said, tool="web_search", summary=one_line(asked)))
        reading.queue = (NOTICE, (hash_of(SEARCHED, asked),))


def compacted(payload: Record, reading: Reading) -> None:
    """The context was compacted; an item of its own says with what."""
    said = pretty(payload) if len(payload) > 1 else ""
    reading.drafts.append(Draft("compaction", "runtime", said, summary="context compacted"))
    reading.queue = (NOTICE, (hash_of(COMPACTED, ""),))


def _ended(payload: Record) -> bool | None:
    return {"completed": True, "failed": False, "declined": False}.get(text(payload.get("status")))


def _called(
    payload: Record,
    reading: Reading,
    tool: str,
    said: str,
    summary: str,
    out: str | None,
    ok: bool | None,
    refs: tuple[str, ...] = (),
) -> None:
    """A call and, with ``out``, its result, under the call's id."""
    call = text(payload.get("call_id")) or text(payload.get("callId")) or text(payload.get("id"))
    name = call or f"{reading.at} {tool} {said}"
    drafts = reading.drafts
    drafts.append(Draft("tool.intent", "agent", said, tool=tool, call=name, summary=summary or tool, refs=refs))
    if out is not None:
        millis = _millis(payload.get("duration"))
        drafts.append(Draft("tool.finished", "tool", out, path="result", call=name, ok=ok, millis=millis))
    reading.queue = (ONCE, (hash_of(CALLED, name),))


def _millis(spent: Any) -> int | None:
    """A duration as seconds and nanoseconds."""
    secs, nanos = obj(spent).get("secs"), obj(spent).get("nanos")
    if type(secs) is not int or type(nanos) is not int or not 0 <= secs < 1 << 31 or not 0 <= nanos < 1 << 31:
        return None
    return secs * 1_000 + nanos // 1_000_000


def completed(item: Record, reading: Reading) -> bool:
    """An item of the newest files' own record of what the terminal showed; ``False`` for one that is told otherwise."""
    kind = text(item.get("type")).lower()
    if kind in ("usermessage", "agentmessage"):
        say("user" if kind == "usermessage" else "assistant", words(item.get("content")), reading, NOTICE)
    elif kind == "reasoning":
        think([*_texts(item.get("summary_text")), *_texts(item.get("raw_content"))], reading, NOTICE)
    elif kind in ITEMS and (kind != "extension" or "action" in item):
        ITEMS[kind](item, reading)
    else:
        return False
    return True


def _texts(value: Any) -> list[str]:
    return [part for part in value if type(part) is str and part] if type(value) is list else []


ITEMS = {
    "commandexecution": ran,
    "filechange": patched,
    "mcptoolcall": served,
    "contextcompaction": compacted,
    "websearch": searched,
    "extension": searched,
    "imageview": viewed,
}
"""Items that show a call or what was done to the context, by their type."""
