"""Copied beginnings: where the history a fork or a sub-agent took along ends, and its own records begin.

Some clients begin the log of such a session with a copy of the log it came from, written anew and with other times.
Where the copy ends is told by the log itself, where it can tell: by the place it names, by the times its turns have in
their ids, by times older than the session. Where it cannot, the other session's own records tell: the copy goes as far
as they hold, one after the other, what it says. That may be read before or after.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import NamedTuple

from affidavit.session.times import instant

FROM, SINCE, START = "copies.from", "copies.since", "copies.start"
"""Facts by which a record declares a copied beginning: whose history it may be (``""``: of nobody in particular), when
the session began, and the place in its log from which on records are its own. They are no facts of the session."""


class Marks(NamedTuple):
    """What of a record tells whether it was copied.

    ``opens``: the session it opens. ``place``: its place in the log, as stated. ``turned``: when its turn began, in
    milliseconds since 1970, as the turn's id has it. ``at``: UTC microseconds. ``key``: a hash of what it says without
    its time and place, the same in the copy.
    """

    opens: str | None
    place: int | None
    turned: int | None
    at: int | None
    key: int


@dataclass(slots=True)
class Fork:
    """A file that begins with a copy, as far as that is known. Places count its records from 0.

    ``native``: the session of the file; ``parent``: whose history it may be. ``since``: when the session began (UTC
    microseconds). ``start``: stated place of its first own record. ``sure``: something said that there is a copy.
    ``timed``: copied records kept their times. ``frontier``: up to here all records are copied; ``seen``: up to here
    each was asked what it tells of itself. ``end``: the first that says it is the session's own. ``awaits``: what the
    other session must say for the copy to go on.
    """

    source: int
    format: str
    native: str
    parent: str = ""
    since: int | None = None
    start: int | None = None
    sure: bool = False
    timed: bool = False
    frontier: int = 0
    seen: int = 0
    end: int | None = None
    awaits: int | None = None

    @property
    def open(self) -> bool:
        """Whether it is not known yet where the copy ends."""
        return self.end is None or (self.frontier < self.end and bool(self.parent))

    def declare(self, facts: dict[str, str], *, sure: bool) -> None:
        """Take in what a record declares; ``sure``: it is itself a part of the copy."""
        if facts[FROM] != self.native:
            self.parent = self.parent or facts[FROM]
        self.sure = self.sure or sure
        if not sure:
            self.since, _ = instant(facts.get(SINCE))
            start = facts.get(START, "")
            self.start = int(start) if start.isascii() and start.isdigit() and len(start) < 16 else None

    @property
    def made(self) -> int | None:
        """When the session was made, in milliseconds since 1970, as its id has it."""
        return made(self.native)


def made(id: str) -> int | None:
    """The time a UUID of version 7 has in it, in milliseconds since 1970."""
    if len(id) != 36 or id[14] != "7" or id.count("-") != 4:
        return None
    try:
        return int(id[:8] + id[9:13], 16)
    except ValueError:
        return None


def judge(fork: Fork, place: int, marks: Marks) -> bool | None:
    """Whether a record says of itself that it was copied; ``None`` where it does not say."""
    if marks.opens is not None and marks.opens != fork.native:
        return True
    if fork.start is not None:
        return (place if marks.place is None else marks.place) < fork.start
    began = fork.made
    if marks.turned is not None and began is not None:
        return marks.turned < began
    if marks.at is not None and fork.since is not None:
        if marks.at < fork.since:
            return True
        if fork.timed:
            return False
    return None


def told(fork: Fork, records: Iterable[tuple[int, Marks | None]]) -> int:
    """Ask the next records what they tell of themselves; gives the place up to which all are copied.

    ``records``: (place, marks, ``None`` where they cannot be had), from ``seen`` on.
    """
    frontier = fork.frontier
    for place, marks in records if fork.end is None else ():
        fork.seen = place + 1
        if marks is None or marks.opens == fork.native:
            continue
        copied = judge(fork, place, marks)
        if copied:
            fork.sure = True
            fork.timed = fork.timed or (marks.opens is None and marks.at is not None and _older(fork, marks.at))
            frontier = place + 1
        elif copied is False:
            fork.end = place
            return place if fork.sure else frontier
    return frontier


def _older(fork: Fork, at: int) -> bool:
    return fork.since is not None and at < fork.since


def followed(
    fork: Fork, frontier: int, records: Iterable[tuple[int, Marks | None]], holds: Callable[[int], bool]
) -> int:
    """How far the copy goes on by what the other session ``holds``, from the place up to which it is known to go.

    ``records`` from there on. What cannot be read is passed over where what comes after it is copied.
    """
    fork.awaits = None
    for place, marks in records:
        if place == fork.end:
            break
        if marks is None or marks.opens == fork.native:
            continue
        if not holds(marks.key):
            fork.awaits = marks.key
            break
        frontier = place + 1
    return frontier
