"""Rule files as they were imported: every path, its revisions, their sections and their bytes."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Final

from affidavit.session.times import instant
from storage.queries.connection import ReadConnection
from storage.queries.records import RecordError, Records
from storage.readers.rules import sections

MOST_FOUND: Final = 20
"""Rule files that one path can name."""


@dataclass(frozen=True, slots=True)
class RuleSection:
    """A section by its headings, outermost first; lines from 1. ``digest``: SHA-256 of its bytes, in hex; ``hidden``:
    runs of hidden characters in it."""

    headings: tuple[str, ...]
    level: int
    first: int
    last: int
    offset: int
    size: int
    digest: str
    hidden: int


@dataclass(frozen=True, slots=True)
class RuleFile:
    """One revision of a rule file. ``key``: ledger entry of the revision; ``imported``: when that was made.

    ``digest``: SHA-256 of its bytes, ``None`` where they cannot be had: they were erased, or the file is too large to
    be read. ``sections``: how many it has; ``hidden``: runs of hidden characters in it.
    """

    key: int
    path: str
    kind: str
    revision: int
    imported: int
    bytes: int
    digest: str | None
    sections: int
    hidden: int

    @property
    def withheld(self) -> bool:
        """Whether its text cannot be had."""
        return self.digest is None


def rule_files(link: ReadConnection) -> Iterator[tuple[RuleFile, ...]]:
    """Every rule file by path: its revisions, the oldest first."""
    sql = """SELECT f.no, f.path, f.format, f.revision, f.cursor, r.digest, r.hidden, f.key, l.entry,
        (SELECT max(section) FROM rule_section WHERE source = f.no)
        FROM rule_section r JOIN source f ON f.no = r.source JOIN ledger_entry l ON l.idx = f.no
        WHERE r.section = 0 ORDER BY f.path, f.key, f.revision"""
    for _, revisions in groupby(link.rows(sql), lambda row: row[7]):
        yield tuple(
            RuleFile(
                no, path, format.partition("+")[2], revision, _time(entry), size,
                None if digest is None else digest.hex(), sections, hidden,
            )
            for no, path, format, revision, size, digest, hidden, _, entry, sections in revisions
        )  # fmt: skip


def _time(entry: bytes) -> int:
    try:
        return instant(json.loads(entry)["time"])[0] or 0
    except (ValueError, LookupError, TypeError):
        return 0  # somebody changed the entry: verify says so


def sections_of(link: ReadConnection, file: RuleFile) -> tuple[RuleSection, ...]:
    """The sections of a revision, in order; they tile it. None where its text cannot be had."""
    sql = """SELECT heading, level, first, last, offset, size, digest, hidden FROM rule_section
        WHERE source = ? AND section > 0 AND digest IS NOT NULL ORDER BY section"""
    return tuple(
        RuleSection(_headings(heading), level, first, last, offset, size, digest.hex(), hidden)
        for heading, level, first, last, offset, size, digest, hidden in link.rows(sql, (file.key,))
    )


def sections_in(whole: bytes) -> tuple[RuleSection, ...]:
    """The sections of a text that is of no imported file."""
    return tuple(
        RuleSection(_headings(heading), level, first, last, offset, size, (digest or b"").hex(), hidden)
        for heading, level, first, last, offset, size, digest, hidden in sections(whole)[1:]
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


def find_rules(link: ReadConnection, path: str) -> list[tuple[RuleFile, ...]]:
    """Rule files whose path is, or ends in, a path given with ``/``; at most 20. One it is, goes before all others."""
    wanted = plain(path).removeprefix("./")
    found: list[tuple[RuleFile, ...]] = []
    for revisions in rule_files(link):
        there = plain(revisions[0].path)
        if there == wanted:
            return [revisions]
        if there.endswith("/" + wanted) and len(found) < MOST_FOUND:
            found.append(revisions)
    return found


def plain(path: str) -> str:
    """A path with ``/`` between its parts, whatever machine it is of."""
    return path.replace("\\", "/")


def held(said: str, bodies: Sequence[tuple[int, str]], least: int) -> int | None:
    """The revision of which a text holds most, if it holds the whole of any of ``(revision, text)``."""
    sizes = [(len(text), revision) for revision, text in bodies if len(text) >= least and text in said]
    return max(sizes)[1] if sizes else None
