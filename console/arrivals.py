"""What has come into the store: since the person's last visit, and while they look.

All of it is told from the store, whoever adds to it: a follower, another importer, a program that records.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from storage.numbers import place_of

if TYPE_CHECKING:
    from console.reading import ReadPool
    from console.services import Visit
    from storage.archive import Archive
    from storage.queries.models import Arrival

LIVE = timedelta(minutes=1)
"""How long after the last event came in a session still counts as live."""

RECENT = timedelta(minutes=10)
"""How old the time is at most that a live session's newest event recorded: an old log that is imported is not live."""


@dataclass(slots=True)
class _Came:
    """Events that came into a session while the person looks. ``when``: the last of them, by our clock."""

    events: int
    when: datetime
    latest: int | None


@dataclass(frozen=True, slots=True)
class Glance:
    """What a look at the store saw: how many ledger entries it has, and what came in since the look before."""

    entries: int
    new: tuple[Arrival, ...] = ()


class Arrivals:
    """What is known of one store's growth. ``since``: ledger entries it had at the end of the person's last visit; at
    the first, how many it had when they came.
    """

    def __init__(self, now: Callable[[], datetime]) -> None:
        self._now = now
        self._visit: Visit | None = None
        self._came: dict[int, _Came] = {}
        self._told: frozenset[int] = frozenset()
        self.entries: int | None = None
        self.since: int | None = None
        self.touched: frozenset[int] = frozenset()
        """Sessions into which something came since the last visit."""

    def read(self, pool: ReadPool, visit: Visit, done: Callable[[], None]) -> None:
        """Find out what is new since the last visit; read anew, a store is still as it was left then."""
        known = self.since

        def ask(archive: Archive) -> tuple[int, int, frozenset[int]]:
            entries, last = archive.entries(), visit.last() if known is None else known
            # A store that is shorter than it was is another one, or was put back.
            since = entries if last is None or last > entries else last
            return entries, since, archive.touched(since) if since < entries else frozenset()

        def take(found: tuple[int, int, frozenset[int]]) -> None:
            self._visit = visit
            self.entries, self.since, self.touched = found
            done()

        pool.ask("visit", ask, take, lambda _error: None, slow=True)

    def leave(self) -> None:
        """The person leaves the store: what it holds now is what they have seen. It is another store then."""
        if self._visit is not None and self.entries is not None:
            self._visit.leave(self.entries)
        self._visit, self.entries, self.since = None, None, None
        self.touched, self._told, self._came = frozenset(), frozenset(), {}

    def glance(self, archive: Archive) -> Glance | None:
        """Look at the store, in a reading thread; ``None`` before the last visit is known."""
        if self.entries is None:
            return None
        entries = archive.entries()
        return Glance(entries, tuple(archive.arrivals(self.entries)) if entries > self.entries else ())

    def take(self, glance: Glance) -> bool:
        """Take in what a look saw. Whether the store had grown."""
        grown = self.entries is not None and glance.entries > self.entries
        self.entries = glance.entries
        now = self._now()
        for new in glance.new:
            before = self._came.get(new.session)
            times = [at for at in (new.latest, before.latest if before else None) if at is not None]
            self._came[new.session] = _Came(
                new.events + (before.events if before else 0), now, max(times, default=None)
            )
        self.touched |= {new.session for new in glance.new}
        return grown

    def changed(self) -> bool:
        """Whether other sessions are live than when this was last asked."""
        told, self._told = self._told, frozenset(self.live_among(self._came))
        return told != self._told

    def live(self, session: int) -> bool:
        """Whether events of a session are still coming."""
        came = self._came.get(session)
        if came is None or came.latest is None:
            return False
        now = self._now()
        return now - came.when < LIVE and now.timestamp() - came.latest / 1e6 < RECENT.total_seconds()

    def live_among(self, sessions: Iterable[int]) -> list[int]:
        """Those of some sessions that are live."""
        return [session for session in sessions if self.live(session)]

    @property
    def live_count(self) -> int:
        """How many sessions are live."""
        return len(self.live_among(self._came))

    def is_new(self, event: int) -> bool:
        """Whether an event, by its number, was recorded since the last visit."""
        return self.since is not None and place_of(event)[0] >= self.since
