"""A session in view to which events are still coming: the list grows in place, and says what is new below."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from textual.timer import Timer

from console.screens.timeline.folding import Outlook
from console.screens.timeline.in_view import SessionInView, lanes_of
from console.screens.timeline.source import Shape, TimelineSource, row_of, shape_of
from console.widgets import figures
from console.widgets.ink import Ink, Line
from storage.archive import EventFilter
from storage.queries.models import EventRow, SessionRow, Total

if TYPE_CHECKING:
    from storage.archive import Archive

AGAIN = 0.3
"""Seconds until a list that was being read is looked at again."""

OUTLINE = 50
"""The outline of a session (its strip, the counts of its turns) takes a walk through all of it: it is made anew once it
has grown by one event in so many."""


@dataclass(frozen=True)
class _Grown:
    """A session and how it is built, with so many ledger entries; how many of the new events are in view at all
    (``fitting``), and how many of those not seen yet stand ``below`` the cursor.
    """

    session: SessionRow
    shape: Shape
    entries: int
    fitting: int
    below: int


class Growing(SessionInView):
    """See the module."""

    def __init__(self) -> None:
        super().__init__()
        self._below = 0
        self._seen_to: int | None = None
        """Ledger entries there were when the end of the list was last on the screen."""
        self._later: Timer | None = None

    def grown(self, sessions: frozenset[int]) -> None:
        session, rows = self.session, self._rows
        if session is None or session.key not in sessions or rows.error is not None:
            return
        if rows.reading or self._counted_to is None:
            if self._later is None:
                self._later = self.set_timer(AGAIN, self._try_again)
            return
        if rows.shows_end or self._seen_to is None:
            self._seen_to = self._counted_to
        outlook, follow = self.outlook, self._follows
        at = None if self.item is None else row_of(self.item)

        def done(grown: _Grown) -> None:
            if self.session is not None and self.session.key == session.key:
                self._take(grown, outlook, follow=follow)

        read = self._reading(session.key, self._counted_to, self._seen_to, at)
        self.console_app.pool.ask((self, "grown"), read, done, lambda _error: None)

    def _try_again(self) -> None:
        self._later = None
        if self.session is not None:
            self.grown(frozenset({self.session.key}))

    @property
    def _follows(self) -> bool:
        """Whether the person is at the end and looks at the list, so that it goes on with what comes."""
        return self._rows.at_end and not self.has_class("-whole") and not self.pane.has_focus

    def _reading(self, key: int, counted_to: int, seen_to: int, at: EventRow | None) -> Callable[[Archive], _Grown]:
        outlook, source = self.outlook, self._rows.source
        effective = source.effective if isinstance(source, TimelineSource) else EventFilter()

        def read(archive: Archive) -> _Grown:
            with archive.at_once():
                row, entries = archive.session(key), archive.entries()
                fitting = archive.count_events(key, replace(outlook.filter, lanes=lanes_of(outlook), newer=counted_to))
                unseen = replace(effective, newer=seen_to)
                below = archive.count_events(key, unseen).value
                if at is not None:
                    below -= archive.position(key, at, unseen) + (archive.entry_of(at.key) >= seen_to)
                return _Grown(row, shape_of(archive, key), entries, fitting.value, below)

        return read

    def _take(self, grown: _Grown, outlook: Outlook, *, follow: bool) -> None:
        grown.shape.counts.update(self.shape.counts)
        self.session, self.shape, self._below = grown.session, grown.shape, grown.below
        source = self.source()
        if source is not None:
            self._rows.renew(source, follow=follow)
        if self._fitting is not None and outlook.filter == self.outlook.filter and outlook.alone == self.outlook.alone:
            self._all = Total(grown.session.events, True)
            self._fitting = Total(self._fitting.value + grown.fitting, self._fitting.exact)
            self._counted_to = grown.entries
        else:
            self._count()
        if OUTLINE * (grown.session.events - self._outlined) >= self._outlined:
            self._read_density()
            self._read_turns()
        self.tell()

    def freshened(self) -> None:
        self._rows.redraw()

    def below(self) -> Line:
        """How many new events stand below the rows on the screen, and the key that goes there."""
        if not self._below or self._rows.shows_end:
            return ()
        words = f"{figures.number(self._below)} new {'↓' if self.console_app.size.width < 100 else 'below'} "
        return (Ink("accent", words, "last"), Ink("key", "G", "last"), Ink("quiet", " · ", "last"))

    def news(self) -> Line:
        """That the session is live, that something in it is new."""
        arrivals, session = self.console_app.arrivals, self.session
        if session is None:
            return ()
        live = (Ink("accent", " · ● live"),) if arrivals.live(session.key) else ()
        new = (Ink("accent", " · + new", "new"),) if session.key in arrivals.touched else ()
        return (*live, *new)
