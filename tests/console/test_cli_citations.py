"""Citations in what a model wrote and did, led back to the texts it was given."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from cli_runner import Runner
from snapshot_lines import line, message, selected, snapshot

from affidavit.proof.verdict import text_hash

RULE = "Test mocks state their role. Production defaults must not change to make a test pass.\n"
CODE = "export function createUserMock() {\n  return { name };\n}\n"


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Runner:
    monkeypatch.setenv("AFFIDAVIT_STORE", str(tmp_path / "store.db"))
    return Runner(monkeypatch, tmp_path)


def said(kind: str, text: str, second: int, **fields: Any) -> bytes:
    at = f"2026-05-14T10:03:{second:02}Z"
    given = {
        "type": "session.event",
        "session": "s-1",
        "kind": kind,
        "text": text,
        "at": at,
        "id": f"e{second}",
        **fields,
    }
    return json.dumps(given).encode() + b"\n"


def recorded(run: Runner, *lines: bytes) -> dict[str, dict[str, Any]]:
    """The events of the session by the second they were said in, each as ``show`` prints it alone."""
    items = [
        selected("rule#1", RULE, sourceRef="AGENTS.md:4-4"),
        selected("code#2", CODE, sourceRef="src/auth/mock.ts:1-3"),
    ]
    run.stdin = b"".join([message(), line(snapshot(selectedItems=items)), *lines])
    assert run("record").code == 0
    session = run("sessions", "--json").json["sessions"][0]["id"]
    events = run("show", f"session/{session}", "--json").json["events"]
    return {one["at"][17:19]: run("show", one["address"], "--json").json["events"][0] for one in events}


def test_a_citation_leads_to_the_item_and_to_where_the_quote_stands(run: Runner) -> None:
    events = recorded(
        run,
        said("model.message", 'The rule says "Production defaults must not change" [rule#1].', 1),
        said("model.message", 'It "returns { name }" [code#2], and [rule#9] too.', 2),
        said("model.message", 'As "Test mocks state their role." shows [code#2].', 3),
    )
    (exact,) = events["01"]["citations"]
    assert (exact["verdict"], exact["address"], exact["sourceRef"]) == (
        "exact",
        "snapshot/retr-1/rule#1",
        "AGENTS.md:4-4",
    )
    start, end = exact["standsIn"]["start"], exact["standsIn"]["end"]
    assert RULE[start:end] == "Production defaults must not change"
    assert [one["verdict"] for one in events["02"]["citations"]] == ["absent", "never_visible"]
    (elsewhere,) = events["03"]["citations"]
    assert (elsewhere["verdict"], elsewhere["standsIn"]["address"]) == ("misattributed", "snapshot/retr-1/rule#1")
    assert run("show", exact["address"]).code == 0


def test_uncited_use_and_an_action_its_evidence_does_not_support(run: Runner) -> None:
    events = recorded(
        run,
        said("model.message", "I know that production defaults must not change to make a test pass.", 1),
        said("model.message", "So I will change them [code#2].", 2),
        said("tool.intent", "export const role = 'admin'", 3, tool="Edit", refs=["src/config/defaults.ts"]),
    )
    (uncited,) = events["01"]["findings"]
    assert (uncited["kind"], uncited["citationId"]) == ("uncited_use", "rule#1")
    against = events["03"]["findings"]
    assert {one["kind"] for one in against} == {"does_not_support_the_action"}
    assert [one["citationId"] for one in against] == ["rule#1", None]
    shown = run("show", events["03"]["address"]).out
    assert "does not support the action: it says what must not be done there" in shown


def test_nothing_is_said_where_no_retrieval_was_recorded_before(run: Runner) -> None:
    run.stdin = message() + said("model.message", "see [rule#1]", 1)
    assert run("record").code == 0
    session = run("sessions", "--json").json["sessions"][0]["id"]
    events = run("show", f"session/{session}", "--json").json["events"]
    (event,) = run("show", events[-1]["address"], "--json").json["events"]
    assert (event["citations"], event["findings"]) == ([], [])


def test_verify_says_of_each_link_from_the_source_to_the_block_whether_it_holds(run: Runner) -> None:
    recorded(run)
    items = run("verify", "snapshot/retr-1", "--json").json["items"]
    links = {link["link"]: link["verdict"] for link in items[0]["links"]}
    assert links == {
        "source": "hash_not_recorded", "kept": "hash_not_recorded", "visible": "match", "block": "text_missing",
        "modelInput": "text_missing",
    }  # fmt: skip


def test_the_chain_goes_on_to_the_models_input_where_that_was_recorded(run: Runner) -> None:
    block = f"Evidence\n[rule#1]\n{RULE}[/rule#1]\n"
    place = {"payload": text_hash(block), "from": 18, "to": 18 + len(RULE)}
    item = {**selected("rule#1", RULE), "visibleText": None, "textRef": place}
    body = snapshot(selectedItems=[item], contextProjection={"visibleTextHash": text_hash(block)}, modelRequestId="r1")

    def links(model_input: str) -> dict[str, str]:
        artifact = {"type": "artifact", "session": "s-1", "media": "text/plain", "text": model_input, "id": "a"}
        request = said("model.request", "", 1, payload={"modelInputRef": text_hash(model_input)}, id="r1")
        run.stdin = b"".join([message(), line(body, block=block), json.dumps(artifact).encode() + b"\n", request])
        assert run("record").code == 0
        items = run("verify", "snapshot/retr-1", "--json").json["items"]
        return {link["link"]: link["verdict"] for link in items[0]["links"]}

    held = links(f"system rules\n\n{block}\nthe goal")
    assert (held["visible"], held["block"], held["modelInput"]) == ("match", "match", "match")


def test_a_recorded_ledger_of_a_context_policy_is_told_with_what_is_odd_about_it(run: Runner) -> None:
    ledger = {
        "runId": "r", "turnId": "21", "modelInputId": "i", "estimatedTokens": 9, "compactions": [], "excluded": [],
        "included": [
            {
                "sourceId": "log", "sourceKind": "latest_observation", "mode": "full", "reason": "last",
                "trustLevel": "trusted",
            },
            {
                "sourceId": "old", "sourceKind": "state_summary", "mode": "summary", "reason": "before",
                "trustLevel": "fact",
            },
        ],
    }  # fmt: skip
    written = {
        "type": "context.projected",
        "session": "s-1",
        "at": "2026-05-14T10:03:04Z",
        "id": "c1",
        "ledger": ledger,
    }
    event = recorded(run, json.dumps(written).encode() + b"\n")["04"]
    assert {(one["kind"], *one["sources"]) for one in event["findings"]} == {
        ("output_as_instruction", "log"),
        ("summary_overwrites_history", "old"),
    }
    assert "a tool's output stands on one level with instructions" in run("show", event["address"]).out
