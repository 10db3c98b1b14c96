"""Records of type ``system``: what the client says of itself."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from affidavit.session.event import PARTIAL, Draft, Reading
from storage.readers.claude_code.user import command_line, is_command
from storage.readers.lenient import compact, lines_of, millis, obj, one_line, pretty, text

Record = dict[str, Any]


def read_system(record: Record, reading: Reading) -> None:
    """A ``system`` record by its subtype; one of an unknown subtype is counted unknown and kept whole."""
    subtype = record.get("subtype")
    read = READ.get(subtype) if type(subtype) is str else None
    if read is None:
        reading.status = "unknown"
        summary = f"unknown system record {one_line(lines_of(subtype), 80)}"
        reading.drafts.append(Draft("unknown", "runtime", compact(record), summary=summary))
        return
    reading.drafts.append(read(record))


def _turn_duration(record: Record) -> Draft:
    spent = millis(record.get("durationMs"))
    took = f"turn took {spent / 1000:.1f} s" if spent is not None else "turn ended"
    waiting = record.get("pendingBackgroundAgentCount")
    if type(waiting) is int and waiting:
        took += f", {waiting} agents still working"
    return Draft("lifecycle", "runtime", took, millis=spent)


def _stop_hooks(record: Record) -> Draft:
    """What ran when the agent stopped. Not ok where a hook failed or kept the agent from stopping."""
    infos = record.get("hookInfos")
    lines, spent = [], 0
    for info in infos if type(infos) is list else []:
        lines.append(lines_of(obj(info).get("command")) or compact(info))
        spent += millis(obj(info).get("durationMs")) or 0
    errors = record.get("hookErrors")
    failed = [lines_of(error) for error in errors] if type(errors) is list else []
    stopped = record.get("preventedContinuation") is True
    reason = text(record.get("stopReason"))
    ran = len(lines)
    lines.extend(part for part in (*failed, reason, lines_of(record.get("hookAdditionalContext") or None)) if part)
    summary = "1 hook ran as the agent stopped" if ran == 1 else f"{ran} hooks ran as the agent stopped"
    if stopped:
        summary += f", one kept it from going on: {one_line(reason, 100)}"
    elif failed:
        summary += f", {len(failed)} failed: {one_line(failed[0], 100)}"
    ok = not (failed or stopped) if ran or failed else None
    return Draft("lifecycle", "runtime", "\n".join(lines), summary=summary, millis=spent or None, ok=ok)


def _compaction(record: Record) -> Draft:
    about = obj(record.get("compactMetadata")) or obj(record.get("microcompactMetadata"))
    how = text(about.get("trigger")) or text(record.get("trigger")) or "compaction"
    before, after = about.get("preTokens"), about.get("postTokens")
    said = f"{how}, from {before} tokens" if type(before) is int else how
    if type(after) is int:
        said += f" to {after}"
    content = text(record.get("content"))
    full = "\n".join(filter(None, (content, pretty(about) if about else "")))
    return Draft("compaction", "runtime", full, summary=said, millis=millis(about.get("durationMs")))


def _partial_compaction(record: Record) -> Draft:
    """Some tool results were taken out of the context; the rest stays."""
    draft = _compaction(record)
    draft.flags = (PARTIAL,)
    return draft


def _error(record: Record) -> Draft:
    """An API error, with what the client meant to do about it."""
    error = record.get("error")
    about = obj(error)
    inner = obj(obj(about.get("error")).get("error")) or obj(about.get("error"))
    said = next(
        filter(None, map(text, (about.get("formatted"), about.get("message"), inner.get("message"), error))), ""
    )
    said = said or text(record.get("content"))
    status, attempt, most = about.get("status"), record.get("retryAttempt"), record.get("maxRetries")
    summary = one_line(said, 140) or "API error"
    if type(status) is int and str(status) not in summary:
        summary = f"{status}: {summary}"
    if type(attempt) is int and type(most) is int:
        summary += f" (attempt {attempt} of {most})"
    full = "\n".join(filter(None, (said, pretty(about) if about else "")))
    return Draft("error", "runtime", full or compact(record), summary=summary, ok=False)


def _refusal(record: Record) -> Draft:
    said = " ".join(filter(None, map(text, (record.get("apiRefusalCategory"), record.get("apiRefusalExplanation")))))
    to = text(record.get("fallbackModel"))
    summary = "the model refused" + (f": {one_line(said, 120)}" if said else "") + (f", now {to}" if to else "")
    full = "\n".join(filter(None, (text(record.get("content")), said)))
    return Draft("error", "runtime", full, summary=summary, ok=False)


def _command(record: Record) -> Draft:
    """A command that never reached the model, as the person typed it, or what it printed."""
    said = lines_of(record.get("content"))
    if is_command(said):
        return Draft("context.injected", "user", said, summary=command_line(said))
    return Draft("context.injected", "runtime", said)


def _memory_saved(record: Record) -> Draft:
    paths = record.get("writtenPaths")
    refs = tuple(path for path in paths if type(path) is str) if type(paths) is list else ()
    said = "\n".join(refs) or compact(record)
    return Draft("memory.write", "runtime", said, summary=f"{len(refs)} memory files saved", refs=refs)


def _told(
    what: str, kind: str = "lifecycle", ok: bool | None = None, flags: tuple[str, ...] = ()
) -> Callable[[Record], Draft]:
    """A record that says one thing in ``content``."""

    def read(record: Record) -> Draft:
        said = lines_of(record.get("content"))
        url = record.get("url")
        return Draft(
            kind,
            "runtime",
            said or what,
            summary=f"{what}: {one_line(said, 160)}" if said else what,
            millis=millis(record.get("durationMs")),
            refs=(url,) if type(url) is str and url else (),
            ok=ok,
            flags=flags,
        )

    return read


READ: dict[str, Callable[[Record], Draft]] = {
    "turn_duration": _turn_duration,
    "stop_hook_summary": _stop_hooks,
    "compact_boundary": _compaction,
    "microcompact_boundary": _partial_compaction,
    "api_error": _error,
    "error": _error,
    "api_refusal": _refusal,
    "model_refusal_fallback": _refusal,
    "model_fallback": _told("model changed"),
    "local_command": _command,
    "away_summary": _told("while you were away"),
    "informational": _told("information"),
    "bridge_status": _told("remote control"),
    "session_start": _told("session started"),
    "scheduled_task_fire": _told("timer"),
    "agents_killed": _told("agents stopped"),
    "permission_retry": _told("permission given afterwards"),
    "memory_saved": _memory_saved,
    "api_metrics": _told("API figures"),
    "file_snapshot": _told("file snapshot"),
    "thinking": _told("thinking"),
    "snip_boundary": _told("part of the context removed", "compaction", flags=(PARTIAL,)),
    "snip_marker": _told("part of the context removed", "compaction", flags=(PARTIAL,)),
}
"""Subtypes of ``system`` records."""
