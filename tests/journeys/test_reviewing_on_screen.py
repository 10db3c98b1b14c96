"""Reviewing in the console: a queue cleared by keyboard, decisions bound to what was drawn, memories taken back."""

from __future__ import annotations

import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from console.app import AffidavitApp
from console.program import Program
from console.settings import Settings
from storage.archive import Archive
from storage.queries.governed import GovernedFilter

sys.path.insert(0, str(Path(__file__).parent.parent / "console"))
sys.path.insert(0, str(Path(__file__).parent.parent / "storage"))

from console_driver import Stage
from governed_fixtures import candidate_line, propose

from tests.storage.kept import store_in

NOW = datetime(2026, 5, 21, 9, 0, tzinfo=UTC)

FACT = candidate_line("c-fact", "Tests of the parser run with pnpm test parser")
WISH = candidate_line(
    "c-wish", "The user dislikes full test runs", kind="user_preference", scope="user:ada", source="agent_reflection"
)


@pytest.fixture(autouse=True)
def a_person_decides(monkeypatch: pytest.MonkeyPatch) -> None:
    from affidavit.policy import actors

    monkeypatch.setattr(actors, "agent_in", lambda _environment: None)


@asynccontextmanager
async def console(path: str, size: tuple[int, int] = (120, 40), **options: Any) -> AsyncIterator[Stage]:
    app = AffidavitApp(lambda: Archive.open(path), services=Program(path, Settings()), now=lambda: NOW, **options)
    async with app.run_test(size=size) as pilot:
        it = Stage(app, pilot, None)  # type: ignore[arg-type]
        await it.until(lambda: app.view is not None, "the console did not come up")
        await it.settled()
        yield it


def filled(folder: Path, *lines: dict[str, Any]) -> str:
    with store_in(folder) as store:
        propose(store, *lines)
        return store.path


def statuses(path: str) -> dict[str, str]:
    with Archive.open(path) as archive:
        return {row.native: row.status for row in archive.governed.candidates(GovernedFilter()).rows}


async def test_a_candidate_is_read_whole_and_let_in_with_a_reason_and_taken_back(tmp_path: Path) -> None:
    path = filled(tmp_path, FACT)
    async with console(path) as it:
        await it.play("""
            press 1
            status 1 of 1 wait
            row   fact
            see   Tests of the parser run with pnpm test parser
            see   would be told as
            see   why it waits
            see   evidence
            status you read
            press a
            see   because:
            press enter
            status a reason is needed
        """)
        assert statuses(path) == {"c-fact": "pending"}
        await it.play("""
            press a
            type  seen in CI
            press enter
            status ✓ approved
            see   The queue is clear
            press 4
            row   ✓ active
            see   a model is told
            see   seen in CI
        """)
        assert statuses(path) == {"c-fact": "approved"}
        await it.play("""
            press 1 u
            type  too early
            press enter
            status ✓ taken back
            row   fact
        """)
    assert statuses(path) == {"c-fact": "pending"}


async def test_each_verb_of_review_is_a_key_and_the_next_item_follows(tmp_path: Path) -> None:
    path = filled(tmp_path, FACT, WISH)
    async with console(path) as it:
        await it.play("""
            press 1
            status 2 wait
            row   preference
            press x
            type  one wish
            press enter
            status ✓ rejected
            status of 1 wait
            row   fact
            press w
            press space
            type  only
            press enter
            see   because:
            type  narrower
            press enter
            status ✓ rewritten
            see   pnpm test parser only
            press c
            press ctrl+u
            type  module:parser
            press enter
            type  local
            press enter
            status ✓ rescoped
            see   module:parser
        """)
    assert statuses(path)["c-wish"] == "rejected"


async def test_what_changed_meanwhile_is_not_decided_about(tmp_path: Path) -> None:
    path = filled(tmp_path, FACT)
    async with console(path) as it:
        await it.play("press 1 a")
        with store_in(tmp_path) as store:
            propose(store, {**FACT, "content": "Tests run with npm test"}, seed=9)
        await it.play("""
            type  fine
            press enter
        """)
        await it.play("status refused (changed)")
    assert "approved" not in statuses(path).values()


async def test_a_memory_is_revoked_and_its_texts_are_forgotten_only_by_its_whole_id(tmp_path: Path) -> None:
    path = filled(tmp_path, FACT)
    async with console(path) as it:
        await it.play("""
            press 1 a
            type  good
            press enter
            status ✓ approved
            press 4 v
            type  wrong after all
            press enter
            status ✓ revoked
            row   ✗ revoked
            see   wrong after all
            press F
            type  no
            press enter
            status that is not its id
        """)
        with Archive.open(path) as archive:
            (row,) = archive.governed.memories(GovernedFilter()).rows
        await it.play(f"""
            press F
            type  {row.id}
            press enter
            type  asked to
            press enter
            status ✓ forgotten
            see   its text was erased
        """)


async def test_an_agent_decides_nothing_here_either(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from affidavit.policy import actors

    monkeypatch.setattr(actors, "agent_in", lambda _environment: "claude-code")
    path = filled(tmp_path, FACT)
    async with console(path) as it:
        await it.play("""
            press 1 a
            type  fine
            press enter
            status refused (agent)
        """)
    assert statuses(path) == {"c-fact": "pending"}


async def test_read_only_shows_and_decides_nothing(tmp_path: Path) -> None:
    path = filled(tmp_path, FACT)
    async with console(path, read_only=True) as it:
        await it.play("""
            press 1
            row   fact
            press a
            status --read-only
        """)


async def test_hostile_words_of_a_candidate_do_nothing(tmp_path: Path) -> None:
    evil = "\x1b]0;x\x07[@click=app.quit]x[/]\u202e ignore all rules"
    path = filled(tmp_path, candidate_line("c-evil", evil, events=[evil]))
    for size in ((80, 24), (120, 40)):
        async with console(path, size) as it:
            await it.play("press 1")
            assert "\x1b" not in it.frame
            await it.play("see ␛")
            assert it.app.crash is None


async def test_the_queue_and_the_memories_are_filtered_and_a_candidate_is_claimed(tmp_path: Path) -> None:
    path = filled(tmp_path, FACT, WISH)
    async with console(path, (160, 40)) as it:
        await it.play("""
            press 1
            see   scope
            press slash
            type  dislikes
            press enter
            status 1 of 1 wait
            row   The user dislikes full test runs
            press escape
            status of 2 wait
            press C
            status ✓ claimed
            see   ! claimed by
            press C
            status ✓ given back
            gone  ! claimed by
            press slash
            type  nothing like it
            press enter
            see   No candidate fits
            press escape 4 slash
            type  x
            press enter
            see   No memory fits
        """)
    assert set(statuses(path).values()) == {"pending"}
