"""The window of rows a list holds: whatever is read in and let go, it is one run without gaps around the screen."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from console.widgets.ink import Line
from console.widgets.source import Anchor, Cursor
from console.widgets.window import Stretch, Window
from storage.queries.models import Page


class Numbers:
    """The numbers below a length, as a list's source."""

    two_way = True

    def __init__(self, length: int) -> None:
        self.length = length

    def load(self, _archive: Any, cursor: Cursor | None, direction: Any, inclusive: bool, limit: int) -> Page[int]:
        at = None if cursor is None else int(str(cursor[0]))
        if direction == "after":
            start = 0 if at is None else at + (0 if inclusive else 1)
            end = min(start + limit, self.length)
        else:
            end = self.length if at is None else at + (1 if inclusive else 0)
            start = max(end - limit, 0)
        rows = tuple(range(start, end))
        return Page(rows, (start,) if start else None, (end - 1,) if end < self.length else None)

    def key(self, item: int) -> Hashable:
        return item

    def cursor(self, item: int) -> Cursor:
        return (item,)

    def line(self, item: int, room: int) -> Line:  # noqa: ARG002
        return ()


class Small(Window[int]):
    PAGE, KEEP, NEAR = 8, 40, 6

    @property
    def height(self) -> int:
        return 10


def first(source: Numbers, at: int | None = None) -> Small:
    window = Small()
    window.source = source
    if at is None:
        page = source.load(None, None, "after", False, window.PAGE)
        window.fill(Stretch(page.rows, page.before, page.after), None, end=False)
    else:
        below = source.load(None, (at,), "after", True, window.PAGE)
        above = source.load(None, (at,), "before", False, window.PAGE // 2)
        anchor = Anchor((at,), at)
        window.fill(Stretch((*above.rows, *below.rows), above.before, below.after), anchor, end=False)
    return window


def read_on(window: Small, source: Numbers) -> None:
    while (direction := window.wants()) is not None:
        cursor = window.after if direction == "after" else window.before
        page = source.load(None, cursor, direction, False, window.PAGE)
        (window.append if direction == "after" else window.prepend)(page)


@settings(deadline=None, derandomize=True, max_examples=150)
@given(st.integers(1, 400), st.data())
def test_going_anywhere_keeps_one_run_with_the_cursor_on_its_number(length: int, data: st.DataObject) -> None:
    source = Numbers(length)
    window = first(source)
    at = 0
    for step in data.draw(st.lists(st.integers(-30, 30), max_size=60)):
        read_on(window, source)
        window.cursor = min(max(window.cursor + step, 0), len(window.rows) - 1)
        at = window.rows[window.cursor]
        window.settle()
        read_on(window, source)
        assert window.rows[window.cursor] == at
        assert window.rows == list(range(window.rows[0], window.rows[-1] + 1))
        assert (window.before is None) == (window.rows[0] == 0)
        assert (window.after is None) == (window.rows[-1] == length - 1)
        assert window.ordinal in (None, at + 1)
        assert 0 <= window.cursor - window.top < window.height
        assert len(window.rows) <= window.KEEP + 4 * window.PAGE


@pytest.mark.parametrize("at", [0, 3, 57, 199])
def test_a_place_in_the_middle_is_come_to_with_rows_on_both_sides(at: int) -> None:
    window = first(Numbers(200), at)
    assert window.rows[window.cursor] == at
    assert (window.first is None) == (window.before is not None)


def renewed(window: Small, source: Numbers) -> None:
    at = window.rows[window.cursor]
    below = source.load(None, (at,), "after", True, window.PAGE)
    above = source.load(None, (at,), "before", False, window.PAGE // 2)
    window.refill(Stretch((*above.rows, *below.rows), above.before, below.after), len(above.rows))


@settings(deadline=None, derandomize=True, max_examples=150)
@given(st.integers(11, 200), st.integers(0, 40), st.data())
def test_a_list_that_grew_is_read_again_with_everything_in_its_place(
    length: int, more: int, data: st.DataObject
) -> None:
    source = Numbers(length)
    window = first(source, data.draw(st.integers(0, length - 1)))
    read_on(window, source)
    at, line = window.rows[window.cursor], window.cursor - window.top
    source.length += more
    renewed(window, source)
    read_on(window, source)
    assert window.rows[window.cursor] == at
    assert window.cursor - window.top == line
    assert window.rows == list(range(window.rows[0], window.rows[-1] + 1))
    assert (window.after is None) == (window.rows[-1] == source.length - 1)


class Newest(Numbers):
    """Numbers from the largest down, as a list that grows at its top; one may be missing."""

    missing: int | None = None

    def load(self, _archive: Any, cursor: Cursor | None, direction: Any, inclusive: bool, limit: int) -> Page[int]:
        numbers = [one for one in range(self.length - 1, -1, -1) if one != self.missing]
        at = None if cursor is None else -int(str(cursor[0]))
        if direction == "after":
            start = (
                0
                if at is None
                else next((i for i, one in enumerate(numbers) if -one >= at + (0 if inclusive else 1)), len(numbers))
            )
            end = min(start + limit, len(numbers))
        else:
            end = next(
                (i for i, one in enumerate(numbers) if -one >= (at or 0) + (1 if inclusive else 0)), len(numbers)
            )
            start = max(end - limit, 0)
        rows = tuple(numbers[start:end])
        return Page(rows, (rows[0],) if start else None, (rows[-1],) if end < len(numbers) else None)


def test_at_the_top_new_rows_are_seen_and_the_cursor_goes_down_with_its_row() -> None:
    source = Newest(20)
    window = first(source)
    source.length = 22
    renewed(window, source)
    assert (window.rows[0], window.top, window.cursor, window.rows[window.cursor]) == (21, 0, 2, 19)


def test_below_the_top_new_rows_above_move_nothing_on_the_screen() -> None:
    source = Newest(60)
    window = first(source)
    read_on(window, source)
    window.top, window.cursor = 5, 9
    source.length = 63
    renewed(window, source)
    read_on(window, source)
    assert (window.rows[window.cursor], window.cursor - window.top) == (50, 4)
    assert window.rows[window.top] == 54


def test_where_the_row_of_the_cursor_is_gone_it_stands_on_the_next() -> None:
    source = Newest(60)
    window = first(source)
    read_on(window, source)
    window.top, window.cursor = 5, 9
    source.missing = 50
    renewed(window, source)
    assert (window.rows[window.cursor], window.cursor - window.top) == (49, 4)
