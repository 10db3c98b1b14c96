"""Themes can be read, and state is never told by colour alone."""

from __future__ import annotations

import pytest
from console_driver import stage

from console.screens.timeline import density
from console.themes import CONTRAST, DARK, LIGHT, LOOKS, PLAIN, Look
from console.widgets.ink import INKS, width

NAMES = ["dark", "light", "contrast"]
READ = [name for name in INKS if name not in ("faint", "off")]
"""Inks of words that must be read; rules, placeholders and what cannot be used may be fainter."""


def contrast(one: str, other: str) -> float:
    """The contrast ratio of WCAG 2.2."""
    light, dark = sorted((luminance(one), luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def luminance(colour: str) -> float:
    """The relative luminance of WCAG 2.2 of a colour as ``#rrggbb``."""
    parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    red, green, blue = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


@pytest.mark.parametrize(
    ("look", "least"), [(DARK, 4.5), (LIGHT, 4.5), (CONTRAST, 7.0)], ids=["dark", "light", "contrast"]
)
def test_every_ink_stands_out_from_every_ground(look: Look, least: float) -> None:
    weak = {}
    for ink in READ:
        for ground in (look.background, look.grounds["band"][0]):
            ratio = contrast(look.inks.get(ink, look.foreground), ground)
            if ratio < (3.0 if ink == "gone" else least):
                weak[ink, ground] = round(ratio, 2)
    assert weak == {}


@pytest.mark.parametrize(
    ("look", "least"), [(DARK, 3.0), (LIGHT, 3.0), (CONTRAST, 4.5)], ids=["dark", "light", "contrast"]
)
def test_the_cursor_row_can_be_read(look: Look, least: float) -> None:
    ground = look.grounds["cursor"][0]
    assert all(contrast(look.inks.get(ink, look.foreground), ground) >= least for ink in READ if ink != "gone")


def test_every_look_gives_every_ink_a_colour_and_a_style() -> None:
    names = [set(look.variables()) for look in (*LOOKS.values(), PLAIN)]
    needed = {f"ink-{ink}" for ink in INKS} | {f"ink-{ink}-style" for ink in INKS}
    assert all(needed <= found for found in names)


async def test_the_theme_key_goes_through_all_themes_and_back() -> None:
    async with stage() as it:
        seen = []
        for _ in range(len(LOOKS)):
            await it.pilot.press("T")
            seen.append(it.app.theme)
        assert seen == [*list(LOOKS)[1:], "dark"]


async def test_without_colour_there_is_one_theme_and_the_key_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    async with stage() as it:
        await it.play("press T\nstatus NO_COLOR is set")
        assert it.app.theme == "plain"


@pytest.mark.parametrize("size", [(80, 24), (120, 40), (200, 60), (60, 20), (40, 12)])
async def test_every_view_keeps_its_shape_at_every_size(size: tuple[int, int]) -> None:
    async with stage(size=size) as it:
        for keys in ("", "enter", "right_curly_bracket", "question_mark escape", "5", "6", "2"):
            if keys:
                await it.play(f"press {keys}")
            assert len(it.lines) == size[1]
            assert all(len(line) <= size[0] for line in it.lines)
            assert it.lines[-1].strip(), it.frame
            assert it.lines[0].strip(), it.frame


@pytest.mark.parametrize(
    ("size", "beside"), [((80, 24), False), ((99, 30), False), ((100, 30), True), ((200, 60), True)]
)
async def test_the_detail_stands_beside_from_a_hundred_columns_and_below_before(
    size: tuple[int, int], beside: bool
) -> None:
    async with stage(size=size) as it:
        await it.play("press enter\nsee turn 1 · main")
        line = next(line for line in it.lines if "turn 1 · main" in line)
        assert ("│" in line) == beside


async def test_another_size_keeps_the_row_and_the_detail() -> None:
    async with stage() as it:
        await it.play("""
            press enter j j j j
            see   ✗ tool.finished
            size  80x24
            row   ✗ failed
            see   ✗ tool.finished
            size  200x60
            row   ✗ failed
        """)


def test_a_pause_takes_one_column_however_long_it_was() -> None:
    slices = [(3, 0), (0, 0), (0, 0), (0, 0), (0, 0), (2, 1)]
    kept, place = density.columns(slices, 20)
    assert kept == [(3, 0), (0, 0), (2, 1)]
    assert place == [0, 1, 1, 1, 1, 2]


def test_no_event_and_no_problem_is_lost_from_the_strip() -> None:
    slices = [(number % 7, number % 3 == 0) for number in range(2_048)]
    for room in (8, 60, 96):
        kept, place = density.columns(slices, room)
        assert len(kept) <= room
        assert sum(count for count, _bad in kept) == sum(count for count, _bad in slices)
        assert sum(bad for _count, bad in kept) == sum(bad for count, bad in slices if count or bad)
        assert place == sorted(place)
        assert max(place) < len(kept)


def test_problems_are_red_and_the_cursor_has_the_accent() -> None:
    line = density.strip_line([(4, 0), (8, 1), (0, 0), (1, 0)], 3)
    assert [ink.style for ink in line] == ["text", "fails", "faint", "accent"]
    assert width(line) == 4
