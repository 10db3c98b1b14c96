"""Files that rule files bring in with ``@path``, found when a rule file is imported.

Whoever wrote a rule file may not be whoever imports it, so that a path in one opens no door: only files below the
folder the rule file is for are read, and those in the folder Claude Code keeps for its user; links are resolved first.
What is not followed is said.
"""

from __future__ import annotations

import os
import stat
from collections import defaultdict, deque
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from affidavit.text.marks import marked
from storage.accounting import FileReport
from storage.detect import detect
from storage.readers import rules
from storage.rule_places import SETTINGS_FOLDERS, placed, tree_of, within
from storage.segments import RECORD_BYTES

DEPTH = 5
"""How many files deep imports are followed, as Claude Code does."""

MOST_FOLLOWED = 500
"""Files read for the sake of one rule file, at most."""

MOST_SAID = 5
MISSING = "not there"
HEAD = 1 << 16


class Home(NamedTuple):
    """The folder of a user, and that of Claude Code for them."""

    folder: str
    claude: str


def home_of(environment: Mapping[str, str] = os.environ) -> Home:
    """Where the user this runs for is at home."""
    folder = os.path.expanduser("~")
    return Home(folder, environment.get("CLAUDE_CONFIG_DIR") or os.path.join(folder, ".claude"))


def target_of(target: str, importer: str, home: str) -> str:
    """The path that an ``@path`` in a file means; nothing is looked up."""
    if target.startswith("~/"):
        target = os.path.join(home, target[2:])
    return os.path.normpath(os.path.join(os.path.dirname(importer), target))


def followed(report: FileReport, home: Home) -> Iterator[str]:
    """Paths of the files that a rule file brings in, also by way of others; notes what is not followed."""
    first = placed(report.path)
    trees = _Trees.of(first, home)
    refused: dict[str, str] = {}
    seen = {first}
    waiting = deque([(first, 0)])
    while waiting:
        path, depth = waiting.popleft()
        for _, target in rules.imports(_text(path)):
            meant = placed(target_of(target, path, home.folder))
            if meant in seen:
                continue
            why = "too many levels deep" if depth == DEPTH else trees.refusal(meant)
            if why is None and len(seen) > MOST_FOLLOWED:
                why = "too many"
            if why is not None:
                if why != MISSING or rules.is_path(target):
                    refused.setdefault(target, why)
                continue
            seen.add(meant)
            waiting.append((meant, depth + 1))
            yield meant
    if refused:
        said = [f"@{target} ({why})" for target, why in list(refused.items())[:MOST_SAID]]
        more = f" and {len(refused) - MOST_SAID} more" if len(refused) > MOST_SAID else ""
        note = marked(f"not followed: {', '.join(said)}{more}")
        report.note = f"{report.note}; {note}" if report.note else note


class Bringing:
    """Puts the files that rule files bring in behind those, in one import. ``account``: a report of each file."""

    def __init__(self, home: Home, account: list[FileReport]) -> None:
        self._home = home
        self._account = account
        self._named: dict[str, list[FileReport]] = defaultdict(list)
        self._brought: dict[str, set[str]] = defaultdict(set)
        self._dropped: set[int] = set()

    def behind(self, reports: Iterable[FileReport]) -> Iterator[FileReport]:
        """Files, and behind each rule file, once it is planned, those it brings in; of these the format is given."""
        for report in reports:
            name = os.path.basename(report.path)
            if name in self._brought and placed(report.path) in self._brought[name]:
                self._dropped.add(id(report))
                continue
            self._named[name].append(report)
            yield report
            known = report.format if report.skipped is None else None
            if known and rules.is_rules(known) and known.partition("+")[2] in rules.ROOTS:
                yield from self._of(report)

    def _of(self, report: FileReport) -> Iterator[FileReport]:
        for path in followed(report, self._home):
            if not self._taken(path):
                name = os.path.basename(path)
                self._brought[name].add(path)
                self._account.append(FileReport(path, f"{rules.NAME}+{rules.kind_of(path) or rules.OTHER}"))
                self._named[name].append(self._account[-1])
                yield self._account[-1]

    def _taken(self, path: str) -> bool:
        """Whether a file was taken already; that it was passed over before anything named it is not told."""
        for report in self._named.get(os.path.basename(path), ()):
            if placed(report.path) == path:
                if report.skipped is None or report.named:
                    return report.skipped is None
                self._dropped.add(id(report))
        return False

    def finish(self) -> None:
        """Leave out of the account what stands in it twice."""
        if self._dropped:
            self._account[:] = [report for report in self._account if id(report) not in self._dropped]
            self._dropped.clear()


class _Trees(NamedTuple):
    """Folders whose files may be brought in: that a rule file is for, if any, and that of Claude Code for its user."""

    own: str | None
    claude: str

    @classmethod
    def of(cls, path: str, home: Home) -> _Trees:
        tree = tree_of(path)
        # A rule file for all of somebody's home opens none of it.
        opens = not within(os.path.realpath(home.folder), tree)
        return cls(tree if opens else None, os.path.realpath(home.claude))

    def refusal(self, named: str) -> str | None:
        """Why a file is not followed, ``None`` where it is. Of what lies outside nothing is looked up."""
        path = os.path.realpath(named)
        if self.own is not None and within(path, self.own):
            tree = self.own
        elif within(path, self.claude):
            tree = self.claude
            if not path.lower().endswith(rules.TEXTS):
                return "not Markdown"
        else:
            return "outside of its folder"
        if rules.kind_of(named) is None and any(
            part.startswith(".") and part not in SETTINGS_FOLDERS for part in path[len(tree) :].split(os.sep)
        ):
            return "a hidden file"
        return _unfit(path)


def _unfit(path: str) -> str | None:
    """Why a file cannot be one for an agent to follow."""
    try:
        status = os.lstat(path)
    except (OSError, ValueError):
        return MISSING
    if not stat.S_ISREG(status.st_mode):
        return "not a file"
    if status.st_size > RECORD_BYTES:
        return "too large"
    head = _text(path, HEAD)
    if b"\0" in head:
        return "not a text"
    return None if detect(path, head, whole=status.st_size <= HEAD).format in (None, *_own(path)) else "a log"


def _own(path: str) -> tuple[str, ...]:
    kind = rules.kind_of(path)
    return () if kind is None else (f"{rules.NAME}+{kind}",)


def _text(path: str, size: int = RECORD_BYTES) -> bytes:
    try:
        with open(path, "rb") as stream:
            return stream.read(size)
    except OSError:
        return b""
