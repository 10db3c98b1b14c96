"""Runs of the recall gate: kept as lines of our own, read from other programs' lines, listed and found again."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from kept import Clock, assert_holds, chance, dicts, rows, store_in, tables, take, write

from affidavit.lines import check_line, json_schema
from storage.archive import Archive
from storage.queries.gate_runs import GateRunFilter
from storage.rebuild import rebuild
from storage.recalling import keep_recall

AT = "2026-05-14T10:00:00Z"


def line(**fields: Any) -> dict[str, Any]:
    """A line as the log of another program's gate has it."""
    return {
        "type": "recall.audit", "at": AT, "query": "which test command?", "scope": {"userId": "mina"},
        "acceptedIds": ["m1"], "rejected": [{"id": "m2", "title": "Old", "reason": "stale"}], "dryRun": False, **fields,
    }  # fmt: skip


def stored(folder: Path, *lines: dict[str, Any]) -> str:
    data = b"".join(json.dumps(one).encode() + b"\n" for one in lines)
    with store_in(folder) as store:
        take(store, write(folder, data, "audit.jsonl"), random=chance())
        return store.path


def test_a_log_of_another_gate_is_read_with_and_without_its_type(tmp_path: Path) -> None:
    plain = line(query="another")
    del plain["type"]
    path = stored(tmp_path, line(), plain, line(session="s1", query="in a session", dryRun=True))
    with Archive.open(path) as archive:
        found = archive.gate_runs.page().rows
        assert {row.query for row in found} == {"which test command?", "another", "in a session"}
        (of,) = [row for row in found if row.session is not None]
        assert (of.dry, of.accepted, of.rejected, of.reasons) == (True, 1, 1, ("stale",))
        assert archive.gate_runs.line(of.key)["rejected"][0]["title"] == "Old"
        assert archive.gate_runs.find(of.uid[:6])[0] == of
        (event,) = archive.events(of.session or 0).rows
    assert (event.kind, event.summary) == ("memory.read", "recall gate: 1 of 2 passed, dry run")
    assert_holds(path)


def test_a_file_that_is_one_run_over_several_lines_is_read_whole(tmp_path: Path) -> None:
    plain = {key: value for key, value in line(query="pretty").items() if key != "type"}
    with store_in(tmp_path) as store:
        file = write(tmp_path, json.dumps(plain, indent=2).encode(), "one.json")
        take(store, file, random=chance())
        with Archive.open(store.path) as archive:
            (row,) = archive.gate_runs.page().rows
            assert (row.query, row.reasons) == ("pretty", ("stale",))
            assert archive.gate_runs.line(row.key)["query"] == "pretty"
        assert rows(store.path, "SELECT count(*) FROM session") == [(0,)]
        before = tables(store.path)
        rebuild(store)
        assert tables(store.path) == before
        assert_holds(store.path)


def test_lists_are_narrowed_down(tmp_path: Path) -> None:
    path = stored(
        tmp_path,
        line(id="a", scope={"memorySpace": "build"}),
        line(id="b", scope={"memorySpaceId": "build"}, rejected=[]),
        line(id="c", dryRun=True, at="2026-06-01T00:00:00Z"),
    )
    with Archive.open(path) as archive:

        def ids(**wanted: Any) -> set[str]:
            filter = GateRunFilter(**wanted)
            found = {row.id for row in archive.gate_runs.page(filter).rows}
            assert archive.gate_runs.count(filter).value == len(found)
            return found

        assert ids(space="build") == {"a", "b"}
        assert ids(reason="stale") == {"a", "c"}
        assert ids(dry=True) == {"c"}
        assert ids(dry=False) == {"a", "b"}
        assert ids(text="test command") == {"a", "b", "c"}
        assert ids(text="nothing") == set()
        assert ids(since=1_780_272_000_000_000) == {"c"}
        assert archive.gate_runs.page().rows[0].id == "c"


@pytest.mark.parametrize(
    "wrong",
    [
        {"acceptedIds": "m1"}, {"acceptedIds": [1]}, {"rejected": {"id": "a"}}, {"rejected": [{"id": "a"}]},
        {"rejected": [{"id": "a", "title": 1, "reason": "x"}]}, {"scope": None}, {"query": 3}, {"dryRun": "no"},
        {"policyEntry": -1}, {"policyEntry": True},
    ],
)  # fmt: skip
def test_a_line_that_is_no_run_is_unknown_and_makes_none(tmp_path: Path, wrong: dict[str, Any]) -> None:
    path = stored(tmp_path, line(), line(session="s", **wrong))
    assert rows(path, "SELECT count(*) FROM gate_run") == [(1,)]
    assert [row["kind"] for row in dicts(path, "SELECT kind FROM event")] == ["unknown"]
    assert_holds(path)


def test_what_record_takes_is_checked_field_by_field() -> None:
    assert check_line(json.dumps(line()).encode()) == []
    assert check_line(json.dumps(line(accepted=[{"id": "m1", "title": "T", "score": 0.5}], extra=1)).encode()) == []
    for wrong, field in (({"at": "noon"}, "at"), ({"rejected": [{"id": "a"}]}, "rejected.0.reason")):
        (problem,) = check_line(json.dumps(line(**wrong)).encode())
        assert problem.field == field
    missing = {key: value for key, value in line().items() if key != "acceptedIds"}
    assert [problem.field for problem in check_line(json.dumps(missing).encode())] == ["acceptedIds"]
    assert "AuditLine" in json.dumps(json_schema())


def audit(**fields: Any) -> dict[str, Any]:
    return {key: value for key, value in line(**fields).items() if key != "type"}


def test_a_recall_is_kept_and_a_rebuild_gives_the_same(tmp_path: Path) -> None:
    path = str(tmp_path / "store.db")
    first = keep_recall(path, audit(), clock=Clock(), random=chance(1))
    second = keep_recall(path, audit(policyEntry=7), clock=Clock(), random=chance(2))
    assert first != second
    with Archive.open(path) as archive:
        assert {row.id for row in archive.gate_runs.page().rows} == {first, second}
        assert {row.policy for row in archive.gate_runs.page().rows} == {None, 7}
    before = tables(path)
    with store_in(tmp_path) as store:
        rebuild(store)
    assert tables(path) == before
    assert_holds(path)


def test_a_title_that_holds_a_secret_is_masked_in_the_record(tmp_path: Path) -> None:
    path = str(tmp_path / "store.db")
    secret = "sk-test-" + "a1b2c3d4" * 5
    titled = [{"id": "m", "title": f"the key is {secret}", "reason": "secret"}]
    assert keep_recall(path, audit(rejected=titled), clock=Clock())
    with Archive.open(path) as archive:
        raw = archive.gate_runs.raw(archive.gate_runs.page().rows[0].key)
    assert secret.encode() not in raw
    assert b"the key is" in raw
