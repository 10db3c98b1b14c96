"""Numbers of events: the place of their bytes in the ledger, in one integer that sorts as the ledger does.

Ledger entry of the segment ‖ record in the segment (10 bits) ‖ block of the record (22 bits).
"""

from __future__ import annotations

from typing import Final

RECORD_BITS: Final = 10
BLOCK_BITS: Final = 22


def number(entry: int, record: int, block: int = 0) -> int:
    """The number of an event; of a record's first one unless ``block`` is given."""
    return entry << (RECORD_BITS + BLOCK_BITS) | record << BLOCK_BITS | block


def place_of(n: int) -> tuple[int, int, int]:
    """(ledger entry, record in the segment, block in the record) of an event's number."""
    return n >> (RECORD_BITS + BLOCK_BITS), n >> BLOCK_BITS & (1 << RECORD_BITS) - 1, n & (1 << BLOCK_BITS) - 1


def record_number(n: int) -> int:
    """The number of the first event of an event's record."""
    return n >> BLOCK_BITS << BLOCK_BITS
