"""What the model saw, walked in the console: requests of a session, snapshots, and texts that are not as hashed."""

from __future__ import annotations

import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from affidavit.proof.verdict import text_hash
from affidavit.session.event import event_hex
from console.app import AffidavitApp
from console.program import Program
from console.settings import Settings
from storage.archive import Archive
from tests.console.snapshot_lines import RULE, line, message, rejected, selected, snapshot
from tests.storage import claude_fixtures as log
from tests.storage.kept import store_in, take, write

sys.path.insert(0, str(Path(__file__).parent.parent / "console"))

from console_driver import Stage

NOW = datetime(2026, 5, 21, 9, 0, tzinfo=UTC)


@asynccontextmanager
async def console(path: str, size: tuple[int, int] = (120, 40), **options: Any) -> AsyncIterator[Stage]:
    services = Program(path, Settings())
    app = AffidavitApp(lambda: Archive.open(path), services=services, now=lambda: NOW, **options)
    async with app.run_test(size=size) as pilot:
        it = Stage(app, pilot, None)  # type: ignore[arg-type]
        await it.until(lambda: app.view is not None, "the console did not come up")
        await it.settled()
        yield it


def store(folder: Path, *lines: bytes) -> str:
    write(folder, b"".join(lines), "own.jsonl")
    with store_in(folder) as kept:
        take(kept, folder / "own.jsonl")
        return kept.path


@pytest.fixture
def session(tmp_path: Path) -> str:
    records = log.chain(
        log.person("Why does it fail?", "p1"),
        log.calls("Read", "t1", {"id": "m1"}, file_path="a.py"),
        log.result("def a(): ...", "t1"),
        log.says("a returns nothing.", id="m2"),
        log.person("And b?", "p2"),
        log.says("b is fine.", id="m3"),
    )
    return store(tmp_path, log.lines(records))


async def test_from_a_row_of_the_timeline_to_what_the_model_had_in_front_of_it(session: str) -> None:
    async with console(session) as it:
        await it.play("""
            press enter g i
            top   turn 1, request 1 of 3
            top   ~ replay: partial
            see   system rules: not recorded
            status 1 text · 1 new
            press ]
            top   request 2 of 3
            row   ⌕ fetched
            row   untrusted
            see   def a(): ...
            status 3 texts
            press ] ]
            top   request 3 of 3
            status no further request
            press enter
            row   And b?
            press backspace
            top   request 3 of 3
            press escape
            top   Sessions ▸
        """)


async def test_an_address_of_a_request_opens_there(session: str) -> None:
    with Archive.open(session) as archive:
        (row,) = archive.sessions().rows
    async with console(session, start=f"context/{row.uid}/2") as it:
        await it.play("top turn 1, request 2 of 3")
    async with console(session, start=f"context/{row.uid}/9") as it:
        await it.play("see has no model request 9: it has 3")


async def test_a_snapshot_shows_its_funnel_and_who_was_turned_away_and_why(tmp_path: Path) -> None:
    path = store(tmp_path, message(), line(snapshot()))
    async with console(path) as it:
        await it.play("""
            press 3
            row   role mock
            row   ✓ match
            status 1 of 1 snapshot
            press enter
            top   Snapshots ▸ retr-1
            second fix-test
            see   recalled     4 █
            see   filtered    −1
            see   stale 1
            see   over_budget 1
            see   visible      2 █
            row   [rule#1]
            see   Test mocks state their role.
            press j
            see   export const role = undefined;
            press tab
            row   stale
            see   turned away at governance
            see   its age is not recorded
            see   lexical
            see   Its text is not in the snapshot.
            press tab enter
            see   Test mocks state their role.
            press escape escape
            top   3 Snapshots
        """)


async def test_a_text_that_differs_from_its_hash_is_the_loudest_thing_on_the_screen(tmp_path: Path) -> None:
    item = selected("rule#1", RULE + " Or not.", visibleTextHash=text_hash(RULE))
    path = store(tmp_path, line(snapshot(selectedItems=[item])))
    for size in ((80, 24), (120, 40)):
        async with console(path, size) as it:
            await it.play(f"""
                press 3
                row   ✗ differs
                press enter
                top   ✗ A VISIBLE TEXT DIFFERS FROM ITS HASH
                row   ✗ differs
                see   the text is not the one that was hashed
                see   {text_hash(RULE)[:30]}
            """)


