"""Hostile text in every field and every widget: nothing of it reaches a terminal as a command, none of it is markup.

The console runs in a real pty, on an archive whose every word from outside is hostile, and is led through every
view, panel and prompt. What it sends is then searched for control bytes that are not its own.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from console_terminal import Terminal, plain, stray, terminal

HOSTILE = (
    "\x1b[?1049h\x1b[2J\x1b[?1000h took the screen",
    "\x1b]52;c;aGFja2Vk\x07 set the clipboard",
    "\x9d52;c;aGs=\x9c C1 clipboard",
    "\x9b31mC1 red",
    "\x1b]0;title\x07 \x1b]8;;http://example.com\x1b\\link\x1b]8;;\x1b\\",
    "\x1bP+q544e\x1b\\ \x1b_apc\x1b\\ \x1b^pm\x1b\\",
    "abc\u202ecba \u2066turned\u2069 \u200fmark",
    "nul \x00 del \x7f bell \x07 back \x08 tab \t vt \x0b ff \x0c cr \r so \x0e",
    "lines\u2028and\u2029paragraphs\x85next",
    "zero\u200bwidth \ufeff \U000e0041\U000e0042 tags \ue000 private \ufff9",
    "[/bad] [@click=app.quit]x[/] [b]bold[/b] z [b + x [tag=value: [$primary]y [ @click=x]",
    "{'a':[true,false]} \\[escaped] [link=http://example.com]l[/link]",
    "a" + "\u0301" * 60 + " zalgo",
    "é 中 🙂 👨‍👩‍👧 بيت می‌خواهم clean",
    "\u0600" + "\u034f" * 20,
    "half \ud800 pair \udfff",
)

SCRIPT = """
from console_fakes import *
from dataclasses import replace
import sys
sys.path.insert(0, {here!r})
from test_pty_hostile import HOSTILE
from console.app import AffidavitApp
from console.services import Found, VerifyFailure

class Hostile(World):
    def word(self, number):
        return HOSTILE[number % len(HOSTILE)]
    def session(self, number):
        w = self.word
        return replace(World.session(self, number), title=w(number), project=w(number + 1), cwd=w(number + 2),
            git_branch=w(number + 3), version=w(number + 4), models=(w(number + 5), w(number + 6)), agent=w(number + 7),
            native=w(number + 8))
    def event(self, session, number):
        w = self.word
        row = World.event(self, session, number)
        self.texts[row.key] = "\\n".join(HOSTILE) if number % 3 == 0 else w(number) * 200
        self.raws[row.key] = "\\n".join(HOSTILE).encode("utf-8", "surrogatepass") + bytes(range(256))
        return replace(row, summary=w(number) + " " + w(number + 1), tool=w(number), model=w(number + 2),
            flags=(w(number + 3),) if number % 4 == 0 else ())

class Archive(FakeArchive):
    def lanes(self, session):
        w = self.world.word
        return [replace(row, title=w(row.lane), name=w(row.lane + 1)) for row in super().lanes(session)]
    def turns(self, session):
        return [replace(turn, summary=self.world.word(turn.turn)) for turn in super().turns(session)]
    def detail(self, key):
        found = super().detail(key)
        w = self.world.word
        return replace(found, refs=tuple(HOSTILE), recorded_at=w(key), source=replace(found.source, file=w(key + 1)))
    def facet(self, name):
        return [(word, 3) for word in HOSTILE]
    def search(self, text, **rest):
        rows = []
        for number in range(60):
            event, row = self.world.event(0, number), self.world.session(0)
            said, at = self.world.word(number), event.at
            rows.append(Hit(event.key, event.id, row.uid, row.title, said, at, said, ((0, 3), (5, 9))))
        return Page(tuple(rows), None, None)
    def entry(self, idx):
        return "\\n".join(HOSTILE).encode("utf-8", "surrogatepass")

world = Hostile(20, 64)
world.open = lambda: Archive(world)
services = FakeServices(world)
services.found = [Found(word, word, 3, 900) for word in HOSTILE[:6]]
services.result = replace(services.result, holds=False, level=HOSTILE[3],
    checked={{word: 3 for word in HOSTILE}}, failures=[VerifyFailure(word, word, word) for word in HOSTILE])
{more}
app = AffidavitApp(world.open, services=services, now=lambda: NOW{options})
app.open()
if app.crash:
    import traceback
    traceback.print_exception(app.crash)
    print("CRASHED")
