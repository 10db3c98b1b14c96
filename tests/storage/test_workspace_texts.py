"""What is made of a file's text: its language, what it defines and refers to, its passages; quickly, whatever it is."""

from __future__ import annotations

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from storage.recallers.files import governed
from storage.workspace.languages import definitions, language_of, references, target_key
from storage.workspace.passages import MOST_BYTES, MOST_LINES, cut
from storage.workspace.preparing import Prepared, decoded, humps, kind_of, prepare
from storage.workspace.walking import Stat

TYPESCRIPT = """import { Role } from '../user/role';
export async function createUserMock(name: string) {
}
export const DEFAULT = 3
class Session extends Base {
  private async load(id: number): Promise<void> {
    if (id) {
    }
  }
}
describe('session', () => {
  it("keeps the role", () => {})
const { a } = require("./b.js")
"""


GO = 'import (\n\t"fmt"\n\tz "a/b/c"\n)\nfunc (s *S) Run(a int) error {\n}\ntype Foo struct {\n}\n'
RUST = "use std::fs::File;\npub(crate) async fn go<T>() {}\nconst X: u8 = 1;\nmod inner;\n"
JAVA = "import a.b.C;\npublic class A {\n  private final Map<String, Integer> m() {\n"
C = '#include "x.h"\n#define FOO 1\nstruct bar {\n};\nstatic int run(int a)\n{\n  return foo(1);\n}\n'
MARKDOWN = "# One #\n[x](docs/y.md) [z](https://example.com)\n## Two\n"


@pytest.mark.parametrize(
    ("path", "text", "defined", "referred"),
    [
        ("a.ts", TYPESCRIPT, "createUserMock DEFAULT Session load session keeps_the_role", "../user/role ./b.js"),
        ("a.go", GO, "Run Foo", "fmt a/b/c"),
        ("a.rs", RUST, "go X inner", "std::fs::File inner"),
        ("A.java", JAVA, "A m", "a.b.C"),
        ("a.c", C, "FOO bar run", "x.h"),
        ("a.py", "A = 1\nclass B:\n    async def c(self):\n        pass\nfrom .q import y\n", "A B c", ".q"),
        ("a.rb", "require 'x/y'\nmodule M\n  def self.go?\n", "M go?", "x/y"),
        ("a.sh", "go() {\n}\nfunction run {\n. ./lib.sh\n", "go run", "./lib.sh"),
        ("a.sql", "CREATE TABLE IF NOT EXISTS users (a);\n", "users", ""),
        ("a.md", MARKDOWN, "One Two", "docs/y.md"),
        ("a.rst", "One\n===\n\ntext\n\nTwo\n---\n", "One Two", ""),
        ("Makefile", "build: a\n\tcc\nX := 1\n", "build", ""),
        ("script", "#!/usr/bin/env python3\ndef go(): pass\n", "go", ""),
        ("unknown.zzz", "def go(): pass\n", "", ""),
    ],
)
def test_definitions_and_references(path: str, text: str, defined: str, referred: str) -> None:
    language = language_of(path, text)
    found = definitions(text, language)
    assert [symbol.name.replace(" ", "_") for symbol in found] == defined.split()
    assert [one.target for one in references(text, language)] == referred.split()
    lines = text.split("\n")
    for symbol in found:
        assert symbol.name.split()[0] in lines[symbol.line]
    for one in references(text, language):
        assert one.target in lines[one.line]


@pytest.mark.parametrize(
    ("target", "key"),
    [("../user/Role", "role"), ("./b.js", "b"), ("a.b.c", "c"), ("a/b/c", "c"), ("std::fs::File", "file"), ("x.h", "x"),
     (".q", "q"), ("docs/y.md", "y"), ("", ""), ("...", "")],
)  # fmt: skip
def test_what_is_referred_to_is_kept_by_its_last_name(target: str, key: str) -> None:
    assert target_key(target) == key


