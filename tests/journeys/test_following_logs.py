"""Finding what agents left, and staying with a folder while an agent works in it."""

from __future__ import annotations

import json
import os
import re
import signal
import time
from pathlib import Path
from typing import Any

import pytest

from storage.archive import Archive
from storage.store import StoreError
from tests.journeys.driving import PATIENCE, ROOT, Started, affidavit
from tests.storage.claude_fixtures import SESSION, chain, lines, person, says

SOON = 3.0
"""Seconds after which a line that was written must be there; a second on a machine that does nothing else."""


def texts() -> list[str]:
    try:
        with Archive.open(os.environ["AFFIDAVIT_STORE"]) as archive:
            return [event.text for row in archive.sessions().rows for event in archive.iter_events(row.key)]
    except StoreError:
        return []


def found_within(seconds: float, expected: list[str]) -> None:
    end = time.monotonic() + seconds
    while texts() != expected:
        assert time.monotonic() < end, f"found only {texts()}"
        time.sleep(0.02)


@pytest.mark.parametrize("ends", [signal.SIGINT, signal.SIGTERM])
def test_a_running_session_appears_as_it_happens_and_stopping_is_a_good_end(
    tmp_path: Path, ends: signal.Signals
) -> None:
    one, two, three = lines(chain(person("Fix it", "p1"), says("Looking"), says("Done"))).splitlines(keepends=True)
    folder = tmp_path / "projects"
    folder.mkdir()
    file = folder / "s.jsonl"
    file.write_bytes(one)
    running = Started("import", "--follow", str(folder), "--json")
    found_within(PATIENCE, ["Fix it"])
    for part, expected in ((two + three[:30], ["Fix it", "Looking"]), (three[30:], ["Fix it", "Looking", "Done"])):
        with file.open("ab") as more:
            more.write(part)
        found_within(SOON, expected)
    running.process.send_signal(ends)
    done = running.end()
    assert done.code == 0, done.err
    told = done.json
    assert (told["sessions"], told["events"], told["records"], told["mapped"]) == (1, 3, 3, 3)
    assert [(one["path"], one["records"]) for one in told["files"]] == [(str(file), 3)]
    assert affidavit("verify").code == 0


def shape(text: str) -> dict[str, Any]:
    """What a command says its JSON is, as names: a list's or an object's own in it."""
    found: dict[str, Any] = {}
    for name, inner in re.findall(r"(\w+)\??(?:\[?\{([^}]*)\}\]?)?", text):
        found[name] = [part.strip(" ?") for part in inner.split(",") if part.strip()] if inner else None
    return found


def test_what_agents_left_is_found_and_read_only_when_asked_for(tmp_path: Path) -> None:
    home = tmp_path / "claude"
    file = home / "projects" / "-w-acme" / "s.jsonl"
    file.parent.mkdir(parents=True)
    file.write_bytes(lines(chain(person("Fix it", "p1"), says("Done"))))
    todos = home / "todos" / f"{SESSION}-agent-{SESSION}.json"
    todos.parent.mkdir()
    todos.write_text('[{"content": "look", "status": "pending", "id": "1"}]')
    places = {"CLAUDE_CONFIG_DIR": str(home), "CODEX_HOME": str(tmp_path / "none")}
    known = affidavit("import", "--discover", "--json", **places)
    assert known.json == {
        "found": [
            {"path": str(home / "projects"), "agent": "Claude Code", "what": "sessions", "sessions": 1, "files": 1,
             "bytes": file.stat().st_size},
            {"path": str(home / "todos"), "agent": "Claude Code", "what": "to-do lists", "sessions": 0, "files": 1,
             "bytes": todos.stat().st_size},
        ]
    }  # fmt: skip
    told = affidavit("import", "--discover", **places)
    assert (told.code, "Claude Code: 1 session" in told.out, "--yes imports it" in told.err) == (0, True, True)
    assert "Claude Code: to-do lists, 1 file" in told.out
    assert texts() == []
    done = affidavit("import", "--discover", "--yes", "--json", **places)
    assert (done.code, json.loads(done.raw)["records"]) == (0, 3)
    assert {"Fix it", "Done"} < set(texts())


def test_the_documents_are_the_ones_the_page_on_commands_promises(tmp_path: Path) -> None:
    home = tmp_path / "claude"
    (home / "projects" / "p").mkdir(parents=True)
    (home / "projects" / "p" / "s.jsonl").write_bytes(lines(chain(person("Hi", "p1"))) + b"nonsense\n{")
    places = {"CLAUDE_CONFIG_DIR": str(home), "CODEX_HOME": str(tmp_path / "none")}
    page = (ROOT / "docs" / "cli.md").read_text("utf-8")
    promised = re.search(r"## `affidavit import`.*?With `--json`: `([^`]*)`", page, re.DOTALL)
    assert promised is not None
    imported, _, found = promised[1].partition("; with --discover and without --yes only ")
    for words, said in ((("--discover", "--yes"), imported), (("--discover",), found)):
        document = affidavit("import", *words, "--json", **places).json
        expected = shape(said)
        assert list(document) == list(expected)
        for name, inner in expected.items():
            if inner is None:
                assert isinstance(document[name], int)
            else:
                assert document[name]
                assert {tuple(one) for one in document[name]} <= {tuple(inner), tuple(inner[:-1])}


@pytest.mark.parametrize(
    "words",
    [
        ("--discover", "folder"),
        ("--yes", "folder"),
        (),
        ("--follow", "-"),
        ("--follow", "--dry-run", "folder"),
        ("--follow", "absent"),
    ],
)
def test_words_that_do_not_go_together_are_refused(words: tuple[str, ...]) -> None:
    assert affidavit("import", *words).code == 2
