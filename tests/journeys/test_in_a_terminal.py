"""In a terminal: the console opens where it is told to, and nothing that a log says ever reaches the terminal raw."""

from __future__ import annotations

import re
import sys

import pytest

from tests.console.cli_runner import own
from tests.journeys.driving import InTerminal, affidavit

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="needs a POSIX terminal")

HOSTILE = "\x1b]52;c;aGk=\x07\x1b[?1049h\x9b31m\u202eabc\x1b]0;owned\x07[@click=app.quit]x[/]"
INTRODUCERS = re.compile("[\x07\x1b\x9b\x9d\u202e]")


@pytest.fixture
def address() -> str:
    """The address of an event of a hostile session in the store."""
    assert affidavit("record", stdin=own("trap", id="1", text=HOSTILE + " landmark", title=HOSTILE)).code == 0
    return str(affidavit("show", "session/trap", "--json").json["events"][0]["address"])


def test_the_console_opens_right_at_an_address_and_leaves_on_q(address):
    console = InTerminal(address, TERM="xterm-256color")
    drawn = console.until(lambda text: "landmark" in text)
    assert "\x1b]52" not in drawn
    assert "\x1b]0;owned" not in drawn
    assert "\x9b31m" not in drawn
    console.type("q")
    assert console.end() == 0


@pytest.mark.parametrize(("words", "taken"), [((), True), (("--no-mouse",), False)])
def test_the_mouse_is_taken_unless_it_is_left_to_the_terminal(address, words, taken):
    console = InTerminal(*words, address, TERM="xterm-256color")
    drawn = console.until(lambda text: "landmark" in text)
    assert ("\x1b[?1000h" in drawn) == taken
    console.type("q")
    assert console.end() == 0


def test_a_terminal_that_cannot_draw_is_told_the_plain_command(address):
    plain = InTerminal(address, TERM="dumb")
    assert plain.end() == 2
    assert f"affidavit show '{address}' prints the same" in plain.text
    assert not INTRODUCERS.search(plain.text)


@pytest.mark.parametrize("words", [(), ("--raw",), ("--json",)])
def test_plain_output_on_a_terminal_holds_no_introducer(address, words):
    printed = InTerminal("show", address, *words, TERM="xterm-256color")
    assert printed.end() == 0
    assert "landmark" in printed.text
    assert not INTRODUCERS.search(printed.text)
    if "--raw" in words:
        assert "redirect to a file" in printed.text


def test_lists_fit_the_terminal(address):
    assert address
    listed = InTerminal("sessions", columns=60, TERM="xterm-256color")
    assert listed.end() == 0
    lines = listed.text.replace("\r", "").split("\n")
    assert max(len(line) for line in lines) <= 60
    assert "…" in listed.text


def test_an_import_shows_how_far_it_is_and_cleans_up_behind_itself(tmp_path):
    log = tmp_path / "large.jsonl"
    log.write_bytes(b"".join(own("s", id=str(n), text="word " * 60) for n in range(8_000)))
    running = InTerminal("import", str(log), TERM="xterm-256color")
    assert running.end() == 0
    assert re.search(r"\d+% of \d", running.text)
    assert running.text.rindex("\x1b[K") < running.text.index("imported")


@pytest.mark.parametrize("command", ["import", "verify", "rebuild"])
def test_ctrl_c_stops_long_work_with_a_word_and_no_traceback(command, tmp_path):
    log = tmp_path / "large.jsonl"
    log.write_bytes(b"".join(own("s", id=str(n), text="word " * 200) for n in range(20_000)))
    words = [command]
    if command == "import":
        words.append(str(log))
    else:
        assert affidavit("import", str(log)).code == 0
    running = InTerminal(*words, TERM="xterm-256color")
    running.until(lambda text: "%" in text)
    running.type("\x03")
    assert running.end() == 130
    assert "interrupted" in running.text
    assert "Traceback" not in running.text
