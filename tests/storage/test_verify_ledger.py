"""A ledger cut short, forked, rewritten or shaped otherwise is told from one that holds, and what was read before."""

from __future__ import annotations

import hashlib
import shutil
import tempfile
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import claude_fixtures as log
import orjson
import pytest
import zstandard
from kept import Clock, assert_holds, chance, kinds, rows, store_in, take, write

from affidavit.proof.canonical import canonical_entry
from affidavit.proof.merkle import leaf_hash
from storage import driver, segments
from storage.rebuild import rebuild
from storage.redact import redact
from storage.refold import Cancelled
from storage.store import StoreError
from storage.tables import FOLDS
from storage.verify import FAILURES, Marker, verify


@pytest.fixture(scope="module")
def base() -> Iterator[Path]:
    """A store with two files, a redaction and no triggers."""
    folder = Path(tempfile.mkdtemp())
    kept, segments.SEGMENT_RECORDS = segments.SEGMENT_RECORDS, 3
    with store_in(folder) as store:
        take(store, write(folder / "one", log.lines(log.session())), random=chance())
        take(store, write(folder / "two", log.lines(log.every_record())), random=chance(2))
        n = store.connection.execute("SELECT n FROM event WHERE summary = 'Why did it fail?'").fetchone()[0]
        redact(store, [n], actor="ada", reason="asked", clock=Clock(), random=chance(3))
        triggers = store.connection.execute("SELECT name FROM sqlite_schema WHERE type = 'trigger'").fetchall()
        for (trigger,) in triggers:
            store.connection.execute(f"DROP TRIGGER {trigger}")
    segments.SEGMENT_RECORDS = kept
    yield folder / "store.db"
    shutil.rmtree(folder)


@pytest.fixture
def path(base: Path, tmp_path: Path) -> str:
    """A copy of it, to do anything to."""
    shutil.copy(base, tmp_path / "store.db")
    return str(tmp_path / "store.db")


def run(path: str, *statements: str, values: tuple[Any, ...] = ()) -> None:
    connection = driver.connect_writer(path)
    for statement in statements:
        connection.execute(statement, values)
    connection.close()


def marker(path: str) -> Marker:
    report = assert_holds(path)
    return Marker(report.entries, report.root)


def more(tmp_path: Path) -> None:
    """Import something further."""
    with store_in(tmp_path) as store:
        take(store, write(tmp_path / "three", log.lines(log.chain(log.person("Third", "p3")))))


def test_a_store_that_holds_says_what_was_checked(path: str) -> None:
    report = assert_holds(path)
    assert report.level == "self-consistent"
    assert report.withheld == 1
    assert report.since is None
    assert report.entries == rows(path, "SELECT count(*) FROM ledger_entry")[0][0]
    assert report.checked["entries"] == report.entries
    assert report.checked["segments"] == rows(path, "SELECT count(*) FROM segment")[0][0]
    assert report.checked["records"] == rows(path, "SELECT sum(records) FROM segment")[0][0]
    assert report.checked["payloads"] == rows(path, "SELECT count(*) FROM payload")[0][0]
    assert report.checked["tables"] == len(FOLDS)
    assert report.checked["searchable"] == rows(path, "SELECT count(*) FROM event WHERE size > 0")[0][0]


def test_only_what_is_new_is_checked_since_a_marker(path: str, tmp_path: Path) -> None:
    before = marker(path)
    report = verify(path, since=before)
    assert report.holds
    assert report.since == before.size
    assert report.checked["entries"] == report.checked["records"] == 0
    more(tmp_path)
    report = verify(path, since=before)
    assert report.holds
    assert report.checked["entries"] == 2
    assert report.checked["records"] == 1
    run(path, "UPDATE segment SET salts = zeroblob(32) WHERE entry = (SELECT max(entry) FROM segment)")
    assert kinds(verify(path, since=before)) >= {"bytes_missing"}
    assert kinds(verify(path)) >= {"bytes_missing"}


def test_a_change_before_the_marker_is_left_to_the_full_form(path: str) -> None:
    """What was checked before is not checked again, as the report says; the tree over it is."""
    before = marker(path)
    run(path, "UPDATE segment SET data = x'00' WHERE entry = (SELECT min(entry) FROM segment)")
    assert verify(path, since=before).holds
    assert not verify(path).holds
    run(path, "UPDATE ledger_entry SET leaf = zeroblob(32) WHERE idx = 2")
    assert kinds(verify(path, since=before)) == {"forked"}


