"""What the terminal was told: of it only what the conversation itself does not say."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from affidavit.session.event import Draft, Reading, Usage
from affidavit.session.policies import ROLLBACK, TOTALS
from storage.readers.codex import shown
from storage.readers.codex.settings import read_settings
from storage.readers.lenient import compact, count, lines_of, millis, obj, one_line, pretty, text

Record = dict[str, Any]

MOST_TURNS = 1 << 31


def read_notice(payload: Record, reading: Reading) -> bool:
    """A notice; ``False`` for a type nobody knows."""
    read = NOTICES.get(text(payload.get("type")))
    if read is None:
        return False
    read(payload, reading)
    return True


def _tell(reading: Reading, payload: Record, summary: str, kind: str = "lifecycle", ok: bool | None = None) -> None:
    reading.drafts.append(Draft(kind, "runtime", pretty(payload), summary=one_line(summary), ok=ok))


def _tokens(payload: Record, reading: Reading) -> None:
    """Tokens of the last request, and of the session so far.

    The same notice comes again and again: it is known by the totals it states, which grow with every request. Where
    they begin anew, so does the count. Input includes what was read from the cache; here the two stand apart. A notice
    of no tokens (how full a compacted context is) repeats the totals before it: it must not replace that request's.
    """
    info = obj(payload.get("info"))
    last, total = obj(info.get("last_token_usage")), obj(info.get("total_token_usage"))
    if last:
        took, cached, gave = _counts(last, reading)
        sums = "/".join(str(total.get(name)) for name in ("input_tokens", "cached_input_tokens", "output_tokens"))
        key = f"tokens {sums}" if total else f"tokens at {reading.at} {took}/{cached}/{gave}"
        if took or gave:
            reading.usage = Usage(key, None, took - cached, gave, cached, 0)
        _tell(reading, payload, f"tokens: {took} in ({cached} from the cache), {gave} out")
    if total:
        _totals(payload, total, reading, told=bool(last))


def _counts(tokens: Record, reading: Reading) -> tuple[int, int, int]:
    """Tokens (in, of those from the cache, out)."""
    took, gave = count(tokens.get("input_tokens")), count(tokens.get("output_tokens"))
    cached = count(tokens.get("cached_input_tokens", tokens.get("cache_read_input_tokens"))) or 0
    if took is None or gave is None:
        reading.flags = (*reading.flags, "shape")
    return took or 0, min(cached, took or 0), gave or 0


def _totals(payload: Record, total: Record, reading: Reading, *, told: bool) -> None:
    """Tokens of the session so far. Where the last request's are not ``told``, they are what is more than before."""
    took, cached, gave = _counts(total, Reading() if told else reading)
    reading.queue = (TOTALS, (took, cached, gave, told))
    if not told:
        if took or gave:
            reading.usage = Usage(f"tokens {took}/{cached}/{gave}", None, took - cached, gave, cached, 0)
        _tell(reading, payload, f"tokens so far: {took} in ({cached} from the cache), {gave} out")


def _started(payload: Record, reading: Reading) -> None:
    _tell(reading, payload, "task started")


def _done(payload: Record, reading: Reading) -> None:
    if usage := obj(payload.get("usage")):
        _totals(payload, usage, reading, told=False)
        reading.drafts.clear()
    reading.drafts.append(
        Draft("lifecycle", "runtime", pretty(payload), summary="task done", millis=millis(payload.get("duration_ms")))
    )


def _aborted(payload: Record, reading: Reading) -> None:
    why = text(payload.get("reason"))
    _tell(reading, payload, f"turn ended early: {why or 'no reason recorded'}", "error", ok=False)


def _error(payload: Record, reading: Reading) -> None:
    inner = payload.get("error")
    said = text(payload.get("message")) or text(obj(inner).get("message")) or lines_of(inner)
    reading.drafts.append(Draft("error", "runtime", said or compact(payload), ok=False))


def _rolled_back(payload: Record, reading: Reading) -> None:
    turns = payload.get("num_turns")
    told = f"the last {turns} turns" if type(turns) is int else "turns"
    if type(turns) is int and 0 < turns < MOST_TURNS:
        reading.queue = (ROLLBACK, turns)
    _tell(reading, payload, f"rolled back: {told} were taken out of the context; they stay in the log")


def _named(payload: Record, reading: Reading) -> None:
    name = text(payload.get("thread_name"))
    if name:
        reading.facts = {"title.custom": name}
    _tell(reading, payload, f"named {name}" if name else "name taken away")