else:
    print("ENDED WELL")
"""

HERE = str(Path(__file__).parent)


def lead(it: Terminal, steps: str) -> None:
    """Press the keys of each word in turn, waiting for what they bring."""
    it.read(until=b"Sessions")
    for step in steps.split():
        it.press(step.replace("ESC", "\x1b").replace("RET", "\r").replace("TAB", "\t").replace("DEL", "\x7f"), 0.07)


def check(it: Terminal) -> None:
    lead_out = it.press("\x1b", 0.15) + it.press("q", 0.3)
    if b"ENDED WELL" not in it.seen and b"CRASHED" not in it.seen:
        lead_out += it.read(limit=20, until=b"ENDED WELL")
    assert "CRASHED" not in plain(it.seen), plain(lead_out)[-3000:]
    assert "ENDED WELL" in plain(it.seen), plain(lead_out)[-2000:]
    assert stray(it.seen) == set()
    assert not re.search(rb"\x1b\](?:0|8|52);", it.seen)


TOURS = {
    "sessions": "j j j G g f ESC s ESC / [/bad] RET ESC y RET o space T M T i ESC",
    "timeline": "RET j j j ] } z z t t t r j r j r RET j TAB ESC G g / [b] RET n ESC f ESC y ESC y RET T T T M",
    "search": "6 [/bad] RET j j RET n n DEL f ESC y ESC",
    "verify": "5 r j j RET / [ RET ESC y RET y ESC",
    "panels": "? [/ ESC ctrl : session/[/bad] RET : entry/3 RET r j G DEL : payload/ab RET",
}


@pytest.mark.parametrize("tour", TOURS)
def test_nothing_hostile_reaches_the_terminal(tour: str) -> None:
    script = SCRIPT.format(here=HERE, more="", options="")
    with terminal(script, PAGER="cat") as it:
        lead(it, TOURS[tour].replace("ctrl", "\x10"))
        check(it)


def test_nothing_hostile_in_errors_reaches_the_terminal() -> None:
    more = "world.error = OSError(''.join(HOSTILE))"
    with terminal(SCRIPT.format(here=HERE, more=more, options="")) as it:
        lead(it, "y ESC 6 abc RET ESC 5 r")
        assert "could not be read" in plain(it.seen)
        check(it)


def test_nothing_hostile_in_a_first_run_or_a_failing_import_reaches_the_terminal() -> None:
    more = "world.sessions = 0; services.error = ValueError(''.join(HOSTILE))"
    with terminal(SCRIPT.format(here=HERE, more=more, options="")) as it:
        lead(it, "j j k i RET y RET ESC")
        assert "Welcome" in plain(it.seen)
        check(it)


@pytest.mark.parametrize("theme", ["light", "contrast", "ansi-dark", "ansi-light"])
def test_nothing_hostile_reaches_the_terminal_in_any_theme(theme: str) -> None:
    with terminal(SCRIPT.format(here=HERE, more="", options=f", theme={theme!r}"), size=(80, 24)) as it:
        lead(it, "RET j j r")
        check(it)


def test_clean_text_of_every_script_stands_whole() -> None:
    with terminal(SCRIPT.format(here=HERE, more="world.word = lambda n: HOSTILE[13]", options="")) as it:
        lead(it, "RET j")
        shown = plain(it.seen)
        for word in ("é", "中", "🙂", "👨‍👩‍👧", "بيت", "می‌خواهم"):
            assert word in shown, word
        check(it)


def test_data_is_never_markup() -> None:
    with terminal(SCRIPT.format(here=HERE, more="world.word = lambda n: HOSTILE[10]", options="")) as it:
        lead(it, "RET j")
        assert "[@click=app.quit]x[/]" in plain(it.seen)
        check(it)


def test_the_search_for_stray_bytes_finds_them() -> None:
    found = set().union(*(stray(word.encode("utf-8", "replace")) for word in HOSTILE[:10]))
    assert {"U+001B", "U+009B", "U+202E", "U+0000", "U+007F", "U+2028"} <= found
    assert stray(b"\x1b[38;2;1;2;3mplain\x1b[0m\r\n") == set()
    assert re.search("plain", plain(b"\x1b[1mplain"))
