"""Fewer bytes, the same picture: every letter keeps its look, and every blank what can be seen of it."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.cells import cell_len
from rich.color import Color
from rich.console import Console
from rich.segment import Segment
from rich.style import Style

from console.lean import PLAIN, Look, after, by_look, change, lean, least

STYLE = re.compile(r"\x1b\[([0-9;]*)m")


def picture(data: str) -> list[tuple[str, Look]]:
    """What is sent, letter by letter and sequence by sequence, each with the look it is sent in."""
    shown, look = [], PLAIN
    for index, part in enumerate(STYLE.split(data)):
        if index % 2:
            look = after(look, part)
            continue
        for piece in re.findall(r"\x1b\[[0-9;?]*[A-Za-z]|.", part, re.DOTALL):
            moves = piece.endswith("H") or piece in "\r\n"
            shown.append((piece, PLAIN if moves else seen(look) if piece == " " else look))
    return shown


def seen(look: Look) -> Look:
    """What can be seen of a look on a blank."""
    marks = look.attributes & {"4", "5", "7", "9"}
    return look if marks else Look(frozenset(), "", look.ground)


STYLES = st.builds(
    Style,
    color=st.sampled_from([None, "red", "bright_blue", "color(123)", "#80a0ff", "#ffffff", "default"]),
    bgcolor=st.sampled_from([None, "black", "bright_red", "color(7)", "#12151b", "#26344f"]),
    bold=st.sampled_from([None, True, False]),
    dim=st.sampled_from([None, True]),
    italic=st.sampled_from([None, True]),
    underline=st.sampled_from([None, True]),
    reverse=st.sampled_from([None, True]),
    strike=st.sampled_from([None, True]),
)
TEXTS = st.sampled_from(["word", " ", "   ", "a b", " x", "中é", "\n", "\x1b[3;7H", "\x1b[?25l"])


@settings(deadline=None, derandomize=True, max_examples=300)
@given(st.lists(st.tuples(TEXTS, STYLES), max_size=20))
def test_the_picture_is_the_same_and_never_longer(runs: list[tuple[str, Style]]) -> None:
    console = Console(force_terminal=True, color_system="truecolor", legacy_windows=False)
    data = console._render_buffer([Segment(text, style) for text, style in runs])
    less = lean(data)
    assert picture(less) == picture(data)
    assert len(less) <= len(data)
    assert lean(less) == less


@settings(deadline=None, derandomize=True, max_examples=200)
@given(STYLES, STYLES)
def test_any_look_is_made_from_any_other(one: Style, other: Style) -> None:
    looks = [after(PLAIN, style._make_ansi_codes(4) if style else "") for style in (one, other)]
    sequence = change(*looks)
    assert after(looks[0], sequence[2:-1]) == looks[1] if sequence else looks[0] == looks[1]


@pytest.mark.parametrize(
    "data",
    [
        "",
        "plain",
        "\x1b[?2026h",
        "\x1b[31mleft on",
        "\x1b[99mstrange\x1b[0m",
        "\x1b[38;9;1mx\x1b[0m",
        "\x1b]52;c;aGk=\x07",
    ],
)  # fmt: skip
def test_what_is_not_followed_is_left_as_it_is(data: str) -> None:
    assert lean(data) == data


def test_colours_are_told_once() -> None:
    ground = Color.parse("#12151b")
    console = Console(force_terminal=True, color_system="truecolor", legacy_windows=False)
    runs = [Segment(word, Style(color=ink, bgcolor=ground)) for word, ink in (("one ", "#aaaaaa"), ("  ", "#bbbbbb"))]
    data = console._render_buffer([*runs, Segment("two", Style(color="#aaaaaa", bgcolor=ground))])
    assert lean(data).count("38;2;") == 1
    assert lean(data).count("48;2;") == 1


def cells_of(data: str) -> dict[tuple[int, int], tuple[str, Look]]:
    """What stands in each cell of the screen afterwards, and where the cursor does (at 0, 0)."""
    screen: dict[tuple[int, int], tuple[str, Look]] = {}
    look, line, column = PLAIN, 1, 1
    for token in re.split(r"(\x1b\[[0-9;]*m|\x1b\[\d*;\d*H)", data):
        if style := STYLE.fullmatch(token):
            look = after(look, style[1])
        elif place := re.fullmatch(r"\x1b\[(\d*);(\d*)H", token):
            line, column = int(place[1]), int(place[2])
        else:
            for sign in token.replace("\n", ""):
                screen[line, column] = sign, seen(look) if sign == " " else look
                column += cell_len(sign)
    screen[0, 0] = (f"{line} {column}", PLAIN)
    return screen


ROWS = st.lists(
    st.lists(st.tuples(st.sampled_from(["word", " ", "  ", "a b ", "中", "é"]), st.sampled_from(range(6))), max_size=6),
    max_size=6,
)
LOOKS = [
    Style(color="#80a0ff", bgcolor="#12151b"),
    Style(color="#aaaaaa", bgcolor="#12151b"),
    Style(bold=True),
    Style(color="red", bgcolor="#26344f", bold=True),
    Style(underline=True, bgcolor="#12151b"),
    Style(),
]


@settings(deadline=None, derandomize=True, max_examples=300)
@given(ROWS, st.integers(1, 9))
def test_cells_gathered_by_their_look_are_the_same_cells(rows: list[list[tuple[str, int]]], first: int) -> None:
    console = Console(force_terminal=True, color_system="truecolor", legacy_windows=False)
    segments = []
    for line, row in enumerate(rows, first):
        segments.append(Segment(f"\x1b[{line};3H"))
        segments += [Segment(text, LOOKS[look]) for text, look in row]
        segments.append(Segment("\n"))
    data = console._render_buffer([*segments, Segment("\x1b[1;1H")])
    gathered = by_look(data)
    assert gathered is not None
    assert cells_of(gathered) == cells_of(data)
    assert cells_of(least(data)) == cells_of(data)
    assert len(least(data)) <= len(data)


@pytest.mark.parametrize(
    "data", ["no place", "\x1b[1;1Ha\x1b[1;1Hb", "\x1b[1;1Ha\x1b[K", "\x1b[1;1Ha\tb", "\x1b[1;1Ha\nb"]
)
def test_what_cannot_be_gathered_is_not(data: str) -> None:
    assert by_look(data) is None
    assert least(data) == lean(data)
