"""What a person does in the console, from the list of sessions to the bytes of one event."""

from __future__ import annotations

from dataclasses import replace

import pytest
from console_driver import stage
from console_fakes import World


async def test_sessions_are_listed_newest_first_and_opened_with_enter() -> None:
    async with stage() as it:
        await it.play("""
            top     2 Sessions
            row     today 10:02
            row     Fix the failing role test
            status  1 of 40 sessions
            keys    enter open
            press   j
            row     Bump the parser to v4
            status  2 of 40 sessions
            press   enter
            top     Sessions ▸ Bump the parser to v4
            top     Claude Code 2.1.7
            second  320 events · 20 turns · 3 lanes
            row     03:02:11
        """)


async def test_the_bar_names_every_list_with_its_key() -> None:
    async with stage() as it:
        named = [part for part in it.lines[0].split() if part not in ("│", "Affidavit")]
        assert named[:12:2] == ["1", "2", "3", "4", "5", "6"]
        assert named[1:12:2] == ["Queue", "Sessions", "Snapshots", "Memories", "Verify", "Search"]


async def test_the_ends_and_pages_of_a_list() -> None:
    async with stage(World(sessions=5_000)) as it:
        await it.play("press G")
        await it.until(lambda: it.app.view.main_list.after is None, "not at the end")
        await it.play("""
            press k
            press g
            status 1 of 5 000 sessions
            press ctrl+d
            status 17 of 5 000 sessions
            press ctrl+u
            status 1 of 5 000 sessions
            press k
            status 1 of 5 000 sessions
        """)


async def test_a_filter_previews_while_it_is_typed_and_says_how_much_it_hides() -> None:
    async with stage() as it:
        await it.play("""
            press slash
            type invoice
            see   7 of 40 · 33 hidden
            row   Why is the invoice total wrong
            press enter
            status 33 hidden by filter
            second / invoice
            press escape
            status 0 hidden by filter
        """)


async def test_escape_in_a_filter_puts_back_what_was_there() -> None:
    async with stage() as it:
        await it.play("""
            press slash
            type invoice
            see 33 hidden
            press escape
            status 0 hidden
            row Fix the failing role test
        """)


async def test_a_filter_that_leaves_nothing_says_which_key_goes_on() -> None:
    async with stage() as it:
        await it.play("""
            press slash
            type nothing-is-called-this
            see No session fits
            see 40 hidden by the filter
            press enter
            see take the filter away
            press escape
            row Fix the failing role test
        """)


async def test_facets_narrow_down_and_are_named_above_the_list() -> None:
    async with stage() as it:
        await it.play("""
            press f
            see Narrow the sessions down
            type billing
            see 10 sessions
            press enter
            second project ▾ billing
            status 1 of 10 sessions
            press escape
            status 1 of 40 sessions
        """)


async def test_another_order_is_named_in_the_heading() -> None:
    async with stage() as it:
        await it.play("""
            see started↓
            press s
            type title
            press enter
            see title↑
            row Bump the parser to v4
            press s
            type title
            press enter
            see title↓
        """)


async def test_the_detail_follows_the_cursor() -> None:
    async with stage() as it:
        await it.play("""
            press enter
            see   user.message   turn 1 · main
            press j j j j
            see   ✗ tool.finished   turn 1 · main
            see   line 5 · bytes 2 400–2 912
            see   entry 0  ? not checked yet
            press enter
            gone  10:02:14
            see   FAIL auth/session.test.ts: expected role admin, received undefined
            press escape
            see   10:02:14
            row   ✗ failed
        """)


async def test_jumps_to_prompts_and_problems_and_their_ends() -> None:
    async with stage() as it:
        await it.play("""
            press enter
            press ]
            row   10:02:59   User
            press [
            row   10:02:11   User
            press [
            status no prompt before this row
            press }
            row   ✗ failed
            press }
            row   ✗ check
            press {
            row   ✗ failed
        """)


