"""Which session hangs on which: every session stands at the top or below exactly one that does."""

from __future__ import annotations

from pathlib import Path

import codex_fixtures as codex
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from invented_store import Invented
from kept import assert_holds, store_in, take, write

from storage.archive import Archive


@pytest.fixture
def invented(tmp_path: Path) -> Invented:
    return Invented(tmp_path)


def tree(archive: Archive) -> list[str]:
    """The whole tree, a line a session: its depth in blanks, its native id, how it hangs."""
    lines: list[str] = []

    def walk(key: int, depth: int) -> None:
        for kin in archive.below(key):
            lines.append(f"{'  ' * depth}{kin.row.native} {kin.relation}")
            walk(kin.row.key, depth + 1)

    for row in archive.tops(descending=False).rows:
        lines.append(row.native)
        walk(row.key, 1)
    return lines


def sessions(invented: Invented, *rows: tuple[str, int, str | None]) -> None:
    invented.sessions(
        *(
            {
                "no": number, "uid": f"{number:012x}", "native": native, "started": at, "ended": at + 1,
                "parent": parent, "relation": None if parent is None else "fork",
            }
            for number, (native, at, parent) in enumerate(rows, 1)
        )
    )  # fmt: skip


def test_a_fork_hangs_on_the_session_its_log_names(invented: Invented) -> None:
    sessions(invented, ("a", 10, None), ("b", 20, "a"), ("c", 30, "b"), ("d", 40, "not here"), ("e", 5, "a"))
    invented.close()
    with Archive.open(invented.path) as archive:
        assert tree(archive) == ["a", "  e fork", "  b fork", "    c fork", "d"]
        assert archive.count_tops().value == 2
        assert archive.below_counts([1, 2, 3]) == {1: 2, 2: 1}


def test_a_fork_that_began_with_its_parents_own_times_still_hangs_on_it(invented: Invented) -> None:
    sessions(invented, ("fork", 10, "origin"), ("origin", 10, None))
    invented.close()
    with Archive.open(invented.path) as archive:
        assert tree(archive) == ["origin", "  fork fork"]


def test_sessions_that_begin_with_the_same_records_hang_on_the_earliest(invented: Invented) -> None:
    sessions(invented, ("c", 30, None), ("a", 10, None), ("b", 20, None), ("alone", 40, None))
    invented.insert("beginning", [{"record": 7, "session": key} for key in (1, 2, 3)])
    invented.insert("beginning", [{"record": 8, "session": key} for key in (1, 3, 4)][:2])
    invented.close()
    with Archive.open(invented.path) as archive:
        assert tree(archive) == ["a", "  b copy", "  c copy", "alone"]


def test_logs_that_name_each_other_hide_no_session(invented: Invented) -> None:
    sessions(invented, ("a", 10, "c"), ("b", 20, "a"), ("c", 30, "b"), ("self", 40, "self"), ("below", 50, "c"))
    invented.close()
    with Archive.open(invented.path) as archive:
        assert tree(archive) == ["a", "  b fork", "    c fork", "      below fork", "self"]


@settings(deadline=None, derandomize=True, max_examples=40)
@given(st.data())
def test_every_session_stands_in_the_tree_once(tmp_path_factory: pytest.TempPathFactory, data: st.DataObject) -> None:
    invented = Invented(tmp_path_factory.mktemp("family"))
    names = "abcdefgh"
    rows = [
        (name, data.draw(st.integers(1, 4)), data.draw(st.one_of(st.none(), st.sampled_from([*names, "z"]))))
        for name in names
    ]
    sessions(invented, *rows)
    pairs = data.draw(st.sets(st.tuples(st.integers(1, 3), st.integers(1, len(names))), max_size=10))
    invented.insert("beginning", [{"record": record, "session": key} for record, key in sorted(pairs)])
    invented.close()
    with Archive.open(invented.path) as archive:
        shown = [line.split()[0] for line in tree(archive)]
        assert sorted(shown) == list(names)


@pytest.mark.parametrize("order", [("parent", "agent", "fork"), ("fork", "agent", "parent")])
def test_sub_agents_and_forks_of_codex_hang_on_the_session_their_logs_name(
    tmp_path: Path, order: tuple[str, ...]
) -> None:
    parent, agent, fork = (f"019aaaaa-0000-7000-8000-00000000000{digit}" for digit in "789")
    spawn = {"subagent": {"thread_spawn": {"parent_thread_id": parent, "depth": 1}}}
    logs = {
        "parent": [codex.opened(id=parent), codex.said("user", 2, "Find the parser")],
        "agent": [codex.opened(id=agent, source=spawn), codex.said("user", 3, "Look in src")],
        "fork": [codex.opened(id=fork, forked_from_id=parent), codex.said("user", 4, "Try it otherwise")],
    }
    with store_in(tmp_path) as store:
        for name in order:
            take(store, write(tmp_path / "logs", codex.written(logs[name]), f"{name}.jsonl"))
        path = store.path
        assert_holds(path)
    with Archive.open(path) as archive:
        assert sorted(tree(archive)) == sorted([parent, f"  {agent} sub-agent", f"  {fork} fork"])
