"""Following: a tree of logs that grow, read on as they do.

The tree is looked at again and again; only files whose size, time or identity changed are opened, and of those only
what was appended is read. It needs nothing of the system but names and sizes, so it works on network folders too.
"""

from __future__ import annotations

import os
import stat
import threading
import time
from collections.abc import Callable, Iterator, Sequence

from storage.accounting import FileReport, ImportReport
from storage.detect import files
from storage.importing import Importer
from storage.store import StoreError

SOONEST = 0.3
"""Seconds between two looks at least: what is written shows within a second."""

LATEST = 5.0
"""Seconds between two looks at most."""

REST = 100
"""How many times as long as a look takes is waited until the next one, so that idle following costs little."""

Say = Callable[[str, str], None]
"""Called with a file and what there is to say of it: that it was replaced, or cannot be read."""

Mark = tuple[int, int, int, int]


class Follower:
    """Follows files and folders for one importer until asked to stop; its report adds up all that was read."""

    def __init__(self, importer: Importer, paths: Sequence[str], format: str | None, say: Say) -> None:
        self.importer = importer
        self.paths = paths
        self.format = format
        self.say = say
        self.report = ImportReport()
        self._marks: dict[str, Mark] = {}
        self._files: dict[str, FileReport] = {}
        self._pending: dict[str, int] = {}

    def run(self, cancel: threading.Event, *, clock: Callable[[], float] = time.monotonic) -> ImportReport:
        """Look and read until ``cancel`` is set. Raises ``StoreError`` for anything but a store somebody else holds."""
        while not cancel.is_set():
            began = clock()
            changed = self.look()
            cancel.wait(SOONEST if changed else max(SOONEST, min(LATEST, REST * (clock() - began))))
        self.report.files = list(self._files.values())
        self.report.pending = sorted(self._pending.items())
        return self.report

    def look(self) -> int:
        """Look once, and read what is new; gives how many files had changed."""
        marks = dict(self._seen())
        changed = [path for path, mark in marks.items() if self._marks.get(path) != mark]
        gone = [path for path in self._marks if path not in marks]
        for path in gone:
            del self._marks[path]
        if not changed:
            return 0
        self.importer.report = ImportReport()
        try:
            report = self.importer.paths(changed, self.format)
        except StoreError as error:
            if error.reason != "locked":
                raise
            self.say(self.importer.store.path, "another program holds the store; trying again")
            self._add(self.importer.report)
            return len(changed)
        self._add(report)
        self._marks.update({path: marks[path] for path in changed})
        return len(changed)

    def _seen(self) -> Iterator[tuple[str, Mark]]:
        """Every file below what is followed, as the system tells of it now."""
        for path in self.paths:
            try:
                below = files(path, []) if stat.S_ISDIR(os.stat(path).st_mode) else iter((path,))
                for file in below:
                    try:
                        told = os.stat(file)
                    except OSError:
                        continue
                    yield file, (told.st_dev, told.st_ino, told.st_size, told.st_mtime_ns)
            except OSError:
                continue

    def _add(self, report: ImportReport) -> None:
        """Add what one look brought to the account of all."""
        for file in report.files:
            known = self._files.get(file.path)
            if known is None:
                self._files[file.path] = known = file
                file.named = file.path in self.paths
            else:
                for name in ("records", "mapped", "unknown", "duplicates", "unreadable", "bytes"):
                    setattr(known, name, getattr(known, name) + getattr(file, name))
                known.format = file.format or known.format
                known.skipped = file.skipped if not known.records else None
            if file.note:
                self.say(file.path, file.note)
            self._pending.pop(file.path, None)
        self._pending.update(report.pending)
        self.report.unreadable_list += report.unreadable_list
        self.report.sessions += report.sessions
        self.report.events += report.events
        self.report.bytes += report.bytes
