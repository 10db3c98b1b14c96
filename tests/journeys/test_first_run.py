"""The first run: from an empty store to sessions on the screen, without leaving the console."""

from __future__ import annotations

import sys

import pytest

from tests.console.cli_runner import own
from tests.journeys.driving import InTerminal

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="needs a POSIX terminal")


@pytest.fixture
def console() -> InTerminal:
    """The console on a store that is not there yet, with its first screen drawn."""
    console = InTerminal(TERM="xterm-256color")
    console.until(lambda text: "import another" in text and "usual places" in text)
    return console


def test_a_file_is_imported_from_the_first_screen_and_its_session_appears(console, tmp_path):
    log = tmp_path / "first.jsonl"
    log.write_bytes(own("first", id="1", text="hello", title="Landmark"))
    console.type("\r")
    console.until(lambda text: "file or folder with sessions" in text)
    console.type(f"{log}\r")
    console.until(lambda text: "Landmark" in text)
    console.type("q")
    assert console.end() == 0


def test_the_demo_opens_from_the_first_screen(console):
    console.type("j\r")
    console.until(lambda text: "Make the role test green" in text)
    console.type("q")
    assert console.end() == 0
