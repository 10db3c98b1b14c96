"""Erasing on the command line: nowhere in the file any more, said so at its address, every proof whole."""

from __future__ import annotations

import hashlib
import json
import re
from pathlib import Path
from typing import Any

import click
import pytest
from cli_runner import Runner

from affidavit.policy.actors import AGENT_MARKERS

WORD = "peregrine"


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Runner:
    monkeypatch.setenv("AFFIDAVIT_STORE", str(tmp_path / "store.db"))
    for marker in AGENT_MARKERS:
        monkeypatch.delenv(marker, raising=False)
    return Runner(monkeypatch, tmp_path)


def line(session: str, number: int, kind: str, text: str, **more: Any) -> bytes:
    """A line of our own."""
    said = {"type": "session.event", "session": session, "id": f"{session}-{number}", "kind": kind, "text": text,
            "at": f"2026-05-14T10:{number:02d}:00Z", **more}  # fmt: skip
    return json.dumps(said).encode() + b"\n"


def recorded(run: Runner) -> tuple[str, str]:
    """Two sessions, the first of which says the word; their addresses."""
    run.stdin = (
        line("s-1", 1, "user.message", f"Use the {WORD} key", title=f"About the {WORD}")
        + line("s-1", 2, "verification", f"auth/session.test.ts: {WORD} refused", ok=False)
        + line("s-1", 3, "model.message", "It was refused.")
        + json.dumps(
            {
                "type": "artifact",
                "session": "s-1",
                "id": "s-1-a",
                "media": "text/plain",
                "text": f"{WORD} in full " * 20,
            }
        ).encode()
        + b"\n"
        + line("s-2", 1, "user.message", "Something else")
    )
    assert run("record").code == 0
    found = {one["nativeId"]: f"session/{one['id']}" for one in run("sessions", "--json").json["sessions"]}
    return found["s-1"], found["s-2"]


def raw(run: Runner) -> bytes:
    """Every byte of the store, in small letters."""
    return b"".join(path.read_bytes() for path in run.folder.glob("store.db*")).lower()


