"""Addresses: every form is read and printed back; nothing else is."""

import shlex

import pytest
from hypothesis import given
from hypothesis import strategies as st

from affidavit.session.address import (
    FORMS,
    LONGEST,
    AddressError,
    CandidateAddress,
    ConclusionAddress,
    ContextAddress,
    EntryAddress,
    GateAddress,
    MemoryAddress,
    PayloadAddress,
    SessionAddress,
    SnapshotAddress,
    TurnAddress,
    parse,
    shell_command,
)

READ = {
    "session/s1f2e3d4c5b6a": SessionAddress("s1f2e3d4c5b6a"),
    "session/6f0b1c2d-0000": SessionAddress("6f0b1c2d-0000"),
    "session/s1f2#0a9b": SessionAddress("s1f2", "0a9b"),
    "turn/s1f2/7": TurnAddress("s1f2", 7),
    "context/s1f2/7": ContextAddress("s1f2", 7),
    "snapshot/retr-snap-021-0007": SnapshotAddress("retr-snap-021-0007"),
    "snapshot/retr-snap-021-0007/rule#1": SnapshotAddress("retr-snap-021-0007", "rule#1"),
    "gate/g7": GateAddress("g7"),
    "candidate/7f3a@2": CandidateAddress("7f3a", 2),
    "candidate/7f3a": CandidateAddress("7f3a"),
    "memory/m-114": MemoryAddress("m-114"),
    "memory/m-114@3": MemoryAddress("m-114", 3),
    "entry/0": EntryAddress(0),
    "entry/1234": EntryAddress(1234),
    "payload/" + "5d" * 32: PayloadAddress("5d" * 32),
    "payload/5d1c": PayloadAddress("5d1c"),
    "conclusion/c1": ConclusionAddress("c1"),
}


@pytest.mark.parametrize(("text", "address"), READ.items())
def test_each_form_is_read_and_printed_back_as_it_stood(text, address):
    assert parse(text) == address
    assert str(address) == text


def test_the_bracket_form_of_a_citation_names_the_same_thing():
    assert parse("snapshot/retr-1[rule#1]") == parse("snapshot/retr-1/rule#1")


def test_capitals_in_an_event_or_a_digest_name_the_same_thing():
    assert parse("session/s1#0A9B") == SessionAddress("s1", "0a9b")
    assert parse("payload/sha256:5D1C") == PayloadAddress("5d1c")


def test_blanks_around_a_pasted_address_do_not_count():
    assert parse("  session/s1 \n") == SessionAddress("s1")


@pytest.mark.parametrize(
    "text",
    [
        "", "   ", "session", "session/", "session/#ab", "session/s1#", "session/s1#xyz",
        "session/s1#" + "0" * 17, "session/s1/x", "session/s1@2", "session/a b", "turn/s1", "turn/s1/0",
        "turn/s1/07", "turn/s1/+7", "turn/s1/1_0", "turn/s1/٧", "turn//7", "context/s1/", "snapshot/",
        "snapshot/x/", "snapshot/x[]", "snapshot/[rule#1]", "candidate/x@0", "candidate/x@", "memory/@3",
        "entry/-1", "entry/01", "entry/1.0", "entry/99999999999999999", "payload/", "payload/xyz",
        "payload/" + "0" * 65, "gate/a/b", "7", "s1f2e3", "./sessions.jsonl", "session/s1\u202e",
        "session/s1\x1b[2J", "session/a\nb", "x" * (LONGEST + 1),
    ],
)  # fmt: skip
def test_what_is_no_address_is_refused_with_a_hint(text):
    with pytest.raises(AddressError) as caught:
        parse(text)
    assert caught.value.reason
    assert caught.value.hint


def test_a_mistyped_kind_is_told_the_nearest_one():
    with pytest.raises(AddressError) as caught:
        parse("sesion/s1")
    assert "session/ID" in caught.value.hint


@pytest.mark.parametrize("text", ["nonsense", "", "conclusio/c1"])
def test_only_addresses_that_lead_somewhere_are_offered(text):
    with pytest.raises(AddressError) as caught:
        parse(text)
    assert caught.value.hint.startswith("addresses are written session/ID, session/ID#EVENT, turn/SESSION/7, ")
    assert "conclusion/" not in caught.value.hint


def test_a_shell_gets_back_exactly_the_address_that_was_copied():
    address = SnapshotAddress("retr-1", "it's #1; rm -rf $HOME")
    assert shlex.split(shell_command(address)) == ["affidavit", str(address)]
    assert shell_command(SessionAddress("s1", "ab"), "show") == "affidavit show 'session/s1#ab'"


IDS = st.text(st.characters(codec="utf-8", categories=("L", "N", "P", "S"), exclude_characters="/#@[]"), min_size=1)
NUMBERS = st.integers(1, 2**53 - 1)
VERSIONS = st.none() | NUMBERS
DIGITS = st.text("0123456789abcdef", min_size=1, max_size=16)
ADDRESSES = st.one_of(
    st.builds(SessionAddress, IDS, st.none() | DIGITS),
    st.builds(TurnAddress, IDS, NUMBERS),
    st.builds(ContextAddress, IDS, NUMBERS),
    st.builds(SnapshotAddress, IDS, st.none() | st.text("ab#/1é[]", min_size=1)),
    st.builds(GateAddress, IDS),
    st.builds(CandidateAddress, IDS, VERSIONS),
    st.builds(MemoryAddress, IDS, VERSIONS),
    st.builds(EntryAddress, st.integers(0, 2**53 - 1)),
    st.builds(PayloadAddress, DIGITS),
    st.builds(ConclusionAddress, IDS),
)


@given(ADDRESSES)
def test_every_address_survives_printing_and_reading(address):
    assert parse(str(address)) == address


@given(st.text(max_size=60) | st.builds(lambda kind, rest: f"{kind}/{rest}", st.sampled_from(list(FORMS)), st.text()))
def test_any_text_is_an_address_or_is_refused_in_words(text):
    try:
        address = parse(text)
    except AddressError:
        return
    assert parse(str(address)) == address
