"""An entry of the ledger, or recorded bytes by their digest: whole, as text or as hex."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar

from textual.app import ComposeResult
from textual.binding import BindingType

from affidavit.session.address import EntryAddress, PayloadAddress, parse
from console.actions import Situation
from console.finding import NotFound
from console.screens.event_pane.bytes import HexDump, as_text
from console.screens.view import Copy, Place, View, bindings, dot
from console.widgets import figures
from console.widgets.error_panel import describe
from console.widgets.ink import Ink, Line
from console.widgets.safe import Outside
from console.widgets.text_view import TextView

if TYPE_CHECKING:
    from storage.archive import Archive

MOST = 16 * 1024 * 1024
"""Bytes of a payload shown at most."""


@dataclass(frozen=True, slots=True)
class Held:
    """What an address names: its bytes, what is known of them, and the entry they stand in, if that is one."""

    head: tuple[Line, ...]
    data: bytes
    number: int | None


def read_held(archive: Archive, name: str, outside: Outside) -> Held:
    """Reads an entry or a payload. Runs in a reading thread; raises :class:`NotFound`."""
    address = parse(name)
    if isinstance(address, EntryAddress):
        data = archive.entry(address.number)
        if data is None:
            raise NotFound(f"the ledger has no entry {address.number}: it has {archive.entries()}")
        head = (
            (Ink("head", f"entry {figures.number(address.number)}"), Ink("quiet", f"   {figures.size(len(data))}")),
            (),
        )
        return Held(head, data, address.number)
    assert isinstance(address, PayloadAddress)
    found = archive.contents(address.digest)
    if not found:
        raise NotFound(f"this store holds no bytes whose SHA-256 begins with {address.digest}")
    digests = {content.digest for content in found}
    if len(digests) > 1:
        raise NotFound(f"payload/{address.digest} may mean {len(digests)} payloads; write more of the digest")
    content = found[0]
    parts: list[bytes] = []
    size = 0
    for chunk in archive.chunks(content):
        parts.append(chunk)
        size += len(chunk)
        if size >= MOST:
            break
    data = b"".join(parts)[:MOST]
    lines: list[Line] = [
        (Ink("head", "payload"), Ink("quiet", f"   {figures.size(content.size)} · {outside.line(content.media)}")),
        (Ink("quiet", "sha256   "), Ink("text", content.digest)),
    ]
    if content.name:
        lines.append((Ink("quiet", "name     "), Ink("outside", outside.line(content.name))))
    if content.size > len(data):
        lines.append((Ink("person", f"! the first {figures.size(len(data))} of it"),))
    return Held((*lines, ()), data, None)


class EntryView(View):
    """See the module."""

    NAME = "entry"
    TITLE = "recorded bytes"
    BINDINGS: ClassVar[list[BindingType]] = [*bindings("entry")]

    def __init__(self) -> None:
        super().__init__()
        self._address = ""
        self._held: Held | None = None
        self._error = ""
        self._hex = False
        self._text = TextView()

    def compose(self) -> ComposeResult:
        yield self._text

    def focus_main(self) -> None:
        self._text.focus()

    def arrive(self, place: Place) -> None:
        app = self.console_app
        self.focus_main()
        if place.session == self._address and self._held is not None:
            return
        self._address, self._held, self._error = place.session, None, ""
        self._text.show(((Ink("quiet", "reading …"),),), ())
        outside = app.outside
        app.pool.ask((self, "held"), lambda archive: read_held(archive, place.session, outside), self._show, self._fail)

    def place(self) -> Place:
        return Place("entry", session=self._address)

    def _show(self, held: Held) -> None:
        self._held = held
        lines: Sequence[str] = HexDump(held.data) if self._hex else as_text(held.data, self.console_app.outside)
        self._text.show(held.head, lines, "outside")
        self.tell()

    def _fail(self, error: Exception) -> None:
        self._error = describe(error, self.console_app.outside)
        lines: list[Line] = [(Ink("fails", "✗ nothing to show"),), ()]
        lines += [(Ink("text", line),) for line in self._error.split("\n")]
        lines += [
            (),
            (Ink("key", "backspace"), Ink("quiet", " goes back   "), Ink("key", ":"), Ink("quiet", " goes elsewhere")),
        ]
        self._text.show(lines, ())
        self.tell()

    # chrome

    def crumbs(self) -> tuple[Line, Line]:
        name = self.console_app.outside.line(self._address, 80)
        return (Ink("accent", "Sessions", "go.sessions"), Ink("faint", " ▸ "), Ink("outside", name)), ()

    def missing(self) -> Line:
        return dot("as hex" if self._hex else "as text", f"{self._text.fraction:.0%}" if not self._text.fits else "")

    def standing(self) -> Line:
        return self.console_app.standing.entry(self._held.number if self._held else None)

    def situation(self, now: Situation) -> Situation:
        return replace(now, row=self._held is not None, loading=self._held is None and not self._error)

    def do_raw(self) -> None:
        if self._held is not None:
            self._hex = not self._hex
            self._show(self._held)

    def do_open(self) -> None:
        self.do_raw()

    def masked(self) -> None:
        if self._held is not None:
            self._show(self._held)

    def prepare_copies(self, give: Callable[[Sequence[Copy]], None]) -> None:
        if self._held is not None:
            text = "\n".join(as_text(self._held.data, self.console_app.outside))
            command = self.console_app.services.command(self._address)
            give(
                [
                    Copy("address", "address", self._address),
                    Copy("command", "command that opens it", command),
                    Copy("text", "text", text),
                ]
            )

    def prepare_text(self, give: Callable[[str], None]) -> None:
        if self._held is not None:
            lines = HexDump(self._held.data) if self._hex else as_text(self._held.data, self.console_app.outside)
            give("\n".join(lines))
