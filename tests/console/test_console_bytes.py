"""What a key costs on the wire, and in which thread the store is read: figures that do not depend on the machine."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from console_terminal import Terminal, plain, terminal

SCRIPT = """
from console_fakes import *
from console.app import AffidavitApp
world = World({sessions}, {events})
AffidavitApp(world.open, services=FakeServices(world), now=lambda: NOW, theme={theme!r}).open()
"""

KILO = 1024
SIZES = [(80, 24), (120, 40), (200, 60)]


def opened(
    size: tuple[int, int], sessions: int = 1_000_000, events: int = 320, theme: str = "dark"
) -> Iterator[Terminal]:
    with terminal(SCRIPT.format(sessions=sessions, events=events, theme=theme), size=size) as it:
        it.read(until=b"sessions")
        yield it


def settled(it: Terminal) -> None:
    """Wait until the console has drawn what comes late: counts, and whether the store was checked."""
    if b"hidden by filter" not in it.seen:
        it.read(limit=20, until=b"hidden by filter")
    for _ in range(20):
        if it.read(0.5, limit=0.8) == b"":
            return


@pytest.mark.parametrize("size", SIZES)
def test_moving_the_cursor_of_a_list_of_a_million_costs_a_kilobyte(size: tuple[int, int]) -> None:
    for it in opened(size):
        sent = [it.press("j", 0.3) for _ in range(8)]
        costs = [len(one) for one in sent]
        # Two whole rows change their ground: past 120 columns the cells alone are half a kilobyte.
        most = KILO if size[0] <= 120 else KILO * 5 // 4
        assert all(0 < cost <= most for cost in costs), costs
        assert "1 of 1 000 000 sessions" in plain(it.seen)
        last = plain(sent[-1])
        assert "9" in last
        assert "sessions" not in last, "of the status line only the number is sent again"


def test_a_page_of_a_list_costs_no_more_than_its_screen() -> None:
    for it in opened((120, 40)):
        costs = [len(it.press("\x04", 0.1)) for _ in range(4)]
        assert all(cost <= 15 * KILO for cost in costs), costs


@pytest.mark.parametrize("size", SIZES)
def test_moving_in_a_timeline_costs_a_kilobyte_and_eight_once_the_detail_has_settled(size: tuple[int, int]) -> None:
    for it in opened(size):
        it.press("\r", 0.3, until=b"turn 1")
        settled = [len(it.press("j", 0.3)) for _ in range(6)]
        assert all(0 < cost <= 8 * KILO for cost in settled), settled
        # Keys that come faster than the detail follows: two lines of the list each, one detail at the end.
        held = len(it.press("jjjj", 0.3))
        assert held <= 4 * KILO + 8 * KILO, held


def test_nothing_is_sent_while_nothing_happens() -> None:
    for it in opened((120, 40)):
        settled(it)
        # What was still to be drawn on a busy machine may come late, but not again and again.
        assert any(it.read(0.6, limit=0.8) == b"" for _ in range(5))


def test_a_key_that_does_nothing_sends_nothing() -> None:
    for it in opened((120, 40)):
        settled(it)
        assert any(it.press("k", 0.15) == b"" for _ in range(5))


def test_no_colour_is_sent_where_none_is_wanted() -> None:
    with terminal(SCRIPT.format(sessions=9, events=64, theme="dark"), NO_COLOR="1") as it:
        it.read(until=b"sessions")
        it.press("j\r", 0.3)
        it.press("?", 0.2)
        colours = [code for code in _codes(it.seen) if code in COLOURS]
        assert colours == []


def test_the_terminals_own_sixteen_colours_are_used_in_its_themes() -> None:
    for theme in ("ansi-dark", "ansi-light"):
        for it in opened((120, 40), sessions=9, theme=theme):
            it.press("\r", 0.3)
            assert b"38;2;" not in it.seen
            assert b"48;2;" not in it.seen


COLOURS = {*map(str, (*range(30, 39), *range(40, 49), *range(90, 98), *range(100, 108)))}


def _codes(data: bytes) -> list[str]:
    import re

    return [code for found in re.findall(rb"\x1b\[([0-9;]*)m", data) for code in found.decode().split(";")]
