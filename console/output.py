"""What a command says: data on standard output, words for people on standard error, nothing that acts on a terminal.

Every text for people passes :mod:`affidavit.text.display` here, at the one place where commands print. JSON keeps
its values exactly: characters that a terminal could act on, or that hide themselves, are written as ``\\uXXXX``.
"""

from __future__ import annotations

import os
import re
import shutil
import sys
from codecs import getincrementaldecoder
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, BinaryIO, TextIO

from affidavit.text.display import display, display_block
from affidavit.text.display import mask as masked
from affidavit.text.marks import marked
from console.words import plural

CHUNK = 65_536
"""Bytes of a stream that are gathered before they are written."""

_UNSEEN = re.compile(
    "[\x7f-\x9f\xad\u0600-\u0605\u061c\u06dd\u070f\u0890-\u0891\u08e2\u115f-\u1160\u17b4-\u17b5\u180b-\u180f"
    "\u200b-\u200f\u2028-\u202e\u2060-\u206f\u3164\ue000-\uf8ff\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb"
    "\U000110bd\U000110cd\U00013430-\U0001343f\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U0010ffff]"
)
"""Controls, formats, separators, fillers, selectors, private use: legal in JSON, but unseen or not harmless."""


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a table.

    ``right``: aligned right. ``shrinks``: gives way, down to ``least`` cells, on a narrow terminal; ``tail``: its end
    is what stays then, as of a path. ``spare``: left out where even that is not enough, the highest first; 0: never.
    """

    title: str
    right: bool = False
    shrinks: bool = False
    least: int = 12
    spare: int = 0
    tail: bool = False


class Output:
    """Where one command writes. ``json``: data is wanted, not words. ``mask``: hide paths, mails, hosts, secrets."""

    def __init__(
        self, *, json: bool = False, mask: bool = False, out: TextIO | None = None, err: TextIO | None = None
    ) -> None:
        self.json = json
        self.mask = mask
        self._out = out if out is not None else sys.stdout
        self._err = err if err is not None else sys.stderr

    def say(self, text: str = "") -> None:
        """Words that are the answer to the command, on standard output."""
        self._write(self._out, self._shown(text) + "\n")

    def line(self, text: str) -> None:
        """One line of a list: on a terminal cut (with ``…``) to its width, elsewhere whole."""
        shown = display(masked(text) if self.mask else text)
        self._write(self._out, (cut(shown, self.width) if self.is_terminal else shown) + "\n")

    def path(self, before: str, path: str, after: str = "") -> None:
        """A line that names a file: on a terminal the path is cut from its left to the terminal's width."""
        shown = [display(masked(text) if self.mask else text) for text in (before, path, after)]
        if self.is_terminal:
            from rich.cells import cell_len

            shown[1] = cut_left(shown[1], max(20, self.width - cell_len(shown[0] + shown[2])))
        self._write(self._out, "".join(shown) + "\n")

    def tell(self, text: str = "") -> None:
        """Words beside the answer, on standard error."""
        self._out.flush()
        self._write(self._err, self._shown(text) + "\n")
        self._err.flush()

    def table(self, columns: Sequence[Column], rows: Iterable[Sequence[str]], *, gap: int = 2) -> None:
        """Aligned columns; on a terminal cut (with ``…``) to its width, elsewhere whole.

        Columns that find no room are left out, and named on standard error.
        """
        shown = [[display(masked(cell) if self.mask else cell) for cell in row] for row in rows]
        width = self.width if self.is_terminal else None
        kept = list(range(len(columns))) if width is None else fitting(columns, shown, gap=gap, width=width)
        some = [[row[at] for at in kept] for row in shown]
        for line in laid_out([columns[at] for at in kept], some, gap=gap, width=width):
            self._write(self._out, line + "\n")
        if len(kept) < len(columns):
            missing = ", ".join(column.title for at, column in enumerate(columns) if at not in kept)
            self.tell(f"left out for want of room: {missing}")

    def document(self, value: Any) -> None:
        """One JSON document."""
        self._binary().write(json_bytes(value, mask=self.mask, indent=True) + b"\n")
        self.flush()

    @contextmanager
    def listing(
        self, name: str, *, before: dict[str, Any] | None = None
    ) -> Iterator[tuple[Callable[[Any], None], dict[str, Any]]]:
        """One JSON document whose list ``name`` is written item by item, so that memory stays flat.

        Gives the function that writes an item, and a dictionary whose members are written after the list.
        """
        after: dict[str, Any] = {}
        binary = self._binary()
        parts: list[bytes] = []
        size = 0
        separator = b"\n"

        def write(item: Any) -> None:
            nonlocal size, separator
            data = json_bytes(item, mask=self.mask)
            parts.extend((separator, data))
            separator = b",\n"
            size += len(data)
            if size >= CHUNK:
                binary.write(b"".join(parts))
                parts.clear()
                size = 0

        binary.write(b"{" + b"".join(self._member(*pair) + b",\n" for pair in (before or {}).items()))
        binary.write(json_bytes(name) + b": [")
        yield write, after
        binary.write(b"".join(parts) + (b"]" if separator == b"\n" else b"\n]"))
        binary.write(b"".join(b",\n" + self._member(*pair) for pair in after.items()) + b"}\n")
        self.flush()

    def raw(self, *parts: bytes) -> None:
        """The very bytes, one part after the other; see :meth:`raws`."""
        self.raws(parts)

    def raws(self, parts: Iterable[bytes]) -> None:
        """The very bytes of all parts; on a terminal shown as text instead, because they could act on it."""
        if not self.is_terminal:
            binary = self._binary()
            for part in parts:
                binary.write(part)
            self.flush()
            return
        decoder = getincrementaldecoder("utf-8")("backslashreplace")
        total = 0
        for part in parts:
            self._write(self._out, self._shown(decoder.decode(part)))
            total += len(part)
        self._write(self._out, self._shown(decoder.decode(b"", final=True)) + "\n")
        self.tell(f"{plural(total, 'byte')}, shown as text; redirect to a file or a pipe for the very bytes")

    @property
    def is_terminal(self) -> bool:
        return self._out.isatty()

    @property
    def width(self) -> int:
        """Columns of the terminal."""
        return max(20, shutil.get_terminal_size().columns)

    @property
    def shows_progress(self) -> bool:
        """Whether standard error is a terminal on which a line can be rewritten."""
        return self._err.isatty() and os.environ.get("TERM") not in (None, "", "dumb")

    def progress(self, text: str) -> None:
        """Rewrites the line that tells how far long work has come; an empty text removes it."""
        line = cut(display(masked(text) if self.mask else text), self.width - 1)
        self._write(self._err, "\r" + line + "\x1b[K")
        self._err.flush()

    def flush(self) -> None:
        """Hands everything on; a reader that has gone shows here as ``BrokenPipeError``."""
        self._out.flush()

    def _shown(self, text: str) -> str:
        return display_block(masked(text) if self.mask else text)

    def _member(self, name: str, value: Any) -> bytes:
        return json_bytes(name) + b": " + json_bytes(value, mask=self.mask)

    def _binary(self) -> BinaryIO:
        self._out.flush()
        return self._out.buffer

    @staticmethod
    def _write(stream: TextIO, text: str) -> None:
        try:
            stream.write(text)
        except UnicodeEncodeError:
            encoding = stream.encoding or "ascii"
            stream.write(text.encode(encoding, "backslashreplace").decode(encoding))


