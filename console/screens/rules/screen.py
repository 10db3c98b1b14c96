"""The rule files a session ran under at one of its events: where each stands, how that is known, and its text."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar

from textual.app import ComposeResult
from textual.binding import BindingType

from affidavit.session.event import event_hex
from console.actions import Situation
from console.finding import event_of, session_of
from console.screens.view import Copy, Place, View, bindings, dot
from console.widgets import figures
from console.widgets.error_panel import describe
from console.widgets.ink import Ink, Line
from console.widgets.safe import Outside
from console.widgets.text_view import TextView
from console.words import moment

if TYPE_CHECKING:
    from storage.archive import Archive
    from storage.queries.rules_in_force import InForce, Recorded, RulesInForce

MOST = 200_000
"""Bytes of a file whose text is shown; of a longer one the beginning."""

MOST_ABSENT = 5
"""Imports of one file, that were not imported themselves, that are named."""

SCOPES = {
    "managed": "for this machine",
    "user": "for the user",
    "project": "for the session's folder",
    "below": "below the session's folder: read when files there are",
    "import": "brought in by",
}


@dataclass(frozen=True, slots=True)
class Found:
    """Rule files in force, with their texts as far as they can be had, and the address they were asked for at."""

    address: str
    rules: RulesInForce
    texts: tuple[bytes | None, ...]


def read_rules(archive: Archive, uid: str, event: str) -> Found:
    """Reads the rule files in force at an event, or at a session's end. Runs in a reading thread."""
    session = session_of(archive, uid)
    row = event_of(archive, session, event) if event else None
    rules = archive.rules_in_force(session.key, None if row is None else row.sort or None)
    address = f"session/{session.uid}" + (f"#{event_hex(row.id)}" if row else "")
    return Found(address, rules, tuple(_beginning(archive.rule_text(one.file)) for one in rules.files))


def _beginning(text: bytes | None) -> bytes | None:
    return None if text is None else text[: MOST + 1]


def lines_of(found: Found, outside: Outside) -> tuple[list[Line], list[str], list[int]]:
    """(what stands above; the files with their texts, numbered by line, as safe text; the line each file begins at)."""
    when = f" at {moment(found.rules.at)} UTC" if found.rules.at is not None else ""
    many = len(found.rules.files)
    head: list[Line] = [
        (Ink("head", f"{figures.number(many)} rule file{'' if many == 1 else 's'} in force{when}"),),
        (Ink("quiet", "of those that were imported, by where they stand; ~ where the log does not say so itself"),),
    ]
    for place, one in enumerate(found.rules.files, 1):
        head += [(), *_about(place, one, outside)]
    for place, told in enumerate(found.rules.recorded, many + 1):
        head += [(), *_told(place, told, outside)]
    lines: list[str] = []
    begins: list[int] = []
    for place, (one, text) in enumerate(zip(found.rules.files, found.texts, strict=True), 1):
        begins.append(len(lines) + 1)
        lines += ["", f"━━ {place}  {outside.line(one.file.path)}", ""]
        lines += _numbered(text, outside)
    for place, told in enumerate(found.rules.recorded, many + 1):
        begins.append(len(lines) + 1)
        lines += ["", f"━━ {place}  {outside.line(told.path or UNNAMED)}", ""]
        lines += _numbered(told.text.encode("utf-8", "replace"), outside)
    return [*head, ()], lines, begins


def _about(place: int, one: InForce, outside: Outside) -> list[Line]:
    sure = one.certain
    by = f" {outside.line(one.by)}" if one.by else ""
    count = "no text" if one.file.withheld else f"{one.file.sections} section{'' if one.file.sections == 1 else 's'}"
    said: list[Line] = [
        (Ink("key", f"{place}  "), Ink("outside", outside.line(one.file.path))),
        (
            Ink("quiet", f"   {SCOPES[one.scope]}{by} · {count} · revision {one.file.revision}"),
            Ink("quiet", f" · imported {moment(one.file.imported)} UTC"),
        ),
        (Ink("text" if sure else "quiet", f"   {'' if sure else '~ '}{one.words}"),),
    ]
    if one.scope == "below" and not one.certain:
        given = "a tool was given a file there" if one.touched is not None else "no tool was given a file there by then"
        said.append((Ink("quiet", f"   {given}"),))
    if one.patterns:
        said.append((Ink("quiet", f"   only for files like {outside.line(', '.join(one.patterns), 200)}"),))
    if one.newer:
        said.append((Ink("quiet", f"   {one.newer} newer revision{'' if one.newer == 1 else 's'} imported since"),))
    if one.loaded and not sure:
        said.append((Ink("person", "   ! the log holds another text of it than any that was imported"),))
    absent = [brought for brought in one.brings if brought.path is None]
    said += [
        (Ink("person", f"   ! line {brought.line} brings in @{outside.line(brought.target)}, which was not imported"),)
        for brought in absent[:MOST_ABSENT]
    ]
    if len(absent) > MOST_ABSENT:
        said.append((Ink("person", f"   ! and {figures.number(len(absent) - MOST_ABSENT)} more were not imported"),))
    if one.file.hidden:
        said.append(
            (Ink("fails", f"   ! hidden characters in {one.file.hidden} place{'' if one.file.hidden == 1 else 's'}"),)
        )
    return said


