"""What a person starts from the console: first run, imports, verification, search, the pager."""

from __future__ import annotations

import threading
from dataclasses import replace
from pathlib import Path

import pytest
from console_driver import stage
from console_fakes import BROKEN, FakeServices, World

from console.services import Cancelled, Found, Progress, VerifyResult


class Missing(Exception):
    reason = "missing"
    hint = "there is no store here"


async def test_an_empty_store_offers_what_agents_left_the_demo_and_help() -> None:
    async with stage(World(sessions=0)) as it:
        await it.play("""
            see  Welcome.
            row  import Claude Code  12 session files · 34.0 MB  /home/user/.claude/projects
            see  open the demo
            see  every key that works here
            status 0 sessions
            press enter
            status imported: 12 sessions from 14 files · 3 840 events · 2 unreadable
            status 2 unreadable · 2 other files (empty)
            row  Fix the failing role test
        """)
        assert it.services.imported == ["/home/user/.claude/projects"]


async def test_a_missing_store_is_no_error() -> None:
    world = World()
    world.error = Missing()
    async with stage(world) as it:
        await it.play("see Welcome.\npress i\nsee Import sessions from\npress enter\nrow Fix the failing role test")


async def test_the_demo_is_one_choice_away() -> None:
    async with stage(World(sessions=0)) as it:
        await it.play("see Welcome.\npress j j\nrow open the demo\npress enter\nstatus 1 of 3 sessions")


async def test_nothing_is_imported_or_made_when_the_console_only_reads() -> None:
    async with stage(World(sessions=0), read_only=True) as it:
        await it.play("""
            see Welcome.
            press enter
            status import: the console was opened with --read-only
            press j j enter
            status demo: the console was opened with --read-only
        """)
        assert it.services.imported == []


async def test_looking_for_folders_never_holds_up_the_screen() -> None:
    class Slow(FakeServices):
        release = threading.Event()

        def discover(self) -> list[Found]:
            self.release.wait(5)
            return []

    services = Slow(World(sessions=0))
    async with stage(World(sessions=0), services=services) as it:
        await it.play("see Looking for what agents left\nrow import another file\npress j\nrow open the demo")
        services.release.set()
        await it.play("see No agent's sessions were found\nrow open the demo")


async def test_another_folder_can_be_typed() -> None:
    async with stage() as it:
        await it.play("press i\ntype another\npress enter\ntype /tmp/logs\npress enter\nstatus imported")
        assert it.services.imported == ["/tmp/logs"]


async def test_an_import_shows_how_far_it_is_and_can_be_stopped() -> None:
    world = World()
    services = FakeServices(world)
    services.pace = 0.12
    async with stage(world, services=services) as it:
        await it.pilot.press("i")
        await it.play("see Import sessions from")
        await it.pilot.press("enter")
        await it.play("status import session files")
        await it.play("status esc stops it")
        await it.pilot.press("j", "j")
        assert "Why is the invoice" in it.row
        await it.pilot.press("i")
        await it.play("status wait for the import to end")
        await it.pilot.press("escape")
        await it.play("status stopped; kept: 1 session · 20 events")


async def test_an_import_that_fails_is_told_in_a_panel_that_can_be_copied() -> None:
    world = World()
    services = FakeServices(world)
    services.error = PermissionError("[/bad] not yours \x1b[31m")
    async with stage(world, services=services) as it:
        await it.play("""
            press i enter
            see  ✗ Something could not be done
            see  PermissionError: [/bad] not yours ␛[31m
            press y
            see  copied: sent to the terminal
            press escape
            row  Fix the failing role test
        """)
        assert services.copied == ["PermissionError: [/bad] not yours ␛[31m"]


async def test_verify_says_what_was_checked_and_what_it_does_not_claim() -> None:
    async with stage() as it:
        await it.play("""
            press 5
            see  Not checked yet
            status ? not checked yet
            press r
            see  ✓ everything that was checked holds: self-consistent
            see  What this does not claim
            top  5 Verify ✓
            second 1 204 entries
            status verified just now · ✓ self-consistent
            press 2 enter
            status entry 0  ✓ self-consistent
        """)


