"""A walk reads what is below its root and nothing else, whatever is called how and leads where."""

from __future__ import annotations

import os
import socket
from pathlib import Path

import pytest

from storage.workspace import walking
from storage.workspace.walking import DEEPEST, MOST_BYTES, Walk, head_of


def tree(root: Path, files: dict[str, str]) -> Path:
    """A folder with these files."""
    for path, text in files.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text)
    return root


def met(root: Path) -> tuple[list[str], Walk]:
    """Paths in the order they are met, and the walk."""
    walk = Walk(str(root))
    return [found.path for found in walk], walk


def test_the_order_is_the_same_every_time(tmp_path: Path) -> None:
    root = tree(tmp_path / "w", {"b/x": "", "a/y": "", "z": "", "c": ""})
    assert met(root)[0] == ["c", "z", "a/y", "b/x"] == met(root)[0]


def test_no_link_is_followed(tmp_path: Path) -> None:
    outside = tree(tmp_path / "outside", {"secret.txt": "outside"})
    root = tree(tmp_path / "w", {"real.txt": "inside"})
    (root / "to-file").symlink_to(outside / "secret.txt")
    (root / "to-folder").symlink_to(outside)
    (root / "to-itself").symlink_to(root)
    (root / "dangling").symlink_to("/nowhere")
    (root / "inner").symlink_to("real.txt")
    (root / ".gitignore").symlink_to(outside / "secret.txt")
    paths, walk = met(root)
    assert paths == ["real.txt"]
    assert walk.left.counts == {"link": 6}
    assert ("to-folder", "link") in walk.left.listed


def test_a_root_may_be_reached_through_a_link(tmp_path: Path) -> None:
    tree(tmp_path / "w", {"a.txt": ""})
    (tmp_path / "link").symlink_to("w")
    assert met(tmp_path / "link")[0] == ["a.txt"]


def test_a_file_exchanged_for_a_link_is_not_read(tmp_path: Path) -> None:
    outside = tree(tmp_path / "outside", {"x.txt": "outside"})
    root = tree(tmp_path / "w", {"x.txt": "inside"})
    for found in Walk(str(root)):
        (root / "x.txt").unlink()
        (root / "x.txt").symlink_to(outside / "x.txt")
        with pytest.raises(OSError, match=r"x\.txt"):
            found.read()


def test_a_folder_exchanged_for_a_link_is_not_entered(tmp_path: Path) -> None:
    outside = tree(tmp_path / "outside", {"x.txt": "outside"})
    root = tree(tmp_path / "w", {"a.txt": "inside", "sub/x.txt": "inside"})
    paths = []
    for found in Walk(str(root)):
        paths.append(found.path)
        if found.path == "a.txt":
            (root / "sub" / "x.txt").unlink()
            (root / "sub").rmdir()
            (root / "sub").symlink_to(outside)
    assert paths == ["a.txt"]


def test_a_folder_moved_away_while_it_is_read_gives_its_own_files(tmp_path: Path) -> None:
    root = tree(tmp_path / "w", {"sub/a.txt": "inside", "sub/b.txt": "inside"})
    texts = []
    for found in Walk(str(root)):
        if found.path == "sub/a.txt":
            (root / "sub").rename(tmp_path / "moved")
            tree(root, {"sub/b.txt": "another"})
        read = found.read()
        texts.append(read[0] if read else None)
    assert texts == [b"inside", b"inside"]


def test_what_is_no_file_is_never_opened(tmp_path: Path) -> None:
    root = tree(tmp_path / "w", {"a.txt": ""})
    os.mkfifo(root / "pipe")
    with socket.socket(socket.AF_UNIX) as listening:
        here = os.getcwd()
        os.chdir(root)  # a socket's path may be 107 bytes long
        listening.bind("socket")
        os.chdir(here)
        paths, walk = met(root)
    assert paths == ["a.txt"]
    assert walk.left.counts == {"special": 2}


def test_a_file_that_turns_into_a_pipe_is_not_waited_for(tmp_path: Path) -> None:
    root = tree(tmp_path / "w", {"a.txt": "text"})
    for found in Walk(str(root)):
        (root / "a.txt").unlink()
        os.mkfifo(root / "a.txt")
        assert found.read() is None


def test_names_may_be_anything_a_file_can_be_called(tmp_path: Path) -> None:
    names = ["a\nb.txt", "\x1b[2J.txt", " ", "-rf", "a:b", "[x]", "*", "役割.md", "e\u0301", "\u202egnp.txt", "a'b\"c;"]
    root = tree(tmp_path / "w", dict.fromkeys(names, "x"))
    assert sorted(met(root)[0]) == sorted(names)


