"""``affidavit rules``: the rule files of a store, one of them whole, or those a session ran under."""

from __future__ import annotations

import os
import shlex
from typing import TYPE_CHECKING, Any

import click

from affidavit.session.address import FORMS, AddressError, SessionAddress, TurnAddress, parse
from affidavit.session.times import iso
from console.commands import documents, rule_documents
from console.commands.call import Call, Refused, command
from console.commands.completing import addresses
from console.commands.proving import MOST_TOLD, Prover
from console.commands.resolve import find_event, find_session, find_turn
from console.commands.rule_ref import RuleRef, lines_of, readings
from console.commands.show import LARGEST_SHOWN
from console.output import Column
from console.words import moment, number, plural, size

if TYPE_CHECKING:
    from storage.archive import Archive
    from storage.queries.models import SessionRow
    from storage.queries.rules import RuleFile
    from storage.queries.rules_in_force import InForce, Loaded, Recorded

COLUMNS = (
    Column("file", shrinks=True, least=24, tail=True),
    Column("kind"),
    Column("sections", right=True),
    Column("size", right=True, spare=1),
    Column("revision", right=True),
    Column("imported (UTC)"),
    Column(""),
)

SCOPES = {
    "managed": "for this machine",
    "user": "for the user",
    "project": "for the session's folder",
    "below": "below it: read when files there are",
    "import": "brought in",
}
"""What people call where a rule file stands."""

MOST_ABSENT = 5

HIDDEN = "! hidden characters"


@command("rules", "List rule files, or those a session ran under", prints=rule_documents.PRINTS)
@click.argument("what", metavar="[ADDRESS|PATH]", required=False, shell_complete=addresses)
@click.option("--sections", is_flag=True, help="Also each file's sections, with their lines.")
@click.option("--text", is_flag=True, help="With --json: each section's text.")
@click.option("--revision", type=click.IntRange(1), metavar="N", help="With a PATH: its Nth revision, not the newest.")
def rules_command(call: Call, what: str | None, sections: bool, text: bool, revision: int | None) -> int:
    """List the rule files that were imported (CLAUDE.md, AGENTS.md and the like), in their newest revision.

    With the ADDRESS of a session, a turn or an event: those in force then, and how that is known. Logs seldom say which
    rules were loaded; where one holds their text, its event is named.

    With the PATH of a rule file, or the end of it: its text, line by line; of PATH:88-126 these lines, of PATH#heading
    what stands under it.
    """
    if text and not call.output.json:
        raise click.UsageError("--text goes with --json")
    address = _address(what)
    if revision is not None and (what is None or address is not None):
        raise click.UsageError("--revision goes with the path of a rule file")
    archive = call.archive()
    prover = Prover(call.store, call.output)
    try:
        if what is None:
            _all(call, archive, prover, sections, text)
        elif address is None:
            _one(call, archive, prover, what, revision)
        else:
            _in_force(call, archive, prover, address, sections, text)
    finally:
        archive.close()
    return prover.code


def _address(what: str | None) -> SessionAddress | TurnAddress | None:
    """The address of a session, turn or event; ``None`` for anything that names a file."""
    if what is None or what.partition("/")[0] not in FORMS:
        return None
    try:
        wanted = parse(what)
    except AddressError:
        return None
    if not isinstance(wanted, SessionAddress | TurnAddress):
        raise Refused(f"{what} is no session, turn or event", "affidavit rules session/ID")
    return wanted


def _moment(archive: Archive, address: SessionAddress | TurnAddress) -> tuple[SessionRow, int | None]:
    """A session, and the moment in it that an address names, if it names one."""
    if isinstance(address, TurnAddress):
        session = find_session(archive, address.session)
        return session, find_turn(archive, session, address.number).sort or None
    session = find_session(archive, address.id)
    return session, None if address.event is None else find_event(archive, session, address.event).sort or None


# ------------------------------------------------------------------------------------------------ all


