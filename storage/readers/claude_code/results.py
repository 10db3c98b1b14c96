"""What came back from a tool call: the observation, or the decision that it must not run."""

from __future__ import annotations

from typing import Any

from affidavit.session.event import Draft
from storage.readers.claude_code.blocks import words
from storage.readers.lenient import millis, one_line, text

REFUSED = "The user doesn't want to proceed with this tool use"
REASON = "the user said:"
UNSAID = "(eg. if it was a file edit"

NOT_DENIALS = frozenset({"interrupted", "cancelled", "canceled", "sibling-error"})
"""Words of ``toolDenialKind`` for calls that were stopped, not refused."""

BY_PERSON = frozenset({"user-rejected", "user_rejected", "rejected"})

HEAD = 400
"""Where in a result the client's own words about a refusal stand: at its beginning."""


def read_result(block: dict[str, Any], record: dict[str, Any], path: str) -> Draft:
    """A ``tool_result`` block: ``tool.finished``, or one ``permission.decision`` where the call was refused.

    Claude Code does not record decisions as such, only the refused call's result, so a decision is *inferred*.
    A result without ``is_error`` is the normal form of success. A call cancelled because another one beside it
    failed, or because the person interrupted, was not refused: it is an observation that is not ok.
    """
    structured = record.get("toolUseResult")
    said, good = words(block.get("content", block.get("text")))
    if not said and type(structured) is str:
        said = structured
    call = block.get("tool_use_id", record.get("sourceToolUseID"))
    draft = Draft(
        "tool.finished",
        "tool",
        said,
        path=path,
        call=call if type(call) is str else None,
        ok=True,
        flags=() if good and type(call) is str else ("shape",),
    )
    failed = block.get("is_error")
    if type(structured) is dict:
        _structured(structured, draft)
        if failed is None:
            failed = structured.get("is_error")
    elif failed is None and type(structured) is str:
        failed = structured.startswith("Error:")
    if failed is True:
        draft.ok = False
        _decision(draft, record)
    return draft


def _structured(result: dict[str, Any], draft: Draft) -> None:
    """Take from the structured twin of a result what its text does not say."""
    get = result.get
    spent = get("durationMs")
    if spent is None:
        spent = get("totalDurationMs")
    draft.millis = millis(spent)
    seconds = get("durationSeconds")
    if spent is None and isinstance(seconds, (int, float)):
        draft.millis = millis(seconds * 1000)
    if get("interrupted") is True:
        draft.ok = False
    agent = get("agentId")
    if type(agent) is str and agent:
        draft.spawns = agent
    refs = []
    inner = get("file")
    for value in (
        get("filePath"),
        inner.get("filePath") if type(inner) is dict else None,
        get("url"),
        get("persistedOutputPath"),
        get("outputFile"),
    ):
        if type(value) is str and value and value not in refs:
            refs.append(value)
    draft.refs = tuple(refs)


def _decision(draft: Draft, record: dict[str, Any]) -> None:
    """Make the draft a ``permission.decision`` if the record says, in whichever way, that the call was refused."""
    head = draft.text[:HEAD]
    kind = text(record.get("toolDenialKind"))
    if "Sibling tool call errored" in head:
        draft.summary = "cancelled: a call beside it failed"
        return
    if kind in NOT_DENIALS:
        draft.summary = f"{kind}: {one_line(draft.text, 160)}"
        return
    by_person = (
        kind in BY_PERSON
        or head.startswith((REFUSED, "User rejected tool use", "Permission prompt was aborted"))
        or text(record.get("toolUseResult")).startswith("User rejected tool use")
    )
    if by_person:
        why = _reason(draft.text) or one_line(text(record.get("userFeedback")), 160)
        _refuse(draft, "user", "rejected: " + why if why else "rejected")
    elif kind:
        _refuse(draft, "runtime", f"denied ({kind}): {one_line(draft.text, 160)}")
    elif head.startswith(("PreToolUse:", "Hook PreToolUse:")):
        _refuse(draft, "runtime", "blocked by a hook: " + one_line(draft.text, 160))
    elif head.startswith("Claude requested permissions") or (
        head.startswith("Permission to use ") and "denied" in head
    ):
        _refuse(draft, "runtime", "not permitted: " + one_line(draft.text, 160))


def _refuse(draft: Draft, actor: str, summary: str) -> None:
    draft.kind = "permission.decision"
    draft.actor = actor
    draft.inferred = True
    draft.summary = summary


def _reason(said: str) -> str:
    """What the person gave as the reason, on one line."""
    _, found, reason = said.partition(REASON)
    return one_line(reason, 160) if found else ""
