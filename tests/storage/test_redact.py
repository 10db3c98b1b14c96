"""Erasing a recorded text: it is nowhere in the file, its place stays, and every proof still holds."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import claude_fixtures as log
import pytest
import zstandard
from kept import (
    Clock,
    assert_holds,
    assert_same,
    chance,
    dicts,
    events,
    kinds,
    meaning,
    rows,
    store_in,
    tables,
    take,
    write,
)

from storage import driver
from storage.archive import Archive
from storage.importing import Importer
from storage.queries.records import RecordWithheld
from storage.rebuild import rebuild
from storage.redact import Redacted, RedactionError, redact
from storage.store import Store, StoreError
from storage.verify import verify

SECRET = "sk-test-PEREGRINE-7731 is the key of acme"
WORD = b"PEREGRINE"


def secret_log() -> bytes:
    """The secret stands in the first prompt (so in the title), in a call, and four times in a copied message."""
    said = {**log.says(f"I noted {SECRET}", id="msg_2"), "uuid": "copied", "timestamp": "2026-03-02T09:00:30.000Z"}
    records = log.chain(
        log.person(f"Use {SECRET}.", "p1"),
        log.calls("Bash", "toolu_1", command=f"pytest -q --key '{SECRET}'"),
        log.result(f"1 failed with {SECRET}", "toolu_1", promptId="p1"),
        log.says("It failed."),
        log.person("And now?", "p2"),
        log.says("Done.", id="msg_3"),
    )
    return log.lines([*records, said, said, said, said])


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with store_in(tmp_path) as opened:
        take(opened, write(tmp_path / "logs", secret_log()), random=chance())
        yield opened


def erase(store: Store, where: str) -> Redacted:
    found = [n for (n,) in store.connection.execute(f"SELECT n FROM event WHERE {where} ORDER BY n")]
    return redact(store, found, actor="Ada", reason="a key", clock=Clock())


def holding(store: Store) -> str:
    """Events whose record holds the secret."""
    with Archive.open(store.path) as archive:
        unerased = store.connection.execute("SELECT n FROM event WHERE flags NOT LIKE '%withheld%'")
        keys = [n for (n,) in unerased if WORD in archive.raw(n)]
    return f"n IN ({', '.join(map(str, keys))})"


def everywhere(store: Store) -> list[str]:
    """Where in the store's files and decompressed segments the word still is."""
    found = []
    for suffix in ("", "-wal", "-journal"):
        file = Path(store.path + suffix)
        if file.exists() and WORD.lower() in file.read_bytes().lower():
            found.append(f"file{suffix}")
    for entry, data in rows(store.path, "SELECT entry, data FROM segment"):
        if WORD in zstandard.ZstdDecompressor().decompress(data):
            found.append(f"segment {entry}")
    return found


def test_the_text_is_nowhere_and_the_store_holds(store: Store) -> None:
    packed = [data for (data,) in store.connection.execute("SELECT data FROM segment")]
    assert everywhere(store)
    ids = {row["n"]: row["id"] for row in events(store.path)}
    done = erase(store, holding(store))
    assert done.records == 7
    assert everywhere(store) == []
    whole = Path(store.path).read_bytes()
    assert all(data[:64] not in whole for data in packed)
    report = assert_holds(store.path)
    assert report.withheld == done.records
    assert {row["n"]: row["id"] for row in events(store.path)} == ids
    with Archive.open(store.path) as archive:
        assert not archive.search("PEREGRINE").rows
        assert not archive.search("acme").rows
        assert len(archive.search("failed").rows) == 1


