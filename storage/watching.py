"""Watching: which files of some trees changed, told by names, sizes and times alone.

It needs nothing of the system but those, so it works on network folders too. A folder is listed again only where its
time says that names in it changed; an append does not change that, so every file is asked for by itself, those that
changed lately more often than those that rest.
"""

from __future__ import annotations

import os
import stat
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from storage.rule_places import is_rule_link

LATELY = 900.0
"""Seconds for which a file that changed is looked at more often than others."""

SETTLED = 2.0
"""Seconds after which a folder's time tells of every change before it: file systems count in steps."""

ANEW = 30.0
"""Seconds after which a folder is listed again whatever its time says: some file systems do not keep it."""


class Mark(NamedTuple):
    """What the system says of a file: another mark means that it changed. ``time`` is in nanoseconds."""

    device: int
    inode: int
    size: int
    time: int

    @property
    def identity(self) -> tuple[int, int]:
        """Which file it is, whatever it is called."""
        return self.device, self.inode


Ask = Callable[[str], os.stat_result]


@dataclass(slots=True)
class _Folder:
    """A folder's names as they were last listed. ``time``: its own then; ``listed``: when, by both clocks."""

    time: int
    listed: float
    wall: float
    files: list[str]
    folders: list[str]


@dataclass(slots=True)
class Sight:
    """What one look saw: files that changed, and places (the topmost that is missing) that are gone or back."""

    changed: dict[str, Mark] = field(default_factory=dict)
    gone: dict[str, int] = field(default_factory=dict)
    """How many files went with a place."""
    back: list[str] = field(default_factory=list)
    closed: dict[str, str] = field(default_factory=dict)
    """Folders that do not let themselves be listed any more, and why."""


class Watch:
    """The files below some paths. Links are not followed, unless one is itself named or called like a rule file.

    ``clock`` counts seconds, ``wall`` is the time of day in seconds since 1970.
    """

    def __init__(
        self,
        paths: Sequence[str],
        *,
        clock: Callable[[], float] = time.monotonic,
        wall: Callable[[], float] = time.time,
    ) -> None:
        self.paths = paths
        self.marks: dict[str, Mark] = {}
        """What is known of each file; whoever has dealt with a change writes it here."""
        self._clock = clock
        self._wall = wall
        self._folders: dict[str, _Folder] = {}
        self._there: dict[str, Mark] = {}
        self._called: dict[tuple[int, int], str] | None = None
        self._away: dict[str, int] = {}
        self._closed: dict[str, str] = {}
        self._hot: dict[str, float] = {}

    def look(self, *, whole: bool = True) -> Sight:
        """Look at every file; without ``whole`` only at those that are new or changed lately."""
        sight = Sight()
        now, lately = self._clock(), int((self._wall() - LATELY) * 1e9)
        marks, there, hot = self.marks, self._there, self._hot
        seen: dict[str, Mark] = {}
        self._called = None
        for files, ask in self._lists(sight):
            for path in files:
                if not whole and path in there and path not in hot:
                    continue
                try:
                    told = ask(path)
                except (FileNotFoundError, NotADirectoryError):
                    continue
                except OSError:
                    if path in there:  # it cannot be asked for now, which does not mean that it is gone
                        seen[path] = there[path]
                    continue
                if stat.S_ISLNK(told.st_mode) and is_rule_link(path):
                    told = os.stat(path)
                if not stat.S_ISREG(told.st_mode):
                    continue
                mark = Mark(told.st_dev, told.st_ino, told.st_size, told.st_mtime_ns)
                seen[path] = mark
                known = marks.get(path)
                if known != mark:
                    sight.changed[path] = mark
                if mark.time > lately or (known is not None and known != mark):
                    hot[path] = now
        if whole:
            self._hot = {path: since for path, since in hot.items() if path in seen and now - since < LATELY}
            self._compare(sight, seen)
        else:
            there.update(seen)
        return sight

    def moved_to(self, mark: Mark, was: str) -> str | None:
        """What a file that was called ``was`` is called now, if it is still there."""
        if self._called is None:
            self._called = {there.identity: path for path, there in self._there.items()}
        path = self._called.get(mark.identity, was)
        # A number is given to another file as soon as it is free: one that is smaller is another.
        return path if path != was and self._there[path].size >= mark.size else None

    def _compare(self, sight: Sight, seen: dict[str, Mark]) -> None:
        """Tell what went and what came back since the last whole look."""
        for place in [place for place in self._away if os.path.lexists(place)]:
            del self._away[place]
            sight.back.append(place)
        for path in self._there.keys() - seen.keys():
            place = self._missing(path)
            sight.gone[place] = sight.gone.get(place, 0) + 1
        self._away |= sight.gone
        self._there = seen

    def _missing(self, path: str) -> str:
        """The topmost place at or above a path that is not there, within what is watched."""
        top = path
        while top not in self.paths and (above := os.path.dirname(top)) != top and not os.path.lexists(above):
            top = above
        return top

    def _lists(self, sight: Sight) -> Iterator[tuple[list[str], Ask]]:
        """Every file there is, a folder's at a time, and how the system is asked about them."""
        for path in self.paths:
            if not os.path.isdir(path):
                yield [path], os.stat
                continue
            below = [path]
            while below:
                folder = self._listed(below.pop(), sight)
                if folder is not None:
                    yield folder.files, os.lstat
                    below += folder.folders

    def _listed(self, path: str, sight: Sight) -> _Folder | None:
        """A folder's names, listed again where they may have changed."""
        known = self._folders.get(path)
        now, wall = self._clock(), self._wall()
        try:
            changed = os.stat(path).st_mtime_ns
            settled = known is not None and known.time == changed and known.wall - changed / 1e9 > SETTLED
            if known is None or not settled or now - known.listed > ANEW:
                self._folders[path] = known = _Folder(changed, now, wall, *_names(path))
            self._closed.pop(path, None)
        except OSError as error:
            self._folders.pop(path, None)
            why = error.strerror or "it cannot be listed"
            if not isinstance(error, FileNotFoundError) and self._closed.get(path) != why:
                self._closed[path] = sight.closed[path] = why
            return None
        return known


def _names(path: str) -> tuple[list[str], list[str]]:
    """The regular files of a folder in order, and its folders the other way round."""
    files, folders = [], []
    with os.scandir(path) as entries:
        for entry in sorted(entries, key=lambda entry: entry.name):
            try:
                if entry.is_dir(follow_symlinks=False):
                    folders.append(entry.path)
                elif entry.is_file(follow_symlinks=False) or (entry.is_symlink() and is_rule_link(entry.path)):
                    files.append(entry.path)
            except OSError:
                continue
    return files, folders[::-1]
