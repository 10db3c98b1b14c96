"""``affidavit mcp`` as an agent meets it: driven by the SDK's own client, over standard input and output."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from cli_runner import Runner

from affidavit.proof.verdict import text_hash

pytest.importorskip("mcp", reason="the extra that serves agents is not installed")

from mcp import Client, StdioServerParameters
from mcp_types import Implementation

ROOT = Path(__file__).resolve().parents[2]
SAID = "The parser's tests run with pnpm test parser"
QUESTION = "how do the parser's tests run"
FILES = {
    "src/parser.py": "def parse_header(line):\n    return line.partition(':')\n",
    "tests/test_parser.py": "def test_parse_header():\n    assert parse_header('a: b')[0] == 'a'\n",
}


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Runner:
    monkeypatch.setenv("AFFIDAVIT_STORE", str(tmp_path / "store.db"))
    runner = Runner(monkeypatch, tmp_path)
    for name, text in FILES.items():
        runner.file(f"work/{name}", text.encode())
    return runner


class Agent:
    """An agent's side of a connection."""

    def __init__(self, client: Client) -> None:
        self.client = client

    async def __call__(self, tool: str, **arguments: Any) -> dict[str, Any]:
        done = await self.client.call_tool(tool, arguments)
        assert not done.is_error, done.content
        return self._same(done)

    async def refused(self, tool: str, **arguments: Any) -> str:
        done = await self.client.call_tool(tool, arguments)
        assert done.is_error, done.structured_content
        return str(self._same(done)["error"])

    @staticmethod
    def _same(done: Any) -> dict[str, Any]:
        """What is said to programs is what is said to models."""
        (said,) = done.content
        assert json.loads(said.text) == done.structured_content
        return dict(done.structured_content)


@asynccontextmanager
async def agent(run: Runner, *words: str, name: str = "Invented Agent", **environment: str) -> AsyncIterator[Agent]:
    server = StdioServerParameters(
        command=sys.executable,
        args=["-m", "console.main", "mcp", "--scope", "repo:acme/app", *words],
        env={"PYTHONPATH": str(ROOT), "AFFIDAVIT_STORE": os.environ["AFFIDAVIT_STORE"], **environment},
        cwd=run.folder / "work",
    )
    async with Client(server, client_info=Implementation(name=name, version="1"), read_timeout_seconds=60) as client:
        yield Agent(client)


def sessions(run: Runner) -> list[dict[str, Any]]:
    return list(run("sessions", "--json").json["sessions"])


def events(run: Runner) -> list[dict[str, Any]]:
    """Every event of every session an agent had here."""
    found = []
    for session in sessions(run):
        found += run("show", f"session/{session['id']}", "--json").json["events"]
    return found


def refused(event: dict[str, Any]) -> bool:
    return bool(event["kind"] == "tool.finished" and event["text"].startswith("refused: "))


