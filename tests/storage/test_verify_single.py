"""Verifying one entry alone: its path in a tree of more than one tile, and what breaks it."""

from __future__ import annotations

import shutil
from datetime import UTC, datetime
from pathlib import Path

import pytest

from storage import driver
from storage.ledger import TILE, Draft, Ledger
from storage.store import Store
from storage.verify.single import verify_records

ENTRIES = TILE * 2 + 5


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A ledger of two full tiles and a bit, of entries that speak of nothing."""
    path = tmp_path_factory.mktemp("ledger") / "store.db"
    with Store.open(str(path), create=True) as store:
        ledger = Ledger(store.connection, store.identity.ws)
        store.connection.execute("BEGIN IMMEDIATE")
        for number in range(ENTRIES):
            actor = {"kind": "runtime", "id": "test", "key": ""}
            draft = Draft(f"entry-{number}", "policy.change", f"stream-{number}", 0, "", {"number": number}, actor)
            ledger.append(draft, datetime(2026, 5, 14, tzinfo=UTC))
        store.connection.execute("COMMIT")
    return path


@pytest.fixture
def path(filled: Path, tmp_path: Path) -> str:
    """A copy to spoil."""
    return str(shutil.copy(filled, tmp_path / "store.db"))


def change(path: str, statement: str, *values: object) -> None:
    connection = driver.connect_writer(path)
    for (name,) in connection.execute("SELECT name FROM sqlite_schema WHERE type = 'trigger'").fetchall():
        connection.execute(f'DROP TRIGGER "{name}"')
    assert connection.execute(statement, values).rowcount > 0
    connection.close()


def kinds(path: str, index: int) -> list[str]:
    return [failure.kind for failure in verify_records(path, {index: None}).failures]


@pytest.mark.parametrize("index", [0, 1, TILE - 1, TILE, 2 * TILE - 1, 2 * TILE, ENTRIES - 1])
def test_every_entry_has_its_path_to_the_root(path, index):
    report = verify_records(path, {index: None})
    assert report.holds, report.failures
    assert (report.entries, report.checked["entries"], report.checked["paths"]) == (ENTRIES, 1, 1)


def test_all_entries_lead_to_one_root(path):
    roots = {verify_records(path, {index: None}).root for index in (0, TILE, ENTRIES - 1)}
    assert len(roots) == 1
    assert verify_records(path, dict.fromkeys(range(ENTRIES))).root == roots.pop()


def test_an_entry_that_was_changed_fails_and_its_neighbour_holds(path):
    connection = driver.connect_reader(path)
    (entry,) = connection.execute("SELECT entry FROM ledger_entry WHERE idx = 7").fetchone()
    connection.close()
    forged = entry.replace(b'"number":7', b'"number":8')
    change(path, "UPDATE ledger_entry SET entry = ? WHERE idx = 7", forged)
    assert kinds(path, 7) == ["entry_leaf"]
    assert kinds(path, 8) == []


def test_an_entry_changed_together_with_its_hash_no_longer_leads_to_the_root(path):
    change(path, "UPDATE ledger_entry SET leaf = zeroblob(32) WHERE idx = 7")
    assert "tile" in kinds(path, 7)


def test_an_entry_that_is_not_there_is_missing(path):
    assert kinds(path, ENTRIES) == ["entry_missing"]