async def test_sub_agents_are_folded_and_open_where_they_were_started() -> None:
    async with stage() as it:
        await it.play("""
            press enter
            see   ├ sub-agent look for other fixtures
            see   3 events ▸
            press ]
            press j j j j
            row   sub-agent
            press z
            row   3 events ▾
            press j
            row   10:03:11 │
            press z
            row   3 events ▸
            press t
            status all 3 lanes open
            press j
            press t
            status only sub-agent 1
            gone  1 10:02:11
            press t
            status sub-agents folded
        """)


async def test_a_turn_folds_to_its_prompt() -> None:
    async with stage() as it:
        await it.play("""
            press enter j j z
            row   1 10:02:11
            row   15 events ▸
            gone  10:02:14
            press j
            row   2 10:02:59
            press k enter
            see   10:02:14
        """)


async def test_a_large_folded_turn_is_jumped_over_in_both_directions() -> None:
    world = World(sessions=1, events=160_000, lanes=1, turn=16_000)
    async with stage(world) as it:
        await it.play("press enter z\nrow 15 999 events ▸")
        world.asked.clear()
        await it.play("press j\nrow 2 23:22:11\npress z\nrow 2 23:22:11\npress j\nrow 3 ")
        await it.play("press k\nrow 2 23:22:11\npress k\nrow 1 10:02:11")
        assert world.asked.count("events") < 40
        await it.play("press ctrl+p\ntype one line a turn\npress enter\nrow 1 10:02:11\npress G\nrow 10 ")
        assert len(it.app.view.main_list.rows) == 10


async def test_what_came_before_the_first_prompt_is_not_folded() -> None:
    world = World(lanes=1)
    world.overrides[0] = {"kind": "note", "turn": 0}
    world.overrides[1] = {"turn": 0}
    async with stage(world) as it:
        await it.play("press enter j z\nstatus what came before the first prompt is not folded\nsee 10:02:11 · note")


async def test_abandoned_events_stand_there_marked() -> None:
    async with stage() as it:
        await it.play("""
            press enter
            press slash
            type fixture
            press enter escape
            press G
        """)
        await it.play("press colon\ntype turn/s000000000000/10\npress enter\nsee ╎")


async def test_a_timeline_filter_searches_folded_lanes_too_and_counts_what_it_hides() -> None:
    async with stage() as it:
        await it.play("""
            press enter slash
            type formatted
            see   20 of 320 · 300 hidden
            press enter
            status 300 hidden (filter
            press n
            row   10:03:32
            press N
            row   10:02:44
            press escape
            status 0 hidden
        """)


async def test_back_and_forward_return_to_exactly_where_a_person_was() -> None:
    async with stage() as it:
        await it.play("press j j enter ] ] j j")
        was = it.row
        await it.play("""
            press backspace
            row   Why is the invoice total wrong
            press alt+right
            top   Why is the invoice total wrong
        """)
        await it.until(lambda: it.row == was, f"not back at: {was}")
        await it.play("press alt+left\nrow Why is the invoice\npress backspace\nstatus this is where you started")


async def test_an_address_opens_right_there() -> None:
    world = World()
    event = f"{world.event(2, 47).id:016x}"
    async with stage(world, start=f"session/{world.session(2).uid}#{event}") as it:
        await it.play("""
            top Sessions ▸ Why is the invoice total wrong
            row 20:04:32
        """)
        await it.play(f"see #{event}")


@pytest.mark.parametrize(
    ("typed", "seen"),
    [
        ("session/nosuch", "holds no session whose id begins with nosuch"),
        ("sessions/x", "there is no kind 'sessions'"),
        ("turn/s000000000000/99", "has no turn 99"),
        ("entry/99999", "the ledger has no entry 99999"),
        ("memory/m-1", "does not show yet"),
        ("payload/ab", "no bytes whose SHA-256 begins with ab"),
    ],
)
async def test_an_address_that_names_nothing_is_refused_in_words(typed: str, seen: str) -> None:
    async with stage() as it:
        await it.play(f"press colon\ntype {typed}\npress enter\nsee {seen}")


