"""What a query may find among memories: its own scope's and nobody else's, whatever state they are in."""

from __future__ import annotations

import random
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest
from governed_fixtures import Reviewer, candidate_line, propose, uid
from kept import store_in

from affidavit.gate.gate import recall_gate
from affidavit.gate.hit import MemoryHit, RecallQuery
from affidavit.gate.settings import RecallGateConfig
from storage.archive import Archive
from storage.queries.governed import GovernedFilter
from storage.store import Store

NOW = datetime(2026, 6, 2, tzinfo=UTC)
WORDS = ("parser", "queue", "header", "worker", "schema", "router")
SCOPES = (
    "user:ada", "user:bob", "workspace:acme", "repo:acme/app", "repo:acme/api", "branch:acme/app@main",
    "module:acme/app/x",
)  # fmt: skip
IDENTITY = ({}, {"agent": "coder"}, {"memorySpace": "work"}, {"user": "ada"}, {"user": "bob"}, {"taskType": "fix"})


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    chance = random.Random(4)
    with store_in(tmp_path_factory.mktemp("recall")) as store:
        lines = []
        for n in range(84):
            content = f"The {chance.choice(WORDS)} {chance.choice(WORDS)} number {n} is kept here"
            more = {**IDENTITY[n % 6], "visibility": chance.choice(("shared", "shared", "private"))}
            lines.append(candidate_line(f"c{n}", content, scope=SCOPES[n % 7], **more))
        propose(store, *lines)
        ada = Reviewer(store)
        for n in range(84):
            ada.decide("approve", uid(f"c{n}"), opened=True)
            if n % 5 == 0:
                ada.decide("revoke" if n % 2 else "deprecate", ada.memory())
        yield store.path


def asked(chance: random.Random) -> RecallQuery:
    """A query of any scope."""
    fields: dict[str, str] = {}
    for scope in chance.sample(SCOPES, chance.randrange(4)):
        level, _, key = scope.partition(":")
        fields[level] = key
    for name, values in (("user", ("ada", "bob")), ("agent", ("coder", "x")), ("memory_space", ("work", "home"))):
        if chance.random() < 0.4:
            fields.setdefault(name, chance.choice(values))
    return RecallQuery(text=" ".join(chance.sample(WORDS, 2)), limit=8, **fields)


def test_no_query_finds_what_is_outside_of_its_scope(path, figure):
    chance = random.Random(9)
    with Archive.open(path) as archive:
        everything = archive.governed.memories(GovernedFilter(), limit=1_000).rows
        found_any = 0
        for _ in range(figure(300, 10_000)):
            query = asked(chance)
            hits = archive.governed.hits(query, NOW)
            found_any += len(hits)
            for hit in hits:
                row = next(row for row in everything if row.id == hit.id)
                assert getattr(query, row.level) == row.scope
                assert row.agent in (None, query.agent)
                assert row.space in (None, query.memory_space)
                assert row.user in (None, query.user)
                assert row.task_type is None
                assert row.visibility == "shared" or query.user in (
                    row.user,
                    row.scope if row.level == "user" else None,
                )
            result = recall_gate(hits, query, RecallGateConfig(), NOW)
            assert "scope_mismatch" not in result.reasons()
            assert len(result.accepted) + len(result.rejected) == len(hits)
        assert found_any


def test_what_was_revoked_is_found_for_the_gate_to_turn_away(path):
    with Archive.open(path) as archive:
        revoked = next(
            row
            for row in archive.governed.memories(GovernedFilter(), limit=1_000).rows
            if row.status == "revoked" and row.level == "repo"
        )
        query = RecallQuery(
            text=revoked.words, user=revoked.user, agent=revoked.agent, memory_space=revoked.space,
            task_type=revoked.task_type, repo=revoked.scope,
        )  # fmt: skip
        hits = archive.governed.hits(query, NOW)
        assert hits[0].id == revoked.id
        result = recall_gate(hits, query, RecallGateConfig(max_hits=100), NOW)
        assert revoked.id not in [hit.id for hit in result.accepted]
        assert next(one.reason for one in result.rejected if one.id == revoked.id) == "revoked"


def hits_of(store: Store, text: str) -> list[MemoryHit]:
    with Archive.open(store.path) as archive:
        return archive.governed.hits(RecallQuery(text=text, repo="acme/app"), NOW)


def test_the_score_is_the_share_of_the_querys_weight(tmp_path: Path):
    with store_in(tmp_path) as store:
        propose(
            store, candidate_line("a", "The parser lives in src"), candidate_line("b", "Queue workers sleep at night")
        )
        ada = Reviewer(store)
        for name in ("a", "b"):
            ada.decide("approve", uid(name))
        assert [hit.score for hit in hits_of(store, "parser lives in src")] == [1.0]
        assert 0 < hits_of(store, "parser of unknown things")[0].score < 0.5
        assert hits_of(store, "nothing alike") == []
        assert hits_of(store, "") == []


def test_both_sides_of_an_open_conflict_are_withheld(tmp_path: Path):
    with store_in(tmp_path) as store:
        propose(store, candidate_line("a", "CI runs on Jenkins"), candidate_line("b", "CI runs on Buildkite"))
        ada = Reviewer(store)
        for name in ("a", "b"):
            ada.decide("approve", uid(name))
        hits = hits_of(store, "what CI runs")
        assert len(hits) == 2
        query = RecallQuery(text="what CI runs", repo="acme/app")
        result = recall_gate(hits, query, RecallGateConfig(), NOW)
        assert result.reasons() == {"conflicted": 2}
