"""Opening a store: a good one opens, anything else is refused with its reason, and nothing is written into it."""

from __future__ import annotations

import errno
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from hashlib import sha256
from pathlib import Path

import claude_fixtures as log
import pytest
from kept import Clock, assert_holds, assert_same, chance, meaning, rows, store_in, tables, take, write

from storage import driver, store
from storage.archive import Archive
from storage.importing import Importer
from storage.rebuild import rebuild
from storage.redact import redact
from storage.store import APPLICATION_ID, FOLD_VERSION, NEW_STORE, REASONS, Store, StoreError
from storage.verify import verify

ROOT = Path(__file__).resolve().parents[2]
WORKER = Path(__file__).with_name("store_worker.py")

WAYS: dict[str, Callable[[str], object]] = {
    "write": lambda path: Store.open(path, create=True),
    "read": Archive.open,
    "verify": verify,
}


@pytest.fixture
def path(tmp_path: Path) -> str:
    """A store that holds a session, closed."""
    with store_in(tmp_path) as opened:
        take(opened, write(tmp_path / "logs", log.lines(log.session())), random=chance())
        return opened.path


def refusals(path: str, *ways: str) -> set[str]:
    """Why each way of opening refuses; every one must, with words, and leave the file as it is."""
    before = sha256(Path(path).read_bytes()).digest() if os.path.isfile(path) else None
    reasons = set()
    for way in ways or WAYS:
        with pytest.raises(StoreError) as refused:
            WAYS[way](path)
        assert refused.value.reason in REASONS
        assert refused.value.hint
        assert path in str(refused.value)
        reasons.add(refused.value.reason)
    if before is not None:
        assert sha256(Path(path).read_bytes()).digest() == before
    return reasons


def change(path: str, *statements: str) -> None:
    connection = driver.connect_writer(path)
    for statement in statements:
        connection.execute(statement)
    connection.close()


def test_a_new_store_is_one_file_only_its_owner_reads(tmp_path: Path) -> None:
    opened = Store.open(str(tmp_path / "deep" / "down" / "store.db"), create=True, random=chance())
    assert opened.identity.ws == chance()(36)[4:20].hex()
    opened.close()
    assert [file.name for file in (tmp_path / "deep" / "down").iterdir()] == ["store.db"]
    assert (tmp_path / "deep" / "down" / "store.db").stat().st_mode & 0o777 == 0o600
    assert rows(opened.path, "PRAGMA application_id") == [(APPLICATION_ID,)]


def test_no_store_is_there(tmp_path: Path) -> None:
    missing = str(tmp_path / "none.db")
    assert refusals(missing, "read", "verify") == {"missing"}
    with pytest.raises(StoreError) as refused:
        Store.open(missing)
    assert refused.value.reason == "missing"
    assert not os.path.exists(missing)


def test_a_link_is_refused_wherever_it_leads(path: str, tmp_path: Path) -> None:
    link = tmp_path / "link.db"
    link.symlink_to(path)
    assert refusals(str(link)) == {"linked"}
    dangling = tmp_path / "dangling.db"
    dangling.symlink_to(tmp_path / "nowhere.db")
    assert refusals(str(dangling)) == {"linked"}
    assert not (tmp_path / "nowhere.db").exists()


def test_a_second_name_is_refused(path: str, tmp_path: Path) -> None:
    os.link(path, tmp_path / "twin.db")
    assert refusals(path) == {"linked"}
    os.unlink(tmp_path / "twin.db")
    assert_holds(path)


def test_the_name_a_store_was_made_under_is_no_second_name(path: str) -> None:
    """Its maker was killed between giving it its name and taking the first one away."""
    os.link(path, path + ".0badcafe.new")
    assert_holds(path)
    assert not os.path.exists(path + ".0badcafe.new")


@pytest.mark.parametrize("content", [b"", b"Dear diary,", b"SQLite format 3\0" + bytes(84), bytes(range(256)) * 36])
def test_what_is_no_database_is_refused(tmp_path: Path, content: bytes) -> None:
    file = tmp_path / "store.db"
    file.write_bytes(content)
    assert refusals(str(file)) <= {"not_a_store", "damaged"}


def test_a_folder_is_refused(tmp_path: Path) -> None:
    assert refusals(str(tmp_path)) == {"not_a_store"}