async def test_entries_can_be_looked_at_as_text_and_as_hex() -> None:
    async with stage() as it:
        await it.play("""
            press colon
            type entry/7
            press enter
            see   "type":"import.segment"
            press r
            see   00000000  7b 22 62 6f 64 79
            press backspace
            top   2 Sessions
        """)


async def test_the_recorded_bytes_of_an_event() -> None:
    async with stage() as it:
        await it.play("""
            press enter r
            see   {"type":"assistant"
            press r
            see   00000000  7b 22 74 79 70 65
            press r
            see   and the rest of it
        """)


async def test_copying_says_which_way_the_text_took() -> None:
    async with stage() as it:
        await it.play("""
            press enter y
            see   SHA-256 of the recorded bytes
            type  address
            press enter
            status sent to the terminal, which does not say whether it took it
        """)
        assert it.services.copied == [f"session/s000000000000#{0:016x}"]


async def test_marked_rows_are_copied_together() -> None:
    async with stage() as it:
        await it.play("press space space\nstatus 2 marked\npress y\ntype address\npress enter\nstatus copied")
        assert len(it.services.copied[0].splitlines()) == 2
        await it.play("press escape\nrow Why is\ngone marked")


async def test_help_lists_what_works_here_gives_reasons_and_runs_it() -> None:
    async with stage() as it:
        await it.play("""
            press enter question_mark
            see   What works in the timeline
            see   events stand in the order they happened
            type  next message
            press enter
            row   10:02:59
            press question_mark
            type  order
            press enter
            see   ! Put the list in another order: events stand in the order they happened
            press escape
            gone  What works
        """)


async def test_help_ends_with_what_the_signs_mean_and_says_that_it_goes_on() -> None:
    async with stage() as it:
        await it.play("""
            press enter question_mark
            see   ↓
            see   more
            see   Show the recorded bytes of this event: as text, as hex, and back
            press pagedown pagedown pagedown pagedown pagedown pagedown
            see   ! needs a look
            see   ╎ abandoned
            gone  more
            type  recorded bytes
            gone  needs a look
        """)


async def test_an_action_that_cannot_be_used_says_why() -> None:
    async with stage(read_only=True) as it:
        await it.play("""
            see    ! read-only
            press  i
            status import: the console was opened with --read-only
            press  n
            status nothing is searched for
        """)


async def test_the_palette_finds_actions_sessions_and_themes() -> None:
    async with stage() as it:
        await it.play("""
            press ctrl+p
            type  theme: light
            press enter
            status theme: light
            press ctrl+p
            type  dark mode
            see   Sessions
            see   Dark mode for the settings page
            press enter
            top   Dark mode for the settings page
        """)


async def test_masking_hides_paths_everywhere_and_says_so() -> None:
    world = World()
    world.texts[0] = "look at /home/alex/secret-project/notes.txt please"
    async with stage(world, mask=True) as it:
        await it.play("see ! masked\npress enter\nsee look at")
        assert "/home/alex/secret-project" not in it.frame
        await it.play("press M\nsee /home/alex/secret-project\ngone ! masked")


async def test_what_fails_to_be_read_is_shown_and_the_console_goes_on() -> None:
    world = World()
    async with stage(world) as it:
        world.error = OSError("the disk is gone [/bad] \x1b[31m")
        await it.play("""
            press enter
            see  ✗ This session could not be read
            see  the disk is gone [/bad] ␛[31m
        """)
        world.error = None
        await it.play("press escape\nsee This project's tests fail\npress backspace\nrow Fix the failing")


async def test_a_slow_store_is_told_and_keys_do_not_act_on_what_is_not_drawn() -> None:
    world = World()
    world.delay = 0.6
    async with stage(world) as it:
        await it.pilot.press("enter")
        await it.until(lambda: "Reading the timeline" in it.frame, "no word of reading")
        it.app.action_act("fold")
        assert "the rows are still being read" in it.app.shell._status.text
        await it.play("see This project's tests fail")


