"""Taking another tool's memory store: what of it was not proposed before, and the account given of it."""

from __future__ import annotations

import os
from datetime import UTC, datetime
from typing import BinaryIO, Final

import orjson

from storage import driver
from storage.accounting import FileReport
from storage.folds.governed import candidate_uid
from storage.readers import memory_stores
from storage.readers.memory_stores import LARGEST, Foreign

MAY_BE_MEMORIES: Final = frozenset({"not_a_log", "unknown_format"})
"""Why a file is no log that may be a memory store."""


def foreign_memories(path: str, stream: BinaryIO) -> Foreign | None:
    """What a file that is no log holds as another tool's memory store; ``None`` where it is none.

    What is larger than 16 MiB is not looked at. Raises ``OSError``.
    """
    status = os.fstat(stream.fileno())
    if status.st_size > LARGEST:
        return None
    stream.seek(0)
    real = os.path.realpath(path)
    return memory_stores.read(real, stream.read(LARGEST), datetime.fromtimestamp(status.st_mtime, UTC))


def proposed_anew(connection: driver.Connection, foreign: Foreign) -> list[bytes]:
    """The lines to take in: those whose candidate is not in the store yet, whatever became of it since."""
    query = "SELECT 1 FROM candidate WHERE id = ?"
    return [
        orjson.dumps(line) + b"\n"
        for line in foreign.lines
        if connection.execute(query, (candidate_uid("", line["id"]),)).fetchone() is None
    ]


def account_for(report: FileReport, foreign: Foreign, fresh: int) -> None:
    """Complete a file's account, of which ``fresh`` lines were taken in: copies are counted as duplicates."""
    known = len(foreign.lines) - fresh
    report.format = foreign.store
    report.records += known + foreign.copies + foreign.left
    report.duplicates += known + foreign.copies
    report.unknown += foreign.left
    said = [
        f"{memory_stores.NAMES[foreign.store]}: read as candidates, which nobody has approved",
        f"{foreign.copies} copies folded" if foreign.copies else "",
        f"{known} proposed before" if known else "",
        f"{foreign.left} left out: no memory, or too long" if foreign.left else "",
        foreign.note,
    ]
    report.note = "; ".join(part for part in said if part)