async def test_a_failure_is_named_explained_and_opened() -> None:
    world = World()
    services = FakeServices(world)
    event = world.event(2, 20)
    failure = replace(BROKEN, address=f"session/{world.session(2).uid}#{event.id:016x}", kind="record")
    services.result = replace(services.result, holds=False, level="none", failures=[failure, BROKEN])
    async with stage(world, services=services) as it:
        await it.play("""
            press 5 r
            row  ✗ record
            see  a record's bytes are not the ones that were recorded
            top  5 Verify ✗
            second level none
            status 2 failures
            press enter
            top  Sessions ▸ Why is the invoice total wrong
            status entry 1  ✗ record
            press j
            status no failure here, ✗ 2 failures elsewhere
            press backspace slash
            type payload
            status 1 hidden by filter
        """)


async def test_what_is_newer_than_the_last_run_is_not_called_checked() -> None:
    world = World()
    services = FakeServices(world)
    services.verified = replace(services.result, entries=3)
    async with stage(world, services=services) as it:
        await it.play("press enter\nstatus entry 0  ✓ self-consistent\npress G\nstatus entry 15  ? not checked yet")


async def test_a_verification_can_be_stopped_and_then_says_nothing() -> None:
    services = FakeServices()
    services.pace = 0.1
    async with stage(services=services) as it:
        await it.pilot.press("5", "r")
        await it.play("see entries")
        await it.pilot.press("escape")
        await it.play("see Not checked yet\nstatus ? not checked yet")


async def test_a_run_checks_everything_and_only_what_is_new_on_request() -> None:
    asked = []

    class Asked(FakeServices):
        def verify(self, progress: Progress, cancelled: Cancelled, *, full: bool = False) -> VerifyResult:
            asked.append(full)
            return super().verify(progress, cancelled, full=full)

    async with stage(services=Asked()) as it:
        await it.play("press 5 r\nsee ✓ everything\npress l\nkeys l only new")
        assert asked == [True, False]


async def test_a_run_over_nothing_new_never_reads_as_if_everything_was_checked() -> None:
    services = FakeServices()
    nothing = {"entries": 0, "streams": 40, "segments": 0, "records": 0, "payloads": 0}
    services.result = replace(services.result, checked=nothing, since=1204, first=1204)
    async with stage(services=services) as it:
        await it.play("""
            press 5 l
            see   nothing is newer than entry 1 203; entries 0–1 203 were not checked again
            see   Nothing is new
            gone  ✓ everything
            status ? the rest not checked again
        """)
        assert "✓ 0" not in it.frame
        assert "Verify ✓" not in it.lines[0]
        await it.play("press 2 enter\nstatus entry 0  ? not checked again")


async def test_what_is_new_is_told_apart_from_the_rest() -> None:
    services = FakeServices()
    some = {"entries": 4, "streams": 40, "segments": 2, "records": 9, "payloads": 0}
    services.result = replace(services.result, checked=some, since=1200, first=1200)
    async with stage(services=services) as it:
        await it.play("""
            press 5 l
            see   ✓ what is new holds: self-consistent
            see   ? entries 0–1 199 and the tables were not checked again
            second level self-consistent for what is new
            gone  source chains
        """)


async def test_a_file_that_changed_since_is_not_called_checked() -> None:
    services = FakeServices()
    async with stage(services=services) as it:
        await it.play("press 5 r\ntop 5 Verify ✓\npress 2 enter\nstatus entry 0  ✓ self-consistent")
        services.verified = replace(services.result, stale=True)
        it.app._glance()
        await it.play("""
            status entry 0  ? not checked since the store changed
            see    proof   entry 0  ? not checked since the
            press  5
            see    ? the file has changed since it was checked
            status ? changed since then
            gone   Verify ✓
        """)


async def test_a_failure_is_loud_in_its_row_its_session_and_its_event() -> None:
    world = World()
    services = FakeServices(world)
    event = world.event(2, 20)
    failure = replace(BROKEN, address=f"session/{world.session(2).uid}#{event.id:016x}", kind="record")
    services.verified = replace(services.result, holds=False, level="none", failures=[failure])
    async with stage(world, services=services) as it:
        await it.play("press j j\nrow ✗ 1 altered\npress k\npress colon")
        await it.play(f"type {failure.address}\npress enter")
        await it.play("""
            row    ✗ altered
            see    ✗ these bytes are not the ones that were
            see    recorded (record)
            status entry 1  ✗ record
            press  j
            gone   these bytes are not the ones
        """)
        assert sum("✗ altered" in line for line in it.lines) == 1


