"""JSON in two manners: what each accepts, what it says of it, and that nothing from outside breaks it."""

from __future__ import annotations

import contextlib
import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from affidavit.proof.parsing import (
    BOM,
    FLAGS,
    MAX_DEPTH,
    MAX_SIZE,
    REASONS,
    STRICT_DEPTH,
    STRICT_REASONS,
    StrictError,
    Unreadable,
    envelope,
    loads_lenient,
    loads_strict,
    looks_utf16,
    split_values,
)


class Written(NamedTuple):
    """JSON text together with what it means, by the construction and not by any parser."""

    text: str
    value: Any
    flags: frozenset[str] = frozenset()


def character() -> st.SearchStrategy[Written]:
    plain = st.characters(exclude_categories=["Cs"], min_codepoint=32, exclude_characters='"\\')
    spiced = st.sampled_from([':', ',', ' ', ', ', ': ', 'e+', '1e+2', 'e', '{', '[', '"', '\\', '9' * 20])  # fmt: skip
    raw = (plain | spiced).map(lambda text: Written(text.replace("\\", "\\\\").replace('"', '\\"'), text))
    coded = st.characters(max_codepoint=0xFFFF, exclude_categories=["Cs"]) | st.sampled_from(':,"\\ e')
    escaped = st.tuples(coded, st.booleans()).map(
        lambda pair: Written(rf"\u{ord(pair[0]):04{'X' if pair[1] else 'x'}}", pair[0])
    )
    short = st.sampled_from([Written(r"\/", "/"), Written(r"\n", "\n"), Written(r"\b", "\b"), Written(r"\f", "\f")])
    pair = st.characters(min_codepoint=0x10000).map(
        lambda char: Written("".join(rf"\u{unit:04x}" for unit in units(char)), char)
    )
    half = st.integers(0xDC00, 0xDFFF).map(
        lambda unit: Written(rf"\u{unit:04X}", chr(unit), frozenset({"lone_surrogate"}))
    )
    return st.one_of(raw, raw, raw, escaped, short, pair, half)


def units(char: str) -> list[int]:
    data = char.encode("utf-16-be")
    return [int.from_bytes(data[at : at + 2], "big") for at in range(0, len(data), 2)]


def string() -> st.SearchStrategy[Written]:
    return st.lists(character(), max_size=6).map(
        lambda parts: Written(
            '"' + "".join(part.text for part in parts) + '"',
            "".join(part.value for part in parts),
            frozenset().union(*(part.flags for part in parts)),
        )
    )


def whole(number: int) -> Written:
    if abs(number) < 2**53:
        return Written(str(number), number)
    return Written(str(number), str(number), frozenset({"big_integer"}))


def number() -> st.SearchStrategy[Written]:
    edges = [2**53 - 1, 2**53, 2**63 - 1, 2**63, 2**64 - 1, 2**64, 10**19, 10**20, 10**308, 10**309]
    integers = st.one_of(st.integers(-(10**6), 10**6), st.integers(), st.sampled_from(edges)).flatmap(
        lambda edge: st.sampled_from([whole(edge), whole(-edge)])
    )
    floats = st.floats(allow_nan=False, allow_infinity=False).map(lambda value: Written(repr(value), value))
    odd = st.sampled_from(
        [
            Written("1e5", 1e5), Written("1E+15", 1e15), Written("1e15", 1e15), Written("-0", 0),
            Written("0.10", 0.1), Written("1e-400", 0.0), Written("123456789012345678.5", 123456789012345678.5),
            Written("1e400", "1e400", frozenset({"not_finite"})),
            Written("-1E999", "-1E999", frozenset({"not_finite"})),
            Written("NaN", "NaN", frozenset({"not_finite"})),
            Written("Infinity", "Infinity", frozenset({"not_finite"})),
            Written("-Infinity", "-Infinity", frozenset({"not_finite"})),
        ]
    )  # fmt: skip
    return integers | floats | odd


BLANK = st.sampled_from(["", "", "", " ", "\n", "\t ", "\r\n"])
WORDS = st.sampled_from([Written("null", None), Written("true", True), Written("false", False)])


def array(inner: st.SearchStrategy[Written]) -> st.SearchStrategy[Written]:
    def join(parts: list[tuple[Written, str, str]]) -> Written:
        text = ",".join(before + item.text + after for item, before, after in parts)
        flags = frozenset().union(*(item.flags for item, _, _ in parts))
        return Written(f"[{text}]", [item.value for item, _, _ in parts], flags)

    return st.lists(st.tuples(inner, BLANK, BLANK), max_size=4).map(join)


