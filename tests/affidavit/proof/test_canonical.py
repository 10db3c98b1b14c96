"""Canonical bytes: the fast path writes what the reference encoder writes, and entries hold no floats."""

from __future__ import annotations

import enum
import json
from pathlib import Path
from typing import Any

import pytest
import rfc8785
from hypothesis import given
from hypothesis import strategies as st

from affidavit.proof.canonical import MAX_ENTRY_SIZE, CanonicalError, canonical, canonical_entry

INTEGERS = st.integers(-(2**53) + 1, 2**53 - 1)
TEXT = st.text(st.characters(exclude_categories=["Cs"]))
ENTRY_LEAVES = st.booleans() | INTEGERS | TEXT
LEAVES = ENTRY_LEAVES | st.none() | st.floats(allow_nan=False, allow_infinity=False)


def nested(leaves: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    keys = TEXT | st.text(st.characters(max_codepoint=127))
    return st.recursive(leaves, lambda inner: st.lists(inner) | st.dictionaries(keys, inner), max_leaves=20)


@given(nested(LEAVES))
def test_canonical_bytes_are_those_of_the_reference_encoder(value: Any) -> None:
    assert canonical(value) == rfc8785.dumps(value)


@given(nested(LEAVES))
def test_canonical_bytes_read_back_give_themselves(value: Any) -> None:
    data = canonical(value)
    # To RFC 8785 all numbers are floats, and one of 2^53 is written like an integer that it would refuse.
    assert canonical(json.loads(data, parse_int=float)) == data


@given(st.dictionaries(TEXT, nested(ENTRY_LEAVES)))
def test_an_entry_is_the_canonical_bytes_of_its_object(value: Any) -> None:
    data = rfc8785.dumps(value)
    if len(data) <= MAX_ENTRY_SIZE:
        assert canonical_entry(value) == data
    else:
        with pytest.raises(CanonicalError):
            canonical_entry(value)


def test_keys_are_sorted_by_utf16_units() -> None:
    # U+10000 is the pair D800 DC00 in UTF-16, before U+FF5E; by code point or UTF-8 it comes after.
    assert canonical({"\uff5e": 1, "\U00010000": 2, "a": 3}) == '{"a":3,"\U00010000":2,"\uff5e":1}'.encode()


class Colour(enum.StrEnum):
    RED = "red"


@pytest.mark.parametrize(
    "value",
    [
        2**53,
        -(2**53),
        pytest.param(10**5000, id="5001 digits"),
        float("nan"),
        float("-inf"),
        "\ud800",
        {"\udc00": 1},
        {1: 1},
        {None: 1},
        {"a": b"bytes"},
        {"a": {1, 2}},
        object(),
    ],
)
def test_what_has_no_canonical_form_is_refused(value: Any) -> None:
    for nested_value in (value, [value], {"k": value}):
        with pytest.raises(CanonicalError) as refused:
            canonical(nested_value)
        assert len(str(refused.value)) < 250


def test_nesting_beyond_the_stack_is_refused() -> None:
    value: Any = 1
    for _ in range(100_000):
        value = [value]
    with pytest.raises(CanonicalError):
        canonical(value)


def test_a_text_of_another_class_is_written_as_its_text() -> None:
    assert canonical({"c": Colour.RED}) == b'{"c":"red"}'


@pytest.mark.parametrize("value", [1.0, None, [1], "x", {"a": 1.5}, {"a": [{"b": None}]}, {"a": [0.0]}])
def test_an_entry_is_an_object_without_floats_and_nulls(value: Any) -> None:
    with pytest.raises(CanonicalError):
        canonical_entry(value)


def test_an_entry_has_at_most_32_kib() -> None:
    frame = len(canonical_entry({"a": ""}))
    assert len(canonical_entry({"a": "x" * (MAX_ENTRY_SIZE - frame)})) == MAX_ENTRY_SIZE
    with pytest.raises(CanonicalError, match="32768"):
        canonical_entry({"a": "x" * (MAX_ENTRY_SIZE - frame + 1)})


def test_public_vectors(shared: Path) -> None:
    folder = shared / "vectors/jcs/testdata"
    files = sorted((folder / "input").glob("*.json"))
    assert files
    for file in files:
        data = canonical(json.loads(file.read_text("utf-8")))
        assert data == (folder / "output" / file.name).read_bytes()
        assert data == bytes.fromhex((folder / "outhex" / f"{file.stem}.txt").read_text("ascii"))
