"""The boundary for text from outside: nothing hidden stays hidden, nothing is dropped, honest text stays whole."""

from __future__ import annotations

import json
import re
import time
import unicodedata
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from affidavit.text.display import MAX_MARKS, display, display_block, hidden_count, one_line

ESC = "\x1b"
NEVER = re.compile(
    "[\0-\x09\x0b-\x1f\x7f-\x9f\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f"
    "\u3164\ud800-\udfff\ue000-\uf8ff\ufdd0-\ufdef\ufeff\uffa0\ufff0-\ufffb\ufffe\uffff\U0001fffe\U0001ffff"
    "\U0002fffe\U0002ffff\U000dfffe\U000e0001-\U000e001f\U000e0080-\U000e00ff\U000e0110-\U0010ffff]"
)
"""What may stand nowhere in what is shown, whatever is around it."""

SPICE = (
    [chr(code) for code in range(0x20)]
    + list("\x7f\x80\x85\x9b\x9d\xad\u034f\u061c\u115f\u180b\u180e\u200b\u200c\u200d\u200e\u2028\u2029\u202e\u2060")
    + list("\u2066\u2069\u2800\u3164\ud800\udfff\ue000\ufdd0\ufe00\ufe0e\ufe0f\ufeff\uffa0\ufffe\U000e0001\U000e0041")
    + list("\U000e007f\U000e0100\U000e01ef\U000f0000\U0010ffff\U0001fffe\U0001d173\U000e0067\U000e0062")
    + list("a1#*é中役かハनव्میक‍\u0301\u0338\u20e3\u0e47\u1820\u28ff👩👍🏽🏴🇯❤⚠")
    + [
        "👩\u200d👧",
        "⚠\ufe0f",
        "1\ufe0f\u20e3",
        "\U0001f3f4\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f",
    ]
    + ["\u0301" * 12, "क्\u200d", "می\u200cخ", ESC + "[31m", ESC + "]52;c;aGk=\x07", "⟨U+202E⟩", "[/b]", "\r\n"]
)
HOSTILE = st.lists(st.sampled_from(SPICE) | st.characters(), max_size=12).map("".join)


@given(HOSTILE)
def test_nothing_that_hides_or_acts_is_left(text: str) -> None:
    for shown in (display(text), display_block(text)):
        assert NEVER.search(shown) is None
    assert "\n" not in display(text)
    assert display_block(text).count("\n") == text.count("\n")


@given(HOSTILE)
def test_what_was_made_safe_stays_as_it_is(text: str) -> None:
    assert display(display(text)) == display(text)
    assert display_block(display_block(text)) == display_block(text)
    assert hidden_count(display(text)) == 0


@given(HOSTILE)
def test_joiners_and_selectors_are_left_only_where_they_belong(text: str) -> None:
    shown = display(text)
    for at, character in enumerate(shown):
        if (
            character in "\u200c\u200d\ufe00\ufe01\ufe02\ufe0e\ufe0f\u180b\u180c\u180d\u180e"
            or character >= "\U000e0100"
        ):
            before = shown[at - 1] if at else ""
            assert before
            assert before not in "\u200c\u200d\ufe0e\u2800"
            assert before in "0123456789#*" or (not before.isascii() and not before.isspace())
        if character == "\u200c":
            assert unicodedata.category(shown[at + 1 : at + 2] or " ")[0] in "LM"


PLAIN = HOSTILE.filter(
    lambda text: "\t" not in text and "⟨" not in text and not re.search("[\u2400-\u2421\u25cc]", text)
)


@given(PLAIN)
def test_nothing_is_dropped(text: str) -> None:
    shown = display(text)
    if "combining⟩" in shown or "\u25cc" in shown:
        return  # told in words; see the tests of stacked marks
    shown = re.sub(r"⟨U\+([0-9A-F]{4,6})⟩", lambda mark: chr(int(mark[1], 16)), shown)
    shown = re.sub("[\u2400-\u241f]", lambda mark: chr(ord(mark[0]) - 0x2400), shown)
    assert shown.replace("\u2421", "\x7f") == text


