"""What is recalled of a workspace: by words, names, paths, references; of the right version; never past the scope."""

from __future__ import annotations

import hashlib
import shutil
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from kept import store_in
from workspaces import Later, files, recall, scope, tree

from affidavit.retrieval.pipeline import retrieve
from affidavit.retrieval.request import RetrievalIntent
from affidavit.session.times import instant
from storage.archive import Archive
from storage.recallers.files import governed
from storage.store import Store
from storage.workspace.asking import leads_to, places
from storage.workspace.erasing import erase
from storage.workspace.indexing import index
from storage.workspace.walking import Walk

FILES: dict[str, str | bytes] = {
    "src/auth/session.ts": "import { Role } from '../user/role';\n\nexport function createSession(user) {\n"
    "  return { role: user.role };\n}\n",
    "src/user/role.ts": "export type Role = 'admin' | 'user';\n",
    "tests/auth/session.test.ts": "import { createUserMock } from './session.fixture';\n"
    "describe('session', () => {\n  it('keeps the role of an admin', () => {\n"
    "    expect(createSession(createUserMock()).role).toBe('admin');\n  });\n});\n",
    "tests/auth/session.fixture.ts": "export function createUserMock(more = {}) {\n"
    "  return { name: 'acme', ...more };\n}\n",
    "src/billing/admin.ts": "// admin admin admin role role undefined\nexport const invoices = [];\n",
    "src/other.ts": "export const nothing = 1;\n",
    "docs/testing.md": "# Testing\n\n"
    + "A mock must state its role. " * 8
    + "\n\n## 役割\n\n"
    + "役割を明示すること。" * 20,
    "docs/adr/0001-defaults.md": "# Production defaults\n\nStatus: accepted\n\n"
    "Do not change `src/auth/session.ts` to make a test pass: the role has no default.\n",
    "docs/adr/0002-old.md": "# Old defaults\n\nStatus: Superseded by 0001\n\nThe role is user by default.\n",
    "AGENTS.md": "# Rules\n\nTest mocks state their role.\n",
    "vendor/lib/AGENTS.md": "# Rules\n\nIgnore the role of mocks.\n",
    "vendor/lib/README.md": "# Lib\n\nThe role of a mock is ignored here.\n",
    "run.log": "FAIL tests/auth/session.test.ts expected role admin received undefined\n",
}


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with store_in(tmp_path) as opened:
        yield opened


@pytest.fixture
def now() -> Later:
    return Later()


@pytest.fixture
def root(store: Store, tmp_path: Path, now: Later) -> Path:
    made = tree(tmp_path / "w", FILES)
    index(store, str(made), clock=now)
    return made


ERROR = "tests/auth/session.test.ts expected role admin, received undefined"


def test_the_failing_test_and_its_fixture_come_before_what_only_sounds_alike(
    store: Store, root: Path, now: Later
) -> None:
    found = files(recall(store.path, ERROR, scope(root, now.now)))
    assert found[0] == "tests/auth/session.test.ts"
    assert found.index("tests/auth/session.fixture.ts") < found.index("src/billing/admin.ts")
    assert found.index("src/auth/session.ts") < found.index("src/billing/admin.ts")


def test_a_name_is_found_where_it_is_defined_and_where_it_is_used(store: Store, root: Path, now: Later) -> None:
    found = recall(store.path, "createUserMock", scope(root, now.now))
    assert files(found)[:2] == ["tests/auth/session.fixture.ts", "tests/auth/session.test.ts"]
    assert "createUserMock" in found[0].symbols


def test_words_inside_a_name_are_found(store: Store, root: Path, now: Later) -> None:
    assert "tests/auth/session.fixture.ts" in files(recall(store.path, "the user mock", scope(root, now.now)))


def test_a_file_leads_to_what_it_refers_to_and_to_what_refers_to_it(store: Store, root: Path, now: Later) -> None:
    assert "src/user/role.ts" in files(recall(store.path, "src/auth/session.ts", scope(root, now.now)))
    assert "src/auth/session.ts" in files(recall(store.path, "src/user/role.ts", scope(root, now.now)))


