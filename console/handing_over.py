"""Handing a text to the person's pager or editor, and coming back whatever that did."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from textual.app import SuspendNotSupported

if TYPE_CHECKING:
    from textual.app import App

Program = Literal["pager", "editor"]

_NAMED: Mapping[Program, tuple[tuple[str, ...], str]] = {
    "pager": (("PAGER",), "less"),
    "editor": (("VISUAL", "EDITOR"), "vi"),
}
"""Where the command of each is looked for, and which it is if nobody has said."""

ENDED = (0, 130, -2)
"""Codes of a program that ended well, or that the person stopped."""


def hand_over(app: App[None], text: str, program: Program) -> str:
    """Show a safe text in the person's pager or editor; returns what went wrong, or nothing.

    The text is a copy that cannot be written, in a folder only its owner can look into; both are gone afterwards, with
    whatever the program left beside the copy.
    """
    variables, usual = _NAMED[program]
    variable = next((name for name in variables if os.environ.get(name)), "")
    try:
        words = shlex.split(os.environ[variable] if variable else usual)
    except ValueError:
        return f"${variable} cannot be read as a command"
    if not words:
        return f"${variable} is empty"
    folder = tempfile.mkdtemp(prefix="affidavit-")
    try:
        path = Path(folder) / "text.txt"
        with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o400), "wb") as stream:
            stream.write(text.encode("utf-8", "replace") + b"\n")
        with app.suspend():
            code = subprocess.run([*words, str(path)], check=False).returncode
    except SuspendNotSupported:
        return f"this terminal cannot be handed to {_article(program)}"
    except OSError as error:
        return f"the {program} could not be started: {error.strerror}"
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    return f"the {program} ended with code {code}" if code not in ENDED else ""


def _article(program: Program) -> str:
    return "an editor" if program == "editor" else "a pager"
