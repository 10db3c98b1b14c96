"""Who may change the policy, and what a change gives."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from affidavit.gate.settings import GateSettings, RecallGateConfig
from affidavit.policy.actors import AGENT_MARKERS, Actor, Refusal, agent_in
from affidavit.policy.change import Apply, Standing, decide, differences
from affidavit.policy.decision import Head, Proposed
from affidavit.policy.document import Policy

NOW = datetime(2026, 5, 14, tzinfo=UTC)
ADA = Policy(reviewers=("ada",))
IN_FORCE = Standing(Head("s", 3, 17), ADA)


def asked(name: str = "ada", user: str = "ben", agent: str | None = None, policy: Policy | None = None) -> Apply:
    return Apply("id-1", policy or Policy(), Actor(name, user, agent), "why not")


def refusal(state: Standing, command: Apply) -> str:
    done = decide(state, command, NOW)
    assert isinstance(done, Refusal)
    assert done.reason
    return done.code


def test_a_reviewer_of_the_policy_in_force_may_and_nobody_else() -> None:
    assert isinstance(decide(IN_FORCE, asked("ada"), NOW), list)
    assert refusal(IN_FORCE, asked("ben")) == "not_allowed"
    # What the new policy says of itself does not count.
    assert refusal(IN_FORCE, asked("eve", policy=Policy(reviewers=("eve",)))) == "not_allowed"


def test_without_reviewers_only_the_machines_user_may() -> None:
    assert refusal(Standing(), asked("ada", user="ben")) == "not_allowed"
    assert isinstance(decide(Standing(), asked("ben", user="ben"), NOW), list)


def test_no_agent_may_whoever_it_says_it_is() -> None:
    assert refusal(IN_FORCE, asked(agent="Codex")) == "agent"


@pytest.mark.parametrize("marker", AGENT_MARKERS)
def test_a_known_agents_environment_is_recognised(marker: str) -> None:
    assert agent_in({"PATH": "/bin", marker: "1"})
    assert agent_in({"PATH": "/bin", marker: ""}) is None
    assert agent_in({"AI_AGENT": "scribe@2"}) == "scribe@2"
    assert agent_in({"TERM_PROGRAM": "vscode", "CURSOR_TRACE_ID": "1"}) is None


def test_the_entry_names_no_text_and_follows_the_one_before() -> None:
    done = decide(IN_FORCE, asked(), NOW)
    assert isinstance(done, list)
    (entry,) = done
    assert isinstance(entry, Proposed)
    assert (entry.id, entry.after, entry.body) == ("id-1", IN_FORCE.head, {})
    held = {content.role: content.data for content in entry.contents}
    assert held == {"policy": Policy().canonical(), "actor": b"ada", "reason": b"why not"}


def test_what_acts_already_is_not_applied_again() -> None:
    assert decide(IN_FORCE, asked(policy=Policy(reviewers=("ada",))), NOW) == []
    erased = Standing(Head("s", 0, 1), None, erased=True)
    assert decide(erased, asked("ben", user="ben"), NOW) != []


def test_differences_are_told_setting_by_setting() -> None:
    other = Policy(reviewers=("ada",), gate=GateSettings(spaces={"x": RecallGateConfig(min_score=0.5)}))
    found = {change.key: (change.before, change.after) for change in differences(ADA, other)}
    assert found["gate.spaces.x.minScore"] == (None, 0.5)
    assert not any(key.startswith(("gate.default", "reviewers")) for key in found)
    assert differences(other, other) == []