def table(inner: st.SearchStrategy[Written]) -> st.SearchStrategy[Written]:
    few = st.sampled_from([Written('"a"', "a"), Written(r'"\u0061"', "a"), Written('"b"', "b"), Written('":"', ":")])

    def join(parts: list[tuple[Written, Written, str, str]]) -> Written:
        text = ",".join(f"{name.text}{one}:{two}{item.text}" for name, item, one, two in parts)
        value = {name.value: item.value for name, item, _, _ in parts}
        kept = {name.value: name.flags | item.flags for name, item, _, _ in parts}
        flags = frozenset().union(*kept.values())
        # What a later pair replaced is read all the same, except that its text is not looked into.
        flags |= frozenset().union(*(item.flags for _, item, _, _ in parts)) - {"lone_surrogate"}
        if len(value) < len(parts):
            flags |= {"duplicate_keys"}
        return Written("{" + text + "}", value, flags)

    return st.lists(st.tuples(few | string(), inner, BLANK, BLANK), max_size=5).map(join)


DOCUMENTS = st.recursive(st.one_of(string(), number(), WORDS), lambda inner: array(inner) | table(inner), max_leaves=12)
STYLES = st.sampled_from([None, (", ", ": "), (",", ":"), (" , ", " : ")])


@given(DOCUMENTS, BLANK, BLANK)
def test_every_value_is_read_as_meant_and_no_flag_is_missed_or_invented(
    written: Written, before: str, after: str
) -> None:
    value, flags = loads_lenient((before + written.text + after).encode())
    assert repr(value) == repr(written.value)
    assert flags == tuple(flag for flag in FLAGS if flag in written.flags)


@pytest.mark.parametrize(
    ("text", "value", "flags"),
    [
        ("9007199254740991", 2**53 - 1, ()),
        ("-9007199254740991", 1 - 2**53, ()),
        ("9007199254740992", "9007199254740992", ("big_integer",)),
        ("18446744073709551615", "18446744073709551615", ("big_integer",)),
        ("18446744073709551616", "18446744073709551616", ("big_integer",)),
        ("-9223372036854775809", "-9223372036854775809", ("big_integer",)),
        ("1" + "0" * 308, "1" + "0" * 308, ("big_integer",)),
        ('{"n": 100000000000000000000}', {"n": "100000000000000000000"}, ("big_integer",)),
        ('[1e20, "e+", 10.0]', [1e20, "e+", 10.0], ()),
        # The escaped colon makes up for the dropped pair's, and the exponent for its length.
        (r'{"a":1,"a":"\u003A"}', {"a": ":"}, ("duplicate_keys",)),
        (r'{"a":1,"a":["\u003a",1e9,1e9]}', {"a": [":", 1e9, 1e9]}, ("duplicate_keys",)),
        (r'{"a":1,"b":"\u003a"}', {"a": 1, "b": ":"}, ()),
    ],
)
def test_the_edges_of_the_cheap_proof(text: str, value: Any, flags: tuple[str, ...]) -> None:
    found, said = loads_lenient(text.encode())
    assert repr(found) == repr(value)
    assert said == flags


@given(DOCUMENTS, STYLES, st.booleans())
def test_a_value_written_in_any_style_reads_the_same(
    written: Written, style: tuple[str, str] | None, ascii_only: bool
) -> None:
    plain = loads_lenient(written.text.encode())[0]
    again = json.dumps(plain, ensure_ascii=ascii_only, separators=style).encode("utf-8", "surrogatepass")
    if "lone_surrogate" in written.flags:
        again = json.dumps(plain, separators=style).encode()
    value, flags = loads_lenient(again)
    assert repr(value) == repr(plain)
    assert flags == tuple(flag for flag in ("lone_surrogate",) if flag in written.flags)


@given(DOCUMENTS)
def test_strict_takes_exactly_what_lenient_does_not_flag(written: Written) -> None:
    data = written.text.encode()
    if not written.flags:
        assert repr(loads_strict(data)) == repr(written.value)
        return
    with pytest.raises(StrictError) as refused:
        loads_strict(data)
    # Half a pair in what a duplicate key replaced is not in the value, but may be the first to be met.
    replaced = {"lone_surrogate"} if "duplicate_keys" in written.flags else set()
    assert refused.value.reason in written.flags | replaced
    assert 0 <= refused.value.offset < len(data)


