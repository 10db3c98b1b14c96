"""A person has sessions on disk: imports them, looks, searches, goes down to the bytes, and has it all verified."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from tests.journeys.driving import affidavit
from tests.storage.claude_fixtures import SESSION, every_record, lines, session, with_helper


@pytest.fixture
def projects(tmp_path: Path) -> Path:
    """Three sessions as Claude Code leaves them; one has a helper, one nearly every kind of record."""
    folder = tmp_path / "projects"
    other = "0e0e0e0e-0000-4000-8000-00000000000"
    files = {
        f"-home-ada-acme/{SESSION}.jsonl": session(),
        **{name.replace(SESSION, other + "2"): records for name, records in with_helper().items()},
        f"-home-ada-acme/{other}3.jsonl": every_record(),
    }
    for name, records in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        owner = other + "3" if name.endswith(other + "3.jsonl") else other + "2" if other + "2" in name else SESSION
        path.write_bytes(lines(records).replace(SESSION.encode(), owner.encode()))
    return folder


def test_from_a_folder_of_logs_to_a_verified_byte(projects):
    imported = affidavit("import", str(projects), "--json")
    assert imported.code == 0
    report = imported.json
    assert report["sessions"] == 3
    assert report["records"] == report["mapped"] + report["unknown"] + report["duplicates"] + report["unreadable"]

    listed = affidavit("sessions", "--json").json["sessions"]
    assert len(listed) == 3
    assert sum(row["events"] for row in listed) == report["events"]
    helped = next(row for row in listed if row["lanes"] == 2)
    assert helped["events"] > 5

    checked = 0
    for row in listed:
        events = affidavit("show", f"session/{row['id']}", "--json").json["events"]
        assert len(events) == row["events"]
        for event in events[::4]:
            source = event["source"]
            raw = affidavit("show", event["address"], "--raw").raw
            whole = Path(source["file"]).read_bytes()
            assert raw == whole[source["offset"] : source["offset"] + source["length"]]
            assert isinstance(json.loads(raw), dict)
            checked += 1
    assert checked > 8

    found = affidavit("search", "callers", "--json").json
    assert found["total"]["value"] >= 2
    assert {hit["address"].partition("#")[0] for hit in found["hits"]} == {f"session/{helped['id']}"}

    verified = affidavit("verify", "--json")
    assert verified.code == 0
    assert verified.json["holds"] is True
    assert affidavit("verify", found["hits"][0]["address"]).code == 0


def test_a_log_that_grew_is_read_on_and_one_that_changed_is_kept_in_both_forms(projects):
    log = projects / f"-home-ada-acme/{SESSION}.jsonl"
    whole = log.read_bytes()
    cut = whole.rindex(b"\n", 0, len(whole) // 2) + 20
    log.write_bytes(whole[:cut])
    first = affidavit("import", str(log), "--json").json
    assert first["pending"] == [{"file": str(log), "offset": whole.rindex(b"\n", 0, cut) + 1}]
    log.write_bytes(whole)
    second = affidavit("import", str(log), "--json").json
    assert first["records"] + second["records"] == len(whole.splitlines())
    assert second["pending"] == []
    assert affidavit("show", f"session/{SESSION}", "--raw").raw == whole

    log.write_bytes(whole.replace(b"no role", b"no name"))
    again = affidavit("import", str(log), "--json")
    assert again.code == 0
    assert affidavit("verify").code == 0
    raw = affidavit("show", f"session/{SESSION}", "--raw").raw
    assert raw == whole + log.read_bytes()


def test_nothing_is_written_to_the_logs_nor_by_looking(projects):
    before = {path: (path.read_bytes(), path.stat().st_mtime_ns) for path in projects.rglob("*") if path.is_file()}
    assert affidavit("import", str(projects)).code == 0
    store = Path(os.environ["AFFIDAVIT_STORE"])
    kept = store.read_bytes()
    for words in (("sessions",), ("show", f"session/{SESSION}"), ("search", "role"), ("verify",), ("doctor",)):
        assert affidavit(*words).code == 0
    assert store.read_bytes() == kept
    assert {path: (path.read_bytes(), path.stat().st_mtime_ns) for path in before} == before


def test_a_store_without_any_write_permission_can_still_be_read(projects, tmp_path):
    assert affidavit("import", str(projects)).code == 0
    folder = tmp_path / "read-only"
    folder.mkdir()
    store = folder / "store.db"
    store.write_bytes(Path(os.environ["AFFIDAVIT_STORE"]).read_bytes())
    store.chmod(0o400)
    folder.chmod(0o500)
    try:
        for words in (("sessions",), ("show", f"session/{SESSION}"), ("search", "role"), ("verify",)):
            assert affidavit(*words, "--store", str(store)).code == 0
    finally:
        folder.chmod(0o700)


def test_another_process_may_read_while_one_writes(projects):
    assert affidavit("import", str(projects)).code == 0
    for _ in range(2):
        assert affidavit("import", str(projects)).code == 0
        assert len(affidavit("sessions", "--json").json["sessions"]) == 3


def test_a_program_records_its_session_and_finds_it_again():
    recorded = affidavit(
        "record",
        "--json",
        stdin=b'{"type":"session.event","session":"nightly-7","kind":"user.message","text":"Rebuild the index"}\n'
        b'{"type":"session.event","session":"nightly-7","kind":"tool.intent","call":"c1","tool":"run","text":"make"}\n'
        b'{"type":"session.event","session":"nightly-7","kind":"tool.finished","call":"c1","ok":true,"text":"done"}\n',
    )
    assert recorded.code == 0
    assert recorded.json["mapped"] == 3
    document = affidavit("show", "session/nightly-7", "--json").json
    assert [event["kind"] for event in document["events"]] == ["user.message", "tool.intent", "tool.finished"]
    assert document["session"]["agent"] == "affidavit"
    assert affidavit("search", "index", "--json").json["hits"][0]["address"] == document["events"][0]["address"]
