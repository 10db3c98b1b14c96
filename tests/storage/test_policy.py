"""The policy in a store: one entry a change, a table made of entries, who comes second decides second."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from kept import Clock, assert_holds, chance, rows, store_in, tables

from affidavit.gate.settings import GateSettings, RecallGateConfig
from affidavit.policy.actors import Actor, Refusal
from affidavit.policy.change import Apply, decide
from affidavit.policy.document import Policy
from storage import driver
from storage.archive import Archive
from storage.deciding import decided
from storage.queries.policy import standing
from storage.rebuild import rebuild
from storage.store import Store, StoreError
from storage.verify import verify

ADA = Actor("ada", "ada")


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with store_in(tmp_path) as made:
        yield made


def apply(store: Store, policy: Policy, id: str, actor: Actor = ADA, reason: str = "an UNUSUAL reason") -> object:
    command = Apply(id, policy, actor, reason)
    return decided(store, standing, decide, command, clock=Clock(), random=chance(len(id)))


def least(score: float, *reviewers: str) -> Policy:
    return Policy(reviewers=reviewers, gate=GateSettings(default=RecallGateConfig(min_score=score)))


def test_a_change_is_one_entry_that_holds_no_text(store: Store) -> None:
    assert apply(store, least(0.5, "ada"), "first") == [0]
    ((entry,),) = rows(store.path, "SELECT entry FROM ledger_entry")
    assert b"UNUSUAL" not in entry
    assert b"ada" not in entry
    assert b"minScore" not in entry
    with Archive.open(store.path) as archive:
        found = archive.policy()
        assert found.policy == least(0.5, "ada")
        (change,) = archive.policy_changes()
    assert (change.row.actor, change.row.reason, change.row.sseq) == ("ada", "an UNUSUAL reason", 0)
    assert_holds(store.path)


def test_changes_follow_each_other_and_the_newest_acts(store: Store) -> None:
    for number, score in enumerate((0.5, 0.6, 0.7)):
        assert apply(store, least(score), f"change-{number}") == [number]
    with Archive.open(store.path) as archive:
        assert archive.policy().policy == least(0.7)
        changes = archive.policy_changes()
    assert [change.row.sseq for change in changes] == [2, 1, 0]
    assert len({change.row.stream for change in changes}) == 1
    before = tables(store.path)
    rebuild(store)
    assert tables(store.path) == before
    assert_holds(store.path)


def test_appending_twice_is_appending_once(store: Store) -> None:
    assert apply(store, least(0.5), "one") == [0]
    assert apply(store, least(0.6), "two") == [1]
    # The first command comes again, as from a program that did not see it succeed.
    assert apply(store, least(0.5), "one") == [0]
    assert rows(store.path, "SELECT count(*) FROM ledger_entry") == [(2,)]
    with Archive.open(store.path) as archive:
        assert archive.policy().policy == least(0.6)


def test_who_decides_second_is_judged_by_what_the_first_decided(store: Store) -> None:
    apply(store, least(0.5, "ada"), "one")
    with Store.open(store.path) as other:
        apply(other, least(0.6, "ben"), "two")
    refused = apply(store, least(0.7), "three")
    assert isinstance(refused, Refusal)
    assert refused.code == "not_allowed"
    assert rows(store.path, "SELECT count(*) FROM ledger_entry") == [(2,)]


def test_a_policy_of_a_newer_program_is_not_guessed_at(store: Store) -> None:
    apply(store, least(0.5), "one")
    with pytest.raises(StoreError) as newer:
        standing(_Fake(store.connection, '{"later": 1}'))  # type: ignore[arg-type]
    assert newer.value.reason == "newer"


class _Fake:
    """A connection whose policy rows say something else."""

    def __init__(self, connection: driver.Connection, document: str) -> None:
        self._connection = connection
        self._document = document

    def execute(self, sql: str) -> _Fake:
        self._row = self._connection.execute(sql).fetchone()
        return self

    def fetchone(self) -> tuple[object, ...]:
        return (*self._row[:-1], self._document)


def test_a_disk_that_fails_leaves_nothing(store: Store) -> None:
    def full(size: int) -> bytes:  # noqa: ARG001
        raise driver.OperationalError("database or disk is full")

    with pytest.raises(StoreError) as failed:
        decided(store, standing, decide, Apply("x", least(0.1), ADA, "r"), clock=Clock(), random=full)
    assert failed.value.reason == "full"
    assert rows(store.path, "SELECT count(*) FROM ledger_entry") == [(0,)]
    assert apply(store, least(0.1), "again") == [0]


def test_an_entry_of_the_type_with_another_shape_is_told(store: Store) -> None:
    from storage.ledger import Draft, Ledger

    ledger = Ledger(store.connection, store.identity.ws)
    store.connection.execute("BEGIN IMMEDIATE")
    draft = Draft("odd", "policy.change", "s", 0, "", {"text": "x"}, {"kind": "person", "id": "a", "key": ""})
    ledger.append(draft, Clock()())
    store.connection.execute("COMMIT")
    assert "entry_bytes" in {failure.kind for failure in verify(store.path).failures}
