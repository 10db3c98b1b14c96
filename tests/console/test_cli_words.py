"""The command line says things as the console does: the same words, numbers and sizes, and files by their names."""

from __future__ import annotations

import io
import os
import re
import shutil
from pathlib import Path

import pytest

from console.output import Column, Output, cut_left, laid_out
from console.progress import Meter
from console.screens.verify.report import NAMES
from console.words import CHECKED, count, number, plural, size
from storage import driver
from storage.verify import FAILURES
from tests.console.cli_runner import Runner, own
from tests.storage.claude_fixtures import SESSION


@pytest.fixture
def cli(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Runner:
    return Runner(monkeypatch, tmp_path)


@pytest.fixture
def filled(cli: Runner) -> Runner:
    assert cli("import", str(cli.log())).code == 0
    return cli


class Terminal(io.StringIO):
    """A terminal that keeps what is written to it."""

    def isatty(self) -> bool:
        return True


def test_numbers_and_sizes_are_written_in_one_way():
    assert (number(999), number(51_204), number(1_234_567)) == ("999", "51 204", "1 234 567")
    assert plural(1, "entry") == "1 entry"
    assert plural(1_200, "entry") == "1 200 entries"
    assert plural(2, "branch") == "2 branches"
    assert (size(1), size(512), size(1_234), size(34_100_000)) == ("1 byte", "512 bytes", "1.2 kB", "34.1 MB")
    assert (count(640), count(31_400), count(2_100_000)) == ("640", "31.4k", "2.1M")


def test_what_was_checked_has_the_names_the_console_gives_it(filled):
    assert CHECKED == NAMES
    words = filled("verify").out
    for name in CHECKED.values():
        assert re.search(rf"^{name} +\d", words, re.MULTILINE)
    for name in CHECKED:
        assert not re.search(rf"^{name} ", words, re.MULTILINE)


def test_a_failure_is_told_once(filled, home):
    connection = driver.connect_writer(str(home / "store.db"))
    for (name,) in connection.execute("SELECT name FROM sqlite_schema WHERE type = 'trigger'").fetchall():
        connection.execute(f'DROP TRIGGER "{name}"')
    connection.execute(
        "UPDATE segment SET salts = CAST(substr(salts, 1, 32 * 13) || "
        "CASE substr(salts, 32 * 13 + 1, 1) WHEN CAST('x' AS BLOB) THEN 'y' ELSE 'x' END || "
        "substr(salts, 32 * 13 + 2) AS BLOB)"
    )
    connection.close()
    done = filled("verify", f"session/{SESSION}")
    assert done.code == 1
    assert re.search(
        r"^✗ session/s[0-9a-f]+#[0-9a-f]+  record\n  record 13 of entry 1: its bytes", done.out, re.MULTILINE
    )
    assert FAILURES["record"] not in done.out


def test_doctor_says_sizes_in_units(filled):
    words = filled("doctor").out
    assert re.search(r"\d\.\d [kM]B, 2 entries, schema", words)
    assert re.search(r"\d\.\d [GM]B free", words)
    assert filled("doctor", "--json").json["store"]["bytes"] > 10_000


def test_an_unchanged_folder_has_nothing_new_and_is_left_alone(filled):
    log = filled.log()
    before = (Path(os.environ["AFFIDAVIT_STORE"])).read_bytes()
    done = filled("import", str(log.parent.parent))
    assert (done.code, done.out) == (0, "nothing new in 1 file\n")
    assert (Path(os.environ["AFFIDAVIT_STORE"])).read_bytes() == before


def test_a_replaced_file_is_read_as_a_new_revision_and_named(filled):
    log = filled.log()
    log.write_bytes(log.read_bytes().replace(b"no role", b"no name"))
    done = filled("import", str(log.parent))
    assert done.code == 0
    assert re.search(
        rf"^replaced .* read as a new revision \(1 file\):\n  {re.escape(str(log))}$", done.out, re.MULTILINE
    )
    assert filled("import", str(log.parent)).out == "nothing new in 1 file\n"


def test_skipped_files_are_named_with_the_reason_ten_of_them_and_the_rest_counted(cli):
    for n in range(13):
        cli.file(f"notes/{n:02}.txt", b"dear diary\n" * 20)
    done = cli("import", str(cli.folder / "notes"))
    assert done.code == 0
    assert done.out.startswith("no session log in 13 files\n")
    named = re.findall(
        r"^\S+/notes/(\d\d)\.txt +more than half of its first lines are not JSON$", done.out, re.MULTILINE
    )
    assert named == [f"{n:02}" for n in range(10)]
    assert "and 3 files more; --json names them all\n" in done.out
    assert len(cli("import", "--json", str(cli.folder / "notes")).json["files"]) == 13


def test_a_terminal_that_cannot_draw_is_told_how_to_print_the_store_that_was_meant(cli, monkeypatch):
    monkeypatch.setenv("TERM", "dumb")
    made = cli("demo", "--no-open", "--json").json
    assert f"affidavit sessions --store {made['store']} prints" in cli("demo").err
    assert "affidavit sessions prints" in cli().err
    other = cli.folder / "other store.db"
    assert f"affidavit show session/s1 --store '{other}' prints" in cli("session/s1", "--store", str(other)).err


def test_what_is_no_address_gets_the_kinds_that_exist(filled):
    done = filled("show", "nonsense")
    assert done.code == 2
    assert "addresses are written session/ID, session/ID#EVENT, turn/SESSION/7, " in done.err
    assert not re.search("gate|conclusion", done.err)


# ------------------------------------------------------------------------------------------- long paths


@pytest.mark.parametrize("width", [1, 5, 9, 30])
def test_a_path_that_is_too_long_keeps_its_end(width):
    path = "/home/ada/役割/sessions.jsonl"
    shown = cut_left(path, width)
    assert len(shown) <= width
    assert shown == path or (shown[0] == "…" and path.endswith(shown[1:]))


def test_columns_of_paths_are_cut_from_the_left():
    columns = [Column("file", shrinks=True, least=10, tail=True), Column("why")]
    _, line = laid_out(columns, [["/a/long/way/to/the/file.jsonl", "because"]], width=24)
    assert line == "…the/file.jsonl  because"


def test_a_line_about_a_file_fits_a_terminal_and_is_whole_in_a_pipe(monkeypatch):
    monkeypatch.setenv("COLUMNS", "40")
    path = "/home/ada/.claude/projects/acme/" + SESSION + ".jsonl"
    screen, pipe = Terminal(), io.StringIO()
    Output(out=screen, err=screen).path("  from ", path)
    Output(out=pipe, err=pipe).path("  from ", path)
    assert screen.getvalue().startswith("  from …")
    assert screen.getvalue().endswith(SESSION[-12:] + ".jsonl\n")
    assert len(screen.getvalue()) <= 41
    assert pipe.getvalue() == f"  from {path}\n"


def test_progress_names_the_end_of_a_long_path(monkeypatch):
    monkeypatch.setenv("COLUMNS", "60")
    monkeypatch.setenv("TERM", "xterm")
    screen = Terminal()
    Meter(Output(out=screen, err=screen)).show("/a/long/way/" * 8 + "log.jsonl", 500, 1_000, "3 records")
    assert "log.jsonl" in screen.getvalue()
    assert " 50% of 1.0 kB  3 records  …" in screen.getvalue()


def test_a_list_names_the_files_a_tool_was_given_from_the_sessions_folder_on(cli):
    made = cli("demo", "--no-open", "--json").json["store"]
    session = next(row for row in cli("sessions", "--json", "--store", made).json["sessions"] if "Fix" in row["title"])
    words = cli("show", f"session/{session['id']}", "--store", made).out
    assert re.search(r"▸ +Read: src/auth/session\.ts$", words, re.MULTILINE)
    assert "  in /home/robin/src/build-harness · main\n" in words


def test_hits_stand_in_columns(filled):
    lines = filled("search", "role").out.splitlines()[::2]
    kinds = {re.split(r"  +", line)[2] for line in lines}
    assert len(kinds) > 1
    assert len({line.index(re.split(r"  +", line)[3], 60) for line in lines}) == 1


# --------------------------------------------------------------------------------------- which store is meant

READING = (("sessions",), ("show", "session/one"), ("search", "first"), ("verify",), ("rebuild",), ("doctor",))
WRITING = (("import", "{log}"), ("record",), ("import", "--dry-run", "{log}"))


@pytest.mark.parametrize("way", ["variable", "before", "after", "both"])
@pytest.mark.parametrize("words", [*READING, *WRITING, ("demo", "--no-open")], ids=" ".join)
def test_the_store_can_be_named_in_the_environment_before_and_after_any_command(cli, monkeypatch, home, words, way):
    meant, other = cli.folder / "meant" / "store.db", cli.folder / "other.db"
    meant.parent.mkdir()
    cli.stdin = own("one", text="first")
    assert cli("record").code == 0
    shutil.copy(home / "store.db", meant)
    (home / "store.db").unlink()
    for beside in home.glob("store.db-*"):
        beside.unlink()
    monkeypatch.setenv("AFFIDAVIT_STORE", str(meant if way == "variable" else other))
    cli.stdin = own("two", text="second")
    given = [word.format(log=cli.log()) for word in words]
    store = ["--store", str(meant)]
    line = {
        "variable": [*given, "--json"],
        "before": [*store, *given, "--json"],
        "after": [*given, "--json", *store],
        "both": ["--store", str(other), *given, *store, "--json"],
    }[way]
    done = cli(*line)
    assert done.code == 0, done.err
    assert not other.exists()
    assert done.json
    if words == ("sessions",):
        assert [row["nativeId"] for row in done.json["sessions"]] == ["one"]
    if words[0] in ("import", "record") and "--dry-run" not in words:
        monkeypatch.setenv("AFFIDAVIT_STORE", str(meant))
        assert len(cli("sessions", "--json").json["sessions"]) == 2
    if words[0] == "demo":
        assert done.json["store"] == str(meant.parent / "demo.db")


@pytest.mark.parametrize("words", [("schema",), ("config", "path"), ("completion", "bash")])
def test_commands_without_a_store_take_one_before_them_and_leave_it(cli, words):
    meant = cli.folder / "meant.db"
    assert cli("--store", str(meant), *words).code == 0
    assert not meant.exists()
