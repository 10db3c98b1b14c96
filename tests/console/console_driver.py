"""Stories for the console: a few words a line, played on the real application over Textual's pilot.

    press j j enter         keys, one after another
    type some words         characters
    click 3 12              line and column of the screen; ``double`` twice
    on TEXT                 click on some words, where they stand last
    wheel down 3 12         one notch of the wheel there
    size 80x24              another size
    see TEXT                TEXT stands on the screen, soon
    gone TEXT               TEXT stands nowhere, soon
    row TEXT                the line of the cursor holds TEXT
    top TEXT                the first line; ``second`` the one below it
    status TEXT             the bottom line but one; ``keys`` the last line

What a story expects is looked for until it is there or two seconds have passed: nothing sleeps.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

from console_fakes import NOW, FakeServices, World
from rich.cells import cell_len
from textual.events import MouseScrollDown, MouseScrollUp
from textual.pilot import Pilot

from console.app import AffidavitApp

PATIENCE = 20.0
BLANK = "  "


class Stage:
    """The application on a screen, and what a person would see of it."""

    def __init__(self, app: AffidavitApp, pilot: Pilot[None], services: FakeServices) -> None:
        self.app = app
        self.pilot = pilot
        self.services = services

    @property
    def lines(self) -> list[str]:
        """What stands on the screen."""
        return [strip.text.rstrip() for strip in self.app.screen._compositor.render_strips()]

    @property
    def frame(self) -> str:
        return "\n".join(self.lines)

    @property
    def row(self) -> str:
        """The line the cursor stands on."""
        found = [line for line in self.lines if "▌" in line]
        return found[-1] if found else ""

    async def until(self, holds: Callable[[], bool], what: str) -> None:
        """Wait until something holds; fail with the screen if it does not come to hold."""
        end = time.monotonic() + PATIENCE
        while not holds():
            if time.monotonic() > end:
                raise AssertionError(f"{what}\n\n{self.frame}\n")
            await asyncio.sleep(0.005)
            await self.pilot._wait_for_screen()
        assert self.app.crash is None

    async def settled(self) -> None:
        """Wait until nothing is read and nothing is to be done."""
        app = self.app
        await self.until(
            lambda: app.view is not None and not app.arriving and app.pool.idle and app.jobs.job is None,
            "something is still going on",
        )
        await self.pilot.pause()

    async def play(self, story: str) -> None:
        """Play a story line by line."""
        for line in story.strip().splitlines():
            word, _, rest = line.strip().partition(" ")
            if word and not word.startswith("#"):
                await self._step(word, rest.strip())

    async def _step(self, word: str, rest: str) -> None:
        where: dict[str, Callable[[], str]] = {
            "see": lambda: self.frame,
            "row": lambda: self.row,
            "top": lambda: self.lines[0],
            "second": lambda: self.lines[1],
            "status": lambda: self.lines[-2],
            "keys": lambda: self.lines[-1],
        }
        match word:
            case "press":
                for key in rest.split():
                    await self.pilot.press(key)
                    await self.settled()
            case "type":
                await self.pilot.press(*("space" if sign == " " else sign for sign in rest))
            case "click":
                y, x = map(int, rest.split())
                await self.pilot.click(offset=(x, y))
            case "double":
                y, x = map(int, rest.split())
                await self.pilot.double_click(offset=(x, y))
            case "wheel":
                await self._wheel(*rest.split())
            case "on":
                await self._click_words(rest)
            case "size":
                width, height = map(int, rest.split("x"))
                await self.pilot.resize_terminal(width, height)
            case "gone":
                await self.until(lambda: rest not in self.frame, f"still there: {rest}")
            case _:
                await self.until(lambda: rest in where[word](), f"{word}: no {rest!r}")

    async def _wheel(self, way: str, y: str, x: str) -> None:
        kind = MouseScrollDown if way == "down" else MouseScrollUp
        await self.pilot._post_mouse_events([kind], offset=(int(x), int(y)), button=0)
        await self.settled()

    async def _click_words(self, words: str) -> None:
        """Click on some words, where they stand last on the screen."""
        await self.until(lambda: words in self.frame, f"nowhere to click: {words}")
        y, line = next((y, line) for y, line in reversed(list(enumerate(self.lines))) if words in line)
        await self.pilot.click(offset=(cell_len(line[: line.index(words)]), y))
        await self.settled()


@asynccontextmanager
async def stage(
    world: World | None = None, size: tuple[int, int] = (120, 40), services: FakeServices | None = None, **options: Any
) -> AsyncIterator[Stage]:
    """The console on a world of invented sessions."""
    world = world if world is not None else World()
    services = services if services is not None else FakeServices(world)
    app = AffidavitApp(world.open, services=services, now=lambda: NOW, **options)  # type: ignore[arg-type]
    async with app.run_test(size=size) as pilot:
        shown = Stage(app, pilot, services)
        await shown.until(lambda: app.view is not None, "the console did not come up")
        await shown.settled()
        yield shown
