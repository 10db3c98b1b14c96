"""Names of the programs that check work, and of those that only start another: data of ``verification``."""

from __future__ import annotations

from typing import Literal

Check = Literal["test", "lint", "build"]
"""What a verification is of. A type check counts as ``lint``, a compilation as ``build``."""

TESTERS = frozenset(
    {
        "pytest", "py.test", "tox", "nox", "nosetests", "nose2", "behave", "robot", "trial", "unittest", "stestr",
        "jest", "vitest", "mocha", "ava", "jasmine", "karma", "tap", "qunit", "wdio", "c8", "nyc", "rspec", "cucumber",
        "minitest", "phpunit", "pest", "codecept", "ctest", "gotestsum", "ginkgo", "bats", "shellspec", "prove",
    }
)  # fmt: skip
"""Programs that run tests whatever their arguments."""

LINTERS = frozenset(
    {
        "eslint", "stylelint", "oxlint", "tslint", "xo", "standard", "vue-tsc", "svelte-check", "flake8", "pylint",
        "mypy", "dmypy", "pyright", "basedpyright", "pyre", "pytype", "bandit", "vulture", "pydocstyle", "pycodestyle",
        "pyflakes", "lint-imports", "rubocop", "phpstan", "psalm", "phpcs", "staticcheck", "revive", "shellcheck",
        "hadolint", "yamllint", "markdownlint", "markdownlint-cli2", "actionlint", "ktlint", "detekt", "swiftlint",
        "clang-tidy", "cppcheck", "credo", "sqlfluff", "ansible-lint", "tflint", "codespell", "jshint", "ts-standard",
    }
)  # fmt: skip
"""Programs that check code or types whatever their arguments."""

CHECKERS = {
    "black": frozenset({"--check", "--diff"}),
    "isort": frozenset({"--check", "--check-only", "-c", "--diff"}),
    "prettier": frozenset({"--check", "-c", "--list-different", "-l"}),
    "dprint": frozenset({"check"}),
    "gofmt": frozenset({"-l", "-d"}),
    "rustfmt": frozenset({"--check"}),
}
"""Formatters, which check only when they are asked to."""

BUILDERS = frozenset(
    {
        "webpack", "rollup", "esbuild", "tsup", "parcel", "ncc", "gcc", "g++", "clang", "clang++", "javac", "rustc",
        "kotlinc", "ghc", "msbuild", "xcodebuild",
    }
)  # fmt: skip

SHELLS = frozenset({"bash", "sh", "zsh", "dash", "fish", "ksh"})

WRAPPERS = {
    "sudo": 0, "doas": 0, "env": 0, "command": 0, "exec": 0, "nohup": 0, "nice": 0, "ionice": 0, "stdbuf": 0,
    "unbuffer": 0, "xvfb-run": 0, "caffeinate": 0, "timeout": 1, "gtimeout": 1, "time": 0, "strace": 0, "watch": 0,
    "xargs": 0, "script": 0, "dotenv": 0, "cross-env": 0, "catchsegv": 0, "setsid": 0,
}  # fmt: skip
"""Programs that run the command after their options, and how many plain words of their own come before it."""

RUNNERS: dict[str, frozenset[str]] = {
    "npx": frozenset(),
    "bunx": frozenset(),
    "pnpx": frozenset(),
    "uvx": frozenset(),
    "pipx": frozenset({"run"}),
    "uv": frozenset({"run"}),
    "poetry": frozenset({"run"}),
    "pipenv": frozenset({"run"}),
    "pdm": frozenset({"run"}),
    "rye": frozenset({"run"}),
    "hatch": frozenset({"run"}),
    "conda": frozenset({"run"}),
    "coverage": frozenset({"run"}),
    "npm": frozenset({"exec", "x"}),
    "pnpm": frozenset({"exec", "dlx"}),
    "yarn": frozenset({"exec", "dlx"}),
    "bun": frozenset({"x"}),
    "bundle": frozenset({"exec"}),
    "mise": frozenset({"exec", "x"}),
    "asdf": frozenset({"exec"}),
    "direnv": frozenset({"exec"}),
    "dotenvx": frozenset({"run"}),
    "doppler": frozenset({"run"}),
}
"""Programs that run another one, after one of these subcommands (none: at once)."""

