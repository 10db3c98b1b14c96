"""Verifying from the command line: the verdict, its level, what is remembered of it and where."""

from __future__ import annotations

import json
import os
from datetime import UTC, datetime
from pathlib import Path

import pytest

from console.program import InDemo, Program
from console.remembered import KEPT_STORES
from console.settings import Settings, state_folder
from console.state import Verified
from storage import driver
from storage.verify import Marker, VerifyReport, verify
from tests.console.cli_runner import Runner, own
from tests.storage.claude_fixtures import SESSION

NOW = datetime(2026, 5, 14, 10, 0, tzinfo=UTC)


@pytest.fixture
def cli(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Runner:
    runner = Runner(monkeypatch, tmp_path)
    assert runner("import", str(runner.log())).code == 0
    return runner


def store() -> str:
    return os.environ["AFFIDAVIT_STORE"]


def change(statement: str, *values: object) -> None:
    """What somebody with the file and SQLite can do."""
    connection = driver.connect_writer(store())
    for name, _ in connection.execute("SELECT name, sql FROM sqlite_schema WHERE type = 'trigger'").fetchall():
        connection.execute(f'DROP TRIGGER "{name}"')
    assert connection.execute(statement, values).rowcount > 0
    connection.close()


def test_a_store_that_holds_is_told_with_its_level_in_the_documented_shape(cli):
    done = cli("verify", "--json")
    assert done.code == 0
    report = done.json
    assert list(report) == ["holds", "level", "entries", "checked", "failures", "withheld"]
    assert (report["holds"], report["level"], report["entries"], report["withheld"]) == (True, "self-consistent", 2, 0)
    assert report["failures"] == []
    assert report["checked"]["records"] == 14


def test_people_never_get_a_bare_tick(cli):
    words = cli("verify").out
    assert "✓ holds, on the level self-consistent" in words
    assert "does not claim:\n  that the agent told the truth\n" in words


def test_what_does_not_hold_is_named_with_its_class_and_an_address_that_opens(cli):
    change("UPDATE event SET summary = 'something else' WHERE kind = 'user.message' AND turn = 2")
    done = cli("verify", "--json")
    assert done.code == 1
    (failure,) = done.json["failures"]
    assert list(failure) == ["address", "class", "detail"]
    assert failure["class"] == "fold_differs"
    (event,) = cli("show", failure["address"], "--json").json["events"]
    assert event["kind"] == "user.message"
    assert cli("verify").code == 1
    assert "✗ does not hold: 1 failure" in cli("verify").out


def test_only_what_is_new_is_checked_on_request_and_the_rest_is_said(cli):
    first = cli("verify", "--since-last", "--json")
    assert "since" not in first.json
    cli.stdin = own(text="new")
    cli("record")
    second = cli("verify", "--since-last", "--json")
    assert second.code == 0
    assert second.json["since"]["entries"] == 2
    assert second.json["checked"]["entries"] == 2
    assert "entries 0 to 3 and the tables were not checked again since" in cli("verify", "--since-last").out


def test_a_ledger_cut_back_since_the_last_verification_is_noticed(cli):
    cli.stdin = own(text="new")
    cli("record")
    assert cli("verify").code == 0
    for table in ("segment", "ledger_entry"):
        change(f"DELETE FROM {table} WHERE {'entry' if table == 'segment' else 'idx'} >= 3")
    done = cli("verify", "--since-last", "--json")
    assert done.code == 1
    assert "rolled_back" in {failure["class"] for failure in done.json["failures"]}


@pytest.mark.parametrize("address", [f"session/{SESSION}", f"turn/{SESSION}/2", "entry/0", "entry/1"])
def test_one_address_is_checked_alone(cli, address):
    change("UPDATE event SET summary = 'tables are not looked at' WHERE turn = 2")
    done = cli("verify", address, "--json")
    assert done.code == 0, done.raw
    assert done.json["checked"]["paths"] >= 1
    assert "tables were not compared" in cli("verify", address).out


def test_a_changed_record_fails_at_its_own_address_and_at_no_other(cli):
    events = cli("show", f"session/{SESSION}", "--json").json["events"]
    entry, salts = 1, b""
    connection = driver.connect_reader(store())
    (salts,) = connection.execute("SELECT salts FROM segment WHERE entry = ?", (entry,)).fetchone()
    connection.close()
    # The third record's salt is another one now, so its bytes no longer fit what was committed to.
    change("UPDATE segment SET salts = ? WHERE entry = ?", salts[:64] + b"\1" * 32 + salts[96:], entry)
    lines = [event["source"]["line"] for event in events]
    for event, line in zip(events, lines, strict=True):
        done = cli("verify", event["address"], "--json")
        assert done.code == (1 if line == 3 else 0), (line, done.raw)
        if line == 3:
            assert [failure["class"] for failure in done.json["failures"]] == ["record"]
            assert done.json["failures"][0]["address"] == event["address"]
    assert cli("verify", f"session/{SESSION}").code == 1


def test_an_address_that_is_not_there_cannot_be_verified(cli):
    assert cli("verify", "session/nobody").code == 2
    assert cli("verify", "entry/77").code == 2
    assert cli("verify", "memory/m").code == 2
    assert cli("verify", "entry/0", "--since-last").code == 2


# --------------------------------------------------------------------------------------- what is remembered


def test_a_copy_of_a_store_is_not_taken_for_the_store_that_was_verified(cli):
    assert cli("verify").code == 0
    copy = cli.folder / "copy.db"
    connection = driver.connect_writer(store())
    connection.execute("VACUUM INTO ?", (str(copy),))
    connection.close()
    assert Verified(store()).marker() is not None
    assert Verified(str(copy)).marker() is None


def test_the_marker_moves_only_when_everything_held(cli):
    assert cli("verify").code == 0
    before = Verified(store()).marker()
    cli.stdin = own(text="new")
    cli("record")
    change("UPDATE event SET summary = 'x'")
    assert cli("verify").code == 1
    assert Verified(store()).marker() == before
    last = Verified(store()).last()
    assert last is not None
    assert last.holds is False
    assert last.failures


def test_another_store_under_the_same_name_and_id_is_called_forked(cli):
    """Somebody swaps the file: everything in it fits together, but it is not what was verified here."""
    cli.stdin = own(text="one")
    cli("record")
    assert cli("verify").code == 0
    kept = Verified(store()).marker()
    for table in ("segment", "ledger_entry"):
        change(f"DELETE FROM {table} WHERE {'entry' if table == 'segment' else 'idx'} >= 3")
    cut = cli("verify", "--json")
    assert "rolled_back" in {failure["class"] for failure in cut.json["failures"]}
    assert "delete" in cli("verify").out
    assert str(state_folder()) in cli("verify").out
    assert Verified(store()).marker() == kept
    assert kept is not None
    found = verify(store(), known=Marker(3, b"\1" * 32))
    assert "forked" in {failure.kind for failure in found.failures}
    assert found.since is None
    assert "forked" in {failure.kind for failure in verify(store(), known=Marker(2, b"\1" * 32)).failures}


@pytest.mark.usefixtures("cli")
def test_what_an_earlier_run_found_stays_until_everything_is_checked_again():
    program = Program(store(), Settings())
    assert program.verify(lambda *_: None, never, full=True).holds
    change("UPDATE event SET summary = 'x'")
    assert not program.verify(lambda *_: None, never, full=True).holds
    new = program.verify(lambda *_: None, never)
    assert (new.holds, new.level) == (False, "none")
    assert new.failures
    last = program.last_verified()
    assert last is not None
    assert not last.holds


def test_an_entry_counts_as_checked_only_in_the_file_as_it_is_now(cli):
    program = Program(store(), Settings())
    assert program.verify(lambda *_: None, never, full=True).covers(0)
    again = program.verify(lambda *_: None, never)
    assert (again.since, again.covers(0)) == (2, True)
    cli.stdin = own(text="new")
    cli("record")
    last = program.last_verified()
    assert last is not None
    assert last.stale
    assert not last.covers(0)
    new = program.verify(lambda *_: None, never)
    assert (new.covers(1), new.covers(2)) == (False, True)
    assert program.verify(lambda *_: None, never, full=True).covers(1)


def test_what_is_remembered_says_nothing_of_what_sessions_say(cli):
    change("UPDATE event SET summary = 'sk-test-secret'")
    cli("verify")
    kept = (state_folder() / "verified.json").read_text()
    assert "secret" not in kept
    assert "role" not in kept


@pytest.mark.parametrize("damage", ["", "[]", "{", '{"a": 1}', "null", "\ud800", "[" * 100_000])
def test_a_damaged_memory_counts_as_none(cli, damage):
    cli("verify")
    (state_folder() / "verified.json").write_bytes(damage.encode("utf-8", "surrogatepass"))
    known = Verified(store())
    assert (known.marker(), known.marked_at(), known.last()) == (None, None, None)
    known.remember(verify(store()), NOW)
    assert known.marker() is not None


def test_every_damaged_field_counts_as_not_remembered(cli):
    cli("verify")
    file = state_folder() / "verified.json"
    ((key, entry),) = json.loads(file.read_text()).items()
    for name in entry["last"]:
        for wrong in (None, [], "x", {"a": "b"}):
            file.write_text(json.dumps({key: {"last": {**entry["last"], name: wrong}}}))
            Verified(store()).last()
    for wrong in (None, 7, {}, {"size": "x", "root": "zz"}, {"size": 1}):
        file.write_text(json.dumps({key: {"marker": wrong}}))
        assert Verified(store()).marker() is None


def test_stores_that_were_long_not_seen_are_forgotten(tmp_path):
    file = tmp_path / "verified.json"
    report = VerifyReport(entries=1, root=b"\0" * 32)
    for number in range(KEPT_STORES + 5):
        Verified(str(tmp_path / f"{number}.db"), file).remember(report, NOW)
    assert len(json.loads(file.read_text())) == KEPT_STORES
    assert Verified(str(tmp_path / "0.db"), file).marker() is None
    assert Verified(str(tmp_path / f"{KEPT_STORES + 4}.db"), file).marker() is not None


# ------------------------------------------------------------------------------------ what the console is given


def never() -> bool:
    return False


@pytest.mark.usefixtures("cli")
def test_the_console_gets_the_same_verdict_and_remembers_it():
    program = Program(store(), Settings())
    assert program.last_verified() is None
    steps: list[str] = []
    found = program.verify(lambda stage, _done, _total: steps.append(stage), never)
    assert (found.holds, found.level, found.since) == (True, "self-consistent", None)
    assert steps
    last = program.last_verified()
    assert last is not None
    assert (last.entries, dict(last.checked)) == (found.entries, dict(found.checked))
    assert last.finished is not None
    assert found.finished is not None
    assert abs((found.finished - last.finished).total_seconds()) < 1
    assert program.verify(lambda *_: None, never).since == 2
    assert program.verify(lambda *_: None, never, full=True).since is None


@pytest.mark.usefixtures("cli")
def test_a_verification_that_is_stopped_says_nothing():
    program = Program(store(), Settings())
    assert program.verify(lambda *_: None, lambda: True).cancelled
    assert program.last_verified() is None


def test_the_console_imports_and_can_stop(cli, tmp_path):
    other = tmp_path / "other.db"
    program = Program(str(other), Settings())
    assert program.last_verified() is None
    stopped = program.import_(str(cli.folder / "projects"), lambda *_: None, lambda: True)
    assert stopped.cancelled
    done = program.import_(str(cli.folder / "projects"), lambda *_: None, never)
    assert (done.sessions, done.cancelled, done.skipped) == (1, False, 0)


def test_the_demo_opens_beside_the_store_and_takes_no_imports(cli, home):
    program = Program(store(), Settings())
    with program.demo()() as archive:
        assert archive.count_sessions().value == 3
    assert (home / "demo.db").exists()
    with pytest.raises(InDemo, match="stays as it is"):
        program.import_(str(cli.folder), lambda *_: None, never)


def test_copying_from_the_console_takes_the_configured_command(tmp_path):
    target = tmp_path / "taken"
    program = Program(store(), Settings(copy_command=("tee", str(target))))
    assert program.copy("evidence", None).way == "command"
    assert target.read_text() == "evidence"
