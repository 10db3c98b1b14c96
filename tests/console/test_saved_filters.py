"""Filters kept by a name: in the file, in the filter's line, in the palette."""

from __future__ import annotations

from pathlib import Path

import pytest
from console_driver import stage
from console_fakes import FakeServices, World
from hypothesis import given, settings
from hypothesis import strategies as st

from console import saved_filters
from console.saved_filters import PARTS, SavedFilter

WORDS = st.text(max_size=20).filter(lambda text: not any(0xD800 <= ord(sign) <= 0xDFFF for sign in text))


@settings(deadline=None, derandomize=True, max_examples=60)
@given(
    st.text(st.characters(codec="utf-8"), min_size=1, max_size=30).filter(lambda n: not saved_filters.usable_name(n)),
    st.sampled_from(sorted(PARTS)),
    st.data(),
)
def test_whatever_is_saved_is_read_again(
    tmp_path_factory: pytest.TempPathFactory, name: str, view: str, data: st.DataObject
) -> None:
    file = tmp_path_factory.mktemp("filters") / "deep" / "filters.toml"
    kinds = {str: WORDS, bool: st.booleans(), tuple: st.lists(WORDS, max_size=3).map(tuple)}
    parts = {part: data.draw(kinds[kind]) for part, kind in PARTS[view].items()}
    saved = SavedFilter(name, view, parts)
    assert saved_filters.keep(file, saved) == ""
    assert saved_filters.keep(file, SavedFilter("another", "verify", {})) == ""
    found, problems = saved_filters.read(file)
    assert problems == []
    assert {one.name: one for one in found}[name] == saved
    assert saved_filters.forget(file, name) == ""
    assert [one.name for one in saved_filters.read(file)[0]] == [] if name == "another" else ["another"]


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ('# mine\n["a"]\nview = "nowhere"\n', 2, "view must be one of"),
        ('["a"]\nview = "sessions"\nagnt = "x"\n', 1, "did you mean agent?"),
        ('["a"]\nview = "timeline"\nkinds = "error"\n', 1, "kinds must be a list of texts"),
        ('["a"]\nview = "sessions"\nproblems = 1\n', 1, "problems must be true or false"),
        ("a = 1\n", 1, "must be a table"),
        ("[a\n", 1, "not valid TOML"),
    ],
)
def test_a_mistake_is_told_and_the_file_is_left_as_it_is(tmp_path: Path, text: str, line: int, words: str) -> None:
    file = tmp_path / "filters.toml"
    file.write_text(text)
    found, (problem,) = saved_filters.read(file)
    assert found == []
    assert problem.line == line
    assert words in str(problem)
    assert words in saved_filters.keep(file, SavedFilter("new", "verify", {}))
    assert file.read_text() == text


def test_a_folder_that_cannot_be_written_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    assert "not saved" in saved_filters.keep(tmp_path / "file" / "filters.toml", SavedFilter("a", "verify", {}))


async def test_a_filter_is_saved_from_its_line_and_used_again() -> None:
    services = FakeServices(World())
    async with stage(services=services) as it:
        await it.play("""
            press   slash
            type    invoice
            see     33 hidden
            keys    tab saved filters
            press   tab
            see     Filters of Sessions
            press   enter
            keys    enter save
            type    invoices
            press   enter
            status  saved: invoices
            press   j escape
            status  0 hidden
            press   slash tab
            see     invoices
            see     text invoice
            press   enter
            status  filter: invoices
            second  / invoice
            press   j
            status  33 hidden by filter
        """)
    assert services.saved["invoices"] == SavedFilter("invoices", "sessions", {"text": "invoice"})


async def test_a_filter_of_another_view_is_found_in_the_palette() -> None:
    services = FakeServices(World())
    services.saved = {
        "errors": SavedFilter("errors", "search", {"text": "mock", "kinds": ("error",)}),
        "failed": SavedFilter("failed", "timeline", {"problems": True}),
    }
    async with stage(services=services) as it:
        await it.play("""
            press   ctrl+p
            type    failed
            see     open a session first
            press   escape
            press   ctrl+p
            type    errors
            see     Search: text mock
            press   enter
            top     6 Search
            see     kind ▾ error
        """)
    async with stage(services=services) as it:
        await it.play("""
            press   enter ctrl+p
            type    saved failed
            press   enter
            status  filter: failed
            press   j
            row     ✗
        """)


async def test_a_saved_filter_can_be_forgotten() -> None:
    services = FakeServices(World())
    services.saved = {"old": SavedFilter("old", "sessions", {"since": "7 days", "agent": "claude-code"})}
    async with stage(services=services) as it:
        await it.play("""
            press   slash tab
            see     since 7 days
            press   down down
            press   enter
            status  forgotten: old
        """)
    assert services.saved == {}