@pytest.mark.parametrize(
    ("stats", "items", "title"),
    [
        ({"recalled": 0, "filtered": 0, "rankedOut": 0, "trimmed": 0, "selected": 0}, [], "Nothing recalled"),
        (
            {"recalled": 1, "filtered": 1, "rankedOut": 0, "trimmed": 0, "selected": 0},
            [rejected("a", "scope", "out_of_branch")],
            "All filtered",
        ),
        (
            {"recalled": 1, "filtered": 0, "rankedOut": 0, "trimmed": 1, "selected": 0},
            [rejected("a", "budget", "over_budget")],
            "All trimmed",
        ),
    ],
)
async def test_the_kinds_of_nothing_are_told_apart(
    tmp_path: Path, stats: dict[str, int], items: list[Any], title: str
) -> None:
    path = store(tmp_path, line(snapshot(candidateStats=stats, selectedItems=[], rejectedItems=items)))
    async with console(path) as it:
        await it.play("press 3 enter")
        if items:
            await it.play("press tab")
        await it.play(f"see {title}")


async def test_without_any_snapshot_the_list_says_where_else_to_look(session: str) -> None:
    async with console(session) as it:
        await it.play("""
            press 3
            see   Nothing stored
            see   i on a row shows what the model saw there
        """)


async def test_snapshots_are_filtered_and_narrowed_down(tmp_path: Path) -> None:
    other = snapshot("retr-2", sessionId="s-2", scope={**snapshot()["scope"], "purpose": "review-risk"})
    path = store(tmp_path, line(snapshot()), line(other))
    async with console(path) as it:
        await it.play("""
            press 3
            status 2 snapshots
            press slash
            type retr-2
            press enter
            status 1 of 1 snapshot · 1 hidden
            press escape f
            see   review-risk
            type  review
            press enter
            status 1 of 1 snapshot · 1 hidden
            second review-risk
        """)


async def test_a_citation_opens_the_recorded_bytes_it_came_from(tmp_path: Path) -> None:
    text = "expected role admin"
    artifact = b'{"type":"artifact","session":"s-1","media":"text/plain","text":"%s"}\n' % text.encode()
    item = selected("test-log#1", text, sourceRef=text_hash(text))
    path = store(tmp_path, message(), artifact, line(snapshot(selectedItems=[item])))
    async with console(path, start="snapshot/retr-1/test-log#1") as it:
        await it.play("""
            row   [test-log#1]
            press enter
            see   payload/
            see   expected role admin
            press backspace
            row   [test-log#1]
        """)


async def test_hostile_words_of_a_snapshot_do_nothing(tmp_path: Path) -> None:
    evil = "\x1b]0;x\x07[@click=app.quit]x[/]\u202e"
    item = selected(evil, evil, sourceRef=evil, selectedReason=evil, evidenceKind=evil, trust=evil)
    body = snapshot(
        id=f"r{evil}", selectedItems=[item], rejectedItems=[rejected(evil, evil, evil)],
        plan={"subQueries": [{"queryText": evil}]},
    )  # fmt: skip
    path = store(tmp_path, message(), line(body))
    async with console(path) as it:
        await it.play("press 3 enter tab tab")
        assert "\x1b" not in it.frame
        assert "␛" in it.frame
        await it.play("press enter")
        assert it.app.crash is None


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> str:
    from sample_sessions.demo import build

    return build(tmp_path_factory.mktemp("demo")).store


async def test_what_the_model_knew_when_it_changed_the_default_and_what_was_kept_from_it(demo: str) -> None:
    with Archive.open(demo) as archive:
        (row,) = [one for one in archive.sessions().rows if one.title == "Make the role test green"]
        edit = next(one for one in archive.events(row.key).rows if one.tool == "Edit")
        address = f"session/{row.uid}#{event_hex(edit.id)}"
    async with console(demo, start=address) as it:
        await it.play("""
            row   src/auth/session.ts
            press i
            see   retr-snap-022-0003
            press S
            top   retr-snap-022-0003
            see   it misleads: the budget cut the key line
            press j j j
            row   [rule#1]
            see   ! the budget cut the key line
            see   shortened (head)
            gone  Do not change production defaults
            press backspace
            top   request 4 of 13
        """)


async def test_other_settings_are_tried_on_the_recorded_candidates_while_they_are_typed(demo: str) -> None:
    async with console(demo, start="snapshot/retr-snap-012-0001") as it:
        await it.play("""
            see   over_budget 1
            press W
            type  budget=900
            see   + appears
            see   src/parser/ser
            see   +1 −0
            press enter
            see   What if budget=900
            press escape
            row   [code#1]
            press W
            type  charm=3
            see   nothing is called charm
            press escape
            row   [code#1]
        """)
