"""Whether the records a command prints are the ones that were recorded: proven and told before they are printed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import chain, islice
from typing import TYPE_CHECKING

from console.commands.documents import event_address
from console.output import Output
from console.words import number, plural

if TYPE_CHECKING:
    from storage.queries.models import EventRow
    from storage.verify import Failure

NOT_AS_RECORDED = "not_as_recorded"
"""The flag of an event in JSON whose record could not be proven."""

WORDS = "these bytes are not the ones that were recorded"

BATCH = 500
"""Events, or segments of a file, that are proven at a time."""

MOST_TOLD = 20
"""Failures that are told one by one; of more only their number is."""

_CHANGED = frozenset({"record", "payload_bytes"})
"""Failures of the bytes themselves."""

_STORED = "segment_bytes"
"""A segment is stored in other bytes than it was; its records may still be the ones that were recorded."""


class Prover:
    """Proves records of one store, each segment once: the record by its commitment, that by its ledger entry, and the
    entry by the tree. What does not hold is told on standard error.
    """

    def __init__(self, store: str, output: Output) -> None:
        self._store = store
        self._output = output
        self._segments: dict[int, bool] = {}
        self._records: dict[tuple[int, int], bool] = {}
        self._told: set[str] = set()

    @property
    def code(self) -> int:
        """Exit code of a command that prints these records: 1 where something did not hold."""
        return 1 if self._told else 0

    def places(self, places: Mapping[int, Iterable[int] | None]) -> None:
        """Proves ledger entries with records of theirs; see ``verify_records``."""
        for failure in self._verify(places):
            self._tell(failure, failure.address)

    def source(self, key: int) -> None:
        """Proves every record of one revision of a file, ``SourceRow.key``."""
        from storage import driver

        connection = driver.connect_reader(self._store)
        try:
            rows = connection.execute("SELECT entry FROM segment WHERE source = ? ORDER BY start", (key,))
            while some := [entry for (entry,) in rows.fetchmany(BATCH)]:
                self.places(dict.fromkeys(some))
        finally:
            connection.close()

    def event(self, session: str, row: EventRow) -> bool:
        """Whether the record of an event of the session with that uid is proven."""
        from storage.numbers import place_of

        entry, record, _ = place_of(row.key)
        if self._whole([entry]):
            return True
        if (entry, record) not in self._records:
            self._records[entry, record] = self._record(entry, record, event_address(session, row.id))
        return self._records[entry, record]

    def events(self, session: str, rows: Iterable[tuple[int, EventRow]]) -> Iterator[tuple[int, EventRow, bool]]:
        """Events of a session, each with whether its record is proven.

        They are proven a batch at a time, the first batch at once: so what does not hold is told before it is printed.
        """
        left = iter(rows)
        return chain(self._batch(session, left), self._batches(session, left))

    def end(self, unproven: int) -> None:
        """Sums up under a long list what was told above it."""
        if self._told:
            self._output.tell(f"✗ {plural(unproven, 'event')} of these not proven; verify checks the whole store")
        if len(self._told) > MOST_TOLD:
            self._output.tell(f"✗ {number(len(self._told) - MOST_TOLD)} failures more than were told")

    def _batches(self, session: str, left: Iterator[tuple[int, EventRow]]) -> Iterator[tuple[int, EventRow, bool]]:
        while batch := self._batch(session, left):
            yield from batch

    def _batch(self, session: str, left: Iterator[tuple[int, EventRow]]) -> list[tuple[int, EventRow, bool]]:
        from storage.numbers import place_of

        some = list(islice(left, BATCH))
        self._whole({place_of(row.key)[0] for _, row in some})
        return [(index, row, self.event(session, row)) for index, row in some]

    def _whole(self, entries: Iterable[int]) -> bool:
        """Whether all of these segments hold in every record; tells of nothing."""
        new = [entry for entry in entries if entry not in self._segments]
        if new and not self._verify(dict.fromkeys(new)):
            self._segments.update(dict.fromkeys(new, True))
        elif new:
            self._segments.update((entry, not self._verify({entry: None})) for entry in new)
        return all(self._segments[entry] for entry in entries)

    def _record(self, entry: int, record: int, address: str) -> bool:
        proven = True
        for failure in self._verify({entry: (record,)}):
            own = failure.address != f"entry/{entry}"
            proven = proven and not own and failure.kind == _STORED
            self._tell(failure, address if own else failure.address)
        return proven

    def _verify(self, places: Mapping[int, Iterable[int] | None]) -> list[Failure]:
        from storage.verify.single import verify_records

        return verify_records(self._store, places).failures

    def _tell(self, failure: Failure, address: str) -> None:
        line = f"✗ {address}: {WORDS if failure.kind in _CHANGED else failure.detail} ({failure.kind})"
        if line not in self._told:
            self._told.add(line)
            if len(self._told) <= MOST_TOLD:
                self._output.tell(line)