@given(HOSTILE)
def test_the_count_is_of_marks_put_in(text: str) -> None:
    marks = re.compile(r"⟨U\+[0-9A-F]{4,6}⟩|[\u2400-\u2408\u240b\u240c\u240e-\u2421]")
    told = re.compile(r"⟨\+(\d+) combining⟩")
    if told.search(text):
        return
    shown = display_block(text)
    stacked = sum(int(number) for number in told.findall(shown))
    assert hidden_count(text) == len(marks.findall(shown)) - len(marks.findall(text)) + stacked


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        (ESC + "[?1049h" + ESC + "[2J", "␛[?1049h␛[2J"),
        (ESC + "]52;c;aGk=\x07", "␛]52;c;aGk=␇"),
        ("\x9d52;c;aGk=\x9c", "⟨U+009D⟩52;c;aGk=⟨U+009C⟩"),
        ("a\x00b\x08c\x7f", "a␀b␈c␡"),
        ("one\ntwo\r\nthree", "one␊two␍␊three"),
        ("user\u202etxt.exe", "user⟨U+202E⟩txt.exe"),
        ("\u2066x\u2069\u200f\u061c", "⟨U+2066⟩x⟨U+2069⟩⟨U+200F⟩⟨U+061C⟩"),
        ("pass\u200bword\ufeff", "pass⟨U+200B⟩word⟨U+FEFF⟩"),
        ("a\u2028b\u2029c\x85d", "a⟨U+2028⟩b⟨U+2029⟩c⟨U+0085⟩d"),
        ("ok\U000e0069\U000e0067", "ok⟨U+E0069⟩⟨U+E0067⟩"),
        ("\U0001f3f4\U000e0075\U000e0073\U000e007f", "🏴⟨U+E0075⟩⟨U+E0073⟩⟨U+E007F⟩"),
        ("x\ufe0fy\U000e0101", "x⟨U+FE0F⟩y⟨U+E0101⟩"),
        ("😀\U000e0130\U000e0131", "😀⟨U+E0130⟩⟨U+E0131⟩"),
        ("⚠\ufe0f\ufe0f", "⚠\ufe0f⟨U+FE0F⟩"),
        ("\u3164\u115f\uffa0\u2800", "⟨U+3164⟩⟨U+115F⟩⟨U+FFA0⟩⟨U+2800⟩"),
        ("\ue0b0\U000f0000\ufdd0\uffff", "⟨U+E0B0⟩⟨U+F0000⟩⟨U+FDD0⟩⟨U+FFFF⟩"),
        ("half \ud83d pair", "half ⟨U+D83D⟩ pair"),
        ("co\xadoperate", "co⟨U+00AD⟩operate"),
        ("a\u200db", "a⟨U+200D⟩b"),
        ("می\u200c\u200cخ", "می⟨U+200C⟩⟨U+200C⟩خ"),
        ("a\tb\n", "a   b␊"),
        ("[@click=app.quit]q[/]", "[@click=app.quit]q[/]"),
    ],
)
def test_hidden_things_are_shown(text: str, shown: str) -> None:
    assert display(text) == shown


CLEAN = [
    "plain text, 100 % & <b>[x]</b>",
    "é ü ñ ç Å ﬁ œ — „quotes“ … • ✓ ✗ → ═ ░",
    "e\u0301 Vie\u0323\u0302t",
    "役割を確認する 한국어 简体 ｆｕｌｌ",
    "עִבְרִית عَرَبِيّ नमस्ते ไทยที่ སྐྱེས",
    "👩‍👩‍👧‍👦 👩🏻‍❤️‍💋‍👩🏼 🧑🏽‍🚀 👍🏽 🇯🇵🇩🇪 1️⃣ #️⃣ ⚠️ ❤️‍🔥 🏳️‍🌈 🏴‍☠️ ☝🏽 ✔︎ ©️",
    "🏴\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f",
    "می\u200cخواهم کتاب\u200cها ه\u200d",
    "क\u094d\u200dष र\u200dय ක්\u200dෂ ന്\u200d",
    "辻\U000e0100 葛\U000e0101",
    "ᠮᠣᠩᠭᠣᠯ\u180b ᠠ\u180eᠠ",
    "⣿⠀⠀⣿ ⡀⠀⠀⢀",
]


@pytest.mark.parametrize("text", CLEAN)
def test_honest_text_stays_whole(text: str) -> None:
    assert display(text) == text
    assert display_block(text) == text
    assert hidden_count(text) == 0


def test_a_block_keeps_line_feeds_and_only_these() -> None:
    assert display_block("a\nb\r\nc\x0bd\x85e") == "a\nb␍\nc␋d⟨U+0085⟩e"
    assert display_block("\tx\n\ty\n12\tz") == "    x\n    y\n12  z"


