"""Keeping the record of a recall: a line of our own, without texts of memories, before anything is handed over."""

from __future__ import annotations

import os
from collections.abc import Callable
from datetime import datetime
from typing import Any

from affidavit.text.masking import holds_secret, mask
from storage.recording import record_lines
from storage.store import Random, Store, StoreError

STREAM = "recall"
"""What the source of these lines is called."""


def keep_recall(
    path: str, audit: dict[str, Any], *, clock: Callable[[], datetime], random: Random = os.urandom
) -> str | None:
    """Record how a recall was judged; returns the run's id, ``None`` where the store can only be read.

    ``audit``: the fields of a ``recall.audit`` line but its type and id. A title that holds a secret is masked. Raises
    ``StoreError`` where the record could be written and was not.
    """
    id = "gate-" + random(8).hex()
    line = audit_line(id, None, audit)
    try:
        with Store.open(path, create=True) as store:
            record_lines(store, STREAM, [line], clock=clock, random=random)
    except StoreError as error:
        if error.reason == "read_only":
            return None
        raise
    return id


def audit_line(id: str, session: str | None, audit: dict[str, Any]) -> dict[str, Any]:
    """The line that keeps a run of the gate; a title that holds a secret is masked."""
    line = {"type": "recall.audit", "id": id, "session": session, **audit}
    return {**line, "rejected": [_safe(one) for one in line["rejected"]]}


def _safe(rejected: dict[str, Any]) -> dict[str, Any]:
    title = rejected["title"]
    return {**rejected, "title": mask(title)} if holds_secret(title) else rejected
