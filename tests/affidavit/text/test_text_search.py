"""Search: what a person types is taken literally, is found where it stands, and never breaks the index."""

from __future__ import annotations

import time
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from affidavit.text.search import MAX_INDEXED, excerpt, find_spans, index_text, match_query
from storage.driver import sqlite3


class Index:
    """An index as the store has it."""

    def __init__(self) -> None:
        self._db = sqlite3.connect(":memory:")
        self._db.execute("CREATE VIRTUAL TABLE words USING fts5(text, content='', tokenize='unicode61')")
        self._texts: list[str] = []

    def add(self, *texts: str) -> Index:
        for text in texts:
            self._texts.append(text)
            row = len(self._texts), index_text(text)[0]
            self._db.execute("INSERT INTO words(rowid, text) VALUES (?, ?)", row)
        return self

    def find(self, query: str) -> list[str]:
        expression = match_query(query)
        if expression is None:
            return []
        rows = self._db.execute("SELECT rowid FROM words WHERE words MATCH ? ORDER BY rowid", (expression,))
        return [self._texts[row - 1] for (row,) in rows]

    def close(self) -> None:
        self._db.close()


@pytest.fixture
def index() -> Iterator[Index]:
    made = Index()
    yield made
    made.close()


@pytest.mark.parametrize(
    ("query", "text", "other"),
    [
        ("don't ", "I don't know", "dont know, t"),
        ("POL-358", "see POL-358.", "POL 1, 358 done"),
        ("src/x.py", "edit src/x.py now", "x.py in src"),
        ("AND", "this and that", "this or that"),
        ("NOT x", "not x", "x alone"),
        ("NEAR(a b)", "near a, then b", "a b"),
        ("text:word", "text: word", "word"),
        ("-x", "x", "y"),
        ('say "hi there"', 'they say "hi there"', "say hi, there was none"),
        ("fail", "it failed", "it works"),
        ("it fai", "it failed", "if it is"),
        ("snake_ca", "a snake_case_name", "snake, case"),
        ("CAFE", "un café", "un thé"),
        ("役割", "期待した役割を確認する", "役に立つ割合"),
        ("役割を確認", "期待した役割を確認する", "役割は確認を"),
        ("る", "確認する", "確認"),
        ("認 ", "確認する", "確信"),
        ("割", "役割", "役目"),
        ("役割 確認", "確認した役割", "確認した"),
        ("test役割abc", "a test役割abc b", "test 役目 abc"),
        ("役 x", "x 役割", "x 目"),
        ("역할", "역할을 확인", "확인"),
        ("カ\u3099", "ガス", "カス"),
        ("１２", "１２月", "月"),
    ],
)
def test_a_query_finds_what_it_says_and_not_the_other(index: Index, query: str, text: str, other: str) -> None:
    found = index.add(text, other).find(query)
    assert text in found
    if query not in ('say "hi there"', "snake_ca", "POL-358", "NEAR(a b)", "-x"):
        assert other not in found


def test_words_inside_one_word_must_follow_each_other(index: Index) -> None:
    index.add("POL-358", "358 POL", "POL x 358")
    assert index.find("POL-358") == ["POL-358"]
    assert index.find("POL 358") == ["POL-358", "358 POL", "POL x 358"]


def test_a_space_at_the_end_makes_the_last_word_whole(index: Index) -> None:
    index.add("role", "roles")
    assert index.find("role") == ["role", "roles"]
    assert index.find("role ") == ["role"]


@pytest.mark.parametrize(
    "query", ["", " ", '"', "*", "()", "--", "\0", "\ud800", "👍", "⟨⟩", "\n\t", "'", "…", "\u0301"]
)
def test_a_query_without_words_searches_nothing(query: str) -> None:
    assert match_query(query) is None
    assert find_spans("any text " + query, query) == []


WORDS = ["a", "é", "役割", "한", "ｶ", "x.py", "don't", "AND", "OR", "NOT", "NEAR", "\ud800", "\u0301", "\u0345", "ก็"]
SIGNS = ["𐓘", "９", "ﬁ", "İ", "\ue000", "٣", "²", "\0", *" \"'*():^-+_{},"]
SPICE = st.sampled_from([*WORDS, *SIGNS])
TYPED = st.lists(SPICE | st.characters(), max_size=8).map("".join)


@given(TYPED)
def test_no_query_breaks_the_index(query: str) -> None:
    index = Index()
    index.add("a text 役割を").find(query)
    index.close()


