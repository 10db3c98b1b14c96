"""Files that lie beside Claude Code's logs and are one document each: artifacts of the session they belong to."""

from __future__ import annotations

import json
from hashlib import sha256
from itertools import permutations
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from kept import assert_holds, assert_same, dicts, events, imported, meaning, rows, store_in, take, write

from affidavit.session.prepare import Preparer
from storage.archive import Archive
from storage.readers.claude_code import ClaudeCode
from storage.readers.claude_code.documents import document_at
from storage.rebuild import rebuild
from tests.storage import claude_fixtures as log

HOME = "home/.claude"
LOG = f"{HOME}/projects/-home-ada-acme/{log.SESSION}.jsonl"
SPILLED = f"{HOME}/projects/-home-ada-acme/{log.SESSION}/tool-results/toolu_1.txt"
VERSION = f"{HOME}/file-history/{log.SESSION}/5a07dccb@v2"
TODOS = f"{HOME}/todos/{log.SESSION}-agent-{log.SESSION}.json"
TASK = f"{HOME}/tasks/{log.SESSION}/3.json"

OUTPUT = b"  first line\n\n{not json\nlast line\n\n"

FILES = {
    LOG: log.lines(
        log.chain(
            log.person("Run it.", "p1"),
            log.calls("Bash", "toolu_1", command="make"),
            log.result("<persisted-output>", "toolu_1", twin={"persistedOutputPath": f"/{SPILLED}"}),
        )
    ),
    SPILLED: OUTPUT,
    VERSION: b'def role():\n    return "admin"\n',
    TODOS: json.dumps([{"content": "Look", "status": "completed"}, {"content": "Fix"}], indent=2).encode(),
    TASK: json.dumps({"id": "3", "subject": "Fix the mock", "status": "pending"}, indent=2).encode(),
}


def test_each_is_one_record_and_one_event_of_its_session(tmp_path: Path) -> None:
    path, report = imported(tmp_path, FILES)
    assert (report.total("records"), report.total("mapped"), report.total("unreadable")) == (7, 7, 0)
    (session,) = dicts(path, "SELECT * FROM session")
    assert (session["native"], session["events"], session["turns"], session["lanes"]) == (log.SESSION, 7, 1, 1)
    notes = events(path, "kind = 'note'")
    assert sorted(event["summary"] for event in notes) == [
        "output kept in a file: toolu_1.txt (35 B)",
        "to do: 2 todos: 1 done",
        "to do: task 3: pending Fix the mock",
        "version of a file: 5a07dccb@v2 (31 B)",
    ]
    lane = {row["lane"]: row["title"] for row in dicts(path, "SELECT * FROM lane")}
    assert {lane[event["lane"]] for event in notes} == {"files kept beside the log"}
    assert_holds(path)


def test_an_artifact_is_had_byte_for_byte_and_its_text_is_found(tmp_path: Path) -> None:
    path, _ = imported(tmp_path, FILES)
    with Archive.open(path) as archive:
        (content,) = archive.contents(sha256(OUTPUT).hexdigest())
        assert b"".join(archive.chunks(content)) == OUTPUT
        for source in archive.sources():
            assert b"".join(archive.original(source.key)) == FILES[source.file.split("/logs/")[1]]
        (event,) = [one for one in archive.iter_events(1) if "toolu_1.txt" in one.row.summary]
        assert event.text == OUTPUT.decode().strip()
        assert archive.raw(event.row.key) == OUTPUT.strip()
        assert (event.source.line, event.source.offset) == (1, 2)
        (hit, *_) = archive.search("last line").rows
        assert hit.key == event.row.key


def test_the_order_of_files_changes_nothing(tmp_path: Path) -> None:
    seen = None
    some = [LOG, SPILLED, TODOS]
    for number, order in enumerate(permutations(some)):
        logs = tmp_path / str(number) / "logs"
        write(logs, FILES)
        with store_in(tmp_path / str(number)) as store:
            for name in order:
                take(store, logs / name)
            found = meaning(store.path)
            assert_holds(store.path)
            rebuild(store)
            assert_same(found, meaning(store.path))
        del found["source"]
        seen = seen or found
        assert_same(seen, found)


