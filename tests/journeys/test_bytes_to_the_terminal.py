"""Moving the cursor writes little to the terminal: what matters over a slow line, and a repaint gone wrong shows here.

Counts, not times: a busy machine must not fail a test.
"""

from __future__ import annotations

import os
import statistics
import sys
from pathlib import Path

import pytest

from benchmarks import inputs
from benchmarks.terminal import Terminal

AFFIDAVIT = str(Path(sys.executable).with_name("affidavit"))
LIST_BYTES = 640
DETAIL_BYTES = 4096
SCROLL_BYTES = 4096


@pytest.fixture
def store(tmp_path: Path) -> Path:
    from console.main import main

    log, store = tmp_path / "log.jsonl", tmp_path / "store.db"
    inputs.write(log, 3000)
    assert main(["import", str(log), "--store", str(store)]) == 0
    return store


@pytest.mark.skipif(os.name != "posix", reason="needs a pseudo-terminal")
@pytest.mark.parametrize("size", [(120, 40), (200, 60)])
def test_a_cursor_move_in_a_long_timeline_repaints_two_rows_and_the_detail(store: Path, size: tuple[int, int]) -> None:
    from storage.archive import Archive

    archive = Archive.open(str(store))
    uid = archive.sessions().rows[0].uid
    archive.close()
    with Terminal([AFFIDAVIT, "--store", str(store), f"session/{uid}"], size=size) as terminal:
        terminal.expect(inputs.SHOWN)
        terminal.rest(0.6)
        terminal.press(b"j")
        moves = [terminal.press(b"j") for _ in range(12)]
    assert all(move.first for move in moves)
    assert statistics.median(move.first for move in moves) <= LIST_BYTES
    assert max(move.first + move.later for move in moves) <= LIST_BYTES + DETAIL_BYTES


@pytest.mark.skipif(os.name != "posix", reason="needs a pseudo-terminal")
def test_a_list_that_scrolls_by_a_row_tells_of_each_colour_once(store: Path) -> None:
    from storage.archive import Archive

    archive = Archive.open(str(store))
    uid = archive.sessions().rows[0].uid
    archive.close()
    with Terminal([AFFIDAVIT, "--store", str(store), f"session/{uid}"]) as terminal:
        terminal.expect(inputs.SHOWN)
        terminal.rest(0.6)
        terminal.press(b"j" * 40)
        moves = [terminal.press(b"j") for _ in range(8)]
    # Less than two rows and more than a screen would mean that the list had not scrolled at all.
    assert 2 * LIST_BYTES < statistics.median(move.first for move in moves) <= SCROLL_BYTES