def test_a_ledger_cut_short_and_made_consistent_again_is_known_by_the_marker(path: str, tmp_path: Path) -> None:
    before = marker(path)
    size = before.size
    run(
        path,
        f"DELETE FROM ledger_entry WHERE idx >= {size - 2}",
        f"DELETE FROM segment WHERE entry >= {size - 2}",
        'DELETE FROM payload WHERE rowid NOT IN (SELECT p.rowid FROM payload p, ledger_entry l '
        'WHERE instr(l.entry, lower(hex(p."commit"))) > 0)',
        'DELETE FROM payload_chunk WHERE "commit" NOT IN (SELECT "commit" FROM payload)',
    )  # fmt: skip
    with store_in(tmp_path) as store:
        rebuild(store)
    report = verify(path, since=before)
    assert kinds(report) == {"rolled_back"}
    assert report.failures[0].address == f"entry/{size - 2}"
    more(tmp_path)
    more_report = verify(path, since=before)
    assert not more_report.holds
    assert kinds(more_report) <= {"rolled_back", "forked"}


@pytest.mark.parametrize("size", [1, 5])
def test_another_history_of_the_same_length_is_forked(path: str, size: int) -> None:
    report = assert_holds(path)
    assert kinds(verify(path, since=Marker(report.entries, b"\1" * 32))) == {"forked"}
    assert kinds(verify(path, since=Marker(size, b"\1" * 32))) == {"forked"}


def test_a_longer_marker_is_rolled_back(path: str) -> None:
    report = assert_holds(path)
    assert kinds(verify(path, since=Marker(report.entries + 1, report.root))) == {"rolled_back"}


def test_a_cut_tail_is_found_without_a_marker_while_the_tables_still_tell(path: str) -> None:
    run(path, "DELETE FROM ledger_entry WHERE idx = (SELECT max(idx) FROM ledger_entry)")
    assert not verify(path).holds


REWRITES: dict[str, Callable[[dict[str, Any]], object]] = {
    "no body": lambda entry: entry.pop("body"),
    "body is a list": lambda entry: entry.update(body=[]),
    "no refs": lambda entry: entry.pop("refs"),
    "refs of text": lambda entry: entry.update(refs=["x"]),
    "a ref without commitment": lambda entry: entry.update(refs=[{"role": "source"}]),
    "a commitment that is no hex": lambda entry: entry.update(
        refs=[{"role": "x", "alg": "x", "commit": "xyz", "size": 1, "media": "x"}]
    ),
    "sseq of text": lambda entry: entry.update(sseq="0"),
    "sseq of a truth value": lambda entry: entry.update(sseq=True),
    "another sseq": lambda entry: entry.update(sseq=entry["sseq"] + 1),
    "another sprev": lambda entry: entry.update(sprev="00" * 32),
    "another stream": lambda entry: entry.update(stream="ff"),
    "another store": lambda entry: entry.update(ws="ff"),
    "another id": lambda entry: entry.update(id="ff"),
    "another version": lambda entry: entry.update(v=2),
    "an unknown type": lambda entry: entry.update(type="import.other"),
    "source of a number": lambda entry: entry["body"].update(source=7),
    "another source": lambda entry: entry["body"].update(source="ff"),
    "no source": lambda entry: entry["body"].pop("source", None) or entry["body"].update(x=""),
    "another revision": lambda entry: entry["body"].update(revision=9),
    "revision of text": lambda entry: entry["body"].update(revision="1"),
    "another root": lambda entry: entry["body"].update(root="00" * 32),
    "root of a number": lambda entry: entry["body"].update(root=0),
    "another place": lambda entry: entry["body"].update({"from": 7}),
    "fewer records": lambda entry: entry["body"].update(records=1),
    "commitments of text": lambda entry: entry["body"].update(commitments="zz"),
    "commitments of numbers": lambda entry: entry["body"].update(commitments=[1]),
    "no time": lambda entry: entry.pop("time"),
}


UNSEEN = {
    "another stream", "source of a number", "another source", "no source", "root of a number",
    "another revision", "revision of text", "another root", "another place", "fewer records",
}  # fmt: skip
"""What a redaction may say besides: nothing follows it, so only a kept root could tell that it was rewritten."""


