"""What a verification reports, and the closed list of what can fail."""

from __future__ import annotations

from dataclasses import dataclass, field

from affidavit.text.marks import marked

FAILURES = {
    "entry_missing": "the numbering of entries has a gap",
    "entry_bytes": "an entry's bytes are not the canonical form of an entry",
    "entry_leaf": "an entry's bytes and its leaf hash do not belong together",
    "entry_id": "an entry's id in the table is not the one in its bytes",
    "entry_store": "an entry belongs to another store",
    "chain": "an entry does not follow the one its stream had before",
    "tile": "a tile of the tree is missing, or holds other hashes than the entries give",
    "segment_missing": "an entry speaks of records that are not there",
    "segment_extra": "records are there that no entry speaks of",
    "segment_fields": "where a segment says its records stood is not what its entry says",
    "segment_bytes": "a segment's stored bytes are damaged",
    "segment_root": "a segment's commitments are not the ones its entry names",
    "record": "a record's bytes are not the ones that were recorded",
    "bytes_missing": "a record's or payload's bytes are gone, and no redaction says so",
    "bytes_left": "a record was erased by a redaction, yet bytes of it are still there",
    "payload_missing": "content an entry refers to is gone, and no redaction says so",
    "payload_bytes": "content an entry refers to is not what was recorded",
    "payload_extra": "content is there that no entry refers to",
    "store_key": "the store's own id or look-up key is missing or damaged",
    "fold_missing": "a table lacks a row that the ledger gives",
    "fold_extra": "a table has a row that the ledger does not give",
    "fold_differs": "a row of a table is not what the ledger gives",
    "fold_failed": "the tables could not be made again from the ledger",
    "index": "an index lacks what the ledger gives, or holds what it does not give",
    "rolled_back": "the ledger is shorter than when it was last verified here",
    "forked": "the ledger's beginning is not the one that was last verified here",
    "damaged": "SQLite could not read a part of the store",
    "visible_text": "a text a model was given is not the one its recorded hash is of",
}
"""Every class of failure with what it means."""

NOT_CLAIMED = (
    "that the agent told the truth",
    "that nothing happened off the record",
    "that nobody with the file rewrote the whole store before you first looked at it",
)
"""What a verification that holds does not say."""

MOST_FAILURES = 1_000


@dataclass(frozen=True, slots=True)
class Failure:
    """One thing that does not hold. ``address`` opens it; ``kind`` is a key of :data:`FAILURES`."""

    address: str
    kind: str
    detail: str


@dataclass(frozen=True, slots=True)
class Marker:
    """A state of the ledger that held when this user last verified it: its size and root."""

    size: int
    root: bytes


@dataclass(slots=True)
class VerifyReport:
    """The outcome. ``level`` is the strongest claim it supports (``none`` when something failed).

    ``checked`` counts what was looked at, in the order it was done; ``seconds`` how long that took. ``since``: only
    what is newer than that entry was checked, and the tables were not compared. ``more``: failures beyond the first
    1,000, counted only. ``root`` is the tree's root over ``entries``.
    """

    holds: bool = True
    level: str = "self-consistent"
    entries: int = 0
    root: bytes = b""
    checked: dict[str, int] = field(default_factory=dict)
    seconds: dict[str, float] = field(default_factory=dict)
    failures: list[Failure] = field(default_factory=list)
    more: int = 0
    withheld: int = 0
    since: int | None = None

    def fail(self, address: str, kind: str, detail: str) -> None:
        """Note a failure."""
        self.holds = False
        self.level = "none"
        if len(self.failures) < MOST_FAILURES:
            self.failures.append(Failure(address, kind, marked(detail)))
        else:
            self.more += 1
