"""The demo is the same every time, and its tampered copy is found out, by name."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import sample_sessions
from sample_sessions.demo import CLAIMED, SAID
from storage import driver

Affidavit = Callable[..., tuple[int, Any]]


def rows(path: str) -> dict[str, list[tuple[Any, ...]]]:
    """Every row of every table of a store, but the full-text index's own."""
    connection = driver.connect_reader(path)
    names = [row[0] for row in connection.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")]
    found = {n: connection.execute(f"SELECT * FROM {n}").fetchall() for n in names if not n.startswith("ix_")}
    connection.close()
    return found


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> sample_sessions.DemoResult:
    return sample_sessions.build(tmp_path_factory.mktemp("demo"))


@pytest.fixture
def affidavit(capsys: pytest.CaptureFixture[str]) -> Affidavit:
    from console.main import main

    def run(*words: str) -> tuple[int, Any]:
        capsys.readouterr()
        code = main([*words, "--json"])
        return code, json.loads(capsys.readouterr().out)

    return run


def test_the_demo_holds_the_same_rows_wherever_and_whenever_it_is_made(
    demo: sample_sessions.DemoResult, tmp_path: Path
) -> None:
    other = sample_sessions.build(tmp_path / "elsewhere")
    assert rows(demo.store) == rows(other.store)
    assert rows(demo.tampered_store) == rows(other.tampered_store)
    assert demo.sessions == other.sessions
    assert demo.tampered == other.tampered


def test_a_demo_that_is_there_is_kept(tmp_path: Path) -> None:
    first = sample_sessions.build(tmp_path)
    before = Path(first.store).stat()
    assert sample_sessions.build(tmp_path) == first
    assert Path(first.store).stat().st_ino == before.st_ino


def test_a_demo_made_from_other_stories_is_made_anew(tmp_path: Path) -> None:
    first = sample_sessions.build(tmp_path)
    before = rows(first.store)
    (tmp_path / "demo.made-from").write_text("something else")
    Path(first.store).write_bytes(b"")
    assert rows(sample_sessions.build(tmp_path).store) == before


def test_the_sessions_bear_their_titles(demo: sample_sessions.DemoResult) -> None:
    assert [session.title for session in demo.sessions] == [
        "Fix the failing role test",
        "Make the role test green",
        "Move the commands to parser v2",
    ]


def test_the_rules_in_force_are_one_command_away(demo: sample_sessions.DemoResult, affidavit: Affidavit) -> None:
    for session in demo.sessions:
        code, told = affidavit("rules", f"session/{session.id}", "--store", demo.store)
        assert code == 0
        assert [(rule["scope"], rule["kind"], rule["basis"]) for rule in told["rules"]] == [
            ("user", "claude", "known_after"),
            ("project", "claude", "known_after"),
        ]
        assert told["rules"][1]["sections"][2]["headings"] == ["build-harness", "Tests"]


def test_the_stories_are_counted_as_they_are_told(demo: sample_sessions.DemoResult, affidavit: Affidavit) -> None:
    code, told = affidavit("sessions", "--store", demo.store)
    assert code == 0
    counted = {s["title"]: (s["turns"], s["lanes"], s["branches"], s["unreadable"]) for s in told["sessions"]}
    assert counted == {
        "Fix the failing role test": (7, 1, 1, 0),
        "Make the role test green": (4, 1, 1, 0),
        "Move the commands to parser v2": (4, 3, 2, 0),
    }


def test_the_demo_holds(demo: sample_sessions.DemoResult, affidavit: Affidavit) -> None:
    code, told = affidavit("verify", "--store", demo.store)
    assert (code, told["holds"], told["failures"]) == (0, True, [])


def test_verify_names_the_answer_that_was_changed_and_nothing_else(
    demo: sample_sessions.DemoResult, affidavit: Affidavit
) -> None:
    code, told = affidavit("verify", "--store", demo.tampered_store)
    assert (code, told["holds"]) == (1, False)
    assert [failure["address"] for failure in told["failures"]] == [demo.tampered]


def test_only_the_answer_differs(demo: sample_sessions.DemoResult, affidavit: Affidavit) -> None:
    _, good = affidavit("show", demo.tampered, "--store", demo.store)
    _, bad = affidavit("show", demo.tampered, "--store", demo.tampered_store)
    (event,) = bad["events"]
    assert event["flags"] == ["not_as_recorded"]
    event["flags"] = []
    assert json.dumps(good).replace(SAID, CLAIMED) == json.dumps(bad)
    assert SAID in json.dumps(good)