async def test_what_an_agent_proposes_is_given_to_none_until_a_person_lets_it_in(run: Runner) -> None:
    async with agent(run) as asks:
        tools = [tool.name for tool in (await asks.client.list_tools()).tools]
        assert tools == ["recall_memory", "propose_memory", "retrieve_evidence", "report_use"]
        nothing = await asks("recall_memory", query=QUESTION)
        assert (nothing["memories"], nothing["note"]) == ([], "Nothing in this scope matches the question.")
        proposed = await asks("propose_memory", content=SAID, evidence=["package.json#scripts.test"])
        assert proposed["status"] in ("pending", "needs_review")
        assert (await asks("recall_memory", query=QUESTION))["memories"] == []
        evidence = await asks("retrieve_evidence", question=QUESTION)
        assert SAID not in evidence["block"]

        (one,) = run("candidates", "--json").json["candidates"]
        shown = run("show", proposed["candidate"], "--json").json
        assert (shown["status"], shown["candidate"]["proposedByAgent"]) == (proposed["status"], "Invented Agent")
        assert (shown["candidate"]["source"]["type"], shown["candidate"]["confidence"]) == ("agent_reflection", "low")
        assert run("memories", "--json").json["memories"] == []

        assert run("approve", one["id"], "--reason", "seen in package.json").code == 0
        memory = run("memories", "--json").json["memories"][0]["id"]
        (given,) = (await asks("recall_memory", query=QUESTION))["memories"]
        assert given["address"] == f"memory/{memory}@1"
        assert SAID in given["text"]
        assert "Check the source first" in given["text"]
        assert (given["scope"], given["confidence"]) == ({"level": "repo", "key": "acme/app"}, "low")
        assert (given["tone"], given["source"]["type"]) == ("hint", "agent_reflection")
        evidence = await asks("retrieve_evidence", question=QUESTION)
        assert SAID in evidence["block"]

        assert run("revoke", memory, "--reason", "wrong").code == 0
        after = await asks("recall_memory", query=QUESTION)
        assert (after["memories"], after["audit"]["rejectedCount"]) == ([], 1)
        assert after["audit"]["reasons"] == {"revoked": 1}
        assert memory not in json.dumps(after)
        assert SAID not in json.dumps(after)
        evidence = await asks("retrieve_evidence", question=QUESTION)
        assert SAID not in evidence["block"]
        assert evidence["audit"]["reasons"]["revoked"] == 1
        assert memory not in json.dumps(evidence)
    assert run("verify").code == 0


async def test_every_call_leaves_its_record_with_who_asked(run: Runner) -> None:
    async with agent(run, name="Invented\x1b[2J Agent") as asks:
        await asks("recall_memory", query=QUESTION)
        await asks("propose_memory", content=SAID)
        found = await asks(
            "retrieve_evidence", question="how is a header parsed", anchors={"symbols": ["parse_header"]}
        )
        cited = [one["id"] for one in found["citations"]]
        used = await asks(
            "report_use", snapshotId=found["snapshotId"], citations=[cited[0], "none#9"], action="Changed the parser"
        )
        assert (used["resolved"], used["unknown"]) == ([cited[0]], ["none#9"])
        await asks.refused("report_use", snapshotId="retr-none", citations=["a"], action="x")
        await asks.refused("approve", id="c-1")
    (session,) = sessions(run)
    assert "over MCP" in session["title"]
    told = events(run)
    asked = [one["tool"] for one in told if one["kind"] == "tool.intent"]
    assert asked == [
        "recall_memory", "propose_memory", "retrieve_evidence", "report_use", "report_use", "approve",
    ]  # fmt: skip
    assert [refused(one) for one in told if one["kind"] == "tool.finished"] == [False] * 4 + [True] * 2
    kinds = {one["kind"] for one in told}
    assert {"memory.read", "memory.candidate.proposed", "retrieval.request", "retrieval.snapshot.created"} <= kinds
    assert {"session.opened", "session.closed"} <= kinds
    (gate,) = run("gate-runs", "--json").json["gateRuns"]
    assert gate["query"] == QUESTION
    snapshot = run("show", f"snapshot/{found['snapshotId']}", "--json").json
    assert text_hash(found["block"]) == snapshot["contextProjection"]["visibleTextHash"]
    entry = run("show", used["entry"], "--json").json["entry"]
    assert (entry["type"], entry["actor"]["kind"], entry["body"]) == (
        "use.report",
        "agent",
        {"citations": 2, "resolved": 1},
    )
    assert "parser" not in json.dumps(entry)
    assert run("verify").code == 0


