"""Marking copied records as inherited: which files begin with a copy, and what follows from how far it goes.

The work is done once for each batch, and only for files that declared a copy whose end is not known yet; see
:mod:`affidavit.session.forks` for what tells the end.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, Protocol

from affidavit.session import forks
from affidavit.session.forks import Fork, Marks
from affidavit.session.state import SourceState

Run = tuple[int, Any, Any]
"""A record that was taken; its number first."""

DECLARED_BY = 2
"""Only the first records of a file can declare that it begins with a copy: its own opening, and the copied one."""


class Known(Protocol):
    """What must be known of everything folded before, and of this batch's recorded bytes."""

    def forks(self) -> list[Fork]: ...
    def records_of(self, source: int, place: int, newest: int) -> list[int]: ...
    def files_of(self, format: str, native: str) -> list[int]: ...
    def marks(self, n: int) -> Marks | None: ...


class Inheriting:
    """The files that begin with copies. :meth:`grown` for each run of records, then :meth:`settle` once a batch."""

    def __init__(self, known: Known) -> None:
        self.known = known
        self._forks: dict[int, Fork] | None = None
        self._keys: dict[tuple[str, str], set[int]] = {}
        self._runs: list[tuple[SourceState, Sequence[Run]]] = []

    @property
    def forks(self) -> dict[int, Fork]:
        """All of them, by the number of their file."""
        if self._forks is None:
            self._forks = {fork.source: fork for fork in self.known.forks()}
        return self._forks

    def forget(self) -> None:
        """The tables may have been changed by others."""
        self._forks = None
        self._keys.clear()
        self._runs.clear()

    def begin(self) -> None:
        """A new batch."""
        self._runs = []

    def of(self, format: str, native: str) -> bool:
        """Whether a file of this session begins with a copy."""
        return any(fork.native == native and fork.format == format for fork in self.forks.values())

    def declared(self, source: SourceState, facts: dict[str, str]) -> dict[str, str]:
        """A record declares that its file may begin with a copy. Gives what else it states."""
        rest = {key: value for key, value in facts.items() if not key.startswith("copies.")}
        if source.records > DECLARED_BY:
            return rest
        fork = self.forks.get(source.no)
        if fork is None:
            fork = self.forks[source.no] = Fork(source.no, source.format, source.native)
        copied = forks.SINCE not in facts
        if source.records == 1 or copied:
            fork.declare(facts, sure=copied)
        return rest

    def grown(self, source: SourceState, records: Sequence[Run]) -> None:
        """These records of a file were taken."""
        self._runs.append((source, records))

    def settle(self, newest: int) -> Iterator[tuple[Fork, list[int]]]:
        """Files of whose copies more is known now, each with the records that are found to be inherited.

        ``newest``: the number of the last record there is.
        """
        waiting = [fork for fork in self.forks.values() if fork.open]
        if not waiting:
            self._keys.clear()
            return
        fresh: dict[tuple[str, str], set[int]] = {}
        parents = {(fork.format, fork.parent) for fork in waiting if fork.parent}
        for source, records in self._runs:
            name = (source.format, source.native)
            if name in parents or name in self._keys:
                found = {marks.key for n, _, _ in records if (marks := self.known.marks(n))}
                fresh.setdefault(name, set()).update(found)
                if name in self._keys:
                    self._keys[name] |= found
        for fork in waiting:
            name = (fork.format, fork.parent)
            new = [n for source, records in self._runs if source.no == fork.source for n, _, _ in records]
            if new or fork.awaits in fresh.get(name, ()):
                yield fork, self._settle(fork, new, newest, fresh.get(name, set()))

    def _settle(self, fork: Fork, new: list[int], newest: int, fresh: set[int]) -> list[int]:
        """Work out how far a copy goes by now; gives the records newly found to be copied."""
        first = fork.frontier
        frontier = forks.told(fork, self._marked(new, fork.seen))
        if fork.parent and frontier != fork.end and (frontier > first or fork.awaits is None or fork.awaits in fresh):
            rest = self.known.records_of(fork.source, frontier, newest)
            frontier = forks.followed(fork, frontier, self._marked(rest, frontier), self._holds(fork, newest))
        fork.frontier = frontier
        return self.known.records_of(fork.source, first, newest)[: frontier - first] if frontier > first else []

    def _marked(self, numbers: Iterable[int], place: int) -> Iterator[tuple[int, Marks | None]]:
        for more, n in enumerate(numbers):
            yield place + more, self.known.marks(n)

    def _holds(self, fork: Fork, newest: int) -> Callable[[int], bool]:
        name = (fork.format, fork.parent)

        def holds(key: int) -> bool:
            keys = self._keys.get(name)
            if keys is None:
                # Files begun in this batch are in no table yet.
                files = {*self.known.files_of(*name)}
                files.update(source.no for source, _ in self._runs if (source.format, source.native) == name)
                numbers = [n for file in sorted(files) for n in self.known.records_of(file, 0, newest)]
                keys = self._keys[name] = {marks.key for n in numbers if (marks := self.known.marks(n))}
            return key in keys

        return holds