def _goal(payload: Record, reading: Reading) -> None:
    goal = obj(payload.get("goal"))
    _tell(reading, payload, f"goal {text(goal.get('status'))}: {text(goal.get('objective'))}")


def _review(payload: Record, reading: Reading) -> None:
    hint = text(payload.get("user_facing_hint")) or compact(obj(payload.get("target")))
    _tell(reading, payload, f"review begins: {hint}")


def _reviewed(payload: Record, reading: Reading) -> None:
    found = obj(payload.get("review_output"))
    findings = found.get("findings")
    many = len(findings) if type(findings) is list else 0
    said = text(found.get("overall_explanation")) or text(found.get("overall_correctness"))
    told = f"{many} finding" + ("" if many == 1 else "s")
    _tell(reading, payload, f"review done: {told}" + (f"; {said}" if said else ""))


def _guardian(payload: Record, reading: Reading) -> None:
    """The client's own judgement of a command that asked for more than it was allowed."""
    status = text(payload.get("status"))
    ok = {"approved": True, "denied": False, "rejected": False}.get(status)
    action = obj(payload.get("action"))
    said = text(action.get("command")) or compact(action)
    reading.drafts.append(
        Draft(
            "permission.decision", "runtime", pretty(payload), ok=ok,
            summary=one_line(f"guardian {status or 'judged'}: {said}"),
        )
    )  # fmt: skip


def _agent(payload: Record, reading: Reading) -> None:
    kind = text(payload.get("type")).removesuffix("_end").replace("_", " ").replace("collab ", "")
    who = text(payload.get("new_agent_nickname")) or text(payload.get("receiver_agent_nickname"))
    said = text(payload.get("prompt"))
    _tell(reading, payload, " ".join(part for part in (kind, who) if part) + (f": {said}" if said else ""))


def _plain(payload: Record, reading: Reading) -> None:
    kind = text(payload.get("type")).replace("_", " ").replace("/", " ")
    said = text(payload.get("message"))
    _tell(reading, payload, kind + (f": {said}" if said else ""))


def _completed(payload: Record, reading: Reading) -> None:
    """An item of the newest files' own record of what the terminal showed."""
    item = obj(payload.get("item"))
    if not shown.completed(item, reading):
        kind = text(item.get("type"))
        said = text(item.get("text")) or text(item.get("query")) or compact(item)
        _tell(reading, payload, f"{kind or 'item'}: {said}")


REPEATED = frozenset(
    {
        "exec_command_begin", "exec_command_output_delta", "patch_apply_begin", "mcp_tool_call_begin",
        "web_search_begin", "image_generation_end", "dynamic_tool_call_request", "turn_diff", "agent_message_delta",
        "agent_reasoning_delta", "agent_reasoning_section_break",
    }
)  # fmt: skip
"""Notices of parts of what another record tells whole."""

NOTICES: dict[str, Callable[[Record, Reading], None]] = {
    **dict.fromkeys(REPEATED, lambda _payload, _reading: None),
    "user_message": shown.user,
    "agent_message": shown.agent,
    "agent_reasoning": shown.thought,
    "agent_reasoning_raw_content": shown.thought,
    "exec_command_end": shown.ran,
    "patch_apply_end": shown.patched,
    "mcp_tool_call_end": shown.served,
    "dynamic_tool_call_response": shown.answered,
    "view_image_tool_call": shown.viewed,
    "web_search_end": shown.searched,
    "context_compacted": shown.compacted,
    "token_count": _tokens,
    "task_started": _started,
    "turn_started": _started,
    "task_complete": _done,
    "turn_complete": _done,
    "turn.completed": _done,
    "turn_aborted": _aborted,
    "error": _error,
    "stream_error": _error,
    "warning": _plain,
    "thread_rolled_back": _rolled_back,
    "thread_name_updated": _named,
    "thread_goal_updated": _goal,
    "thread_settings_applied": read_settings,
    "entered_review_mode": _review,
    "exited_review_mode": _reviewed,
    "guardian_assessment": _guardian,
    "sub_agent_activity": _agent,
    "collab_agent_spawn_end": _agent,
    "collab_agent_interaction_end": _agent,
    "collab_waiting_end": _agent,
    "collab_close_end": _agent,
    "collab_resume_end": _agent,
    "item_completed": _completed,
    "undo_completed": _plain,
    "account/rateLimits/updated": _plain,
    "plan_update": _plain,
    "background_event": _plain,
    "shutdown_complete": _plain,
}
"""Notices by their type; what is not here is unknown."""
