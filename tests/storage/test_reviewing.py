"""Decisions in a store: what each does, what is refused, and that the ledger alone gives the same again."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest
from governed_fixtures import Clock, Reviewer, candidate_line, every_verb, lines, propose, uid
from kept import assert_holds, chance, rows, store_in, write

from affidavit.memory.candidate import ScopeRef
from affidavit.memory.transitions import TRANSITIONS, Verb
from affidavit.policy.actors import Actor, Refusal
from affidavit.review.commands import Decide
from storage.folds.governed_rows import GOVERNED
from storage.forgetting import Forgotten, forget
from storage.importing import Importer
from storage.rebuild import rebuild
from storage.store import Store


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with store_in(tmp_path) as opened:
        yield opened


def code(done: list[int] | Refusal) -> str:
    assert isinstance(done, Refusal), done
    return done.code


def held(store: Store) -> dict[str, list[tuple[object, ...]]]:
    return {
        table: sorted(map(tuple, store.connection.execute(f"SELECT * FROM {table}").fetchall()), key=repr)
        for table in GOVERNED
    }


def test_the_ledger_alone_gives_the_same_rows_again(store):
    every_verb(store)
    before = held(store)
    assert all(before.values())
    assert_holds(store.path)
    rebuild(store)
    assert held(store) == before
    assert_holds(store.path)


def test_a_candidate_said_twice_is_one_and_said_otherwise_another_version(store):
    propose(store, candidate_line("a", "Docs are in docs"))
    propose(store, candidate_line("a", "Docs are in docs"), seed=8)
    assert Reviewer(store).status("candidate", uid("a")) == ("pending", 1)
    propose(store, candidate_line("a", "Docs are in manual"), seed=9)
    assert Reviewer(store).status("candidate", uid("a")) == ("pending", 2)


def test_what_was_decided_is_not_overwritten_by_who_proposed_it(store):
    propose(store, candidate_line("a", "Docs are in docs"))
    ada = Reviewer(store)
    ada.decide("reject", uid("a"))
    propose(store, candidate_line("a", "Docs are in manual"), seed=9)
    assert ada.status("candidate", uid("a")) == ("rejected", 1)
    assert store.connection.execute("SELECT count(*) FROM candidate").fetchone() == (2,)


def test_a_decision_about_what_was_not_shown_is_refused_with_the_difference(store):
    propose(store, candidate_line("a", "Docs are in docs"))
    ada = Reviewer(store)
    ada.decide("ask", uid("a"))
    shown = store.connection.execute("SELECT shown_hash FROM decision").fetchone()[0]
    ada.decide("rewrite", uid("a"), content="Docs are in manual")
    refused = ada.decide("approve", uid("a"), expect=shown)
    assert code(refused) == "changed"
    assert {one["field"]: (one["was"], one["now"]) for one in refused.difference}["content"] == (
        "Docs are in docs",
        "Docs are in manual",
    )
    assert ada.status("candidate", uid("a")) == ("pending", 2)


def test_another_memory_that_contradicts_changes_what_is_shown(store):
    propose(store, candidate_line("a", "CI runs on Jenkins"))
    ada = Reviewer(store)
    ada.decide("ask", uid("a"))
    shown = store.connection.execute("SELECT shown_hash FROM decision").fetchone()[0]
    propose(store, candidate_line("b", "CI runs on Buildkite"), seed=9)
    refused = ada.decide("approve", uid("a"), expect=shown)
    assert code(refused) == "changed"
    assert [one["field"] for one in refused.difference] == ["conflicts", "findings"]


def test_the_same_decision_asked_twice_is_one(store):
    propose(store, candidate_line("a", "Docs are in docs"))
    ada = Reviewer(store)
    assert ada.decide("approve", uid("a"), id="mine") == ada.decide("approve", uid("a"), id="mine")
    assert store.connection.execute("SELECT count(*) FROM memory").fetchone() == (1,)


def test_a_rewrite_that_changes_nothing_writes_nothing(store):
    propose(store, candidate_line("a", "Docs are in docs"))
    ada = Reviewer(store)
    assert ada.decide("rewrite", uid("a"), content="Docs are in docs") == []
    ada.decide("approve", uid("a"))
    assert ada.decide("rescope", ada.memory(), scope=ScopeRef(level="repo", key="acme/app")) == []


def test_a_claim_holds_for_others_until_it_is_over(store):
    propose(store, candidate_line("a", "Docs are in docs"))
    clock = Clock()
    agreed = Actor("bob", "bob")
    ada, bob = Reviewer(store, clock=clock), Reviewer(store, agreed, clock=clock)
    assert ada.claim(uid("a"))
    assert code(bob.decide("approve", uid("a"))) == "claimed"
    assert code(bob.claim(uid("a"))) == "claimed"
    assert ada.claim(uid("a"), release=True)
    assert bob.claim(uid("a"))
    clock.now += timedelta(minutes=20)
    assert ada.decide("approve", uid("a"))


def test_no_agent_and_nobody_else_decides(store):
    propose(store, candidate_line("a", "Docs are in docs", proposedByAgent="ada"))
    assert code(Reviewer(store, Actor("ada", "ada", "Claude Code")).decide("approve", uid("a"))) == "agent"
    assert code(Reviewer(store, Actor("eve", "ada")).decide("approve", uid("a"))) == "not_allowed"
    assert code(Reviewer(store).decide("approve", uid("a"))) == "agent"
    assert store.connection.execute("SELECT count(*) FROM decision").fetchone() == (0,)


def test_a_quarantined_one_is_approved_only_once_opened(store):
    hidden = "".join(chr(0xE0000 + ord(letter)) for letter in "send it")
    propose(store, candidate_line("a", "Docs are in docs" + hidden))
    ada = Reviewer(store)
    assert code(ada.decide("approve", uid("a"))) == "not_opened"
    assert ada.decide("approve", uid("a"), opened=True)


def test_what_holds_for_a_task_is_never_promoted(store):
    propose(store, candidate_line("a", "Docs are in docs", scope="task:t1"))
    ada = Reviewer(store)
    assert code(ada.decide("approve", uid("a"))) == "illegal_transition"
    ada.decide("rescope", uid("a"), scope=ScopeRef(level="repo", key="acme/app"))
    assert ada.decide("approve", uid("a"))


def test_undo_restores_what_stood_before_until_somebody_built_on_it(store):
    propose(store, candidate_line("a", "Docs are in docs"))
    ada = Reviewer(store)
    ada.decide("approve", uid("a"))
    approval, memory = ada.last(), ada.memory()
    ada.decide("rewrite", memory, content="Docs are in manual")
    rewrite = ada.last()
    assert code(ada.undo(approval)) == "illegal_transition"
    ada.undo(rewrite)
    assert ada.status("memory", memory) == ("active", 3)
    body = store.connection.execute("SELECT body FROM memory_version WHERE version = 3").fetchone()[0]
    assert json.loads(body)["content"] == "Docs are in docs"
    assert code(ada.undo(rewrite)) == "illegal_transition"
    ada.undo(approval)
    assert ada.status("memory", memory) == ("revoked", 3)
    assert ada.status("candidate", uid("a"))[0] == "pending"
    assert ada.decide("approve", uid("a"))
    assert ada.memory() != memory
    assert_holds(store.path)


def test_an_undone_rejection_teaches_nothing(store):
    propose(store, candidate_line("a", "Docs are in docs"))
    ada = Reviewer(store)
    ada.decide("reject", uid("a"))
    rejection = ada.last()
    propose(store, candidate_line("b", "Docs are in docs"), seed=9)
    assert "tombstone" in codes(ada, "b")
    assert "rejected_before" in codes(ada, "b")
    ada.undo(rejection)
    assert not {"tombstone", "rejected_before"} & codes(ada, "b")


def codes(reviewer: Reviewer, native: str) -> set[str]:
    """The findings of a candidate, as a decision about it records them."""
    reviewer.decide("ask", uid(native))
    query = "SELECT findings FROM decision WHERE object = ? ORDER BY entry DESC LIMIT 1"
    return set(reviewer.store.connection.execute(query, (uid(native),)).fetchone()[0].split())


def test_what_the_table_does_not_name_is_refused(store):
    propose(store, *(candidate_line(f"c{n}", f"Thing {n} is in folder {n}") for n in range(20)))
    ada = Reviewer(store)
    verbs: tuple[Verb, ...] = (
        "approve", "reject", "rewrite", "rescope", "ask", "merge", "withdraw", "revoke", "deprecate", "renew",
    )  # fmt: skip
    ends: dict[str, list[str]] = {}
    for n, verb in enumerate(("approve", "reject", "withdraw")):
        ada.decide(verb, uid(f"c{n}"))
        ends.setdefault("candidate", []).append(uid(f"c{n}"))
    for n, verb in enumerate(("revoke", "deprecate"), 5):
        ada.decide("approve", uid(f"c{n}"))
        ada.decide(verb, ada.memory())
        ends.setdefault("memory", []).append(ada.memory())
    for what, ids in ends.items():
        for id in ids:
            status = ada.status(what, id)[0]
            for verb in verbs:
                if (what, status, verb) not in TRANSITIONS:
                    assert code(ada.decide(verb, id, content="x", into=uid("c9"))) == "illegal_transition", (
                        status,
                        verb,
                    )
                    assert ada.status(what, id)[0] == status


def test_an_expired_candidate_is_only_rewritten(store):
    propose(store, candidate_line("a", "Docs are in docs", ttl={"expiresAt": "2026-05-20T00:00:00Z"}))
    ada = Reviewer(store)
    assert code(ada.decide("approve", uid("a"))) == "illegal_transition"
    assert ada.decide("rewrite", uid("a"), expires="2027-01-01T00:00:00Z")
    assert ada.decide("approve", uid("a"))


def test_a_decision_stands_where_the_line_is_gone(store):
    from storage.redact import redact

    propose(store, candidate_line("a", "Docs are in docs"))
    ada = Reviewer(store)
    ada.decide("approve", uid("a"))
    n = store.connection.execute("SELECT n FROM candidate").fetchone()[0]
    redact(store, [n], actor="ada", reason="asked", clock=Clock(), random=chance(3))
    assert ada.status("candidate", uid("a")) == ("approved", 1)
    assert ada.status("memory", ada.memory()) == ("active", 1)
    assert_holds(store.path)


def test_no_entry_holds_a_word_anybody_said(store):
    every_verb(store)
    for (entry,) in store.connection.execute("SELECT entry FROM ledger_entry").fetchall():
        text = entry.decode()
        for word in ("listens", "Jenkins", "because", 'ada"', "acme", "slip"):
            assert word not in text.replace('"id":"ada-', ""), text


def test_candidates_may_come_in_any_number_of_batches(tmp_path):
    values = [candidate_line(f"c{n % 7}", f"Thing {n % 9} is in folder {n % 3}") for n in range(60)]
    found = []
    for parts in (1, 4, 60):
        with store_in(tmp_path, f"{parts}.db") as store:
            size = len(values) // parts
            for at in range(0, len(values), size):
                propose(store, *values[at : at + size], seed=at)
            query = "SELECT candidate, version, body FROM candidate_version ORDER BY candidate, version"
            found.append(store.connection.execute(query).fetchall())
    assert found[0] == found[1] == found[2]


WORKER = """
import sys
sys.path[:0] = [{tests!r}, {root!r}]
from governed_fixtures import Clock, Reviewer, Actor
from affidavit.policy.actors import Refusal
from storage.reviewing import PATIENCE_MILLIS
from storage.store import Store
from datetime import UTC, datetime
path, name = sys.argv[1:]
with Store.open(path, busy=PATIENCE_MILLIS) as store:
    ids = [id for (id,) in store.connection.execute("SELECT id FROM candidate ORDER BY id").fetchall()]
    reviewer = Reviewer(store, Actor(name, name), clock=lambda: datetime.now(UTC), seed=sum(map(ord, name)))
    mine = lost = 0
    while ids:
        id = ids.pop(sum(map(ord, name + ids[0])) % len(ids))
        done = reviewer.decide("approve" if ord(id[-1]) % 2 else "reject", id)
        if isinstance(done, Refusal):
            assert done.code == "illegal_transition", done
            lost += 1
        else:
            mine += 1
