"""Cells: wide enough for every character the console can lay out, and emoji sequences counted as one."""

from __future__ import annotations

import pytest
from rich.cells import cell_len, get_character_cell_size

from affidavit.text.cells import cells, fitting
from affidavit.text.display import display


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("", 0),
        ("plain", 5),
        ("é ü", 3),
        ("e\u0301", 1),
        ("役割", 4),
        ("한글", 4),
        ("ｱｲｳ", 3),
        ("Ａ", 2),
        ("👍", 2),
        ("👍🏽", 2),
        ("👩‍👩‍👧‍👦", 2),
        ("❤️‍🔥", 2),
        ("🇯🇵", 2),
        ("1️⃣", 2),
        ("⚠", 1),
        ("⚠️", 2),
        ("🏴\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f", 2),
        ("🫨", 2),
        ("␛⟨U+202E⟩", 9),
        ("क\u094d\u200dष", 2),
        ("─│█░⣿", 5),
    ],
)
def test_a_text_takes_its_cells(text: str, count: int) -> None:
    assert cells(text) == count
    assert cell_len(text) <= count


def test_no_character_is_counted_narrower_than_the_console_lays_it_out() -> None:
    for code in range(0x20, 0x40000):
        if not 0xD800 <= code < 0xE000:
            assert cells(chr(code)) >= get_character_cell_size(chr(code)), f"U+{code:04X}"


@pytest.mark.parametrize(
    ("text", "width", "kept"),
    [
        ("plain", 3, "pla"),
        ("plain", 9, "plain"),
        ("plain", -1, ""),
        ("役割", 3, "役"),
        ("役割", 1, ""),
        ("1️⃣2", 1, ""),
        ("a⚠️", 2, "a"),
        ("ae\u0301", 2, "ae\u0301"),
        ("ae\u0301", 1, "a"),
        ("👩‍👧x", 2, "👩‍👧"),
        ("👍🏽👍🏽", 3, "👍🏽"),
    ],
)
def test_a_text_is_cut_between_whole_characters(text: str, width: int, kept: str) -> None:
    assert fitting(text, width) == kept


def test_what_is_shown_has_no_character_without_a_place() -> None:
    assert cells(display("\x1b\x00\u200b\u202e")) == len("␛␀⟨U+200B⟩⟨U+202E⟩")
