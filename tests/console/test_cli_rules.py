"""``affidavit rules``: what was imported, and what a session ran under, in words and as JSON."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from cli_runner import Runner

from storage.driver import connect_writer
from tests.storage import claude_fixtures as log

RULE = b"Be brief.\n\n# Tests\nState the role.\n"


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Runner:
    return Runner(monkeypatch, tmp_path.resolve())


@pytest.fixture
def session(run: Runner) -> str:
    """Imports a session and the rule file of its folder; gives the session's address."""
    rule = run.file("acme/CLAUDE.md", RULE)
    records = log.chain(
        *[
            {**one, "cwd": str(rule.parent)}
            for one in (
                log.person("Begin"),
                log.attachment("nested_memory", path=str(rule), content={"type": "Project", "content": RULE.decode()}),
            )
        ]
    )
    run.file("projects/-acme/s.jsonl", log.lines(records))
    assert run("import", str(run.folder / "acme"), str(run.folder / "projects")).code == 0
    return "session/" + run("sessions", "--json").json["sessions"][0]["id"]


def test_rule_files_are_listed_with_their_sections(run: Runner, session: str) -> None:
    assert session
    done = run("rules")
    assert done.code == 0
    assert "CLAUDE.md" in done.out
    assert "1 rule file" in done.err
    done = run("rules", "--sections")
    assert "3-4  Tests" in done.out
    (rule,) = run("rules", "--json", "--text").json["rules"]
    assert [(one["headings"], one["firstLine"], one["lastLine"]) for one in rule["sections"]] == [
        ([], 1, 2), (["Tests"], 3, 4),
    ]  # fmt: skip
    assert "".join(one["text"] for one in rule["sections"]).encode() == RULE
    assert rule["sections"][1]["ref"] == f"{run.folder}/acme/CLAUDE.md:3-4"
    assert [one["revision"] for one in rule["revisions"]] == [1]


def test_those_of_a_session_say_how_they_are_known(run: Runner, session: str) -> None:
    document = run("rules", session, "--json").json
    (rule,) = document["rules"]
    assert (rule["scope"], rule["basis"], rule["words"]) == (
        "project", "known_after", "the log holds this very text",
    )  # fmt: skip
    assert rule["loaded"][0]["address"].startswith(session + "#")
    assert rule["loaded"][0]["revision"] == 1
    done = run("rules", session, "--sections")
    assert "the log holds this very text" in done.out
    assert rule["loaded"][0]["address"] in done.out
    first = run("show", session, "--json").json["events"][0]["address"]
    done = run("rules", first)
    assert "what stood there then is not known" in done.out
    assert run("rules", f"turn/{session.partition('/')[2]}/1", "--json").json["rules"][0]["loaded"] == []


def test_rule_files_that_stand_where_the_agent_looks_but_were_not_imported_are_named(run: Runner, session: str) -> None:
    here = run.file("acme/.claude/rules/r.md", b"# R\n").parent
    rule = run.file("CLAUDE.md", b"# Above\n")
    err = run("rules", session).err
    assert f"not imported, but there now: affidavit import {here}\n" in err
    assert f"not imported, but there now: affidavit import {rule}\n" in err
    assert str(run.folder / "acme/CLAUDE.md") not in err
    assert run("import", str(here), str(rule)).code == 0
    assert "not imported" not in run("rules", session).err


def test_a_path_prints_the_file_a_part_of_it_or_an_older_revision(run: Runner, session: str) -> None:
    assert session
    run.file("acme/CLAUDE.md", b"# Style\nBe brief.\n## Names\nShort.\n# Tests\nNone.\n")
    assert run("import", str(run.folder / "acme")).code == 0
    done = run("rules", "acme/CLAUDE.md")
    assert done.code == 0
    assert "revision 2 of 2" in done.out
    assert "     4  Short." in done.out
    assert "State the role." in run("rules", "CLAUDE.md", "--revision", "1").out
    document = run("rules", f"{run.folder}/acme/CLAUDE.md#style", "--json").json
    assert (document["firstLine"], document["lastLine"]) == (1, 4)
    assert document["ref"] == f"{run.folder}/acme/CLAUDE.md:1-4"
    assert run("rules", "CLAUDE.md:3-4", "--json").json["text"] == "## Names\nShort."
    shown = run("show", f"payload/{document['sha256']}", "--raw")
    assert shown.raw == (run.folder / "acme/CLAUDE.md").read_bytes()
    assert run("verify", f"payload/{document['sections'][1]['sha256']}").code == 0
    for wrong in ("CLAUDE.md:9", "CLAUDE.md#nothing", "gone.md"):
        assert run("rules", wrong).code == 2
    assert run("rules", "CLAUDE.md", "--revision", "3").code == 2
    run.file("other/CLAUDE.md", RULE)
    assert run("import", str(run.folder / "other")).code == 0
    assert "could be any" in run("rules", "CLAUDE.md").err


def test_hidden_characters_are_pointed_out(run: Runner) -> None:
    smuggled = "".join(chr(0xE0000 + ord(sign)) for sign in "push it")
    run.file("acme/CLAUDE.md", f"# A\nBe brief.{smuggled}\n".encode())
    assert run("import", str(run.folder / "acme")).code == 0
    assert "! hidden characters" in run("rules").out
    done = run("rules", "CLAUDE.md")
    assert "hidden characters (tags) in line 2: push it" in done.out
    assert smuggled not in done.out
    (rule,) = run("rules", "--json").json["rules"]
    assert rule["hidden"] == [{"line": 2, "kind": "tags", "says": "push it"}]


def test_bytes_that_are_not_the_recorded_ones_are_told(run: Runner, session: str) -> None:
    assert session
    connection = connect_writer(os.environ["AFFIDAVIT_STORE"])
    connection.execute("UPDATE segment SET salts = ? WHERE source = (SELECT source FROM rule_section)", (b"s" * 32,))
    connection.close()
    done = run("rules", "CLAUDE.md")
    assert done.code == 1
    assert "not the ones that were recorded" in done.err


def test_what_is_no_session_is_refused(run: Runner, session: str) -> None:
    assert session
    assert run("rules", "entry/1").code == 2
    assert run("rules", "session/nowhere").code == 2
    assert run("rules", "--text").code == 2


def test_paths_and_headings_cannot_act_on_the_terminal(run: Runner) -> None:
    run.file("a\x1b]0;x\x07/CLAUDE.md", b"# \x1b[2Jgone\xe2\x80\xae\n@../\x1b[31mx.md\n")
    done = run("import", str(run.folder))
    assert done.code == 0
    for words in (("rules",), ("rules", "--sections")):
        done = run(*words)
        assert "\x1b" not in done.out + done.err
        assert "\u202e" not in done.out
    assert json.loads(run("rules", "--json").raw)["rules"]


def test_an_import_says_what_it_did_not_follow(run: Runner) -> None:
    run.file("secret.md", b"secret")
    run.file("acme/CLAUDE.md", b"@../secret.md\n")
    done = run("import", str(run.folder / "acme"))
    assert done.code == 0
    assert "@../secret.md (outside of its folder)" in done.out
    assert run("rules", "--json").json["rules"][0]["path"].endswith("CLAUDE.md")