def test_marks_stacked_too_high_are_told() -> None:
    tower = "x" + "\u0301" * (MAX_MARKS + 22) + "y"
    assert display(tower) == "x" + "\u0301" * MAX_MARKS + "⟨+22 combining⟩y"
    assert hidden_count(tower) == 22
    assert display("x" + "\u0301" * MAX_MARKS) == "x" + "\u0301" * MAX_MARKS
    joined = "क" + "\u094d\u200d" * 40
    assert len(display(joined)) < 30
    assert "combining⟩" in display("x" + "\U0001e8d0" * 20)


def test_marks_that_begin_a_line_get_something_to_stand_on() -> None:
    assert display("\u0338x") == "\u25cc\u0338x"
    assert display_block("a\n\u0338x") == "a\n\u25cc\u0338x"


def test_endless_emoji_chains_are_cut_into_pieces_a_person_can_see() -> None:
    shown = display("👩" + "\u200d👩" * 100)
    assert shown.count("👩") == 101
    assert shown.count("⟨U+200D⟩") == 20


def test_every_combining_mark_of_old_is_known_as_one() -> None:
    old = unicodedata.ucd_3_2_0
    for code in range(0x110000):
        character = chr(code)
        if old.category(character) in ("Mn", "Me") and unicodedata.category(character) in ("Mn", "Me"):
            shown = display("x" + character * 20)
            assert "⟨" in shown, f"U+{code:04X}"


@pytest.mark.parametrize(
    ("text", "width", "shown"),
    [
        ("short", 5, "short"),
        ("longer", 5, "long…"),
        ("x", 0, ""),
        ("xy", 1, "…"),
        ("役割を確認", 10, "役割を確認"),
        ("役割を確認", 9, "役割を確…"),
        ("役割を確認", 8, "役割を…"),
        ("e\u0301" * 5, 5, "e\u0301" * 5),
        ("e\u0301" * 6, 5, "e\u0301" * 4 + "…"),
        ("👩‍👩‍👧‍👦👩‍👩‍👧‍👦", 4, "👩‍👩‍👧‍👦👩‍👩‍👧‍👦"),
        ("👩‍👩‍👧‍👦👩‍👩‍👧‍👦", 3, "👩‍👩‍👧‍👦…"),
        ("ab⚠\ufe0fcd", 4, "ab…"),
        ("ab\u202ecd", 6, "ab⟨U+…"),
        ("a\nb", 3, "a␊b"),
        ("", 3, ""),
    ],
)
def test_a_line_is_cut_by_cells(text: str, width: int, shown: str) -> None:
    assert one_line(text, width) == shown


@given(HOSTILE, st.integers(0, 30))
def test_a_cut_line_fits_and_is_the_beginning_of_the_whole(text: str, width: int) -> None:
    from rich.cells import cell_len

    line, whole = one_line(text, width), display(text)
    assert NEVER.search(line) is None
    assert line == whole or width == 0 or (line.endswith("…") and whole.startswith(line[:-1]))
    # The measure the console lays lines out by gives no more than ours.
    assert cell_len(line) <= width


def test_a_line_is_cut_by_the_measure_given() -> None:
    assert one_line("役割を確認", 3, len) == "役割…"


LONG = {
    "tags": "\U000e0041" * 200_000,
    "braille blanks": "\u2800" * 200_000,
    "tower": "x" + "\u0301" * 200_000,
    "towers": "x\u0301\u200d" * 70_000,
    "joiners": "👩\u200d" * 100_000,
    "selectors": "⚠\ufe0f\ufe0f" * 70_000,
    "escapes": ESC * 200_000,
    "marks on lines": "\n\u0301" * 100_000,
    "arabic": "م\u200c" * 100_000,
    "tabs": "\t" * 200_000,
}


@pytest.mark.parametrize("name", LONG)
def test_cost_is_linear(name: str) -> None:
    start = time.process_time()
    display(LONG[name])
    display_block(LONG[name])
    hidden_count(LONG[name])
    one_line(LONG[name], 80)
    assert time.process_time() - start < 4  # about half a second; what is quadratic takes hours


def test_a_line_of_a_huge_text_looks_at_its_beginning_only() -> None:
    start = time.process_time()
    for _ in range(200):
        one_line("\x1b\u202eword " * 200_000, 80)
    assert time.process_time() - start < 2


def test_public_naughty_strings(shared: Path) -> None:
    strings = json.loads((shared / "vectors/naughty-strings/blns.json").read_text("utf-8"))
    assert len(strings) > 500
    for text in strings:
        shown = display(text)
        assert NEVER.search(shown) is None
        assert display(shown) == shown
        assert "\n" not in shown
        if text.isascii() and text.isprintable():
            assert shown == text
