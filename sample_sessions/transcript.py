"""Writes session logs in the shape Claude Code 2.1 leaves on disk, from invented conversations.

Everything that a log holds beside the words (ids, times, token counts) comes from the arguments alone: the same
story makes the same bytes on every machine.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from random import Random
from typing import Any
from uuid import UUID

BASE62 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
REJECTED = (
    "The user doesn't want to proceed with this tool use. The tool use was rejected (eg. if it was a file edit, "
    "the new_string was NOT written to the file). To tell you how to proceed, the user said:\n"
)
"""How the agent words a refusal in its own log; readers know a refusal by it."""


@dataclass(frozen=True)
class Place:
    """Where a session runs: what stands in every record of its log."""

    session: str
    cwd: str
    branch: str
    version: str
    model: str
    slug: str


@dataclass(frozen=True)
class Call:
    """A tool call that was made: its id and the record that holds it."""

    id: str
    record: str


def think(text: str) -> dict[str, Any]:
    """A block of reasoning."""
    return {"type": "thinking", "thinking": text, "signature": ""}


def say(text: str) -> dict[str, Any]:
    """A block of text said to the person."""
    return {"type": "text", "text": text}


def call(name: str, **arguments: Any) -> dict[str, Any]:
    """A block asking for a tool; its id is given when it is written."""
    return {"type": "tool_use", "id": "", "name": name, "input": arguments}


def numbered(text: str, first: int = 1) -> str:
    """A file's lines as the reading tool shows them."""
    return "\n".join(f"{number:6d}→{line}" for number, line in enumerate(text.splitlines(), first))