@given(TYPED, TYPED, TYPED)
def test_a_text_is_found_by_its_own_words(before: str, word: str, after: str) -> None:
    if match_query(word) is None:
        return
    text = f"{before} {word} {after}"
    index = Index()
    assert index.add(text).find(word) == [text]
    index.close()


@given(TYPED, TYPED)
def test_spans_are_in_order_apart_and_inside(text: str, query: str) -> None:
    at = 0
    for start, end in find_spans(text, query):
        assert at <= start < end <= len(text)
        at = end


@pytest.mark.parametrize(
    ("text", "query", "marked"),
    [
        ("Hello café CAFÉ cafe\u0301s", "cafe ", ["café", "CAFÉ"]),
        ("Hello café CAFÉ cafe\u0301s", "cafe", ["café", "CAFÉ", "cafe\u0301"]),
        ("don't dont don t", "don't ", ["don't", "don t"]),
        ("役割を確認する", "役割 確認", ["役割", "確認"]),
        ("see src/x.py and src x", "src/x.p", ["src/x.p"]),
        ("a.b ab", "b a ", ["a", "b"]),
        ("snake_case", "case", ["case"]),
        ("test役割abc", "役割", ["役割"]),
        ("İstanbul istanbul", "istanbul", ["İstanbul", "istanbul"]),
        ("AND and", "and", ["AND", "and"]),
        ("[x] (x) x*", "x", ["x", "x", "x"]),
        ("nothing", "else", []),
    ],
)
def test_matches_are_marked_as_the_index_compares(text: str, query: str, marked: list[str]) -> None:
    assert [text[start:end] for start, end in find_spans(text, query)] == marked


def test_spans_stop_at_their_limit() -> None:
    assert len(find_spans("x " * 5000, "x", limit=7)) == 7


def test_an_excerpt_shows_the_first_match_in_its_surroundings() -> None:
    text = "word " * 50 + "a needle\n\there " + "tail " * 50
    part, spans = excerpt(text, "needle", 40)
    assert part == "…word word a needle here tail tail tail…"
    assert [part[start:end] for start, end in spans] == ["needle"]


@pytest.mark.parametrize(
    ("text", "query", "part"),
    [
        ("", "x", ""),
        ("short text", "text", "short text"),
        ("two\nlines", "lines", "two lines"),
        ("no match in this long text at all", "zebra", "no match in this lo…"),
        ("a" * 100, "aaa", "a" * 19 + "…"),
    ],
)
def test_an_excerpt_tells_what_it_cut(text: str, query: str, part: str) -> None:
    assert excerpt(text, query, 20)[0] == part


@given(TYPED, TYPED, st.integers(1, 60))
def test_an_excerpt_is_short_and_its_spans_are_in_it(text: str, query: str, width: int) -> None:
    part, spans = excerpt(text * 20, query, width)
    assert len(part) <= width + 2
    assert "\n" not in part
    assert spans == find_spans(part, query)


def test_ascii_goes_in_as_it_is() -> None:
    text = "plain text, x_y don't"
    assert index_text(text) == (text, False)
    assert index_text("a\0b") == ("a b", False)
    assert index_text("\ud800é") == (" é", False)


def test_runs_without_spaces_go_in_as_pairs() -> None:
    assert index_text("役割を")[0].split() == ["役割", "割を", "を"]
    assert index_text("x役y")[0].split() == ["x", "役", "y"]


def test_a_long_text_is_cut_and_said_to_be() -> None:
    assert index_text("x" * MAX_INDEXED) == ("x" * MAX_INDEXED, False)
    assert index_text("x" * (MAX_INDEXED + 1)) == ("x" * MAX_INDEXED, True)
    assert index_text("役" * 10, cap=3)[0].split() == ["役役", "役役", "役"]
    assert index_text("役" * 10, cap=3)[1]


@pytest.mark.parametrize("piece", ["a", "役", "a ", '"', "\u0301", "a\u0301", "é", "\ud800", "役a", "don't "])
def test_cost_is_linear(piece: str) -> None:
    text = piece * 100_000
    start = time.process_time()
    index_text(text)
    match_query(text)
    find_spans(text, "foo bar")
    find_spans(text, text)
    excerpt(text, text, 80)
    assert time.process_time() - start < 4  # a few tenths of a second; what is quadratic takes minutes
