"""Rule files: what was imported of them, section by section, and which of them a session ran under.

What a session ran under is worked out from places: its folder and those above it, the folder its agent keeps for its
user, and what the rule files there bring in. A log rarely says which rules were loaded; where it holds their text, that
is evidence and stands beside what was worked out.
"""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Final, Literal, NamedTuple

from affidavit.session.times import instant
from storage.queries.connection import ReadConnection
from storage.queries.models import EventDetail, SessionRow
from storage.queries.records import RecordError, Records
from storage.queries.timeline import COLUMNS, TABLES, event_row
from storage.readers import rules as reader
from storage.rule_imports import DEPTH, target_of, tree_of

MOST_LOADED: Final = 200
"""Events looked at that hold the text of a rule file."""

TELLING: Final = 40
"""Characters of a file that tell it by its text alone."""

Scope = Literal["managed", "user", "project", "below", "import"]
"""Where a rule file stands: for the machine, for the user, in the session's folder or one above, below it (read when a
file there is), or brought in by another."""

Basis = Literal["known_before", "known_after", "time_unknown"]
"""Whether the revision shown was imported before the moment it is asked for, or only afterwards."""

READ_BY: Final = {
    "claude-code": frozenset({"claude", "claude-local", "claude-rule"}),
    "codex": frozenset({"agents", "agents-override"}),
}
"""Kinds that an agent reads; of an agent not named here it is not known, and all count."""

SIMPLE: Final = frozenset({"file", "import"})
MANAGED: Final = ("/etc/claude-code", "/Library/Application Support/ClaudeCode")
_USER: Final = {
    "claude-code": re.compile(r"^(.*)/projects/[^/]+/"),
    "codex": re.compile(r"^(.*)/(?:archived_)?sessions/"),
}
_LOADED: Final = (
    "e.kind = 'context.injected' AND (e.summary GLOB 'instructions: *' OR e.summary GLOB '# AGENTS.md*' "
    "OR e.summary GLOB '<user_instructions>*' OR e.summary GLOB '<INSTRUCTIONS>*')"
)


@dataclass(frozen=True, slots=True)
class RuleSection:
    """A section by its headings, outermost first; lines from 1. ``digest``: SHA-256 of its bytes, ``None`` where they
    cannot be had: they were erased, or the file is too large to be read."""

    headings: tuple[str, ...]
    level: int
    first: int
    last: int
    offset: int
    size: int
    digest: str | None


@dataclass(frozen=True, slots=True)
class RuleFile:
    """One revision of a rule file. ``key``: ledger entry of the revision; ``imported``: when that was made."""

    key: int
    path: str
    kind: str
    revision: int
    imported: int
    bytes: int
    sections: tuple[RuleSection, ...]

    @property
    def withheld(self) -> bool:
        """Whether its text cannot be had."""
        return any(section.digest is None for section in self.sections)


@dataclass(frozen=True, slots=True)
class Loaded:
    """An event that holds the text of a rule file. ``revision``: the imported one whose text it holds, if any does."""

    id: int
    at: int | None
    path: str | None
    revision: int | None


@dataclass(frozen=True, slots=True)
class InForce:
    """A rule file that was in force, as far as can be told. ``by``: the file that brings it in. ``patterns``: for which
    files it says it is; none: for all. ``newer``: revisions imported after the one shown."""

    file: RuleFile
    scope: Scope
    basis: Basis
    by: str | None
    patterns: tuple[str, ...]
    newer: int
    loaded: tuple[Loaded, ...]

    @property
    def words(self) -> str:
        """In words how sure this is."""
        return CERTAIN if self.loaded and self.loaded[-1].revision == self.file.revision else WORDS[self.basis]


CERTAIN: Final = "the log holds this very text"
WORDS: Final[dict[Basis, str]] = {
    "known_before": "as imported before then; the log does not say what was loaded",
    "known_after": "as imported afterwards; what stood there then is not known",
    "time_unknown": "as imported last; when the session ran is not recorded",
}


@dataclass(frozen=True, slots=True)
class RulesInForce:
    """``at``: the moment asked for. ``unmatched``: texts the log holds of files that are not among these: mostly of
    files that were not imported."""

    at: int | None
    files: tuple[InForce, ...]
    unmatched: tuple[Loaded, ...]


def rule_files(link: ReadConnection) -> Iterator[tuple[RuleFile, ...]]:
    """Every rule file by path: its revisions, the oldest first."""
    sql = """SELECT f.no, f.path, f.format, f.revision, f.cursor, f.key, l.entry FROM source f
        JOIN ledger_entry l ON l.idx = f.no WHERE f.no IN (SELECT source FROM rule_section)
        ORDER BY f.path, f.key, f.revision"""
    for _, revisions in groupby(link.rows(sql), lambda row: row[5]):
        yield tuple(
            RuleFile(no, path, format.partition("+")[2], revision, _time(entry), size, _sections(link, no))
            for no, path, format, revision, size, _, entry in revisions
        )