@dataclass
class Transcript:
    """One log file being written, record by record; ``clock`` moves only when it is told to."""

    place: Place
    clock: datetime
    random: Random
    agent: str | None = None
    lines: list[str] = field(default_factory=list)
    parent: str | None = None
    prompt_id: str | None = None
    context: int = 14_000
    asked: datetime = field(init=False)

    def __post_init__(self) -> None:
        self.asked = self.clock

    def text(self) -> str:
        """The whole file so far."""
        return "".join(line + "\n" for line in self.lines)

    def wait(self, seconds: float) -> None:
        """Lets time pass."""
        self.clock += timedelta(seconds=seconds)

    def stamp(self) -> str:
        """Now, as the log writes it: UTC with milliseconds."""
        return self.clock.strftime("%Y-%m-%dT%H:%M:%S.") + f"{self.clock.microsecond // 1000:03d}Z"

    def uuid(self) -> str:
        """A fresh record id."""
        return str(UUID(int=self.random.getrandbits(128), version=4))

    def token(self, prefix: str, length: int = 22) -> str:
        """A fresh id of the provider's kind."""
        return prefix + "".join(self.random.choices(BASE62, k=length))

    def flat(self, type: str, **fields: Any) -> None:
        """A record that belongs to no place in the conversation: titles, modes, file history."""
        self._write({"type": type, **fields})

    def record(self, type: str, after: float = 0.05, parent: str | None = "", **fields: Any) -> str:
        """A record of the conversation, ``after`` seconds later, following the last one (or ``parent``)."""
        self.wait(after)
        id = self.uuid()
        place = self.place
        head: dict[str, Any] = {
            "parentUuid": self.parent if parent == "" else parent,
            "isSidechain": self.agent is not None,
        }
        if self.agent is not None:
            head["agentId"] = self.agent
        tail = {
            "uuid": id,
            "timestamp": self.stamp(),
            "userType": "external",
            "entrypoint": "cli",
            "cwd": place.cwd,
            "sessionId": place.session,
            "version": place.version,
            "gitBranch": place.branch,
            "slug": place.slug,
        }
        self._write({**head, "type": type, **fields, **tail})
        self.parent = id
        return id

    def prompt(self, text: str, after: float = 1.0, parent: str | None = "", **fields: Any) -> str:
        """A person's message: it begins a turn."""
        self.prompt_id = self.uuid()
        self.context += len(text) // 3
        self.asked = self.clock + timedelta(seconds=after)
        return self.record(
            "user",
            after,
            parent,
            promptId=self.prompt_id,
            message={"role": "user", "content": text},
            permissionMode="default",
            origin={"kind": "human"},
            **fields,
        )

    def meta(self, text: str, after: float = 0.02) -> str:
        """Text the program itself put into the conversation, not a person."""
        return self.record("user", after, message={"role": "user", "content": text}, isMeta=True)

    def command(self, name: str, output: str, after: float = 4.0) -> None:
        """A slash command a person typed, and what it printed."""
        shown = f"<command-name>{name}</command-name>\n<command-message>{name[1:]}</command-message>"
        self.record("user", after, message={"role": "user", "content": shown + "\n<command-args></command-args>"})
        printed = f"<local-command-stdout>{output}</local-command-stdout>"
        self.record("user", 0.01, message={"role": "user", "content": printed})

    def reply(self, *blocks: Mapping[str, Any], after: float = 2.4, pace: float = 0.6) -> list[Call]:
        """One model message, a record for each block; the last record carries the final token count."""
        message, request, calls = self.token("msg_01"), self.token("req_011C", 20), []
        fresh = self.random.randint(180, 900)
        total = sum(len(json.dumps(block)) for block in blocks) // 3
        for number, block in enumerate(blocks, 1):
            last = number == len(blocks)
            content = dict(block)
            if content["type"] == "tool_use":
                content["id"] = self.token("toolu_01")
            if content["type"] == "thinking":
                content["signature"] = self.token("Eq", 60) + "=="
            id = self.record(
                "assistant",
                after if number == 1 else pace,
                requestId=request,
                message={
                    "model": self.place.model,
                    "id": message,
                    "type": "message",
                    "role": "assistant",
                    "content": [content],
                    "stop_reason": ("tool_use" if content["type"] == "tool_use" else "end_turn") if last else None,
                    "stop_sequence": None,
                    "usage": self._usage(fresh, total if last else min(total, 3 * number)),
                },
            )
            if content["type"] == "tool_use":
                calls.append(Call(content["id"], id))
        self.context += fresh + total
        return calls

    def result(self, of: Call, text: str, twin: Any, after: float = 0.2, error: bool = False, **fields: Any) -> str:
        """What a tool gave back: ``text`` for the model, ``twin`` as the program's own structured copy."""
        self.context += len(text) // 3
        return self.record(
            "user",
            after,
            of.record,
            promptId=self.prompt_id,
            message={
                "role": "user",
                "content": [{"tool_use_id": of.id, "type": "tool_result", "content": text, "is_error": error}],
            },
            toolUseResult=twin,
            sourceToolAssistantUUID=of.record,
            **fields,
        )

    def ran(self, of: Call, output: str, seconds: float, code: int = 0) -> str:
        """What a shell command printed; a code other than 0 is an error, as the agent reports it."""
        if code:
            shown = f"Exit code {code}\n{output}"
            return self.result(of, shown, f"Error: {shown}", seconds, error=True)
        twin = {"stdout": output, "stderr": "", "interrupted": False, "isImage": False}
        return self.result(of, output, twin, seconds)

    def read(self, of: Call, path: str, content: str, first: int = 1) -> str:
        """A file as the reading tool gives it."""
        lines = len(content.splitlines())
        file = {"filePath": path, "content": content, "numLines": lines, "startLine": first, "totalLines": lines}
        return self.result(of, numbered(content, first), {"type": "text", "file": file}, 0.08)

    def edited(self, of: Call, path: str, before: str, old: str, new: str) -> str:
        """A file that was changed by replacing ``old`` with ``new``."""
        start = before.index(old)
        line = before[:start].count("\n") + 1
        patch = [f"-{text}" for text in old.splitlines()] + [f"+{text}" for text in new.splitlines()]
        after = before.replace(old, new, 1)
        context = numbered("\n".join(after.splitlines()[line - 1 : line + 3]), line)
        twin = {
            "filePath": path,
            "oldString": old,
            "newString": new,
            "originalFile": before,
            "structuredPatch": [
                {
                    "oldStart": line,
                    "oldLines": old.count("\n") + 1,
                    "newStart": line,
                    "newLines": new.count("\n") + 1,
                    "lines": patch,
                }
            ],
            "userModified": False,
            "replaceAll": False,
        }
        return self.result(of, f"The file {path} has been updated. Result of the edit:\n{context}", twin, 0.1)

    def refused(self, of: Call, reason: str, after: float) -> str:
        """The person said no to a tool call, and why."""
        return self.result(of, REJECTED + reason, f"Error: {REJECTED}{reason}", after, error=True)

    def attach(self, type: str, after: float = 0.03, **fields: Any) -> str:
        """Something the program put beside the conversation: a hook's word, a file, a reminder."""
        return self.record("attachment", after, attachment={"type": type, **fields})

    def hook(self, event: str, name: str, command: str, output: str, millis: int, of: Call | None = None) -> str:
        """A hook that ran well."""
        return self.attach(
            "hook_success",
            millis / 1000,
            hookName=f"{event}:{name}" if name else event,
            hookEvent=event,
            toolUseID=of.id if of else self.uuid(),
            content="",
            stdout=output,
            stderr="",
            exitCode=0,
            command=command,
            durationMs=millis,
        )

    def system(self, subtype: str, after: float = 0.02, parent: str | None = "", **fields: Any) -> str:
        """A record of the program about itself."""
        return self.record("system", after, parent, subtype=subtype, isMeta=False, **fields)

    def stopped(self, hook: str | None = None) -> None:
        """The end of the agent's work on a turn."""
        if hook:
            self.system(
                "stop_hook_summary",
                0.1,
                hookCount=1,
                hookInfos=[{"command": hook, "durationMs": 84}],
                hookErrors=[],
                preventedContinuation=False,
                stopReason="",
                hasOutput=False,
                level="suggestion",
                toolUseID=self.uuid(),
            )
        self.system("turn_duration", durationMs=int((self.clock - self.asked).total_seconds() * 1000))

    def _usage(self, fresh: int, output: int) -> dict[str, Any]:
        return {
            "input_tokens": 4,
            "cache_creation_input_tokens": fresh,
            "cache_read_input_tokens": self.context,
            "cache_creation": {"ephemeral_5m_input_tokens": fresh, "ephemeral_1h_input_tokens": 0},
            "output_tokens": max(output, 1),
            "service_tier": "standard",
        }

    def _write(self, record: Mapping[str, Any]) -> None:
        self.lines.append(json.dumps(record, ensure_ascii=False, separators=(",", ":")))


def snapshot(log: Transcript, message: str, files: Sequence[str] = ()) -> None:
    """The file versions the agent keeps before it changes anything."""
    backups = {
        path: {"backupFileName": log.token("", 16).lower() + "@v1", "version": 1, "backupTime": log.stamp()}
        for path in files
    }
    log.flat(
        "file-history-snapshot",
        messageId=message,
        snapshot={"messageId": message, "trackedFileBackups": backups, "timestamp": log.stamp()},
        isSnapshotUpdate=bool(files),
    )
