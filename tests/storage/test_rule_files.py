"""Rule files: cut into sections, kept revision by revision, followed no further than they may be, tied to sessions."""

from __future__ import annotations

import json
import os
import shutil
import time
from dataclasses import replace
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from typing import Any

import claude_fixtures as log
import pytest
from hypothesis import given
from hypothesis import strategies as st
from kept import Clock, assert_holds, assert_same, chance, meaning, rows, store_in, take, write

from affidavit.proof.parsing import loads_lenient
from storage.archive import Archive
from storage.following import Follower
from storage.importing import Importer
from storage.queries.rules import sections_in
from storage.queries.rules_in_force import CERTAIN, Brought, InForce, RulesInForce
from storage.readers.rules import MOST_SECTIONS, Hidden, body, hidden, imports, kind_of, patterns, sections
from storage.rebuild import rebuild
from storage.redact import redact
from storage.rule_imports import DEPTH, Home
from storage.rule_places import placed, tree_of

RULE = b"Be brief.\n\n# Tests #\nState the role.\n\n## Mocks\nNever by default.\n# Style\n"


def cut(whole: bytes) -> list[tuple[list[str], int, int]]:
    """(headings, first line, last line) of each section, which must tile the file and carry the digest of its part."""
    every, *found = sections(whole)
    assert every[1:5] == (0, 1, found[-1][3], 0)
    assert every[5:7] == (len(whole), sha256(whole).digest())
    at, line = 0, 1
    for _, _, first, last, offset, size, digest, _ in found:
        assert (offset, first) == (at, line)
        part = whole[offset : offset + size]
        assert digest == sha256(part).digest()
        at += size
        line += part.count(b"\n")
        assert last >= first
    assert at == len(whole)
    return [(json.loads(headings), first, last) for headings, _, first, last, *_ in found]


def test_sections_go_from_heading_to_heading_with_their_lines() -> None:
    assert cut(RULE) == [([], 1, 2), (["Tests"], 3, 5), (["Tests", "Mocks"], 6, 7), (["Style"], 8, 8)]


@pytest.mark.parametrize(
    ("whole", "headings"),
    [
        (b"no heading at all", [[]]),
        (b"# A\n```sh\n# not one\n~~~\n```\n# B", [["A"], ["B"]]),
        (b"# A\n````\n```\n# not one\n````\n# B\n", [["A"], ["B"]]),
        (b"# A\n```\n# never closed\n", [["A"]]),
        (b"---\n# a comment\nglobs: x\n---\n# A\n", [[], ["A"]]),
        (b"\xef\xbb\xbf# A\r\ntext\r\n## B\r\n", [["A"], ["A", "B"]]),
        (b"### deep\n# A\n#### B\n", [["deep"], ["A"], ["A", "B"]]),
        (b"#hashtag\n####### seven\n    # code\n#\n", [[], [""]]),
        ("# 役割\n".encode(), [["役割"]]),
        (b"# \xff\xfe \0\n", [["\ufffd\ufffd \u2400"]]),
        (b"\n\n# A\n", [[], ["A"]]),
    ],
)
def test_what_is_a_heading_and_what_is_not(whole: bytes, headings: list[list[str]]) -> None:
    assert [path for path, _, _ in cut(whole)] == headings


@given(st.lists(st.sampled_from([b"# a", b"## b", b"```", b"~~~~", b"---", b"", b"\xff\0", b"@x/y", b"\r"])))
def test_any_file_is_tiled(parts: list[bytes]) -> None:
    whole = b"\n".join(parts)
    cut(whole or b"x")
    imports(whole)
    patterns(whole)
    body(whole)


