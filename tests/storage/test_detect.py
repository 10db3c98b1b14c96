"""Which files are taken for logs: by what stands in their first lines, whatever their size, encoding or state."""

from __future__ import annotations

import io
import json
import os
from pathlib import Path

import pytest

from storage.accounting import ImportReport
from storage.detect import Detected, detect, head_of
from tests.storage import claude_fixtures as log
from tests.storage.kept import store_in, take


def found(data: bytes) -> Detected:
    head, whole = head_of(io.BytesIO(data))
    return detect("-acme/s.jsonl", head, whole=whole)


def logged(count: int) -> list[bytes]:
    return [json.dumps(one).encode() for one in log.chain(*(log.person(f"words {n}") for n in range(count)))]


def test_half_of_the_lines_may_be_no_json_and_one_more_may_not() -> None:
    good = logged(4)
    assert found(b"\n".join([*good, *[b"nope"] * 4]) + b"\n").skip is None
    assert found(b"\n".join([*good, *[b"nope"] * 5]) + b"\n").skip == "not_a_log"


def test_only_the_first_200_lines_count() -> None:
    good = logged(200)
    assert found(b"\n".join([*good, *[b"nope"] * 300]) + b"\n").skip is None
    assert found(b"\n".join([*[b"nope"] * 101, *good]) + b"\n").skip == "not_a_log"


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be"])
@pytest.mark.parametrize("mark", ["", "\ufeff"])
def test_utf_16_is_named_as_such_in_both_orders_with_and_without_a_mark(encoding: str, mark: str) -> None:
    text = mark + b"\n".join(logged(3)).decode()
    assert found(text.encode(encoding)).skip == "utf16"


def test_a_line_too_deep_or_too_large_to_read_is_json_all_the_same() -> None:
    deep = logged(1)[0].replace(b'"words 0"', b"[" * 300 + b"]" * 300)
    large = logged(1)[0].replace(b'"words 0"', b'["' + b"x" * (17 << 20) + b'"]')
    for odd in (deep, large):
        assert (found(odd + b"\n").format, found(odd + b"\n").skip) == ("claude-code", None)
        assert found(b"\n".join([odd, *logged(2)]) + b"\n").skip is None


def test_a_stream_that_comes_in_pieces_is_judged_like_a_file() -> None:
    class Pieces(io.BytesIO):
        def read(self, size: int | None = -1, /) -> bytes:
            return super().read(min(size or 0, 40))

    data = b"\n".join([b"nope", *logged(3)]) + b"\n"
    head, whole = head_of(Pieces(data))
    assert (head, whole) == (data, True)
    assert detect("-", head, whole=whole).skip is None


def pending(report: ImportReport) -> list[int]:
    return [offset for _, offset in report.pending]


def test_a_first_line_still_being_written_is_pending_until_its_rest_is_there(tmp_path: Path) -> None:
    (line,) = logged(1)
    path = tmp_path / "s.jsonl"
    with store_in(tmp_path) as store:
        path.write_bytes(b"\n" + line[: len(line) * 6 // 10])
        report = take(store, path)
        assert (pending(report), report.total("records"), report.files[0].skipped) == ([1], 0, "unfinished")
        path.write_bytes(b"\n" + line + b"\n")
        report = take(store, path)
        assert (pending(report), report.total("mapped"), report.files[0].skipped) == ([], 1, None)


def test_a_single_line_that_is_no_json_is_no_log() -> None:
    for text in (b"Hello", b"{not json}", b"[1, 2", b"2026-01-01 started"):
        assert found(text).skip == "not_a_log"


def test_a_folder_that_may_not_be_read_is_listed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    closed = tmp_path / "logs" / "closed"
    closed.mkdir(parents=True)
    (tmp_path / "logs" / "s.jsonl").write_bytes(b"\n".join(logged(2)) + b"\n")
    look = os.scandir

    def refuse(path: str) -> object:
        if str(path) == str(closed):
            raise PermissionError(13, "Permission denied")
        return look(path)

    monkeypatch.setattr("storage.detect.os.scandir", refuse)
    with store_in(tmp_path) as store:
        report = take(store, tmp_path / "logs")
        assert [(file.path, file.skipped, file.named) for file in report.files][1:] == [
            (str(closed), "unreadable", False)
        ]
        report = take(store, closed)
        assert [(file.skipped, file.named) for file in report.files] == [("unreadable", True)]


def test_each_record_of_a_file_belongs_to_the_session_it_names(tmp_path: Path) -> None:
    names = ["one", "two", "one", "three"]
    records = [{**one, "sessionId": name} for one, name in zip(log.chain(*[log.person("hi")] * 4), names, strict=True)]
    path = tmp_path / "s.jsonl"
    path.write_bytes(log.lines(records))
    with store_in(tmp_path) as store:
        assert take(store, path).sessions == 3
        rows = store.connection.execute("SELECT native, events FROM session ORDER BY native").fetchall()
        assert rows == [("one", 2), ("three", 1), ("two", 1)]


def test_what_follows_a_progress_line_has_its_parent_in_the_log(tmp_path: Path) -> None:
    progress = log.record("progress", data={"type": "hook_progress"}, toolUseID="t")
    path = tmp_path / "s.jsonl"
    path.write_bytes(log.lines(log.chain(progress, log.person("hi"))))
    with store_in(tmp_path) as store:
        take(store, path)
        assert store.connection.execute("SELECT kind, flags FROM event").fetchall() == [("user.message", "")]
