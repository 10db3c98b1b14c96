"""Citations in what a model wrote, and what it did with its evidence."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from affidavit.retrieval.citing import CITATION_VERDICTS, Cited, Given, Kept, citations_in, resolve
from affidavit.retrieval.using import Action, uncited_uses, unsupported

RULE = Given(
    "s1", "rule#1", "AGENTS.md:10-12", "Test mocks state their role.\nProduction defaults must not change.\n", 10
)
CODE = Given(
    "s1", "code#2", "src/auth/mock.ts:1-3", 'export function createUserMock() {\n  return { name: "x" };\n}\n', 1
)
MEMORY = Given(
    "s1", "memory#4", "memory/m-4", "The same failure was solved in the test fixture, without other changes."
)
GIVEN = (RULE, CODE, MEMORY)
CUT = Kept("what was cut from [code#2]", "// the role is read from the fixture\n")


def verdict(
    label: str, quote: str | None = None, lines: tuple[int, int] | None = None, snapshot: str | None = None
) -> str:
    return resolve(Cited(label, quote, lines, snapshot), GIVEN, [CUT]).verdict


@pytest.mark.parametrize(
    ("cited", "expected"),
    [
        (("rule#1", "Production defaults must not change."), "exact"),
        (("rule#1", None), "exact"),
        (("rule#1", "Production defaults must not change.", (11, 11)), "exact"),
        (("rule#1", "Production defaults must not change.", (17, 17)), "moved"),
        (("rule#1", "production  defaults\nmust not change"), "normalised"),
        (("rule#1", "Test mocks … must not change."), "normalised"),
        (("code#2", "return { name: “x” };"), "normalised"),
        (("code#2", "Production defaults must not change."), "misattributed"),
        (("rule#1", "Production defaults may change freely."), "absent"),
        (("code#2", "the role is read from the fixture"), "never_visible"),
        (("rule#9", None), "never_visible"),
        (("rule#9", "Production defaults must not change."), "misattributed"),
        (("code#2", None, (40, 44)), "never_visible"),
        (("rule#1", None, None, "s2"), "never_visible"),
    ],
)
def test_a_citation_leads_where_it_leads(cited: tuple[str, ...], expected: str) -> None:
    assert verdict(*cited) == expected  # type: ignore[arg-type]


def test_where_a_quote_stands_is_pointed_at_exactly() -> None:
    found = resolve(Cited("code#2", "Production defaults must not change."), GIVEN)
    assert (found.item, found.stands_in) == (CODE, RULE)
    assert RULE.text[found.start : found.end] == "Production defaults must not change."
    found = resolve(Cited("rule#1", "production DEFAULTS  must"), GIVEN)
    assert RULE.text[found.start : found.end] == "Production defaults must"


def test_one_label_in_several_snapshots_is_ambiguous_unless_the_snapshot_or_the_quote_settles_it() -> None:
    other = Given("s2", "rule#1", "docs/rules.md", "Use four spaces.")
    both = (*GIVEN, other)
    assert resolve(Cited("rule#1"), both).verdict == "ambiguous"
    assert resolve(Cited("rule#1", snapshot="s2"), both).item == other
    assert resolve(Cited("rule#1", "Use four spaces."), both).item == other
    assert resolve(Cited("rule#1", "In neither."), both).verdict == "ambiguous"


def test_opposite_statements_are_not_the_same() -> None:
    items = (Given("s", "a", "x", "retries > 1% and -5"),)
    assert resolve(Cited("a", "retries < 1% and -5"), items).verdict == "absent"
    assert resolve(Cited("a", "retries > 1% and 5"), items).verdict == "absent"


def test_citations_are_found_with_their_quotes_and_lines() -> None:
    text = (
        'The rule says "Production defaults must not change" [rule#1] lines 11-12. '
        "The mock sets no role [code#2].\n> solved in the test fixture\nSo it was before [memory#4]. See [weird label]."
    )
    found = citations_in(text, ["rule#1", "weird label"])
    assert [(one.label, one.quote, one.lines) for one in found] == [
        ("rule#1", "Production defaults must not change", (11, 12)),
        ("code#2", None, None),
        ("memory#4", "solved in the test fixture", None),
        ("weird label", None, None),
    ]
    assert all(text[one.start : one.end] == f"[{one.label}]" for one in found)


def test_code_in_brackets_is_no_citation() -> None:
    assert citations_in("a[0] = b[i]; [x] [link](https://example.com) [ ] [#3]", ["rule#1"]) == []


@settings(deadline=None, derandomize=True, max_examples=200)
@given(st.text(max_size=80), st.text(max_size=30), st.sampled_from(["rule#1", "", "]", "no"]))
def test_no_text_raises_and_every_verdict_is_one_of_the_list(text: str, quote: str, label: str) -> None:
    items = (Given("s", label, "x", text, 1), *GIVEN)
    for cited in (*citations_in(text, [label]), Cited(label, quote or None, (1, 2))):
        found = resolve(cited, items)
        assert found.verdict in CITATION_VERDICTS
        if found.start is not None and isinstance(found.stands_in, Given):
            assert 0 <= found.start <= (found.end or 0) <= len(found.stands_in.text)
    uncited_uses(text, items)


def test_uncited_use() -> None:
    text = "I know this one. The same failure was solved in the test fixture, without other changes. Done."
    (use,) = uncited_uses(text, GIVEN)
    assert use.item == MEMORY
    assert text[use.start : use.end] == "The same failure was solved in the test fixture, without other changes."
    assert uncited_uses(text + " [memory#4]", GIVEN) == []
    assert uncited_uses("It was solved in the test fixture.", GIVEN) == []
    assert uncited_uses(f"```\n{MEMORY.text}\n```", GIVEN) == []


def test_uncited_use_of_a_text_without_spaces() -> None:
    rule = Given(
        "s", "rule#1", "x", "テスト用のモックは必ず役割を明示しなければならない。本番の既定値を変えてはならない。"
    )
    assert uncited_uses(
        "規約は、テスト用のモックは必ず役割を明示しなければならない。本番の既定値を変えてはならない。と言う", [rule]
    )


def test_does_not_support_the_action() -> None:
    edit = Action(("src/config/defaults.ts",), "export const role = 'admin'")
    against = unsupported(edit, [MEMORY], GIVEN)
    assert [(one.item.label if one.item else None) for one in against] == ["rule#1", None]
    assert "Production defaults must not change." in against[0].reason
    assert against[1].reason == "nothing it cites speaks of src/config/defaults.ts"


def test_an_action_its_citations_speak_for() -> None:
    assert unsupported(Action(("tests/auth/session.fixture.ts",)), [MEMORY._replace(text="fix session fixtures")]) == []
    assert unsupported(Action(("src/auth/mock.ts",)), [CODE]) == []
    assert unsupported(Action(()), [CODE], GIVEN) == []
