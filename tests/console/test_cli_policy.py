"""``affidavit policy``: shown, checked and applied, by people only; and the recall gate judges by it."""

from __future__ import annotations

import getpass
import json
from pathlib import Path

import pytest
from cli_runner import Runner

AT = "2026-05-14T12:00:00Z"
HIT = {"id": "a", "title": "A", "body": "b", "score": 0.5, "status": "approved", "updatedAt": "2026-05-01T00:00:00Z"}
LENIENT = b"[gate.default]\nmin_score = 0.4\n"


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Runner:
    monkeypatch.setenv("AFFIDAVIT_STORE", str(tmp_path / "s.db"))
    return Runner(monkeypatch, tmp_path)


def apply(run: Runner, data: bytes, *words: str) -> tuple[int, dict[str, object]]:
    done = run("policy", "apply", str(run.file("p.toml", data)), "--reason", "asked for", "--json", *words)
    return done.code, done.json


def test_settings_act_once_applied_and_recall_says_by_which_entry(run: Runner) -> None:
    hits = str(run.file("h.json", json.dumps([HIT]).encode()))
    words = ("recall", "x", "--hits", hits, "--at", AT, "--json")
    before = run(*words).json
    assert (before["acceptedIds"], before["policyEntry"], before["settings"]["minScore"]) == ([], None, 0.78)
    file = str(run.file("p.toml", LENIENT))
    assert run("policy", "check", file).code == 0
    assert run(*words).json["acceptedIds"] == []
    code, said = apply(run, LENIENT)
    assert (code, said["applied"], said["actor"]) == (0, True, getpass.getuser())
    assert said["changes"] == [{"key": "gate.default.minScore", "before": 0.78, "after": 0.4}]
    after = run(*words).json
    assert (after["acceptedIds"], after["policyEntry"], after["settings"]["minScore"]) == (
        ["a"], said["entry"], 0.4,
    )  # fmt: skip
    assert f"entry/{said['entry']}" in run("recall", "x", "--hits", hits, "--at", AT).err


def test_settings_that_are_not_applied_can_only_be_tried(run: Runner) -> None:
    hits = str(run.file("h.json", json.dumps([HIT]).encode()))
    file = str(run.file("p.toml", LENIENT))
    words = ("recall", "x", "--hits", hits, "--at", AT, "--settings", file, "--json")
    refused = run(*words)
    assert (refused.code, refused.raw) == (2, b"")
    tried = run(*words, "--dry-run").json
    assert (tried["acceptedIds"], tried["accepted"], tried["policyEntry"]) == (["a"], [], None)


def test_show_gives_the_defaults_then_what_was_applied(run: Runner) -> None:
    run("import", str(run.log()))
    first = run("policy", "show", "--json").json
    assert (first["applied"], first["entry"], first["history"]) == (False, None, [])
    assert first["policy"]["gate"]["default"]["maxHits"] == 8
    apply(run, LENIENT)
    then = run("policy", "show", "--json").json
    assert then["applied"]
    assert then["policy"]["gate"]["default"]["minScore"] == 0.4
    assert [one["reason"] for one in then["history"]] == ["asked for"]
    words = run("policy", "show")
    assert "minScore: 0.4" in words.out
    assert "asked for" in words.err
    # What is shown can be applied as it is.
    assert run("policy", "check", str(run.file("q.json", json.dumps(then["policy"]).encode()))).code == 0


def test_check_names_every_mistake_and_applying_them_is_refused(run: Runner) -> None:
    file = str(run.file("p.toml", b"[gate.default]\nmin_scor = 0.4\n\nmax_hits = -1\n"))
    done = run("policy", "check", file, "--json")
    assert (done.code, done.json["holds"]) == (1, False)
    assert [(one["line"], one["key"]) for one in done.json["problems"]] == [
        (2, "gate.default.min_scor"), (4, "gate.default.max_hits"),
    ]  # fmt: skip
    assert (
        f"{file}:2: gate.default.min_scor: there is no such setting (did you mean minScore?)"
        in run("policy", "check", file).out.splitlines()
    )
    refused = run("policy", "apply", file, "--reason", "r")
    assert (refused.code, refused.raw) == (2, b"")
    assert not Path(run.folder / "s.db").exists()
    assert run("policy", "check", "absent.toml").code == 2


@pytest.mark.parametrize("marker", ["CLAUDECODE", "CODEX_SANDBOX"])
def test_an_agent_is_refused_and_nothing_is_made(run: Runner, monkeypatch: pytest.MonkeyPatch, marker: str) -> None:
    monkeypatch.setenv(marker, "1")
    code, said = apply(run, LENIENT)
    assert (code, said["refused"]["code"]) == (2, "agent")  # type: ignore[index]
    assert not Path(run.folder / "s.db").exists()


def test_only_reviewers_apply(run: Runner) -> None:
    assert apply(run, b'reviewers = ["ada"]\n')[0] == 0
    code, said = apply(run, LENIENT)
    assert (code, said["refused"]["code"]) == (2, "not_allowed")  # type: ignore[index]
    assert apply(run, b'reviewers = ["ada"]\n' + LENIENT, "--as", "ada")[0] == 0
    assert apply(run, b'reviewers = ["ada"]\n' + LENIENT, "--as", "ada")[1]["applied"] is False
    assert run("verify", "--json").json["holds"]


@pytest.mark.parametrize("words", [(), ("--reason", ""), ("--reason", "a\nb"), ("--reason", "x", "--as", " ")])
def test_a_decision_needs_a_reason_and_a_name(run: Runner, words: tuple[str, ...]) -> None:
    file = str(run.file("p.toml", LENIENT))
    assert run("policy", "apply", file, *words).code == 2
    assert not Path(run.folder / "s.db").exists()


def test_hostile_names_and_files_reach_no_terminal(run: Runner) -> None:
    file = str(run.file("p.toml", b'[gate.spaces."\\u001b[2J"]\nbad = 1\n'))
    done = run("policy", "check", file)
    assert done.code == 1
    assert b"\x1b" not in done.raw


def test_what_if_takes_the_same_files(run: Runner) -> None:
    run("import", str(run.log()))
    words = ("what-if", "--since", "2020-01-01", "--json", "--settings")
    assert run(*words, str(run.file("p.toml", LENIENT))).code == 0
    refused = run(*words, str(run.file("q.toml", b"[gate.default]\nbad = 1\n")))
    assert (refused.code, "q.toml:2" in refused.err) == (2, True)