def _time(entry: bytes) -> int:
    try:
        return instant(json.loads(entry)["time"])[0] or 0
    except (ValueError, LookupError, TypeError):
        return 0  # somebody changed the entry: verify says so


def _sections(link: ReadConnection, source: int) -> tuple[RuleSection, ...]:
    sql = """SELECT heading, level, first, last, offset, size, digest FROM rule_section
        WHERE source = ? ORDER BY section"""
    return tuple(
        RuleSection(_headings(heading), level, first, last, offset, size, None if digest is None else digest.hex())
        for heading, level, first, last, offset, size, digest in link.rows(sql, (source,))
    )


def _headings(kept: str) -> tuple[str, ...]:
    try:
        return tuple(str(heading) for heading in json.loads(kept))
    except (ValueError, TypeError):
        return ()  # somebody changed the table: verify says so


def text_of(records: Records, file: RuleFile) -> bytes | None:
    """The bytes of a revision as they were imported; ``None`` where they cannot be had."""
    if file.withheld:
        return None
    try:
        return b"".join(records.original(file.key))
    except RecordError:
        return None


def in_force(link: ReadConnection, records: Records, session: SessionRow, at: int | None) -> RulesInForce:
    """The rule files a session ran under at a moment; by default, at its end."""
    moment = session.ended if at is None else at
    places = _Places.of(link, session)
    loaded = list(_loaded(link, records, session, at))
    # What says itself where it belongs comes in the order its agent reads it, from the widest to the nearest.
    found: dict[str, InForce] = {}
    texts = _Texts(records)
    by_path = {_plain(revisions[0].path): revisions for revisions in rule_files(link)}
    ranked: list[tuple[tuple[int, int, str], Scope, tuple[RuleFile, ...]]] = []
    for path, revisions in by_path.items():
        if (rank := places.rank(path, revisions[0].kind)) is not None:
            ranked.append(((ORDER.index(rank[0]), rank[1], path), rank[0], revisions))
    for _, scope, revisions in sorted(ranked, key=lambda one: one[0]):
        found[_plain(revisions[0].path)] = _chosen(revisions, scope, None, moment, texts)
    _without_overridden(found)
    for one in list(found.values()):
        if one.scope != "below":
            _bring_in(one, found, by_path, places, moment, texts, 0)
    return _with_evidence(moment, found, by_path, loaded, texts)


ORDER: Final[tuple[Scope, ...]] = ("managed", "user", "project", "below", "import")


class _Texts:
    """Texts of revisions, each read once."""

    def __init__(self, records: Records) -> None:
        self._records = records
        self._last: tuple[int, bytes | None] = (-1, None)

    def of(self, file: RuleFile) -> bytes | None:
        if self._last[0] != file.key:
            self._last = (file.key, text_of(self._records, file))
        return self._last[1]


class _Places(NamedTuple):
    """Where a session's rules may stand: its folder and the folders its agent keeps for its user."""

    agent: str
    cwd: str | None
    users: tuple[str, ...]

    @classmethod
    def of(cls, link: ReadConnection, session: SessionRow) -> _Places:
        users: dict[str, None] = {}
        place = _USER.get(session.agent)
        if place is not None:
            for (path,) in link.rows("SELECT DISTINCT path FROM source WHERE session = ?", (session.key,)):
                if match := place.match(_plain(path)):
                    users[match[1]] = None
        return cls(session.agent, _plain(session.cwd).rstrip("/") or "/" if session.cwd else None, tuple(users))

    def rank(self, path: str, kind: str) -> tuple[Scope, int] | None:
        """(scope, how near) of a rule file, ``None`` where it is none of this session's."""
        if kind in SIMPLE or kind not in READ_BY.get(self.agent, {kind}):
            return None
        folder = path.rpartition("/")[0]
        if folder in MANAGED:
            return "managed", 0
        if any(folder == user or folder.startswith(user + "/rules") for user in self.users):
            return "user", 0
        if self.cwd is None:
            return None
        tree = _plain(tree_of(path)) or "/"
        if _within(self.cwd, tree):
            return "project", tree.count("/") + (tree != "/")
        if _within(tree, self.cwd):
            return "below", tree.count("/")
        return None


def _plain(path: str) -> str:
    return path.replace("\\", "/")


def _within(path: str, folder: str) -> bool:
    return path == folder or path.startswith(folder.rstrip("/") + "/")


