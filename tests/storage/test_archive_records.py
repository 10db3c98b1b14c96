"""What an event rests on: its text and bytes re-read from the recorded segment, wherever the record stands in it."""

from __future__ import annotations

import json
from base64 import b64encode
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
import zstandard
from invented_store import Invented, number

from storage.archive import Archive
from storage.queries import records
from storage.queries.records import RecordError, RecordWithheld

BOM = b"\xef\xbb\xbf"


def line(text: str, **fields: Any) -> bytes:
    value = {"type": "session.event", "session": "n1", "kind": "note", "text": text, **fields}
    return json.dumps(value, ensure_ascii=False).encode("utf-8", "surrogatepass")


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Invented]:
    invented = Invented(tmp_path)
    invented.source()
    yield invented
    invented.close()


def test_text_refs_time_and_bytes_come_from_the_record_and_not_from_the_tables(store: Invented) -> None:
    whole = "first line\nsecond " + "long " * 5_000
    value = line(whole, refs=["src/x.py:3"], at="2026-05-14T10:02:11+09:00")
    store.segment(7, [value + b"\n"])
    store.events({"n": number(7, 0), "summary": "first line", "size": 3})
    with Archive.open(store.path) as archive:
        detail = archive.detail(number(7, 0))
        assert (detail.text, detail.refs, detail.recorded_at) == (whole, ("src/x.py:3",), "2026-05-14T10:02:11+09:00")
        assert detail.row.summary == "first line"
        assert detail.withheld_by is None
        assert archive.raw(number(7, 0)) == value
        assert archive.entry_of(number(7, 0)) == 7


def test_a_place_is_that_of_the_value_in_the_file(store: Invented) -> None:
    """Blank lines, a byte order mark, two values on one line: offset and line are of the value's first byte."""
    one, two, three, four = line("one"), line("two"), line("three"), line("four")
    spans = [BOM + b" \n\r\n" + one + b" ", two + b"\r\n", b"\n\t" + three + b"\n"]
    whole = b"".join(spans)
    tail = b"\n\n" + four
    store.segment(1, spans)
    store.segment(2, [tail], start=len(whole), line=whole.count(b"\n") + 1)
    keys = [number(1, 0), number(1, 1), number(1, 2), number(2, 0)]
    store.events(*({"n": key} for key in keys))
    file = whole + tail
    with Archive.open(store.path) as archive:
        for key, value in zip(
            [keys[2], keys[0], keys[3], keys[1], keys[2]], [three, one, four, two, three], strict=True
        ):
            place = archive.detail(key).source
            assert file[place.offset : place.offset + place.length] == value == archive.raw(key)
            assert place.line == file[: place.offset].count(b"\n") + 1
            assert place.file == "/logs/1.jsonl"
        assert [(archive.detail(key).source.entry, archive.detail(key).source.record) for key in keys] == [
            (1, 0), (1, 1), (1, 2), (2, 0),
        ]  # fmt: skip


def test_a_byte_order_mark_later_in_a_file_belongs_to_the_value(store: Invented) -> None:
    store.segment(1, [BOM + line("x") + b"\n"], start=10)
    store.events({"n": number(1, 0)})
    with Archive.open(store.path) as archive:
        assert archive.raw(number(1, 0)) == BOM + line("x")


def test_a_file_is_given_back_byte_for_byte_and_not_past_an_erased_record(store: Invented) -> None:
    spans = [BOM + line("a") + b" ", line("b") + b"\r\n", b"\n\n" + line("c") + b"\n"]
    store.segment(3, spans[2:], start=len(spans[0] + spans[1]))
    store.segment(1, spans[:2])
    store.source(2)
    store.segment(2, [b"other"], source=2)
    with Archive.open(store.path) as archive:
        assert b"".join(archive.original(1)) == b"".join(spans)
        assert b"".join(archive.original(9)) == b""
        store.segment(4, [bytes(5)], start=10_000, salts=bytes(32))
        with pytest.raises(RecordError, match="no redaction"):
            list(archive.original(1))


