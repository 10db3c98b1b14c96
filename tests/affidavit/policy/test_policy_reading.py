"""A policy file is taken as it is meant, or every mistake in it is named by its line."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from affidavit.policy.document import Policy
from affidavit.policy.lines import json_lines, line_of, toml_lines
from affidavit.policy.reading import MOST_BYTES, Mistake, read_policy, stored_policy

TOML = """\
reviewers = ["ada", "ben"]   # [gate.default] in a comment

[gate.default]
min_score = 0.7
supersededWords = [
  "superseded", # "min_score = 9"
  '''old
[gate.spaces.x]
policy''',
]

[gate.spaces."acme/app"]
maxAgeDays = 30
engines = { fast = 0.5, "affidavit-lexical" = 0.2 }
"""


def wrong(text: str) -> list[Mistake]:
    policy, mistakes = read_policy(text.encode())
    assert policy is None
    assert mistakes
    return mistakes


def test_toml_and_json_say_the_same() -> None:
    policy, mistakes = read_policy(TOML.encode())
    assert not mistakes
    assert policy is not None
    assert policy.reviewers == ("ada", "ben")
    assert policy.gate.of("acme/app").max_age_days == 30
    assert policy.gate.of(None).min_score == policy.gate.of("other").min_score == 0.7
    again, _ = read_policy(policy.canonical())
    assert again == policy
    assert again is not None
    assert again.canonical() == policy.canonical()


def test_an_empty_file_means_the_defaults() -> None:
    assert read_policy(b"") == (Policy(), [])
    assert read_policy(b" {}\n") == (Policy(), [])


def test_every_default_is_written_out_in_the_canonical_bytes() -> None:
    said = json.loads(Policy().canonical())
    assert said["gate"]["default"]["minScore"] == 0.78
    assert stored_policy(Policy().canonical()) == Policy()
    with pytest.raises(ValueError, match="later"):
        stored_policy(b'{"later": {}}')


def test_toml_lines_are_those_a_reader_would_point_at() -> None:
    lines = toml_lines(TOML)
    assert lines["reviewers",] == 1
    assert lines["gate", "default"] == 3
    assert lines["gate", "default", "min_score"] == 4
    assert lines["gate", "default", "supersededWords"] == 5
    assert lines["gate", "spaces", "acme/app"] == 12
    assert ("gate", "spaces", "x") not in lines
    assert line_of(lines, ("gate", "spaces", "acme/app", "engines", "fast")) == 14
    assert line_of(lines, ("gate", "default", "minScore")) == 4
    assert line_of(lines, ("other",)) is None


def test_arrays_of_tables_and_dotted_keys_have_lines() -> None:
    lines = toml_lines("a.b.c = 1\n[[t]]\nx = 1\n\n[[t]]\nx = '''\n\n'''\ny = 2")
    assert lines["a", "b", "c"] == 1
    assert (lines["t", 0, "x"], lines["t", 1, "x"], lines["t", 1, "y"]) == (3, 6, 9)


def test_mistakes_name_line_key_reason_and_the_nearest_setting() -> None:
    text = '[gate.default]\nmin_scor = 0.5\nmax_hits = "many"\n\n[gate.spaces.x]\nminScore = 1.5\n'
    found = wrong(text)
    assert [(one.line, one.key) for one in found] == [
        (2, "gate.default.min_scor"), (3, "gate.default.max_hits"), (6, "gate.spaces.x.minScore"),
    ]  # fmt: skip
    assert found[0].reason == "there is no such setting"
    assert found[0].hint == "did you mean minScore?"


def test_mistakes_in_json_are_found_by_line_too() -> None:
    text = '{\n "reviewers": ["ada",\n  "b\\u0007en"],\n "gate": {"default": {\n  "maxHits": -1}}, "gat": 1}'
    assert [(one.line, one.key) for one in wrong(text)] == [
        (3, "reviewers.1"), (5, "gate.default.maxHits"), (5, "gat"),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("data", "line", "said"),
    [
        (b"a = \n", 1, "not valid TOML"),
        (b"x = 1\nx = 2\n", 2, "not valid TOML"),
        (b'{\n"gate": {},\n"gate": {}}', 3, "named twice"),
        (b'{"gate": NaN}', 1, "NaN"),
        (b"a = 1\n\xff", 2, "not UTF-8"),
        (b"gate = 1979-05-27", 1, "object"),
        (b"[gate.default]\nminScore = nan\n", 2, "finite"),
        (b"[gate.default]\nminScore = true\n", 2, "number"),
        (b"[gate.default]\nallow_draft = 1\n", 2, "boolean"),
        (b"#" * (MOST_BYTES + 1), None, "larger than"),
    ],
)
def test_what_is_no_policy_is_told_and_not_taken(data: bytes, line: int | None, said: str) -> None:
    policy, mistakes = read_policy(data)
    assert policy is None
    assert mistakes[0].line == line
    assert said in mistakes[0].reason or said in mistakes[0].key


@pytest.mark.parametrize("text", ["{" * 2000, '{"gate":' * 500 + "1" + "}" * 500, "a = " + "[" * 5000 + "]" * 5000])
def test_deep_files_are_refused(text: str) -> None:
    assert wrong(text)


@given(st.text(alphabet="{}[]\"\\:,.=#\n'a1 ", max_size=60))
def test_any_text_is_a_policy_or_has_a_mistake(text: str) -> None:
    policy, mistakes = read_policy(text.encode())
    assert (policy is None) == bool(mistakes)


KEYS = st.text(min_size=1, max_size=4)
VALUES = st.recursive(
    st.integers() | st.booleans() | st.text(max_size=4), lambda inner: st.lists(inner) | st.dictionaries(KEYS, inner)
)


@given(st.dictionaries(KEYS, VALUES))
def test_every_key_of_a_json_text_has_its_line(value: dict[str, object]) -> None:
    text = json.dumps(value, indent=1)
    lines = json_lines(text)
    rows = text.split("\n")
    for key in value:
        assert rows[lines[key,] - 1].startswith(f" {json.dumps(key)}:")
