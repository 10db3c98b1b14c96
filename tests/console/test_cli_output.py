"""What commands print: JSON that is exact and harmless, tables that fit, words that cannot act on a terminal."""

import io
import json
import sys
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from console.output import Column, Output, json_bytes, laid_out


class Stream(io.TextIOWrapper):
    """A text stream over bytes that can be looked at, and that may claim to be a terminal."""

    def __init__(self, *, terminal: bool = False, encoding: str = "utf-8") -> None:
        self.bytes = io.BytesIO()
        self.terminal = terminal
        super().__init__(self.bytes, encoding=encoding, newline="\n")

    def isatty(self) -> bool:
        return self.terminal

    def written(self) -> str:
        self.flush()
        return self.bytes.getvalue().decode(self.encoding)


def output(**how: bool) -> tuple[Output, Stream, Stream]:
    terminal = how.pop("terminal", False)
    out, err = Stream(terminal=terminal), Stream(terminal=terminal)
    return Output(out=out, err=err, **how), out, err


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.text(st.characters(exclude_categories=["Cs"])),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text("ab\u009b", max_size=3), inner, max_size=3),
    max_leaves=6,
)


@given(JSON)
def test_json_means_exactly_what_it_was_given(value):
    assert json.loads(json_bytes(value)) == value
    assert json.loads(json_bytes(value, indent=True)) == value


def test_json_shows_a_terminal_no_control_and_hides_nothing_from_a_reader():
    acting = "".join(
        chr(code) for code in range(0x110000) if unicodedata.category(chr(code)) in ("Cc", "Cf", "Zl", "Zp", "Co")
    )
    data = json_bytes(acting)
    assert data.isascii()
    assert b"\x1b" not in data
    assert json.loads(data) == acting


def test_ordinary_scripts_stand_in_json_as_they_are():
    assert json_bytes("é 役割 🙂").decode() == '"é 役割 🙂"'


def test_half_a_surrogate_pair_is_a_visible_mark_since_json_cannot_hold_it():
    assert json.loads(json_bytes({"file": "a\udcffb"})) == {"file": "a⟨U+DCFF⟩b"}


def test_a_long_listing_is_one_document_written_piece_by_piece():
    out, stream, _ = output(json=True)
    sizes = []
    with out.listing("events", before={"session": {"id": "s1"}}) as (write, after):
        for number in range(5_000):
            write({"number": number, "text": "x" * 50})
            sizes.append(stream.bytes.tell())
        after["total"] = {"value": 5_000}
    document = json.loads(stream.written())
    assert list(document) == ["session", "events", "total"]
    assert [event["number"] for event in document["events"]] == list(range(5_000))
    assert 0 < sizes[2_500] < sizes[-1]


def test_an_empty_listing_is_a_document_too():
    out, stream, _ = output(json=True)
    with out.listing("hits"):
        pass
    assert json.loads(stream.written()) == {"hits": []}


def test_words_cannot_act_on_a_terminal():
    out, stream, err = output(terminal=True)
    out.say("a\x1b[2Jb")
    out.tell("c\x1b]0;title\x07d")
    out.table([Column("one"), Column("two")], [["x\x1b[0m", "two\nlines"]])
    assert "\x1b" not in stream.written() + err.written()
    assert stream.written().count("\n") == 3


def test_raw_bytes_reach_a_pipe_untouched_and_a_terminal_never():
    record = b'{"a":"\x1b[2J\xff"}\n'
    out, stream, _ = output()
    out.raw(record)
    assert stream.bytes.getvalue() == record
    out, stream, err = output(terminal=True)
    out.raw(record)
    assert b"\x1b" not in stream.bytes.getvalue()
    assert "bytes" in err.written()


def test_a_stream_of_a_small_character_set_gets_escapes_instead_of_an_error():
    stream = Stream(encoding="ascii")
    Output(out=stream, err=stream).say("✓ 役割")
    assert stream.written() == "\\u2713 \\u5f79\\u5272\n"


def test_a_table_is_whole_where_nobody_looks_and_cut_visibly_where_it_must_fit():
    columns = [Column("title", shrinks=True, least=8), Column("events", right=True)]
    rows = [["a title far longer than the terminal is wide", "7"], ["役割役割役割役割役割役割", "1200"]]
    assert "terminal is wide" in "\n".join(laid_out(columns, rows))
    lines = list(laid_out(columns, rows, width=24))
    widths = [sum(2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in line) for line in lines]
    assert max(widths) <= 24
    assert lines[1].endswith("7")
    assert "…" in lines[1]
    assert lines[2].endswith("1200")


def test_columns_without_room_are_left_out_and_named(monkeypatch):
    monkeypatch.setenv("COLUMNS", "24")
    out, stream, err = output(terminal=True)
    columns = [Column("id"), Column("agent", spare=2), Column("title", shrinks=True, least=10), Column("n", spare=1)]
    out.table(columns, [["s1234567", "an agent", "a title of some length", "7"]])
    assert stream.written().split("\n")[0].split() == ["id", "title", "n"]
    assert "left out for want of room: agent\n" in err.written()
    out, stream, err = output()
    out.table(columns, [["s1234567", "an agent", "a title of some length", "7"]])
    assert stream.written().split("\n")[0].split() == ["id", "agent", "title", "n"]
    assert err.written() == ""


@given(st.lists(st.text("ab 役🙂…", max_size=30), min_size=2, max_size=2), st.integers(20, 60))
def test_no_line_of_a_table_is_ever_wider_than_the_terminal(cells, width):
    from rich.cells import cell_len

    columns = [Column("a", shrinks=True, least=4), Column("b", shrinks=True, least=4)]
    assert all(cell_len(line) <= width for line in laid_out(columns, [cells], width=width))


def test_progress_rewrites_one_line_and_only_on_a_terminal(monkeypatch):
    monkeypatch.setenv("COLUMNS", "30")
    out, _, err = output(terminal=True)
    assert out.shows_progress
    out.progress("reading " + "x" * 100)
    out.progress("")
    first, last = err.written().split("\r")[1:]
    assert len(first.removesuffix("\x1b[K")) <= 29
    assert last == "\x1b[K"
    monkeypatch.setenv("TERM", "dumb")
    assert not out.shows_progress
    assert not output()[0].shows_progress


@pytest.mark.skipif(sys.platform == "win32", reason="needs a POSIX pipe")
def test_a_reader_that_has_gone_is_noticed_as_such():
    import os

    reading, writing = os.pipe()
    os.close(reading)
    with os.fdopen(writing, "w") as stream:
        out = Output(out=stream, err=stream)
        with pytest.raises(BrokenPipeError):
            out.document({"a": 1})
        with pytest.raises(BrokenPipeError):
            stream.close()
