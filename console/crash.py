"""What happens when the program itself fails: one panel for the person, and a log that holds nobody's text.

The log names the kind of error and where in the code it arose. It holds no message and no values, because those
may quote what a session said; the panel shows the message, through the same boundary as all untrusted text.
"""

from __future__ import annotations

import os
import sys
import traceback
from datetime import UTC, datetime
from pathlib import Path
from typing import TextIO

from affidavit.text.display import display_block
from console.settings import state_folder

LARGEST_LOG = 1_048_576
"""Bytes the log may have; then it is set aside once, and the older one dropped."""


def log_file() -> Path:
    """Where failures are recorded."""
    return state_folder() / "affidavit.log"


def report(error: BaseException, stream: TextIO | None = None) -> None:
    """Records a failure and shows it. Never raises."""
    stream = stream if stream is not None else sys.stderr
    try:
        kept = str(record(error))
    except OSError as problem:
        kept = f"nowhere: the log could not be written ({problem.strerror})"
    try:
        stream.write(panel(error, kept))
        stream.flush()
    except (OSError, ValueError):
        pass


def record(error: BaseException) -> Path:
    """Appends where the error arose to the log and gives its path. Raises ``OSError``."""
    from console.main import version_line

    file = log_file()
    file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    if file.exists() and file.stat().st_size > LARGEST_LOG:
        os.replace(file, file.with_suffix(".log.1"))
    now = datetime.now(UTC).isoformat(timespec="seconds")
    python = ".".join(map(str, sys.version_info[:3]))
    lines = [f"{now} {version_line()}, Python {python}, {sys.platform}: {_kinds(error)}", *_places(error)]
    handle = os.open(file, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
    with os.fdopen(handle, "a", encoding="utf-8", errors="backslashreplace") as stream:
        stream.write("\n  ".join(lines) + "\n")
    return file


def panel(error: BaseException, kept: str) -> str:
    """The words shown to the person, harmless to a terminal."""
    message = str(error).strip()
    if len(message) > 2_000:
        message = message[:2_000] + " …"
    said = f"{type(error).__name__}: {message}" if message else type(error).__name__
    inside = [
        "affidavit failed in a way it should not have. The store is as it was after the last finished step.",
        "",
        *display_block(said).split("\n"),
        "",
        *display_block(f"Where it happened is recorded in {kept}").split("\n"),
    ]
    return "\n".join(["", "── failure " + "─" * 60, *("  " + line if line else "" for line in inside), "─" * 71, ""])


def _kinds(error: BaseException) -> str:
    """Types of the error and of what caused it, outermost first."""
    names: list[str] = []
    cause: BaseException | None = error
    while cause is not None and len(names) < 10:
        names.append(f"{type(cause).__module__}.{type(cause).__qualname__}".removeprefix("builtins."))
        cause = cause.__cause__ or cause.__context__
    return " from ".join(names)


def _places(error: BaseException) -> list[str]:
    """File, line and function of each step to the error, without any line of text or value."""
    frames = traceback.extract_tb(error.__traceback__)
    return [f"{frame.filename}:{frame.lineno} {frame.name}" for frame in frames[-40:]]