def json_bytes(value: Any, *, mask: bool = False, indent: bool = False) -> bytes:
    """JSON in UTF-8 with keys in the given order. Lone surrogates become visible marks, as JSON must not hold them."""
    import orjson

    options = orjson.OPT_INDENT_2 if indent else 0
    if mask:
        value = _strings(value, masked)
    try:
        data = orjson.dumps(value, option=options)
    except orjson.JSONEncodeError:
        data = orjson.dumps(_strings(value, marked), option=options)
    if data.isascii():
        return data.replace(b"\x7f", b"\\u007f")
    text = data.decode("utf-8")
    # Cheap, and nearly always the answer: no control, format, private-use or separating character in it.
    return data if text.isprintable() else _UNSEEN.sub(_escaped, text).encode("utf-8")


def _escaped(found: re.Match[str]) -> str:
    units = found[0].encode("utf-16-be")
    return "".join(f"\\u{units[at : at + 2].hex()}" for at in range(0, len(units), 2))


def _strings(value: Any, change: Callable[[str], str]) -> Any:
    """The same JSON value with every string in it changed, keys excepted."""
    if isinstance(value, str):
        return change(value)
    if isinstance(value, dict):
        return {key: _strings(item, change) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_strings(item, change) for item in value]
    return value


def fitting(columns: Sequence[Column], rows: Sequence[Sequence[str]], *, gap: int, width: int) -> list[int]:
    """Indexes of the columns that fit ``width`` once those that shrink have shrunk."""
    from rich.cells import cell_len

    kept = list(range(len(columns)))
    wanted = [max(cell_len(cell) for cell in (column.title, *(row[at] for row in rows))) for at, column in
              enumerate(columns)]  # fmt: skip
    needed = [min(want, max(column.least, cell_len(column.title))) if column.shrinks else want for want, column in
              zip(wanted, columns, strict=True)]  # fmt: skip
    while sum(needed[at] for at in kept) + gap * (len(kept) - 1) > width:
        spare = max(kept, key=lambda at: columns[at].spare)
        if not columns[spare].spare:
            break
        kept.remove(spare)
    return kept


