"""Which rule files a session ran under.

That is worked out from places: the session's folder and those above it, the folder its agent keeps for its user, and
what the rule files there bring in. A log rarely says which rules were loaded; where it holds their text, that is
evidence and stands beside what was worked out.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final, Literal, NamedTuple

from storage.queries.connection import ReadConnection
from storage.queries.models import SessionRow
from storage.queries.records import Records
from storage.queries.rule_evidence import Evidence, evidence, touched, worked_in
from storage.queries.rules import RuleFile, held, plain, rule_files, text_of
from storage.readers import rules as reader
from storage.rule_imports import DEPTH, target_of
from storage.rule_places import tree_of

TELLING: Final = 40
"""Characters of a file that tell it by its text alone."""

Scope = Literal["managed", "user", "project", "below", "import"]
"""Where a rule file stands: for the machine, for the user, in the session's folder or one above, below it (read when a
file there is), or brought in by another."""

ORDER: Final[tuple[Scope, ...]] = ("managed", "user", "project", "below", "import")
"""From the widest to the nearest, as agents read them."""

Basis = Literal["known_before", "known_after", "time_unknown"]
"""Whether the revision shown was imported before the moment it is asked for, or only afterwards."""

READ_BY: Final = {
    "claude-code": frozenset({"claude", "claude-local", "claude-rule"}),
    "codex": frozenset({"agents", "agents-override"}),
}
"""Kinds that an agent reads; of an agent not named here it is not known, and all count."""

LOOKS: Final = {
    "claude-code": ("CLAUDE.md", ".claude/CLAUDE.md", "CLAUDE.local.md", ".claude/rules"),
    "codex": ("AGENTS.md", "AGENTS.override.md"),
}
"""What an agent looks for in a session's folder and in those above it."""

OF_USER: Final = {"claude-code": ("CLAUDE.md", "rules"), "codex": ("AGENTS.md", "AGENTS.override.md")}
"""What it looks for in the folder it keeps for its user."""

MANAGED: Final = (
    "/etc/claude-code",
    "/Library/Application Support/ClaudeCode",
    "C:/Program Files/ClaudeCode",
    "C:/ProgramData/ClaudeCode",
)
_USER: Final = {
    "claude-code": re.compile(r"^(.*)/projects/[^/]+/"),
    "codex": re.compile(r"^(.*)/(?:archived_)?sessions/"),
}


@dataclass(frozen=True, slots=True)
class Loaded:
    """An event that holds the text of rules. ``path``: the file the log names, if it names one; ``revision``: the
    imported one whose text it holds, if any does."""

    id: int
    at: int | None
    path: str | None
    revision: int | None


@dataclass(frozen=True, slots=True)
class Recorded(Loaded):
    """One whose rules are of no file that was imported; ``text`` is all that is known of them."""

    text: str


@dataclass(frozen=True, slots=True)
class Brought:
    """An ``@path`` in a rule file: its line, from 1; as it was written; and the file it means, if that was imported."""

    line: int
    target: str
    path: str | None


@dataclass(frozen=True, slots=True)
class InForce:
    """A rule file that was in force, as far as can be told. ``by``: the file that brings it in. ``patterns``: for which
    files it says it is; none: for all. ``brings``: what it brings in. ``newer``: revisions imported after this one.
    ``touched``: of one that is read when files beside it are, the first event by then that gave a tool such a file.
    """

    file: RuleFile
    scope: Scope
    basis: Basis
    by: str | None
    patterns: tuple[str, ...]
    brings: tuple[Brought, ...]
    newer: int
    loaded: tuple[Loaded, ...]
    touched: int | None = None

    @property
    def certain(self) -> bool:
        """Whether the session's log holds this revision's text."""
        return bool(self.loaded) and self.loaded[-1].revision == self.file.revision

    @property
    def words(self) -> str:
        """In words how sure this is."""
        return CERTAIN if self.certain else WORDS[self.basis]


CERTAIN: Final = "the log holds this very text"
WORDS: Final[dict[Basis, str]] = {
    "known_before": "as imported before then; the log does not say what was loaded",
    "known_after": "as imported afterwards; what stood there then is not known",
    "time_unknown": "as imported last; when the session ran is not recorded",
}