def _all(call: Call, archive: Archive, prover: Prover, sections: bool, text: bool) -> None:
    if call.output.json:
        with call.output.listing("rules") as (write, _):
            for revisions in archive.rules():
                if text:
                    prover.source(revisions[-1].key)
                write(rule_documents.with_revisions(archive, revisions, revisions[-1], text))
        return
    files = [revisions[-1] for revisions in archive.rules()]
    if files and not sections:
        call.output.table(COLUMNS, [_cells(file) for file in files])
    for file in files if sections else ():
        call.output.path("", file.path, f"  {file.kind}, revision {file.revision}, imported {moment(file.imported)}")
        _print_sections(call, archive, file)
    call.output.tell(plural(len(files), "rule file"))


def _cells(file: RuleFile) -> tuple[str, ...]:
    sections = "–" if file.withheld else number(file.sections)
    return (
        file.path, file.kind, sections, size(file.bytes), number(file.revision), moment(file.imported),
        HIDDEN if file.hidden else "",
    )  # fmt: skip


def _print_sections(call: Call, archive: Archive, file: RuleFile) -> None:
    if file.withheld:
        call.output.line("    its text cannot be had: it was erased, or is too large to be read")
    for section in archive.rule_sections(file):
        title = " › ".join(section.headings) or "(before the first heading)"
        mark = f"  {HIDDEN}" if section.hidden else ""
        call.output.line(f"    {number(section.first)}-{number(section.last)}  {title}{mark}")


# ------------------------------------------------------------------------------------------------ one


def _one(call: Call, archive: Archive, prover: Prover, what: str, revision: int | None) -> None:
    revisions, ref = _found(archive, what)
    file = revisions[-1] if revision is None else next((one for one in revisions if one.revision == revision), None)
    if file is None:
        raise Refused(f"{ref.path} has {plural(len(revisions), 'revision')}", f"affidavit rules {ref.path} --json")
    if not file.withheld:
        prover.source(file.key)
    whole = archive.rule_text(file)
    if whole is None:
        first, last, lines = 0, 0, []
    else:
        first, last = lines_of(ref, archive.rule_sections(file))
        lines = whole.decode("utf-8", "replace").split("\n")[first - 1 : last]
    if call.output.json:
        call.output.document(
            {
                "ref": f"{file.path}:{first}-{last}" if lines else file.path,
                "firstLine": first,
                "lastLine": last,
                "text": None if whole is None else "\n".join(lines),
                **rule_documents.with_revisions(archive, revisions, file, False),
            }
        )
        return
    call.output.path("", file.path, f"  {file.kind}, revision {file.revision} of {number(len(revisions))}")
    _print_text(call, file, whole, first, lines)


def _print_text(call: Call, file: RuleFile, whole: bytes | None, first: int, lines: list[str]) -> None:
    from storage.readers.rules import hidden

    said = f"payload/{file.digest}" if file.digest else "its text cannot be had: it was erased, or is too large"
    call.output.line(f"imported {moment(file.imported)} UTC  {said}")
    runs = hidden(whole or b"")
    for one in runs[:MOST_TOLD]:
        says = f": {one.says}" if one.says else ""
        call.output.line(f"{HIDDEN} ({one.kind}) in line {number(one.line)}{says}")
    if len(runs) > MOST_TOLD:
        call.output.line(f"{HIDDEN} in {number(len(runs) - MOST_TOLD)} places more")
    call.output.say()
    if sum(map(len, lines)) > LARGEST_SHOWN:
        call.output.tell(f"too large to print; affidavit show payload/{file.digest} --raw writes its bytes")
        return
    for at, line in enumerate(lines, first):
        call.output.line(f"{at:>6}  " + line.removesuffix("\r"))


def _found(archive: Archive, what: str) -> tuple[tuple[RuleFile, ...], RuleRef]:
    """The one rule file a path means, and the place in it."""
    for ref in readings(what):
        found = list(archive.rules(ref.path))
        if len(found) == 1:
            return found[0], ref
        if found:
            lines = "\n".join("  " + " ".join(one[0].path.split("\n")) for one in found)
            raise Refused(f"{ref.path} could be any of these rule files:", lines)
    raise Refused(
        f"{what!r} is neither an address nor a rule file of this store",
        "affidavit rules lists them; import FILE adds one",
    )


