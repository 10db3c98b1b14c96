"""Full text: typed words taken literally, newest first, every hit once, shown from the recorded bytes."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from invented_store import Invented, number

from affidavit.text.search import index_text
from storage.archive import Archive
from storage.queries.models import Hit, Page

KINDS = ("note", "user.message", "error")


def fill(store: Invented, texts: Sequence[str], *, each: int = 10) -> list[int]:
    """Events with these texts, ``each`` to a segment; kinds and sessions 1 to 3 in turn. Their numbers."""
    if not store.connection.execute("SELECT 1 FROM source").fetchone():
        store.source()
    keys = []
    for entry, first in enumerate(range(0, len(texts), each), 1):
        lines = [
            json.dumps({"type": "session.event", "session": "n1", "kind": "note", "text": text}).encode() + b"\n"
            for text in texts[first : first + each]
        ]
        store.segment(entry, lines, start=first)
        keys += [number(entry, place) for place in range(len(lines))]
    store.events(
        *(
            {"n": key, "kind": KINDS[place % 3], "session": place % 7 % 3 + 1, "summary": "not the text"}
            for place, key in enumerate(keys)
        )
    )
    store.insert(
        "ix_text", [{"rowid": -key, "text": index_text(text)[0]} for key, text in zip(keys, texts, strict=True)][::-1]
    )
    return keys


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Invented]:
    invented = Invented(tmp_path)
    yield invented
    invented.close()


def keys_of(page: Page[Hit]) -> list[int]:
    return [hit.key for hit in page.rows]


TYPED = {
    "don't": "we don't know",
    "POL-358": "see POL-358 for why",
    "src/x.py": "in src/x.py line 3",
    '"quoted': 'he said "quoted" words',
    "AND": "one AND two",
    "NOT": "do NOT push",
    "NEAR(a": "it is NEAR(a b)",
    "text:": "the text: is here",
    "foo*": "a foo* glob",
    "^caret": "a ^caret there",
    "{x}": "value of {x}",
    "(a OR": "perhaps (a OR b)",
    "-minus": "with -minus sign",
    "a+b": "the sum a+b here",
    "役割": "期待される役割を確認する",
    "été": "un ÉTÉ chaud",
}


def test_what_is_typed_is_looked_for_as_it_stands(store: Invented) -> None:
    keys = dict(zip(TYPED, fill(store, list(TYPED.values())), strict=True))
    with Archive.open(store.path) as archive:
        for typed, key in keys.items():
            assert key in keys_of(archive.search(typed)), typed
            assert archive.count_hits(typed).value == len(archive.search(typed).rows)
        assert keys_of(archive.search("x.py src")) == [keys["src/x.py"]]
        assert keys_of(archive.search("py/x")) == []
        assert keys_of(archive.search("one two")) == [keys["AND"]]


@pytest.mark.parametrize("nothing", ["", "   ", '"', "*", "()", "-", "\0", "\ud800", "\n\t", "…"])
def test_what_holds_no_word_finds_nothing_and_is_no_error(store: Invented, nothing: str) -> None:
    fill(store, ["some text", nothing.replace("\ud800", "")])
    with Archive.open(store.path) as archive:
        page = archive.search(nothing)
        total = archive.count_hits(nothing)
    assert (page.rows, page.before, page.after) == ((), None, None)
    assert (total.value, total.exact) == (0, True)


@pytest.fixture(scope="module")
def many(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Archive, dict[int, tuple[set[str], str, int]]]]:
    """An archive of 200 events of a few words each, and of each event its words, kind and session."""
    store = Invented(tmp_path_factory.mktemp("search"))
    chance = random.Random(5)
    words = ["alpha", "beta", "gamma", "delta", "parser"]
    texts = [" ".join(chance.sample(words, chance.randint(1, 4))) for _ in range(200)]
    keys = fill(store, texts, each=17)
    about = {
        key: (set(text.split()), KINDS[place % 3], place % 7 % 3 + 1)
        for place, (key, text) in enumerate(zip(keys, texts, strict=True))
    }
    store.sessions(*({"no": no, "events": 50_000 if no == 3 else 70} for no in (1, 2, 3)))
    with Archive.open(store.path) as archive:
        yield archive, about
    store.close()


@given(
    typed=st.lists(st.sampled_from(["alpha", "beta", "gamma", "parser", "nothing"]), min_size=1, max_size=3),
    kinds=st.none() | st.frozensets(st.sampled_from(KINDS)),
    session=st.none() | st.integers(1, 4),
    limit=st.integers(1, 60),
)
def test_pages_of_hits_give_every_hit_once_newest_first(
    many: tuple[Archive, dict[int, tuple[set[str], str, int]]],
    typed: list[str],
    kinds: frozenset[str] | None,
    session: int | None,
    limit: int,
) -> None:
    archive, about = many
    expected = [
        key
        for key, (words, kind, of) in about.items()
        if words >= set(typed) and (kinds is None or kind in kinds) and session in (None, of)
    ][::-1]
    found: list[int] = []
    cursor: tuple[object, ...] | None = None
    while True:
        page = archive.search(" ".join(typed), kinds=kinds, session=session, cursor=cursor, limit=limit)
        found += keys_of(page)
        cursor = page.after
        if cursor is None:
            break
        assert len(page.rows) == limit
    assert found == expected
    assert archive.count_hits(" ".join(typed), kinds=kinds, session=session).value == len(expected)


@given(typed=st.text(max_size=40) | st.text(alphabet='"*^:(){}+-ANDORT \\\0役é', max_size=12))
@example('"')
@example("a" * 100_000)
@example("a " * 50_000)
def test_nothing_that_can_be_typed_is_an_error(
    many: tuple[Archive, dict[int, tuple[set[str], str, int]]], typed: str
) -> None:
    archive, about = many
    for hit in archive.search(typed, session=1).rows:
        assert hit.key in about
    assert archive.count_hits(typed).exact


def test_totals_are_exact_up_to_the_cap_and_say_so(many: tuple[Archive, Any]) -> None:
    archive, about = many
    number_of = sum("alpha" in words for words, _, _ in about.values())
    for cap, expected in ((number_of - 1, (number_of - 1, False)), (number_of, (number_of, True)), (1, (1, False))):
        total = archive.count_hits("alpha", cap=cap)
        assert (total.value, total.exact) == expected


def test_an_excerpt_is_cut_from_the_recorded_text_around_the_match(store: Invented) -> None:
    text = "start " + "filler\n" * 400 + "the Parser failed here " + "more " * 400
    (key,) = fill(store, [text])
    store.sessions({"no": 1, "title": "A title"})
    with Archive.open(store.path) as archive:
        (hit,) = archive.search("parser").rows
    assert hit.key == key
    assert "the Parser failed" in hit.excerpt
    assert [hit.excerpt[start:end] for start, end in hit.spans] == ["Parser"]
    assert len(hit.excerpt) <= 200
    assert (hit.session_title, hit.session_uid, hit.kind) == ("A title", hit.session_uid, "note")
    assert hit.session_uid.startswith("s")


def test_a_hit_whose_bytes_are_damaged_or_erased_stands_without_an_excerpt(store: Invented) -> None:
    store.source()
    keys = [number(1, 0), number(2, 0)]
    store.segment(1, [b"{}"], data=b"garbage")
    store.segment(2, [b"\0" * 9], salts=bytes(32))
    commit = store.connection.execute("SELECT commits FROM segment WHERE entry = 2").fetchone()[0]
    store.insert("withheld", [{"commit": commit, "entry": 5}])
    store.events(*({"n": key} for key in keys))
    store.insert("ix_text", [{"rowid": -key, "text": "secret word"} for key in (*keys, number(3, 0))])
    with Archive.open(store.path) as archive:
        hits = archive.search("secret").rows
    assert [(hit.key, hit.excerpt, hit.spans) for hit in hits] == [(keys[1], "", ()), (keys[0], "", ())]


def test_a_last_word_of_three_letters_is_a_beginning_and_a_shorter_one_is_whole(store: Invented) -> None:
    whole, longer, cjk = fill(store, ["x.py uses pa", "pars parser par", "役割"])
    with Archive.open(store.path) as archive:
        assert keys_of(archive.search("pa")) == [whole]
        assert keys_of(archive.search("par")) == [longer]
        assert keys_of(archive.search("parse")) == [longer]
        assert keys_of(archive.search("parse ")) == []
        assert keys_of(archive.search("x.p")) == []
        assert keys_of(archive.search("役")) == [cjk]
        assert [hit.spans for hit in archive.search("pa").rows] == [((10, 12),)]


@pytest.mark.parametrize("narrowed", [{}, {"kinds": frozenset(KINDS)}, {"session": 1}, {"session": 3}])
def test_a_page_of_hits_is_never_sorted(many: tuple[Archive, Any], narrowed: dict[str, Any]) -> None:
    archive, _ = many
    asked: list[tuple[str, Any]] = []
    plain = archive._link.rows

    def noted(sql: str, values: Any = ()) -> list[Any]:
        asked.append((sql, values))
        return plain(sql, values)

    archive._link.rows = noted  # type: ignore[method-assign]
    try:
        archive.search("alpha", cursor=(-number(9, 0),), **narrowed)
    finally:
        del archive._link.rows
    steps = [step[3] for sql, values in asked for step in plain("EXPLAIN QUERY PLAN " + sql, values)]
    assert steps[0].startswith("SCAN x VIRTUAL TABLE INDEX")
    assert not any("TEMP B-TREE" in step or step.startswith("SCAN e") for step in steps)
