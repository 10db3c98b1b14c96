"""Lines of ink are as wide as they say, whatever stands in them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from affidavit.text.display import display
from console.widgets import figures
from console.widgets.ink import Ink, cells, cut, fit, left, right, spread, take, width
from console.widgets.wrapping import LONG, pieces, rows, wrapped

TEXT = st.text(
    st.one_of(
        st.characters(),
        st.sampled_from("漢字かな 🙂👨‍👩‍👧é\u0301\u200d\u202e\x1b[]/"),
        st.sampled_from([" ", "a", "-"]),
    ),
    max_size=60,
).map(display)
LINE = st.lists(st.builds(Ink, st.sampled_from(["text", "user", "fails"]), TEXT), max_size=5).map(tuple)
ROOM = st.integers(0, 40)


@given(TEXT, ROOM)
def test_a_cut_fits_and_says_that_it_cut(text: str, room: int) -> None:
    shown = cut(text, room)
    assert cell_len(shown) <= room
    assert shown == text or shown == "" or shown.endswith("…")


@given(TEXT, ROOM)
def test_taking_never_takes_more_than_there_is_room_for(text: str, room: int) -> None:
    taken = take(text, room)
    assert text.startswith(taken)
    assert cells(taken) <= room


@given(TEXT, ROOM)
def test_columns_are_exactly_as_wide_as_asked(text: str, room: int) -> None:
    assert cells(left(text, room)) == room
    assert cells(right(text, room)) == room


@given(LINE, ROOM)
def test_a_fitted_line_is_a_beginning_of_the_line(line: tuple[Ink, ...], room: int) -> None:
    fitted = fit(line, room)
    assert width(fitted) <= room
    whole = "".join(ink.text for ink in line)
    shown = "".join(ink.text for ink in fitted)
    assert whole.startswith(shown.rstrip("…").rstrip()) or shown == "…"


@given(LINE, LINE, st.integers(8, 60))
def test_what_is_spread_fills_its_line(start: tuple[Ink, ...], end: tuple[Ink, ...], room: int) -> None:
    line = spread(start, end, room)
    assert width(line) <= max(room, width(end) + 2)


@given(st.one_of(TEXT, TEXT.map(lambda text: text * 40)), st.integers(1, 30))
def test_rows_give_back_every_character_of_their_piece(text: str, room: int) -> None:
    broken = rows(text, room)
    assert "".join(text[start:end] for start, end in broken) == text
    for start, end in broken:
        row = text[start:end].rstrip()
        assert cells(row) <= room or len(row) <= 12


def test_words_stay_whole_where_they_fit() -> None:
    text = "expected role admin, received undefined"
    assert [text[a:b].rstrip() for a, b in rows(text, 16)] == ["expected role", "admin, received", "undefined"]


def test_a_megabyte_in_one_line_is_broken_by_arithmetic() -> None:
    broken = rows("x" * 1_000_000, 77)
    assert len(broken) == 12_988
    assert broken[12_987] == (999_999, 1_000_000)
    assert broken[0] == (0, 77)


def test_long_lines_that_must_be_measured_are_cut_into_pieces() -> None:
    parts = pieces("役" * (LONG * 3 + 1) + "\nshort")
    assert [len(part) for part in parts] == [LONG, LONG, LONG, 1, 5]


def test_lines_are_told_apart_at_line_feeds_only() -> None:
    assert pieces("one\x0btwo\u2028three\nfour") == ["one\x0btwo\u2028three", "four"]


@given(LINE, st.integers(4, 40))
def test_a_wrapped_line_loses_nothing(line: tuple[Ink, ...], room: int) -> None:
    got = wrapped(line, room)
    assert "".join(ink.text for row in got for ink in row) == "".join(ink.text for ink in line)


@pytest.mark.parametrize(
    ("value", "said"),
    [
        (0, "0"),
        (999, "999"),
        (1_000, "1.0k"),
        (31_449, "31.4k"),
        (99_950, "100k"),
        (999_999, "1.0M"),
        (2_500_000, "2.5M"),
    ],
)
def test_counts_are_short(value: int, said: str) -> None:
    assert figures.short(value) == said
    assert len(said) <= 5


@pytest.mark.parametrize(
    ("millis", "said"),
    [(80, "80 ms"), (100, "0.1 s"), (2_400, "2.4 s"), (185_000, "3 min 05"), (7_800_000, "2 h 10"), (-2_400, "-2.4 s")],
)
def test_durations_are_said_once_with_their_unit(millis: int, said: str) -> None:
    assert figures.duration(millis) == said


@given(st.integers(-(2**62), 2**62))
def test_no_time_is_too_far_away_to_be_said(micros: int) -> None:
    assert figures.clock(micros)
    assert figures.moment(micros).endswith("UTC")
    assert figures.span(micros, micros + 1)