HOSTILE: list[tuple[str, dict[str, Any]]] = [
    ("recall_memory", {}),
    ("recall_memory", {"query": "x" * 2_001}),
    ("recall_memory", {"query": "y" * 4_000_000}),
    ("recall_memory", {"query": " \t "}),
    ("recall_memory", {"query": ["a", "list"]}),
    ("recall_memory", {"query": QUESTION, "limit": "8"}),
    ("recall_memory", {"query": QUESTION, "limit": -1}),
    ("recall_memory", {"query": QUESTION, "limit": True}),
    ("recall_memory", {"query": QUESTION, "repo": "acme/other"}),
    ("recall_memory", {"query": QUESTION, "user": "somebody"}),
    ("propose_memory", {"content": SAID, "status": "approved"}),
    ("propose_memory", {"content": SAID, "level": "repo", "key": "acme/other"}),
    ("propose_memory", {"content": SAID, "level": "branch"}),
    ("propose_memory", {"content": SAID, "expiresAt": "soon"}),
    ("propose_memory", {"content": SAID, "authorityAsked": "rule"}),
    ("retrieve_evidence", {"question": QUESTION, "purpose": "everything"}),
    ("retrieve_evidence", {"question": QUESTION, "sources": ["candidate-ledger"]}),
    ("retrieve_evidence", {"question": QUESTION, "anchors": {"currentFiles": ["a"] * 51}}),
    ("retrieve_evidence", {"question": QUESTION, "maxTokens": 10**12}),
    ("report_use", {"snapshotId": "' OR 1=1 --", "citations": ["x"], "action": "x"}),
    ("report_use", {"snapshotId": "", "citations": [], "action": ""}),
    ("drop table memory; --", {"a": "b"}),
]


async def test_hostile_arguments_are_refused_in_words_and_recorded(run: Runner) -> None:
    async with agent(run) as asks:
        for tool, arguments in HOSTILE:
            told = await asks.refused(tool, **arguments)
            assert 0 < len(told) < 2_000, tool
            assert "Traceback" not in told
        for query in ("'; DROP TABLE memory; --", '" OR * NEAR(a b)', "\x00\x1b]0;title\x07 \u202eparser", "％_\\"):
            assert (await asks("recall_memory", query=query))["memories"] == []
            assert (await asks("retrieve_evidence", question=query))["snapshotId"]
        hidden = await asks("propose_memory", content=f"{SAID}\u200b\U000e0041 \x00\x1b[31m", title="\u202e")
        assert hidden["status"] == "quarantined"
    refusals = [one for one in events(run) if refused(one)]
    assert len(refusals) == len(HOSTILE)
    assert max(len(json.dumps(one)) for one in events(run)) < 200_000
    assert len(run("candidates", "--json").json["candidates"]) == 1
    assert run("verify").code == 0


async def test_a_conflict_is_handed_over_whole_or_not_at_all_and_what_is_for_others_never(run: Runner) -> None:
    key = ("--key", "repo:acme/app:test-command")
    for id, value in (("c-1", "pnpm test"), ("c-2", "npm test")):
        words = ("propose", f"The parser's tests run with {value} parser", "--scope", "repo:acme/app", "--id", id)
        assert run(*words, *key, "--value", value).code == 0
        assert run("approve", id, "--reason", "seen").code == 0
    assert run("propose", "The parser's tests of others", "--scope", "repo:acme/other", "--id", "c-3").code == 0
    assert run("approve", "c-3", "--reason", "seen").code == 0
    async with agent(run) as asks:
        found = await asks("recall_memory", query=QUESTION)
        assert (found["memories"], found["audit"]["reasons"]) == ([], {"conflicted": 2})
        evidence = await asks("retrieve_evidence", question=QUESTION)
        sides = ("run with pnpm test", "run with npm test")
        assert all(side in evidence["block"] for side in sides)
        shown = set()
        for budget in (40, 160, 200, 240, 400, 1_000):
            block = (await asks("retrieve_evidence", question=QUESTION, maxTokens=budget))["block"]
            shown.add(tuple(side in block for side in sides))
        assert shown == {(False, False), (True, True)}
        assert "of others" not in evidence["block"] + json.dumps(found)


async def test_a_home_folder_is_not_read_as_a_project_unless_it_is_named(run: Runner) -> None:
    home = str(run.folder / "work")
    async with agent(run, HOME=home) as asks:
        assert (await asks("retrieve_evidence", question="how is a header parsed"))["citations"] == []
        assert "no workspace" in await asks.refused("propose_memory", content=SAID, level="workspace")
    async with agent(run, "--workspace", home, HOME=home) as asks:
        assert (await asks("retrieve_evidence", question="how is a header parsed"))["citations"]