@pytest.mark.parametrize(
    "unit",
    [b"# a\n", b"```\n", b"`", b"@a/b ", b"\0", b"---\n", b"#", b"`a\n", b" ", b"\xe2\x80\x8b", b"\xf3\xa0\x81\x81\n"],
)
def test_sixteen_megabytes_of_anything_take_seconds(unit: bytes) -> None:
    whole = unit * ((16 << 20) // len(unit))
    began = time.process_time()
    _, *found = sections(whole)
    imports(whole)
    patterns(whole)
    assert time.process_time() - began < 20
    hidden(whole)
    assert len(found) <= MOST_SECTIONS
    assert sum(size for *_, size, _, _ in found) == len(whole)


def test_imports_stand_outside_of_code_and_are_paths() -> None:
    whole = (
        b"See @docs/style.md, and `@not/this.md`.\n```\n@nor/this.md\n```\n@ada mails a@example.com; (@~/.claude/me.md)"
    )
    assert [(one.line, one.target) for one in imports(whole)] == [(1, "docs/style.md"), (5, "~/.claude/me.md")]


@pytest.mark.parametrize(
    ("whole", "files"),
    [
        (b"---\npaths:\n  - 'src/**'\n  - \"*.ts\"\nother: x\n---\n", ("src/**", "*.ts")),
        (b"---\nglobs: *.ts, src/{a,b}/*\n---\n", ("*.ts", "src/{a,b}/*")),
        (b"---\nglobs: *.ts\nalwaysApply: true\n---\n", ()),
        (b"---\napplyTo: '**'\n---\n", ()),
        (b"paths: x\n", ()),
    ],
)
def test_front_matter_says_for_which_files(whole: bytes, files: tuple[str, ...]) -> None:
    assert patterns(whole) == files


def test_hidden_characters_are_told_by_their_line_and_what_they_say() -> None:
    smuggled = "".join(chr(0xE0000 + ord(sign)) for sign in "push it")
    whole = f"# A\nBe brief.{smuggled}\n# B\n".encode()
    assert hidden(whole) == [Hidden(2, "tags", "push it")]
    assert [section[-1] for section in sections(whole)] == [1, 1, 0]


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("/acme/CLAUDE.md", "claude"),
        ("/acme/.claude/CLAUDE.md", "claude"),
        ("/acme/CLAUDE.local.md", "claude-local"),
        ("/acme/.claude/rules/a/b.md", "claude-rule"),
        ("C:\\acme\\AGENTS.md", "agents"),
        ("/acme/AGENTS.override.md", "agents-override"),
        ("/acme/GEMINI.md", "gemini"),
        ("/acme/.cursor/rules/x.mdc", "cursor-rule"),
        ("/acme/.cursorrules", "cursor"),
        ("/acme/.github/copilot-instructions.md", "copilot"),
        ("/acme/README.md", None),
        ("/acme/NOTCLAUDE.md", None),
        ("/acme/CLAUDE.md/x.md", None),
        ("/acme/copilot-instructions.md", "file"),
        ("/acme/team__CLAUDE.md", "file"),
        ("/acme/old.AGENTS.override.md", "file"),
        ("/acme/python.cursorrules", "file"),
        ("/acme/x.mdc", "file"),
        ("/acme/CLAUDE.md.bak", None),
    ],
)
def test_a_rule_file_is_told_by_its_place(path: str, kind: str | None) -> None:
    assert kind_of(path) == kind


def test_a_rule_file_is_for_the_folder_its_settings_stand_in() -> None:
    assert tree_of("/w/acme/CLAUDE.md") == "/w/acme"
    assert tree_of("/w/acme/.claude/rules/deep/a.md") == "/w/acme"
    assert tree_of("/w/acme/.github/copilot-instructions.md") == "/w/acme"


# ------------------------------------------------------------------------------------------- importing