UNNAMED = "rules of a file the log does not name"


def _told(place: int, told: Recorded, outside: Outside) -> list[Line]:
    """Rules that only the log holds."""
    return [
        (Ink("key", f"{place}  "), Ink("outside", outside.line(told.path or UNNAMED))),
        (Ink("text", "   only the log holds this text: no such file was imported"),),
    ]


def _numbered(text: bytes | None, outside: Outside) -> list[str]:
    if text is None:
        return ["its text cannot be had: it was erased, or is too large to be read"]
    shown = outside.block(text[:MOST].decode("utf-8", "replace")).removesuffix("\n").split("\n")
    lines = [f"{number:5}  {line}" for number, line in enumerate(shown, 1)]
    return [*lines, "       …"] if len(text) > MOST else lines


class RulesView(View):
    """See the module."""

    NAME = "rules"
    TITLE = "rule files"
    BINDINGS: ClassVar[list[BindingType]] = [*bindings("rules")]

    def __init__(self) -> None:
        super().__init__()
        self._place = Place("rules")
        self._found: Found | None = None
        self._error = ""
        self._text = TextView()
        self._begins: list[int] = []

    def compose(self) -> ComposeResult:
        yield self._text

    def focus_main(self) -> None:
        self._text.focus()

    def arrive(self, place: Place) -> None:
        app = self.console_app
        self.focus_main()
        self._place, self._found, self._error = place, None, ""
        self._text.show(((Ink("quiet", "reading …"),),), ())
        app.pool.ask(
            (self, "rules"), lambda archive: read_rules(archive, place.session, place.event), self._show, self._fail
        )

    def place(self) -> Place:
        return self._place

    def _show(self, found: Found) -> None:
        self._found = found
        head, lines, self._begins = lines_of(found, self.console_app.outside)
        self._text.show(head, lines, "outside")
        self.tell()

    def _fail(self, error: Exception) -> None:
        self._error = describe(error, self.console_app.outside)
        lines: list[Line] = [(Ink("fails", "✗ nothing to show"),), ()]
        self._text.show([*lines, *((Ink("text", line),) for line in self._error.split("\n"))], ())
        self.tell()

    # the files

    def do_rule_next(self) -> None:
        after = next((line for line in self._begins if line > self._text.line), None)
        if after is not None:
            self._text.go_to_line(after)

    def do_rule_previous(self) -> None:
        before = [line for line in self._begins if line < self._text.line]
        self._text.go_to_line(before[-1]) if before else self._text.do_first()

    def do_open(self) -> None:
        """Open what is on top of the screen: a file's recorded bytes, or the event that holds the text."""
        if self._found is None or not self._begins:
            return
        at = max(bisect_right(self._begins, self._text.line) - 1, 0)
        rules = self._found.rules
        if at >= len(rules.files):
            event = event_hex(rules.recorded[at - len(rules.files)].id)
            self.console_app.go(Place("timeline", session=self._place.session, event=event))
        elif (digest := rules.files[at].file.digest) is not None:
            self.console_app.go(Place("entry", session=f"payload/{digest}"))

    # chrome

    def crumbs(self) -> tuple[Line, Line]:
        name = self.console_app.outside.line(self._place.session, 40)
        return (
            Ink("accent", "Sessions", "go.sessions"),
            Ink("faint", " ▸ "),
            Ink("outside", name),
            Ink("faint", " ▸ "),
            Ink("text", "rule files"),
        ), ()

    def missing(self) -> Line:
        return dot(f"{self._text.fraction:.0%}" if not self._text.fits else "")

    def situation(self, now: Situation) -> Situation:
        return replace(now, row=self._found is not None, loading=self._found is None and not self._error)

    def masked(self) -> None:
        if self._found is not None:
            self._show(self._found)

    def prepare_copies(self, give: Callable[[Sequence[Copy]], None]) -> None:
        if self._found is not None:
            app = self.console_app
            give(
                [
                    Copy("address", "address", self._found.address),
                    Copy("command", "command that opens it", app.services.command(self._found.address)),
                    Copy("text", "text", self._whole(self._found)),
                ]
            )

    def prepare_text(self, give: Callable[[str], None]) -> None:
        if self._found is not None:
            give(self._whole(self._found))

    def _whole(self, found: Found) -> str:
        head, lines, _ = lines_of(found, self.console_app.outside)
        return "\n".join(["".join(ink.text for ink in line) for line in head] + lines)