@pytest.mark.parametrize("change", list(REWRITES))
@pytest.mark.parametrize("type", ["import.revision", "import.segment", "redaction"])
def test_an_entry_rewritten_in_canonical_form_is_found(path: str, type: str, change: str) -> None:
    """Even with its own leaf hash made anew: chains, records and tables do not follow."""
    entries = {index: orjson.loads(entry) for index, entry in rows(path, "SELECT idx, entry FROM ledger_entry")}
    index = next(index for index, read in sorted(entries.items()) if read["type"] == type)
    stream = {f"entry/{at}" for at, read in entries.items() if read["stream"] == entries[index]["stream"]}
    before = assert_holds(path).root
    REWRITES[change](entries[index])
    new = canonical_entry(entries[index])
    run(path, "UPDATE ledger_entry SET entry = ?, leaf = ? WHERE idx = ?", values=(new, leaf_hash(new), index))
    report = verify(path)
    assert kinds(report) <= set(FAILURES)
    if type == "redaction" and change in UNSEEN:
        assert report.holds
        assert report.root != before
        return
    assert not report.holds
    assert "bytes_missing" in kinds(report) or {failure.address for failure in report.failures} & stream


@pytest.mark.parametrize("entry", [b"", b"{}", b"null", b"[]", b"\xff", b'{"v":1}', b"x" * 40_000, b'{"v":1.5}'])
def test_bytes_that_are_no_entry_are_found(path: str, entry: bytes) -> None:
    run(path, "UPDATE ledger_entry SET entry = ?, leaf = ? WHERE idx = 2", values=(entry, leaf_hash(entry)))
    report = verify(path)
    assert "entry_bytes" in kinds(report)
    assert any(failure.address == "entry/2" for failure in report.failures)


def test_bytes_missing_without_a_redaction_are_a_failure(path: str) -> None:
    """A salt and value of zeros is what an erased record leaves; only an entry makes it one."""
    entry, data, cuts, size, salts = rows(path, "SELECT entry, data, cuts, size, salts FROM segment ORDER BY entry")[0]
    spans = segments.spans_of(data, cuts, size)
    lead, value = segments.value_of(spans[1])
    spans[1] = spans[1][:lead] + bytes(len(value)) + spans[1][lead + len(value) :]
    packed = zstandard.ZstdCompressor().compress(b"".join(spans))
    salts = salts[:32] + bytes(32) + salts[64:]
    run(
        path,
        "UPDATE segment SET data = ?, digest = ?, salts = ? WHERE entry = ?",
        values=(packed, hashlib.sha256(packed).digest(), salts, entry),
    )
    report = verify(path)
    assert "bytes_missing" in kinds(report)
    named = next(failure for failure in report.failures if failure.kind == "bytes_missing")
    assert named.address.startswith("session/")
    assert "record 1 of entry" in named.detail


def test_more_failures_than_are_listed_are_counted(path: str, tmp_path: Path) -> None:
    with store_in(tmp_path) as store:
        take(store, write(tmp_path / "many", log.lines(log.chain(*(log.person(f"Say {n}") for n in range(60))))))
    run(path, "UPDATE event SET summary = summary || '!'")
    report = verify(path)
    assert len([one for one in report.failures if one.detail.startswith("event ")]) == 50
    assert report.more == rows(path, "SELECT count(*) - 50 FROM event")[0][0]
    assert not report.holds


def test_verification_stops_when_asked(path: str) -> None:
    cancel = threading.Event()
    cancel.set()
    with pytest.raises(Cancelled):
        verify(path, cancel=cancel)


def test_progress_goes_through_every_stage(path: str) -> None:
    seen: list[tuple[str, int, int]] = []
    verify(path, progress=lambda stage, done, total: seen.append((stage, done, total)))
    assert {stage for stage, _, _ in seen} >= {"entries", "tables"}
    assert all(0 <= done <= total for _, done, total in seen)


def test_what_is_no_store_is_refused(tmp_path: Path) -> None:
    with pytest.raises(StoreError) as missing:
        verify(str(tmp_path / "none.db"))
    assert missing.value.reason == "missing"


def test_an_empty_store_holds(tmp_path: Path) -> None:
    store_in(tmp_path).close()
    report = assert_holds(str(tmp_path / "store.db"))
    assert report.entries == 0


def test_a_page_overwritten_is_damage_and_no_crash(path: str) -> None:
    data = bytearray(Path(path).read_bytes())
    for page in range(1, len(data) // 4096):
        damaged = bytearray(data)
        damaged[page * 4096 : page * 4096 + 4096] = bytes(4096)
        Path(path).write_bytes(damaged)
        reason, found = None, set()
        try:
            found = kinds(verify(path))
        except StoreError as error:
            reason = error.reason
        assert reason in (None, "damaged", "not_a_store")
        assert found <= set(FAILURES)