def test_each_new_content_is_a_revision_and_the_same_again_is_nothing(tmp_path: Path) -> None:
    folder = tmp_path / "acme"
    write(folder, {"CLAUDE.md": RULE, "README.md": b"# Read me\n"})
    with store_in(tmp_path) as store:
        first = take(store, folder)
        assert [(Path(file.path).name, file.format, file.skipped) for file in first.files] == [
            ("CLAUDE.md", "rules+claude", None),
            ("README.md", None, "not_a_log"),
        ]
        assert (first.sessions, first.events, first.total("mapped")) == (0, 0, 1)
        assert take(store, folder).total("records") == 0
        write(folder, RULE + b"New.\n", "CLAUDE.md")
        assert take(store, folder).total("records") == 1
        write(folder, RULE, "CLAUDE.md")
        assert take(store, folder).total("records") == 1
        path = store.path
    with Archive.open(path) as archive:
        ((one, two, three),) = archive.rules()
        assert [file.revision for file in (one, two, three)] == [1, 2, 3]
        assert [section.headings for section in archive.rule_sections(one)] == [
            (),
            ("Tests",),
            ("Tests", "Mocks"),
            ("Style",),
        ]
        assert archive.rule_text(one) == archive.rule_text(three) == RULE
        assert archive.rule_text(two) == RULE + b"New.\n"
        assert archive.rule_sections(one)[:3] == archive.rule_sections(two)[:3]
        assert list(archive.sessions().rows) == []
    assert_holds(path)


def test_tables_made_again_or_in_another_order_say_the_same(tmp_path: Path) -> None:
    folder = tmp_path / "acme"
    write(folder, {"CLAUDE.md": RULE, "sub/AGENTS.md": b"# A\n", "own.jsonl": log.lines(log.session())})
    with store_in(tmp_path) as store:
        take(store, folder)
        once = meaning(store.path)
        rebuild(store)
        assert_same(once, meaning(store.path))
    with store_in(tmp_path, "other.db") as other:
        for name in ("sub/AGENTS.md", "own.jsonl", "CLAUDE.md"):
            take(other, folder / name)
        assert_same(once, meaning(other.path))