async def test_a_failed_entry_is_loud_in_every_event_it_holds() -> None:
    services = FakeServices()
    failure = replace(BROKEN, address="entry/0", kind="segment_bytes")
    services.verified = replace(services.result, holds=False, level="none", failures=[failure])
    async with stage(services=services) as it:
        await it.play("press enter\nrow ✗ altered\nsee ✗ a segment's stored bytes are damaged\nstatus ✗ segment_bytes")
        await it.play("press G\nstatus no failure here")


async def test_search_finds_while_it_is_typed_and_marks_what_it_found() -> None:
    async with stage() as it:
        await it.play("""
            press 6
            see   Search every session
            type  role
            row   Fix the faili…  The role test is the only
            second 500 hits
            status hit 1
            see   · model.reasoning
            press enter j
            status hit 2
            press f
            type  memory.write
            press enter
            row   ◆ notes
            status other kinds hidden by filter
            press escape
            see   Search every session
        """)


@pytest.mark.parametrize("text", ["don't", "src/x.py", '"', "*", "[/bad]", "POL-358", "(", "\\"])
async def test_whatever_is_searched_for_is_taken_as_it_stands(text: str) -> None:
    async with stage() as it:
        await it.pilot.press("6")
        await it.pilot.press(*text)
        await it.settled()
        await it.pilot.pause(0.2)
        await it.settled()
        assert "Nothing says" in it.frame or "hits" in it.lines[1]


async def test_the_pager_gets_the_safe_text_and_the_console_comes_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from contextlib import nullcontext

    got = tmp_path / "got"
    pager = tmp_path / "pager"
    pager.write_text(f'#!/bin/sh\ncat "$1" > {got}\nexit 3\n')
    pager.chmod(0o755)
    monkeypatch.setenv("PAGER", str(pager))
    world = World()
    world.texts[0] = "one\x1b[31m\ntwo"
    async with stage(world) as it:
        monkeypatch.setattr(it.app, "suspend", nullcontext)
        await it.play("press enter o\nstatus the pager ended with code 3\nrow User")
        assert got.read_text() == "one␛[31m\ntwo\n"


async def test_the_editor_gets_a_private_copy_that_is_gone_afterwards(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from contextlib import nullcontext

    got = tmp_path / "got"
    editor = tmp_path / "editor"
    editor.write_text(
        f'#!/bin/sh\nls -ld "$1" "$(dirname "$1")" | cut -c1-10 > {got}\ncat "$1" >> {got}\necho "$1" >> {got}\n'
        'echo left > "$1~"\n'
    )
    editor.chmod(0o755)
    monkeypatch.delenv("VISUAL", raising=False)
    monkeypatch.setenv("EDITOR", str(editor))
    world = World()
    world.texts[0] = "one\x1b[31m"
    async with stage(world) as it:
        monkeypatch.setattr(it.app, "suspend", nullcontext)
        await it.play("press enter O\nrow User")
    *said, path = got.read_text().splitlines()
    assert sorted(said) == sorted(["-r--------", "drwx------", "one␛[31m"])
    assert not Path(path).exists()
    assert not Path(path).parent.exists()


async def test_a_terminal_that_cannot_be_handed_over_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PAGER", "cat")
    async with stage() as it:
        await it.play("press enter o\nstatus this terminal cannot be handed to a pager\npress j\nrow · thinks")


@pytest.mark.parametrize(
    ("pager", "said"), [("", "less"), ("'", "cannot be read as a command"), ("/nowhere/at-all", "could not be started")]
)
async def test_a_pager_that_is_not_there_is_told(pager: str, said: str, monkeypatch: pytest.MonkeyPatch) -> None:
    from contextlib import nullcontext

    monkeypatch.setenv("PAGER", pager)
    monkeypatch.setenv("PATH", "/nowhere")
    async with stage() as it:
        monkeypatch.setattr(it.app, "suspend", nullcontext)
        await it.play(f"press enter o\nstatus {said if pager else 'could not be started'}")


async def test_leaving_while_something_runs_stops_it_first() -> None:
    services = FakeServices()
    services.pace = 0.2
    async with stage(services=services) as it:
        await it.pilot.press("5", "r")
        await it.pilot.press("q")
        await it.play("status stopping the verify")
        assert it.app.is_running
