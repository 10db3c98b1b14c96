"""Handing a text to the person's pager, and coming back whatever the pager did."""

from __future__ import annotations

import os
import shlex
import subprocess
import tempfile
from typing import TYPE_CHECKING

from textual.app import SuspendNotSupported

if TYPE_CHECKING:
    from textual.app import App


def page(app: App[None], text: str) -> str:
    """Show a safe text in ``$PAGER`` (``less`` if unset); returns what went wrong, or nothing.

    The text stands in a file only its owner can read, and only while the pager runs.
    """
    command = os.environ.get("PAGER") or "less"
    try:
        words = shlex.split(command)
    except ValueError:
        return "$PAGER cannot be read as a command"
    if not words:
        return "$PAGER is empty"
    handle, path = tempfile.mkstemp(prefix="affidavit-", suffix=".txt")
    try:
        with os.fdopen(handle, "w", encoding="utf-8", errors="replace") as stream:
            stream.write(text + "\n")
        with app.suspend():
            code = subprocess.run([*words, path], check=False).returncode
    except SuspendNotSupported:
        return "this terminal cannot be handed to a pager"
    except OSError as error:
        return f"the pager could not be started: {error.strerror}"
    finally:
        os.unlink(path)
    return f"the pager ended with code {code}" if code not in (0, 130, -2) else ""
