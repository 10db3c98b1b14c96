"""Recorded bytes as lines of text: decoded where they can be, or as a hex dump made line by line."""

from __future__ import annotations

from collections.abc import Sequence
from typing import overload

from console.widgets.safe import Outside
from console.widgets.wrapping import pieces

PER_LINE = 16
"""Bytes on a line of a hex dump, where there is room for them; half as many where there is not."""

WIDE = 8 + 2 + PER_LINE * 3 + 1 + PER_LINE
"""Cells such a line takes."""


def per_line(room: int) -> int:
    """How many bytes go on a line of so many cells."""
    return PER_LINE if room >= WIDE else PER_LINE // 2


def as_text(data: bytes, outside: Outside) -> list[str]:
    """Bytes as safe text; what is not UTF-8 stands as ``\\xNN``."""
    return pieces(outside.block(data.decode("utf-8", "backslashreplace")))


class HexDump(Sequence[str]):
    """Bytes as in ``hexdump -C``. Only the lines that are looked at are made."""

    def __init__(self, data: bytes, per_line: int = PER_LINE) -> None:
        self._data = data
        self.per_line = per_line

    def __len__(self) -> int:
        return max(-(-len(self._data) // self.per_line), 1)

    @overload
    def __getitem__(self, index: int) -> str: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[str]: ...
    def __getitem__(self, index: int | slice) -> str | Sequence[str]:
        if isinstance(index, slice):
            return [self[number] for number in range(*index.indices(len(self)))]
        if not 0 <= index < len(self):
            raise IndexError(index)
        part = self._data[index * self.per_line : (index + 1) * self.per_line]
        digits = part.hex(" ").ljust(self.per_line * 3 - 1)
        signs = "".join(chr(octet) if 0x20 <= octet < 0x7F else "·" for octet in part)
        return f"{index * self.per_line:08x}  {digits}  {signs}"