@dataclass(frozen=True, slots=True)
class RulesInForce:
    """``at``: the moment asked for. ``recorded``: rules the log holds that are of none of the files. ``absent``: where
    the session's agent looks, and nothing was imported from: on the machine it ran on something may stand there."""

    at: int | None
    files: tuple[InForce, ...]
    recorded: tuple[Recorded, ...]
    absent: tuple[str, ...]


def in_force(link: ReadConnection, records: Records, session: SessionRow, at: int | None) -> RulesInForce:
    """The rule files a session ran under at a moment; by default, at its end."""
    looking = _Looking(link, records, session, at)
    looking.by_place()
    looking.below(touched(link, session, at))
    return looking.with_evidence(list(evidence(link, records, session, at)))


class _Places(NamedTuple):
    """Where a session's rules may stand: the folders it was started in and works in, and those its agent keeps for its
    user."""

    agent: str
    folders: tuple[str, ...]
    users: tuple[str, ...]

    @classmethod
    def of(cls, link: ReadConnection, records: Records, session: SessionRow, at: int | None) -> _Places:
        users: dict[str, None] = {}
        place = _USER.get(session.agent)
        if place is not None:
            for (path,) in link.rows("SELECT DISTINCT path FROM source WHERE session = ?", (session.key,)):
                if match := place.match(plain(path)):
                    users[match[1]] = None
        folders = dict.fromkeys(plain(one).rstrip("/") or "/" for one in worked_in(link, records, session, at))
        return cls(session.agent, tuple(folders), tuple(users))

    def looks(self) -> Iterator[str]:
        """Every place where the session's agent looks for rules, the nearest first."""
        for folder in self.folders:
            parts = folder.rstrip("/").split("/")
            above = ["/".join(parts[:size]) for size in range(len(parts), 0, -1)]
            yield from (f"{one}/{name}" for one in above for name in LOOKS.get(self.agent, ()))
        yield from (f"{user}/{name}" for user in self.users for name in OF_USER.get(self.agent, ()))
        if self.agent == "claude-code":
            yield from (f"{place}/CLAUDE.md" for place in MANAGED)

    def rank(self, path: str, kind: str) -> tuple[Scope, int] | None:
        """(scope, how near) of a rule file, ``None`` where it is none of this session's."""
        if kind == reader.OTHER or kind not in READ_BY.get(self.agent, {kind}):
            return None
        folder = path.rpartition("/")[0]
        if any(_within(folder, place) for place in MANAGED):
            return "managed", 0
        if any(folder == user or _within(folder, user + "/rules") for user in self.users):
            return "user", 0
        tree = plain(tree_of(path)) or "/"
        if any(_within(folder, tree) for folder in self.folders):
            return "project", tree.count("/") + (tree != "/")
        if any(_within(tree, folder) for folder in self.folders):
            return "below", tree.count("/")
        return None


def _within(path: str, folder: str) -> bool:
    return path == folder or path.startswith(folder.rstrip("/") + "/")


