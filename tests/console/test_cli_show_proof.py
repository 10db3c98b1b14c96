"""Nothing that was changed in the store is shown as if it had been recorded."""

from __future__ import annotations

from pathlib import Path

import pytest

from console.commands import proving
from sample_sessions.demo import CLAIMED, build
from storage import driver
from tests.console.cli_runner import Runner, own

SAID = "these bytes are not the ones that were recorded (record)"


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, str, str]:
    """The store as it was recorded, the copy in which one answer was changed, and the answer's address."""
    made = build(str(tmp_path_factory.mktemp("demo")))
    return made.store, made.tampered_store, made.tampered


@pytest.fixture
def cli(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Runner:
    return Runner(monkeypatch, tmp_path)


def test_a_changed_answer_is_told_before_it_is_printed(cli, demo):
    whole, tampered, address = demo
    done = cli("show", address, "--store", tampered)
    assert done.code == 1
    assert done.err.splitlines()[0] == f"✗ {address}: {SAID}"
    assert CLAIMED in done.out
    assert "✗ these bytes are not the ones that were recorded" in done.out
    held = cli("show", address, "--store", whole)
    assert (held.code, held.err) == (0, "")
    assert "not the ones" not in held.out


@pytest.mark.parametrize("words", [(), ("--json",), ("--raw",)])
@pytest.mark.parametrize("kind", ["event", "turn", "session"])
def test_whatever_holds_it_is_told_and_ends_with_one(cli, demo, kind, words):
    whole, tampered, address = demo
    session = address.partition("#")[0]
    wanted = {"event": address, "session": session, "turn": session.replace("session/", "turn/") + "/3"}[kind]
    done = cli("show", wanted, *words, "--store", tampered)
    assert done.code == 1
    assert done.err.splitlines()[0] == f"✗ {address}: {SAID}"
    assert CLAIMED.encode() in done.raw
    held = cli("show", wanted, *words, "--store", whole)
    assert held.code == 0
    assert "✗" not in held.err


def test_in_json_the_changed_event_alone_carries_the_flag(cli, demo):
    whole, tampered, address = demo
    session = address.partition("#")[0]
    changed = cli("show", session, "--json", "--store", tampered).json["events"]
    held = cli("show", session, "--json", "--store", whole).json["events"]
    for one, other in zip(changed, held, strict=True):
        flagged = one["address"] == address
        assert ("not_as_recorded" in one["flags"]) == flagged
        if not flagged:
            assert one == other
    (alone,) = cli("show", address, "--json", "--store", tampered).json["events"]
    assert alone["flags"] == ["not_as_recorded"]
    assert cli("show", session + "#" + held[0]["id"], "--store", tampered).code == 0


def test_in_a_list_the_changed_event_is_marked_and_summed_up(cli, demo):
    _, tampered, address = demo
    done = cli("show", address.partition("#")[0], "--store", tampered)
    (line,) = [line for line in done.out.splitlines() if "✗ not as recorded: " in line]
    assert line.startswith("#" + address.partition("#")[2][:8])
    assert "✗ 1 event of these not proven" in done.err


@pytest.mark.parametrize("batch", [1, 7, 500])
def test_every_event_of_a_session_is_proven_however_they_are_taken_together(cli, demo, monkeypatch, batch):
    monkeypatch.setattr(proving, "BATCH", batch)
    _, tampered, address = demo
    events = cli("show", address.partition("#")[0], "--json", "--store", tampered).json["events"]
    assert [event["address"] for event in events if event["flags"] == ["not_as_recorded"]] == [address]


def changed(path: str, statement: str) -> None:
    """What somebody with the file and SQLite can do."""
    connection = driver.connect_writer(path)
    for (name,) in connection.execute("SELECT name FROM sqlite_schema WHERE type = 'trigger'").fetchall():
        connection.execute(f'DROP TRIGGER "{name}"')
    assert connection.execute(statement).rowcount > 0
    connection.close()


def test_a_changed_entry_makes_every_record_under_it_unproven(cli, home):
    cli.stdin = own("one", text="first") + own("one", text="second")
    assert cli("record").code == 0
    changed(str(home / "store.db"), "UPDATE ledger_entry SET leaf = zeroblob(32) WHERE idx = 1")
    done = cli("show", "session/one", "--json")
    assert done.code == 1
    assert [event["flags"][-1] for event in done.json["events"]] == ["not_as_recorded"] * 2
    assert "entry/1" in done.err
    entry = cli("show", "entry/1")
    assert entry.code == 1
    assert "(entry_leaf)" in entry.err
    assert cli("show", "entry/0", "--raw").code == 0


def test_thousands_of_failures_are_not_told_one_by_one(cli, home, monkeypatch):
    monkeypatch.setattr(proving, "MOST_TOLD", 3)
    cli.stdin = b"".join(own("one", text=f"note {n}") for n in range(10))
    assert cli("record").code == 0
    changed(str(home / "store.db"), "UPDATE segment SET salts = CAST(replace(hex(zeroblob(160)), '0', 'x') AS BLOB)")
    done = cli("show", "session/one")
    assert done.code == 1
    assert done.err.count("(record)") == 3
    assert "✗ 10 events of these not proven" in done.err
    assert "✗ 7 failures more than were told" in done.err
