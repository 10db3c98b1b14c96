"""Which commands check the work, and how a check went."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from affidavit.session.verification import LONGEST, classify, outcome

TESTS = [
    "pytest -q",
    ".venv/bin/pytest -x tests/test_a.py",
    "python -m pytest tests",
    "python3 -m unittest discover",
    "coverage run -m pytest",
    "uv run pytest",
    "poetry run pytest -q",
    "tox -e py311",
    "nox",
    "npm test",
    "npm t",
    "npm run test:unit",
    "npm --prefix app run test",
    "pnpm -r test",
    "pnpm --filter web test",
    "yarn test",
    "yarn jest src",
    "bun test",
    "npx vitest run",
    "npx --yes jest@29 --runInBand",
    "node --test",
    "deno test -A",
    "go test ./...",
    "cargo test --workspace",
    "cargo nextest run",
    "make test",
    "just test",
    "mise run test:integration -- -run TestRole",
    "./gradlew test",
    "mvn -q verify",
    "dotnet test",
    "bundle exec rspec",
    "vendor/bin/phpunit",
    "ctest --output-on-failure",
    "bazel test //...",
    "swift test",
    "mix test",
    "turbo run test",
    "nx run app:test",
    "npx playwright test",
    "python manage.py test",
    "python tests/test_role.py",
    "./scripts/run-tests.sh",
]
LINTS = [
    "eslint src",
    "npx eslint . --fix",
    "ruff check .",
    "ruff format --check",
    "mypy --strict pkg",
    "python -m mypy pkg",
    "pyright",
    "black --check .",
    "npx prettier --check .",
    "tsc --noEmit",
    "cargo clippy -- -D warnings",
    "cargo fmt --check",
    "go vet ./...",
    "golangci-lint run",
    "pnpm lint",
    "npm run typecheck",
    "make lint",
    "rubocop",
    "shellcheck a.sh",
    "pre-commit run --all-files",
    "gradle :app:lint",
    "bash scripts/lint.sh",
]
BUILDS = [
    "npm run build",
    "tsc -p .",
    "npx vite build",
    "cargo build --release",
    "cargo test --no-run",
    "go build ./...",
    "make",
    "make -j4 all",
    "cmake --build build",
    "dotnet build",
    "mvn package -DskipTests",
    "docker build -t acme .",
    "python -m build",
    "node scripts/build.js",
]
WRAPPED = [
    "cd app && pytest",
    "(cd app; pytest)",
    "A=1 B='x y' pytest",
    "time pytest",
    "timeout 60 pytest",
    "timeout --signal KILL 60 pytest -q",
    "sudo -u ada env PYTHONPATH=. pytest",
    "pytest 2>&1 | tail -20",
    "pytest > out.txt 2>&1; cat out.txt",
    "bash -c 'cd app && pytest -q'",
    'bash -lc "pytest"',
    "for i in 1 2 3; do pytest; done",
    "if pytest; then echo ok; fi",
    "! pytest",
    "git stash && pytest; git stash pop",
    "echo start\npytest\necho end",
    "cat > conftest.py <<'EOF'\nimport os\nEOF\npytest",
    "cat <<-END\n\tnothing\n\tEND\npytest",
    "# first the tests\npytest",
    "pytest \\\n  -q",
    "X=$(date) && pytest",
]
NO_CHECKS = [
    "",
    "ls -la tests",
    "echo pytest",
    "echo 'npm test'",
    "printf 'cargo test\\n'",
    "grep test src/a.py",
    "rg 'npm test' .",
    "cat jest.config.js",
    'git commit -m "npm test"',
    "git log --grep test",
    "find . -name '*test*'",
    "sed -i s/test/spec/ a.py",
    "pip install pytest",
    "npm install --save-dev jest",
    "npm ci",
    "yarn add eslint",
    "which pytest",
    "pytest --version",
    "jest --help",
    "pytest --collect-only -q",
    "make -n test",
    "test -f a.txt && cat a.txt",
    "[ -d tests ]",
    "mkdir build",
    "rm -rf build dist",
    "cd tests",
    "npm run dev",
    "npm run build:watch",
    "prettier --write .",
    "black .",
    "ruff format .",
    "python -c 'import pytest'",
    "python script.py test",
    "cat > run.sh <<'EOF'\npytest\nEOF\nchmod +x run.sh",
    "cat <<EOF > a\nnpm test\nEOF",
    "echo done # pytest",
    "vim tests/test_a.py",
    "curl https://example.com/test",
    "docker ps",
]


@pytest.mark.parametrize("command", TESTS)
def test_a_test_run_is_known(command: str) -> None:
    assert classify(command) == "test"


@pytest.mark.parametrize("command", LINTS)
def test_a_linter_or_type_check_is_known(command: str) -> None:
    assert classify(command) == "lint"


@pytest.mark.parametrize("command", BUILDS)
def test_a_build_is_known(command: str) -> None:
    assert classify(command) == "build"


@pytest.mark.parametrize("command", WRAPPED)
def test_a_check_is_known_through_what_surrounds_it(command: str) -> None:
    assert classify(command) == "test"


@pytest.mark.parametrize("command", NO_CHECKS)
def test_a_command_that_only_names_a_check_is_none(command: str) -> None:
    assert classify(command) is None


def test_a_test_counts_before_a_linter_and_that_before_a_build() -> None:
    assert classify("npm run build && npm run lint && npm test") == "test"
    assert classify("cargo build && cargo clippy") == "lint"


def test_only_the_beginning_of_a_very_long_command_is_looked_at() -> None:
    assert classify("echo " + "x" * LONGEST + "; pytest") is None
    assert classify("pytest; echo " + "x" * 10_000_000) == "test"


PIECES = (
    "pytest", "npm", "test", "run", "&&", ";", "|", "'", '"', "$(", ")", "(", "<<", "EOF", "\n", "\\", "`", ">",
    "2>&1", "A=1", "-c", "bash", "--", "timeout", "\t", "é", "\0", "\ud800", "#", "<<-'", "{", "}",
)  # fmt: skip

words = st.lists(st.sampled_from(PIECES), max_size=40)


@given(words.flatmap(lambda parts: st.sampled_from(["", " "]).map(lambda gap: gap.join(parts))) | st.text(max_size=200))
def test_any_text_is_taken_apart(command: str) -> None:
    assert classify(command) in ("test", "lint", "build", None)
    assert classify("pytest " + command) in ("test", "lint", "build", None)


@pytest.mark.parametrize(
    "piece", ["pytest '", 'pytest "\\', "$(", "bash -c 'bash -c ", "<<A ", "pytest\n" * 3, "a=b ", "(("]
)
def test_time_grows_no_faster_than_the_command(piece: str) -> None:
    assert classify(piece * 2000) in ("test", None)


# ------------------------------------------------------------------------------------------------ outcomes


@pytest.mark.parametrize(
    "text",
    [
        "===== 3 failed, 11 passed in 0.4s =====",
        "Tests: 1 failed, 14 passed, 15 total",
        "test result: FAILED. 3 passed; 1 failed",
        "--- FAIL: TestRole (0.00s)\nFAIL\tacme/app\t0.2s",
        "5 passing\n  2 failing",
        "12 examples, 1 failure",
        "FAILED (failures=1)",
        "src/a.ts(3,1): error TS2322: no",
        "✖ 3 problems (2 errors, 1 warning)",
        "Found 3 errors in 1 file (checked 9 source files)",
        "BUILD FAILED in 3s",
        "make: *** [test] Error 1",
    ],
)
def test_failures_that_were_printed_outweigh_the_exit_code_of_a_pipe(text: str) -> None:
    assert outcome(text, True) == "failed"
    assert outcome(text, None) == "failed"


@pytest.mark.parametrize(
    "text",
    [
        "===== 14 passed in 0.4s =====",
        "Tests: 15 passed, 15 total",
        "test result: ok. 4 passed; 0 failed",
        "ok  \tacme/app\t1.001s",
        "12 examples, 0 failures",
        "Success: no issues found in 9 source files",
        "All checks passed!",
        "BUILD SUCCESSFUL in 3s",
    ],
)
def test_success_that_was_printed_is_taken_where_nothing_else_is_known(text: str) -> None:
    assert outcome(text, None) == "passed"
    assert outcome(text, True) == "passed"


@pytest.mark.parametrize(
    "text", ["handled 2 errors as expected\n14 passed in 0.2s", "retry after 3 failed tries\nok", "0 failed"]
)
def test_the_word_alone_makes_no_failure(text: str) -> None:
    assert outcome(text, True) == "passed"


def test_a_recorded_failure_is_one_whatever_was_printed() -> None:
    assert outcome("14 passed", False) == "failed"


def test_without_any_word_the_outcome_is_what_was_recorded_or_unknown() -> None:
    assert outcome("", True) == "passed"
    assert outcome("compiling…", None) is None


def test_an_early_failure_that_was_fixed_within_the_output_does_not_count() -> None:
    assert outcome("1 failed\n" + "." * 5000 + "\n14 passed", True) == "passed"