def test_another_import_takes_nothing_and_a_changed_file_is_another_version(tmp_path: Path) -> None:
    logs = tmp_path / "logs"
    write(logs, FILES)
    with store_in(tmp_path) as store:
        take(store, logs)
        assert take(store, logs).total("records") == 0
        (logs / TODOS).write_bytes(b'[{"content": "Look", "status": "completed"}]')
        (logs / SPILLED).write_bytes(OUTPUT + b"and more\n")
        report = take(store, logs)
        assert report.total("mapped") == 2
        assert [file.note for file in report.files if file.records] == [
            "replaced or cut since the last import; read as a new revision"
        ] * 2
        assert_holds(store.path)
    assert "to do: 1 todo: 1 done" in {event["summary"] for event in events(str(tmp_path / "store.db"))}


@pytest.mark.parametrize(
    ("data", "media", "said"),
    [
        (b"\x89PNG\r\n\0\0", "application/octet-stream", "[8 B that are no text]"),
        (b"\xff\xfeabc", "application/octet-stream", "[5 B that are no text]"),
        ("grün\n".encode(), "text/plain", "grün"),
    ],
)
def test_what_is_no_text_is_named_and_kept(tmp_path: Path, data: bytes, media: str, said: str) -> None:
    path, _ = imported(tmp_path, {SPILLED: data})
    assert rows(path, "SELECT media, size FROM artifact") == [(media, len(data))]
    with Archive.open(path) as archive:
        (event,) = archive.iter_events(1)
        assert event.text == said
    assert_holds(path)


def test_empty_lists_and_empty_files_are_no_sessions(tmp_path: Path) -> None:
    path, report = imported(tmp_path, {TODOS: b"[]", SPILLED: b"\n\n"})
    assert {file.skipped for file in report.files} == {"empty", "unknown_format"}
    assert rows(path, "SELECT count(*) FROM session") == [(0,)]


@pytest.mark.parametrize(
    "path",
    [
        "tool-results/a.txt", "acme/tool-results/a.txt", f"{log.SESSION}/tool-results/deep/a.txt",
        f"file-history/{log.SESSION}/notes.md", "todos/list.json", "acme/tasks/3.json", f"{log.SESSION}.jsonl", "",
    ],
)  # fmt: skip
def test_other_programs_files_of_like_names_are_not_taken(path: str) -> None:
    assert document_at(path) is None


def test_a_document_too_large_to_read_is_kept_and_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for module in ("storage.segments", "storage.folds.reading"):
        monkeypatch.setattr(f"{module}.RECORD_BYTES", 20)
    path, report = imported(tmp_path, {SPILLED: OUTPUT})
    assert (report.total("unreadable"), report.total("mapped")) == (1, 0)
    assert rows(path, "SELECT length FROM unreadable") == [(len(OUTPUT.strip()),)]
    assert_holds(path)


@given(st.sampled_from(["tool-results/a.txt", "todos/b.json", "tasks/3.json", "file-history/c@v1", ""]), st.binary())
@settings(deadline=None, max_examples=60)
def test_any_bytes_are_a_document(name: str, data: bytes) -> None:
    reading = ClaudeCode().read_document(name, data.strip(), data, (log.SESSION, ""))
    (draft,) = reading.drafts
    assert reading.kept is not None
    assert reading.kept[1][3] == len(data)
    assert len(draft.summary or "") <= 300


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=10), inner, max_size=4),
    max_leaves=12,
)
KEYS = ("display", "pastedContents", "timestamp", "project", "sessionId", "snapshot", "isSnapshotUpdate", "data",
        "parentToolUseID", "trackingPath", "backup", "summary", "leafUuid", "forkedFrom", "uuid")  # fmt: skip


@given(
    st.sampled_from([None, "file-history-snapshot", "file-history-delta", "progress", "summary", "user", "assistant"]),
    st.dictionaries(st.sampled_from(KEYS), JSON | st.dictionaries(st.sampled_from(["trackedFileBackups"]), JSON)),
)
@settings(deadline=None, max_examples=150)
def test_older_and_flat_records_of_any_shape_are_read(kind: str | None, fields: dict[str, Any]) -> None:
    record = fields if kind is None else {**fields, "type": kind}
    reading = ClaudeCode().read(record, (None, ""))
    Preparer("claude-code", "s").prepare(reading, b"{}")


@given(st.lists(JSON, max_size=3))
@settings(deadline=None, max_examples=60)
def test_a_list_of_anything_is_summed_up(held: list[Any]) -> None:
    data = json.dumps(held, default=str).encode("utf-8", "replace")
    assert ClaudeCode().read_document("todos/a.json", data, data, (log.SESSION, "")).drafts
