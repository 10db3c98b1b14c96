"""Opening a log: as it lies there, or unpacked where it was compressed in place."""

from __future__ import annotations

import errno
import tempfile
from typing import BinaryIO, cast

import zstandard

MAGIC = b"\x28\xb5\x2f\xfd"
"""How a Zstandard frame begins (RFC 8878)."""

MOST_UNPACKED = 8 << 30
"""Bytes a compressed log may unpack to; what promises more is no log."""

PIECE = 1 << 10
"""Compressed bytes unpacked at once: few, since each may stand for tens of thousands."""


def open_log(path: str) -> tuple[BinaryIO, str | None]:
    """A log's bytes, to be read and sought, and what is to be said of them.

    Of a compressed file these are the bytes it holds, and offsets count in them. Raises ``OSError``: also where it is
    damaged, or larger than anybody's log.
    """
    stream = open(path, "rb")  # noqa: SIM115 - it is the caller's to close
    try:
        packed = stream.read(len(MAGIC)) == MAGIC
        stream.seek(0)
        if not packed:
            return stream, None
        with stream:
            return _unpacked(stream)
    except BaseException:
        stream.close()
        raise


def _unpacked(stream: BinaryIO) -> tuple[BinaryIO, str | None]:
    """What a compressed file holds, in a file without a name that goes with it; whether its end is missing."""
    whole = cast(BinaryIO, tempfile.TemporaryFile(prefix="affidavit-"))  # noqa: SIM115 - it is the caller's to close
    size = 0
    frame = None
    try:
        rest = b""
        while piece := rest or stream.read(PIECE):
            frame = frame or zstandard.ZstdDecompressor(max_window_size=1 << 27).decompressobj()
            part = frame.decompress(piece)
            size += len(part)
            if size > MOST_UNPACKED:
                raise OSError(errno.EFBIG, f"it unpacks to more than {MOST_UNPACKED >> 30} GiB")
            whole.write(part)
            rest = frame.unused_data if frame.eof else b""
            frame = None if frame.eof else frame
        whole.seek(0)
    except zstandard.ZstdError as error:
        if not size:
            whole.close()
            raise OSError(errno.EINVAL, f"its compressed bytes are damaged ({error})") from None
        whole.seek(0)
        return whole, f"its compressed bytes are damaged; read as far as they go ({size} bytes)"
    except BaseException:
        whole.close()
        raise
    return whole, None if frame is None else f"its compressed bytes are cut; read as far as they go ({size} bytes)"
