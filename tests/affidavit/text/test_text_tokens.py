"""The token estimate: a stated rule, close to what models count, cheap."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from affidavit.text.tokens import METHOD, estimate_tokens


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("", 0),
        ("a", 1),
        ("abcd", 1),
        ("abcde", 2),
        ("役", 1),
        ("役割を確認", 5),
        ("é", 1),
        ("éé", 1),
        ("👍", 2),
        ("\ud800", 1),
    ],
)
def test_the_rule_is_the_stated_one(text: str, tokens: int) -> None:
    assert METHOD == "utf8-quarter-1"
    assert estimate_tokens(text) == tokens


@given(st.text(), st.text())
def test_more_text_never_costs_less_and_parts_never_cost_less_than_the_whole(one: str, two: str) -> None:
    whole = estimate_tokens(one + two)
    assert whole >= max(estimate_tokens(one), estimate_tokens(two))
    assert estimate_tokens(one) + estimate_tokens(two) - whole in (0, 1)