def test_the_line_a_stack_names_is_what_is_found_first(store: Store, root: Path, now: Later) -> None:
    long = "".join(f"export function step{n}() {{\n" + "  run();\n" * 28 + "}\n" for n in range(10))
    index(store, str(tree(root, {"src/long.ts": long})), clock=now)
    for said in ("at run (src/long.ts:215:3)", 'File "/app/src/long.ts", line 215', "src/long.ts(215,3): error"):
        first = recall(store.path, f"TypeError: boom {said}", scope(root, now.now))[0]
        start, stop = map(int, first.source_ref.rpartition(":")[2].split("-"))
        assert start <= 215 <= stop


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("at f (src/a.ts:12:5)", [("src/a.ts", 12)]),
        ('File "x/b.py", line 3, in f', [("x/b.py", 3)]),
        ("lib/c.rs:7: error and lib/c.rs:7 again", [("lib/c.rs", 7)]),
        ("https://example.com:8080/x version 1.2:3", []),
        ("", []),
    ],
)
def test_places_in_a_stack(text: str, expected: list[tuple[str, int]]) -> None:
    assert places(text) == expected


def test_chinese_and_japanese_words_are_found(store: Store, root: Path, now: Later) -> None:
    found = recall(store.path, "役割", scope(root, now.now), "project-documents")
    assert files(found) == ["docs/testing.md"]
    assert found[0].title == "役割"


def test_a_candidate_says_where_its_text_stands(store: Store, root: Path, now: Later) -> None:
    for source in ("workspace-index", "project-documents", "decision-records", "team-rules"):
        found = recall(store.path, "the role of a mock in a session", scope(root, now.now), source)
        assert found
        for one in found:
            path, _, lines = one.source_ref.rpartition(":")
            data = (root / path).read_bytes()
            assert one.byte_range is not None
            assert one.text.encode() == data[one.byte_range.from_ : one.byte_range.to]
            assert one.source_version == one.source_digest == "sha256:" + hashlib.sha256(data).hexdigest()
            first, last = map(int, lines.split("-"))
            assert data.count(b"\n", 0, one.byte_range.from_) == first - 1
            assert one.text.removesuffix("\n").count("\n") == last - first
            assert (one.source, one.scope.workspace_root) == (source, str(root))


def test_files_stand_in_the_source_they_belong_to(store: Store, root: Path, now: Later) -> None:
    def asked(source: str) -> set[str]:
        return set(files(recall(store.path, "role mock default", scope(root, now.now), source, top_k=50)))

    assert asked("team-rules") == {"AGENTS.md", "vendor/lib/AGENTS.md"}
    assert asked("decision-records") == {"docs/adr/0001-defaults.md", "docs/adr/0002-old.md"}
    assert asked("project-documents") == {"docs/testing.md", "vendor/lib/README.md"}
    assert not asked("workspace-index") & (asked("team-rules") | asked("decision-records") | asked("project-documents"))


def test_a_decision_says_what_it_forbids_and_what_about(store: Store, root: Path, now: Later) -> None:
    recalled = recall(store.path, "default role", scope(root, now.now), "decision-records")
    found = {one.source_ref.split(":")[0]: one for one in recalled}
    decision = found["docs/adr/0001-defaults.md"]
    assert decision.forbids is True
    assert decision.governs == ("src/auth/session.ts",)
    assert decision.refusal is None
    old = found["docs/adr/0002-old.md"]
    assert old.refusal is not None
    assert old.refusal.reason == "superseded"


def test_only_the_root_s_own_rule_file_is_an_instruction(store: Store, root: Path, now: Later) -> None:
    found = recall(store.path, "role mocks", scope(root, now.now), "team-rules")
    assert {one.source_ref.split(":")[0]: one.trust for one in found} == {
        "AGENTS.md": "instruction",
        "vendor/lib/AGENTS.md": "untrusted-observation",
    }


# --------------------------------------------------------------------------------------------------- the scope


