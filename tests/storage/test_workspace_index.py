"""The workspace index: what changed is taken in, every version is kept, and the ledger can make it again."""

from __future__ import annotations

import hashlib
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import pytest
from kept import assert_holds, chance, rows, store_in, take, write
from workspaces import Later, tree

from storage.rebuild import rebuild
from storage.store import Store
from storage.verify import verify
from storage.workspace import indexing, remaking, tables
from storage.workspace.erasing import erase
from storage.workspace.indexing import IndexReport, index
from storage.workspace.walking import MOST_BYTES


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with store_in(tmp_path) as opened:
        yield opened


def versions(path: str) -> list[tuple[str, bytes | None, bool]]:
    """(path, text, whether it holds now) of every version in the order they came."""
    found = rows(
        path,
        'SELECT f.path, CAST(c.data AS BLOB), p."commit" IS NULL, v.until IS NULL FROM ix_workspace_version v '
        'JOIN ix_workspace_file f ON f.no = v.file LEFT JOIN payload p ON p."commit" = v."commit" '
        'LEFT JOIN payload_chunk c ON c."commit" = v."commit" ORDER BY v.no',
    )
    return [(name, None if erased else text or b"", bool(now)) for name, text, erased, now in found]


def content(path: str) -> dict[str, list[tuple[object, ...]]]:
    """What the index says, without the numbers of its rows and what a look at a file costs only."""
    named = """FROM ix_workspace_version v JOIN ix_workspace_file f ON f.no = v.file
        JOIN ix_workspace_root r ON r.no = f.root"""
    asked = {
        "root": "SELECT id, path, entries, last FROM ix_workspace_root ORDER BY path",
        "head": "SELECT at, branch, head FROM ix_workspace_head ORDER BY at",
        "version": f'SELECT r.path, f.path, f.version = v.no, v.key, v."commit", v.entry, v.language, v.kind, v.since, '
        f"v.until, v.captured, v.withheld {named} ORDER BY 1, 2, v.since, v.no",
        "passage": f"SELECT r.path, f.path, v.since, p.start, p.stop, p.first, p.last, p.anchor {named} "
        "JOIN ix_workspace_passage p ON p.version = v.no ORDER BY 1, 2, 3, 4",
        "symbol": f"SELECT r.path, f.path, v.since, s.folded, s.name, s.kind, s.line, p.start {named} "
        "JOIN ix_workspace_passage p ON p.version = v.no JOIN ix_workspace_symbol s ON s.passage = p.no "
        "ORDER BY 1, 2, 3, 4, 7",
        "reference": f"SELECT r.path, f.path, v.since, x.key, x.target, x.line {named} "
        "JOIN ix_workspace_reference x ON x.version = v.no ORDER BY 1, 2, 3, 4, 6",
        "words": "SELECT term, doc, cnt FROM ix_workspace_words ORDER BY term",
    }
    return {name: rows(path, sql) for name, sql in asked.items()}


def closed(report: IndexReport) -> IndexReport:
    """The account of a walk must add up."""
    assert report.files == report.unchanged + report.same + report.added + report.changed, report
    return report


FILES: dict[str, str | bytes] = {
    "src/auth.ts": "import { x } from './user';\nexport function createSession(a) {\n  return a;\n}\n",
    "src/user.ts": "export const DEFAULT_ROLE = 'user';\n",
    "docs/rules.md": "# Rules\n\nTests state their role.\n\n## 役割\n\n役割を明示する。\n",
    "empty.txt": "",
    "bin.dat": b"\0\1\2",
    "latin.c": "/* caf\xe9 */\nint x;\n".encode("latin-1"),
}


def test_what_is_text_is_indexed_and_kept(store: Store, tmp_path: Path) -> None:
    root = tree(tmp_path / "w", FILES)
    report = closed(index(store, str(root)))
    assert (report.added, report.left, report.listed) == (5, {"binary": 1}, [("bin.dat", "binary")])
    assert sorted(path for path, _, _ in versions(store.path)) == sorted(set(FILES) - {"bin.dat"})
    assert_holds(store.path)


