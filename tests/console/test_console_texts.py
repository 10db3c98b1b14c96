"""Texts of any length are shown at once: only the rows on screen are ever broken and drawn."""

from __future__ import annotations

from console_driver import stage
from console_fakes import World

from console.screens.event_pane.bytes import HexDump, as_text
from console.widgets.safe import Outside
from console.widgets.wrapping import rows


async def test_a_line_of_two_hundred_thousand_characters_is_shown_and_gone_through() -> None:
    world = World()
    world.texts[0] = "0123456789" * 20_000 + "THE END"
    async with stage(world) as it:
        await it.play("press enter enter\nsee 0123456789\npress G\nsee THE END\nsee address\npress g\nsee user.message")


async def test_a_hundred_thousand_lines_are_shown_and_only_a_screenful_is_broken() -> None:
    world = World()
    world.texts[0] = "\n".join(f"line {number} of many, 役割" for number in range(100_000))
    async with stage(world) as it:
        await it.play("press enter enter\nsee line 0 of many\npress G\nsee line 99999 of many\npress k k")
        assert len(it.app.view.pane._broken) < 400
        await it.play("status text 100%\npress g\nsee line 0 of many")


async def test_a_megabyte_that_must_be_measured_is_shown_too() -> None:
    world = World()
    world.texts[0] = "役割のテスト" * 170_000 + "THE END"
    async with stage(world) as it:
        await it.play("press enter enter\nsee 役割のテスト\npress G\nsee THE END")


async def test_the_place_in_a_text_is_kept_when_its_form_stays_and_left_when_it_changes() -> None:
    world = World()
    world.texts[0] = "\n".join(f"line {number}." for number in range(500))
    async with stage(world) as it:
        await it.play("press enter enter ctrl+d ctrl+d\nsee line 31.\npress M\nsee line 31.\ngone user.message")


async def test_hidden_characters_are_counted_and_stand_in_their_own_ink() -> None:
    world = World()
    world.texts[0] = "safe \u202eevil\u202c and \x1b[31m red"
    async with stage(world) as it:
        await it.play(
            "press enter\nsee ! 3 hidden characters made visible\nsee safe ⟨U+202E⟩evil⟨U+202C⟩ and ␛[31m red"
        )
        row = next(row for row in it.app.view.pane._on_screen(30) if "evil" in str(it.app.view.pane._row(*row)))
        marked = [ink.text for ink in it.app.view.pane._row(*row) if ink.style == "person"]
        assert marked == ["⟨U+202E⟩", "⟨U+202C⟩", "␛"]


async def test_words_that_were_searched_for_are_marked_also_over_the_edge_of_a_row() -> None:
    world = World()
    world.texts[0] = "word " * 24 + "Project " + "x" * 200 + "project's" + "y" * 200
    async with stage(world) as it:
        await it.play("press enter slash\ntype project\nsee 20 of 320\npress enter")
        pane = it.app.view.pane
        await it.until(lambda: pane.words == ("project",) and pane.told is not None, "no words")

        def hits() -> str:
            rows = [pane._row(*place) for place in pane._on_screen(30)]
            return "".join(ink.text for row in rows for ink in row if ink.style == "hit")

        await it.until(lambda: hits() == "Projectproject", "not marked")
        await it.play("press escape")
        await it.until(lambda: hits() == "", "still marked")


def test_bytes_that_are_no_text_are_told_byte_by_byte() -> None:
    assert as_text(b"ok \xff\xfe\n\x1b[31m", Outside()) == ["ok \\xff\\xfe", "␛[31m"]


def test_a_hex_dump_is_made_where_it_is_looked_at() -> None:
    dump = HexDump(bytes(range(256)) * 65_536)
    assert len(dump) == 1_048_576
    assert dump[1] == "00000010  10 11 12 13 14 15 16 17 18 19 1a 1b 1c 1d 1e 1f  ················"
    assert dump[len(dump) - 1].startswith("00fffff0  f0 f1")
    assert dump[4].endswith("@ABCDEFGHIJKLMNO")
    assert HexDump(bytes(16), 8)[1] == "00000008  00 00 00 00 00 00 00 00  ········"
    assert HexDump(b"ab")[0] == "00000000  61 62" + " " * 44 + "ab"


async def test_colours_of_a_tools_output_are_left_out_and_counted_and_nothing_else_is() -> None:
    world = World(lanes=1)
    world.texts[4] = "\x1b[1m\x1b[31mFAIL\x1b[0m role \x1b[2Jtest"
    world.texts[2] = "\x1b[31mred words of the agent\x1b[0m"
    async with stage(world) as it:
        await it.play("""
            press enter j j
            see  ␛[31mred words of the agent␛[0m
            press j j
            see  3 colour codes are not shown here; r has
            see  FAIL role ␛[2Jtest
            see  ! 1 hidden character
        """)


async def test_a_hex_dump_takes_eight_bytes_a_line_where_there_is_no_room_for_sixteen() -> None:
    async with stage() as it:
        await it.play("press enter r r\nsee 00000008  22 61 73 73\npress enter\nsee 00000010  ")
        assert "00000008" not in it.frame


def test_a_path_too_long_for_a_row_is_broken_behind_a_slash() -> None:
    path = "src/console/screens/event_pane/pane.py"
    assert [path[start:end] for start, end in rows(path, 24)] == ["src/console/screens/", "event_pane/pane.py"]