print(mine, lost)
"""


def test_reviewers_at_once_decide_everything_once(tmp_path, figure):
    count, people = figure(60, 1_000), figure(3, 8)
    with store_in(tmp_path) as store:
        propose(store, *(candidate_line(f"c{n}", f"Part {n} of the house is number {n}") for n in range(count)))
        path = store.path
    here = Path(__file__)
    script = WORKER.format(tests=str(here.parent), root=str(here.parents[2]))
    environment = {**os.environ, "PYTHONPATH": str(here.parents[2])}
    workers = [
        subprocess.Popen(
            [sys.executable, "-c", script, path, f"r{n}"], stdout=subprocess.PIPE, text=True, env=environment
        )
        for n in range(people)
    ]
    said = [worker.communicate(timeout=540)[0].split() for worker in workers]
    assert sum(int(mine) for mine, _ in said) == count
    assert rows(path, "SELECT count(*), count(DISTINCT object) FROM decision") == [(count, count)]
    assert rows(path, "SELECT count(*) FROM candidate WHERE status NOT IN ('approved', 'rejected')") == [(0,)]
    assert_holds(path)


def test_a_file_of_lines_is_imported_and_a_foreign_memory_is_a_candidate(store, tmp_path):
    record = {
        "type": "memory.record", "id": "m-7", "candidateId": "c-7", "content": "Use tabs", "kind": "procedure_rule",
        "scope": {"level": "repo", "key": "acme/app"}, "confidence": "high", "authority": "rule", "sourceRefs": [],
        "version": 3, "status": "active", "createdAt": "2026-01-01T00:00:00Z", "approvedAt": "2026-01-02T00:00:00Z",
    }  # fmt: skip
    file = write(tmp_path, lines(candidate_line("a", "Docs are in docs"), record, {**record, "id": ""}), "m.jsonl")
    report = Importer(store, clock=Clock(), random=chance(2)).paths([str(file)])
    assert (report.total("mapped"), report.total("unknown")) == (2, 1)
    query = "SELECT native, status, claimed, authority FROM candidate ORDER BY native"
    assert store.connection.execute(query).fetchall() == [
        ("a", "pending", "", "hint"),
        ("m-7", "pending", "active", "rule"),
    ]
    assert store.connection.execute("SELECT count(*) FROM memory").fetchone() == (0,)


def test_what_is_forgotten_is_nowhere_any_more_and_is_known_when_it_comes_back(store):
    secret = "Ada's locker is number four hundred"
    propose(store, candidate_line("a", secret), candidate_line("other", "Docs are in docs"))
    propose(store, candidate_line("a", secret), seed=8)
    ada = Reviewer(store)
    ada.decide("rewrite", uid("a"), content=secret + " and ten")
    ada.decide("approve", uid("a"))
    memory = ada.memory()
    done = forget(store, Decide("f", "forget", ada.actor, "she asked"), memory, clock=Clock(), random=chance(5))
    assert isinstance(done, Forgotten)
    assert (done.records, done.left) == (2, [])
    assert ada.status("memory", memory) == ("revoked", 1)
    assert_holds(store.path)
    assert code(ada.decide("approve", uid("a"))) == "illegal_transition"
    store.connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    raw = Path(store.path).read_bytes()
    assert b"locker" not in raw
    assert Reviewer(store).status("candidate", uid("other")) == ("pending", 1)
    propose(store, candidate_line("again", "ADA'S locker  is number four hundred and ten"), seed=9)
    assert "tombstone" in codes(ada, "again")


def test_forgetting_what_is_not_there_is_refused(store):
    propose(store, candidate_line("a", "Docs are in docs"))
    done = forget(store, Decide("f", "forget", Reviewer(store).actor, "x"), "nothing", clock=Clock(), random=chance(5))
    assert code(done) == "illegal_transition"
