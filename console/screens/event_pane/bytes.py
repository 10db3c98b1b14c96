"""Recorded bytes as lines of text: decoded where they can be, or as a hex dump made line by line."""

from __future__ import annotations

from collections.abc import Sequence
from typing import overload

from console.widgets.safe import Outside
from console.widgets.wrapping import pieces

PER_LINE = 16


def as_text(data: bytes, outside: Outside) -> list[str]:
    """Bytes as safe text; what is not UTF-8 stands as ``\\xNN``."""
    return pieces(outside.block(data.decode("utf-8", "backslashreplace")))


class HexDump(Sequence[str]):
    """Bytes as in ``hexdump -C``. Only the lines that are looked at are made."""

    def __init__(self, data: bytes) -> None:
        self._data = data

    def __len__(self) -> int:
        return max(-(-len(self._data) // PER_LINE), 1)

    @overload
    def __getitem__(self, index: int) -> str: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[str]: ...
    def __getitem__(self, index: int | slice) -> str | Sequence[str]:
        if isinstance(index, slice):
            return [self[number] for number in range(*index.indices(len(self)))]
        if not 0 <= index < len(self):
            raise IndexError(index)
        part = self._data[index * PER_LINE : (index + 1) * PER_LINE]
        digits = part.hex(" ").ljust(PER_LINE * 3 - 1)
        signs = "".join(chr(octet) if 0x20 <= octet < 0x7F else "·" for octet in part)
        return f"{index * PER_LINE:08x}  {digits}  {signs}"
