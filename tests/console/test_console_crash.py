"""When the console itself fails, the terminal is given back and nothing that a session said is printed."""

from __future__ import annotations

from console_terminal import plain, terminal

SCRIPT = """
from console_fakes import *
from console.app import AffidavitApp
from console.screens.sessions.screen import SessionsView
from console.widgets.virtual_list import VirtualList

def broken(self):
    a_secret_local = "what the session said"
    raise ValueError("[/bad] failed \\x1b]52;c;aGk=\\x07")

{place} = broken
app = AffidavitApp(World().open, services=FakeServices(), now=lambda: NOW)
app.open()
print("CRASH", type(app.crash).__name__)
"""


def test_a_failing_action_ends_the_console_and_is_handed_to_the_caller() -> None:
    with terminal(SCRIPT.format(place="SessionsView.do_open")) as it:
        it.read(until=b"sessions")
        it.press("\r", 0.5, until=b"CRASH")
        shown = plain(it.seen)
        assert "CRASH ValueError" in shown
        assert "a_secret_local" not in shown
        assert "what the session said" not in shown
        assert "Traceback" not in shown
        assert b"\x1b]52;" not in it.seen
        assert b"\x1b[?1049l" in it.seen


def test_a_failing_widget_ends_it_the_same_way() -> None:
    with terminal(SCRIPT.format(place="VirtualList.on_resize")) as it:
        it.read(until=b"CRASH ValueError")
        shown = plain(it.seen)
        assert "CRASH ValueError" in shown
        assert "a_secret_local" not in shown