def _chosen(revisions: Sequence[RuleFile], scope: Scope, by: str | None, moment: int | None, texts: _Texts) -> InForce:
    """The newest revision known at a moment; where none was yet, the oldest."""
    basis: Basis
    if moment is None:
        file, basis = revisions[-1], "time_unknown"
    elif known := [one for one in revisions if one.imported <= moment]:
        file, basis = known[-1], "known_before"
    else:
        file, basis = revisions[0], "known_after"
    whole = texts.of(file)
    patterns = reader.patterns(whole) if whole else ()
    return InForce(file, scope, basis, by, patterns, revisions[-1].revision - file.revision, ())


def _without_overridden(found: dict[str, InForce]) -> None:
    """Codex reads AGENTS.override.md instead of the AGENTS.md beside it."""
    for path in [path for path, one in found.items() if one.file.kind == "agents-override"]:
        found.pop(path.rpartition("/")[0] + "/AGENTS.md", None)


def _bring_in(
    one: InForce,
    found: dict[str, InForce],
    by_path: dict[str, tuple[RuleFile, ...]],
    places: _Places,
    moment: int | None,
    texts: _Texts,
    depth: int,
) -> None:
    """Add what a file brings in, and what that does, as deep as Claude Code goes."""
    if one.file.kind not in reader.IMPORTING or depth == DEPTH:
        return
    for _, target in reader.imports(texts.of(one.file) or b""):
        for home in [user.rpartition("/")[0] for user in places.users] or [""]:
            path = _plain(target_of(target, one.file.path, home))
            revisions = by_path.get(path)
            if revisions is not None and path not in found:
                found[path] = brought = _chosen(revisions, "import", one.file.path, moment, texts)
                _bring_in(brought, found, by_path, places, moment, texts, depth + 1)


# ------------------------------------------------------------------------------------------------ evidence


class _Evidence(NamedTuple):
    event: EventDetail
    path: str | None


def _loaded(link: ReadConnection, records: Records, session: SessionRow, at: int | None) -> Iterable[_Evidence]:
    """Events until a moment that hold the text of a rule file."""
    sql = f"SELECT {COLUMNS} FROM {TABLES} WHERE e.session = ? AND {_LOADED}"
    values: list[object] = [session.key]
    if at is not None:
        sql += " AND e.sort <= ?"
        values.append(at)
    for row in link.rows(f"{sql} ORDER BY e.sort, e.n LIMIT ?", (*values, MOST_LOADED)):
        try:
            event = records.detail(event_row(row))
        except RecordError:
            continue  # what cannot be read is told where it stands
        yield _Evidence(event, _plain(event.refs[0]) if event.refs else None)


def _with_evidence(
    moment: int | None,
    found: dict[str, InForce],
    by_path: dict[str, tuple[RuleFile, ...]],
    loaded: Sequence[_Evidence],
    texts: _Texts,
) -> RulesInForce:
    """Join what was worked out with the texts the log holds: by path, or by the text where the log names none."""
    bodies: dict[str, list[tuple[int, str]]] = defaultdict(list)
    for path in {*found, *(one.path for one in loaded if one.path is not None)} if loaded else ():
        for file in by_path.get(path, ()):
            if text := reader.body(texts.of(file) or b""):
                bodies[path].append((file.revision, text))
    held: dict[str, list[Loaded]] = defaultdict(list)
    unmatched = []
    for event, named in loaded:
        met = False
        revision: int | None = None
        for candidate in [named] if named is not None else list(found):
            least = 1 if named is not None else TELLING
            revision = _held(event.text, bodies.get(candidate, ()), least)
            if candidate in found and (named is not None or revision is not None):
                held[candidate].append(Loaded(event.row.id, event.row.at, named, revision))
                met = True
        if not met:
            unmatched.append(Loaded(event.row.id, event.row.at, named, revision))
    files = [replace(one, loaded=tuple(held.get(path, ()))) for path, one in found.items()]
    files = [_as_loaded(one, by_path[_plain(one.file.path)]) for one in files]
    return RulesInForce(moment, tuple(sorted(files, key=_order)), tuple(unmatched))


def _held(said: str, bodies: Iterable[tuple[int, str]], least: int) -> int | None:
    """The revision of which a text holds most, if it holds the whole of any."""
    sizes = [(len(text), revision) for revision, text in bodies if len(text) >= least and text in said]
    return max(sizes)[1] if sizes else None


def _as_loaded(one: InForce, revisions: Sequence[RuleFile]) -> InForce:
    """Show the revision whose text the log holds, whenever it was imported."""
    said = one.loaded[-1].revision if one.loaded else None
    file = next((file for file in revisions if file.revision == said), one.file)
    return replace(one, file=file, newer=revisions[-1].revision - file.revision)


def _order(one: InForce) -> int:
    return ORDER.index(one.scope)