def test_a_second_walk_reads_only_what_changed(store: Store, tmp_path: Path) -> None:
    clock = Later()
    root = tree(tmp_path / "w", FILES)
    index(store, str(root), clock=clock)
    before = rows(store.path, "SELECT count(*) FROM ledger_entry")
    report = closed(index(store, str(root), clock=clock))
    assert (report.unchanged, report.entries, report.bytes) == (5, 0, 0)
    assert rows(store.path, "SELECT count(*) FROM ledger_entry") == before
    os.utime(root / "src/user.ts")
    tree(root, {"src/auth.ts": "export function other() {}\n", "new.py": "A = 1\n"})
    (root / "empty.txt").unlink()
    report = closed(index(store, str(root), clock=clock))
    assert (report.unchanged, report.same, report.changed, report.added, report.gone) == (2, 1, 1, 1, 1)
    assert_holds(store.path)


def test_a_change_that_keeps_size_and_time_is_seen_by_the_time_of_the_change_itself(
    store: Store, tmp_path: Path
) -> None:
    root = tree(tmp_path / "w", {"a.txt": "one"})
    index(store, str(root), clock=Later())
    status = (root / "a.txt").stat()
    tree(root, {"a.txt": "two"})
    os.utime(root / "a.txt", ns=(status.st_atime_ns, status.st_mtime_ns))
    assert index(store, str(root), clock=Later()).changed == 1


def test_a_file_changed_just_before_it_was_read_is_read_again(store: Store, tmp_path: Path) -> None:
    root = tree(tmp_path / "w", {"a.txt": "one"})
    assert index(store, str(root)).added == 1
    assert index(store, str(root)).same == 1


def test_every_version_says_when_it_held(store: Store, tmp_path: Path) -> None:
    clock = Later()
    root = tree(tmp_path / "w", {"a.txt": "one"})
    index(store, str(root), clock=clock)
    clock.on(60)
    tree(root, {"a.txt": "two"})
    index(store, str(root), clock=clock)
    clock.on(60)
    (root / "a.txt").unlink()
    index(store, str(root), clock=clock)
    clock.on(60)
    tree(root, {"a.txt": "one"})
    index(store, str(root), clock=clock)
    assert versions(store.path) == [("a.txt", b"one", False), ("a.txt", b"two", False), ("a.txt", b"one", True)]
    spans = rows(store.path, "SELECT since, until FROM ix_workspace_version ORDER BY no")
    assert spans[0][0] < spans[0][1] == spans[1][0] < spans[1][1] < spans[2][0]
    assert spans[2][1] is None
    # A text that came back is not kept twice.
    assert rows(store.path, "SELECT count(*) FROM payload WHERE media = 'text/plain'") == [(2,)]


def test_a_file_older_than_the_first_look_holds_since_its_own_time(store: Store, tmp_path: Path) -> None:
    root = tree(tmp_path / "w", {"a.txt": "one", "future.txt": "x"})
    os.utime(root / "a.txt", (1_700_000_000, 1_700_000_000))
    os.utime(root / "future.txt", (9_000_000_000, 9_000_000_000))
    clock = Later()
    index(store, str(root), clock=clock)
    spans = dict(rows(store.path, "SELECT f.path, v.since FROM ix_workspace_version v JOIN ix_workspace_file f "
                                  "ON f.no = v.file"))  # fmt: skip
    assert spans["a.txt"] == 1_700_000_000_000_000
    assert spans["future.txt"] <= clock.now.timestamp() * 1_000_000


def test_an_old_file_that_came_later_did_not_hold_before(store: Store, tmp_path: Path) -> None:
    clock = Later()
    root = tree(tmp_path / "w", {"a.txt": "one"})
    index(store, str(root), clock=clock)
    seen = clock.now.timestamp() * 1_000_000
    tree(root, {"b.txt": "moved in"})
    os.utime(root / "b.txt", (1_700_000_000, 1_700_000_000))
    index(store, str(root), clock=clock)
    [(since,)] = rows(
        store.path,
        "SELECT since FROM ix_workspace_version WHERE file = (SELECT no FROM ix_workspace_file WHERE path = 'b.txt')",
    )
    assert since >= seen