def test_a_name_that_is_no_text_is_listed(tmp_path: Path) -> None:
    root = tree(tmp_path / "w", {"a.txt": ""})
    try:
        (root / os.fsdecode(b"b\xff.txt")).write_text("x")
    except OSError:
        pytest.skip("this file system takes only names that are UTF-8")
    paths, walk = met(root)
    assert paths == ["a.txt"]
    assert walk.left.listed == [("b\ufffd.txt", "name")]


def test_too_deep_a_tree_ends_somewhere(tmp_path: Path) -> None:
    root = tmp_path / "w"
    root.mkdir()
    here = os.open(root, os.O_RDONLY)
    for _ in range(DEEPEST + 50):
        os.mkdir("d", dir_fd=here)
        below = os.open("d", os.O_RDONLY, dir_fd=here)
        os.close(here)
        here = below
    os.close(here)
    assert met(root)[1].left.counts == {"too_deep": 1}


def test_files_that_hold_credentials_or_are_large_are_left_out(tmp_path: Path) -> None:
    root = tree(tmp_path / "w", {".env": "A=1", ".env.local": "", "id_rsa": "", "tls.pem": "", ".env.example": "A="})
    (root / "large.txt").write_bytes(b"x" * (MOST_BYTES + 1))
    paths, walk = met(root)
    assert paths == [".env.example"]
    assert walk.left.counts == {"secret": 4, "too_large": 1}


def test_a_file_that_grows_beyond_the_limit_is_not_read(tmp_path: Path) -> None:
    root = tree(tmp_path / "w", {"a.txt": "small"})
    for found in Walk(str(root)):
        (root / "a.txt").write_bytes(b"x" * (MOST_BYTES + 1))
        assert found.read() is None


def test_what_the_system_keeps_from_us_is_listed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root = tree(tmp_path / "w", {"open/a.txt": "", "shut/b.txt": ""})
    opening = os.open

    def refusing(path: object, flags: int, *more: int, **named: int) -> int:
        if path == "shut":
            raise PermissionError(13, "denied", path)
        return opening(path, flags, *more, **named)  # type: ignore[arg-type]

    monkeypatch.setattr(walking.os, "open", refusing)
    paths, walk = met(root)
    assert paths == ["open/a.txt"]
    assert walk.left.listed == [("shut", "unreadable")]


def test_folders_of_tools_are_left_out_without_any_rule(tmp_path: Path) -> None:
    root = tree(tmp_path / "w", {".git/config": "", "node_modules/x/y.js": "", "sub/__pycache__/z.pyc": "", "a.py": ""})
    paths, walk = met(root)
    assert paths == ["a.py"]
    assert walk.left.counts == {"ignored": 3}


@pytest.mark.parametrize(
    ("head", "expected"),
    [
        ("ref: refs/heads/feature/x\n", "feature/x"),
        ("ref: refs/heads/../../etc\n", None),
        ("ref: refs/heads//etc/passwd\n", None),
        ("ref: refs/tags/v1\n", None),
        ("something else", None),
        ("ref: refs/heads/a\x1b[2J\n", None),
    ],
)
def test_the_branch_is_what_head_names(tmp_path: Path, head: str, expected: str | None) -> None:
    root = tree(tmp_path / "w", {".git/HEAD": head})
    assert head_of(str(root))[0] == expected


def test_branch_and_commit_of_a_folder_and_of_a_worktree(tmp_path: Path) -> None:
    commit = "0123456789abcdef0123456789abcdef01234567"
    main = tree(tmp_path / "main", {".git/HEAD": "ref: refs/heads/main\n", ".git/refs/heads/main": commit + "\n"})
    assert head_of(str(main)) == ("main", commit)
    tree(main, {".git/worktrees/w/HEAD": "ref: refs/heads/topic\n"})
    work = tree(tmp_path / "w", {".git": f"gitdir: {main}/.git/worktrees/w\n"})
    assert head_of(str(work))[0] == "topic"
    assert head_of(str(tree(tmp_path / "d", {".git/HEAD": commit + "\n"}))) == (None, commit)
    assert head_of(str(tree(tmp_path / "none", {"a": ""}))) == (None, None)


def test_a_git_folder_behind_a_link_says_nothing(tmp_path: Path) -> None:
    tree(tmp_path / "other", {"HEAD": "ref: refs/heads/main\n"})
    root = tree(tmp_path / "w", {"a": ""})
    (root / ".git").symlink_to(tmp_path / "other")
    assert head_of(str(root)) == (None, None)
