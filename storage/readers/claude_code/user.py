"""Records of type ``user``: what a person typed, what came back from tools, and what the client put in between.

Who a text comes from:

* A person's message is ``user.message`` and begins a turn. So do a slash command (``<command-name>``) and a
  shell line typed with ``!`` (``<bash-input>``): the person typed them, and what follows answers them. Their
  output does not, nor does anything marked meta, a notification, a compaction's summary, or a message that
  another session, a coordinator or a timer sent.
* The turn's key is ``promptId``, which all records of one turn share, or the record's own id where older
  versions write none.
* In a sub-agent's lane nobody types: a text there is its task, a ``user.message`` of the agent that gave it.
"""

from __future__ import annotations

from hashlib import sha256
from typing import Any

from affidavit.session.event import Draft, Reading
from affidavit.session.sidechains import SIDE
from storage.readers.claude_code.assistant import unread_block
from storage.readers.claude_code.blocks import SPOKEN
from storage.readers.claude_code.results import read_result
from storage.readers.lenient import LARGE, lines_of, one_line, stands_twice, text_hash, text_name

Record = dict[str, Any]

NOT_PEOPLE = frozenset(
    {"task-notification", "coordinator", "peer", "teammate", "auto-continuation", "scheduled", "system", "hook"}
)
"""Values of ``origin.kind`` that say no person sent this."""

AGENTS = frozenset({"coordinator", "peer", "teammate"})
"""Those of them that say an agent did."""

INTERRUPTED = frozenset({"[Request interrupted by user]", "[Request interrupted by user for tool use]"})

LONGEST_MARK = 80

COMMANDS = frozenset({"command-name", "command-message", "bash-input"})
"""Tags a text begins with where the person typed a command."""

PUT_IN = {
    "local-command-stdout": "output of a command",
    "local-command-stderr": "errors of a command",
    "local-command-caveat": "note on local commands",
    "bash-stdout": "output of a shell line",
    "bash-stderr": "errors of a shell line",
    "system-reminder": "system reminder",
    "task-notification": "task notification",
    "agent-notification": "agent notification",
    "teammate-message": "message of a teammate",
    "agent-message": "message of an agent",
    "cross-session-message": "message of another session",
    "ide_opened_file": "file opened in the IDE",
    "ide_selection": "lines selected in the IDE",
    "ide_diagnostics": "diagnostics of the IDE",
    "new-diagnostics": "new diagnostics",
    "user-prompt-submit-hook": "output of a hook",
    "session-start-hook": "output of a hook",
    "mcp-resource-update": "update of an MCP resource",
    "mcp-polling-update": "update of an MCP resource",
    "tick": "timer",
}
"""Tags a text begins with where the client wrote it, and what such a text is."""


def read_user(record: Record, reading: Reading) -> None:
    """A ``user`` record: see the module."""
    message = record.get("message")
    if type(message) is dict:
        content = message.get("content")
    else:
        reading.flags = (*reading.flags, "shape")
        content = message
    meta = record.get("isMeta") is True
    reading.leaf = not meta
    source = _source(record, reading, meta)
    drafts = reading.drafts
    if type(content) is str:
        _said(content, "", source, record, reading)
    elif type(content) is list and content:
        for number, block in enumerate(content):
            path = str(number) if number and drafts else ""
            kind = block.get("type") if type(block) is dict else None
            if kind == "tool_result":
                drafts.append(read_result(block, record, path))
            elif kind == "text" and type(block.get("text")) is str:
                _said(block["text"], path, source, record, reading)
            elif type(kind) is str and kind in SPOKEN:
                _said(SPOKEN[kind](block), path, source, record, reading)
            else:
                drafts.append(unread_block(block, path))
        if record.get("toolUseResult") is not None or len(content) > 1:
            _twice(record, content, drafts)
    else:
        drafts.append(unread_block(content, ""))


def _twice(record: Record, content: list[Any], drafts: list[Draft]) -> None:
    """Flag a record that holds a large value twice; looked for only where one is large enough to matter."""
    large = any(len(draft.text) >= LARGE for draft in drafts) or any(map(_holds_bytes, content))
    if large and stands_twice(record):
        drafts[0].flags = (*drafts[0].flags, "stored_twice")


def _holds_bytes(block: Any) -> bool:
    if type(block) is not dict:
        return False
    inner = block.get("content")
    return type(block.get("source")) is dict or (
        type(inner) is list and any(type(part) is dict and type(part.get("source")) is dict for part in inner)
    )


def _source(record: Record, reading: Reading, meta: bool) -> str:
    """Who the record's text comes from: ``person``, ``agent``, ``client`` or ``summary``."""
    if record.get("isCompactSummary") is True:
        return "summary"
    if meta:
        return "client"
    return _sender(record.get("origin"), record.get("promptSource") == "system", reading)