def test_a_file_that_is_no_text_any_more_is_gone(store: Store, tmp_path: Path) -> None:
    root = tree(tmp_path / "w", {"a.txt": "one"})
    index(store, str(root))
    tree(root, {"a.txt": b"\0"})
    report = index(store, str(root))
    assert (report.gone, report.left) == (1, {"binary": 1})
    assert versions(store.path) == [("a.txt", b"one", False)]


def test_roots_are_kept_apart_and_their_streams_chained(store: Store, tmp_path: Path) -> None:
    one, two = tree(tmp_path / "one", {"a.txt": "one"}), tree(tmp_path / "two", {"a.txt": "two"})
    index(store, str(one))
    index(store, str(two))
    tree(one, {"b.txt": "more"})
    (tmp_path / "link").symlink_to("one")
    assert index(store, str(tmp_path / "link")).added == 1
    assert rows(store.path, "SELECT entries FROM ix_workspace_root ORDER BY path") == [(2,), (1,)]
    assert_holds(store.path)


def test_a_change_of_branch_is_recorded(store: Store, tmp_path: Path) -> None:
    root = tree(tmp_path / "w", {".git/HEAD": "ref: refs/heads/main\n", "a.txt": "x"})
    assert index(store, str(root)).branch == "main"
    index(store, str(root))
    tree(root, {".git/HEAD": "ref: refs/heads/topic\n"})
    index(store, str(root))
    assert rows(store.path, "SELECT branch FROM ix_workspace_head ORDER BY at") == [("main",), ("topic",)]


def test_the_store_in_its_own_workspace_is_not_indexed(tmp_path: Path) -> None:
    root = tree(tmp_path / "w", {"a.txt": "x"})
    with store_in(root) as store:
        for _ in range(2):
            report = index(store, str(root))
            assert report.files == 1
            assert not report.left


