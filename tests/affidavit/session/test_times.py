"""Recorded times: every form of the standard is an instant, anything else is said not to be one."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from affidavit.session.times import instant, iso

NOON = 1_778_760_000_000_000


@pytest.mark.parametrize(
    "recorded",
    [
        "2026-05-14T12:00:00Z",
        "2026-05-14t12:00:00z",
        "2026-05-14 12:00:00+00:00",
        "2026-05-14T14:00:00.000+02:00",
        "20260514T120000Z",
    ],
)
def test_forms_of_one_instant(recorded: str) -> None:
    assert instant(recorded) == (NOON, "")


def test_what_names_no_zone_is_taken_as_utc_and_said() -> None:
    assert instant("2026-05-14T12:00:00") == (NOON, "naive_time")


@pytest.mark.parametrize("recorded", ["soon", "2026-13-01T00:00:00Z", "12:00", "\ud800"])
def test_what_is_no_time_is_said(recorded: str) -> None:
    assert instant(recorded) == (None, "time_unreadable")


def test_nothing_recorded_is_said() -> None:
    assert instant(None) == instant("") == (None, "time_missing")


@settings(deadline=None, derandomize=True, max_examples=200)
@given(st.integers(-(10**16), 10**17))
def test_an_instant_is_written_as_it_is_read(micros: int) -> None:
    written = iso(micros)
    assert written is None or instant(written) == (micros, "")


@settings(deadline=None, derandomize=True, max_examples=200)
@given(st.text(max_size=30))
def test_no_text_makes_it_raise(recorded: str) -> None:
    instant(recorded)
