"""Draws the pictures in ``docs/pictures`` from the demo: the real console, without a terminal, at a fixed hour.

make pictures
"""

from __future__ import annotations

import asyncio
import os
import re
import tempfile
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sample_sessions import DemoResult

PICTURES = Path(__file__).resolve().parent / "pictures"
HOUR = datetime(2026, 5, 21, 9, 6, tzinfo=UTC)


@dataclass(frozen=True)
class Picture:
    """One picture: where the console is opened, what is pressed there, and how large it is.

    ``shows`` is a word that must be on it; without that, something else was drawn.
    """

    name: str
    shows: str
    keys: tuple[str, ...] = ()
    session: int | None = None
    size: tuple[int, int] = (120, 34)
    theme: str = "dark"
    tampered: bool = False


SHOWN = (
    Picture("sessions", "failing", size=(120, 16)),
    Picture("timeline", "AssertionError", ("right_curly_bracket",), session=0),
    Picture(
        "timeline-light", "AssertionError", ("right_curly_bracket", "right_curly_bracket"), session=1, theme="light"
    ),
    Picture("tree", "callers", ("t", "t", "j"), size=(120, 16)),
    Picture("lane", "sub-agent", ("t", "j", "j", "j", "j", "t"), session=2, size=(120, 26)),
    Picture("branches", "abandoned", ("b",), session=2, size=(120, 26)),
    Picture("bytes", "recorded", ("right_curly_bracket", "enter", "r", "r"), session=0, size=(120, 26)),
    Picture("rules", "rule", ("right_square_bracket", "I"), session=0, size=(120, 26)),
    Picture("snapshots", "hashes", ("3",), size=(120, 18)),
    Picture("snapshot", "recalled", ("3", "j", "j", "j", "j", "j", "j", "enter", "j", "j", "j"), size=(120, 30)),
    Picture("context", "untrusted", ("right_curly_bracket", "i"), session=1, size=(120, 26)),
    Picture("queue", "why", ("1", "j", "j", "j", "j", "j", "j", "j"), size=(120, 30)),
    Picture("search", "hit", ("6", "r", "o", "l", "e", "enter", "j"), size=(120, 26)),
    Picture("palette", "filter", ("ctrl+p", "f", "i", "l"), size=(120, 26)),
    Picture("verify", "recorded", ("5", "r"), size=(120, 26), tampered=True),
)


async def draw(picture: Picture, demo: DemoResult) -> str:
    """The picture as SVG."""
    from console.app import AffidavitApp
    from console.program import Program
    from console.settings import Settings
    from storage.archive import Archive

    store = demo.tampered_store if picture.tampered else demo.store
    app = AffidavitApp(
        lambda: Archive.open(store),
        services=Program(store, Settings(), demo=True),
        start=None if picture.session is None else f"session/{demo.sessions[picture.session].id}",
        theme=picture.theme,
        now=lambda: HOUR,
    )
    async with app.run_test(size=picture.size) as pilot:
        await settle(pilot.pause)
        for key in picture.keys:
            await pilot.press(key)
            await settle(pilot.pause)
        svg = plain(app.export_screenshot(title="affidavit", simplify=True))
    if f">{picture.shows}" not in svg.replace("&#160;", ">"):
        raise SystemExit(f"{picture.name}: {picture.shows!r} is not on it")
    return svg


async def settle(pause: object) -> None:
    """Waits until queries have answered and what they gave is drawn."""
    for _ in range(6):
        await asyncio.sleep(0.15)
        await pause()  # type: ignore[operator]


CELL = 12.2
"""Width of a character cell in these pictures, in their own units."""

TEXT = re.compile(
    r'(<text [^>]*?x=")([\d.]+)("[^>]*? textLength=")([\d.]+)("[^>]*>)((?:&#160;)*)(.*?)((?:&#160;)*)</text>'
)


def without_margins(text: re.Match[str]) -> str:
    """A run of text without blanks at its ends, which some viewers draw and some do not."""
    before, x, between, length, after, lead, words, trail = text.groups()
    left, right = len(lead) // 6, len(trail) // 6
    start = float(x) + left * CELL
    width = float(length) - (left + right) * CELL
    return f"{before}{start:.1f}{between}{width:.1f}{after}{words}</text>" if words else ""


def plain(svg: str) -> str:
    """Without fonts to fetch: a picture in a page must not call on another server."""
    svg = re.sub(r"@font-face\s*\{.*?\}", "", svg, flags=re.DOTALL)
    svg = TEXT.sub(without_margins, svg)
    svg = svg.replace("Fira Code", "ui-monospace, SFMono-Regular, Menlo, DejaVu Sans Mono")
    return "\n".join(line.rstrip() for line in svg.splitlines() if line.strip()) + "\n"


def main() -> None:
    """Draws them all."""
    import sample_sessions

    PICTURES.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        for name in ("HOME", "XDG_STATE_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME"):
            os.environ[name] = folder
        os.environ.pop("NO_COLOR", None)
        demo = sample_sessions.build(folder)
        for picture in SHOWN:
            path = PICTURES / f"{picture.name}.svg"
            path.write_text(asyncio.run(draw(picture, demo)), "utf-8")
            print(path.relative_to(PICTURES.parent.parent), f"{path.stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
