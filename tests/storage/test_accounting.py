"""Whatever stands in a file is counted once: mapped, unknown, a copy or unreadable, with its line and its reason."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import claude_fixtures as log
import pytest
from kept import (
    CHECKED,
    Clock,
    assert_closed,
    assert_holds,
    assert_same,
    dicts,
    events,
    imported,
    meaning,
    rows,
    store_in,
    take,
    write,
)

from storage.accounting import ImportReport
from storage.archive import Archive
from storage.importing import Importer


def counts(report: ImportReport) -> tuple[int, ...]:
    """(records, mapped, unknown, duplicates, unreadable) of an import."""
    return tuple(report.total(name) for name in CHECKED)


def raw(path: str, n: int) -> bytes:
    with Archive.open(path) as archive:
        return archive.raw(n)


def text(path: str, n: int) -> str:
    with Archive.open(path) as archive:
        return archive.detail(n).text


def line(record: dict[str, Any]) -> bytes:
    return log.lines([record]).rstrip(b"\n")


A, B, C = (line(one) for one in log.chain(log.person("One", "p1"), log.says("Two"), log.person("Three", "p2")))


def test_a_cut_line_loses_itself_only(tmp_path: Path) -> None:
    cut = C[: C.index(b"external") + 3]
    data = b"\n".join([A, B, cut, b"", b"42", C]) + b"\n"
    path, report = imported(tmp_path, data)
    assert counts(report) == (5, 3, 1, 0, 1)
    ((file, number, offset, reason),) = report.unreadable_list
    assert (file, number, offset, reason) == (report.files[0].path, 3, len(A) + len(B) + 2, "cut")
    assert data[offset : offset + len(cut)] == cut
    assert [row["kind"] for row in events(path)] == ["user.message", "model.message", "unknown", "user.message"]
    (unreadable,) = dicts(path, "SELECT line, offset, length, reason FROM unreadable")
    assert unreadable == {"line": 3, "offset": offset, "length": len(cut), "reason": "cut"}
    assert dicts(path, "SELECT unreadable, unknown FROM session") == [{"unreadable": 1, "unknown": 1}]
    assert_holds(path)


def test_a_half_written_last_line_waits_and_is_taken_whole(tmp_path: Path) -> None:
    whole = A + b"\n" + B + b"\n"
    cut = len(A) + 1 + len(B) * 6 // 10
    with store_in(tmp_path) as store:
        file = write(tmp_path / "logs", whole[:cut])
        first = take(store, file)
        assert counts(first) == (1, 1, 0, 0, 0)
        assert first.pending == [(str(file), len(A) + 1)]
        again = take(store, file)
        assert counts(again) == (0, 0, 0, 0, 0)
        assert again.pending == first.pending
        file.write_bytes(whole)
        last = take(store, file)
        assert counts(last) == (1, 1, 0, 0, 0)
        assert last.pending == []
        assert [row["summary"] for row in events(store.path)] == ["One", "Two"]
        assert raw(store.path, events(store.path)[1]["n"]) == B
        assert_holds(store.path)


def test_a_file_that_holds_only_a_half_written_line_is_taken_later(tmp_path: Path) -> None:
    with store_in(tmp_path) as store:
        file = write(tmp_path / "logs", A[:50])
        assert counts(take(store, file)) == (0, 0, 0, 0, 0)
        file.write_bytes(A + b"\n")
        assert counts(take(store, file)) == (1, 1, 0, 0, 0)


def odd_one_out(records: list[dict[str, Any]]) -> bytes:
    """Records among which some have no id, so that only their place among equals tells them apart."""
    mode = line(log.flat("permission-mode", permissionMode="plan"))
    return b"\n".join([*map(line, records), mode, mode, b'{"type":"workflow-start","zzz":{}}']) + b"\n"


def test_a_file_cut_short_and_written_on_is_read_anew(tmp_path: Path) -> None:
    records = log.chain(*(log.person(f"Say {n}", f"p{n}") for n in range(5)))
    with store_in(tmp_path) as store:
        file = write(tmp_path / "logs", odd_one_out(records))
        assert counts(take(store, file)) == (8, 7, 1, 0, 0)
        before = {row["id"] for row in events(store.path)}
        file.write_bytes(odd_one_out(records[:3]))
        shrunk = take(store, file)
        assert shrunk.files[0].note == "replaced or cut since the last import; read as a new revision"
        assert counts(shrunk) == (6, 0, 0, 6, 0)
        assert {row["id"] for row in events(store.path)} == before
        more = log.chain(log.person("New", "p9"), start=9)
        file.write_bytes(odd_one_out(records[:3]) + log.lines(more))
        grown = take(store, file)
        assert grown.files[0].note is None
        assert counts(grown) == (1, 1, 0, 0, 0)
        assert len(events(store.path)) == 9
        assert rows(store.path, "SELECT revision, records FROM source ORDER BY revision") == [(1, 8), (2, 7)]
        assert_holds(store.path)


def test_a_file_replaced_by_one_of_the_same_size_is_read_anew(tmp_path: Path) -> None:
    with store_in(tmp_path) as store:
        file = write(tmp_path / "logs", A + b"\n" + B + b"\n")
        take(store, file)
        other = A + b"\n" + B.replace(b"Two", b"New").replace(b'"r2"', b'"r7"') + b"\n"
        assert len(other) == file.stat().st_size
        replacement = tmp_path / "replacement"
        replacement.write_bytes(other)
        os.replace(replacement, file)
        report = take(store, file)
        assert counts(report) == (2, 1, 0, 1, 0)
        assert report.files[0].note is not None
        assert [row["summary"] for row in events(store.path)] == ["One", "Two", "New"]
        assert_holds(store.path)


def test_a_change_in_the_middle_of_a_large_file_of_the_same_size_is_seen(tmp_path: Path) -> None:
    records = log.chain(*(log.person(f"Say {n} " + "x" * 2_000, f"p{n}") for n in range(600)))
    with store_in(tmp_path) as store:
        file = write(tmp_path / "logs", log.lines(records))
        take(store, file)
        assert rows(store.path, "SELECT count(*) FROM segment")[0][0] >= 4
        file.write_bytes(log.lines(records).replace(b"Say 300 x", b"SAY 300 X"))
        report = take(store, file)
        assert counts(report) == (600, 1, 0, 599, 0)
        assert counts(take(store, file)) == (0, 0, 0, 0, 0)
        assert_holds(store.path)


def test_a_file_that_did_not_change_is_not_read_again(tmp_path: Path) -> None:
    with store_in(tmp_path) as store:
        file = write(tmp_path / "logs", odd_one_out(log.session()))
        take(store, file)
        entries = rows(store.path, "SELECT count(*) FROM ledger_entry")
        assert counts(take(store, file)) == (0, 0, 0, 0, 0)
        assert rows(store.path, "SELECT count(*) FROM ledger_entry") == entries


def test_a_copied_file_adds_no_event(tmp_path: Path) -> None:
    with store_in(tmp_path) as store:
        data = odd_one_out(log.session())
        one = take(store, write(tmp_path / "logs", data, "one.jsonl"))
        before = [row["id"] for row in events(store.path)]
        two = take(store, write(tmp_path / "logs", data, "two.jsonl"))
        assert [row["id"] for row in events(store.path)] == before
        assert {row["copies"] for row in events(store.path)} == {2}
        assert two.total("duplicates") == one.events
        assert_holds(store.path)


def test_only_line_feeds_split_records(tmp_path: Path) -> None:
    said = "a\u2028b\u2029c\u0085d\x0be\x0cf\x1cg"
    path, report = imported(tmp_path, log.lines(log.chain(log.person(said), log.says("ok"))))
    assert counts(report) == (2, 2, 0, 0, 0)
    assert text(path, events(path)[0]["n"]) == said


def test_half_a_surrogate_pair_in_a_session_id_touches_that_session_only(tmp_path: Path) -> None:
    def session(id: str) -> bytes:
        return log.lines({**one, "sessionId": id} for one in log.chain(log.person("Hi", "p1"), log.says("Ho")))

    with store_in(tmp_path) as store:
        logs = tmp_path / "logs"
        odd = session("odd").replace(b'"sessionId": "odd"', b'"sessionId": "b\\ud800d"')
        write(logs, {"1.jsonl": session("first"), "2.jsonl": odd, "3.jsonl": session("third")})
        report = take(store, logs)
        assert counts(report) == (6, 6, 0, 0, 0)
        assert rows(store.path, "SELECT native, events FROM session ORDER BY no") == [
            ("first", 2),
            ("b\u27e8U+D800\u27e9d", 2),
            ("third", 2),
        ]
        # All three begin with the same ids, which is said of each; one message is paid for once.
        assert [row["flags"] for row in events(store.path)] == [
            *["twin"] * 2, *["lone_surrogate twin"] * 2, "twin", "twin paid_elsewhere",
        ]  # fmt: skip
        assert rows(store.path, "SELECT session FROM source ORDER BY no") == [(1,), (2,), (3,)]
        with Archive.open(store.path) as archive:
            assert len(archive.find_sessions("b\u27e8U+D800\u27e9d")) == 1
        assert_holds(store.path)


def test_a_byte_order_mark_loses_no_record(tmp_path: Path) -> None:
    path, report = imported(tmp_path, b"\xef\xbb\xbf" + b"\n".join([A, B, C]) + b"\n")
    assert counts(report) == (3, 3, 0, 0, 0)
    assert raw(path, events(path)[0]["n"]) == A


@pytest.mark.parametrize("coding", ["utf-16", "utf-16-le", "utf-16-be"])
def test_utf_16_is_named(tmp_path: Path, coding: str) -> None:
    _, report = imported(tmp_path, b"\n".join([A, B, C]).decode().encode(coding))
    assert report.files[0].skipped == "utf16"
    assert counts(report) == (0, 0, 0, 0, 0)


@pytest.mark.parametrize(
    "change",
    [
        {"message": "x"},
        {"message": None},
        {"message": 7},
        {"message": []},
        {"message": {"role": "assistant", "content": None, "id": "m"}},
        {"message": {"role": "assistant", "content": [None, 3], "id": "m"}},
        {"message": {"role": "assistant", "content": "said", "id": "m", "usage": "null"}},
        {"message": {"role": "assistant", "content": [{"type": "text", "text": 5}], "id": 9}},
        {"message": {"role": "assistant", "content": [{"type": ["text"]}], "id": "m", "usage": [1]}},
        {"message": {"role": "assistant", "content": [], "usage": {"input_tokens": "many"}, "id": "m"}},
        {"uuid": 5},
        {"parentUuid": {"a": 1}},
        {"sessionId": 7},
        {"timestamp": 1_700_000_000},
        {"cwd": None, "version": [2], "gitBranch": {}},
        {"type": None},
        {"isSidechain": "yes", "agentId": 3},
    ],
    ids=repr,
)
def test_a_field_of_another_shape_is_read_as_far_as_it_goes(tmp_path: Path, change: dict[str, Any]) -> None:
    odd = {**log.chain(log.says("Two"), start=2, after="r1")[0], **change}
    data = b"\n".join([A, line(odd), C]) + b"\n"
    path, report = imported(tmp_path, data)
    assert report.total("records") == 3
    assert report.total("unreadable") == 0
    found = [row for row in events(path) if row["summary"] not in ("One", "Three")]
    assert found, "the odd record is shown"
    assert raw(path, found[0]["n"]) == line(odd)
    assert_holds(path)


def test_what_no_reader_knows_is_shown_and_counted(tmp_path: Path) -> None:
    odd = b'{"type":"workflow-start","zzz":{}}'
    path, report = imported(tmp_path, b"\n".join([A, odd, B]) + b"\n")
    assert counts(report) == (3, 2, 1, 0, 0)
    (row,) = events(path, "kind = 'unknown'")
    assert row["summary"] == "unknown type workflow-start"
    assert raw(path, row["n"]) == odd
    assert dicts(path, "SELECT unknown FROM session") == [{"unknown": 1}]


ODD_JSON = {
    "deep": (b"[" * 100_000, "too_deep"),
    "deep and closed": (b'{"a":' + b"[" * 100_000 + b"]" * 100_000 + b"}", "too_deep"),
    "a little too deep": (b'{"a":' * 255 + b"1" + b"}" * 255, "too_deep"),
    "not utf-8": (b'{"type":"user","x":"\xff\xfe"}', "utf8"),
    "nul": (b"\0" * 50, "nul"),
    "nonsense": (b"nonsense", "syntax"),
    "two commas": (b'{"type":"user",,}', "syntax"),
}


@pytest.mark.parametrize("name", list(ODD_JSON))
def test_json_that_cannot_be_read_says_why(tmp_path: Path, name: str) -> None:
    odd, reason = ODD_JSON[name]
    path, report = imported(tmp_path, b"\n".join([A, odd, B]) + b"\n")
    assert counts(report) == (3, 2, 0, 0, 1)
    assert report.unreadable_list == [(report.files[0].path, 2, len(A) + 1, reason)]
    assert len(events(path)) == 2
    assert_holds(path)


FLAGGED = {
    "an integer of 5,000 digits": (b'"durationMs":' + b"9" * 5_000, "big_integer"),
    "an integer beyond 64 bits": (b'"durationMs":9223372036854775808', "big_integer"),
    "an integer beyond 2^53": (b'"durationMs":9007199254740993', "big_integer"),
    "not a number": (b'"durationMs":NaN', "not_finite"),
    "too large a float": (b'"durationMs":1e999', "not_finite"),
    "a key named twice": (b'"a":1,"a":2', "duplicate_keys"),
    "half a pair": (b'"a":"\\ud800"', "lone_surrogate"),
}


@pytest.mark.parametrize("name", list(FLAGGED))
def test_json_that_can_be_taken_two_ways_is_flagged(tmp_path: Path, name: str) -> None:
    member, flag = FLAGGED[name]
    odd = A[:-1] + b"," + member + b"}"
    path, report = imported(tmp_path, odd + b"\n" + B + b"\n")
    assert counts(report) == (2, 2, 0, 0, 0)
    first, second = events(path)
    assert first["flags"] == flag
    assert second["flags"] == ""
    assert raw(path, first["n"]) == odd
    assert_holds(path)


@pytest.mark.parametrize("figure", [2**53, 2**63 - 1, 2**64, -1, 1e300, "7" * 400, True, [1]])
def test_no_figure_outgrows_a_table(tmp_path: Path, figure: Any) -> None:
    usage = {"input_tokens": figure, "output_tokens": figure, "cache_read_input_tokens": figure}
    many = [log.says(f"S{n}", id=f"m{n}", usage=usage) for n in range(40)]
    many += [log.system("turn_duration", durationMs=figure, messageCount=figure)]
    path, report = imported(tmp_path, log.lines(log.chain(log.person("One", "p1"), *many)))
    assert report.total("records") == 42
    assert_holds(path)
    assert 0 <= dicts(path, "SELECT tokens FROM session")[0]["tokens"] < 2**62


def test_a_picture_that_stands_twice_in_a_record_is_said_to(tmp_path: Path) -> None:
    picture = "iVBORw0KGgo" + "A" * 4_000
    content = [{"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": picture}}]
    twin = [{"type": "image", "file": {"base64": picture, "type": "image/png"}}]
    records = log.chain(
        log.calls("Read", file_path="/home/ada/acme/a.png"),
        log.result(content, twin=twin),
        log.result(content, "toolu_2", twin=[{"type": "image", "file": {"base64": picture[:-1]}}]),
    )
    path, _ = imported(tmp_path, log.lines(records))
    flags = [row["flags"].split() for row in events(path)]
    assert "stored_twice" in flags[1]
    assert "stored_twice" not in flags[2]
    assert all(row["size"] < 1_000 for row in events(path))


def test_one_giant_record_is_marked_and_the_rest_is_loaded(tmp_path: Path) -> None:
    nested = b'{"type":"assistant","uuid":"big","parentUuid":"r1","sessionId":"s","timestamp":"2026-03-02T09:00:02Z",'
    giant = nested + b'"message":{"content":[' + b'{"a":[1,2,{"b":"cccccccccccc"}]},' * 640_000 + b"{}]}}"
    assert len(giant) > 20_000_000
    path, report = imported(tmp_path, b"\n".join([A, giant, B, C]) + b"\n")
    assert counts(report) == (4, 3, 0, 0, 1)
    ((_, number, offset, reason),) = report.unreadable_list
    assert (number, offset) == (2, len(A) + 1)
    assert reason.startswith(f"too_large: {len(giant)} bytes")
    assert all(said in reason for said in ("type assistant", "uuid big", "timestamp 2026-03-02T09:00:02Z"))
    assert [row["summary"] for row in events(path)] == ["One", "Two", "Three"]
    assert rows(path, "SELECT length, reason FROM unreadable") == [(len(giant), reason)]
    report_of_all = assert_holds(path)
    assert report_of_all.checked["records"] == 4


def test_a_giant_record_whose_fields_no_table_can_hold_is_marked_too(tmp_path: Path) -> None:
    giant = b'{"type":"a\\u0000b","uuid":"x\\ud800y","z":"' + b"z" * (17 << 20) + b'"}'
    path, report = imported(tmp_path, A + b"\n" + giant + b"\n")
    assert counts(report) == (2, 1, 0, 0, 1)
    assert rows(path, "SELECT reason FROM unreadable")[0][0].endswith("type a\u2400b, uuid x\u27e8U+D800\u27e9y")


def test_glued_values_are_records_each(tmp_path: Path) -> None:
    path, report = imported(tmp_path, A + B + b"  " + C + b"\n" + b'{"type":"zzz"} trailing\n')
    assert counts(report) == (5, 3, 1, 0, 1)
    assert [row["kind"] for row in events(path)] == ["user.message", "model.message", "user.message", "unknown"]
    assert [raw(path, row["n"]) for row in events(path)] == [A, B, C, b'{"type":"zzz"}']
    assert_holds(path)


def test_blank_lines_and_line_ends_of_any_kind_are_no_records(tmp_path: Path) -> None:
    data = b"\n\r\n" + A + b"\r\n\r\n   \t\n" + B + b"\r\n" + C + b"\n\n\n"
    path, report = imported(tmp_path, data)
    assert counts(report) == (3, 3, 0, 0, 0)
    with Archive.open(path) as archive:
        places = [archive.detail_of(archive.event(row["n"])).source for row in events(path)]
    assert [place.line for place in places] == [3, 6, 7]
    assert [data[place.offset : place.offset + place.length] for place in places] == [A, B, C]


def test_more_than_half_nonsense_is_no_log(tmp_path: Path) -> None:
    with store_in(tmp_path) as store:
        logs = tmp_path / "logs"
        half = write(logs, A + b"\nnonsense\n", "half.jsonl")
        more = write(logs, A + b"\nnonsense\nnonsense\n", "more.jsonl")
        late = write(logs, (A + b"\n") * 200 + b"nonsense\n" * 500, "late.jsonl")
        report = take(store, half, more, late)
        assert [file.skipped for file in report.files] == [None, "not_a_log", None]
        assert [file.unreadable for file in report.files] == [1, 0, 500]
        assert [file.named for file in report.files] == [True] * 3
        found = take(store, logs)
        assert [file.named for file in found.files] == [False] * 3


@pytest.mark.parametrize(
    ("data", "reason"), [(b"", "empty"), (b" \n\n", "empty"), (b"Dear diary,\n", "not_a_log"), (b'{"a":1}\n', "unknown_format")]  # noqa: E501
)  # fmt: skip
def test_what_is_no_log_is_skipped_with_a_reason(tmp_path: Path, data: bytes, reason: str) -> None:
    _, report = imported(tmp_path, data)
    assert report.files[0].skipped == reason


def test_what_is_not_there_or_no_file_is_said(tmp_path: Path) -> None:
    with store_in(tmp_path) as store:
        os.mkfifo(tmp_path / "pipe")
        report = take(store, tmp_path / "none.jsonl", tmp_path / "pipe")
        assert [file.skipped for file in report.files] == ["missing", "not_a_file"]


def test_a_link_in_a_folder_is_not_followed(tmp_path: Path) -> None:
    with store_in(tmp_path) as store:
        logs = tmp_path / "logs"
        file = write(logs, A + b"\n", "real.jsonl")
        (logs / "link.jsonl").symlink_to(file)
        (logs / "loop").symlink_to(logs)
        assert [Path(file.path).name for file in take(store, logs).files] == ["real.jsonl"]


def test_a_file_grows_in_six_steps_as_if_it_came_at_once(tmp_path: Path) -> None:
    records = [*log.session(), *({**one, "uuid": f"e{n}"} for n, one in enumerate(log.every_record()) if "uuid" in one)]
    data = odd_one_out(records) + A + B + b"\nnonsense\n" + odd_one_out(log.session()[:4]) + C
    with store_in(tmp_path, "whole.db") as whole:
        file = write(tmp_path / "logs", data)
        at_once = take(whole, file)
    file.unlink()
    with store_in(tmp_path, "grown.db") as grown:
        total = [0] * len(CHECKED)
        for step in range(1, 7):
            file.write_bytes(data[: len(data) * step // 6])
            report = take(grown, file)
            total = [one + more for one, more in zip(total, counts(report), strict=True)]
        assert tuple(total) == counts(at_once)
        assert report.pending == at_once.pending == []
    assert_same(meaning(whole.path), meaning(grown.path))
    assert_holds(whole.path)
    assert_holds(grown.path)


def test_an_import_from_a_stream_is_a_source_of_its_own(tmp_path: Path) -> None:
    import io

    with store_in(tmp_path) as store:
        report = Importer(store, clock=Clock()).stream(io.BytesIO(A + b"\n" + B + b"\n" + C[:30]))
        assert_closed(report)
        assert counts(report) == (2, 2, 0, 0, 0)
        assert report.pending == [("-", len(A) + len(B) + 2)]
        assert (report.sessions, report.events) == (1, 2)
        again = Importer(store, clock=Clock()).stream(io.BytesIO(A + b"\n"))
        assert counts(again) == (1, 0, 0, 1, 0)
        assert_holds(store.path)


def test_names_no_table_can_hold_are_marked(tmp_path: Path) -> None:
    name = os.fsdecode(b"bad-\xff-name.jsonl")
    with store_in(tmp_path) as store:
        try:
            file = write(tmp_path / "logs", A + b"\n", name)
        except OSError:
            pytest.skip("this file system takes no such name")
        report = take(store, file)
        assert counts(report) == (1, 1, 0, 0, 0)
        assert "\u27e8U+DCFF\u27e9" in rows(store.path, "SELECT path FROM source")[0][0]
        file.write_bytes(A + b"\n" + B + b"\n")
        assert counts(take(store, file)) == (1, 1, 0, 0, 0)
        assert_holds(store.path)


def test_our_own_lines_are_accounted_for_alike(tmp_path: Path) -> None:
    own = [
        {"type": "session.event", "session": "s", "kind": "user.message", "text": "Hi", "id": "a"},
        {"type": "session.event", "session": "s", "kind": "no.such.kind", "text": "Hi", "id": "b"},
        {"type": "artifact", "session": "s", "text": "body", "name": "n", "media": "text/plain"},
        {"type": "session.event", "session": "s", "kind": "user.message", "text": "Hi", "id": "a"},
        {"type": "other"},
    ]
    data = b"".join(json.dumps(one).encode() + b"\n" for one in own) + b"{]\n"
    path, report = imported(tmp_path, data)
    assert counts(report) == (6, 2, 2, 1, 1)
    assert [file.format for file in report.files] == ["affidavit"]
    assert_holds(path)