def test_bytes_that_are_no_messages_end_nothing(run: Runner) -> None:
    hello = {
        "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "raw", "version": "1"}
    }  # fmt: skip
    asked = {"name": "recall_memory", "arguments": {"query": QUESTION}}
    lines = [
        b"\xff\xfe nonsense",
        b"[" * 100_000,
        b"{}",
        b'{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"recall_memory","arguments":'
        + b'{"query":'
        + b'{"a":' * 150
        + b"1"
        + b"}" * 150
        + b"}}}",
        json.dumps({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello}).encode(),
        b'{"jsonrpc":"2.0","method":"notifications/initialized"}',
        b"\x00\x00\x00",
        json.dumps({"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": asked}).encode(),
    ]
    server = subprocess.Popen(
        [sys.executable, "-m", "console.main", "mcp"],
        cwd=run.folder / "work",
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert server.stdin is not None
    assert server.stdout is not None
    server.stdin.write(b"\n".join(lines) + b"\n")
    server.stdin.flush()
    answers: dict[Any, Any] = {}
    while 2 not in answers:
        line = server.stdout.readline()
        assert line, "it ended"
        answer = json.loads(line)
        answers[answer.get("id")] = answer
    _, complaints = server.communicate(timeout=60)
    assert (server.returncode, b"Traceback" in complaints) == (0, False), complaints
    assert answers[2]["result"]["structuredContent"]["memories"] == []
    assert run("verify").code == 0


async def test_two_servers_on_one_store_record_everything(run: Runner) -> None:
    async with agent(run, name="One") as one, agent(run, name="Two") as two:
        for number in range(3):
            await one("propose_memory", content=f"{SAID} number {number}")
            await two("propose_memory", content=f"The linter is run as in step {number}")
    assert sorted(session["title"] for session in sessions(run)) == ["One over MCP", "Two over MCP"]
    assert len(run("candidates", "--json").json["candidates"]) == 6
    assert run("verify").code == 0


@pytest.fixture
def read_only(run: Runner, monkeypatch: pytest.MonkeyPatch) -> Iterator[Runner]:
    """A store with a memory in it, on a disk that nothing can be written to."""
    assert run("propose", SAID, "--scope", "repo:acme/app", "--id", "c-1").code == 0
    assert run("approve", "c-1", "--reason", "seen").code == 0
    if os.geteuid() != 0 or not shutil.which("mount"):
        pytest.skip("only root can mount")
    place, store = run.folder / "place", run.folder / "original"
    place.mkdir()
    store.mkdir()
    (run.folder / "store.db").rename(store / "store.db")
    for words in (("--bind", str(store)), ("-o", "remount,bind,ro")):
        if subprocess.run(["mount", *words, str(place)], capture_output=True, check=False).returncode:
            subprocess.run(["umount", "-l", str(place)], capture_output=True, check=False)
            pytest.skip("nothing can be mounted here")
    monkeypatch.setenv("AFFIDAVIT_STORE", str(place / "store.db"))
    try:
        yield run
    finally:
        subprocess.run(["umount", "-l", str(place)], check=True)


async def test_where_nothing_can_be_recorded_nothing_is_handed_over(read_only: Runner) -> None:
    async with agent(read_only) as asks:
        for tool, arguments in (
            ("recall_memory", {"query": QUESTION}),
            ("propose_memory", {"content": SAID}),
            ("retrieve_evidence", {"question": QUESTION}),
            ("report_use", {"snapshotId": "retr-1", "citations": ["a#1"], "action": "x"}),
        ):
            assert "can only be read" in await asks.refused(tool, **arguments)


def test_without_the_sdk_it_says_what_is_missing(run: Runner, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda _: None)
    sys.modules.pop("console.commands.mcp", None)
    done = run("mcp")
    sys.modules.pop("console.commands.mcp", None)
    assert done.code == 2
    assert "affidavit[mcp]" in done.err