def test_its_place_its_pairs_and_its_outcome_stay(store: Store) -> None:
    before = events(store.path)
    erase(store, holding(store))
    after = events(store.path)
    assert len(after) == len(before)
    text = ("summary", "size", "flags", "copies")
    for old, new in zip(before, after, strict=True):
        assert {**old, **dict.fromkeys(text)} == {**new, **dict.fromkeys(text)}
        if "withheld" in new["flags"]:
            assert (new["summary"], new["size"]) == ("", 0)
        else:
            assert old == new
    assert sum("withheld" in row["flags"].split() for row in after) == 4
    assert {row["kind"] for row in after if "withheld" in row["flags"]} == {
        "user.message", "tool.intent", "verification", "model.message",
    }  # fmt: skip


def test_copies_are_erased_with_what_they_are_copies_of(store: Store) -> None:
    done = erase(store, "copies = 4")
    assert done.records == 4
    (row,) = events(store.path, "copies = 4")
    assert "withheld" in row["flags"]
    (source,) = dicts(store.path, "SELECT * FROM source")
    assert source["duplicates"] == 3
    assert source["records"] == source["mapped"] + source["unknown"] + source["duplicates"] + source["unreadable"]


def test_copies_in_another_revision_are_erased_too(store: Store, tmp_path: Path) -> None:
    take(store, write(tmp_path / "logs", b"\n" + secret_log()), random=chance(3))
    done = erase(store, "summary LIKE 'Use %'")
    assert done.records == 2
    assert_holds(store.path)
    erase(store, holding(store))
    assert everywhere(store) == []


def test_a_title_made_of_the_erased_prompt_is_gone(store: Store) -> None:
    (before,) = dicts(store.path, "SELECT * FROM session")
    assert "PEREGRINE" in before["title"]
    erase(store, "kind = 'user.message' AND turn = 1")
    (after,) = dicts(store.path, "SELECT * FROM session")
    assert after["title"] == "And now?"
    assert (after["turns"], after["events"], after["tokens"]) == (2, before["events"], before["tokens"])
    assert after["checked"] == before["checked"] == "failed"


def test_the_address_says_which_entry_withholds_it(store: Store) -> None:
    with Archive.open(store.path) as archive:
        key = next(n for (n,) in store.connection.execute("SELECT n FROM event WHERE kind = 'user.message'"))
        id = archive.event(key).id
    done = erase(store, f"n = {key}")
    with Archive.open(store.path) as archive:
        row = archive.event_by_id(id)
        assert row is not None
        detail = archive.detail(row.key)
        assert (detail.text, detail.withheld_by) == ("", done.entry)
        with pytest.raises(RecordWithheld) as withheld:
            archive.raw(row.key)
        assert withheld.value.by == done.entry


def test_a_rebuild_gives_the_same_tables(store: Store) -> None:
    erase(store, holding(store))
    before = tables(store.path)
    rebuild(store)
    assert tables(store.path) == before
    assert_holds(store.path)


def test_a_file_grows_on_after_an_erasure(store: Store, tmp_path: Path) -> None:
    erase(store, holding(store))
    more = log.lines(log.chain(log.person("More.", "p3"), start=40))
    report = take(store, write(tmp_path / "logs", secret_log() + more))
    assert report.total("records") == 1
    assert report.files[0].note is None
    assert_holds(store.path)


@pytest.mark.parametrize("order", [(0, 1, 2), (2, 1, 0), (1, 0, 2), (1, 2, 0)])
def test_records_without_an_id_stay_apart_whichever_is_erased(tmp_path: Path, order: tuple[int, ...]) -> None:
    """Three equal lines are three events; erasing any of them leaves the others what they are."""
    line = log.lines([log.flat("permission-mode", permissionMode="plan")])
    with store_in(tmp_path) as store:
        take(store, write(tmp_path / "logs", log.lines(log.session()) + line * 3))
        mine = "summary = 'mode: plan' OR flags LIKE '%withheld'"
        ids = [row["id"] for row in events(store.path, mine)]
        assert len(set(ids)) == 3
        for count, place in enumerate(order, 1):
            assert erase(store, f"id = {ids[place]}").records == 1
            after = events(store.path, mine)
            assert [row["id"] for row in after] == ids
            assert sum("withheld" in row["flags"] for row in after) == count
            assert_holds(store.path)
        more = take(store, write(tmp_path / "logs", log.lines(log.session()) + line * 5))
        assert (more.total("records"), more.total("duplicates")) == (2, 0)
        assert_holds(store.path)