async def test_a_newer_question_supersedes_an_older_one() -> None:
    world = World()
    async with stage(world) as it:
        world.delay = 0.3
        await it.play("press slash")
        await it.pilot.press(*"inv")
        await it.pilot.pause(0.15)
        await it.pilot.press(*"oice")
        await it.play("row Why is the invoice\npress enter\nstatus of 7 sessions")


async def test_withheld_and_flagged_events_say_so() -> None:
    world = World()
    world.overrides[1] = {"flags": ("naive_time", "clock_skew"), "inferred": True, "copies": 4}
    async with stage(world) as it:
        await it.play("""
            press enter j
            row   ×4 !
            see   ! naive time the recorded time names no zone
            see   ~ inferred from other records
            see   ×4 in the log
        """)


async def test_a_session_without_events() -> None:
    async with stage(World(events=0, lanes=1)) as it:
        await it.play("press enter\nsee This session holds no events\nsee go back\npress backspace\nrow Fix")


async def test_a_session_of_which_all_is_hidden_at_first_says_so() -> None:
    world = World(events=2, lanes=1)
    world.overrides.update({number: {"kind": "lifecycle", "actor": "runtime"} for number in range(2)})
    async with stage(world) as it:
        await it.play("""
            press enter
            see   Nobody said or did anything here
            see   client's own notes
            press h
            status 0 hidden
        """)


async def test_lanes_are_refused_with_a_reason_where_there_is_one() -> None:
    async with stage(World(lanes=1)) as it:
        await it.play("press enter t\nstatus this session has no sub-agents")


async def test_the_mouse_moves_opens_and_scrolls() -> None:
    async with stage() as it:
        await it.play("click 6 20\nrow yest. 20:02\ndouble 6 20\ntop Why is the invoice\nclick 0 3\ntop 2 Sessions")


async def test_million_event_sessions_open_and_end_like_small_ones() -> None:
    world = World(sessions=1, events=1_000_000, lanes=1)
    async with stage(world) as it:
        world.asked.clear()
        await it.play("press enter\nrow 10:02:11\npress G")
        await it.until(lambda: it.app.view.main_list.after is None, "not at the end")
        assert world.asked.count("events") < 8
        assert len(it.app.view.main_list.rows) <= 400


async def test_long_walks_let_far_pages_go() -> None:
    async with stage(World(sessions=1, events=20_000, lanes=1)) as it:
        await it.play("press enter")
        rows = it.app.view.main_list
        for _ in range(30):
            rows.move(len(rows.rows) - 1)
            await it.settled()
        assert len(rows.rows) <= rows.KEEP + 2 * rows.PAGE
        reached = rows.rows[rows.cursor].row.key
        assert reached > 4_000
        for _ in range(60):
            rows.move(0)
            await it.settled()
        assert rows.rows[0].row.key == 0


async def test_the_cursor_survives_a_change_of_filter() -> None:
    async with stage() as it:
        await it.play("press enter ] ] j j")
        was = it.row[:40]
        await it.play("press slash\ntype tests\nsee hidden\npress enter escape")
        await it.until(lambda: it.row[:40] == was, f"not on {was}")


async def test_hits_are_gone_through_from_the_timeline() -> None:
    async with stage() as it:
        await it.play("""
            press 6
            type  formatted
            see   PostToolUse hook: formatted
            press enter enter
            top   Sessions ▸
            row   · context
            press n
            status hit 2 of
            press N N
            status this is the first hit
            press backspace backspace backspace
            see   ⌕
        """)


def test_a_fake_event_is_what_the_archive_would_give() -> None:
    world = World()
    row = world.event(0, 3)
    assert replace(row, key=row.key) == world.open().event(3)


async def test_escape_leaves_what_is_open_and_then_goes_back() -> None:
    async with stage() as it:
        await it.play("""
            press enter
            keys  backspace back
            press enter
            keys  enter back to list   j k scroll   ] [ prompt
            press escape
            keys  enter open
            top   Sessions ▸ Fix the failing
            press escape
            top   2 Sessions
            press escape
            status nothing to leave
        """)


