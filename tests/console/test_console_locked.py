"""A store that another program holds, under a console: reading goes on, writing waits off the screen, none is lost."""

from __future__ import annotations

import asyncio
import sys
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from console_driver import Stage
from test_cli_locked import held

from console import patience
from console.app import AffidavitApp
from console.program import Program
from console.settings import Settings
from storage.archive import Archive
from storage.importing import Importer
from storage.store import Store, StoreError
from storage.verify import verify

sys.path.insert(0, str(Path(__file__).parent.parent / "storage"))

from kept import Clock, write
from test_interruption import logs_of, originals


@pytest.fixture
def store(tmp_path: Path) -> Path:
    """A store of three sessions, and a log beside it that waits to be imported."""
    logs = tmp_path / "logs"
    for number in range(3):
        data = logs_of(2, 2 * number).replace(b"5e551011", f"5e55101{number}".encode())
        write(logs, data, f"{number}.jsonl")
    path = tmp_path / "store.db"
    with Store.open(str(path), create=True) as opened:
        Importer(opened, clock=Clock()).paths([str(logs)])
    write(tmp_path / "more", logs_of(9, 100).replace(b"5e551011", b"5e551019"), "more.jsonl")
    return path


@asynccontextmanager
async def console(path: Path) -> AsyncIterator[Stage]:
    app = AffidavitApp(lambda: Archive.open(str(path)), services=Program(str(path), Settings()))
    async with app.run_test(size=(120, 30)) as pilot:
        it = Stage(app, pilot, None)  # type: ignore[arg-type]
        await it.until(lambda: app.view is not None, "the console did not come up")
        await it.settled()
        yield it


async def ask_for_import(it: Stage, folder: Path) -> None:
    await it.pilot.press("i")
    await it.play("see another file or folder")
    await it.pilot.press("enter")
    await it.play(f"type {folder}")
    await it.pilot.press("enter")


async def longest_pause(seconds: float) -> float:
    """How long at most the screen's thread was kept from going on, over so many seconds."""
    worst, end = 0.0, time.monotonic() + seconds
    while time.monotonic() < end:
        began = time.monotonic()
        await asyncio.sleep(0.01)
        worst = max(worst, time.monotonic() - began - 0.01)
    return worst


async def test_an_import_waits_for_a_held_store_and_the_console_stays_usable(
    store: Path, figure: Callable[[int, int], int]
) -> None:
    more = store.parent / "more"
    async with console(store) as it:
        with held(store, 120):
            await ask_for_import(it, more)
            await it.play("status import waiting: another program writes to the store\ntop ! read-only for now")
            before = it.row
            await it.pilot.press("j")
            await it.until(lambda: it.row != before, "the cursor does not move")
            await it.pilot.press("enter")
            await it.play("top Sessions ▸\ntop ! read-only for now\nsee Prompt")
            assert await longest_pause(figure(1, 8)) < 0.5
            await it.play("status import waiting")
        await it.play("status imported: 1 session from 1 file\ngone read-only for now")
    (file,) = more.iterdir()
    assert originals(str(store))[str(file)] == file.read_bytes()
    assert verify(str(store)).holds


async def test_what_waits_can_be_given_up(store: Path) -> None:
    async with console(store) as it:
        with held(store, 120):
            await ask_for_import(it, store.parent / "more")
            await it.play("status import waiting")
            await it.pilot.press("escape")
            await it.play("status stopped; kept: 0 sessions\ngone read-only for now")
        await it.settled()
        await ask_for_import(it, store.parent / "more")
        await it.play("status imported: 1 session from 1 file")


async def test_a_store_that_is_held_too_long_is_said_and_the_import_can_be_asked_for_again(
    store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(patience, "MOST", 0.5)
    async with console(store) as it:
        with held(store, 120):
            await ask_for_import(it, store.parent / "more")
            await it.play("see ✗ Something could not be done\nsee program is writing to the store")
            await it.pilot.press("escape")
        await ask_for_import(it, store.parent / "more")
        await it.play("status imported: 1 session from 1 file")


def locked() -> StoreError:
    return StoreError("locked", "store.db", "held")


def test_tries_go_on_for_a_bounded_time_with_pauses_of_different_lengths() -> None:
    now, told, pauses = [0.0], [], []

    def work() -> str:
        now[0] += 4
        raise locked()

    def chance(low: float, high: float) -> float:
        pauses.append((low, high))
        return 0

    with pytest.raises(StoreError):
        patience.patiently(work, lambda *said: told.append(said), lambda: False, clock=lambda: now[0], chance=chance)
    assert patience.MOST < now[0] <= patience.MOST + 8
    assert len(told) == len(pauses) == now[0] / 4 - 1
    assert all(low < high for low, high in pauses)


def test_any_other_refusal_is_not_waited_out() -> None:
    def work() -> None:
        raise StoreError("full", "store.db", "full")

    with pytest.raises(StoreError, match="full"):
        patience.patiently(work, lambda *_: pytest.fail("nothing is waited for"), lambda: False)