def test_a_key_made_of_what_was_said_is_gone(tmp_path: Path) -> None:
    """A prompt without any id is told apart by a digest of its text; that goes with the text."""
    said = {key: value for key, value in log.person(SECRET, uuid=None).items() if key != "uuid"}
    said["timestamp"] = "2026-03-02T09:00:00Z"
    with store_in(tmp_path) as store:
        take(store, write(tmp_path / "logs", log.lines([said, *log.session()])))
        ((key, n),) = store.connection.execute("SELECT key, n FROM turn WHERE key LIKE '=%'").fetchall()
        erase(store, f"n = {n}")
        assert [key] not in [list(row) for row in rows(store.path, "SELECT key FROM turn")]
        assert key.encode() not in Path(store.path).read_bytes()
        assert everywhere(store) == []
        assert_holds(store.path)


@pytest.mark.parametrize("early", [False, True])
def test_the_line_that_sums_up_a_passed_check_is_gone_with_its_text(tmp_path: Path, early: bool) -> None:
    result = log.result(f"run\n14 passed for {SECRET}\n", "t1")
    records = [result] if early else [log.calls("Bash", "t1", {"id": "m1"}, command="pytest -q"), result]
    with store_in(tmp_path) as store:
        take(store, write(tmp_path / "logs", log.lines(log.chain(log.person("Go", "p1"), *records))))
        assert everywhere(store)
        erase(store, holding(store))
        assert everywhere(store) == []
        assert_holds(store.path)


def test_nothing_is_erased_twice_and_nothing_that_is_not_there(store: Store) -> None:
    erase(store, "turn = 2 AND kind = 'user.message'")
    entries = rows(store.path, "SELECT count(*) FROM ledger_entry")
    for where in ("turn = 2 AND kind = 'user.message'", "kind = 'user.message'"):
        with pytest.raises(RedactionError, match="erased before"):
            erase(store, where)
    with pytest.raises(RedactionError, match="no record was named"):
        erase(store, "0")
    for n in (1 << 32 | 999 << 22, 77 << 32, 0):
        with pytest.raises(RedactionError):
            redact(store, [n], actor="Ada", reason="", clock=Clock())
    assert rows(store.path, "SELECT count(*) FROM ledger_entry") == entries
    assert_holds(store.path)


def test_who_and_why_stand_in_erasable_payloads_only(store: Store) -> None:
    done = erase(store, "kind = 'user.message' AND turn = 1")
    (entry,) = store.connection.execute("SELECT entry FROM ledger_entry WHERE idx = ?", (done.entry,)).fetchone()
    assert b"Ada" not in entry
    held = b"".join(data for (data,) in store.connection.execute("SELECT data FROM payload_chunk"))
    assert b"Ada" in held
    assert b"a key" in held
    assert WORD not in held


def test_many_records_take_several_entries(tmp_path: Path) -> None:
    many = log.lines(log.chain(*(log.person(f"Say {number}") for number in range(600))))
    with store_in(tmp_path) as store:
        take(store, write(tmp_path / "logs", many))
        before = rows(store.path, "SELECT count(*) FROM ledger_entry")[0][0]
        done = erase(store, "1")
        assert (done.records, done.entry) == (600, before)
        assert rows(store.path, "SELECT count(*) FROM ledger_entry")[0][0] == before + 3
        assert assert_holds(store.path).withheld == 600


KILLED = """
import os, sys
from storage import rebuild
from storage.store import Store
from storage.redact import redact
from datetime import datetime, UTC
rebuild.rebuild = lambda *_, **__: os.kill(os.getpid(), 9)
store = Store.open(sys.argv[1])
n = store.connection.execute("SELECT n FROM event WHERE kind = 'user.message'").fetchone()[0]
redact(store, [n], actor="a", reason="b", clock=lambda: datetime(2026, 1, 1, tzinfo=UTC))
"""


