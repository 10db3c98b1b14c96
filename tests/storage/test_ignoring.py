"""What ``.gitignore`` files leave out: the same as git leaves out, and in a time that no pattern can stretch."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import time
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from storage.workspace.ignoring import Rules
from storage.workspace.walking import Walk

GIT = shutil.which("git")


def ignored(patterns: str, path: str, folder: bool = False) -> bool:
    """What one file of patterns at the root says of a path."""
    return bool(Rules.of(patterns).decide(path, path.rpartition("/")[2], folder))


@pytest.mark.parametrize(
    ("patterns", "path", "expected"),
    [
        ("*.log", "a/b/x.log", True),
        ("*.log\n!keep.log", "a/keep.log", False),
        ("!keep.log\n*.log", "a/keep.log", True),
        ("/build", "build", True),
        ("/build", "src/build", False),
        ("doc/*.txt", "doc/a.txt", True),
        ("doc/*.txt", "doc/in/a.txt", False),
        ("**/tmp", "a/b/tmp", True),
        ("a/**/z", "a/z", True),
        ("a/**/z", "a/b/c/z", True),
        ("a/**", "a", False),
        ("a/**", "a/b", True),
        ("name/", "name", False),
        ("a?c", "abc", True),
        ("a?c", "a/c", False),
        ("[a-c].txt", "b.txt", True),
        ("[!a-c].txt", "b.txt", False),
        ("[]x]", "]", True),
        ("x[", "x[", False),
        (r"\#note", "#note", True),
        (r"\!note", "!note", True),
        ("# *.py", "x.py", False),
        ("trail   ", "trail", True),
        ("trail\\ ", "trail ", True),
        ("ends\\", "ends\\", False),
        ("*.txt\r\n", "x.txt", True),
        ("\ufeff*.txt", "x.txt", True),
        ("日本*", "日本語.md", True),
        ("", "x", False),
        ("/", "x", False),
        ("!", "x", False),
    ],
)
def test_a_pattern_means_what_git_takes_it_for(patterns: str, path: str, expected: bool) -> None:
    assert ignored(patterns, path) is expected


def test_a_pattern_for_folders_leaves_a_folder_out() -> None:
    assert ignored("name/", "x/name", folder=True)


def test_no_pattern_takes_long() -> None:
    hostile = "a*" * 40 + "b\n" + "**/a" * 60 + "/b\n" + "x/" + "*" * 4_000
    rules = Rules.of(hostile)
    start = time.process_time()
    for path in ("a" * 255, "/".join(["a"] * 500), "x/" + "y" * 255):
        rules.decide(path, path.rpartition("/")[2], False)
    assert time.process_time() - start < 1


NAMES = st.sampled_from(["a", "b", "ab", "a.b", "b.a", "x", "keep", "a b"])
GLOB = st.lists(
    st.sampled_from(["a", "b", "x", "*", "**", "?", "/", "/", ".", "[ab]", "[!a]", "\\a", "keep", "**/", "/**"]),
    min_size=1,
    max_size=6,
).map("".join)
LINE = st.builds("".join, st.tuples(st.sampled_from(["", "", "!"]), GLOB, st.sampled_from(["", "", "/", " "]))).filter(
    # No path has two slashes, and of two stars beside anything else git is not of one mind with its own manual.
    lambda line: not re.search(r"//|[^/!]\*\*|\*\*[^/ ]|\*\* \Z", line)
)
FOLDER = st.lists(NAMES, max_size=2).map("/".join)
PATH = st.lists(NAMES, min_size=1, max_size=4).map("/".join)


@pytest.mark.skipif(GIT is None, reason="git is not here to be compared with")
@settings(
    max_examples=100, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(
    paths=st.lists(PATH, min_size=1, max_size=12),
    rules=st.dictionaries(FOLDER, st.lists(LINE, min_size=1, max_size=5), max_size=3),
    excluded=st.lists(LINE, max_size=2),
)
def test_a_walk_meets_the_files_that_git_would(
    tmp_path: Path, paths: list[str], rules: dict[str, list[str]], excluded: list[str]
) -> None:
    root = tmp_path / "tree"
    shutil.rmtree(root, ignore_errors=True)
    root.mkdir()
    made = set()
    for path in paths:
        parts = path.split("/")
        if any("/".join(parts[:n]) in made for n in range(1, len(parts))) or (root / path).is_dir():
            continue
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text("x")
        made.add(path)
    for folder, lines in rules.items():
        if (root / folder).is_dir():
            (root / folder / ".gitignore").write_text("\n".join(lines) + "\n")
    (root / ".git" / "info").mkdir(parents=True)
    (root / ".git" / "objects").mkdir()
    (root / ".git" / "refs").mkdir()
    (root / ".git" / "HEAD").write_text("ref: refs/heads/main\n")
    (root / ".git" / "info" / "exclude").write_text("\n".join(excluded) + "\n")
    quiet = {"PATH": os.environ["PATH"], "HOME": str(tmp_path), "GIT_CONFIG_NOSYSTEM": "1"}
    told = subprocess.run(
        [str(GIT), "ls-files", "-z", "--others", "--exclude-standard"],
        cwd=root, env=quiet, capture_output=True, check=True,
    )  # fmt: skip
    expected = {name for name in told.stdout.decode().split("\0") if name}
    assert {found.path for found in Walk(str(root))} == expected
