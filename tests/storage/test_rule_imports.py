"""What rule files bring in: followed no further than it may be, however often and in whatever order it is read."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import claude_fixtures as log
from kept import Clock, assert_holds, rows, store_in, take, write

from storage.archive import Archive
from storage.following import Follower
from storage.importing import Importer
from storage.rule_imports import DEPTH, Home
from storage.rule_places import placed


def brought(folder: Path, store: Any, home: Path | None = None) -> tuple[set[str], str]:
    """(names of the rule files that were taken, what was said of imports) of an import of a folder."""
    who = Home(str(home or folder.parent / "nobody"), str((home or folder.parent / "nobody") / ".claude"))
    report = Importer(store, clock=Clock(), home=who).paths([str(folder)])
    names = [os.path.relpath(placed(file.path), os.path.realpath(folder)) for file in report.files]
    assert len(names) == len(set(names))
    taken = {name for name, file in zip(names, report.files, strict=True) if file.skipped is None}
    return taken, " ".join(file.note or "" for file in report.files)


def test_imports_are_followed_within_the_tree_round_in_circles_and_not_too_deep(tmp_path: Path) -> None:
    folder = tmp_path / "acme"
    deep = {f"d{level}.md": f"# {level}\n@d{level + 1}.md\n".encode() for level in range(1, DEPTH + 3)}
    write(folder, {"CLAUDE.md": b"@d1.md @a.md\n", "a.md": b"@b.md\n", "b.md": b"@a.md @CLAUDE.md\n", **deep})
    with store_in(tmp_path) as store:
        taken, said = brought(folder, store)
        assert taken == {"CLAUDE.md", "a.md", "b.md", *(f"d{level}.md" for level in range(1, DEPTH + 1))}
        assert f"@d{DEPTH + 1}.md (too many levels deep)" in said
        assert brought(folder, store)[0] == taken
        formats = dict(
            rows(store.path, "SELECT replace(path, rtrim(path, replace(path, '/', '')), ''), format FROM source")
        )
        assert formats["CLAUDE.md"] == "rules+claude"
        assert formats["a.md"] == "rules+file"


def test_a_path_in_a_rule_file_opens_no_door(tmp_path: Path) -> None:
    folder, secret = tmp_path / "acme", write(tmp_path, b"secret", "secret.md")
    home = tmp_path / "home"
    write(home, {".claude/mine.md": b"# Mine\n", "keys.md": b"keys"})
    write(folder, {"kept.md": b"kept", ".env": b"KEY=1", "nul.bin": b"\0", "log.jsonl": log.lines(log.session())})
    (folder / "link.md").symlink_to(secret)
    (folder / "inside.md").symlink_to(folder / "kept.md")
    os.mkfifo(folder / "pipe.md")
    targets = (
        "../secret.md", str(secret), "link.md", "inside.md", "pipe.md", ".env", "nul.bin", "log.jsonl", "not/there.md",
        "~/keys.md", "~/.claude/mine.md", "./",
    )  # fmt: skip
    write(folder, "".join(f"@{target}\n" for target in targets).encode(), "CLAUDE.md")
    with store_in(tmp_path) as store:
        taken, said = brought(folder, store, home)
        for refused in ("../secret.md", "link.md", "pipe.md"):
            assert f"@{refused} (" in said
        assert "more" in said
        assert taken == {"CLAUDE.md", "kept.md", "log.jsonl", "../home/.claude/mine.md"}
        path = store.path
    assert rows(path, "SELECT count(*) FROM session") == [(1,)]
    assert rows(path, "SELECT count(*) FROM source WHERE path LIKE '%secret%' OR path LIKE '%keys%'") == [(0,)]


def test_a_rule_file_for_the_whole_home_opens_none_of_it(tmp_path: Path) -> None:
    home = tmp_path / "home"
    write(home, {"CLAUDE.md": b"@keys/all.md @.claude/mine.md\n", "keys/all.md": b"k", ".claude/mine.md": b"# M\n"})
    with store_in(tmp_path) as store:
        taken, said = brought(home, store, home)
    assert taken == {"CLAUDE.md", ".claude/mine.md"}
    assert "@keys/all.md (outside of its folder)" in said


def test_a_link_to_another_agents_name_for_the_same_rules_is_a_rule_file_too(tmp_path: Path) -> None:
    folder = tmp_path / "acme"
    write(folder, {"AGENTS.md": b"@docs/a.md\n", "docs/a.md": b"# A\n", "sub/x": b"", "away/x": b""})
    outside = write(tmp_path, b"secret", "secret.md")
    (folder / "CLAUDE.md").symlink_to("AGENTS.md")
    (folder / "sub" / "CLAUDE.md").symlink_to(outside)
    (folder / "away" / "GEMINI.md").symlink_to("../AGENTS.md")
    (folder / "notes.md").symlink_to("docs/a.md")
    with store_in(tmp_path) as store:
        taken, _ = brought(folder, store)
        assert take(store, folder).total("records") == 0
        take(store, folder / "sub" / "CLAUDE.md")
        path = store.path
    assert taken == {"AGENTS.md", "CLAUDE.md", "docs/a.md"}
    with Archive.open(path) as archive:
        files = [file for (file,) in archive.rules()]
        found = {os.path.relpath(one.path, folder.resolve()): (one.kind, archive.rule_text(one)) for one in files}
    assert found == {
        "AGENTS.md": ("agents", b"@docs/a.md\n"),
        "CLAUDE.md": ("claude", b"@docs/a.md\n"),
        "docs/a.md": ("file", b"# A\n"),
        "sub/CLAUDE.md": ("claude", b"secret"),  # it was named, which is to be wanted
    }


def test_what_is_brought_in_stands_no_deeper_when_it_is_imported_again(tmp_path: Path) -> None:
    folder = tmp_path / "acme"
    deep = {f"A{level}.md": f"@A{level + 1}.md\n".encode() for level in range(1, 9)}
    write(folder, {"CLAUDE.md": b"@A1.md\n", **deep})
    with store_in(tmp_path) as store:
        first, _ = brought(folder, store)
        assert brought(folder, store)[0] == first
        assert take(store, folder / "A5.md").total("records") == 0
        assert rows(store.path, "SELECT count(*) FROM source") == [(1 + DEPTH,)]


def test_a_follower_reads_rule_files_what_they_bring_in_and_their_changes(tmp_path: Path) -> None:
    folder = tmp_path / "acme"
    home = write(tmp_path, b"# Mine\n", "nobody/.claude/mine.md").parents[1]
    write(folder, {"CLAUDE.md": b"@docs/a.md @~/.claude/mine.md\n", "docs/a.md": b"# One\n", "AGENTS.md": b"x\n"})
    (folder / "GEMINI.md").symlink_to("AGENTS.md")
    with store_in(tmp_path) as store:
        importer = Importer(store, clock=Clock(), home=Home(str(home), str(home / ".claude")))
        follower = Follower(importer, [str(folder)], None, lambda *_: None)
        follower.look()
        assert follower.look() == 0
        write(folder, b"# One\nand half a li", "docs/a.md")
        follower.look()
        write(folder, {"docs/a.md": b"# One\nand half a line.\n", "AGENTS.md": b"xy\n"})
        follower.look()
        path = store.path
    with Archive.open(path) as archive:
        found = {Path(files[-1].path).name: (len(files), archive.rule_text(files[-1])) for files in archive.rules()}
    assert found == {
        "CLAUDE.md": (1, b"@docs/a.md @~/.claude/mine.md\n"),
        "a.md": (3, b"# One\nand half a line.\n"),
        "mine.md": (1, b"# Mine\n"),
        "AGENTS.md": (2, b"xy\n"),
        "GEMINI.md": (2, b"xy\n"),
    }
    assert_holds(path)


def test_what_is_missing_is_told_but_no_package_is_missed(tmp_path: Path) -> None:
    folder = tmp_path / "acme"
    write(folder, {"CLAUDE.md": b"@gone.md @acme/sdk @./gone/too and @.git/config.txt\n", ".git/config.txt": b"url\n"})
    with store_in(tmp_path) as store:
        taken, said = brought(folder, store)
    assert taken == {"CLAUDE.md"}
    assert (
        said.strip() == "not followed: @gone.md (not there), @./gone/too (not there), @.git/config.txt (a hidden file)"
    )


def test_nothing_of_the_users_settings_is_brought_in_but_words_for_people(tmp_path: Path) -> None:
    home = tmp_path / "home"
    settings = {".claude/settings.json": b'{"token": "sk-test-1"}', ".claude/mine.md": b"# Mine\n"}
    write(home, {"acme/CLAUDE.md": b"@~/.claude/settings.json @~/.claude/mine.md\n", **settings})
    with store_in(tmp_path) as store:
        taken, said = brought(home / "acme", store, home)
    assert taken == {"CLAUDE.md", "../.claude/mine.md"}
    assert "@~/.claude/settings.json (not Markdown)" in said


def test_what_was_brought_in_is_read_again_when_it_changes(tmp_path: Path) -> None:
    folder = tmp_path / "acme"
    write(folder, {"CLAUDE.md": b"@docs/a.md\n", "docs/a.md": b"# One\n"})
    with store_in(tmp_path) as store:
        take(store, folder)
        write(folder, b"# Another\n", "docs/a.md")
        assert take(store, folder / "docs" / "a.md").total("mapped") == 1
        path = store.path
    with Archive.open(path) as archive:
        revisions = {Path(files[0].path).name: len(files) for files in archive.rules()}
    assert revisions == {"CLAUDE.md": 1, "a.md": 2}
