"""Four ways a context fails, and six smells, found in what stood before a model: our own inputs or a foreign log's.

A finding names the texts it stands on. It points to where a person should look.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Literal, NamedTuple

from affidavit.context.constraints import constraints_in, still_said

Failure = Literal["token_explosion", "stale_content", "lost_constraint", "trust_pollution"]

FAILURES: dict[Failure, str] = {
    "token_explosion": "the texts before the model are too many or too long for what is asked",
    "stale_content": "a file's text stands there older than a later edit of it",
    "lost_constraint": "what was demanded is no longer said after a compaction",
    "trust_pollution": "a text that is not to be trusted speaks like an instruction",
}

Smell = Literal[
    "global_messages", "summary_overwrites_history", "memory_enters_by_itself", "output_as_instruction",
    "decisions_not_recorded", "all_tools_exposed",
]  # fmt: skip

SMELLS: dict[Smell, str] = {
    "global_messages": "the builder reads or writes messages it was not given",
    "summary_overwrites_history": "a summary stands for texts that are not referred to",
    "memory_enters_by_itself": "a memory was shown that no gate let through",
    "output_as_instruction": "a tool's output stands on one level with instructions",
    "decisions_not_recorded": "what was shown is recorded, why is not",
    "all_tools_exposed": "every tool is shown, whatever the phase",
}

MANY_TOKENS = 100_000
LONG_TOKENS = 8_000
LARGEST_SHARE = 0.5
MANY_TOOLS = 12


class Text(NamedTuple):
    """A text before a model. ``source``: the kind of source; ``trust``: ``None`` for the agent's own words.

    ``path``: the file it shows; ``changes``: files it edits; ``compacts``: everything before it was replaced by it.
    """

    id: str
    source: str
    text: str
    trust: str | None
    tokens: int
    path: str | None = None
    changes: tuple[str, ...] = ()
    compacts: bool = False


class Found(NamedTuple):
    """A finding: which, the ids of the texts it stands on, and what exactly."""

    kind: str
    ids: tuple[str, ...]
    detail: str


def failures_in(texts: Sequence[Text], replaced: Sequence[Text] = (), *, limit: int = MANY_TOKENS) -> list[Found]:
    """All four failures among the texts before a model, in order. ``replaced``: what a compaction had taken away."""
    return [*_explosion(texts, limit), *_stale(texts), *_lost(texts, replaced), *_polluted(texts)]


def _explosion(texts: Sequence[Text], limit: int) -> Iterator[Found]:
    whole = sum(text.tokens for text in texts)
    if whole > limit:
        longest = sorted(texts, key=lambda text: -text.tokens)[:3]
        names = ", ".join(f"{text.source} {text.tokens}" for text in longest)
        yield Found("token_explosion", tuple(text.id for text in longest), f"{whole} tokens, {limit} at most; {names}")
        return
    for text in texts:
        if text.tokens > LONG_TOKENS and text.tokens > LARGEST_SHARE * whole and text.trust != "instruction":
            yield Found("token_explosion", (text.id,), f"{text.tokens} of {whole} tokens are one {text.source}")


def _stale(texts: Sequence[Text]) -> Iterator[Found]:
    shown: dict[str, list[Text]] = {}
    for text in texts:
        for path in text.changes:
            for old in shown.pop(path, ()):
                yield Found("stale_content", (old.id, text.id), f"{path} was changed after it was read")
        if text.path and not text.changes:
            # Read again: what stands further up is old, but the new text stands there too.
            shown[text.path] = [text]


def _lost(texts: Sequence[Text], replaced: Sequence[Text]) -> Iterator[Found]:
    """Demands of a person or a rule from before a compaction that nothing after it says."""
    if not replaced:
        return
    left = "\n".join(text.text for text in texts)
    for text in replaced:
        if text.trust == "instruction":
            for line in constraints_in(text.text):
                if not still_said(line, left):
                    yield Found("lost_constraint", (text.id,), line)


_ORDERS = re.compile(
    r"\b(?:ignore|disregard|forget|override)\b[^.\n]{0,40}\b(?:previous|prior|above|earlier|all|system)\b[^.\n]{0,30}"
    r"\b(?:instructions?|requests?|rules?|prompts?|messages?)\b"
    r"|\byou (?:must|should|are) now\b|\bnew (?:system )?instructions?\s*:|<\s*/?\s*(?:system|instructions?)\s*>"
    r"|\bdo not (?:tell|inform|mention (?:this|it) to) the user\b"
    r"|(?:これまで|以前|上記)の(?:指示|要求|命令)[^。\n]{0,10}無視|忽略(?:之前|以上|先前|所有)[^。\n]{0,10}(?:指令|要求|指示|提示)",
    re.IGNORECASE,
)


def _polluted(texts: Sequence[Text]) -> Iterator[Found]:
    for text in texts:
        if text.trust in ("untrusted-observation", "evidence") and (found := _ORDERS.search(text.text)):
            yield Found("trust_pollution", (text.id,), found.group()[:200])


def smells_in(ledger: Mapping[str, Any] | None, *, shown_tools: int | None = None) -> list[Found]:
    """The smells a recorded input shows. ``ledger``: its decision ledger as JSON, ``None``: none was recorded.

    That a builder reads or writes messages it was not given cannot be seen afterwards: ours is a pure function.
    """
    if ledger is None:
        found = [Found("decisions_not_recorded", (), "no decision ledger was recorded with the model's input")]
        if shown_tools is not None and shown_tools >= MANY_TOOLS:
            found.append(Found("all_tools_exposed", (), f"{shown_tools} tools"))
        return found
    return [*_of_sources(ledger), *_of_summaries(ledger), *_of_tools(ledger, shown_tools)]


def _of_sources(ledger: Mapping[str, Any]) -> Iterator[Found]:
    for one in _objects(ledger.get("included")):
        id, kind, trust = str(one.get("sourceId")), one.get("sourceKind"), one.get("trustLevel")
        if kind in ("latest_observation", "retrieval_result", "memory") and trust in ("instruction", "trusted"):
            yield Found("output_as_instruction", (id,), f"{kind} is shown as an instruction")
        if kind in ("memory", "memory_candidate") and (not one.get("reason") or kind == "memory_candidate"):
            yield Found("memory_enters_by_itself", (id,), "no gate is named that let it through")
    if not _objects(ledger.get("included")) and not _objects(ledger.get("excluded")):
        yield Found("decisions_not_recorded", (), "the ledger names no source")


def _of_summaries(ledger: Mapping[str, Any]) -> Iterator[Found]:
    referred = {one.get("sourceId") for one in _objects(ledger.get("compactions")) if one.get("originalRef")}
    for one in _objects(ledger.get("included")):
        if one.get("mode") == "summary" and one.get("sourceId") not in referred:
            yield Found("summary_overwrites_history", (str(one.get("sourceId")),), "what it sums up is not referred to")


def _of_tools(ledger: Mapping[str, Any], shown: int | None) -> Iterator[Found]:
    tools = _objects(ledger.get("tools"))
    visible = sum(one.get("visible") is True for one in tools) if tools else shown
    if visible is not None and visible >= MANY_TOOLS and visible == len(tools or range(visible)):
        yield Found("all_tools_exposed", (), f"{visible} tools, none hidden")


def _objects(listed: Any) -> list[Mapping[str, Any]]:
    return [one for one in listed if isinstance(one, dict)] if isinstance(listed, Iterable) else []