def test_each_block_of_a_record_has_its_own_text(store: Invented) -> None:
    blocks = [{"type": "text", "text": "said"}, {"type": "text", "text": "and said"}]
    value = {
        "type": "assistant", "uuid": "u1", "sessionId": "n1", "timestamp": "2026-01-01T00:00:00Z",
        "message": {"id": "m1", "role": "assistant", "model": "m", "content": blocks},
    }  # fmt: skip
    store.source(2, format="claude-code")
    store.segment(3, [json.dumps(value).encode()], source=2)
    store.events({"n": number(3, 0, 0)}, {"n": number(3, 0, 1)}, {"n": number(3, 0, 2)})
    with Archive.open(store.path) as archive:
        assert [archive.detail(number(3, 0, block)).text for block in (1, 0)] == ["and said", "said"]
        with pytest.raises(RecordError, match="reader no longer finds"):
            archive.detail(number(3, 0, 2))


def test_an_erased_record_names_the_redaction_and_missing_bytes_without_one_are_an_error(store: Invented) -> None:
    spans = [line("kept") + b"\n", bytes(len(line("gone"))) + b"\n", bytes(20) + b"\n"]
    store.segment(4, spans, salts=b"\1" * 32 + bytes(64))
    commit = store.connection.execute("SELECT commits FROM segment").fetchone()[0][32:64]
    store.insert("withheld", [{"commit": commit, "entry": 88}])
    store.events(*({"n": number(4, record)} for record in range(3)))
    with Archive.open(store.path) as archive:
        assert archive.detail(number(4, 0)).text == "kept"
        gone = archive.detail(number(4, 1))
        assert (gone.withheld_by, gone.text, gone.refs) == (88, "", ())
        assert archive.detail_of(gone.row) == gone
        assert (gone.source.line, gone.source.offset) == (2, len(spans[0]))
        with pytest.raises(RecordWithheld) as withheld:
            archive.raw(number(4, 1))
        assert withheld.value.by == 88
        for ask in (archive.detail, archive.raw):
            with pytest.raises(RecordError, match="no redaction says why") as missing:
                ask(number(4, 2))
            assert (missing.value.entry, missing.value.record) == (4, 2)
        assert len(archive.events(1).rows) == 3


def damages() -> dict[str, dict[str, Any]]:
    packed = zstandard.ZstdCompressor(write_checksum=True).compress(b"x" * 40)
    flipped = packed[:-1] + bytes([packed[-1] ^ 1])
    return {
        "not zstd": {"data": b"\0" * 30},
        "empty": {"data": b""},
        "a flipped bit": {"data": flipped, "size": 40, "cuts": b"\x28\0\0\0"},
        "cut short": {"data": packed[:-6], "size": 40, "cuts": b"\x28\0\0\0"},
        "lengths that do not add up": {"cuts": b"\xff\xff\xff\xff"},
        "half a length": {"cuts": b"\1\0\0"},
        "another size": {"size": 1},
        "salts missing": {"salts": b"\1" * 16},
        "commitments missing": {"commits": b""},
        "no such source": {"source": 99},
    }


@pytest.mark.parametrize("damage", damages().values(), ids=damages().keys())
def test_a_damaged_segment_is_an_error_of_its_records_and_of_no_list(store: Invented, damage: dict[str, Any]) -> None:
    store.segment(5, [line("whole") + b"\n"], **{"source": 1, **damage})
    store.segment(6, [line("other") + b"\n"])
    store.events({"n": number(5, 0)}, {"n": number(6, 0)})
    with Archive.open(store.path) as archive:
        for ask in (archive.detail, archive.raw):
            with pytest.raises(RecordError) as error:
                ask(number(5, 0))
            assert error.value.entry == 5
            assert error.value.reason
        assert archive.detail(number(6, 0)).text == "other"
        assert len(archive.events(1).rows) == 2


def test_records_that_are_not_there_or_not_json_or_of_no_known_format_are_errors(store: Invented) -> None:
    store.source(2, format="from the future")
    store.segment(1, [b"{cut\n"])
    store.segment(2, [line("x")], source=2)
    store.events({"n": number(1, 0)}, {"n": number(1, 9)}, {"n": number(2, 0)}, {"n": number(3, 0)})
    with Archive.open(store.path) as archive:
        for key, why in (
            (number(1, 0), "no JSON value"),
            (number(1, 9), "holds 1 records"),
            (number(2, 0), "no reader"),
            (number(3, 0), "no such segment"),
        ):
            with pytest.raises(RecordError, match=why):
                archive.detail(key)
        assert archive.raw(number(1, 0)) == b"{cut"
        assert archive.raw(number(2, 0)) == line("x")


