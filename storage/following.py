"""Following: a tree of logs that grow, read on as they do.

The tree is looked at again and again (:mod:`storage.watching`); only files whose size, time or identity changed are
opened, and of those only what was appended is read.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Sequence

from storage.accounting import COUNTED, FileReport, ImportReport
from storage.importing import Importer
from storage.store import StoreError
from storage.watching import Mark, Sight, Watch

SOONEST = 0.3
"""Seconds between two looks at what changed lately."""

LEAST = 0.05
"""The same before a look at everything that is due."""

WHOLE = 0.6
"""Seconds between two looks at every file at least: what is written shows within a second."""

REST = 30
"""How many times as long as a look at everything takes the processor is waited until the next one."""

QUICK_REST = 200
"""The same for a look at what changed lately."""

LATER = 5.0
"""Seconds at most until what could not be read is tried again."""

MOST_NAMED = 10
"""Files that go at once and are named one by one; of more only their number is."""

Say = Callable[[str, str], None]
"""Called with a file or folder and what there is to say of it: that it was replaced, is gone, or cannot be read."""


class Follower:
    """Follows files and folders for one importer until asked to stop; its report adds up all that was read."""

    def __init__(
        self,
        importer: Importer,
        paths: Sequence[str],
        format: str | None,
        say: Say,
        *,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.importer = importer
        self.paths = paths
        self.format = format
        self.say = say
        self.report = ImportReport()
        self._clock = clock
        self._watch = Watch(paths, clock=clock)
        self._taken: dict[str, Mark] = {}
        """What a file was when something of it was last recorded."""
        self._files: dict[str, FileReport] = {}
        self._pending: dict[str, int] = {}
        self._told: dict[str, str] = {}
        self._failed: dict[str, tuple[float, float]] = {}
        """Of files that could not be read: when they are tried again, and how long is waited then."""

    def run(self, cancel: threading.Event) -> ImportReport:
        """Look and read until ``cancel`` is set. Raises ``StoreError`` for anything but a store somebody else holds."""
        due = 0.0
        while not cancel.is_set():
            whole = self._clock() >= due
            spent = time.thread_time()
            sight = self._watch.look(whole=whole)
            spent = time.thread_time() - spent
            self._take(sight)
            if whole:
                due = self._clock() + max(WHOLE, REST * spent)
            rest = SOONEST if whole else max(SOONEST, QUICK_REST * spent)
            cancel.wait(max(LEAST, min(due - self._clock(), rest)))
        self.report.files = list(self._files.values())
        self.report.pending = sorted(self._pending.items())
        return self.report

    def look(self) -> int:
        """Look at everything once, and read what is new; gives how many files had changed."""
        return self._take(self._watch.look())

    def _take(self, sight: Sight) -> int:
        """Tell what happened to files and folders, and read those that changed."""
        if len(sight.gone) > MOST_NAMED:
            self.say(
                os.path.commonpath(sight.gone),
                f"{sum(sight.gone.values())} files are gone from here; what was read of them is kept",
            )
        else:
            for place, count in sight.gone.items():
                self._say_gone(place, count)
        for place in sight.back:
            self.say(place, "is there again")
        for folder, why in sight.closed.items():
            self.say(folder, f"cannot be looked into: {why}")
        now = self._clock()
        changed = [path for path in sight.changed if self._failed.get(path, (now, 0.0))[0] <= now]
        if not changed:
            return 0
        self.importer.report = ImportReport()
        try:
            report = self.importer.paths(changed, self.format)
        except StoreError as error:
            if error.reason != "locked":
                raise
            self._say_once(self.importer.store.path, "another program holds the store; trying again")
            self._add(self.importer.report, sight.changed)
            return len(changed)
        self._told.pop(self.importer.store.path, None)
        self._add(report, sight.changed)
        gone = {file.path for file in report.files if file.skipped == "missing"}
        read = (path for path in changed if path not in self._failed and path not in gone)
        self._watch.marks.update({path: sight.changed[path] for path in read})
        return len(changed)

    def _say_gone(self, place: str, count: int) -> None:
        was = self._watch.marks.get(place)
        now = self._watch.moved_to(was, place) if was is not None else None
        if now is not None:
            self.say(place, f"is called {now} now")
        elif place in self._watch.marks:
            self.say(place, "is gone; what was read of it is kept")
        else:
            files = "a file" if count == 1 else f"{count} files"
            self.say(place, f"is gone, and {files} with it; what was read is kept")

    def _say_once(self, path: str, words: str) -> None:
        """Say something that goes on until it is over."""
        if self._told.get(path) != words:
            self._told[path] = words
            self.say(path, words)

    def _add(self, report: ImportReport, marks: dict[str, Mark]) -> None:
        """Add what one look brought to the account of all, and tell what there is to tell."""
        for file in report.files:
            self._tell(file, marks.get(file.path))
            known = self._files.get(file.path)
            if known is None:
                self._files[file.path] = known = file
                file.named = file.path in self.paths
            else:
                for name in COUNTED:
                    setattr(known, name, getattr(known, name) + getattr(file, name))
                known.format = file.format or known.format
                known.skipped = file.skipped if not known.records else None
                known.note = file.note or (None if known.stopped else known.note)
                known.stopped = file.stopped
            self._pending.pop(file.path, None)
        self._pending.update(report.pending)
        self.report.unreadable_list += report.unreadable_list
        self.report.sessions += report.sessions
        self.report.events += report.events
        self.report.bytes += report.bytes

    def _tell(self, file: FileReport, mark: Mark | None) -> None:
        """Say what happened to a file, and remember when to try again what could not be read.

        One without a mark was not looked at: a rule file brings it in.
        """
        path, taken = file.path, self._taken.get(file.path)
        if file.stopped:
            wait = min(2 * self._failed.get(path, (0.0, SOONEST))[1], LATER)
            self._failed[path] = self._clock() + wait, wait
            self._say_once(path, file.note or "cannot be read")
            return
        self._failed.pop(path, None)
        if not file.note:
            self._told.pop(path, None)
        if file.anew and taken is not None and mark is not None:
            self.say(path, f"{self._what_happened(path, taken, mark)}; read as a new revision")
        elif file.note:
            self._say_once(path, file.note)
        elif taken is not None and file.skipped == "empty":
            self.say(path, "was emptied; what was read of it is kept")
        if file.skipped is None and mark is not None:
            self._taken[path] = mark

    def _what_happened(self, path: str, taken: Mark, mark: Mark) -> str:
        """How a file came to begin otherwise than what was taken of it."""
        if taken.identity != mark.identity:
            now = self._watch.moved_to(taken, path)
            return "was replaced by another file" if now is None else f"was rotated: what it held is {now} now"
        before = self._watch.marks.get(path, taken)
        return "was cut" if min(mark.size, before.size) < taken.size else "was rewritten where it stands"
