"""Cutting bytes into records: nothing is lost, nothing depends on how the bytes arrive, and it can be done again."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from affidavit.proof.commitment import commit_all, segment_root
from storage import segments
from storage.segments import BOM, Cut, Cutter, SegmentError, pack, recut, spans_of

ODD = "\u2028\u2029\u0085\ufeff\U0001f600é"

values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=6) | st.sampled_from([ODD, "\\", '"']),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=6,
)
objects = st.dictionaries(st.text(max_size=4), values, max_size=4)
json_bytes = st.builds(
    lambda value, ascii: json.dumps(value, ensure_ascii=ascii).encode("utf-8", "surrogatepass"),
    values | objects,
    st.booleans(),
)
cut_tails = st.builds(lambda data, at: data[: at % (len(data) + 1)], json_bytes, st.integers(0, 40))
garbage = st.binary(max_size=8) | st.sampled_from(
    [b"\xff", b"\0", b"\0\0\0", b"{", b"}", b"[", b'"', b"nul", b"2026-01-01 started", BOM, b"\x1e", b"\x0b", b"\x0c"]
)
separators = st.sampled_from([b"\n", b"\n\n", b"\r\n", b"\r", b" ", b"\t", b"", b"\r\n\r\n", b" \n\t\n", b", "])
files = st.lists(json_bytes | json_bytes | cut_tails | garbage | separators | st.just(b"\n"), max_size=14).map(b"".join)


def cut(data: bytes, sizes: list[int] | None = None) -> tuple[list[Cut], int | None]:
    """Cut a file given in blocks of these sizes (over and over), or at once."""
    cutter = Cutter()
    cuts: list[Cut] = []
    at = turn = 0
    while at < len(data):
        size = max(sizes[turn % len(sizes)], 1) if sizes else len(data)
        cuts += cutter.feed(data[at : at + size])
        at += size
        turn += 1
    more, pending = cutter.finish()
    return cuts + more, pending


def same(cut: Cut) -> tuple[Any, ...]:
    """A record as something that can be compared, NaN included."""
    return (cut.span, cut.offset, cut.line, cut.value, repr(cut.parsed), cut.flags, cut.reason)


edges = [
    b"",
    b"\n\n\n",
    BOM,
    BOM + b"\n" + b"{}",
    BOM + b' {"a":1}\n',
    b"\n" + BOM + b'{"a":1}\n{}\n',
    b"  " + BOM + b"{}{}\n",
    b"{}\n" + BOM + b'{"a":1}{"b":2}\n',
    b"{}\n" + BOM + b"\n{}\n",
    b"{}\n" + BOM + BOM + b"{} {}\n",
    b"{}" + BOM + b"{}\n",
    b"{}" + BOM + b" {}{}\n",
    BOM + b"\n\0",
    BOM + BOM + b"{}\n",
    b'{"a":1}{"a":1}\n',
    b'{"a":1} {"b":"\xff"} {"c":1}\n',
    b'{"a":1}\r\n\r\n{"a":1}\r\n',
    b"1 2 3\n",
    b"[1][2",
    b"{}\n\n\n{",
    b'{"a":1}\n   \n"x',
    b"{\0}\n\0\0\0\n",
    b"[" * 300 + b"]" * 300 + b" {}\n",
    b"nan NaN Infinity\n",
    b'{"a":\n1}\n',
    '{"a":"x\u2028y\u2029z\u0085"}\n{}\n'.encode(),
]


@pytest.mark.parametrize("data", edges)
def test_edges_tile_and_cut_again_alike(data: bytes) -> None:
    check_tiling(data)
    check_cut_again(data)


@given(files)
def test_spans_tile_the_bytes_exactly(data: bytes) -> None:
    check_tiling(data)


def check_tiling(data: bytes) -> None:
    cuts, pending = cut(data)
    whole = b"".join(record.span for record in cuts)
    assert data.startswith(whole)
    end = len(data) if pending is None else pending
    between = data[len(whole) : end] if whole else data[:end].removeprefix(BOM)
    assert not between.strip(b" \t\r\n")
    assert b"\n" not in data[end:].rstrip(b" \t\r\n")
    for record in cuts:
        assert record.value
        assert record.value == record.value.strip(b" \t\r\n")
        assert b"\n" not in record.value
        assert data[record.offset : record.offset + len(record.value)] == record.value
        assert record.line == data[: record.offset].count(b"\n") + 1
        assert record.parsed is None or record.reason is None
        assert record.value in record.span


@given(files, st.lists(st.integers(1, 9), min_size=1, max_size=5))
@example(b'{"a":1}\n{"b":2}\n\n{"c":3}', [1])
@example(BOM + b"{}\n", [1])
def test_how_the_bytes_arrive_changes_nothing(data: bytes, sizes: list[int]) -> None:
    at_once, pending = cut(data)
    in_blocks, still = cut(data, sizes)
    assert [same(record) for record in in_blocks] == [same(record) for record in at_once]
    assert still == pending


@given(files)
def test_a_stored_segment_is_cut_again_alike(data: bytes) -> None:
    check_cut_again(data)


def check_cut_again(data: bytes) -> None:
    cuts, _ = cut(data)
    chance = random.Random(7).randbytes
    kept = segments.SEGMENT_RECORDS
    segments.SEGMENT_RECORDS = 3
    try:
        packed = list(pack(cuts, 0, chance))
    finally:
        segments.SEGMENT_RECORDS = kept
    again: list[Cut] = []
    at = 0
    for segment in packed:
        assert segment.start == at
        spans = spans_of(segment.data, segment.cuts, segment.size)
        again += recut(spans, segment.start, segment.line)
        commits = commit_all(segment.salts, spans)
        assert b"".join(commits) == segment.commits
        assert segment_root(commits) == segment.root
        at += segment.size
    assert [same(record) for record in again] == [same(record) for record in cuts]


@given(files, st.lists(st.integers(0, 60), max_size=5))
def test_a_file_read_while_it_grows_gives_the_same_values(data: bytes, stops: list[int]) -> None:
    """Each step reads on from the last byte taken, as a later import does."""
    cuts: list[Cut] = []
    at, line = 0, 1
    for stop in [*sorted({min(stop, len(data)) for stop in stops}), len(data)]:
        cutter = Cutter(at, line)
        new = cutter.feed(data[at:stop])
        more, _ = cutter.finish()
        for record in (*new, *more):
            at += len(record.span)
            line += record.span.count(b"\n")
            cuts.append(record)
    at_once, _ = cut(data)
    assert [same(record)[1:] for record in cuts] == [same(record)[1:] for record in at_once]


def test_only_a_line_feed_ends_a_line() -> None:
    text = "before\u2028and\u2029after\u0085that\x0b\x0c\x1c\x1d\x1e"
    data = json.dumps({"text": text}, ensure_ascii=False).encode() + b"\n"
    cuts, pending = cut(data + data)
    assert [record.parsed for record in cuts] == [{"text": text}] * 2
    assert [record.line for record in cuts] == [1, 2]
    assert pending is None


def test_values_glued_on_a_line_are_records_each() -> None:
    cuts, pending = cut(b'{"a":1}{"b":2} [3]\nnonsense {"c":4}\n{"d":5} tail\n')
    assert [(record.value, record.line, record.offset, record.reason) for record in cuts] == [
        (b'{"a":1}', 1, 0, None),
        (b'{"b":2}', 1, 7, None),
        (b"[3]", 1, 15, None),
        (b'nonsense {"c":4}', 2, 19, "syntax"),
        (b'{"d":5}', 3, 36, None),
        (b"tail", 3, 44, "syntax"),
    ]
    assert pending is None


@pytest.mark.parametrize(
    ("data", "values", "pending"),
    [
        (b'{"a":1}\n{"b":2}', [b'{"a":1}', b'{"b":2}'], None),
        (b'{"a":1}\n{"b":2', [b'{"a":1}'], 8),
        (b'{"a":1}\n  {"b":2', [b'{"a":1}'], 10),
        (b'{"a":1}\n12', [b'{"a":1}'], 8),
        (b'{"a":1}\ntrue', [b'{"a":1}'], 8),
        (b'{"a":1}\n"text"', [b'{"a":1}'], 8),
        (b'{"a":1}{"b":2}{"c', [b'{"a":1}', b'{"b":2}'], 14),
        (b'{"a":1} 12', [b'{"a":1}'], 8),
        (b'{"a":1}\n\n \r\n', [b'{"a":1}'], None),
        (b"", [], None),
        (BOM + b'{"a":1}', [b'{"a":1}'], None),
        (BOM + b'{"a"', [], 0),
    ],
)
def test_what_is_still_being_written_waits(data: bytes, values: list[bytes], pending: int | None) -> None:
    cuts, at = cut(data)
    assert [record.value for record in cuts] == values
    assert at == pending or (data.startswith(BOM) and at == len(BOM))


def test_segments_keep_to_their_size() -> None:
    chance = random.Random(1).randbytes
    small = [Cut(b"{}\n", 3 * place, place + 1, b"{}", {}, (), None) for place in range(2_500)]
    assert [len(segment.records) for segment in pack(small, 0, chance)] == [1_000, 1_000, 500]
    lengths = [100_000, 100_000, 100_000, 300_000, 10, 10]
    large = [Cut(b"x" * length, 0, 1, b"x" * length, None, (), "syntax") for length in lengths]
    assert [segment.size for segment in pack(large, 0, chance)] == [200_000, 100_000, 300_000, 20]
    assert list(pack(small[:999], 0, chance, last=False)) == []
    assert [len(segment.records) for segment in pack(small[:2_100], 0, chance, last=False)] == [1_000, 1_000]


def test_a_record_that_is_too_large_says_what_it_is() -> None:
    huge = b'{"type":"user","uuid":"u1","message":{"x":"' + b"y" * segments.RECORD_BYTES + b'"},"timestamp":"t"}\n'
    cuts, pending = cut(huge + b'{"a":1}\n')
    assert [record.value[:8] for record in cuts] == [b'{"type":', b'{"a":1}']
    reason = cuts[0].reason
    assert reason is not None
    assert reason.startswith("too_large: ")
    assert all(said in reason for said in ("type user", "uuid u1", "timestamp t"))
    assert cuts[1].line == 2
    assert pending is None


@pytest.mark.parametrize(
    "change",
    [
        {"data": lambda data: data[:-3]},
        {"data": lambda data: data[:20] + bytes([data[20] ^ 1]) + data[21:]},
        {"data": lambda data: data[:0]},
        {"cuts": lambda cuts: cuts[:-1]},
        {"cuts": lambda cuts: cuts[:-4] + b"\xff\xff\xff\xff"},
        {"size": lambda size: size + 1},
        {"cuts": lambda _: b"\xff\xff\xff\x7f", "size": lambda _: 0x7FFFFFFF},
    ],
)
def test_a_damaged_segment_is_refused(change: dict[str, Callable[[Any], Any]]) -> None:
    cuts, _ = cut(b'{"a":"%s"}\n' % b"text" * 5)
    (segment,) = pack(cuts, 0, random.Random(1).randbytes)
    stored = {"data": segment.data, "cuts": segment.cuts, "size": segment.size}
    with pytest.raises(SegmentError):
        spans_of(**{name: change.get(name, lambda value: value)(value) for name, value in stored.items()})  # type: ignore[arg-type]


def test_cutting_costs_the_same_however_long_nothing_ends() -> None:
    """A run of blank lines and a line that never ends are read in many blocks, each looked at once."""
    cutter = Cutter()
    for _ in range(3_000):
        assert cutter.feed(b"\n" * 500) == []
    assert cutter.feed(b'{"a":1}\n')[0].line == 1_500_001
    for _ in range(3_000):
        assert cutter.feed(b"x" * 500) == []
    (record,) = cutter.feed(b"\n")
    assert len(record.value) == 1_500_000
