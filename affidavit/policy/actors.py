"""Who may decide: people the policy names, and no agent.

Nothing here proves who somebody is: a decision says who its writer claimed to be, on a machine whose environment
showed no agent. What that is worth stands in docs/proof.md.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, NamedTuple

RefusalCode = Literal["changed", "claimed", "not_allowed", "agent", "four_eyes", "illegal_transition", "not_opened"]
"""Why a decision is refused."""

AGENT_MARKERS: dict[str, str] = {
    "CLAUDECODE": "Claude Code",
    "CLAUDE_CODE_ENTRYPOINT": "Claude Code",
    "CODEX_SANDBOX": "Codex",
    "CODEX_SANDBOX_NETWORK_DISABLED": "Codex",
    "CODEX_THREAD_ID": "Codex",
    "CODEX_CI": "Codex",
    "GEMINI_CLI": "Gemini CLI",
    "CURSOR_AGENT": "Cursor's agent",
    "OPENCODE": "opencode",
    "AUGMENT_AGENT": "Augment",
    "CLINE_ACTIVE": "Cline",
    "GOOSE_TERMINAL": "Goose",
    "ANTIGRAVITY_AGENT": "Antigravity",
    "AI_AGENT": "an agent",
}
"""Variables that agents set for the programs they run, and whose they are.

From the agents' own documentation and sources (Claude Code's and Gemini CLI's pages on environment variables; the
openai/codex, opencode, cline and goose repositories), and from lists kept by others who tell agents so:
``@vercel/detect-agent``, which also proposes ``AI_AGENT``, and the AWS CDK's ``detect-agent.ts``. Editors' variables
(``CURSOR_TRACE_ID``, ``TERM_PROGRAM``) are not among them: people work in those terminals.
"""


class Refusal(NamedTuple):
    """A command that is not done, and why, for people. ``difference``: field by field what is not as it was shown."""

    code: RefusalCode
    reason: str
    difference: tuple[dict[str, Any], ...] = ()


class Actor(NamedTuple):
    """Who gives a command: the name claimed, who the machine says works here, and the agent seen in the environment."""

    name: str
    user: str
    agent: str | None = None


def agent_in(environment: Mapping[str, str]) -> str | None:
    """The agent that runs a process with this environment, as far as it shows; ``AI_AGENT`` names one itself."""
    for marker, agent in AGENT_MARKERS.items():
        if said := environment.get(marker):
            return said[:80] if marker == "AI_AGENT" and said.strip("01") else agent
    return None


def refused(actor: Actor, reviewers: Sequence[str]) -> Refusal | None:
    """Why somebody may not decide; ``None``: they may. Without ``reviewers`` only the machine's own user may."""
    if actor.agent is not None:
        return Refusal("agent", f"this runs under {actor.agent}; no agent decides here, a person does it in a terminal")
    named = reviewers or (actor.user,)
    if actor.name in named:
        return None
    who = "the policy names " + ", ".join(named) if reviewers else f"no policy names reviewers, so only {named[0]} may"
    return Refusal("not_allowed", f"{actor.name} is no reviewer: {who}")
