"""Gate runs, walked in the console: the list, one run with its reasons, and what a change of settings would change."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from test_console_on_a_store import console

from storage.recalling import keep_recall
from tests.storage.kept import Clock, chance

SETTINGS = {"minScore": 0.78, "maxAgeDays": 90}


def store(folder: Path) -> str:
    """Two recalls of one query, the second a dry run under settings that are more lenient, and another."""
    path = str(folder / "store.db")

    def recall(seed: int, at: str, passed: list[str], kept: dict[str, str], **more: Any) -> None:
        audit = {
            "at": at, "query": "which test command?", "scope": {"repo": "acme/app", "memorySpace": "build"},
            "acceptedIds": passed, "accepted": [{"id": id, "title": f"About {id}"} for id in passed],
            "rejected": [{"id": id, "title": f"On [b]{id}[/b]", "reason": reason} for id, reason in kept.items()],
            "dryRun": False, "settings": SETTINGS, **more,
        }  # fmt: skip
        assert keep_recall(path, audit, clock=Clock(), random=chance(seed))

    recall(1, "2026-05-14T10:00:00Z", [], {"m1": "low_score", "m2": "superseded"})
    lenient = {"minScore": 0.5, "maxAgeDays": 90}
    recall(2, "2026-05-14T11:00:00Z", ["m1"], {"m2": "superseded"}, dryRun=True, settings=lenient)
    recall(3, "2026-05-13T10:00:00Z", [], {"m3": "stale"}, query="another")
    return path


async def test_gate_runs_are_a_key_away_from_the_snapshots(tmp_path: Path) -> None:
    async with console(store(tmp_path)) as it:
        await it.play("""
            press 3
            see No retrieval was recorded
            press tab
            see which test command?
            top gate runs
            status 3 gate runs
            row dry run
            press f
            see stale
            type stale
            press enter
            see another
            gone which test command?
            status 2 hidden
            press escape
            see which test command?
            press tab
            see No retrieval was recorded
        """)


async def test_one_run_names_everything_and_stands_beside_the_one_before(tmp_path: Path) -> None:
    async with console(store(tmp_path)) as it:
        await it.play("""
            press 3
            press tab
            see which test command?
            press enter
            see 1 of 2 passed
            see dry run: nothing was handed over
            see About m1
            see On [b]m2[/b]
            see superseded: another took its place
            see low_score → accepted
            see 0.78 → 0.5
            top gate runs
            press enter
            see 0 of 2 passed
            gone Against the recall before
            press backspace
            see 1 of 2 passed
        """)


async def test_an_address_opens_its_run_and_none_is_told(tmp_path: Path) -> None:
    from storage.archive import Archive

    path = store(tmp_path)
    with Archive.open(path) as archive:
        uid = archive.gate_runs.page().rows[-1].uid
    async with console(path) as it:
        await it.play(f"""
            press :
            type gate/{uid[:8]}
            press enter
            see stale: it is too old
            press :
            type gate/nothing
            press enter
            see no gate run
        """)