def test_names_with_humps_are_taken_apart() -> None:
    assert humps("createUserMock HTTPServer plain UPPER x1") == ["HTTP", "Mock", "Server", "User", "create"]


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("AGENTS.md", "rule"),
        ("sub/CLAUDE.md", "rule"),
        (".cursor/rules/a.mdc", "rule"),
        (".github/copilot-instructions.md", "rule"),
        ("CONTRIBUTING.md", "rule"),
        ("docs/adr/0001-x.md", "decision"),
        ("decisions/x.md", "decision"),
        ("docs/ADR-12 defaults.md", "decision"),
        ("README.md", "doc"),
        ("notes.txt", "doc"),
        ("requirements-dev.txt", "code"),
        ("src/a.ts", "code"),
        ("src/a.test.ts", "test"),
        ("tests/a.py", "test"),
        ("test_a.py", "test"),
        ("src/SessionTest.java", "test"),
        ("build.log", "log"),
        ("src/decide.ts", "code"),
        ("src/decisions/tree.ts", "code"),
    ],
)
def test_what_a_file_is_to_a_reader(path: str, kind: str) -> None:
    assert kind_of(path, language_of(path, "")) == kind


@pytest.mark.parametrize(
    ("data", "text"),
    [(b"a\0b", None), (b"%PDF-1.4", None), (b"caf\xe9 au lait, again and again", "caf\ufffd au lait, again and again"),
     (b"\xff\xfea\0", None), (bytes(range(128, 256)), None), ("役割".encode(), "役割"), (b"\x01\xff", None), (b"", "")],
)  # fmt: skip
def test_text_is_told_by_its_bytes(data: bytes, text: str | None) -> None:
    assert decoded(data) == text


PARTS = ["\n", "a", "役割", "é", "# T\n", "def f():\n", "x" * 700, "word " * 40, "\r\n", "\x85"]


def test_a_key_is_left_out_and_a_text_that_quotes_one_is_not() -> None:
    key = b"-----BEGIN OPENSSH PRIVATE KEY-----\nabc\n"
    assert prepare("key", b"\n" + key, Stat(1, 0, 0)) == "secret"
    assert isinstance(prepare("a.py", b"KEY =  + key + b\n", Stat(1, 0, 0)), Prepared)


@settings(max_examples=150, deadline=None, derandomize=True)
@given(st.lists(st.sampled_from(PARTS), max_size=60), st.sampled_from(["python", "markdown", "rst", "other", "log"]))
def test_passages_tile_a_text(parts: list[str], language: str) -> None:
    text = "".join(parts)
    data = text.encode()
    found = cut(data, language, definitions(text, language))
    assert b"".join(data[one.start : one.stop] for one in found) == data
    for one in found:
        assert 0 < one.stop - one.start <= MOST_BYTES
        assert one.first <= one.last
        assert data.count(b"\n", 0, one.start) == one.first - 1
        assert one.last - one.first < MOST_LINES
        data[one.start : one.stop].decode()


def test_prose_is_cut_at_its_headings_and_code_at_its_definitions() -> None:
    prose = "# One\n\n" + "words " * 50 + "\n\n## Two\n\n" + "words " * 50 + "\n"
    found = cut(prose.encode(), "markdown", definitions(prose, "markdown"))
    assert [(one.anchor, one.first) for one in found] == [("One", 1), ("Two", 5)]
    code = "".join(f"def f{n}():\n" + "    x = 1\n" * 24 for n in range(6))
    found = cut(code.encode(), "python", definitions(code, "python"))
    assert [(one.anchor, one.first) for one in found] == [("f0", 1), ("f2", 51), ("f4", 101)]


LONG = 256 * 1024
HOSTILE = [
    " ", "a", "aA", "(", '"', "it('", "a\n", "<", "ident(", "* ", "#", "=\n", "a.", "a/", "\n", "a:", "import ",
    "from '", "](", "export ", "x://", "status: \n", "\t" * 200 + "\n", "export " * 60 + "\n", "@x " * 60 + "\n",
    "static final int " * 20 + "\n", "  public " + "Map<String, " * 30 + "\n", "int " + "x * " * 40 + "\n",
    "a\n" + "=" * 300 + "\n",
]  # fmt: skip


@pytest.mark.parametrize("part", HOSTILE, ids=range(len(HOSTILE)))
def test_no_text_takes_long(part: str) -> None:
    data = (part * (LONG // len(part))).encode()
    begun = time.process_time()
    for path in ("a.py", "a.ts", "a.go", "a.rs", "a.java", "a.c", "a.md", "a.rst", "a.sql", "a.css"):
        assert isinstance(prepare(path, data, Stat(len(data), 0, 0)), Prepared)
    governed(data.decode())
    assert time.process_time() - begun < 10  # a second or so; what is not linear takes minutes