def laid_out(
    columns: Sequence[Column], rows: Sequence[Sequence[str]], *, gap: int = 2, width: int | None = None
) -> Iterator[str]:
    """The lines of a table, title line first. ``rows`` hold displayable text; ``width`` is in terminal cells."""
    from rich.cells import cell_len

    table = [[column.title for column in columns], *rows]
    widths = [max(cell_len(row[at]) for row in table) for at in range(len(columns))]
    if width is not None:
        spare = width - (sum(widths) + gap * (len(columns) - 1))
        giving = [at for at, column in enumerate(columns) if column.shrinks]
        while spare < 0 and any(widths[at] > columns[at].least for at in giving):
            widest = max((at for at in giving if widths[at] > columns[at].least), key=widths.__getitem__)
            less = min(-spare, widths[widest] - columns[widest].least)
            others = [widths[at] for at in giving if at != widest and widths[at] > columns[at].least]
            step = min(less, max(1, widths[widest] - max(others, default=0)))
            widths[widest] -= step
            spare += step
    for row in table:
        cells = []
        for column, size, text in zip(columns, widths, row, strict=True):
            text = cut_left(text, size) if column.tail else cut(text, size)
            blanks = " " * (size - cell_len(text))
            cells.append(blanks + text if column.right else text + blanks)
        line = (" " * gap).join(cells).rstrip()
        yield cut(line, width) if width is not None else line


def cut(text: str, width: int) -> str:
    """``text`` in at most ``width`` terminal cells, its end replaced by ``…`` if it is longer."""
    from rich.cells import cell_len, set_cell_size

    if cell_len(text) <= width:
        return text
    return set_cell_size(text, max(0, width - 1)).rstrip() + "…" if width > 0 else ""


def cut_left(text: str, width: int) -> str:
    """``text`` in at most ``width`` terminal cells, its beginning replaced by ``…`` if it is longer."""
    from rich.cells import cell_len

    if cell_len(text) <= width:
        return text
    left, at = width - 1, len(text)
    while at and (left := left - cell_len(text[at - 1])) >= 0:
        at -= 1
    return "…" + text[at:] if width > 0 else ""