class _Looking:
    """One look for the rules of a session at a moment; texts are read once."""

    def __init__(self, link: ReadConnection, records: Records, session: SessionRow, at: int | None) -> None:
        self._records = records
        self._places = _Places.of(link, records, session, at)
        self._moment = session.ended if at is None else at
        self._by_path = {plain(revisions[0].path): revisions for revisions in rule_files(link)}
        self._found: dict[str, InForce] = {}
        self._latest: tuple[int, bytes] = (-1, b"")

    def _text(self, file: RuleFile) -> bytes:
        if self._latest[0] != file.key:
            self._latest = (file.key, text_of(self._records, file) or b"")
        return self._latest[1]

    def by_place(self) -> None:
        """Find the files that are in force because of where they stand, and what those bring in."""
        ranked: list[tuple[int, int, str, Scope]] = []
        for path, revisions in self._by_path.items():
            if (rank := self._places.rank(path, revisions[0].kind)) is not None:
                ranked.append((ORDER.index(rank[0]), rank[1], path, rank[0]))
        for _, _, path, scope in sorted(ranked):
            self._found[path] = self._chosen(path, scope, None)
        self._without_overridden()
        for one in list(self._found.values()):
            if one.scope != "below":
                self._bring_in(one, 0)

    def below(self, given: dict[str, int]) -> None:
        """Say of files below the session's folder whether the agent worked there."""
        for path, one in self._found.items():
            if one.scope == "below":
                tree = plain(tree_of(path))
                first = next((event for folder, event in given.items() if _within(folder, tree)), None)
                self._found[path] = replace(one, touched=first)

    def _chosen(self, path: str, scope: Scope, by: str | None) -> InForce:
        """The newest revision known at the moment; where none was yet, the oldest."""
        revisions = self._by_path[path]
        basis: Basis
        if self._moment is None:
            file, basis = revisions[-1], "time_unknown"
        elif known := [one for one in revisions if one.imported <= self._moment]:
            file, basis = known[-1], "known_before"
        else:
            file, basis = revisions[0], "known_after"
        return self._of(InForce(file, scope, basis, by, (), (), 0, ()), file)

    def _of(self, one: InForce, file: RuleFile) -> InForce:
        """The same file in force in another revision."""
        whole = self._text(file)
        newest = self._by_path[plain(file.path)][-1].revision
        return replace(
            one,
            file=file,
            patterns=reader.patterns(whole),
            brings=tuple(self._brought(file, whole)),
            newer=newest - file.revision,
        )

    def _brought(self, file: RuleFile, whole: bytes) -> Iterator[Brought]:
        """What a file brings in. What may as well be no path, such as a package, counts if it leads to a file."""
        if file.kind not in reader.IMPORTING:
            return
        homes = [user.rpartition("/")[0] for user in self._places.users] or [""]
        for line, target in reader.imports(whole):
            meant = [plain(target_of(target, file.path, home)) for home in homes]
            path = next((path for path in meant if path in self._by_path), None)
            if path is not None or reader.is_path(target):
                yield Brought(line, target, path)

    def _without_overridden(self) -> None:
        """Codex reads AGENTS.override.md instead of the AGENTS.md beside it."""
        for path in [path for path, one in self._found.items() if one.file.kind == "agents-override"]:
            self._found.pop(path.rpartition("/")[0] + "/AGENTS.md", None)

    def _bring_in(self, one: InForce, depth: int) -> None:
        """Add what a file brings in, and what that does, as deep as Claude Code goes."""
        for brought in one.brings if depth < DEPTH else ():
            if brought.path is not None and brought.path not in self._found:
                added = self._found[brought.path] = self._chosen(brought.path, "import", one.file.path)
                self._bring_in(added, depth + 1)

    def with_evidence(self, given: Sequence[Evidence]) -> RulesInForce:
        """Join what was worked out with the texts the log holds: by path, or by the text where the log names none."""
        loaded: dict[str, list[Loaded]] = defaultdict(list)
        recorded: list[Recorded] = []
        bodies = self._bodies(given)
        for event, named, text in given:
            met = False
            revision: int | None = None
            for path in [named] if named is not None else list(self._found):
                revision = held(text, bodies.get(path, ()), 1 if named is not None else TELLING)
                if path in self._found and (named is not None or revision is not None):
                    loaded[path].append(Loaded(event.id, event.at, named, revision))
                    met = True
            if not met or (named is not None and revision is None):
                recorded.append(Recorded(event.id, event.at, named, revision, text))
        files = [self._as_loaded(one, tuple(loaded.get(path, ()))) for path, one in self._found.items()]
        files.sort(key=lambda one: ORDER.index(one.scope))
        return RulesInForce(self._moment, tuple(files), tuple(recorded), tuple(self._absent()))

    def _absent(self) -> Iterator[str]:
        folders = {path.rpartition("/")[0] for path in self._by_path}
        for place in dict.fromkeys(self._places.looks()):
            if place not in self._by_path and not any(_within(folder, place) for folder in folders):
                yield place

    def _bodies(self, given: Sequence[Evidence]) -> dict[str, list[tuple[int, str]]]:
        """The texts of the files that those the log holds may be of."""
        bodies: dict[str, list[tuple[int, str]]] = defaultdict(list)
        for path in {*self._found, *(one.path for one in given if one.path is not None)} if given else ():
            for file in self._by_path.get(path, ()):
                if text := reader.body(self._text(file)):
                    bodies[path].append((file.revision, text))
        return bodies

    def _as_loaded(self, one: InForce, loaded: tuple[Loaded, ...]) -> InForce:
        """Show the revision whose text the log holds, whenever it was imported."""
        said = loaded[-1].revision if loaded else None
        revisions = self._by_path[plain(one.file.path)]
        file = next((file for file in revisions if file.revision == said), one.file)
        return replace(one if file is one.file else self._of(one, file), loaded=loaded)
