"""Copying out of a terminal, in the first way that this machine offers, and saying which way that was.

A program in a terminal cannot see the clipboard. Each way below says only what is known after trying it, so a
person is never told that something arrived when nobody can know.
"""

from __future__ import annotations

import base64
import os
import subprocess
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from affidavit.text.display import display_block

Way = Literal["command", "tmux", "osc52", "file", "none"]

LONGEST_SEQUENCE = 74_994
"""Bytes of text that OSC 52 may carry: 100,000 bytes once in base64 and wrapped, which is what xterm and tmux take."""

PATIENCE = 2.0
"""Seconds a copying program may run."""

_WITHOUT_OSC52 = {"dumb", "linux", "emacs", "eterm", "eterm-color", "cons25", "vt52", "vt100"}
_PROGRAMS_WITHOUT_OSC52 = {"Apple_Terminal"}

Run = Callable[[Sequence[str], bytes], int]
"""Runs a program with bytes on its standard input and gives its exit code; raises ``OSError`` if it cannot."""


@dataclass(frozen=True, slots=True)
class CopyResult:
    """How a text was copied. ``way`` ``none``: nowhere. ``note`` says to a person what is known of it."""

    way: Way
    note: str
    path: str | None = None


def copy(
    text: str,
    *,
    folder: Path,
    command: Sequence[str] | None = None,
    terminal: Callable[[str], object] | None = None,
    environment: Mapping[str, str] = os.environ,
    run: Run | None = None,
) -> CopyResult:
    """Copies ``text`` and says which way it took: the configured command, tmux, the terminal (OSC 52), a file.

    What is copied is the text as it may be shown: hidden and controlling characters as visible marks. ``terminal``
    writes to the terminal (``None``: there is none to write to); ``folder`` is where a file may be left.
    """
    run = run if run is not None else _run
    shown = display_block(text)
    data = shown.encode("utf-8", "replace")
    told: list[str] = [] if shown == text else ["hidden characters are marks in the copy"]
    if command:
        failure = _try(run, command, data)
        if failure is None:
            return _result("command", f"given to {display_block(command[0])}, which took it", told)
        told.append(f"{display_block(command[0])} {failure}")
    if environment.get("TMUX"):
        if _try(run, ("tmux", "load-buffer", "-w", "-"), data) is None:
            return _result("tmux", "in tmux's buffer, and offered by tmux to the terminal's clipboard", told)
        failure = _try(run, ("tmux", "load-buffer", "-"), data)
        if failure is None:
            return _result("tmux", "in tmux's buffer; this tmux cannot pass it on to the clipboard", told)
        told.append(f"tmux {failure}")
    elif terminal is not None and (reason := why_not_osc52(environment)) is None:
        if len(data) <= LONGEST_SEQUENCE:
            terminal(osc52(data))
            return _result("osc52", "sent to the terminal, which does not say whether it took it", told)
        told.append("it is too long for the terminal's clipboard")
    elif terminal is not None and reason:
        told.append(reason)
    return _to_file(data, folder, told)


def likely_way(
    command: Sequence[str] | None, *, tty: bool, environment: Mapping[str, str] = os.environ
) -> tuple[Way, str]:
    """The way a copy would first be tried here, and why: for a report on what this machine offers."""
    if command:
        return "command", "the settings file names " + display_block(command[0])
    if environment.get("TMUX"):
        return "tmux", "inside tmux"
    if not tty:
        return "file", "no terminal"
    reason = why_not_osc52(environment)
    return ("osc52", "the terminal's own clipboard") if reason is None else ("file", reason)


def why_not_osc52(environment: Mapping[str, str]) -> str | None:
    """Why the terminal is known not to take OSC 52; ``None``: it may."""
    term = environment.get("TERM", "")
    if environment.get("STY") or (term.startswith("screen") and not environment.get("TMUX")):
        return "screen does not pass copies on"
    if environment.get("TERM_PROGRAM") in _PROGRAMS_WITHOUT_OSC52:
        return "macOS Terminal has no such clipboard"
    if not term or term in _WITHOUT_OSC52:
        return "this terminal has no clipboard"
    return None


def osc52(data: bytes) -> str:
    """The sequence that asks a terminal to put ``data`` on its clipboard (xterm: Manipulate Selection Data)."""
    return "\x1b]52;c;" + base64.b64encode(data).decode("ascii") + "\x07"


def _run(words: Sequence[str], data: bytes) -> int:
    # A program such as xclip stays behind to serve the selection: it must not hold our output open.
    done = subprocess.run(
        list(words), input=data, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=PATIENCE, check=False
    )
    return done.returncode


def _try(run: Run, words: Sequence[str], data: bytes) -> str | None:
    """``None`` if the program took it, else what went wrong."""
    try:
        code = run(words, data)
    except subprocess.TimeoutExpired:
        return f"did not finish within {PATIENCE:.0f} s"
    except FileNotFoundError:
        return "was not found"
    except (OSError, ValueError):
        return "could not be started"
    return None if code == 0 else f"failed with code {code}"


def _to_file(data: bytes, folder: Path, told: list[str]) -> CopyResult:
    """Leaves the text in one file that only its owner can read; the next copy replaces it."""
    path = folder / "copied.txt"
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        handle, temporary = tempfile.mkstemp(prefix="copied-", dir=folder)
        with os.fdopen(handle, "wb") as stream:
            stream.write(data)
        os.replace(temporary, path)
    except OSError as error:
        return _result("none", f"not copied: no file could be written in {folder} ({error.strerror})", told)
    return _result("file", f"written to {path}", told, str(path))


def _result(way: Way, note: str, told: list[str], path: str | None = None) -> CopyResult:
    return CopyResult(way, display_block("; ".join((note, *told))), path)