@pytest.mark.parametrize(
    ("text", "reason", "offset"),
    [
        ('{"a":1,"b":{"c":1},"a":2}', "duplicate_keys", 19),
        (r'{"a":1,"\u0061":2}', "duplicate_keys", 7),
        ('[{"a":1},{"a":1},9007199254740992]', "big_integer", 17),
        ('["NaN", NaN]', "not_finite", 8),
        ('{"a":[1e999]}', "not_finite", 6),
        (r'["\\ud800","\ud800"]', "lone_surrogate", 11),
        ("[1,]", "syntax", 3),
        ("", "empty", 0),
        ("\ufeff{}", "bom", 0),
        ("[" * 65 + "]" * 65, "too_deep", 64),
        ("[" * 300 + "]" * 300, "too_deep", 254),
    ],
)
def test_strict_says_what_is_wrong_and_where(text: str, reason: str, offset: int) -> None:
    with pytest.raises(StrictError) as refused:
        loads_strict(text.encode())
    assert (refused.value.reason, refused.value.offset) == (reason, offset)
    assert STRICT_REASONS[reason] in str(refused.value)


def test_strict_takes_the_depth_it_allows() -> None:
    loads_strict(b"[" * STRICT_DEPTH + b"]" * STRICT_DEPTH)
    loads_strict(b"[" + b"[1]," * 200 + b'"[[[["]')


@pytest.mark.parametrize(
    ("data", "reason", "offset"),
    [
        (b'{"a":1', "cut", 6),
        (b'{"a":"xy', "cut", 5),
        (b'{"a":1}}', "syntax", 7),
        (b'{"a" 1}', "syntax", 5),
        (b"hello", "syntax", 0),
        (b'["\x01"]', "syntax", 2),
        (b" \r\n", "empty", 0),
        (b'["\xe9"]', "utf8", 2),
        (b'\xef\xbb\xbf["\xe9"]', "utf8", 5),
        (b'["\xed\xa0\x80"]', "utf8", 2),
        ('["é", x]'.encode(), "syntax", 7),
        ('\ufeff["é", x]'.encode(), "syntax", 10),
        ('{"a":1}'.encode("utf-16"), "utf16", 0),
        ('{"a":1}'.encode("utf-16-be"), "utf16", 0),
        (b"\0\0\0\0{}", "nul", 0),
        (b'{"a":1}\0\0', "syntax", 7),
    ],
)
def test_unreadable_bytes_say_why_and_where(data: bytes, reason: str, offset: int) -> None:
    with pytest.raises(Unreadable) as refused:
        loads_lenient(data)
    assert (refused.value.reason, refused.value.offset) == (reason, offset)
    assert REASONS[reason] in str(refused.value)


def test_a_byte_order_mark_is_skipped() -> None:
    assert loads_lenient(BOM + b'{"a":1}') == ({"a": 1}, ())
    assert loads_lenient(BOM + b'{"a":NaN}') == ({"a": "NaN"}, ("not_finite",))