def test_a_walk_gives_every_event_whole_and_in_order_while_lanes_alternate(
    store: Invented, monkeypatch: pytest.MonkeyPatch
) -> None:
    """More segments in turn than are kept at hand, in batches smaller than the session."""
    monkeypatch.setattr(records, "BATCH", 7)
    monkeypatch.setattr(records, "KEPT_BYTES", 5_000)
    texts = {}
    for entry in range(1, 9):
        spans = [line(f"lane {entry} says {place}") + b"\n" for place in range(20)]
        store.segment(entry, spans, start=1)
        for place in range(20):
            texts[number(entry, place)] = f"lane {entry} says {place}"
    store.events(*({"n": key, "sort": key >> 22 & 1023} for key in texts))
    with Archive.open(store.path) as archive:
        order = [row.key for row in archive.events(1, limit=1_000).rows]
        found = [(detail.row.key, detail.text) for detail in archive.iter_events(1)]
        assert found == [(key, texts[key]) for key in order]
        assert len(found) == 160
        assert archive._records._kept_bytes <= 5_000


def test_a_payload_and_a_recorded_body_are_found_by_the_beginning_of_their_digest(store: Invented) -> None:
    body, payload = b"\0binary\xff" * 10, b"p" * 3_000_000
    artifact = {"type": "artifact", "session": "n1", "name": "x.bin", "base64": b64encode(body).decode()}
    store.segment(2, [json.dumps(artifact).encode()])
    store.events({"n": number(2, 0)})
    store.insert(
        "artifact",
        [{"session": 1, "n": number(2, 0), "digest": sha256(body).digest(), "media": "application/x", "name": "x.bin",
          "size": len(body)}],
    )  # fmt: skip
    store.insert(
        "payload",
        [
            {
                "commit": b"c",
                "salt": b"s",
                "sha256": sha256(payload).digest(),
                "media": "text/plain",
                "size": len(payload),
            }
        ],
    )
    parts = [payload[at : at + (1 << 20)] for at in range(0, len(payload), 1 << 20)]
    store.insert("payload_chunk", [{"commit": b"c", "no": no, "data": part} for no, part in enumerate(parts)])
    with Archive.open(store.path) as archive:
        for content, digits in ((payload, 64), (payload, 9), (body, 64), (body, 9)):
            digest = sha256(content).hexdigest()
            (found,) = archive.contents(digest[:digits].upper())
            assert (found.digest, found.size) == (digest, len(content))
            assert b"".join(archive.chunks(found)) == content
        assert archive.contents(sha256(body).hexdigest())[0].name == "x.bin"
        assert archive.contents("") == archive.contents("xyz") == archive.contents("0" * 65) == []


def test_the_account_of_every_file_adds_up_to_the_totals(store: Invented) -> None:
    counts = {"records": 9, "mapped": 5, "unknown": 1, "duplicates": 2, "unreadable": 1}
    store.source(2, cursor=500, **counts)
    store.source(3, cursor=70, session=None, **counts)
    store.sessions({"no": 1, "events": 12}, {"no": 2, "events": 30})
    store.insert(
        "unreadable",
        [
            {"n": number(3, 0), "source": 3, "session": None, "line": 4, "offset": 60, "length": 5, "reason": "syntax"},
            {"n": number(2, 1), "source": 2, "session": 1, "line": 9, "offset": 90, "length": 5, "reason": "utf8"},
        ],
    )
    with Archive.open(store.path) as archive:
        totals = archive.totals()
        assert (totals.sessions, totals.events, totals.bytes, totals.entries) == (2, 42, 570, 0)
        rows = list(archive.sources())
        for name in counts:
            assert getattr(totals, name) == sum(getattr(row, name) for row in rows) == 2 * counts[name]
        assert [(row.key, row.file, row.session is None) for row in rows[1:]] == [
            (2, "/logs/2.jsonl", False), (3, "/logs/3.jsonl", True),
        ]  # fmt: skip
        assert [row.key for row in archive.sources(1)] == [1, 2]
        assert list(archive.unreadable()) == [("/logs/2.jsonl", 9, 90, "utf8"), ("/logs/3.jsonl", 4, 60, "syntax")]
        assert list(archive.unreadable(1)) == [("/logs/2.jsonl", 9, 90, "utf8")]
        assert (archive.entries(), archive.entry(0), archive.entry(-1), archive.entry(1 << 70)) == (0, None, None, None)
        store.insert("ledger_entry", [{"idx": 0, "id": "a", "entry": b"{}", "leaf": b"l"}])
        assert (archive.entries(), archive.entry(0), archive.entry(1)) == (1, b"{}", None)
