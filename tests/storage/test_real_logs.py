"""Real logs of Claude Code, where they lie beside the project: all of each is kept, counted, shown and proven."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from kept import assert_holds, assert_same, events, meaning, store_in, take

from storage.archive import Archive
from storage.detect import files
from storage.rebuild import rebuild


@pytest.fixture(scope="module")
def logs(shared: Path) -> list[Path]:
    """Every file that lies among the samples of Claude Code's logs."""
    found = [Path(file) for file in files(str(shared / "samples" / "claude_code"), [])]
    assert len(found) > 20
    return found


def test_every_log_is_kept_byte_for_byte_and_accounted_for(logs: list[Path], tmp_path: Path) -> None:
    with store_in(tmp_path) as store:
        report = take(store, *logs)
        path = store.path
        again = take(store, *logs)
    assert again.total("records") == 0
    assert [file.note for file in again.files if not file.skipped] == [None] * (len(logs) - _skipped(report))
    assert report.total("mapped") > 3_000
    assert report.total("unknown") + report.total("unreadable") < 10
    whole = {str(file.resolve()): file.read_bytes() for file in logs}
    with Archive.open(path) as archive:
        for source in archive.sources():
            data = b"".join(archive.original(source.key))
            assert whole[source.file].startswith(data)
            assert not whole[source.file][len(data) :].strip(b" \t\r\n") or any(
                file == source.file for file, _ in report.pending
            )
        count = 0
        for session in archive.sessions(limit=1_000).rows:
            for detail in archive.iter_events(session.key):
                place = detail.source
                recorded = whole[place.file][place.offset : place.offset + place.length]
                assert archive.raw(detail.row.key) == recorded
                assert whole[place.file][: place.offset].count(b"\n") + 1 == place.line
                count += 1
        assert count == report.events == len(events(path))
    checked = assert_holds(path).checked
    assert checked["records"] == report.total("records")


def _skipped(report: Any) -> int:
    return sum(file.skipped is not None for file in report.files)


def test_rebuilt_tables_say_the_same(logs: list[Path], tmp_path: Path) -> None:
    with store_in(tmp_path) as store:
        take(store, *logs)
        before = meaning(store.path)
        rebuild(store)
        assert_same(before, meaning(store.path))


def test_the_order_of_import_changes_nothing(
    logs: list[Path], tmp_path: Path, figure: Callable[[int, int], int]
) -> None:
    current = [file for file in logs if b'"version":"2.1.' in file.read_bytes().replace(b" ", b"")]
    with store_in(tmp_path) as store:
        take(store, *current)
        in_order = meaning(store.path)
    assert len(current) > 10
    for number in range(figure(2, 30)):
        mixed = random.Random(number).sample(current, len(current))
        with store_in(tmp_path, f"{number}.db") as other:
            for file in mixed:
                take(other, file)
            assert_holds(other.path)
        assert_same(in_order, meaning(other.path))