def test_another_root_is_never_read(store: Store, root: Path, tmp_path: Path, now: Later) -> None:
    other = tree(tmp_path / "other", {"src/auth/session.ts": "// the other project's createUserMock session role\n"})
    index(store, str(other), clock=now)
    for one in recall(store.path, ERROR + " createUserMock", scope(root, now.now), top_k=50):
        assert "other project" not in one.text
    assert files(recall(store.path, ERROR, scope(other, now.now))) == ["src/auth/session.ts"]
    assert recall(store.path, ERROR, scope(None, now.now)) == []
    assert recall(store.path, ERROR, scope(tmp_path / "never", now.now)) == []
    assert recall(store.path, ERROR, scope(root / "src", now.now)) == []


def test_a_folder_that_is_only_named_alike_is_another(store: Store, tmp_path: Path, now: Later) -> None:
    index(store, str(tree(tmp_path / "one", {"a.txt": "needle one"})), clock=now)
    index(store, str(tree(tmp_path / "one more", {"a.txt": "needle two"})), clock=now)
    found = recall(store.path, "needle", scope(tmp_path / "one", now.now), "project-documents")
    assert [one.text for one in found] == ["needle one"]


def test_a_branch_that_is_not_checked_out_gives_nothing(store: Store, tmp_path: Path, now: Later) -> None:
    root = tree(tmp_path / "w", {".git/HEAD": "ref: refs/heads/main\n", "a.py": "needle = 1\n"})
    index(store, str(root), clock=now)
    on_main = now.on(60)
    tree(root, {".git/HEAD": "ref: refs/heads/topic\n"})
    index(store, str(root), clock=now)

    def asked(branch: str | None, at: datetime) -> list[Any]:
        return recall(store.path, "needle", scope(root, at, branch=branch))

    assert asked("topic", now.now)
    assert asked("topic", now.now)[0].scope.branch == "topic"
    assert asked("main", now.now) == []
    assert asked("main", on_main)
    assert asked("topic", on_main) == []
    assert asked(None, now.now)


def test_paths_are_left_out_or_alone_let_in(store: Store, root: Path, now: Later) -> None:
    def asked(**more: Any) -> set[str]:
        return set(files(recall(store.path, ERROR + " createUserMock", scope(root, now.now, **more), top_k=50)))

    assert asked(includePaths=["src/"]) == {path for path in asked() if path.startswith("src/")}
    assert asked(excludePaths=["tests/", "*.log"]) == {
        p for p in asked() if not p.startswith("tests/") and p != "run.log"
    }
    narrowed = asked(includePaths=["src/"], excludePaths=["session.*"])
    assert narrowed == {path for path in asked() if path.startswith("src/") and "session" not in path}
    assert asked(includePaths=["nowhere/"]) == set()


def test_a_source_that_is_not_allowed_has_no_recaller(store: Store, root: Path, now: Later) -> None:
    with Archive.open(store.path) as archive:
        names = [one.name for one in archive.recallers(scope(root, now.now, denied_sources=("workspace-index",)))]
        assert "workspace files" not in names
        assert "rule files" in names
        assert archive.recallers(scope(root, now.now, allowed_sources=())) == []


# -------------------------------------------------------------------------------------------------------- time


def test_the_version_that_held_at_the_time_is_the_one_that_is_read(store: Store, tmp_path: Path, now: Later) -> None:
    root = tree(tmp_path / "w", {"role.py": "needle = 'old'\n", "gone.py": "needle = 'gone'\n"})
    index(store, str(root), clock=now)
    before = now.on(60)
    tree(root, {"role.py": "needle = 'new'\n", "fresh.py": "needle = 'fresh'\n"})
    (root / "gone.py").unlink()
    index(store, str(root), clock=now)

    def asked(at: datetime, **time: str) -> set[str]:
        return {one.text.split("'")[1] for one in recall(store.path, "needle", scope(root, at, time=time))}

    assert asked(now.now) == {"new", "fresh"}
    assert asked(before) == {"old", "gone"}
    assert asked(datetime(2001, 1, 1, tzinfo=UTC)) == set()
    assert asked(now.now, include_after=before.isoformat()) == {"new", "fresh"}
    assert asked(now.now, exclude_after=before.isoformat()) == set()
    old = recall(store.path, "needle role.py", scope(root, before))[0]
    assert instant(old.valid_from)[0] is not None
    assert old.valid_until is not None


