"""Erasing on the command line: nowhere in the file any more, said so at its address, every proof whole."""

from __future__ import annotations

import hashlib
import json
import re
from pathlib import Path
from typing import Any

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
        ("gate/x", "nothing can be erased"),
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