def events(run: Runner, session: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = run("show", session, "--json").json["events"]
    return found


def test_a_session_is_erased_whole_and_its_place_is_kept(run: Runner) -> None:
    session, other = recorded(run)
    kinds = [event["kind"] for event in events(run, session)]
    plan = run("redact", session, "--reason", "a key", "--dry-run", "--json").json
    assert (plan["records"], plan["dryRun"], plan["entries"]) == (4, True, [])
    assert WORD.encode() in run("show", session, "--json").raw
    done = run("redact", session, "--reason", "a key", "--json").json
    assert (done["records"], done["texts"], len(done["entries"])) == (4, 0, 1)
    assert WORD.encode() not in raw(run)
    assert run("search", WORD, "--json").json["total"]["value"] == 0
    assert [event["kind"] for event in events(run, session)] == kinds
    verified = run("verify", "--json").json
    assert verified["holds"]
    assert verified["withheld"] == 4
    assert [event["summary"] for event in events(run, other)] == ["Something else"]
    again = run("redact", session, "--reason", "a key")
    assert (again.code, "nothing is left to erase" in again.err) == (2, True)


def test_nothing_of_an_agent_s_session_is_left(run: Runner) -> None:
    said = run.log().read_text()
    assert run("import", str(run.folder / "projects")).code == 0
    (session,) = run("sessions", "--json").json["sessions"]
    words = set(re.findall(r"[a-z]{5,}", said.lower()))
    there = {word for word in words if run("search", word, "--json").json["total"]["value"]}
    assert len(there) > 3
    done = run("redact", f"session/{session['id']}", "--reason", "all of it", "--json").json
    assert done["records"] == said.count("\n")
    assert not [word for word in there if run("search", word, "--json").json["total"]["value"]]
    assert run("verify").code == 0
    (left,) = run("sessions", "--json").json["sessions"]
    assert left["id"] == session["id"]


def test_one_event_is_erased_and_the_others_stay(run: Runner) -> None:
    session, _ = recorded(run)
    failed = next(event for event in events(run, session) if event["kind"] == "verification")
    done = run("redact", f"{session}#{failed['id']}", "--reason", "a key", "--json").json
    assert done["records"] == 1
    assert run("search", "refused", "--json").json["total"]["value"] == 1
    assert run("verify").code == 0


def test_what_a_snapshot_shows_of_it_is_erased_with_it(run: Runner) -> None:
    session, other = recorded(run)
    asked = ("--session", other.partition("/")[2], "--source", "past-sessions", "--source", "current-session")
    first = run("retrieve", "--question", "refused", "--session", session.partition("/")[2], "--json").json
    assert first["selectedItems"]
    unrelated = run("retrieve", "--question", "else", *asked, "--json").json
    failed = next(event for event in events(run, session) if event["kind"] == "verification")
    (uid,) = [row["uid"] for row in run("snapshots", "--json").json["snapshots"] if row["id"] == first["snapshotId"]]
    done = run("redact", f"{session}#{failed['id']}", "--reason", "a key", "--json").json
    assert done["snapshots"] == [f"snapshot/{uid}"]
    assert f"auth/session.test.ts: {WORD}".encode() not in raw(run)
    assert run("show", unrelated["address"], "--json").json["verdict"] == "match"
    assert run("verify").code == 0


def test_a_file_s_text_is_erased_from_the_workspace_index_and_stays_away(run: Runner) -> None:
    text = f"# Keys\n\nThe {WORD} is the key of acme.\n"
    run.file("work/keys.md", text.encode())
    run.file("work/other.md", b"# Other\n\nThe key of something else.\n")
    asked = ("retrieve", "--question", "the key of acme", "--workspace", str(run.folder / "work"), "--json")
    assert "keys.md:1-3" in [item["sourceRef"] for item in run(*asked).json["selectedItems"]]
    address = f"payload/{hashlib.sha256(text.encode()).hexdigest()}"
    done = run("redact", address, "--reason", "a key", "--json").json
    assert (done["texts"], done["records"], len(done["snapshots"])) == (1, 1, 1)
    assert WORD.encode() not in raw(run)
    again = run(*asked).json
    assert [item["sourceRef"] for item in again["selectedItems"]] == ["other.md:1-3"]
    assert run("verify").code == 0


def test_no_agent_erases_and_what_cannot_be_is_refused(run: Runner, monkeypatch: pytest.MonkeyPatch) -> None:
    session, _ = recorded(run)
    for address, said in (
        ("entry/0", "as a whole"),
        ("session/none", "no session"),
        ("nonsense", ""),
        ("payload/" + "0" * 64, "SHA-256"),
        ("gate/x", "no gate run"),
    ):
        done = run("redact", address, "--reason", "x")
        assert (done.code, said in done.err) == (2, True), done.err
    assert run("redact", session).code == 2
    done = run("redact", session, "--reason", "x", "--as", "somebody else", "--json")
    assert (done.code, done.json["refused"]["code"]) == (2, "not_allowed")
    monkeypatch.setenv("CLAUDECODE", "1")
    done = run("redact", session, "--reason", "x", "--json")
    assert (done.code, done.json["refused"]["code"]) == (2, "agent")
    assert WORD.encode() in run("show", session, "--json").raw


def test_only_a_reviewer_of_the_policy_erases(run: Runner) -> None:
    session, _ = recorded(run)
    file = str(run.file("p.toml", b'reviewers = ["ada"]\n'))
    assert run("policy", "apply", file, "--reason", "two of us").code == 0
    refused = run("redact", session, "--reason", "x", "--json")
    assert (refused.code, refused.json["refused"]["code"]) == (2, "not_allowed")
    assert WORD.encode() in raw(run) or run("search", WORD, "--json").json["hits"]
    assert run("redact", session, "--reason", "x", "--as", "ada").code == 0
    assert WORD.encode() not in raw(run)


def test_what_repeats_it_goes_and_what_says_the_same_is_named(run: Runner) -> None:
    said = f"The {WORD} key is under the mat by the door"
    run.stdin = line("s-1", 1, "user.message", said) + line("s-2", 1, "user.message", said)
    run("record")
    run.stdin = line("s-1", 1, "user.message", said)
    run("record")
    found = {one["nativeId"]: f"session/{one['id']}" for one in run("sessions", "--json").json["sessions"]}
    (other,) = events(run, found["s-2"])
    tried = run("redact", found["s-1"], "--reason", "x", "--dry-run", "--json").json
    assert [one["line"] for one in tried["copies"]] == [1]
    assert tried["elsewhere"] == [other["address"]]
    done = run("redact", found["s-1"], "--reason", "x")
    assert f"not {other['address']}, which says the same" in done.out
    assert "which repeats it" in done.out
    assert run("show", other["address"], "--json").json["events"][0]["text"] == said
    assert run("verify", "--json").json["withheld"] == 2
    again = run("redact", other["address"], "--reason", "x", "--json").json
    assert again["elsewhere"] == []
    assert WORD.encode() not in raw(run)


def test_a_gate_run_is_erased_and_its_address_says_by_whom(run: Runner) -> None:
    hits = [{"id": "m", "title": f"On the {WORD}", "score": 0.1, "status": "approved"}]
    file = str(run.file("h.json", json.dumps(hits).encode()))
    gone, kept = (run("recall", word, "--hits", file, "--json").json["address"] for word in (f"a {WORD}", "another"))
    assert run("redact", kept, "--reason", "x", "--dry-run").code == 0
    done = run("redact", gone, "--reason", "x", "--json").json
    shown = run("show", gone)
    assert (shown.code, f"withheld by entry {done['entries'][0]}" in shown.err) == (2, True)
    listed = {one["address"]: one["query"] for one in run("gate-runs", "--json").json["gateRuns"]}
    assert listed == {gone: "", kept: "another"}
    assert run("show", kept).code == 0
    assert run("verify", "--json").json["holds"]
    assert run("redact", kept, "--reason", "x").code == 0
    assert WORD.encode() not in raw(run)
    assert run("verify", "--json").json["holds"]
    assert run("rebuild").code == 0
    assert run("verify", "--json").json["holds"]


def test_the_contents_of_a_policy_change_are_erased_and_recall_waits_for_another(run: Runner) -> None:
    file = str(run.file("p.toml", f"[gate.default]\nsuperseded_words = ['{WORD}']\n".encode()))
    entry = run("policy", "apply", file, "--reason", f"the {WORD}", "--json").json["entry"]
    done = run("redact", f"entry/{entry}", "--reason", "x", "--json").json
    assert (done["contents"], done["records"]) == (3, 0)
    assert WORD.encode() not in raw(run)
    (change,) = run("policy", "show", "--json").json["history"]
    assert (change["reason"], change["withheldBy"]) == (None, done["entries"][0])
    assert run("verify", "--json").json["holds"]
    hits = str(run.file("h.json", b"[]"))
    assert run("recall", "x", "--hits", hits).code == 2
    assert run("policy", "apply", str(run.file("q.toml", b"")), "--reason", "anew").code == 0
    assert run("recall", "x", "--hits", hits).code == 0
    assert run("verify", "--json").json["holds"]


def test_an_erased_snapshot_answers_at_its_address_and_is_passed_over(run: Runner) -> None:
    shown = {"citationId": "c#1", "sourceRef": "x", "visibleText": f"{WORD} {WORD}", "tokens": 2}
    stats = dict.fromkeys(("filtered", "rankedOut", "trimmed", "redacted"), 0) | {"recalled": 1, "selected": 1}
    snapshot = {
        "id": "r-9",
        "createdAt": "2026-05-14T10:00:00Z",
        "selectedItems": [shown],
        "rejectedItems": [],
        "candidateStats": stats,
    }
    run.stdin = json.dumps({"type": "retrieval.snapshot", "session": None, "snapshot": snapshot}).encode()
    run.file("own.jsonl", run.stdin + b"\n")
    assert run("import", str(run.folder / "own.jsonl")).code == 0
    (row,) = run("snapshots", "--json").json["snapshots"]
    entry = run("redact", row["address"], "--reason", "x", "--json").json["entries"][0]
    refused = run("show", row["address"])
    assert (refused.code, f"withheld by entry {entry}" in refused.err) == (2, True)
    (after,) = run("snapshots", "--json").json["snapshots"]
    assert (after["id"], after["verdict"], after["candidateStats"]) == ("r-9", "text_missing", row["candidateStats"])
    asked = run("what-if", "--since", "2020-01-01", "--budget", "1", "--json")
    assert (asked.code, asked.json["snapshots"]) == (0, [])
    assert WORD.encode() not in raw(run)
    assert run("verify", "--json").json["holds"]


def test_on_a_terminal_it_asks_first(run: Runner, monkeypatch: pytest.MonkeyPatch) -> None:
    session, _ = recorded(run)
    asked = []

    def confirm(text: str, **_: Any) -> None:
        asked.append(text)
        raise click.Abort

    monkeypatch.setattr(click, "confirm", confirm)
    monkeypatch.setattr("console.commands.redact.asks", lambda _: True)
    assert run("redact", session, "--reason", "x").code == 130
    assert len(asked) == 1
    assert run("verify", "--json").json["withheld"] == 0
    assert run("redact", session, "--reason", "x", "--yes").code == 0
    assert len(asked) == 1