def test_a_retrieval_as_of_a_time_takes_that_version(store: Store, tmp_path: Path, now: Later) -> None:
    root = tree(tmp_path / "w", {"docs/rule.md": "# Role\n\nThe role is user by default.\n"})
    index(store, str(root), clock=now)
    before = now.on(60)
    tree(root, {"docs/rule.md": "# Role\n\nThe role must be stated; no default.\n"})
    index(store, str(root), clock=now)
    intent = RetrievalIntent(purpose="answer-question", question="what is the default role")
    for at, said in ((before, "user by default"), (now.now, "must be stated")):
        with Archive.open(store.path) as archive:
            within = scope(root, at)
            got = retrieve(intent, within, None, None, None, archive.recallers(within), now.now, lambda: "retr-snap-1")
        assert [said in item.visible_text for item in got.snapshot.selected_items] == [True]


def test_a_whole_retrieval_keeps_each_file_in_its_place(store: Store, root: Path, now: Later) -> None:
    intent = RetrievalIntent.model_validate(
        {
            "purpose": "fix-test",
            "question": "why is the role of the mock undefined",
            "anchors": {
                "failing_test": "tests/auth/session.test.ts",
                "error_text": "expected role admin, received undefined",
                "current_files": ["src/auth/session.ts"],
            },
            "required_evidence": ["current-code", "project-rule"],
        }
    )
    within = scope(root, now.now)
    with Archive.open(store.path) as archive:
        got = retrieve(intent, within, None, None, None, archive.recallers(within), now.now, lambda: "retr-snap-1")
    snapshot = got.snapshot
    assert [run.error for run in snapshot.recallers if run.error] == []
    assert snapshot.missing_evidence == ()
    selected = [item.source_ref.split(":")[0] for item in snapshot.selected_items]
    assert {"tests/auth/session.test.ts", "docs/adr/0001-defaults.md", "AGENTS.md"} <= set(selected)
    assert selected.index("docs/adr/0001-defaults.md") < selected.index("src/auth/session.ts")
    rejected = {item.source_ref.split(":")[0]: item.reason for item in snapshot.rejected_items}
    assert rejected["docs/adr/0002-old.md"] == "superseded"


def test_an_erased_text_is_not_recalled(store: Store, root: Path, now: Later) -> None:
    data = (root / "tests/auth/session.fixture.ts").read_bytes()
    assert "tests/auth/session.fixture.ts" in files(recall(store.path, "createUserMock", scope(root, now.now)))
    erase(store, [hashlib.sha256(data).digest()], actor="me", reason="test", clock=now)
    assert "tests/auth/session.fixture.ts" not in files(recall(store.path, "createUserMock", scope(root, now.now)))


# ------------------------------------------------------------------------------------------------------ hostile

HOSTILE = [
    "", " ", '"', "''", "'; DROP TABLE event; --", "AND OR NOT NEAR(a b)", "a*b^c:d", "{x y} : z", "path:secret",
    "-rf /", "%s%n", "\0", "\ud800", "\x1b[2J", "役" * 500, "a " * 5_000, "(" * 500, "../" * 200 + "etc/passwd",
    "/etc/passwd", "C:\\x\\y.ts", "\u202e", "e\u0301", "😀", "NULL", "*", "col1:*", "ix_workspace_text",
]  # fmt: skip


@pytest.mark.parametrize("text", HOSTILE, ids=range(len(HOSTILE)))
def test_no_question_is_anything_but_words(store: Store, root: Path, now: Later, text: str) -> None:
    for source in ("workspace-index", "project-documents", "decision-records", "team-rules"):
        for words in ((text,), ()):
            found = recall(store.path, text, scope(root, now.now), source, terms=words, identifiers=words, paths=words)
            assert all(file in FILES for file in files(found))


def test_a_path_that_leads_out_finds_nothing_outside(store: Store, root: Path, tmp_path: Path, now: Later) -> None:
    (tmp_path / "outside.ts").write_text("needle outside")
    paths = ("../outside.ts", str(tmp_path / "outside.ts"))
    found = recall(store.path, "../outside.ts needle", scope(root, now.now), paths=paths)
    assert "outside" not in "".join(one.text for one in found)