def test_another_programs_database_is_refused(tmp_path: Path) -> None:
    foreign = str(tmp_path / "foreign.db")
    connection = driver.connect_writer(foreign, create=True)
    connection.execute("CREATE TABLE session(id)")
    connection.close()
    assert refusals(foreign) == {"not_a_store"}


def test_a_newer_store_is_refused(path: str) -> None:
    change(path, "PRAGMA user_version=99")
    assert refusals(path) == {"newer"}


def test_a_store_without_its_own_tables_is_damaged(path: str) -> None:
    change(path, "DROP TABLE store_key")
    with pytest.raises(StoreError) as refused:
        Store.open(path)
    assert refused.value.reason == "damaged"
    assert not verify(path).holds


def test_a_damaged_page_is_said_to_be_or_harms_nothing(path: str, tmp_path: Path) -> None:
    """Each page in turn is overwritten: reading, importing and rebuilding end with a reason or well."""
    good = Path(path).read_bytes()
    file = write(tmp_path / "more", log.lines(log.chain(log.person("More", "p9"))))
    works: list[Callable[[], object]] = [
        lambda: Archive.open(path).search("test"),
        lambda: Importer(Store.open(path), clock=Clock()).paths([str(file)]),
        lambda: rebuild(Store.open(path)),
    ]
    said = set()
    for page in range(1, len(good) // 4096):
        for work in works:
            bad = bytearray(good)
            bad[page * 4096 : page * 4096 + 4096] = b"\xa5" * 4096
            for leftover in ("-wal", "-shm"):
                if os.path.exists(path + leftover):
                    os.unlink(path + leftover)
            Path(path).write_bytes(bad)
            try:
                work()
            except StoreError as error:
                said.add(error.reason)
    assert said == {"damaged"}


@pytest.mark.parametrize(
    "statements",
    [
        ("UPDATE fold SET version = 999",),
        ("UPDATE fold SET version = -1",),
        ("DELETE FROM fold",),
        ("DROP TABLE fold",),
        ("DROP TABLE event", "DROP TABLE fold"),
        ("DROP TABLE copied", "DROP TABLE beginning", "UPDATE fold SET version = 1"),
        ("DROP TABLE ix_text", "UPDATE fold SET version = 0"),
    ],
)
def test_tables_of_another_version_are_rebuilt_when_it_is_opened_for_writing(
    path: str, statements: tuple[str, ...]
) -> None:
    before = tables(path)
    change(path, *statements)
    assert refusals(path, "read") == {"needs_rebuild"}
    Store.open(path).close()
    assert tables(path) == before
    assert rows(path, "SELECT version FROM fold") == [(FOLD_VERSION,)]
    assert_holds(path)
    with Archive.open(path) as archive:
        assert len(archive.search("role").rows) > 0


def test_a_new_store_has_the_tables_that_migrations_and_declarations_give() -> None:
    from storage.schema import new_store

    assert NEW_STORE.read_text(encoding="utf-8") == new_store()


def test_an_importer_does_not_write_into_tables_another_version_made(path: str, tmp_path: Path) -> None:
    with Store.open(path) as opened:
        importer = Importer(opened, clock=Clock())
        change(path, f"UPDATE fold SET version = {FOLD_VERSION + 1}")
        file = write(tmp_path / "more", log.lines(log.chain(log.person("More", "p9"))))
        with pytest.raises(StoreError) as refused:
            importer.paths([str(file)])
        assert refused.value.reason == "needs_rebuild"
    assert rows(path, "SELECT count(*) FROM ledger_entry") == [(2,)]


# ------------------------------------------------------------------------------------- places and rights


def as_nobody(*words: str) -> list[object]:
    """What the worker says when it is run by somebody who owns nothing."""
    nobody = ["65534"] if os.geteuid() == 0 else []
    done = subprocess.run(
        [sys.executable, str(WORKER), "refuse", *words, *nobody],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


@pytest.fixture
def closed_folder(path: str) -> Iterator[Path]:
    """A folder that others may look into and not write, and the store in it."""
    folder = Path(tempfile.mkdtemp())
    shutil.copy(path, folder / "store.db")
    os.chmod(folder / "store.db", 0o444)
    os.chmod(folder, 0o555)
    yield folder
    os.chmod(folder, 0o755)
    shutil.rmtree(folder)


def test_a_store_on_read_only_media_is_read_and_not_written(closed_folder: Path) -> None:
    path = str(closed_folder / "store.db")
    before = sorted(file.name for file in closed_folder.iterdir())
    assert as_nobody(path, "read") == [1, "fine"]
    assert as_nobody(path, "verify") == [True, "fine"]
    assert as_nobody(path, "write") == ["read_only"]
    assert as_nobody(str(closed_folder / "new.db"), "write") == ["read_only"]
    assert as_nobody(str(closed_folder / "deep" / "new.db"), "write") == ["read_only"]
    assert sorted(file.name for file in closed_folder.iterdir()) == before


def test_a_store_nobody_else_may_read_is_refused(closed_folder: Path) -> None:
    if os.geteuid() != 0:
        pytest.skip("only root can be somebody else")
    path = str(closed_folder / "store.db")
    os.chmod(path, 0o600)
    for way in WAYS:
        assert as_nobody(path, way) == ["read_only"]
    os.chmod(closed_folder, 0o700)
    for way in WAYS:
        assert as_nobody(path, way) == ["read_only"]


def test_no_room_to_create_a_store_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> int:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(store.os, "open", full)
    with pytest.raises(StoreError) as refused:
        Store.open(str(tmp_path / "store.db"), create=True)
    assert refused.value.reason == "full"


def test_of_two_that_create_a_store_both_get_the_same(tmp_path: Path) -> None:
    path = str(tmp_path / "store.db")

    def meanwhile(size: int) -> bytes:
        if not os.path.exists(path) and size == 16:
            Store.open(path, create=True).close()
        return os.urandom(size)

    late = Store.open(path, create=True, random=meanwhile)
    assert late.identity == store.identity(late.connection)
    late.close()
    assert [file.name for file in tmp_path.iterdir()] == ["store.db"]
    assert_holds(path)


# --------------------------------------------------------------------------------------- SQLite's version


@pytest.mark.parametrize(
    ("version", "safe"),
    [
        ("3.6.23", False),
        ("3.7.0", False),
        ("3.40.1", False),
        ("3.44.5", False),
        ("3.44.6", True),
        ("3.44.9", True),
        ("3.45.0", False),
        ("3.50.6", False),
        ("3.50.7", True),
        ("3.51.0", False),
        ("3.51.1", False),
        ("3.51.2", False),
        ("3.51.3", True),
        ("3.52.0", True),
        ("3.53.4", True),
        ("4.0.0", True),
    ],
)
def test_a_write_ahead_log_is_kept_only_where_it_is_safe(
    version: str, safe: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert driver.wal_is_safe(version) is safe
    monkeypatch.setattr(driver, "linked_version", lambda: version)
    assert driver.journal_mode() == ("wal" if safe else "delete")


def test_the_linked_sqlite_decides(path: str) -> None:
    assert rows(path, "PRAGMA journal_mode") == [(driver.journal_mode(),)]
    assert driver.linked_version() == rows(path, "SELECT sqlite_version()")[0][0]


def test_with_a_rollback_journal_everything_works(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    logs = tmp_path / "logs"
    file = write(logs, log.lines(log.session()))
    with store_in(tmp_path, "wal.db") as wal:
        take(wal, file)
    monkeypatch.setattr(driver, "wal_is_safe", lambda _: False)
    shutil.copy(wal.path, tmp_path / "changed.db")
    for name in ("store.db", "changed.db"):
        with store_in(tmp_path, name) as opened:
            assert opened.connection.execute("PRAGMA journal_mode").fetchone() == ("delete",)
            assert opened.connection.execute("PRAGMA synchronous").fetchone() == (3,)
            with Archive.open(opened.path) as archive:
                take(opened, file)
                write(logs, log.lines(log.session()) + log.lines(log.chain(log.person("More", "p9"), start=40)))
                assert take(opened, file).total("records") == 1
                assert len(archive.search("More").rows) == 1
            n = opened.connection.execute("SELECT n FROM event WHERE summary = 'More'").fetchone()[0]
            rebuild(opened)
            redact(opened, [n], actor="ada", reason="asked", clock=Clock())
            assert assert_holds(opened.path).withheld == 1
            assert b"More" not in Path(opened.path).read_bytes()
        assert sorted(one.name for one in tmp_path.iterdir() if one.name.startswith(name)) == [name]
        write(logs, log.lines(log.session()))
    assert_same(meaning(str(tmp_path / "store.db")), meaning(str(tmp_path / "changed.db")))