def _sender(origin: Any, by_client: bool, reading: Reading) -> str:
    """Who sent a text, from its recorded origin and lane: ``person``, ``agent`` or ``client``."""
    kind = origin.get("kind") if type(origin) is dict else None
    if type(kind) is str and kind in NOT_PEOPLE:
        return "agent" if reading.lane and kind in AGENTS else "client"
    if reading.lane:
        return "agent"
    return "client" if by_client else "person"


def _tag(said: str) -> str:
    """The tag a text begins with, if it begins with one."""
    head = said[:80].lstrip()
    if head[:1] != "<":
        return ""
    name: str = head[1 : head.find(">")]
    return name.split(" ", 1)[0] if name else ""


def _said(said: str, path: str, source: str, record: Record, reading: Reading) -> None:
    """Add the event of one text of a ``user`` record, and begin a turn where a person speaks."""
    if source == "summary":
        summary = "summary of what came before"
        reading.drafts.append(Draft("context.injected", "runtime", said, path=path, summary=summary))
        return
    tag = _tag(said)
    put_in = PUT_IN.get(tag)
    if source == "client" or put_in:
        actor = "agent" if tag in ("teammate-message", "agent-message", "cross-session-message") else "runtime"
        about = f"{put_in}: {_inside(said, 160)}" if put_in else None
        reading.drafts.append(Draft("context.injected", actor, said, path=path, summary=about))
        return
    if len(said) < LONGEST_MARK and said.strip() in INTERRUPTED:
        draft = Draft("lifecycle", "user", said, path=path, summary="interrupted by the user", inferred=True)
        reading.drafts.append(draft)
        return
    command = command_line(said) if tag in COMMANDS else ""
    draft = Draft(
        "user.message",
        "user" if source == "person" else "agent",
        said,
        path=path,
        summary=command or None,
        flags=() if said else ("withheld_or_empty",),
    )
    reading.drafts.append(draft)
    if reading.lane == SIDE and not reading.parent:
        reading.prompt = text_name(said)
    if source == "person":
        begin_turn(record.get("promptId"), said, reading)
        if not (command and " " not in command) and (title := command or one_line(said)):
            reading.facts = reading.facts or {}
            reading.facts["title.prompt"] = title


def begin_turn(prompt: Any, said: str, reading: Reading) -> None:
    """Let the reading begin a turn: keyed by the prompt's id, else by the record's, else by what was said."""
    reading.queue = ("said", text_hash(said))
    if reading.prompt is not None:
        return
    if type(prompt) is str and prompt:
        reading.prompt = prompt
    elif reading.native:
        reading.prompt = reading.native
    else:
        names = f"{reading.at}\0{said}".encode("utf-8", "surrogatepass")
        reading.prompt = "=" + sha256(names).hexdigest()[:32]


def _between(said: str, tag: str) -> str:
    _, found, after = said.partition(f"<{tag}>")
    return after.partition(f"</{tag}>")[0].strip() if found else ""


def _inside(said: str, limit: int) -> str:
    """The first line of what stands within the tag a text begins with."""
    return one_line(said[said.find(">") + 1 :].partition("</")[0], limit)


def is_command(said: str) -> bool:
    """Whether a recorded text is a command a person typed."""
    return _tag(said) in COMMANDS


def command_line(said: str) -> str:
    """A recorded command as it was typed: ``/name arguments`` or ``!line``."""
    line = _between(said, "bash-input")
    if line:
        return one_line("!" + line)
    name = _between(said, "command-name") or "/" + _between(said, "command-message").split(" ", 1)[0]
    return one_line(f"{name} {_between(said, 'command-args')}")


def read_queued(attachment: Record, reading: Reading) -> None:
    """An attachment ``queued_command``: what reached the model while it worked.

    A person's message that is taken into a running turn stands in the log in no other record, so it is that
    person's ``user.message`` and begins a turn. One that waited for the turn's end is written as a ``user``
    record instead, under the id it was queued with, which is the key here too; the ``queue-operation`` of
    either repeats its text and begins nothing.
    """
    prompt = attachment.get("prompt")
    if type(prompt) is list:
        said = "\n".join(
            SPOKEN[block["type"]](block)
            if type(block) is dict and type(block.get("type")) is str and block["type"] in SPOKEN
            else lines_of(block)
            for block in prompt
        )
    else:
        said = lines_of(prompt)
    mode = attachment.get("commandMode")
    tag = _tag(said)
    by_client = attachment.get("isMeta") is True or mode == "task-notification" or tag in PUT_IN
    sender = "client" if by_client else _sender(attachment.get("origin"), False, reading)
    if sender == "client":
        about = _inside(said, 120) if tag else one_line(said, 120)
        summary = f"queued {PUT_IN.get(tag) or 'message'}: {about}"
        reading.drafts.append(Draft("context.injected", "runtime", said, summary=summary))
        return
    actor = "user" if sender == "person" else "agent"
    reading.drafts.append(Draft("user.message", actor, said, flags=() if said else ("withheld_or_empty",)))
    if sender == "person" and mode in (None, "prompt"):
        begin_turn(attachment.get("source_uuid"), said, reading)
