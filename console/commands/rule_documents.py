"""The JSON that ``affidavit rules`` prints: rule files, their sections, and how each is known to have been in force."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from affidavit.session.times import iso
from console.commands.documents import event_address

if TYPE_CHECKING:
    from storage.archive import Archive
    from storage.queries.models import SessionRow
    from storage.queries.rules import RuleFile, RuleSection
    from storage.queries.rules_in_force import InForce, Loaded, Recorded

_SECTIONS = "sections[{ref, headings[], level, firstLine, lastLine, sha256, hidden, text?}]"
_LOADED = "address, at, path, revision"
_FILE = f"path, kind, revision, importedAt, bytes, sha256, withheld, hidden[{{line, kind, says}}], {_SECTIONS}"
FILE = f"{_FILE}, revisions[{{revision, importedAt, sha256}}]"
PRINTS = (
    f"rules[{{{FILE}}}]; with the address of a session, turn or event: session, at, rules[{{{_FILE}, scope, basis, "
    f"words, by, patterns[], brings[{{line, target, path}}], newer, touched, loaded[{{{_LOADED}}}]}}], "
    f"recorded[{{{_LOADED}, {_SECTIONS}}}]; with a path: ref, firstLine, lastLine, text, {FILE}"
)


def with_revisions(archive: Archive, revisions: tuple[RuleFile, ...], file: RuleFile, text: bool) -> dict[str, Any]:
    """A rule file in one of its revisions, and which others there are."""
    return {
        **rule_file(archive, file, text),
        "revisions": [
            {"revision": one.revision, "importedAt": iso(one.imported), "sha256": one.digest} for one in revisions
        ],
    }


def rule_file(archive: Archive, file: RuleFile, text: bool) -> dict[str, Any]:
    """One revision of a rule file; with ``text`` that of each section."""
    from storage.readers.rules import hidden

    whole = archive.rule_text(file) if text or file.hidden else None
    return {
        "path": file.path,
        "kind": file.kind,
        "revision": file.revision,
        "importedAt": iso(file.imported),
        "bytes": file.bytes,
        "sha256": file.digest,
        "withheld": file.withheld,
        "hidden": [one._asdict() for one in hidden(whole or b"")] if file.hidden else [],
        "sections": [_section(one, file.path, whole if text else None) for one in archive.rule_sections(file)],
    }


def _section(section: RuleSection, path: str, whole: bytes | None) -> dict[str, Any]:
    found: dict[str, Any] = {
        "ref": f"{path}:{section.first}-{section.last}",
        "headings": list(section.headings),
        "level": section.level,
        "firstLine": section.first,
        "lastLine": section.last,
        "sha256": section.digest,
        "hidden": section.hidden,
    }
    if whole is not None:
        found["text"] = whole[section.offset : section.offset + section.size].decode("utf-8", "replace")
    return found


def in_force(archive: Archive, session: SessionRow, one: InForce, text: bool) -> dict[str, Any]:
    """A rule file, and how it is known that it was in force."""
    return {
        **rule_file(archive, one.file, text),
        "scope": one.scope,
        "basis": one.basis,
        "words": one.words,
        "by": one.by,
        "patterns": list(one.patterns),
        "brings": [{"line": line.line, "target": line.target, "path": line.path} for line in one.brings],
        "newer": one.newer,
        "touched": None if one.touched is None else event_address(session.uid, one.touched),
        "loaded": [_loaded(session, told) for told in one.loaded],
    }


def recorded(session: SessionRow, told: Recorded, text: bool) -> dict[str, Any]:
    """Rules that only the log holds; their sections and lines are those of the event's text."""
    from storage.queries.rules import sections_in

    whole = told.text.encode("utf-8", "replace")
    address = event_address(session.uid, told.id)
    sections: Iterable[RuleSection] = sections_in(whole)
    return {
        **_loaded(session, told),
        "sections": [_section(one, told.path or address, whole if text else None) for one in sections],
    }


def _loaded(session: SessionRow, told: Loaded) -> dict[str, Any]:
    return {
        "address": event_address(session.uid, told.id),
        "at": iso(told.at),
        "path": told.path,
        "revision": told.revision,
    }
