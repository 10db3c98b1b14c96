"""Invented candidates, and people who decide about them."""

from __future__ import annotations

import io
import json
from datetime import UTC, datetime, timedelta
from typing import Any

from kept import chance

from affidavit.policy.actors import Actor, Refusal
from affidavit.review.commands import Claim, Decide, Undo
from storage.folds.governed import candidate_uid
from storage.importing import Importer
from storage.reviewing import Desk
from storage.store import Store

ADA, BOB = Actor("ada", "ada"), Actor("bob", "bob")


def candidate_line(id: str, content: str, **fields: Any) -> dict[str, Any]:
    """A line that proposes something."""
    level, _, key = fields.pop("scope", "repo:acme/app").partition(":")
    source = {"type": fields.pop("source", "verified_observation"), "eventIds": fields.pop("events", ["e1"])}
    return {
        "type": "memory.candidate",
        "id": id,
        "content": content,
        "kind": "project_fact",
        "scope": {"level": level, "key": key},
        "source": source,
        "confidence": "low",
        "status": "pending",
        "conflictKeys": [],
        "createdAt": "2026-05-14T10:00:00Z",
        "createdBy": "model",
        **fields,
    }


def lines(*values: dict[str, Any]) -> bytes:
    return b"".join(json.dumps(value).encode() + b"\n" for value in values)


class Clock:
    """Goes on by a second whenever it is asked."""

    def __init__(self) -> None:
        self.now = datetime(2026, 6, 1, 12, tzinfo=UTC)

    def __call__(self) -> datetime:
        self.now += timedelta(seconds=1)
        return self.now


def propose(store: Store, *values: dict[str, Any], seed: int = 7) -> None:
    """Take lines in, as ``record`` does."""
    Importer(store, clock=Clock(), random=chance(seed)).stream(io.BytesIO(lines(*values)), "affidavit")


class Reviewer:
    """Decides in a store, with ids of decisions that count up."""

    def __init__(self, store: Store, actor: Actor = ADA, clock: Clock | None = None, seed: int = 11) -> None:
        self.desk = Desk(store, clock=clock or Clock(), random=chance(seed))
        self.actor = actor
        self.store = store
        self.count = 0

    def id(self) -> str:
        self.count += 1
        return f"{self.actor.name}-{self.count}"

    def decide(self, verb: Any, object: str, **more: Any) -> list[int] | Refusal:
        given = {"id": more.pop("id", None) or self.id(), "reason": f"because of {verb}", **more}
        return self.desk.decide(Decide(verb=verb, actor=self.actor, **given), object)

    def claim(self, object: str, *, release: bool = False) -> list[int] | Refusal:
        return self.desk.claim(Claim(self.id(), self.actor, release), object)

    def undo(self, decision: str) -> list[int] | Refusal:
        return self.desk.undo(Undo(self.id(), decision, self.actor, "a slip"))

    def last(self) -> str:
        return f"{self.actor.name}-{self.count}"

    def memory(self) -> str:
        """The memory that was let in last."""
        query = "SELECT id FROM memory ORDER BY approved DESC, id LIMIT 1"
        return str(self.store.connection.execute(query).fetchone()[0])

    def status(self, what: str, id: str) -> tuple[str, int]:
        query = f"SELECT status, version FROM {what} WHERE id = ?"
        found: tuple[str, int] = self.store.connection.execute(query, (id,)).fetchone()
        return found


def uid(native: str) -> str:
    return candidate_uid("", native)


def every_verb(store: Store) -> None:
    """Proposes and decides whatever can be: every governed table has rows afterwards."""
    propose(
        store,
        *(candidate_line(f"c{n}", f"The {thing} listens on port {n}") for n, thing in enumerate(("api", "web", "log"))),
        candidate_line("ask", "CI runs on Jenkins"),
        candidate_line("no", "CI runs on Buildkite"),
        candidate_line("re", "Tests need a database"),
        candidate_line("twice", "Docs are in docs"),
        candidate_line("twice", "Docs are in docs"),
        candidate_line("gone", "Ports are documented", source="explicit_user"),
        candidate_line("held", "The queue is drained at night"),
    )
    ada = Reviewer(store, clock=Clock())
    done = [ada.decide("approve", uid("c0"), authority="default")]
    first = ada.memory()
    done += [
        ada.decide("rewrite", first, content="The api listens on port 8000"),
        ada.decide("renew", first, review="2027-01-01T00:00:00Z"),
        ada.decide("ask", uid("ask"), until="2026-07-01T00:00:00Z"),
        ada.decide("reject", uid("no")),
        ada.decide("rewrite", uid("re"), content="Tests need a Postgres database"),
        ada.decide("rescope", uid("re"), scope=None, content="Tests need Postgres"),
        ada.decide("withdraw", uid("gone")),
        ada.decide("merge", uid("c1"), into=first),
        ada.decide("approve", uid("c2")),
        ada.decide("deprecate", ada.memory()),
        ada.undo(ada.last()),
        ada.decide("approve", uid("re")),
        ada.decide("revoke", ada.memory()),
        ada.claim(uid("held")),
    ]
    assert not [one for one in done if isinstance(one, Refusal) or not one], done
