"""The console on a real store: the demo's sessions, walked, searched, verified, copied."""

from __future__ import annotations

import sys
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from console.app import AffidavitApp
from console.program import Program
from console.settings import Settings
from sample_sessions.demo import build
from storage.archive import Archive

sys.path.insert(0, str(Path(__file__).parent.parent / "console"))

from console_driver import Stage

from tests.storage import claude_fixtures
from tests.storage.kept import store_in, take, write

NOW = datetime(2026, 5, 21, 9, 0, tzinfo=UTC)


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Any:
    return build(str(tmp_path_factory.mktemp("demo")))


def opener(path: str) -> Callable[[], Archive]:
    return lambda: Archive.open(path)


@asynccontextmanager
async def console(path: str, **options: Any) -> AsyncIterator[Stage]:
    app = AffidavitApp(opener(path), services=Program(path, Settings()), now=lambda: NOW, **options)
    async with app.run_test(size=(120, 40)) as pilot:
        it = Stage(app, pilot, None)  # type: ignore[arg-type]
        await it.until(lambda: app.view is not None, "the console did not come up")
        await it.settled()
        yield it


async def test_the_story_of_the_failing_role_test_can_be_walked(demo: Any) -> None:
    async with console(demo.store) as it:
        await it.play("""
            status 3 sessions
            press slash
            type failing role
            row   Fix the failing role test
            press enter enter
            top   Sessions ▸ Fix the failing role test
            top   Claude Code
            press }
            row   ✗ check
            see   ✗ failed
            see   AssertionError: expected role admin, received
            see   source
            press r
            see   the recorded bytes, as text
            press r
            see   00000000  7b
        """)


async def test_sub_agents_of_sub_agents_open_one_in_the_other(demo: Any) -> None:
    async with console(demo.store) as it:
        await it.play("""
            row   Move the commands to parser v2
            press enter
            see   ├ sub-agent Find callers of parseConfig
            see   ╎
            see   ! compact
            press t
            see   │ ┌ sub-agent Count callers in scripts
            press t t
            gone  │ ┌
        """)


async def test_what_was_said_is_found_and_opened_in_its_place(demo: Any) -> None:
    async with console(demo.store) as it:
        await it.play("press 6\ntype admin\nsee hits\npress enter enter\ntop Sessions ▸\npress n\nstatus hit 2 of")
        await it.play('press 6 escape\ntype nowhere "*( AND\nsee Nothing says')


async def test_a_store_that_holds_and_one_somebody_changed(demo: Any) -> None:
    async with console(demo.store) as it:
        await it.play("press 5 r\nsee ✓ everything that was checked holds: self-consistent\npress 2 enter")
        await it.play("status ✓ self-consistent")
    async with console(demo.tampered_store) as it:
        await it.play("""
            press 5 r
            row   ✗ record
            see   its bytes are not the ones that were recorded
            press enter
            top   Sessions ▸ Make the role test green
            status ✗ record
        """)


async def test_an_address_from_the_command_line_opens_its_event(demo: Any) -> None:
    with Archive.open(demo.store) as archive:
        session = archive.sessions().rows[0]
        event = archive.events(session.key, limit=20).rows[9]
    name = f"session/{session.uid}#{event.id & 0xFFFFFFFFFFFFFFFF:016x}"
    async with console(demo.store, start=name, read_only=True) as it:
        await it.play(f"see {name}\npress i\nsee ! read-only")


async def test_nothing_is_written_by_looking(demo: Any) -> None:
    before = Path(demo.store).read_bytes()
    async with console(demo.store, read_only=True, mask=True) as it:
        await it.play("press enter j j r } ]\nsee turn\npress 6\ntype role\nsee hits")
    assert Path(demo.store).read_bytes() == before


async def test_the_rules_a_session_ran_under_are_one_key_away(tmp_path: Path) -> None:
    folder = tmp_path.resolve() / "acme"
    write(folder, {"CLAUDE.md": b"# Tests\nState the \x1b[31mrole.\n"})
    log = claude_fixtures.chain(
        *[{**one, "cwd": str(folder)} for one in (claude_fixtures.person("Begin"), claude_fixtures.says("Begun"))]
    )
    write(tmp_path, claude_fixtures.lines(log), "projects/-acme/s.jsonl")
    with store_in(tmp_path) as store:
        take(store, folder, tmp_path / "projects")
        path = store.path
    async with console(path) as it:
        await it.play("""
            press enter
            top   Begin
            press I
            see   1 rule file in force
            see   CLAUDE.md
            see   for the session's folder
            see   ~ as imported afterwards
            see   # Tests
            see   State the ␛[31mrole.
            press ] enter
            see   text/markdown
            see   acme/CLAUDE.md
            press backspace
            see   1 rule file in force
            press escape
            top   Begin
        """)
