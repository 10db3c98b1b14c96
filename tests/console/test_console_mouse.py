"""The mouse does what the keys do: rows, headings, words of the chrome, wheel; and it can be left to the terminal."""

from __future__ import annotations

import pytest
from console_driver import stage
from console_fakes import World


async def test_a_click_chooses_a_row_and_only_a_double_click_opens_it() -> None:
    async with stage() as it:
        await it.play("""
            click   8 30
            row     yest. 06:02
            click   8 30
            top     2 Sessions
            row     yest. 06:02
            double  6 30
            top     Sessions ▸ Why is the invoice total wrong
        """)


async def test_the_wheel_scrolls_by_rows_and_takes_the_cursor_along() -> None:
    async with stage(World(sessions=200)) as it:
        rows = it.app.view.main_list
        await it.play("wheel down 12 30")
        assert (rows.top, rows.cursor) == (3, 3)
        await it.play("wheel down 12 30\nwheel up 12 30\nwheel up 12 30")
        assert (rows.top, rows.cursor) == (0, 6)


async def test_the_wheel_scrolls_the_event_beside_the_list() -> None:
    world = World()
    world.texts[0] = "\n".join(f"line {number}" for number in range(200))
    async with stage(world) as it:
        await it.play("press enter\nsee line 3")
        before = it.app.view.pane.fraction
        await it.play("wheel down 20 100")
        assert it.app.view.pane.fraction > before
        assert it.app.view.main_list.cursor == 0


@pytest.mark.parametrize(
    ("heading", "first"), [("title", "Bump the parser to v4"), ("tokens", "tokens"), ("events", "events")]
)
async def test_a_click_on_a_heading_sorts_by_it_and_a_second_one_turns_it_round(heading: str, first: str) -> None:
    async with stage() as it:
        await it.play(f"on {heading}\nsee {heading}{'↑' if heading == 'title' else '↓'}")
        assert first in it.frame
        await it.play(f"on {heading}\nsee {heading}{'↓' if heading == 'title' else '↑'}")


async def test_a_heading_no_order_belongs_to_does_nothing() -> None:
    async with stage() as it:
        await it.play("on project              title\nsee started↓")


async def test_words_of_the_chrome_are_clicked_like_their_keys() -> None:
    async with stage() as it:
        await it.play("""
            on      ? keys
            see     What works in Sessions
            press   escape
            on      / filter
            keys    enter keep
            press   escape
            on      Search
            top     6 Search
            on      Sessions
            row     Fix the failing role test
            on      enter open
            top     Sessions ▸ Fix the failing role test
            on      } problem
            row     ✗ failed
            on      backspace back
            top     2 Sessions
        """)


async def test_what_a_notice_offers_can_be_clicked() -> None:
    async with stage() as it:
        await it.play("""
            press   slash
            type    nothing at all
            press   enter
            see     No session fits
            on      take the filter away
            status  0 hidden
            row     Fix the failing role test
        """)


async def test_a_choice_is_clicked_and_a_click_beside_the_panel_leaves_it() -> None:
    async with stage() as it:
        await it.play("""
            press   s
            on      by title
            see     title↑
            press   s
            see     Put the sessions in order
            click   38 1
            gone    Put the sessions in order
        """)


async def test_a_double_click_on_a_choice_chooses_once() -> None:
    async with stage() as it:
        await it.play("press s\nsee by title")
        y = next(y for y, line in enumerate(it.lines) if "by title" in line)
        await it.play(f"double {y} 30\nsee title↑\nrow Bump the parser")