@pytest.mark.parametrize(("opening", "closing"), [("[", "]"), ('{"a":', "}"), ('[{"]":', "}]")])
def test_depth_is_one_limit_on_both_paths(opening: str, closing: str) -> None:
    levels = opening.count("[") + opening.count("{")
    for prefix in ("", "NaN"):  # the second sends it to the standard decoder
        fits = opening * (MAX_DEPTH // levels)
        text = f"{fits}{prefix or 1}{closing * (MAX_DEPTH // levels)}"
        assert loads_lenient(text.encode())[1] == (("not_finite",) if prefix else ())
        text = f"{opening}{text}{closing}"
        with pytest.raises(Unreadable) as refused:
            loads_lenient(text.encode())
        assert refused.value.reason == "too_deep"


def test_brackets_in_strings_are_no_depth() -> None:
    text = json.dumps(["[" * 1000 + '"' + "{" * 1000, float("nan")])
    assert loads_lenient(text.encode())[1] == ("not_finite",)


BOMBS = {
    "brackets": b"[" * 100_000,
    "objects": b'{"a":' * 100_000,
    "closed": b"[" * 100_000 + b"]" * 100_000,
    "escapes": b'"' + b'\\"' * 500_000,
    "escapes in depth": b"[" * 300 + b'"' + b'\\"' * 500_000,
    "digits": b"9" * 1_000_000,
    "digits of a float": b'{"a":1,"a":0.' + b"9" * 1_000_000 + b"}",
    "shallow": b"[" + b"[]," * 300_000 + b"[}]",
    "twice": b"{" + b",".join([b'"a":1'] * 100_000) + b"}",
    "nul": b"\0" * 1_000_000,
    "high": b"\xff" * 1_000_000,
    "blank": b" " * 1_000_000,
    "quotes": b'"a' * 300_000,
    "glued": b"{}" * 50_000 + b"x",
    "apart": b"1 " * 50_000,
    "edge": b"[" * 254 + b"]" * 254 + b"," * 500_000,
}


@pytest.mark.parametrize("name", BOMBS)
def test_bombs_are_answered_quickly_and_never_break_anything(name: str) -> None:
    data = BOMBS[name]
    start = time.process_time()
    for read in (loads_lenient, loads_strict):
        with contextlib.suppress(Unreadable, StrictError):
            read(data)
    check_spans(data)
    envelope(data)
    assert time.process_time() - start < 5  # some take half a second; what is quadratic takes hours


def test_thousands_of_digits_are_kept_and_flagged() -> None:
    assert loads_lenient(b'{"n":%s}' % (b"7" * 5000)) == ({"n": "7" * 5000}, ("big_integer",))


def test_a_record_over_the_limit_is_not_parsed() -> None:
    data = b'"' + b"x" * MAX_SIZE + b'"'
    with pytest.raises(Unreadable) as refused:
        loads_lenient(data)
    assert refused.value.reason == "too_large"
    assert split_values(data) == [(0, len(data), False, "too_large")]


def check_spans(line: bytes) -> list[tuple[bytes, str | None]]:
    """The spans' bytes, after checking what must hold for every line."""
    spans = split_values(line)
    at = 3 if line.startswith(BOM) else 0
    for number, span in enumerate(spans):
        assert span.end > span.start >= at
        assert not line[at : span.start].strip(b" \t\r\n")
        assert span.ok == (span.reason is None)
        assert span.ok or (span.reason in REASONS and number == len(spans) - 1)
        at = span.end
    assert not line[at:].strip(b" \t\r\n")
    return [(line[span.start : span.end], span.reason) for span in spans]


@pytest.mark.parametrize(
    ("line", "records"),
    [
        (b'{"a":1}{"b":2}', [(b'{"a":1}', None), (b'{"b":2}', None)]),
        (b'{"a":1} [2]\t"x"\r', [(b'{"a":1}', None), (b"[2]", None), (b'"x"', None)]),
        (b'"a""b"', [(b'"a"', None), (b'"b"', None)]),
        (b"42", [(b"42", None)]),
        (b"42 43", [(b"42", None), (b"43", None)]),
        (b"42{}", [(b"42", None), (b"{}", None)]),
        (b"{}42", [(b"{}", None), (b"42", None)]),
        (b"2026-01-01 12:00 started", [(b"2026-01-01 12:00 started", "syntax")]),
        (b"trueish", [(b"trueish", "syntax")]),
        (b"1.", [(b"1.", "syntax")]),
        (b'{"a":1},{"b":2}', [(b'{"a":1}', None), (b',{"b":2}', "syntax")]),
        (b'{"a":1}{"b":', [(b'{"a":1}', None), (b'{"b":', "cut")]),
        (b'{"a":"x{"b":2}', [(b'{"a":"x{"b":2}', "syntax")]),
        (b'oops {"b":2}  ', [(b'oops {"b":2}', "syntax")]),
        (b'{"a":1}{"b":"\xff"}{"c":1}', [(b'{"a":1}', None), (b'{"b":"\xff"}{"c":1}', "utf8")]),
        (b'{"a":"\xc3\xa9"}{"b":2}\xff', [(b'{"a":"\xc3\xa9"}', None), (b'{"b":2}', None), (b"\xff", "utf8")]),
        (b'\xef\xbb\xbf{"a":1}{}', [(b'{"a":1}', None), (b"{}", None)]),
        (b'\0\0\0{"a":1}', [(b'\0\0\0{"a":1}', "nul")]),
        (b"{}" + b"[" * 255 + b"]" * 255 + b"{}", [(b"{}", None), (b"[" * 255 + b"]" * 255 + b"{}", "too_deep")]),
        (b"NaN{}", [(b"NaN", None), (b"{}", None)]),
        (b'{"a":1,"a":2}' * 2, [(b'{"a":1,"a":2}', None)] * 2),
        (b'["\xc2\x85"]["\xc2\xa0"]', [(b'["\xc2\x85"]', None), (b'["\xc2\xa0"]', None)]),
        (b" \t\r", []),
        (b"", []),
    ],
)  # fmt: skip
def test_a_line_is_cut_into_its_values_and_what_cannot_be_read(
    line: bytes, records: list[tuple[bytes, str | None]]
) -> None:
    assert check_spans(line) == records


@given(st.lists(DOCUMENTS.filter(lambda written: written.text[0] in '{["'), min_size=1, max_size=4), BLANK)
def test_values_glued_together_are_found_again(parts: list[Written], blank: str) -> None:
    line = blank.join(part.text for part in parts).encode()
    assert check_spans(line) == [(part.text.encode(), None) for part in parts]


PIECES = st.sampled_from(
    [
        b"{", b"}", b"[", b"]", b'"', b"\\", b":", b",", b"1", b"-", b"e", b"true", b"NaN", b'{"a":1}', b'"x"',
        b" ", b"\t", b"\r", b"\0", b"\xff", b"\xc3\xa9", b"\xef\xbb\xbf", b"\\u003a", b"\\ud800",
    ]
)  # fmt: skip


def refusal_of(read: Callable[[bytes], Any], data: bytes) -> Unreadable | StrictError | None:
    try:
        read(data)
    except (Unreadable, StrictError) as error:
        return error
    return None


@given(st.one_of(st.lists(PIECES, max_size=14).map(b"".join), st.binary(max_size=20)))
def test_any_line_is_covered_and_what_is_called_a_value_can_be_read(line: bytes) -> None:
    for record, reason in check_spans(line):
        if reason is None:
            loads_lenient(record)
    refusal = refusal_of(loads_lenient, line)
    if refusal is None:
        assert len(split_values(line)) == 1
    else:
        assert refusal.reason in REASONS
        assert 0 <= refusal.offset <= len(line)


@given(st.one_of(st.lists(PIECES, max_size=14).map(b"".join), st.binary(max_size=20)))
def test_the_two_manners_never_fail_otherwise(data: bytes) -> None:
    refusal = refusal_of(loads_strict, data)
    if refusal is None:
        assert loads_lenient(data) == (loads_strict(data), ())
    else:
        assert refusal.reason in STRICT_REASONS
    assert isinstance(envelope(data), dict)


def test_utf16_is_recognised_and_text_with_a_few_nuls_is_not() -> None:
    assert looks_utf16("{}".encode("utf-16"))
    assert looks_utf16('{"a": 1}'.encode("utf-16-le"))
    assert looks_utf16('{"a": 1}'.encode("utf-16-be"))
    assert not looks_utf16(b'{"a": "\0\0"}')
    assert not looks_utf16(b"\0\0\0\0\0\0")
    assert not looks_utf16(b"")


def test_the_envelope_of_a_huge_record_is_read_without_it() -> None:
    record = {
        "type": "assistant",
        "message": {"content": [{"text": "[}" * 1000}] * 20, "uuid": "not this one"},
        "big": "x" * 5000,
        "list": [[], {}, "]"],
        "uuid": "u-1",
        "n": 12,
        "none": None,
        "yes": True,
    }
    expected = {"type": "assistant", "uuid": "u-1", "n": 12, "none": None, "yes": True}
    for data in (orjson.dumps(record), json.dumps(record, indent=2).encode(), BOM + orjson.dumps(record)):
        assert envelope(data) == expected
    cut = orjson.dumps(record)
    assert envelope(cut[: cut.index(b'"list"') + 9]) == {"type": "assistant"}
    assert envelope(b'["type", "x"]') == {}
    assert envelope(orjson.dumps({"deep": [[]] * 100, "late": 1}), budget=50) == {}


def test_public_parsing_vectors(shared: Path) -> None:
    files = sorted((shared / "vectors/json-parsing/test_parsing").glob("*.json"))
    assert len(files) > 300
    lenient_takes = {"n_number_NaN", "n_number_infinity", "n_number_minus_infinity"}
    strict_refuses = {"y_object_duplicated_key", "y_object_duplicated_key_and_value"}
    for file in files:
        data = file.read_bytes()
        try:
            value, flags = loads_lenient(data)
            lenient = True
        except Unreadable:
            lenient = False
        try:
            assert loads_strict(data) == value
            strict = True
        except StrictError:
            strict = False
        if file.stem.startswith("y_"):
            assert lenient, file.name
            assert strict == (file.stem not in strict_refuses), file.name
        elif file.stem.startswith("n_"):
            assert not strict, file.name
            assert lenient == (file.stem in lenient_takes), file.name
        assert not strict or lenient
        assert strict or not lenient or flags or data.startswith(BOM), file.name
        check_spans(data)
