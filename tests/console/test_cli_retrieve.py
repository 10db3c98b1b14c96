"""A scoped retrieval on the command line: its answer, its record, and the record under other settings."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
from cli_runner import Runner

from affidavit.proof.verdict import text_hash

FILES = {
    "src/auth/session.py": "def create_session(user):\n    return {'role': user.role}\n",
    "tests/test_session.py": "def test_session_has_a_role():\n"
    "    assert create_session(create_user_mock())['role'] == 'admin'\n",
    "tests/fixtures.py": "def create_user_mock():\n    return User(name='ada')\n",
    "docs/testing.md": "# Tests\n\nTest mocks must state their role. Never change production defaults.\n",
    "docs/long.md": "# Roles\n\n"
    + "\n\n".join(f"Section {n}: a role is told to the session, at length." for n in range(200)),
    ".gitignore": "build/\n",
    "build/role.py": "role = 'ignored'\n",
    "secret/keys.md": "the role key\n",
}


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Runner:
    monkeypatch.setenv("AFFIDAVIT_STORE", str(tmp_path / "store.db"))
    runner = Runner(monkeypatch, tmp_path)
    for name, text in FILES.items():
        runner.file(f"work/{name}", text.encode())
    return runner


def retrieve(run: Runner, *words: str) -> Any:
    done = run(
        "retrieve", "--question", "Why has the session no role?", "--purpose", "fix-test", "--workspace",
        str(run.folder / "work"), "--anchor", "test=tests/test_session.py", *words, "--json",
    )  # fmt: skip
    assert done.code == 0, done.err
    return done.json


def test_what_is_given_is_what_was_recorded(run: Runner) -> None:
    found = retrieve(run)
    refs = [item["sourceRef"].partition(":")[0] for item in found["selectedItems"]]
    assert "tests/test_session.py" in refs
    assert not any(ref.startswith("build/") for ref in refs)
    stats = found["candidateStats"]
    assert stats["recalled"] == stats["filtered"] + stats["rankedOut"] + stats["trimmed"] + stats["selected"]
    assert len(found["rejectedItems"]) == stats["recalled"] - stats["selected"]
    rendered = found["contextBlock"]["rendered"]
    assert found["contextProjection"]["visibleTextHash"] == text_hash(rendered)
    for item in found["selectedItems"]:
        assert item["visibleText"] in rendered
        assert text_hash(item["visibleText"]) == item["visibleTextHash"]
        assert found["contextProjection"]["citationMap"][item["citationId"]]["snapshotItemId"] == item["id"]
    shown = run("show", found["address"], "--json").json
    assert shown["selectedItems"][0]["visibleText"] == found["selectedItems"][0]["visibleText"]
    assert (shown["verdict"], shown["block"]["text"]) == ("match", rendered)
    assert run("verify", found["address"], "--json").json["holds"]
    assert run("verify").code == 0


def test_required_evidence_that_was_not_found_is_named(run: Runner) -> None:
    found = retrieve(run, "--require", "current-code", "--require", "verified-memory")
    assert found["missingEvidence"] == ["verified-memory"]


def test_a_session_that_asks_has_the_request_and_the_snapshot_in_its_timeline(run: Runner) -> None:
    run.stdin = b'{"type":"session.event","session":"s-1","kind":"user.message","text":"Fix it"}\n'
    run("record")
    (session,) = run("sessions", "--json").json["sessions"]
    found = retrieve(run, "--session", session["id"])
    kinds = [event["kind"] for event in run("show", f"session/{session['id']}", "--json").json["events"]]
    assert kinds == ["user.message", "retrieval.request", "retrieval.snapshot.created"]
    (listed,) = run("snapshots", "--session", session["id"], "--json").json["snapshots"]
    assert listed["id"] == found["snapshotId"]


def test_a_denied_source_is_not_searched(run: Runner) -> None:
    found = retrieve(run, "--deny", "workspace-index", "--deny", "project-documents", "--deny", "team-rules")
    assert {item.get("source") for item in found["selectedItems"]} <= {"decision-records"}
    assert run("retrieve", "--question", "x", "--source", "nowhere").code == 2


def test_a_file_that_came_with_an_old_time_is_found_at_once(run: Runner) -> None:
    retrieve(run)
    moved = run.file("work/moved.md", b"# Peregrine\n\nThe session of the peregrine has a role.\n")
    os.utime(moved, (1_700_000_000, 1_700_000_000))
    found = run("retrieve", "--question", "peregrine", "--workspace", str(run.folder / "work"), "--json").json
    assert [item["sourceRef"] for item in found["selectedItems"]] == ["moved.md:1-3"]


def test_what_is_left_out_of_a_workspace_is_listed(run: Runner) -> None:
    run.file("work/picture.bin", b"\0\1")
    run.file("work/.env", b"A=1")
    found = retrieve(run)
    assert found["indexed"]["leftOut"] == {"binary": 1, "ignored": 1, "secret": 1}
    assert {one["path"]: one["reason"] for one in found["indexed"]["listed"]} == {
        "picture.bin": "binary",
        ".env": "secret",
    }
    done = run("retrieve", "--question", "role", "--workspace", str(run.folder / "work"))
    assert "2 files of the workspace left out: 1 binary, 1 secret" in done.err


def test_a_folder_that_cannot_be_read_is_refused(run: Runner) -> None:
    named = os.fsencode(str(run.folder / "work")) + b"\xff"
    try:
        os.mkdir(named)
    except OSError:
        pytest.skip("this file system takes only names that are UTF-8")
    done = run("retrieve", "--question", "x", "--workspace", os.fsdecode(named))
    assert (done.code, "is no UTF-8" in done.err) == (2, True)
    assert run("retrieve", "--question", "x", "--workspace", str(run.folder / "none")).code == 2


def test_files_are_let_in_and_left_out_by_patterns(run: Runner) -> None:
    def asked(*words: str) -> set[str]:
        found = retrieve(run, *words)
        return {item["sourceRef"].partition(":")[0] for item in (*found["selectedItems"], *found["rejectedItems"])}

    assert asked("--include", "src/") == {"src/auth/session.py"}
    assert asked("--exclude", "docs/", "--exclude", "*.md") == {path for path in asked() if not path.endswith(".md")}


def test_a_failed_check_of_an_earlier_session_in_the_folder_is_found(run: Runner) -> None:
    said = {
        "type": "session.event", "session": "s-0", "kind": "verification", "ok": False, "at": "2026-05-14T10:00:00Z",
        "cwd": str(run.folder / "work"), "text": "tests/test_session.py: the role was undefined",
    }  # fmt: skip
    run.stdin = json.dumps(said).encode() + b"\n"
    assert run("record").code == 0
    found = retrieve(run)
    everything = (*found["selectedItems"], *found["rejectedItems"])
    assert "past-sessions" in {item["source"] for item in everything}
    assert "past-sessions" not in {item["source"] for item in retrieve(run, "--project", "other")["selectedItems"]}


def test_an_approved_memory_is_recalled_through_the_gate_and_others_are_named(run: Runner) -> None:
    def proposed(id: str, content: str, key: str) -> bytes:
        said = {
            "type": "memory.candidate", "id": id, "content": content, "kind": "project_fact", "confidence": "high",
            "scope": {"level": "repo", "key": key}, "source": {"type": "explicit_user", "eventIds": []},
            "status": "pending", "createdAt": "2026-05-14T10:00:00Z", "createdBy": "user",
        }  # fmt: skip
        return json.dumps(said).encode() + b"\n"

    told = "The session role is solved in the fixture, not in the production default"
    run.stdin = proposed("m-1", told, "acme/web") + proposed("m-2", "The session role is somewhere else", "acme/other")
    assert run("record").code == 0
    for id in ("m-1", "m-2"):
        done = run("approve", id, "--reason", "seen")
        assert done.code == 0, done.err
    found = retrieve(run, "--project", "acme/web", "--source", "verified-memory")
    assert [item["visibleText"] for item in found["selectedItems"]] == [told]
    revoked = next(one for one in run("memories", "--json").json["memories"] if "fixture" in json.dumps(one))
    assert run("revoke", revoked["id"], "--reason", "wrong").code == 0
    found = retrieve(run, "--project", "acme/web", "--source", "verified-memory")
    assert found["selectedItems"] == []
    assert [(item["stage"], item["reason"]) for item in found["rejectedItems"]] == [("governance", "revoked")]


def test_as_of_picks_the_version_that_stood_then(run: Runner) -> None:
    retrieve(run)
    then = run("snapshots", "--json").json["snapshots"][0]["at"]
    run.file("work/tests/fixtures.py", b"def create_user_mock():\n    return User(name='ada', role='admin')\n")
    now = retrieve(run, "--anchor", "symbol=create_user_mock", "--max-tokens", "4000")
    before = retrieve(run, "--anchor", "symbol=create_user_mock", "--max-tokens", "4000", "--as-of", then)

    def fixture(found: Any) -> str:
        texts = [item["visibleText"] for item in found["selectedItems"] if "fixtures" in item["sourceRef"]]
        return "\n".join(texts)

    assert "role='admin'" in fixture(now)
    assert "role='admin'" not in fixture(before)
    assert "create_user_mock" in fixture(before)


def test_nothing_is_given_where_the_record_cannot_be_written(run: Runner, monkeypatch: pytest.MonkeyPatch) -> None:
    retrieve(run)

    def full(*_: Any, **__: Any) -> None:
        from storage.store import StoreError

        raise StoreError("full", "store.db", "no room is left on the disk")

    monkeypatch.setattr("storage.retrieving.record_lines", full)
    done = run("retrieve", "--question", "role", "--workspace", str(run.folder / "work"))
    assert done.code == 2
    assert done.out == ""
    assert "no room is left" in done.err


def test_what_if_judges_the_recorded_candidates_and_searches_nothing(run: Runner) -> None:
    found = retrieve(run, "--max-tokens", "400")
    (run.folder / "work" / "docs" / "testing.md").unlink()
    wider = run("what-if", found["address"], "--budget", "4000", "--json").json
    assert wider["changed"]
    assert {moved["before"] for moved in wider["appeared"]} == {"over_budget"}
    nothing = run("what-if", found["snapshotId"], "--min-score", "1", "--json").json
    assert nothing["visible"] == []
    assert {moved["after"] for moved in nothing["gone"]} == {"below_min_score"}
    table = run("what-if", "--since", "2020-01-01", "--budget", "4000", "--json").json
    assert (table["changed"], table["total"], table["snapshots"][0]["id"]) == (1, 1, found["snapshotId"])
    words = run("what-if", "--since", "2020-01-01", "--budget", "4000")
    assert "1 of 1 retrieval would have shown something else" in words.out
    assert run("what-if", found["address"]).code == 2
    assert run("what-if", found["address"], "--weights", "charm=1").code == 2
    assert run("what-if", found["address"], "--allow", "nonsense").code == 2
    assert run("what-if", "--budget", "9").code == 2


def test_two_snapshots_side_by_side(run: Runner) -> None:
    narrow, wide = retrieve(run, "--max-tokens", "300"), retrieve(run, "--max-tokens", "3000")
    done = run("diff", narrow["address"], wide["address"], "--json")
    assert done.code == 1
    moved = [one for one in done.json["candidates"] if one["left"]["place"] != one["right"]["place"]]
    assert ("budget", "visible") in {(one["left"]["place"], one["right"]["place"]) for one in moved}
    assert any(field["path"] == "budget.maxTokens" for field in done.json["fields"])
    same = run("diff", narrow["address"], narrow["address"], "--json")
    assert (same.code, same.json["same"]) == (0, True)
    assert run("diff", narrow["address"], "session/x").code == 2
