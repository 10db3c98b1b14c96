"""Real logs of Claude Code, where they lie beside the project: all of each is kept, counted, shown and proven."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from kept import assert_holds, assert_same, events, meaning, rows, store_in, take

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
    versions = {version for file in logs for version in re.findall(rb'"version": ?"([0-9.]+)"', file.read_bytes())}
    assert {version[:2] for version in versions} >= {b"1.", b"2."}
    with store_in(tmp_path) as store:
        take(store, *logs)
        in_order = meaning(store.path)
    for number in range(figure(2, 30)):
        mixed = random.Random(number).sample(logs, len(logs))
        with store_in(tmp_path, f"{number}.db") as other:
            for file in mixed:
                take(other, file)
            assert_holds(other.path)
        assert_same(
            *({name: found[name] for name in found if name not in CUSTODY} for found in (in_order, meaning(other.path)))
        )


CUSTODY = ("source", "repeated")
"""Tables that tell which file was read when, and so differ with the order of import."""


def test_output_tokens_are_those_of_each_message_once(logs: list[Path], tmp_path: Path) -> None:
    """From the bytes alone: of each message the highest count, which is its last, in whatever sessions it stands."""
    spent: dict[str, int] = {}
    for file in logs:
        for line in file.read_bytes().splitlines():
            try:
                record = json.loads(line)
            except ValueError:
                continue
            message = record.get("message") if isinstance(record, dict) else None
            if not isinstance(message, dict) or record.get("type") != "assistant" or "forkedFrom" in record:
                continue
            usage = message.get("usage")
            if message.get("model") == "<synthetic>" or record.get("isApiErrorMessage") or not isinstance(usage, dict):
                continue
            key = message.get("id") or record.get("uuid")
            spent[key] = max(spent.get(key, 0), usage.get("output_tokens") or 0)
    with store_in(tmp_path) as store:
        take(store, *logs)
        ((counted,),) = rows(store.path, "SELECT sum(tokens_out) FROM session WHERE format = 'claude-code'")
    assert counted == sum(spent.values()) > 100_000


def test_logs_read_as_they_grow_say_what_they_say_at_once(logs: list[Path], tmp_path: Path) -> None:
    some = sorted((file for file in logs if file.suffix == ".jsonl"), key=lambda file: file.stat().st_size)[-6:]
    with store_in(tmp_path, "once.db") as once, store_in(tmp_path, "grown.db") as grown:
        for file in some:
            data = file.read_bytes()
            (copy := tmp_path / file.name).write_bytes(data)
            take(once, copy)
            for step in range(1, 7):
                copy.write_bytes(data if step == 6 else data[: len(data) * step // 6])
                take(grown, copy)
        assert_holds(grown.path)
        assert_same(meaning(once.path), meaning(grown.path))