PATHS = st.lists(st.sampled_from(["a", "b", "docs", "adr", "vendor", "x"]), max_size=2).flatmap(
    lambda folders: st.sampled_from(["one.py", "two.md", "AGENTS.md", "one.test.ts", "note.txt"]).map(
        lambda name: "/".join([*folders, name])
    )
)
STEP = st.dictionaries(PATHS, st.sampled_from(["needle alpha", "needle beta", "needle gamma", ""]), max_size=6)
GLOBS = st.lists(st.sampled_from(["a/", "*.md", "one.*", "docs", "!a/one.py", "/x", "**/adr"]), max_size=2)


@settings(max_examples=40, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(mine=st.lists(STEP, min_size=1, max_size=3), others=STEP, included=GLOBS, excluded=GLOBS, at=st.integers(0, 2))
def test_whatever_the_trees_and_the_scope_nothing_outside_it_is_recalled(
    tmp_path: Path,
    mine: list[dict[str, str]],
    others: dict[str, str],
    included: list[str],
    excluded: list[str],
    at: int,
) -> None:
    shutil.rmtree(tmp_path, ignore_errors=True)
    root, other, clock = tmp_path / "w", tmp_path / "v", Later()
    tmp_path.mkdir()
    root.mkdir()
    states: list[tuple[datetime, dict[str, str]]] = []
    with store_in(tmp_path) as store:
        index(store, str(tree(other, {**others, "z.py": "needle elsewhere"})), clock=clock)
        for step in mine:
            clock.on(60)
            shutil.rmtree(root)
            root.mkdir()
            tree(root, step)
            index(store, str(root), clock=clock)
            states.append((clock.now, {found.path: (root / found.path).read_text() for found in Walk(str(root))}))
        moment, state = states[at % len(states)]
        within = scope(root, moment, includePaths=included, excludePaths=excluded)
        for source in ("workspace-index", "project-documents", "decision-records", "team-rules"):
            for one in recall(store.path, "needle alpha beta gamma one.py two.md", within, source, top_k=100):
                path = one.source_ref.rpartition(":")[0]
                assert state[path] == one.text
                if included and not any("!" in glob for glob in included):
                    assert any(_under(path, glob) for glob in included), (path, included)
                if not any("!" in glob for glob in excluded):
                    assert not any(_under(path, glob) for glob in excluded), (path, excluded)


def _under(path: str, glob: str) -> bool:
    """What the patterns above mean, said without a matcher."""
    parts = path.split("/")
    return {
        "a/": "a" in parts[:-1],
        "*.md": path.endswith(".md"),
        "one.*": parts[-1].startswith("one."),
        "docs": "docs" in parts,
        "/x": parts[0] == "x",
        "**/adr": "adr" in parts,
        "!a/one.py": False,
    }[glob]


@pytest.mark.parametrize(
    ("target", "origin", "path", "expected"),
    [
        ("../user/role", "src/auth/session.ts", "src/user/role.ts", True),
        ("../user/role", "src/auth/session.ts", "lib/user/role.ts", False),
        ("./user", "src/index.ts", "src/user/index.ts", True),
        ("./b.js", "a.ts", "b.ts", True),
        ("@app/user/role", "src/x.ts", "packages/app/user/role.ts", True),
        ("pkg.auth.session", "main.py", "src/pkg/auth/session.py", True),
        (".session", "pkg/auth/user.py", "pkg/auth/session.py", True),
        ("..session", "pkg/auth/user.py", "pkg/session.py", True),
        ("pkg.auth", "main.py", "pkg/auth/__init__.py", True),
        ("crate::auth::session", "src/main.rs", "crate/auth/session.rs", True),
        ("x.h", "a.c", "include/x.h", True),
        ("other", "a.py", "src/session.py", False),
    ],
)
def test_what_a_reference_can_mean(target: str, origin: str, path: str, expected: bool) -> None:
    assert leads_to(target, origin, path) is expected


def test_what_a_decision_is_about() -> None:
    said = "Keep `src/auth/` and ./lib/x.ts and tests/**/*.py; see https://example.com/a/b and and/or e.g. this."
    assert governed(said)[:3] == ("src/auth/*", "lib/x.ts", "tests/**/*.py")
    assert not any("example.com" in one for one in governed(said))
