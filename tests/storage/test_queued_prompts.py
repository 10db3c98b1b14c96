"""A message typed while the agent worked is one turn, wherever and however often its text stands."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from storage.archive import Archive
from storage.importing import Importer
from storage.store import Store
from storage.verify import verify
from tests.storage import claude_fixtures as log

SAID = "does it fail locally?"


def queue(operation: str, content: str | None = None) -> dict[str, Any]:
    record = {"operation": operation, "timestamp": "2026-05-14T10:05:00.000Z"}
    return log.flat("queue-operation", **(record if content is None else {**record, "content": content}))


def attached(said: str) -> dict[str, Any]:
    return log.attachment("queued_command", prompt=said, commandMode="prompt")


STORIES = {
    "taken into the running turn, no other trace": ([queue("enqueue", SAID), queue("remove")], 2),
    "taken into the running turn, then attached": ([queue("enqueue", SAID), queue("remove"), attached(SAID)], 2),
    "attached, then taken": ([queue("enqueue", SAID), attached(SAID), queue("remove")], 2),
    "left the queue as a message": ([queue("enqueue", SAID), queue("dequeue"), log.person(SAID)], 2),
    "taken back by the person": ([queue("enqueue", SAID), queue("popAll")], 1),
    "a notification nobody typed": ([queue("enqueue", "<task-notification>done"), queue("remove")], 1),
    "still waiting at the end": ([queue("enqueue", SAID)], 1),
    "twice the same words": (
        [queue("enqueue", SAID), queue("remove"), queue("enqueue", SAID), queue("remove")],
        3,
    ),
}


@pytest.mark.parametrize("story", STORIES)
def test_it_is_one_turn(tmp_path: Path, story: str) -> None:
    records, turns = STORIES[story]
    file = tmp_path / "session.jsonl"
    file.write_bytes(log.lines(log.chain(log.person("Find out why the test fails."), *records)))
    path = str(tmp_path / "store.db")
    with Store.open(path, create=True) as store:
        Importer(store, clock=lambda: datetime(2026, 5, 1, tzinfo=UTC)).paths([str(file)])
    archive = Archive.open(path)
    (session,) = archive.sessions().rows
    assert session.turns == turns
    assert verify(path).holds
    archive.close()
