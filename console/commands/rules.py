"""``affidavit rules``: the rule files of a store, or those a session ran under."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import click

from affidavit.session.address import SessionAddress, TurnAddress, parse
from affidavit.session.times import iso
from console.commands import documents
from console.commands.call import Call, Refused, command
from console.commands.completing import addresses
from console.commands.resolve import find_event, find_session, find_turn
from console.output import Column
from console.words import moment, number, plural, size

if TYPE_CHECKING:
    from storage.archive import Archive
    from storage.queries.models import SessionRow
    from storage.queries.rules import InForce, Loaded, RuleFile

_FILE = (
    "path, kind, revision, importedAt, bytes, withheld, sections[{ref, headings[], level, firstLine, lastLine, sha256, "
    "text?}]"
)
PRINTS = (
    f"rules[{{{_FILE}, revisions[{{revision, importedAt}}]}}]; with an address: session, at, rules[{{{_FILE}, scope, "
    "basis, words, by, patterns[], newer, loaded[{address, at, path, revision}]}], unmatched[{address, at, path, "
    "revision}]"
)

COLUMNS = (
    Column("file", shrinks=True, least=24, tail=True),
    Column("kind"),
    Column("sections", right=True),
    Column("size", right=True, spare=1),
    Column("revision", right=True),
    Column("imported (UTC)"),
)

SCOPES = {
    "managed": "for this machine",
    "user": "for the user",
    "project": "for the session's folder",
    "below": "below it: read when files there are",
    "import": "brought in",
}
"""What people call where a rule file stands."""


@command("rules", "List rule files, or those a session ran under", prints=PRINTS)
@click.argument("address", metavar="[ADDRESS]", required=False, shell_complete=addresses)
@click.option("--sections", is_flag=True, help="Also each file's sections, with their lines.")
@click.option("--text", is_flag=True, help="With --json: each section's text.")
def rules_command(call: Call, address: str | None, sections: bool, text: bool) -> int:
    """List the rule files that were imported (CLAUDE.md, AGENTS.md and the like), in their newest revision.

    With the ADDRESS of a session, a turn or an event: those in force then, and how that is known. Logs seldom say which
    rules were loaded; where one holds their text, its event is named.
    """
    if text and not call.output.json:
        raise click.UsageError("--text goes with --json")
    wanted = None if address is None else parse(address)
    archive = call.archive()
    try:
        if wanted is None:
            return _all(call, archive, sections, text)
        if not isinstance(wanted, SessionAddress | TurnAddress):
            raise Refused(f"{address} is no session, turn or event", "affidavit rules session/ID")
        session, at = _moment(archive, wanted)
        return _in_force(call, archive, session, at, sections, text)
    finally:
        archive.close()


def _moment(archive: Archive, address: SessionAddress | TurnAddress) -> tuple[SessionRow, int | None]:
    """A session, and the moment in it that an address names, if it names one."""
    if isinstance(address, TurnAddress):
        session = find_session(archive, address.session)
        return session, find_turn(archive, session, address.number).sort or None
    session = find_session(archive, address.id)
    return session, None if address.event is None else find_event(archive, session, address.event).sort or None


def _all(call: Call, archive: Archive, sections: bool, text: bool) -> int:
    if call.output.json:
        with call.output.listing("rules") as (write, _):
            for revisions in archive.rules():
                versions = [{"revision": one.revision, "importedAt": iso(one.imported)} for one in revisions]
                write({**_document(archive, revisions[-1], text), "revisions": versions})
        return 0
    files = [revisions[-1] for revisions in archive.rules()]
    if files and not sections:
        call.output.table(COLUMNS, [_cells(file) for file in files])
    for file in files if sections else ():
        call.output.path("", file.path, f"  {file.kind}, revision {file.revision}, imported {moment(file.imported)}")
        _print_sections(call, file)
    call.output.tell(plural(len(files), "rule file"))
    return 0


def _in_force(call: Call, archive: Archive, session: SessionRow, at: int | None, sections: bool, text: bool) -> int:
    found = archive.rules_in_force(session.key, at)
    if call.output.json:
        call.output.document(
            {
                "session": session.uid,
                "at": iso(found.at),
                "rules": [
                    {**_document(archive, one.file, text), **_circumstances(session, one)} for one in found.files
                ],
                "unmatched": [_loaded(session, one) for one in found.unmatched],
            }
        )
        return 0
    for one in found.files:
        by = f" by {one.by}" if one.by else ""
        call.output.path("", one.file.path, f"  revision {one.file.revision}")
        call.output.line(f"    {SCOPES[one.scope]}{by}; imported {moment(one.file.imported)} UTC: {one.words}")
        if one.patterns:
            call.output.line(f"    only for files like {', '.join(one.patterns)}")
        for told in one.loaded:
            call.output.line(f"    {documents.event_address(session.uid, told.id)}  {_held(told, one.file)}")
        if sections:
            _print_sections(call, one.file)
    for told in found.unmatched:
        address = documents.event_address(session.uid, told.id)
        call.output.line(f"{address}  the log holds the text of {told.path or 'rules'}, not among these files")
    when = f" at {moment(found.at)} UTC" if found.at is not None else ""
    call.output.tell(f"{plural(len(found.files), 'rule file')} in force{when}, of those that were imported")
    return 0


def _held(told: Loaded, file: RuleFile) -> str:
    if told.revision is None:
        return "the log holds another text of it than any that was imported"
    return "the log holds this text" if told.revision == file.revision else f"the log holds revision {told.revision}"


def _print_sections(call: Call, file: RuleFile) -> None:
    for section in file.sections:
        if section.digest is None:
            call.output.line("    its text cannot be had: it was erased, or is too large to be read")
        else:
            title = " › ".join(section.headings) or "(before the first heading)"
            call.output.line(f"    {number(section.first)}-{number(section.last)}  {title}")


def _cells(file: RuleFile) -> tuple[str, ...]:
    sections = "–" if file.withheld else number(len(file.sections))
    return file.path, file.kind, sections, size(file.bytes), number(file.revision), moment(file.imported)


def _document(archive: Archive, file: RuleFile, text: bool) -> dict[str, Any]:
    whole = archive.rule_text(file) if text else None
    return {
        "path": file.path,
        "kind": file.kind,
        "revision": file.revision,
        "importedAt": iso(file.imported),
        "bytes": file.bytes,
        "withheld": file.withheld,
        "sections": list(_sections(file, whole)),
    }


def _sections(file: RuleFile, whole: bytes | None) -> Iterable[dict[str, Any]]:
    for section in file.sections:
        if section.digest is None:
            continue
        found: dict[str, Any] = {
            "ref": f"{file.path}:{section.first}-{section.last}",
            "headings": list(section.headings),
            "level": section.level,
            "firstLine": section.first,
            "lastLine": section.last,
            "sha256": section.digest,
        }
        if whole is not None:
            part = whole[section.offset : section.offset + section.size]
            found["text"] = part.decode("utf-8", "replace")
        yield found


def _circumstances(session: SessionRow, one: InForce) -> dict[str, Any]:
    return {
        "scope": one.scope,
        "basis": one.basis,
        "words": one.words,
        "by": one.by,
        "patterns": list(one.patterns),
        "newer": one.newer,
        "loaded": [_loaded(session, told) for told in one.loaded],
    }


def _loaded(session: SessionRow, told: Loaded) -> dict[str, Any]:
    return {
        "address": documents.event_address(session.uid, told.id),
        "at": iso(told.at),
        "path": told.path,
        "revision": told.revision,
    }
