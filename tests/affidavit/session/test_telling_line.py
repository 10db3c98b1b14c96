"""The line that stands for a failure in a list says more than that something failed."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from affidavit.session.verification import passing_line, telling_line


@pytest.mark.parametrize(
    ("output", "told"),
    [
        (
            "Exit code 1\n FAIL auth/session.test.ts\n  expected role admin, received undefined\n",
            "expected role admin, received undefined",
        ),
        ("Exit code 1\n\n=== RUN TestA\n--- FAIL: TestA (0.03s)\nFAIL\n", "--- FAIL: TestA (0.03s)"),
        ("Exit code 2\nsrc/a.go:88:20: unused variable (lint)\n1 issue\n", "src/a.go:88:20: unused variable (lint)"),
        ("Exit code 1\nTypeError: x is not a function\n    at a.js:1\n", "TypeError: x is not a function"),
        ("Exit code 127\nno such command\n", "no such command"),
        ("Exit code 1", "Exit code 1"),
        ("", ""),
    ],
)
def test_it_tells_what_went_wrong(output: str, told: str) -> None:
    assert telling_line(output) == told


def test_the_end_of_a_long_output_is_looked_at_too() -> None:
    output = "Exit code 1\n" + "compiling\n" * 5_000 + "FAILED tests/test_role.py::test_admin\n"
    assert telling_line(output) == "FAILED tests/test_role.py::test_admin"


@given(st.text(max_size=300))
def test_it_is_always_a_part_of_what_was_printed(output: str) -> None:
    assert telling_line(output) in output


@pytest.mark.parametrize(
    ("output", "told"),
    [
        ("> app@1.0.0 test\n\n Test Files  14 passed (14)\n      Tests  61 passed (61)\n   Duration  2.1s",
         "Tests 61 passed (61)"),
        ("....\n\x1b[32m===== 14 passed in 0.4s =====\x1b[0m", "14 passed in 0.4s"),
        ("Test Suites: 2 passed, 2 total\nTests:       15 passed, 15 total\nTime: 1 s", "Tests: 15 passed, 15 total"),
        ("running 4 tests\ntest result: ok. 4 passed; 0 failed", "test result: ok. 4 passed; 0 failed"),
        ("12 examples, 0 failures", "12 examples, 0 failures"),
        ("compiling\nAll checks passed!", "All checks passed!"),
        ("nothing that counts", ""),
        ("", ""),
    ],
)  # fmt: skip
def test_it_tells_what_passed(output: str, told: str) -> None:
    assert passing_line(output) == told