def test_an_erasure_that_was_killed_is_finished_when_the_store_is_opened(store: Store, tmp_path: Path) -> None:
    path = store.path
    importer = Importer(store, clock=Clock())
    killed = subprocess.run([sys.executable, "-c", KILLED, path], check=False)
    assert killed.returncode == -9
    with pytest.raises(StoreError) as refused:
        Archive.open(path)
    assert refused.value.reason == "needs_rebuild"
    # An import that was under way meanwhile must not make the stale tables look right again.
    importer.paths([str(write(tmp_path / "others", log.lines(log.chain(log.person("Other", "p9")))))])
    with pytest.raises(StoreError):
        Archive.open(path)
    store.close()
    with Store.open(path) as again:
        assert assert_holds(path).withheld == 1
        with Archive.open(path) as archive:
            assert len(archive.search("Other").rows) == 1
        erase(again, holding(again))
        assert everywhere(again) == []


def test_tables_that_were_replaced_go_when_the_store_is_opened(store: Store) -> None:
    """Whoever erased was killed before it could drop the tables that still held the text."""
    store.connection.execute("CREATE TABLE old_0badcafe_event(n INTEGER PRIMARY KEY, summary TEXT)")
    store.connection.execute("INSERT INTO old_0badcafe_event VALUES(1, 'a LEFTOVER word')")
    assert b"LEFTOVER" in Path(store.path).read_bytes() + Path(store.path + "-wal").read_bytes()
    Store.open(store.path).close()
    assert b"LEFTOVER" not in Path(store.path).read_bytes() + Path(store.path + "-wal").read_bytes()
    assert_holds(store.path)


def test_an_erasure_during_a_rebuild_is_not_undone_by_it(store: Store) -> None:
    """What was folded before the erasure still holds the text; the rebuild begins again."""
    other = Store.open(store.path)
    calls = []

    def meanwhile(stage: str, done: int, total: int) -> None:
        if not calls:
            calls.append((stage, done, total))
            connection = other.connection
            from storage import redact as module

            original = module.rebuild if hasattr(module, "rebuild") else None
            assert original is None
            connection.execute("BEGIN IMMEDIATE")
            erased = module._erase(connection, 1, {0: None})
            module._append(other, erased, "Ada", "why", Clock(), chance(4))
            connection.execute("UPDATE fold SET version = 0 WHERE name = 'sessions'")
            connection.execute("COMMIT")

    rebuild(store, progress=meanwhile)
    other.close()
    assert calls
    assert assert_holds(store.path).withheld == 1
    (session,) = dicts(store.path, "SELECT * FROM session")
    assert "PEREGRINE" not in session["title"]


def test_a_store_held_by_another_program_is_said_to_be(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(driver, "BUSY_MILLIS", 50)
    other = driver.connect_writer(store.path)
    store.connection.execute("PRAGMA busy_timeout=50")
    other.execute("BEGIN IMMEDIATE")
    with pytest.raises(StoreError) as held:
        erase(store, "turn = 2")
    assert held.value.reason == "locked"
    other.execute("ROLLBACK")
    other.close()
    assert_holds(store.path)
    assert "bytes_missing" not in kinds(verify(store.path))


def test_erased_or_not_the_rest_of_the_session_reads_alike(store: Store, tmp_path: Path) -> None:
    """Events that were not erased are what they are in a store where nothing was."""
    with store_in(tmp_path, "other.db") as untouched:
        take(untouched, tmp_path / "logs", random=chance())
        before: dict[str, Any] = meaning(untouched.path)
    erase(store, holding(store))
    after = meaning(store.path)
    kept = {name: after[name] for name in ("turn", "lane", "usage", "open_call", "awaited", "repeated", "unreadable")}
    assert_same({name: before[name] for name in kept}, kept)
