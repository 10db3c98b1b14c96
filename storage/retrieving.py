"""A scoped retrieval on a store: bring the index up to date, search, and write the record before anything is given.

The record is two lines of our own: the request, and the snapshot with the text of the block. Only once they are
committed is the result handed over; where they cannot be written, nothing is.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any

import orjson

from affidavit.retrieval.pipeline import Retrieved, retrieve
from affidavit.retrieval.record import snapshot_bytes
from affidavit.retrieval.request import RetrievalIntent, RetrievalScope
from storage.archive import Archive
from storage.recording import record_lines
from storage.store import Random, Store

STREAM = "retrieve"
"""What the source of these lines is called."""


def retrieve_into(
    store: Store,
    intent: RetrievalIntent,
    scope: RetrievalScope,
    *,
    now: datetime,
    session: str | None = None,
    weights: Mapping[str, float] | None = None,
    min_score: float = 0.0,
    clock: Callable[[], datetime],
    random: Random = os.urandom,
) -> Retrieved:
    """Run one retrieval and keep its record.

    ``session``: the agent's own id of a session of ours that asked, ``None``: none did. Raises ``StoreError`` where the
    record cannot be written, and ``ValueError`` as the pipeline does.
    """
    with Archive.open(store.path) as archive:
        found = retrieve(
            intent,
            scope,
            None,
            None,
            weights,
            archive.recallers(scope),
            now,
            lambda: "retr-" + random(8).hex(),
            min_score=min_score,
        )
    record_lines(store, STREAM, lines_of(found, intent, session), clock=clock, random=random)
    return found


def lines_of(found: Retrieved, intent: RetrievalIntent, session: str | None) -> list[dict[str, Any]]:
    """The lines that keep a retrieval: the request, where a session made it, and the snapshot."""
    snapshot: dict[str, Any] = orjson.loads(snapshot_bytes(found.snapshot))
    kept = {"type": "retrieval.snapshot", "session": session, "snapshot": snapshot, "block": found.block.rendered}
    if session is None:
        return [kept]
    asked = {key: value for key, value in intent.as_json().items() if key not in ("kind", "id")}
    about = {"session": session, "id": f"ask-{snapshot['id']}", "at": snapshot["createdAt"]}
    return [{"type": "retrieval.request", **about, **asked}, kept]