# ------------------------------------------------------------------------------------------- in force


def _in_force(
    call: Call, archive: Archive, prover: Prover, address: SessionAddress | TurnAddress, sections: bool, text: bool
) -> None:
    session, at = _moment(archive, address)
    found = archive.rules_in_force(session.key, at)
    for one in found.files if text else ():
        prover.source(one.file.key)
    if call.output.json:
        document: dict[str, Any] = {
            "session": session.uid,
            "at": iso(found.at),
            "rules": [rule_documents.in_force(archive, session, one, text) for one in found.files],
            "recorded": [rule_documents.recorded(session, told, text) for told in found.recorded],
        }
        call.output.document(document)
        return
    for one in found.files:
        _print_in_force(call, archive, session, one, sections)
    for told in found.recorded:
        _print_recorded(call, session, told, sections)
    when = f" at {moment(found.at)} UTC" if found.at is not None else ""
    more = f"; {number(len(found.recorded))} more that only the log holds" if found.recorded else ""
    call.output.tell(f"{plural(len(found.files), 'rule file')} in force{when}, of those that were imported{more}")
    _tell_absent(call, found.absent)


def _tell_absent(call: Call, places: tuple[str, ...]) -> None:
    """Say what stands now on this machine where the agent looks for rules, and was never imported."""
    standing = [place for place in places if os.path.exists(place)]
    for place in standing[:MOST_ABSENT]:
        call.output.tell(f"  not imported, but there now: {shlex.join(['affidavit', 'import', place])}")
    if len(standing) > MOST_ABSENT:
        call.output.tell(f"  and {number(len(standing) - MOST_ABSENT)} more")


def _print_in_force(call: Call, archive: Archive, session: SessionRow, one: InForce, sections: bool) -> None:
    line = call.output.line
    by = f" by {one.by}" if one.by else ""
    call.output.path("", one.file.path, f"  revision {one.file.revision}")
    line(f"    {SCOPES[one.scope]}{by}; imported {moment(one.file.imported)} UTC")
    line(f"    {'' if one.certain else '~ '}{one.words}")
    if one.scope == "below" and not one.certain:
        if one.touched is None:
            line("    no tool was given a file there by then")
        else:
            line(f"    a tool was first given a file there in {documents.event_address(session.uid, one.touched)}")
    if one.patterns:
        line(f"    only for files like {', '.join(one.patterns)}")
    for told in one.loaded:
        line(f"    {documents.event_address(session.uid, told.id)}  {_held(told, one.file)}")
    absent = [brought for brought in one.brings if brought.path is None]
    for brought in absent[:MOST_ABSENT]:
        line(f"    line {number(brought.line)} brings in @{brought.target}, which was not imported")
    if len(absent) > MOST_ABSENT:
        line(f"    and {number(len(absent) - MOST_ABSENT)} more were not imported")
    if one.file.hidden:
        line(f"    {HIDDEN}: affidavit rules {one.file.path}")
    if sections:
        _print_sections(call, archive, one.file)


def _held(told: Loaded, file: RuleFile) -> str:
    if told.revision is None:
        return "the log holds another text of it than any that was imported"
    return "the log holds this text" if told.revision == file.revision else f"the log holds revision {told.revision}"


def _print_recorded(call: Call, session: SessionRow, told: Recorded, sections: bool) -> None:
    from storage.queries.rules import sections_in

    address = documents.event_address(session.uid, told.id)
    call.output.line(told.path or "rules of a file the log does not name")
    call.output.line(f"    {address}  only the log holds this text: {plural(len(told.text), 'character')}")
    for section in sections_in(told.text.encode("utf-8", "replace")) if sections else ():
        title = " › ".join(section.headings) or "(before the first heading)"
        call.output.line(f"    {number(section.first)}-{number(section.last)}  {title}")
