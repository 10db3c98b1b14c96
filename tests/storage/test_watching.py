"""Watching trees: what changed is seen, what rests costs little."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from storage import following
from storage.watching import ANEW, LATELY, Watch

LONG_AGO = 1_600_000_000


class Clocks:
    def __init__(self) -> None:
        self.passed = 0.0

    def watch(self, *paths: Path) -> Watch:
        return Watch([str(path) for path in paths], clock=lambda: self.passed, wall=lambda: time.time() + self.passed)


def rested(*paths: Path) -> None:
    for path in paths:
        os.utime(path, (LONG_AGO, LONG_AGO))


def changed(watch: Watch, *, whole: bool = True) -> list[str]:
    """The names of what changed, which then counts as known."""
    sight = watch.look(whole=whole)
    watch.marks.update(sight.changed)
    return [Path(path).name for path in sight.changed]


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    for name in ("b/2.jsonl", "b/1.jsonl", "a/deep/3.jsonl", "0.jsonl"):
        file = tmp_path / "tree" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(b"{}\n")
        rested(file)
    os.symlink(tmp_path / "tree" / "0.jsonl", tmp_path / "tree" / "link.jsonl")
    os.mkfifo(tmp_path / "tree" / "pipe.jsonl")
    return tmp_path / "tree"


def test_files_are_seen_in_order_a_folder_s_own_first_and_links_are_not_followed(tree: Path) -> None:
    watch = Clocks().watch(tree)
    assert changed(watch) == ["0.jsonl", "3.jsonl", "1.jsonl", "2.jsonl"]
    assert changed(watch) == []


def test_a_file_that_is_named_itself_may_be_a_link(tree: Path) -> None:
    watch = Clocks().watch(tree / "link.jsonl")
    assert changed(watch) == ["link.jsonl"]
    (tree / "0.jsonl").write_bytes(b"{}\n{}\n")
    assert changed(watch) == ["link.jsonl"]


def test_a_quick_look_sees_what_changed_lately_and_what_is_new(tree: Path) -> None:
    clocks = Clocks()
    watch = clocks.watch(tree)
    changed(watch)
    resting = tree / "b" / "1.jsonl"
    with resting.open("ab") as more:
        more.write(b"{}\n")
    (tree / "b" / "new.jsonl").write_bytes(b"{}\n")
    assert changed(watch, whole=False) == ["new.jsonl"], "what rests is left to the next look at everything"
    assert changed(watch) == ["1.jsonl"]
    with resting.open("ab") as more:
        more.write(b"{}\n")
    assert changed(watch, whole=False) == ["1.jsonl"]
    rested(resting)
    changed(watch)
    clocks.passed += LATELY + 1
    changed(watch)
    resting.write_bytes(b"{}\n")
    assert changed(watch, whole=False) == []
    assert changed(watch) == ["1.jsonl"]


def test_a_folder_at_rest_is_not_listed_again_until_its_time_says_so_or_long_has_passed(
    tree: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    clocks = Clocks()
    folders = [tree, tree / "a", tree / "a" / "deep", tree / "b"]
    rested(*folders)
    watch = clocks.watch(tree)
    changed(watch)
    listed: list[str] = []
    scandir = os.scandir
    monkeypatch.setattr(os, "scandir", lambda path: (listed.append(Path(path).name), scandir(path))[1])
    assert (changed(watch), listed) == ([], [])
    (tree / "b" / "3.jsonl").write_bytes(b"{}\n")
    assert (changed(watch, whole=False), listed) == (["3.jsonl"], ["b"])
    rested(tree / "b")
    changed(watch)
    listed.clear()
    clocks.passed += ANEW + 1
    changed(watch)
    assert sorted(listed) == ["a", "b", "deep", "tree"]


def test_a_name_made_in_the_same_instant_as_the_list_is_not_missed(tree: Path) -> None:
    """The time of a folder counts in steps: while it is young, it does not tell of everything."""
    watch = Clocks().watch(tree)
    changed(watch)
    before = os.stat(tree).st_mtime_ns
    (tree / "sudden.jsonl").write_bytes(b"{}\n")
    os.utime(tree, ns=(before, before))
    assert changed(watch) == ["sudden.jsonl"]


def test_looking_at_five_hundred_resting_files_costs_less_than_a_fiftieth_of_a_core(tmp_path: Path) -> None:
    for number in range(500):
        file = tmp_path / "tree" / f"-home-user-src-{number // 10}" / f"{number:08x}-0000-4000-8000.jsonl"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(b"{}\n")
        rested(file)
    rested(*(tmp_path / "tree").iterdir(), tmp_path / "tree")
    watch = Watch([str(tmp_path / "tree")])
    assert len(changed(watch)) == 500

    def cost(whole: bool) -> float:
        began = time.thread_time()
        assert watch.look(whole=whole).changed == {}
        return time.thread_time() - began

    quick, whole = (min(cost(which) for _ in range(9)) for which in (False, True))
    share = quick / max(following.SOONEST, following.QUICK_REST * quick)
    share += whole / max(following.WHOLE, following.REST * whole)
    assert share < 0.02


def test_a_folder_that_does_not_let_itself_be_listed_is_told_once(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    watch = Clocks().watch(tree)
    changed(watch)
    scandir = os.scandir

    def closed(path: str) -> object:
        if path.endswith("/b"):
            raise PermissionError(13, "Permission denied")
        return scandir(path)

    monkeypatch.setattr(os, "scandir", closed)
    first, second = watch.look(), watch.look()
    assert first.closed == {str(tree / "b"): "Permission denied"}
    assert second.closed == {}