async def test_the_command_that_is_copied_names_the_store() -> None:
    async with stage() as it:
        await it.play("press enter y\ntype command\npress enter\nstatus copied")
        assert it.services.copied == [f"affidavit --store '/home/user/my stores/a.db' 'session/s000000000000#{0:016x}'"]
        await it.play("press colon\ntype entry/7\npress enter y\ntype command\npress enter\nstatus copied")
        assert it.services.copied[1].endswith("'entry/7'")


async def test_an_address_this_store_does_not_hold_is_told_before_anything_else() -> None:
    async with stage(start="session/nosuch") as it:
        await it.play("""
            see   ✗ This store does not hold what was asked for
            see   this store holds no session whose id begins with nosuch
            see   affidavit --store PATH ADDRESS
            press escape
            row   Fix the failing role test
        """)


async def test_paths_are_shown_from_the_folder_of_the_session_and_keep_the_name_of_the_file() -> None:
    world = World(lanes=1)
    cwd = world.session(0).cwd
    world.overrides[6] = {"summary": f"{cwd}/src/auth/session.ts"}
    world.overrides[9] = {"summary": "/opt/" + "deeply/nested/" * 5 + "settings.toml"}
    world.overrides[10] = {"summary": f"The file {cwd}/src/auth/session.ts has been updated"}
    async with stage(world) as it:
        await it.play(
            "press enter\nsee ▸ read     src/auth/session.ts\nsee nested/settings.toml\nsee The file src/auth"
        )
        assert f"▸ read     {cwd}" not in it.frame


async def test_the_day_is_named_where_it_changes() -> None:
    world = World(sessions=1, lanes=1)
    day = 86_400_000_000
    for number in range(5, 320):
        at = world.event(0, number).at + day
        world.overrides[number] = {"at": at, "sort": at}
    async with stage(world) as it:
        await it.play("press enter j j j j j\nrow — Thu 15 May — pnpm test · 1 failed")
        assert it.frame.count("— Thu 15 May —") == 1
        assert "— Wed 14 May —" not in it.frame
        await it.play("press G\ngone — Thu 15 May —")


async def test_only_flags_that_need_a_look_stand_in_the_row() -> None:
    world = World(lanes=1)
    world.overrides[1] = {"flags": ("stored_twice", "time_missing", "truncated_search")}
    world.overrides[2] = {"kind": "permission.decision", "summary": "mode: acceptEdits", "ok": None}
    async with stage(world) as it:
        await it.play("press enter j\nrow · thinks\nsee ! stored twice")
        assert not it.row.split("│")[0].rstrip().endswith("!")
        await it.play("press j\nrow · mode     acceptEdits")


async def test_what_the_runtime_says_is_hidden_until_h_but_an_interruption_never() -> None:
    world = World(lanes=1)
    world.overrides[4] = {"kind": "lifecycle", "actor": "runtime", "summary": "turn took 3 s"}
    world.overrides[5] = {"kind": "lifecycle", "actor": "user", "inferred": True, "summary": "interrupted by the user"}
    async with stage(world) as it:
        await it.play("""
            press enter
            see    ! stopped  interrupted by the user
            gone   turn took 3 s
            status 1 hidden (runtime) · h shows
            press  h
            see    turn took 3 s
            status 0 hidden · h hides
            press  j j j j z
            row    15 events ▸
            press  z h
            gone   turn took 3 s
        """)


async def test_a_timeline_is_narrowed_to_what_occurs_in_it() -> None:
    async with stage() as it:
        await it.play("""
            press enter f
            see   problems only
            see   40 events
            see   only this lane
            see   sub-agent 1
            gone  compaction
            type  verification
            press enter
            row   ✗ check
            status hidden (filter
            press escape f
            type  sub-agent 2
            press enter
            status other lanes
        """)
