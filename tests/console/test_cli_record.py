"""What a program writes to ``record``: lines that conform pass untouched, others are named and leave no trace."""

import json

from hypothesis import given
from hypothesis import strategies as st

from console.commands import record
from console.commands.record import Checked

GOOD = b'{"type": "session.event", "session": "a", "kind": "note", "text": "\xc3\xa9"}'
BAD = {
    b"not json": "",
    b'{"type": "session.event", "session": "a", "kind": "nothing"}': "kind",
    b'{"type": "session.event", "session": "a", "kind": "note", "kind": "note"}': "",
    b'{"type": "other"}': "type",
    b"[1]": "object",
    b"\xff": "",
}


class Blocks:
    """A stream that hands out its bytes in blocks of its own choosing."""

    def __init__(self, *blocks: bytes) -> None:
        self.blocks = list(blocks)

    def read(self, limit: int) -> bytes:  # noqa: ARG002
        return self.blocks.pop(0) if self.blocks else b""


def through(*blocks: bytes) -> tuple[bytes, Checked]:
    stream = Checked(Blocks(*blocks))  # type: ignore[arg-type]
    passed = b""
    while more := stream.read(1 << 20):
        passed += more
    return passed, stream


def test_conforming_lines_pass_byte_for_byte_with_their_blank_lines():
    data = GOOD + b"\n\n  \r\n" + GOOD + b"\r\n" + GOOD
    passed, stream = through(data)
    assert passed == data
    assert stream.refused == []


def test_a_refused_line_is_named_by_line_and_byte_and_only_its_line_feed_stays():
    for line, word in BAD.items():
        passed, stream = through(GOOD + b"\n" + line + b"\n" + GOOD + b"\n")
        assert passed == GOOD + b"\n\n" + GOOD + b"\n"
        (refusal,) = stream.refused
        assert refusal.line == 2
        assert len(GOOD) + 1 <= refusal.offset <= len(GOOD) + 1 + len(line)
        assert word in refusal.reason
        assert refusal.reason


def test_a_last_line_that_was_cut_short_is_refused():
    passed, stream = through(GOOD + b"\n" + GOOD[:20])
    assert passed == GOOD + b"\n"
    assert [refusal.line for refusal in stream.refused] == [2]


@given(st.lists(st.sampled_from([GOOD, b"", *BAD]), max_size=8), st.lists(st.integers(1, 200), max_size=6))
def test_it_does_not_matter_how_the_bytes_arrive(lines, sizes):
    data = b"\n".join(lines)
    blocks, at = [], 0
    for size in sizes:
        blocks.append(data[at : at + size])
        at += size
    blocks.append(data[at:])
    whole, apart = through(data), through(*[block for block in blocks if block])
    assert apart[0] == whole[0]
    assert apart[1].refused == whole[1].refused
    assert whole[0].count(b"\n") == data.count(b"\n")


def test_a_line_without_end_is_refused_without_being_held(monkeypatch):
    monkeypatch.setattr(record, "LONGEST_LINE", 1_000)
    passed, stream = through(GOOD + b"\n", *[b"x" * 400] * 10, b"\n" + GOOD + b"\n")
    assert passed == GOOD + b"\n\n" + GOOD + b"\n"
    (refusal,) = stream.refused
    assert (refusal.line, refusal.offset) == (2, len(GOOD) + 1)
    assert json.dumps(refusal.reason)
    assert "1 000" in refusal.reason
