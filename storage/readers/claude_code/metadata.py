"""Flat records without a place in the conversation: titles, modes, links, book-keeping.

They count as mapped. Most are no events: they are statements about the session, or repeat what other records
hold. Links and changes of the permission mode are events.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from affidavit.session.event import Draft, Reading
from affidavit.session.progress import PROGRESS
from affidavit.session.times import instant
from storage.readers.claude_code.assistant import read_assistant
from storage.readers.claude_code.user import read_user
from storage.readers.lenient import lines_of, obj, one_line, pretty, text, text_hash

Record = dict[str, Any]


def _kept(record: Record, reading: Reading) -> None:
    """Book-keeping of the client: the record stands in the log, and says nothing of its own."""


def _progress(record: Record, reading: Reading) -> None:
    """What was recorded while a call ran (before 2.1.82): folded into the call, whose result tells it again.

    A sub-agent's messages stand whole in its own log; here they tell which call started it, and what it did where that
    log is not to be had.
    """
    data = obj(record.get("data"))
    agent = data.get("agentId")
    call = record.get("parentToolUseID")
    if type(agent) is str and agent and type(call) is str and call:
        reading.lane_facts = {"lane": agent, "call": call}
        nested = data.get("message")
        if type(nested) is dict and reading.native:
            _nested(nested, agent, reading)


def _nested(record: Record, agent: str, reading: Reading) -> None:
    """A sub-agent's message within a record of progress: whatever it says, without the calls it makes."""
    read = {"user": read_user, "assistant": read_assistant}.get(text(record.get("type")))
    if read is None:
        return
    inner = Reading(lane=agent)
    read(record, inner)
    for draft in inner.drafts:
        told = Draft(
            draft.kind, "subagent" if draft.actor == "agent" else draft.actor, draft.text, path=f"progress{draft.path}",
            summary=draft.summary, tool=draft.tool, ok=draft.ok, refs=draft.refs, flags=(*draft.flags, PROGRESS),
            inferred=draft.inferred,
        )  # fmt: skip
        reading.drafts.append(told)
    reading.queue = (PROGRESS, agent)


RECENT = 5_000_000
"""Microseconds between keeping a version of a file and writing down the snapshot that says so, at most."""


def _file_history(record: Record, reading: Reading) -> None:
    """Which versions of files the client put aside before it changed them.

    A snapshot repeats every version kept so far; only the latest are told, and nothing where none is new.
    """
    snapshot = obj(record.get("snapshot"))
    kept = obj(snapshot.get("trackedFileBackups"))
    if record.get("type") == "file-history-delta":
        path = text(record.get("trackingPath"))
        kept = {path: record.get("backup", record)} if path else {}
    if reading.at is None:
        reading.at = text(snapshot.get("timestamp")) or None
    if not kept:
        return
    times = {path: text(about.get("backupTime")) if type(about) is dict else "" for path, about in kept.items()}
    latest = max(times.values())
    if record.get("isSnapshotUpdate") is False:
        then, now = instant(latest)[0], instant(reading.at)[0]
        if then is not None and now is not None and now - then > RECENT:
            return
    lines = []
    new = [path for path, time in times.items() if time[:19] == latest[:19]]
    for path in new:
        name = text(obj(kept[path]).get("backupFileName")) or "nothing: the file was not there"
        lines.append(f"{path}: {name}" + (f", {times[path]}" if times[path] else ""))
    before = f"; {len(kept) - len(new)} kept before" if len(kept) > len(new) else ""
    said = f"{len(lines)} file versions kept" if len(lines) > 1 else f"a file version kept: {one_line(lines[0], 150)}"
    reading.drafts.append(Draft("lifecycle", "runtime", "\n".join(lines), summary=said + before, refs=tuple(new)))


def _title(fact: str, key: str) -> Callable[[Record, Reading], None]:
    def read(record: Record, reading: Reading) -> None:
        title = record.get(key)
        if type(title) is str:
            reading.facts = {fact: title}
        else:
            reading.flags = (*reading.flags, "shape")

    return read


