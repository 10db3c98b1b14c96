"""What our own lines of types ``memory.candidate`` and ``memory.record`` say: a candidate, of no session, no event.

They are taken strictly: one that is not as the models of :mod:`affidavit.memory` say is no candidate, and is kept as a
record nobody knows.
"""

from __future__ import annotations

from typing import Any

from affidavit.proof.canonical import CanonicalError, canonical
from affidavit.session.event import Reading

TYPES = frozenset({"memory.candidate", "memory.record"})


def candidate(value: dict[str, Any], reading: Reading) -> bool:
    """Read a candidate; ``False`` where the line holds none."""
    # Models cost time to load, and most logs hold no candidate.
    from pydantic import ValidationError

    from affidavit.memory.lines import candidate_of

    try:
        read = candidate_of(value)
        body = canonical(read.document())
    except (ValidationError, CanonicalError, RecursionError):
        return False
    reading.session = reading.native = reading.parent = None
    reading.lane = ""
    reading.kept = "candidate", (read.session or "", read.id, body.decode())
    return True
