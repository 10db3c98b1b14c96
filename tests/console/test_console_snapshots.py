"""Pictures of a few screens at three sizes, with the clock, the data and the theme held still."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from console_fakes import BROKEN, NOW, FakeServices, World
from textual.pilot import Pilot

from console.app import AffidavitApp

Settle = Callable[[Pilot[None]], Awaitable[None]]


def app(world: World | None = None, theme: str = "dark", **found: Any) -> AffidavitApp:
    """The console on an invented world."""
    world = world if world is not None else World()
    services = FakeServices(world)
    for name, value in found.items():
        setattr(services, name, value)
    return AffidavitApp(world.open, services=services, now=lambda: NOW, theme=theme)  # type: ignore[arg-type]


def pressing(*keys: str) -> Settle:
    """Press keys, each once what the one before brought is there."""

    async def press(pilot: Pilot[None]) -> None:
        console = pilot.app
        assert isinstance(console, AffidavitApp)

        async def settled() -> None:
            for _ in range(400):
                await pilot.pause(0.01)
                if console.view is not None and console.pool.idle and console.jobs.job is None:
                    break
            await pilot.pause(0.15)

        await settled()
        for key in keys:
            await pilot.press(key)
            await settled()

    return press


@pytest.mark.parametrize("size", [(80, 24), (200, 60)], ids=["80x24", "200x60"])
def test_sessions(snap_compare: Any, size: tuple[int, int]) -> None:
    assert snap_compare(app(), terminal_size=size, run_before=pressing("j", "j"))


@pytest.mark.parametrize(
    ("size", "theme"), [((80, 24), "dark"), ((120, 40), "dark"), ((120, 40), "light")], ids=["80x24", "120x40", "light"]
)
def test_timeline(snap_compare: Any, size: tuple[int, int], theme: str) -> None:
    keys = ("enter", "right_curly_bracket")
    assert snap_compare(app(theme=theme), terminal_size=size, run_before=pressing(*keys))


def test_help(snap_compare: Any) -> None:
    assert snap_compare(app(), terminal_size=(120, 40), run_before=pressing("enter", "question_mark"))


def test_a_failed_verification(snap_compare: Any) -> None:
    from dataclasses import replace

    result = replace(FakeServices().result, holds=False, level="none", failures=[BROKEN])
    shown = app(verified=result)
    assert snap_compare(shown, terminal_size=(120, 40), run_before=pressing("5"))


def test_first_run(snap_compare: Any) -> None:
    assert snap_compare(app(World(sessions=0)), terminal_size=(80, 24), run_before=pressing("j"))
