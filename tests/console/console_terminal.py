"""A real terminal for the console: the program in a pty, the bytes it sends, and how soon they come."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import select
import signal
import struct
import sys
import termios
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

HERE = Path(__file__).parent
ROOT = HERE.parent.parent


class Terminal:
    """One program in a pty."""

    def __init__(self, pid: int, fd: int) -> None:
        self.pid = pid
        self.fd = fd
        self.seen = b""

    def read(self, quiet: float = 0.25, limit: float = 6.0, until: bytes | None = None) -> bytes:
        """What comes until nothing has come for ``quiet`` seconds (and ``until`` has been seen)."""
        got = b""
        end, last = time.monotonic() + limit, time.monotonic()
        while time.monotonic() < end:
            ready, _, _ = select.select([self.fd], [], [], 0.01)
            if ready:
                try:
                    part = os.read(self.fd, 1 << 16)
                except OSError:
                    break
                if not part:
                    break
                got += part
                last = time.monotonic()
            elif (until is None or until in got) and time.monotonic() - last > quiet:
                break
        self.seen += got
        return got

    def press(self, keys: str, quiet: float = 0.2, until: bytes | None = None) -> bytes:
        """Send keys and give what comes back."""
        os.write(self.fd, keys.encode())
        return self.read(quiet, until=until)

    @property
    def running(self) -> bool:
        try:
            return os.waitpid(self.pid, os.WNOHANG) == (0, 0)
        except ChildProcessError:
            return False


@contextmanager
def terminal(script: str, size: tuple[int, int] = (120, 40), **environment: str) -> Iterator[Terminal]:
    """Run a Python script, with the fakes at hand, in a terminal of a size."""
    pid, fd = pty.fork()
    if pid == 0:
        fcntl.ioctl(1, termios.TIOCSWINSZ, struct.pack("HHHH", size[1], size[0], 0, 0))
        os.environ |= {
            "TERM": "xterm-256color",
            "COLORTERM": "truecolor",
            "PYTHONPATH": f"{ROOT}:{HERE}",
            **environment,
        }
        os.execv(sys.executable, [sys.executable, "-c", script])
    opened = Terminal(pid, fd)
    try:
        yield opened
    finally:
        if opened.running:
            os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)
        os.close(fd)


OURS = re.compile(
    rb"""\x1b\[[0-9;:?<>=]*[ -/]*[@-~]      # CSI: colours, places, modes
    | \x1b\]22;[a-z-]*(?:\x1b\\|\x07)         # the pointer's shape
    | \x1b[()][AB0] | \x1b[=>78cM]            # character sets, keypad
    | \x1bP=[12]s\x1b\\ | \x1bPtmux;[^\x1b]*  # synchronised updates of old terminals
    """,
    re.VERBOSE,
)
"""The sequences a program like this one sends itself."""

_STRAY = re.compile("[\x00-\x09\x0b\x0c\x0e-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]")


def stray(data: bytes) -> set[str]:
    """Whatever a terminal would obey beyond the sequences of the program itself, and what hides or turns text."""
    text = OURS.sub(b"", data).decode("utf-8", "replace")
    bad = {
        "\u061c",
        *map(chr, (*range(0x200E, 0x2010), *range(0x202A, 0x202F), *range(0x2066, 0x206A), 0x2028, 0x2029)),
    }
    return {
        f"U+{ord(sign):04X}"
        for sign in text
        if (sign < " " and sign not in "\r\n") or "\x7f" <= sign <= "\x9f" or sign in bad
    }


def plain(data: bytes) -> str:
    """What was sent as text, without any sequence."""
    return OURS.sub(b" ", data).decode("utf-8", "replace")