def test_the_index_is_a_function_of_the_ledger(store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    clock = Later()
    root = tree(tmp_path / "w", {**FILES, ".git/HEAD": "ref: refs/heads/main\n"})
    index(store, str(root), clock=clock)
    tree(root, {"src/auth.ts": "export class Auth {}\n", "docs/more.md": "# More\n"})
    (root / "empty.txt").unlink()
    index(store, str(root), clock=clock)
    index(store, str(tree(tmp_path / "other", {"x.py": "def x(): pass\n"})), clock=clock)
    before = content(store.path)
    monkeypatch.setattr(tables, "VERSION", tables.VERSION + 1)
    remaking.make_ready(store)
    assert content(store.path) == before
    assert index(store, str(root), clock=clock).changed == 0


def test_tables_that_are_rebuilt_leave_the_index_as_it_is(store: Store, tmp_path: Path) -> None:
    index(store, str(tree(tmp_path / "w", FILES)))
    take(store, write(tmp_path / "logs", b'{"type":"session.event","session":"s","kind":"note","text":"x"}\n'))
    before = content(store.path)
    rebuild(store)
    assert content(store.path) == before
    assert_holds(store.path)


def test_nothing_is_made_until_a_workspace_is_indexed(store: Store, tmp_path: Path) -> None:
    take(store, write(tmp_path / "logs", b'{"type":"session.event","session":"s","kind":"note","text":"x"}\n'))
    assert tables.made(store.connection) is None


def test_an_erased_text_is_nowhere_and_stays_away(store: Store, tmp_path: Path) -> None:
    secret = "const PEREGRINE_7731 = 'peregrineWords';\n"
    root = tree(tmp_path / "w", {"a.ts": secret, "copy/a.ts": secret, "b.ts": "const other = 1;\n"})
    clock = Later()
    index(store, str(root), clock=clock)
    digest = hashlib.sha256(secret.encode()).digest()
    assert len(erase(store, [digest], actor="me", reason="a key", clock=clock, random=chance())) == 1
    report = verify(store.path)
    assert_holds(store.path)
    assert report.withheld == 1
    os.utime(root / "a.ts")
    index(store, str(root), clock=clock)
    assert [(path, text) for path, text, _ in versions(store.path)] == [
        ("a.ts", None), ("b.ts", b"const other = 1;\n"), ("copy/a.ts", None),
    ]  # fmt: skip
    store.connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    raw = b"".join(path.read_bytes() for path in tmp_path.glob("store.db*")).lower()
    assert b"peregrine" not in raw
    assert digest not in raw
    assert erase(store, [digest], actor="me", reason="again", clock=clock) == []
    before = content(store.path)["words"]
    assert not any("peregrine" in str(word) for word, _, _ in before)


def test_a_walk_that_is_stopped_leaves_what_it_did(store: Store, tmp_path: Path) -> None:
    root = tree(tmp_path / "w", {f"{n:04}.txt": f"text {n}" for n in range(1_000)})
    stop = threading.Event()

    def progress(files: int, _: int) -> None:
        if files >= 500:
            stop.set()

    report = index(store, str(root), progress, cancel=stop)
    assert report.interrupted
    assert 0 < report.added < 1_000
    assert report.gone == 0
    assert_holds(store.path)
    report = closed(index(store, str(root)))
    assert len(versions(store.path)) == 1_000


WORKER = """
import sys
from storage.store import Store
from storage.workspace.indexing import index
with Store.open(sys.argv[1]) as store:
    print("begun", flush=True)
    report = index(store, sys.argv[2], lambda files, _: print(files, flush=True))
    print("done", report.added, report.same, report.unchanged, flush=True)
"""


def worker(store: str, root: Path) -> subprocess.Popen[str]:
    """Another process that indexes."""
    return subprocess.Popen([sys.executable, "-c", WORKER, store, str(root)], stdout=subprocess.PIPE, text=True)


def test_two_indexers_at_once_leave_one_index(store: Store, tmp_path: Path) -> None:
    root = tree(tmp_path / "w", {f"{n:04}.txt": f"text {n}" for n in range(700)})
    two = [worker(store.path, root) for _ in range(2)]
    for process in two:
        out, _ = process.communicate(timeout=120)
        assert process.returncode == 0, out
    assert len(versions(store.path)) == 700
    assert all(now for _, _, now in versions(store.path))
    assert_holds(store.path)
    assert rows(store.path, "SELECT count(*) FROM payload WHERE media = 'text/plain'") == [(700,)]


@pytest.mark.parametrize("files", [64, 640])
def test_a_killed_indexer_leaves_a_good_store_and_the_next_goes_on(store: Store, tmp_path: Path, files: int) -> None:
    root = tree(tmp_path / "w", {f"{n:04}.txt": f"text {n}" for n in range(1_500)})
    process = worker(store.path, root)
    assert process.stdout is not None
    for line in process.stdout:
        if line.strip() == str(files):
            break
    process.send_signal(signal.SIGKILL)
    process.wait(30)
    process.stdout.close()
    assert_holds(store.path)
    closed(index(store, str(root)))
    assert sorted(path for path, _, _ in versions(store.path)) == sorted(path.name for path in root.iterdir())
    assert_holds(store.path)


def test_hostile_contents_are_taken_as_text_or_left_out(store: Store, tmp_path: Path) -> None:
    root = tree(
        tmp_path / "w",
        {
            "esc.txt": "\x1b]52;c;AAAA\x07\n",
            "long.json": '{"a":"' + "x" * (MOST_BYTES - 20) + '"}',
            "lines.txt": "\n" * 20_000,
            "crlf.py": "def a():\r\n    pass\r\n",
            "sql.txt": "'; DROP TABLE ix_workspace_file; -- \" AND NOT OR NEAR( *",
            "utf16.txt": "text".encode("utf-16"),
            "fake.txt": b"%PDF-1.4 text",
            "key.txt": "-----BEGIN RSA PRIVATE KEY-----\nabc\n",
            "surrogates.txt": b"text \xed\xa0\x80 text and more text",
            "deep.ts": "(" * 100_000,
            "nul.py": b"x = 1\0",
            "combining.md": "# " + "e\u0301\u0323" * 500 + "\n",
            "a\x1b[2J\n\u202egnp.md": "# Title\n",
        },
    )
    report = closed(index(store, str(root)))
    assert report.left == {"binary": 3, "secret": 1}
    assert report.added == 9
    spans = rows(store.path, "SELECT version, start, stop FROM ix_workspace_passage ORDER BY version, start")
    for (one, _, stop), (other, start, _) in pairwise(spans):
        assert start == (stop if one == other else 0)
    assert max(stop - start for _, start, stop in spans) <= 4_096
    assert_holds(store.path)


def test_a_transaction_takes_only_so_much(store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(indexing, "BATCH_FILES", 10)
    monkeypatch.setattr(indexing, "MOST_TEXTS", 4)
    report = index(store, str(tree(tmp_path / "w", {f"{n}.txt": str(n) for n in range(25)})))
    assert (report.added, report.entries) == (25, 8)
    assert max(size for (size,) in rows(store.path, "SELECT length(entry) FROM ledger_entry")) < 32_768
    assert_holds(store.path)


@pytest.mark.parametrize(
    ("damage", "said"),
    [
        ("DELETE FROM ix_workspace_version WHERE no = 2", "it lacks a version"),
        ("UPDATE ix_workspace_version SET since = since - 1 WHERE no = 2", "it makes up a version"),
        ("UPDATE ix_workspace_file SET path = 'elsewhere.ts' WHERE no = 2", "it makes up a version"),
        (
            'UPDATE ix_workspace_version SET "commit" = (SELECT "commit" FROM ix_workspace_version WHERE no = 1) '
            "WHERE no = 2",
            "it makes up a version",
        ),
        ("DELETE FROM ix_workspace_passage WHERE version = 2", "do not make the whole"),
        ("UPDATE ix_workspace_passage SET stop = stop - 1 WHERE version = 2", "do not make the whole"),
        ("INSERT INTO ix_workspace_text(rowid, text) VALUES(999, 'made up')", "there are"),
    ],
)
def test_an_index_that_is_not_what_the_ledger_gives_is_told(
    store: Store, tmp_path: Path, damage: str, said: str
) -> None:
    index(store, str(tree(tmp_path / "w", FILES)))
    assert verify(store.path).checked["workspace files"] == 5
    store.connection.execute(damage)
    report = verify(store.path)
    assert {failure.kind for failure in report.failures} == {"index"}
    assert any(said in failure.detail for failure in report.failures)


def test_an_index_that_was_damaged_can_be_made_again(store: Store, tmp_path: Path) -> None:
    assert remaking.remake(store) is False
    index(store, str(tree(tmp_path / "w", FILES)))
    before = content(store.path)
    store.connection.execute("DELETE FROM ix_workspace_version")
    store.connection.execute("INSERT INTO ix_workspace_text(rowid, text) VALUES(999, 'made up')")
    assert remaking.remake(store) is True
    assert content(store.path) == before
    assert_holds(store.path)


def test_an_index_half_made_again_goes_on(store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    clock = Later()
    root = tree(tmp_path / "w", FILES)
    index(store, str(root), clock=clock)
    index(store, str(tree(root, {"more.py": "A = 1\n"})), clock=clock)
    before = content(store.path)
    taking, taken = remaking._take, []

    def failing(*given: object) -> None:
        if len(taken) == 1:
            raise KeyboardInterrupt
        taken.append(given)
        taking(*given)  # type: ignore[arg-type]

    monkeypatch.setattr(remaking, "_take", failing)
    with pytest.raises(KeyboardInterrupt):
        remaking.remake(store)
    monkeypatch.undo()
    assert not tables.usable(store.connection)
    assert verify(store.path).holds
    remaking.make_ready(store)
    assert content(store.path) == before