def _summary(record: Record, reading: Reading) -> None:
    """What a conversation was about, by the record it ended with: mostly one of another session."""
    said, leaf = record.get("summary"), record.get("leafUuid")
    if type(said) is str:
        reading.facts = {"title.summary": said}
        if type(leaf) is str and leaf:
            reading.facts["leaf"] = leaf
    else:
        reading.flags = (*reading.flags, "shape")


def _permission_mode(record: Record, reading: Reading) -> None:
    mode = lines_of(record.get("permissionMode"))
    reading.drafts.append(Draft("permission.decision", "user", f"mode: {mode}", summary=f"mode: {one_line(mode)}"))


def _queue(record: Record, reading: Reading) -> None:
    """What was typed while the agent worked waits in a queue, and is recorded again where it leaves it.

    Only versions that kept no attachments (before 2.1.9x) leave the sole trace of a message taken into a running
    turn here: an ``enqueue`` and a ``remove``. What leaves the queue by ``dequeue`` comes as a message of its own;
    ``popAll`` gives everything back to the person.
    """
    said = record.get("content")
    operation = record.get("operation")
    if operation == "enqueue" and type(said) is str and said:
        typed = not said.startswith("<task-notification>")
        actor = "user" if typed else "runtime"
        reading.drafts.append(Draft("lifecycle", actor, said, summary="queued: " + one_line(said, 180)))
        reading.queue = ("enqueue" if typed else "wait", text_hash(said))
    elif operation in ("remove", "popAll"):
        reading.queue = ("remove" if operation == "remove" else "clear", 0)


def _link(url: str, name: str) -> Callable[[Record, Reading], None]:
    def read(record: Record, reading: Reading) -> None:
        refs = tuple(value for key in (url, "path") if type(value := record.get(key)) is str and value)
        said = " ".join(filter(None, (name, text(record.get("title")), text(record.get("prRepository")))))
        number = record.get("prNumber")
        if type(number) is int:
            said += f" #{number}"
        reading.drafts.append(Draft("lifecycle", "runtime", "\n".join((said, *refs)), summary=said, refs=refs))

    return read


def _relocated(record: Record, reading: Reading) -> None:
    there = record.get("relocatedCwd")
    if type(there) is str:
        reading.facts = {"cwd": there}


def _worktree(record: Record, reading: Reading) -> None:
    about = record.get("worktreeSession")
    if type(about) is not dict:
        return
    facts = {
        fact: value
        for fact, key in (("cwd", "worktreePath"), ("git_branch", "worktreeBranch"), ("project", "originalCwd"))
        if type(value := about.get(key)) is str and value
    }
    reading.facts = facts or None
    where = text(about.get("worktreePath"))
    reading.drafts.append(
        Draft(
            "lifecycle",
            "runtime",
            pretty(about),
            summary="in worktree " + one_line(where, 180),
            refs=(where,) * bool(where),
        )
    )


READ: dict[str, Callable[[Record, Reading], None]] = {
    "summary": _summary,
    "progress": _progress,
    "file-history-snapshot": _file_history,
    "file-history-delta": _file_history,
    "ai-title": _title("title.ai", "aiTitle"),
    "custom-title": _title("title.custom", "customTitle"),
    "permission-mode": _permission_mode,
    "queue-operation": _queue,
    "pr-link": _link("prUrl", "pull request"),
    "frame-link": _link("frameUrl", "artifact"),
    "relocated": _relocated,
    "worktree-state": _worktree,
    **dict.fromkeys(
        (
            "agent-name", "agent-color", "agent-setting",
            "tag", "last-prompt", "mode", "bridge-session", "content-replacement", "launched", "started", "result",
            "atis-latch", "cost-state", "attribution-snapshot", "continued-in", "fork-context-ref",
            "ended-by-model", "history-suppression", "artifact-autoreact-ledger", "artifact-comment-monitor",
            "speculation-accept", "marble-origami-commit", "marble-origami-snapshot",
        ),
        _kept,
    ),
}  # fmt: skip
"""Types of flat records."""
