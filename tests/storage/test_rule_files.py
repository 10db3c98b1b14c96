"""Rule files: cut into sections, kept revision by revision, followed no further than they may be, tied to sessions."""

from __future__ import annotations

import json
import shutil
import time
from hashlib import sha256
from pathlib import Path

import claude_fixtures as log
import pytest
from hypothesis import given
from hypothesis import strategies as st
from kept import Clock, assert_holds, assert_same, chance, meaning, rows, store_in, take, write

from storage.archive import Archive
from storage.importing import Importer
from storage.readers.rules import MOST_SECTIONS, Hidden, body, hidden, imports, kind_of, patterns, sections
from storage.rebuild import rebuild
from storage.redact import redact
from storage.rule_places import tree_of

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
    whole += b" @docs/style.md"
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
