"""Drives the installed command as a person or a script would: as a process of its own, in a terminal where need be."""

from __future__ import annotations

import json
import os
import select
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent.parent
COMMAND = (sys.executable, "-m", "console.main")
PATIENCE = 60.0
"""Seconds a command may take before a test gives up on it."""


@dataclass(frozen=True)
class Done:
    """What a command gave."""

    code: int
    raw: bytes
    err: str

    @property
    def out(self) -> str:
        return self.raw.decode("utf-8")

    @property
    def json(self) -> Any:
        return json.loads(self.raw)


def affidavit(*words: str, stdin: bytes = b"", **environment: str) -> Done:
    """Runs one command to its end."""
    done = subprocess.run(
        [*COMMAND, *words],
        input=stdin,
        capture_output=True,
        cwd=ROOT,
        env={**os.environ, **environment},
        timeout=PATIENCE,
        check=False,
    )
    err = done.stderr.decode("utf-8", "replace")
    assert "Traceback" not in err, err
    return Done(done.returncode, done.stdout, err)


class Started:
    """A command that is still running."""

    def __init__(self, *words: str, **environment: str) -> None:
        self.process = subprocess.Popen(
            [*COMMAND, *words],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd=ROOT,
            env={**os.environ, **environment},
        )

    def interrupt(self) -> None:
        """What ctrl+c does."""
        self.process.send_signal(signal.SIGINT)

    def end(self) -> Done:
        """Waits for its end."""
        out, err = self.process.communicate(timeout=PATIENCE)
        return Done(self.process.returncode, out, err.decode("utf-8", "replace"))


class InTerminal:
    """A command in a terminal of its own; what it draws is kept as bytes."""

    def __init__(self, *words: str, columns: int = 120, rows: int = 40, **environment: str) -> None:
        import fcntl
        import pty
        import struct
        import termios

        self._master, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
        env = {name: value for name, value in os.environ.items() if name not in ("COLUMNS", "LINES")}
        self._process = subprocess.Popen(
            [*COMMAND, *words],
            stdin=slave,
            stdout=slave,
            stderr=slave,
            cwd=ROOT,
            env={**env, **environment},
            start_new_session=True,
            preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0),
        )
        os.close(slave)
        self.drawn = b""

    def until(self, seen: Callable[[str], bool]) -> str:
        """Reads until something is on the screen, and gives all that was drawn."""
        end = time.monotonic() + PATIENCE
        while not seen(self.text):
            assert time.monotonic() < end, f"not seen; drawn so far: {self.text[-2000:]!r}"
            if not self._read(0.2):
                break
        assert seen(self.text), f"it ended; drawn: {self.text[-2000:]!r}"
        return self.text

    def type(self, keys: str) -> None:
        """Types keys."""
        os.write(self._master, keys.encode())

    def end(self) -> int:
        """Waits for its end and gives its exit code."""
        end = time.monotonic() + PATIENCE
        while self._read(0.2):
            assert time.monotonic() < end, "it does not end"
        code = self._process.wait(PATIENCE)
        os.close(self._master)
        return code

    @property
    def text(self) -> str:
        return self.drawn.decode("utf-8", "replace")

    def _read(self, wait: float) -> bool:
        """Whether there may be more to come."""
        ready, _, _ = select.select([self._master], [], [], wait)
        if not ready:
            return self._process.poll() is None
        try:
            part = os.read(self._master, 65_536)
        except OSError:
            return False
        self.drawn += part
        return bool(part)