TASK_RUNNERS: dict[str, frozenset[str]] = {
    "npm": frozenset({"run", "run-script"}),
    "pnpm": frozenset({"run", "run-script"}),
    "yarn": frozenset({"run", "workspace"}),
    "bun": frozenset({"run"}),
    "composer": frozenset({"run", "run-script"}),
    "make": frozenset(),
    "gmake": frozenset(),
    "ninja": frozenset(),
    "just": frozenset(),
    "task": frozenset(),
    "mise": frozenset({"run", "r"}),
    "rake": frozenset(),
    "invoke": frozenset(),
    "inv": frozenset(),
    "mage": frozenset(),
    "gulp": frozenset(),
    "grunt": frozenset(),
    "sbt": frozenset(),
    "ant": frozenset(),
    "gradle": frozenset(),
    "gradlew": frozenset(),
    "mvn": frozenset(),
    "mvnw": frozenset(),
    "earthly": frozenset(),
}
"""Programs whose arguments are names of tasks, after one of these subcommands where they need one."""

_CARGO: dict[str, Check] = {
    "test": "test", "t": "test", "nextest": "test", "clippy": "lint", "fmt": "lint", "build": "build", "b": "build",
    "check": "build", "c": "build", "bench": "test", "deny": "lint", "audit": "lint",
}  # fmt: skip

SUBCOMMANDS: dict[str, dict[str, Check]] = {
    "go": {"test": "test", "vet": "lint", "build": "build"},
    "cargo": _CARGO,
    "cross": _CARGO,
    "deno": {"test": "test", "lint": "lint", "check": "lint", "fmt": "lint", "compile": "build"},
    "dotnet": {"test": "test", "build": "build", "format": "lint", "publish": "build"},
    "swift": {"test": "test", "build": "build"},
    "flutter": {"test": "test", "analyze": "lint", "build": "build"},
    "dart": {"test": "test", "analyze": "lint", "format": "lint", "compile": "build"},
    "mix": {"test": "test", "compile": "build", "credo": "lint", "dialyzer": "lint", "format": "lint"},
    "rails": {"test": "test"},
    "artisan": {"test": "test"},
    "ruff": {"check": "lint", "format": "lint", ".": "lint"},
    "biome": {"check": "lint", "lint": "lint", "ci": "lint"},
    "golangci-lint": {"run": "lint", "": "lint"},
    "pre-commit": {"run": "lint"},
    "terraform": {"validate": "lint", "fmt": "lint"},
    "helm": {"lint": "lint"},
    "buf": {"lint": "lint", "build": "build"},
    "playwright": {"test": "test"},
    "cypress": {"run": "test"},
    "ng": {"test": "test", "build": "build", "lint": "lint", "e2e": "test"},
    "vite": {"build": "build"},
    "next": {"build": "build", "lint": "lint"},
    "nuxt": {"build": "build", "typecheck": "lint"},
    "astro": {"build": "build", "check": "lint"},
    "react-scripts": {"test": "test", "build": "build"},
    "turbo": {"test": "test", "build": "build", "lint": "lint"},
    "nx": {"test": "test", "build": "build", "lint": "lint", "e2e": "test"},
    "lerna": {},
    "bazel": {"test": "test", "build": "build", "coverage": "test"},
    "bazelisk": {"test": "test", "build": "build"},
    "buck2": {"test": "test", "build": "build"},
    "meson": {"test": "test", "compile": "build"},
    "cmake": {},
    "docker": {"build": "build"},
    "podman": {"build": "build"},
    "zig": {"test": "test", "build": "build"},
    "forge": {"test": "test", "build": "build"},
    "hardhat": {"test": "test", "compile": "build"},
    "stack": {"test": "test", "build": "build"},
    "cabal": {"test": "test", "build": "build"},
    "lein": {"test": "test"},
    "mocha": {},
}
"""Programs that check with one of these subcommands."""

WORDS: frozenset[str] = frozenset(
    {
        *TESTERS, *LINTERS, *CHECKERS, *BUILDERS, *SUBCOMMANDS, *TASK_RUNNERS, "tsc", "test", "tests", "lint", "build",
        "check", "typecheck", "--test", "spec", "py", "sh",
    }
)  # fmt: skip
"""A command line that has none of these words runs no check."""
