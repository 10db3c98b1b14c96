"""Runs a terminal program in a pseudo-terminal: sends keys, times what comes back, counts its bytes.

As a command it checks that a program starts, shows a text, and ends when it is told to:

    python -m benchmarks.terminal --expect TEXT [--then KEYS] -- COMMAND…
"""

from __future__ import annotations

import argparse
import fcntl
import os
import pty
import re
import signal
import struct
import subprocess
import sys
import termios
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

ESCAPES = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|[\]P^_X][^\x07\x1b]*(?:\x07|\x1b\\)|[ -/]*[0-~])")
"""ECMA-48 control sequences and control strings, and two-character escapes."""

ASKS_SYNC = b"\x1b[?2026$p"
HAS_SYNC = b"\x1b[?2026;2$y"
"""The question whether synchronised output is supported, and the answer a current terminal gives."""


class Ended(Exception):
    """The program ended, or the text did not come in time. Holds what was on the screen last."""


@dataclass(frozen=True)
class Burst:
    """What one key brought: seconds to the first byte and to the last of the first repaint, and bytes.

    ``first``: bytes of the first repaint; ``later``: of everything until the screen was at rest.
    """

    delay: float
    done: float
    first: int
    later: int


class Terminal:
    """A program in a pseudo-terminal of its own. Close it when done; it is a context manager."""

    def __init__(
        self, command: Sequence[str], *, size: tuple[int, int] = (120, 40), environment: Mapping[str, str] | None = None
    ) -> None:
        merged = {**os.environ, "TERM": "xterm-256color", "COLORTERM": "truecolor", **(environment or {})}
        for name in ("NO_COLOR", "COLUMNS", "LINES", "TMUX"):
            merged.pop(name, None)
        self.started = time.perf_counter()
        self.pid, self.fd = pty.fork()
        if self.pid == 0:  # pragma: no cover - the child is another program at once
            try:
                os.execvpe(command[0], list(command), merged)
            finally:
                os._exit(127)
        fcntl.ioctl(self.fd, termios.TIOCSWINSZ, struct.pack("HHHH", size[1], size[0], 0, 0))
        self.chunks: list[tuple[float, bytes]] = []
        self.code: int | None = None
        self.changed = threading.Condition()
        self.reader = threading.Thread(target=self._read, daemon=True)
        self.reader.start()

    def __enter__(self) -> Terminal:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _read(self) -> None:
        while True:
            try:
                data = os.read(self.fd, 65536)
            except OSError:
                data = b""
            now = time.perf_counter()
            with self.changed:
                if data:
                    self.chunks.append((now, data))
                else:
                    self.code = os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])
                self.changed.notify_all()
            if not data:
                return
            if ASKS_SYNC in data:
                os.write(self.fd, HAS_SYNC)

    def send(self, keys: bytes) -> float:
        """Types; gives the moment it was done."""
        now = time.perf_counter()
        os.write(self.fd, keys)
        return now

    def shown(self) -> str:
        """Everything written so far without its control sequences: words, not places."""
        data = b"".join(chunk for _, chunk in self.chunks)
        return ESCAPES.sub("", data.decode("utf-8", "replace"))

    def expect(self, text: str, timeout: float = 60.0) -> float:
        """Waits until ``text`` was written; gives seconds since the start. Raises :class:`Ended`."""
        until = time.perf_counter() + timeout
        with self.changed:
            while True:
                if text in self.shown():
                    return self.chunks[-1][0] - self.started
                left = until - time.perf_counter()
                if self.code is not None or left <= 0:
                    why = f"ended with {self.code}" if self.code is not None else f"not shown within {timeout:.0f} s"
                    raise Ended(f"{text!r}: {why}; last on the screen: {self.shown()[-600:]!r}")
                self.changed.wait(left)

    def rest(self, quiet: float = 0.25, timeout: float = 10.0) -> None:
        """Waits until nothing was written for ``quiet`` seconds."""
        until = time.perf_counter() + timeout
        with self.changed:
            while time.perf_counter() < until and self.code is None:
                last = self.chunks[-1][0] if self.chunks else self.started
                wait = last + quiet - time.perf_counter()
                if wait <= 0:
                    return
                self.changed.wait(wait)

    def press(self, keys: bytes, *, gap: float = 0.012, quiet: float = 0.25) -> Burst:
        """Types and waits for rest. A pause longer than ``gap`` ends the first repaint."""
        before = len(self.chunks)
        at = self.send(keys)
        with self.changed:
            self.changed.wait_for(lambda: len(self.chunks) > before or self.code is not None, 2.0)
        self.rest(quiet)
        chunks = self.chunks[before:]
        if not chunks:
            return Burst(float("inf"), float("inf"), 0, 0)
        first, done = len(chunks[0][1]), chunks[0][0]
        rest = chunks[1:]
        while rest and rest[0][0] - done <= gap:
            done, first = rest[0][0], first + len(rest[0][1])
            rest = rest[1:]
        return Burst(chunks[0][0] - at, done - at, first, sum(len(data) for _, data in rest))

    def memory(self) -> int:
        """Bytes of the program resident in memory now."""
        listed = subprocess.run(["ps", "-o", "rss=", "-p", str(self.pid)], capture_output=True, text=True, check=True)
        return int(listed.stdout) * 1024

    def wait(self, timeout: float = 10.0) -> int | None:
        """The program's exit code, or ``None`` if it is still running after ``timeout`` seconds."""
        with self.changed:
            self.changed.wait_for(lambda: self.code is not None, timeout)
            return self.code

    def close(self) -> None:
        """Ends the program and its terminal."""
        if self.code is None:
            os.kill(self.pid, signal.SIGTERM)
            if self.wait(3.0) is None:
                os.kill(self.pid, signal.SIGKILL)
                self.wait(3.0)
        self.reader.join(2.0)
        os.close(self.fd)


def main() -> int:
    """Starts a program, expects a text, types, and gives 0 if the program then ends well."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--size", default="120x40")
    parser.add_argument("--expect", required=True)
    parser.add_argument("--then", default="")
    parser.add_argument("command", nargs="+")
    options = parser.parse_args()
    columns, _, rows = options.size.partition("x")
    with Terminal(options.command, size=(int(columns), int(rows))) as terminal:
        try:
            seconds = terminal.expect(options.expect)
        except Ended as problem:
            print(problem, file=sys.stderr)
            return 1
        print(f"{options.expect!r} on the screen after {seconds:.2f} s")
        terminal.rest()
        terminal.send(options.then.encode())
        code = terminal.wait()
    if code != 0:
        print(f"did not end well after {options.then!r}: {code}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
