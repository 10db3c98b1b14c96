"""``affidavit recall``: hits from a file or a pipe, judged, and everything that is none of them listed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from cli_runner import Runner

AT = "2026-05-14T12:00:00Z"


def hit(id: str, **fields: Any) -> dict[str, Any]:
    return {
        "id": id, "title": f"Memory {id}", "body": "pnpm test parser", "score": 0.9, "status": "approved",
        "updatedAt": "2026-05-01T00:00:00Z", "visibility": "shared", "source": "docs", "tags": [], **fields,
    }  # fmt: skip


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Runner:
    return Runner(monkeypatch, tmp_path)


def written(folder: Path, text: str) -> str:
    file = folder / "hits.json"
    file.write_text(text, encoding="utf-8")
    return str(file)


def test_an_array_an_object_and_lines_are_read_alike(run: Runner, tmp_path: Path) -> None:
    hits = [hit("a"), hit("b", score=0.1)]
    forms = (json.dumps(hits), json.dumps({"hits": hits}), "\n\n".join(json.dumps(one) for one in hits))
    for form in forms:
        done = run("recall", "parser tests", "--hits", written(tmp_path, form), "--at", AT, "--json")
        assert (done.code, done.json["acceptedIds"]) == (0, ["a"])
        assert done.json["rejected"] == [{"id": "b", "title": "Memory b", "reason": "low_score"}]
        assert [one["id"] for one in done.json["accepted"]] == ["a"]
        assert done.json["at"] == "2026-05-14T12:00:00.000Z"


def test_a_dry_run_hands_nothing_over(run: Runner, tmp_path: Path) -> None:
    file = written(tmp_path, json.dumps([hit("a")]))
    told = run("recall", "x", "--hits", file, "--at", AT, "--dry-run", "--json").json
    assert (told["dryRun"], told["acceptedIds"], told["accepted"]) == (True, ["a"], [])


def test_the_scope_asked_decides(run: Runner, tmp_path: Path) -> None:
    file = written(tmp_path, json.dumps([hit("a", repo="acme/app"), hit("b", repo="acme/other", userId="mina")]))
    words = ("recall", "x", "--hits", file, "--at", AT, "--scope", "repo:acme/app", "--user", "mina", "--json")
    told = run(*words).json
    assert told["scope"] == {"user": "mina", "repo": "acme/app"}
    assert (told["acceptedIds"], told["rejected"][0]["reason"]) == (["a"], "scope_mismatch")


def test_settings_act_on_their_memory_space(run: Runner, tmp_path: Path) -> None:
    hits = written(tmp_path, json.dumps([hit("a", score=0.5)]))
    settings = tmp_path / "settings.json"
    settings.write_text(json.dumps({"gate": {"spaces": {"build": {"minScore": 0.4}}}}))
    words = ("recall", "x", "--hits", hits, "--at", AT, "--dry-run", "--settings", str(settings), "--json")
    assert run(*words).json["acceptedIds"] == []
    assert run(*words, "--space", "build").json["acceptedIds"] == ["a"]
    settings.write_text('{"gate": {"spaces": {"build": {"minscore": 0.4}}}}')
    refused = run(*words)
    assert (refused.code, refused.raw) == (2, b"")
    assert "minscore" in refused.err


def test_what_is_no_hit_is_listed_and_the_rest_is_judged(run: Runner, tmp_path: Path) -> None:
    lines = [json.dumps(hit("a")), "", "nonsense", json.dumps({"id": "b"}), '"text"']
    file = written(tmp_path, "\n".join(lines))
    done = run("recall", "x", "--hits", file, "--at", AT, "--json")
    assert (done.code, done.json["acceptedIds"]) == (3, ["a"])
    assert [(one["place"], one["id"]) for one in done.json["unreadableList"]] == [(2, ""), (3, "b"), (4, "")]
    words = run("recall", "x", "--hits", file, "--at", AT)
    assert "value 3 is no hit: not JSON" in words.err


@pytest.mark.parametrize(
    "words", [("--scope", "repo"), ("--hits", "absent.json"), ("--hits", "-"), ("--hits", "-", "--scope", "x:y")]
)
def test_what_cannot_be_judged_is_refused(run: Runner, words: tuple[str, ...]) -> None:
    run.stdin = b"nonsense"
    done = run("recall", "x", *words)
    assert (done.code, done.raw) == (2, b"")
    assert "Traceback" not in done.err


def test_nothing_found_and_all_kept_back_are_said_apart(run: Runner, tmp_path: Path) -> None:
    assert "found nothing" in run("recall", "x", "--hits", written(tmp_path, "[]")).err
    kept = run("recall", "x", "--hits", written(tmp_path, json.dumps([hit("a", status="draft")])), "--at", AT)
    assert "all that was found was kept back" in kept.err
    assert "not_approved" in kept.out


def test_hostile_hits_reach_no_terminal(run: Runner, tmp_path: Path) -> None:
    nasty = hit("\x1b[31ma", title="\x1b]0;pwned\x07[bold]x[/]")
    done = run("recall", "\x1b[2J", "--hits", written(tmp_path, json.dumps([nasty])), "--at", AT)
    assert b"\x1b" not in done.raw
    assert "\x1b" not in done.err


def test_every_recall_is_recorded_without_texts_and_shown_again(run: Runner, tmp_path: Path) -> None:
    hits = [hit("a", body="BODYWORD"), hit("b", score=0.1, title="Too far")]
    file = written(tmp_path, json.dumps(hits))
    for words in ((), ("--dry-run",)):
        told = run("recall", "parser", "--hits", file, "--at", AT, "--space", "build", "--json", *words).json
        assert told["recorded"]
        assert told["address"].startswith("gate/g")
    listed = run("gate-runs", "--json").json["gateRuns"]
    assert [one["dryRun"] for one in listed].count(True) == 1
    assert {(one["accepted"], one["rejected"], one["memorySpace"]) for one in listed} == {(1, 1, "build")}
    assert run("gate-runs", "--reason", "stale", "--json").json["gateRuns"] == []
    assert len(run("gate-runs", "--dry-run", "--reason", "low_score", "--json").json["gateRuns"]) == 1
    shown = run("show", told["address"], "--json").json
    assert shown["rejected"] == [{"id": "b", "title": "Too far", "reason": "low_score"}]
    assert (shown["acceptedIds"], shown["query"], shown["dryRun"]) == (["a"], "parser", True)
    assert shown["settings"]["minScore"] == 0.78
    words_ = run("show", told["address"])
    assert "Too far" in words_.out
    assert "low_score" in words_.out
    for text in (words_.out, run("show", told["address"], "--raw").out, json.dumps(shown)):
        assert "BODYWORD" not in text
    assert run("verify", told["address"], "--json").json["holds"]
    assert run("verify", "--json").json["holds"]
    assert run("show", "gate/nothing").code == 2


def test_a_store_that_can_only_be_read_is_said_not_to_be_recorded_in(
    run: Runner, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from storage.store import Store, StoreError

    file = written(tmp_path, json.dumps([hit("a")]))
    run("recall", "x", "--hits", file, "--at", AT)

    def refuse(reason: str) -> None:
        def opened(path: str, **_: Any) -> Store:
            raise StoreError(reason, path, "no")

        monkeypatch.setattr(Store, "open", opened)

    refuse("read_only")
    told = run("recall", "x", "--hits", file, "--at", AT, "--json").json
    assert (told["recorded"], told["address"], told["acceptedIds"]) == (False, None, ["a"])
    assert "not recorded" in run("recall", "x", "--hits", file, "--at", AT).err
    # Where it could be recorded and was not, nothing is handed over.
    refuse("full")
    failed = run("recall", "x", "--hits", file, "--at", AT, "--json")
    assert (failed.code, failed.raw) == (2, b"")


def test_without_hits_the_store_is_searched_and_what_was_revoked_is_kept_back(run: Runner) -> None:
    words = ("recall", "how do the parser's tests run", "--scope", "repo:acme/app", "--json")
    assert run(*words).json["accepted"] == []
    proposed = run("propose", "The parser's tests run with pnpm", "--scope", "repo:acme/app", "--id", "c-1")
    assert proposed.code == 0, proposed.err
    assert run(*words).json["accepted"] == []
    assert run("approve", "c-1", "--reason", "seen").code == 0
    memory = run("memories", "--json").json["memories"][0]["id"]
    (told,) = run(*words).json["accepted"]
    assert (told["id"], told["engine"]) == (memory, "affidavit-lexical")
    assert run("recall", "how do the parser's tests run", "--scope", "repo:acme/other", "--json").json["accepted"] == []
    assert run("revoke", memory, "--reason", "wrong").code == 0
    after = run(*words).json
    assert (after["accepted"], [one["reason"] for one in after["rejected"]]) == ([], ["revoked"])
    assert run("verify").code == 0
