"""``affidavit record``: what a program writes, line by line, into the store."""

from __future__ import annotations

import sys
import threading
from typing import TYPE_CHECKING, BinaryIO, NamedTuple, cast

from console.commands.call import Call, command
from console.commands.importing import NOTHING_CONFORMS, PRINTS, STDIN, Input, importing
from console.words import plural

if TYPE_CHECKING:
    from storage.importing import Importer

OWN_FORMAT = "affidavit"
"""Name of our own JSON Lines among the formats."""

LONGEST_LINE = 16 * 1024 * 1024
"""Bytes a line may have."""


class Refusal(NamedTuple):
    """A line that was not taken: its number (from 1), the byte of the input where it went wrong, and why."""

    line: int
    offset: int
    reason: str


class Checked:
    """A stream of which only lines that conform to the schema pass; of the others only their line feed does.

    So lines keep their numbers. A last line without a line feed is a line like any other.
    """

    def __init__(self, stream: Input) -> None:
        self._stream = stream
        self._parts: list[bytes] = []
        self._size = 0
        self._line = 1
        self._offset = 0
        self._ended = False
        self.refused: list[Refusal] = []

    def read(self, limit: int) -> bytes:
        """Lines that pass, at least one byte of them unless the input is at its end."""
        passed = b""
        while not passed and not self._ended:
            block = self._stream.read(limit)
            if block:
                *whole, begun = block.split(b"\n")
                passed = b"".join(self._line_ends(part, b"\n") for part in whole)
                self._hold(begun)
            else:
                self._ended = True
                passed = self._line_ends(b"", b"")
        return passed

    def _hold(self, part: bytes) -> None:
        """Keeps the beginning of a line; of one that is already too long only its length."""
        self._size += len(part)
        if self._size > LONGEST_LINE:
            self._parts = []
        elif part:
            self._parts.append(part)

    def _line_ends(self, part: bytes, feed: bytes) -> bytes:
        """What passes of a line whose last part this is; ``feed`` is what it ended with."""
        self._hold(part)
        line = b"".join(self._parts)
        reason, byte = self._wrong(line)
        if reason is not None:
            self.refused.append(Refusal(self._line, self._offset + byte, reason))
        self._offset += self._size + len(feed)
        self._line += 1
        self._parts = []
        self._size = 0
        return (line if reason is None else b"") + feed

    def _wrong(self, line: bytes) -> tuple[str | None, int]:
        """Why a line is refused and at which byte of it; ``None``: it conforms, or is blank."""
        from affidavit.lines import check_line

        if self._size > LONGEST_LINE:
            return f"is longer than {plural(LONGEST_LINE, 'byte')}", 0
        problems = check_line(line) if line.strip() else []
        if not problems:
            return None, 0
        return "; ".join(f"{problem.field} {problem.reason}".strip() for problem in problems[:5]), problems[0].byte


@command("record", "Record what a program writes to standard input", prints=PRINTS)
def record_command(call: Call) -> int:
    """Record what a program writes to standard input: Affidavit's own JSON Lines.

    affidavit schema prints what a line may hold. A line that does not conform is refused and listed with the reason;
    the others are recorded.
    """
    cancel = threading.Event()
    stream = Checked(Input(sys.stdin.buffer, cancel))

    def take(importer: Importer) -> None:
        importer.stream(cast(BinaryIO, stream), OWN_FORMAT)
        file = importer.report.files[-1]
        refused = len(stream.refused)
        file.records += refused
        file.unreadable += refused
        if refused and not importer.report.events and file.records == refused:
            file.skipped = NOTHING_CONFORMS
        importer.report.unreadable_list += [(STDIN, *refusal) for refusal in stream.refused]

    if sys.stdin.isatty():
        call.output.tell("reading JSON Lines from this terminal; ctrl+d ends")
    return importing(call, take, cancel)