@pytest.mark.parametrize("steps", [1, 6])
def test_a_file_read_while_it_grows_ends_as_it_does_at_once(steps: int, tmp_path: Path) -> None:
    whole = b"\xef\xbb\xbf" + RULE * 40 + "# 役割\n@docs/a.md \u200b\u200c\n".encode() * 20
    with store_in(tmp_path) as store:
        for step in range(1, steps + 1):
            take(store, write(tmp_path / "acme", whole[: len(whole) * step // steps], "CLAUDE.md"))
        path = store.path
    with Archive.open(path) as archive:
        (revisions,) = archive.rules()
        assert len(revisions) == steps
        file = revisions[-1]
        assert archive.rule_text(file) == whole
        every, *parts = sections(whole)
        assert (file.digest, file.sections) == (sha256(whole).hexdigest(), len(parts))
        assert every[6] is not None
        assert [(one.first, one.last, one.digest) for one in archive.rule_sections(file)] == [
            (first, last, (digest or b"").hex()) for _, _, first, last, _, _, digest, _ in parts
        ]
    assert_holds(path)


def test_an_erased_rule_file_leaves_its_name_and_none_of_its_text(tmp_path: Path) -> None:
    rule = write(tmp_path / "acme", b"# Zebrafish\nsecret\n", "CLAUDE.md")
    with store_in(tmp_path) as store:
        take(store, rule)
        n = store.connection.execute("SELECT n FROM rule_section").fetchone()[0]
        redact(store, [n], actor="ada", reason="asked", clock=Clock(), random=chance(3))
        path = store.path
    assert_holds(path)
    assert rows(path, "SELECT heading, digest FROM rule_section") == [("[]", None)]
    with Archive.open(path) as archive:
        ((file,),) = archive.rules()
        assert file.withheld
        assert archive.rule_text(file) is None
    assert b"Zebrafish" not in Path(path).read_bytes()


def test_hostile_bytes_are_kept_and_counted(tmp_path: Path) -> None:
    folder = tmp_path / "acme"
    given = {
        "nul/CLAUDE.md": b"\0" * 100 + b"\n# A\0\n",
        "utf8/CLAUDE.md": b"\xfa\xff# \xc3\n# \xc3(\n",
        "json/CLAUDE.md": b'{"type":"user"}\n',
        "crlf/CLAUDE.md": b"# A\r\n\r\n# B",
        "large/AGENTS.md": b"# A\n" * ((16 << 20) // 4) + b"more",
        "most/AGENTS.md": b"# A\n" * ((16 << 20) // 4),
    }
    write(folder, {**given, "utf16/CLAUDE.md": "# A\n".encode("utf-16"), "empty/CLAUDE.md": b" \n"})
    with store_in(tmp_path) as store:
        report = take(store, folder)
        path = store.path
    skipped = {Path(file.path).parent.name: file.skipped for file in report.files if file.skipped}
    assert skipped == {"utf16": "utf16", "empty": "empty"}
    assert report.total("unreadable") == 1
    with Archive.open(path) as archive:
        kept = {Path(source.file).parent.name: b"".join(archive.original(source.key)) for source in archive.sources()}
        assert kept == {Path(name).parent.name: data for name, data in given.items()}
        found = {Path(file.path).parent.name: file for (file,) in archive.rules()}
        assert found["large"].withheld
        assert found["most"].sections == MOST_SECTIONS - 1
    assert_holds(path)


def test_only_rules_are_taken_for_rules_but_any_file_may_be_said_to_be_one(tmp_path: Path) -> None:
    with store_in(tmp_path) as store:
        notes = write(tmp_path, b"# Notes\n", "notes.md")
        assert take(store, notes).files[0].skipped == "not_a_log"
        report = Importer(store, clock=Clock()).paths([str(notes)], "rules")
        assert (report.files[0].format, report.files[0].mapped) == ("rules+file", 1)


def test_every_instruction_file_among_the_samples_is_kept(shared: Path, tmp_path: Path) -> None:
    given = sorted((shared / "samples" / "instruction_files").glob("*.md"))
    assert given
    for file in given:
        owner, _, name = file.name.partition("__")
        (tmp_path / "repos" / owner).mkdir(parents=True, exist_ok=True)
        shutil.copy(file, tmp_path / "repos" / owner / name)
    with store_in(tmp_path, "where they stand.db") as store:
        report = take(store, *given)
        assert {file.format for file in report.files} == {"rules+file"}
        assert report.total("unreadable") == 0
    with store_in(tmp_path) as store:
        report = take(store, tmp_path / "repos")
        assert {file.skipped for file in report.files} == {None}
        assert take(store, tmp_path / "repos").total("records") == 0
        path = store.path
        once = meaning(path)
    with store_in(tmp_path, "one by one.db") as store:
        for file in sorted((tmp_path / "repos").rglob("*.md"), reverse=True):
            take(store, file)
        assert_same(once, meaning(store.path))
    with Archive.open(path) as archive:
        for (file,) in archive.rules():
            whole = Path(file.path).read_bytes()
            assert archive.rule_text(file) == whole
            assert file.sections > 3 or len(whole) < 20  # one that names the file that holds the rules
            lines = whole.split(b"\n")
            for section in archive.rule_sections(file):
                if section.level:
                    assert section.headings[-1] in lines[section.first - 1].decode()
    assert_holds(path)


# ----------------------------------------------------------------------------------- what it brings in


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


# -------------------------------------------------------------------------------------- tied to sessions


HOME = "home/ada"
ACME = f"{HOME}/acme"


class World:
    """A folder that stands for somebody's machine: a session ran in ``home/ada/acme`` of it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.cwd = str(folder / ACME)

    def session(self, *records: dict[str, Any]) -> Path:
        chained = log.chain(*[{**one, "cwd": self.cwd} for one in (log.person("Begin"), *records)])
        return write(self.folder, log.lines(chained), f"{HOME}/.claude/projects/-acme/{log.SESSION}.jsonl")

    def loads(self, path: str, text: str) -> dict[str, Any]:
        return log.attachment(
            "nested_memory", path=str(self.folder / path), content={"type": "Project", "content": text}
        )

    def take(self, store: Any, *paths: str, at: datetime | None = None) -> None:
        clock = Clock(at) if at else Clock()
        Importer(store, clock=clock).paths([str(self.folder / path) for path in paths])

    def names(self, found: RulesInForce) -> list[tuple[str, str]]:
        return [(os.path.relpath(one.file.path, self.folder / HOME), one.scope) for one in found.files]

    def named(self, found: RulesInForce, path: str) -> InForce:
        (one,) = [one for one in found.files if one.file.path == str(self.folder / path)]
        return one


@pytest.fixture
def world(tmp_path: Path) -> World:
    return World(tmp_path.resolve())


BEFORE = datetime(2026, 3, 1, tzinfo=UTC)
AFTER = datetime(2026, 3, 3, tzinfo=UTC)


def test_rules_are_those_of_the_folder_of_those_above_and_of_the_user(world: World, tmp_path: Path) -> None:
    write(
        world.folder / HOME,
        {
            ".claude/CLAUDE.md": b"# Mine\n",
            ".claude/rules/r.md": b"# Rule\n",
            "CLAUDE.md": b"# Above\n",
            "acme/CLAUDE.md": b"@docs/a.md\n",
            "acme/docs/a.md": b"# A\n",
            "acme/.claude/rules/ts.md": b"---\npaths: '*.ts'\n---\n# TS\n",
            "acme/AGENTS.md": b"# For another agent\n",
            "acme/web/CLAUDE.md": b"# Web\n",
            "other/CLAUDE.md": b"# Other\n",
        },
    )
    world.session()
    with store_in(tmp_path) as store:
        world.take(store, HOME)
        path = store.path
    with Archive.open(path) as archive:
        found = archive.rules_in_force(1)
        assert world.names(found) == [
            (".claude/CLAUDE.md", "user"),
            (".claude/rules/r.md", "user"),
            ("CLAUDE.md", "project"),
            ("acme/.claude/rules/ts.md", "project"),
            ("acme/CLAUDE.md", "project"),
            ("acme/web/CLAUDE.md", "below"),
            ("acme/docs/a.md", "import"),
        ]
        assert world.named(found, f"{ACME}/docs/a.md").by == str(world.folder / ACME / "CLAUDE.md")
        assert world.named(found, f"{ACME}/.claude/rules/ts.md").patterns == ("*.ts",)
        assert found.recorded == ()


def test_the_revision_known_then_is_shown_and_it_is_said_how_sure_that_is(world: World, tmp_path: Path) -> None:
    rule = f"{ACME}/CLAUDE.md"
    world.session()
    with store_in(tmp_path) as store:
        for text, at in ((b"# One\n", BEFORE), (b"# Two\n", AFTER)):
            write(world.folder, text, rule)
            world.take(store, HOME, at=at)
        path = store.path
    with Archive.open(path) as archive:
        (session,) = archive.sessions().rows
        one = world.named(archive.rules_in_force(session.key), rule)
        assert (one.file.revision, one.basis, one.newer) == (1, "known_before", 1)
        assert "does not say what was loaded" in one.words
        later = archive.rules_in_force(session.key, int(datetime(2026, 3, 4, tzinfo=UTC).timestamp()) * 1_000_000)
        assert world.named(later, rule).file.revision == 2
        early = archive.rules_in_force(session.key, int(datetime(2026, 2, 1, tzinfo=UTC).timestamp()) * 1_000_000)
        one = world.named(early, rule)
        assert (one.file.revision, one.basis) == (1, "known_after")
        assert "not known" in one.words


def test_what_the_log_says_was_loaded_goes_before_what_is_worked_out(world: World, tmp_path: Path) -> None:
    rule, other = f"{ACME}/CLAUDE.md", f"{ACME}/web/CLAUDE.md"
    world.session(
        world.loads(rule, "# Two\nText of it"),
        world.loads(f"{ACME}/gone/CLAUDE.md", "Gone"),
        world.loads(other, "Not it"),
    )
    with store_in(tmp_path) as store:
        for text, at in ((b"# One\n", BEFORE), (b"# Two\nText of it\n", AFTER)):
            write(world.folder, {rule: text, other: b"# Web\n"})
            world.take(store, HOME, at=at)
        path = store.path
    with Archive.open(path) as archive:
        (session,) = archive.sessions().rows
        found = archive.rules_in_force(session.key)
        one = world.named(found, rule)
        assert (one.file.revision, one.words) == (2, CERTAIN)
        assert [archive.event_by_id(told.id).kind for told in one.loaded] == ["context.injected"]  # type: ignore[union-attr]
        (told,) = world.named(found, other).loaded
        assert told.revision is None
        assert world.named(found, other).words != CERTAIN
        assert [told.path for told in found.recorded] == [
            str(world.folder / ACME / name) for name in ("gone/CLAUDE.md", "web/CLAUDE.md")
        ]
        first = next(iter(archive.events(session.key).rows))
        assert world.named(archive.rules_in_force(session.key, first.sort), rule).loaded == ()


def test_codex_reads_agents_files_and_the_override_instead_of_the_one_beside_it(world: World, tmp_path: Path) -> None:
    rule = "# Rules\nRun every test before you say that it is done.\n"
    lines: list[dict[str, Any]] = [
        {"timestamp": "2026-03-02T09:00:00Z", "type": "session_meta", "payload": {"id": "c1", "cwd": world.cwd}},
        {
            "timestamp": "2026-03-02T09:00:01Z",
            "type": "response_item",
            "payload": {
                "type": "message",
                "role": "user",
                "content": [{"type": "input_text", "text": f"# AGENTS.md instructions for {world.cwd}\n\n{rule}"}],
            },
        },
    ]
    assert loads_lenient(json.dumps(lines[0]).encode())
    write(
        world.folder / HOME,
        {
            ".codex/sessions/2026/rollout-c1.jsonl": b"".join(json.dumps(line).encode() + b"\n" for line in lines),
            ".codex/AGENTS.md": b"# Mine\n",
            "acme/AGENTS.md": b"# Not read\n",
            "acme/AGENTS.override.md": rule.encode(),
            "acme/CLAUDE.md": b"# For another agent\n",
        },
    )
    with store_in(tmp_path) as store:
        world.take(store, HOME)
        path = store.path
    with Archive.open(path) as archive:
        found = archive.rules_in_force(1)
        assert world.names(found) == [(".codex/AGENTS.md", "user"), ("acme/AGENTS.override.md", "project")]
        assert found.files[1].words == CERTAIN
        assert found.files[0].loaded == ()


@pytest.mark.parametrize("field", ["instructions", "user_instructions"])
def test_rules_that_only_the_log_holds_are_given_once_with_their_text(field: str, tmp_path: Path) -> None:
    rule = "# Rules\nRun every test before you say that it is done.\n"
    message = {
        "type": "message",
        "role": "user",
        "content": [{"type": "input_text", "text": f"# AGENTS.md instructions for /w/acme\n\n{rule}"}],
    }
    opening = {"id": "c1", "cwd": "/w/acme", "instructions": rule if field == "instructions" else None}
    turn = {"turn_id": "t", "cwd": "/w/acme", "user_instructions": rule if field == "user_instructions" else None}
    lines = [
        {"timestamp": f"2026-03-02T09:00:0{at}Z", "type": type, "payload": payload}
        for at, (type, payload) in enumerate(
            [("session_meta", opening), ("response_item", message), ("turn_context", turn), ("turn_context", turn)]
        )
    ]
    write(tmp_path, log.lines(lines), ".codex/sessions/2026/rollout-c1.jsonl")
    with store_in(tmp_path) as store:
        take(store, tmp_path / ".codex")
        path = store.path
    with Archive.open(path) as archive:
        found = archive.rules_in_force(1)
        assert found.files == ()
        assert [rule.strip() in told.text for told in found.recorded] == [True] * (2 if field == "instructions" else 1)
        assert [section.headings[-1] for section in sections_in(found.recorded[-1].text.encode())][-1] == "Rules"


def test_what_a_file_brings_in_is_named_with_its_line_and_whether_it_was_imported(world: World, tmp_path: Path) -> None:
    write(world.folder / ACME, {"CLAUDE.md": b"# A\n@docs/a.md\n@gone.md @acme/sdk\n", "docs/a.md": b"@../CLAUDE.md\n"})
    world.session()
    with store_in(tmp_path) as store:
        world.take(store, HOME)
        path = store.path
    with Archive.open(path) as archive:
        found = archive.rules_in_force(1)
        rule, brought = f"{world.cwd}/CLAUDE.md", f"{world.cwd}/docs/a.md"
        assert world.names(found) == [("acme/CLAUDE.md", "project"), ("acme/docs/a.md", "import")]
        assert world.named(found, f"{ACME}/CLAUDE.md").brings == (
            Brought(2, "docs/a.md", brought),
            Brought(3, "gone.md", None),
        )
        assert world.named(found, f"{ACME}/docs/a.md").brings == (Brought(1, "../CLAUDE.md", rule),)


def test_a_file_and_its_sections_are_found_by_their_digest(tmp_path: Path) -> None:
    with store_in(tmp_path) as store:
        take(store, write(tmp_path / "acme", RULE, "CLAUDE.md"))
        path = store.path
    with Archive.open(path) as archive:
        ((file,),) = archive.rules()
        parts = [file.digest, *(section.digest for section in archive.rule_sections(file))]
        bodies = []
        for digest in parts:
            (content,) = archive.contents(digest or "-")
            assert content.digest == digest
            bodies.append(b"".join(archive.chunks(content)))
        assert bodies[0] == RULE
        assert b"".join(bodies[1:]) == RULE


def test_rules_are_looked_for_where_a_session_began_and_where_it_was_then(world: World, tmp_path: Path) -> None:
    write(world.folder / HOME, {f"{name}/CLAUDE.md": b"# A\n" for name in ("acme", "second", "third")})
    asked = [
        {**log.person(text, f"p-{at}"), "cwd": str(world.folder / HOME / name)}
        for at, (text, name) in enumerate([("Begin", "acme"), ("On", "second"), ("End", "third")])
    ]
    write(world.folder, log.lines(log.chain(*asked)), f"{HOME}/.claude/projects/-acme/s.jsonl")
    with store_in(tmp_path) as store:
        world.take(store, HOME)
        path = store.path
    with Archive.open(path) as archive:
        (session,) = archive.sessions().rows
        moments = [row.sort for row in archive.events(session.key).rows if row.kind == "user.message"]
        names = [[name for name, _ in world.names(archive.rules_in_force(session.key, at))] for at in (*moments, None)]
        begun, second, third = (f"{name}/CLAUDE.md" for name in ("acme", "second", "third"))
        assert names == [[begun], [begun, second], [begun, third], [begun, third]]


def test_a_session_without_a_folder_runs_under_no_rules_that_could_be_told(world: World, tmp_path: Path) -> None:
    write(
        world.folder,
        {f"{ACME}/CLAUDE.md": b"# A\n", "own.jsonl": b'{"type":"session.event","session":"o","kind":"note"}\n'},
    )
    with store_in(tmp_path) as store:
        world.take(store, HOME, "own.jsonl")
        path = store.path
    with Archive.open(path) as archive:
        found = archive.rules_in_force(1)
        assert replace(found, at=None) == RulesInForce(None, (), (), ())
