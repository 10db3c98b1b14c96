"""The one boundary for text that came from outside: what hides or acts is made visible, nothing is dropped.

A terminal obeys control characters, some of them (C1) even in their one-character form; direction controls,
zero-width characters, tags, selectors, fillers and private use let a text say something else than it shows.
Here each becomes a mark: a control its picture (``␛``), everything else its number (``⟨U+202E⟩``). Left whole is
what belongs to honest text: emoji sequences, joiners between letters that need them, accents, all scripts.

What comes out is fixed: run through again it does not change. It may still hold characters of a markup
language; it is for a sink that takes text, never markup. Cost is linear in the text's length.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache

from affidavit.text import characters as c
from affidavit.text.cells import cells, fitting
from affidavit.text.masking import mask

__all__ = ["MAX_MARKS", "display", "display_block", "hidden_count", "mask", "one_line"]

TAB = 4
"""Columns between tab stops."""

MAX_MARKS = 8
"""Combining marks that may stack on one letter. No living script needs more; hundreds cover the lines around."""

_ASCII = re.compile(r"[^ -~]")
_ASCII_BLOCK = re.compile(r"[^ -~\n]")
_PICTURES = {chr(code): chr(0x2400 + code) for code in range(0x20)} | {"\x7f": "\u2421"}
_DOTTED_CIRCLE = "\u25cc"


def display(text: str) -> str:
    """``text`` as one line that is safe to show: line breaks are marks too, tabs are expanded."""
    if text.isascii() and _ASCII.search(text) is None:
        return text
    return _shown(text, block=False)


def display_block(text: str) -> str:
    """``text`` safe to show with its line feeds kept. Split it at ``\\n`` only: other breaks are marks."""
    if text.isascii() and _ASCII_BLOCK.search(text) is None:
        return text
    return _shown(text, block=True)


def one_line(text: str, width: int, measure: Callable[[str], int] = cells) -> str:
    """:func:`display` cut to ``width`` terminal cells, with ``…`` where something was cut off.

    ``measure`` gives the cells a safe text takes. A cut never falls inside a character of two cells or between a
    letter and its marks.
    """
    if width <= 0:
        return ""
    # A cell takes at most a letter, its marks and joiners; what lies beyond cannot be seen.
    reach = (width + 1) * (2 * MAX_MARKS + 8)
    shown = display(text[:reach])
    if len(text) <= reach and measure(shown) <= width:
        return shown
    return fitting(shown, width - 1, measure) + "…"


def hidden_count(text: str) -> int:
    """How many characters :func:`display` shows as marks, apart from line breaks."""
    if text.isascii() and _ASCII_BLOCK.search(text) is None:
        return 0
    count = 0
    for run in _towers_in(text).finditer(text):
        count += run.end() - run.start() - MAX_MARKS
    for found in _suspects(True).finditer(_capped(text)):
        hidden = found["hidden"]
        count += hidden is not None and hidden != "\r" and not _belongs(found)
    return count


def _shown(text: str, *, block: bool) -> str:
    if not text.isascii():
        text = _on_ground(_capped(text))
    if _first_look(block).search(text) is not None:
        for character in "\x1b\r" if block else "\x1b\r\n":  # what logs are full of, at once
            if character in text:
                text = text.replace(character, _PICTURES[character])
        if _second_look(block).search(text) is not None:
            text = _suspects(block).sub(_mark, text)
    return text.expandtabs(TAB) if "\t" in text else text


@cache
def _first_look(block: bool) -> re.Pattern[str]:
    """Finds the first character that needs a look. One range stands for all beyond U+FFFF: this one is fast."""
    return re.compile(rf"[{'' if block else chr(10)}{c.HIDDEN_BMP}\U00010000-\U0010ffff]")


@cache
def _second_look(block: bool) -> re.Pattern[str]:
    """Finds the first character that may have to be marked."""
    return re.compile(rf"[{'' if block else chr(10)}{c.HIDDEN_BMP}{c.HIDDEN_BEYOND}]")


@cache
def _suspects(block: bool) -> re.Pattern[str]:
    """Finds emoji sequences, to step over them, and every character that may have to be marked."""
    return re.compile(
        rf"""
        \U0001f3f4 (?: \U000e0067\U000e0062 (?: \U000e0065\U000e006e\U000e0067 | \U000e0073\U000e0063\U000e0074
                     | \U000e0077\U000e006c\U000e0073 ) ) \U000e007f                # England, Scotland, Wales
        | [{c.PICTOGRAPHIC}] (?: \ufe0f | [{c.SKIN_TONES}] )?
          (?: \u200d [{c.PICTOGRAPHIC}] (?: \ufe0f | [{c.SKIN_TONES}] )? ){{1,4}}
        | [{c.PICTOGRAPHIC}] [\ufe0e\ufe0f]
        | [0-9\#*] \ufe0f \u20e3
        | (?<=[\u2801-\u28ff]) \u2800++ | (?<!\u2800) \u2800++ (?=[\u2801-\u28ff])    # within braille pictures
        | (?P<hidden> [{"" if block else chr(92) + "n"}{c.HIDDEN_BMP}{c.HIDDEN_BEYOND}] )
        """,
        re.VERBOSE,
    )


@cache
def _places() -> dict[str, re.Pattern[str]]:
    """For each character that is harmless in its place: what its place looks like."""
    joiner = rf"(?<=[{c.JOINING}])."
    mongolian = re.compile(r"(?<=[\u1820-\u18aa]).")
    han = re.compile(rf"(?<=[{c.HAN}]).")
    places = {
        "\u200c": re.compile(rf"{joiner}(?=[{c.JOINING}])"),
        "\u200d": re.compile(rf"{joiner}"),
        "\u180e": re.compile(r"(?<=[\u1820-\u18aa]).(?=[\u1820-\u18aa])"),
        "\ufe00": re.compile(rf"(?<=[{c.HAN}\u1000-\u109f\u2229-\u22ff\u2a00-\u2aff\u3001\u3002\uff01-\uff1f])."),
    }
    places |= dict.fromkeys("\u180b\u180c\u180d\u180f", mongolian)
    places |= dict.fromkeys(["\ufe01", "\ufe02", *map(chr, range(0xE0100, 0xE0110))], han)
    return places


def _belongs(found: re.Match[str]) -> bool:
    """Whether a character that could hide something stands where honest text has it.

    Joiners choose letter forms in scripts that have such; one selector after a letter that has variants chooses
    among them.
    """
    place = _places().get(found.group())
    return place is not None and place.match(found.string, found.start()) is not None


def _mark(found: re.Match[str]) -> str:
    hidden = found["hidden"]
    if hidden is None:
        return found.group()
    picture = _PICTURES.get(hidden)
    if picture is not None:
        return picture
    return hidden if _belongs(found) else f"⟨U+{ord(hidden):04X}⟩"


@cache
def _towers(beyond: bool) -> re.Pattern[str]:
    """Finds marks stacked higher than :data:`MAX_MARKS`, counting joiners and selectors between them."""
    marks = c.COMBINING_BMP + (c.COMBINING_BEYOND if beyond else "")
    return re.compile(rf"[{marks}][{marks}\u034f\u200c\u200d\ufe00-\ufe0f]{{{MAX_MARKS},}}")


_RARE_SCRIPTS = re.compile("[\U00010000-\U0001efff]")
"""Where all marks beyond U+FFFF are, and no emoji. Looking for these marks is slow, and hardly ever needed."""


def _towers_in(text: str) -> re.Pattern[str]:
    return _towers(_RARE_SCRIPTS.search(text) is not None)


def _capped(text: str) -> str:
    """``text`` with what is stacked too high on a letter told in words."""
    return _towers_in(text).sub(_told, text)


def _on_ground(text: str) -> str:
    """``text`` with a dotted circle under marks that begin a line, and would stack on what stands before it."""
    if _unborne().match("\n" + text[:1]) is not None:
        text = _DOTTED_CIRCLE + text
    return _unborne().sub("\n" + _DOTTED_CIRCLE, text)


@cache
def _unborne() -> re.Pattern[str]:
    return re.compile(rf"\n(?=[{c.COMBINING_BMP}{c.COMBINING_BEYOND}])")


def _told(run: re.Match[str]) -> str:
    marks = run.group()
    return f"{marks[:MAX_MARKS]}⟨+{len(marks) - MAX_MARKS} combining⟩"
