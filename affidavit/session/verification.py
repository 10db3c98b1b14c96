"""Which shell commands check the work (tests, linters, builds), and whether such a check passed.

A command line is taken apart the way a shell would: simple commands at ``;``, ``&&``, ``|`` and line ends, quotes
and here-documents respected, runners such as ``npx`` or ``uv run`` looked through. Only what is *run* counts, so
``echo pytest`` and ``git commit -m "npm test"`` are no checks. This reads a log; it is no shell, and a command
built from variables is not recognised.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Literal

from affidavit.session.check_commands import (
    BUILDERS,
    CHECKERS,
    LINTERS,
    RUNNERS,
    SHELLS,
    SUBCOMMANDS,
    TASK_RUNNERS,
    TESTERS,
    WORDS,
    WRAPPERS,
    Check,
)

LONGEST = 4096
"""Only so many characters of a command are looked at."""

_MOST_COMMANDS = 64
_DEEPEST = 3
_ENDS = b"/\\;&|()'\"`{}=@:.,"
_PARTS = bytes.maketrans(_ENDS, b" " * len(_ENDS))
_NAMES = frozenset(word.encode() for word in WORDS)
_ASKS_ONLY = frozenset({"--version", "-V", "--help", "-h", "--collect-only", "--co", "--listTests", "--dry-run", "-n"})
_ORDER: tuple[Check, ...] = ("test", "lint", "build")


def classify(command: str) -> Check | None:
    """What kind of check a command line runs, or ``None``.

    Where it runs several, a test goes before a linter and that before a build. Constant time for what names no
    tool of that kind, linear in the first :data:`LONGEST` characters otherwise.
    """
    if len(command) > LONGEST:
        command = command[:LONGEST]
    if _NAMES.isdisjoint(command.encode("utf-8", "surrogatepass").translate(_PARTS).split()):
        return None
    found = set(_checks(command, 0))
    for kind in _ORDER:
        if kind in found:
            return kind
    return None


def _checks(command: str, depth: int) -> Iterator[Check]:
    for number, words in enumerate(_simple_commands(command)):
        if number >= _MOST_COMMANDS:
            return
        words = _look_through(words)
        if not words:
            continue
        name = _name(words[0])
        if name in SHELLS and depth < _DEEPEST:
            script = _script_of(words)
            if script is not None:
                yield from _checks(script, depth + 1)
                continue
        kind = _kind(name, words[1:], words[0])
        if kind is not None:
            yield kind


# ------------------------------------------------------------------------------------------------ the shell


_PIECE = re.compile(
    r"""
      (?P<space>[ \t\r]+|\\\n)
    | (?P<here><<-?[ \t]*(?P<mark>'[^'\n]*'|"[^"\n]*"|[A-Za-z_][A-Za-z0-9_]*))
    | (?P<redirect>\d*(?:>>|>&|>\||&>>|&>|<<<|<&|<|>)[ \t]*(?:&?\d+\b|-)?)
    | (?P<end>\n|;;?|&&|\|\|?&?|&|\(|\)|\$\(|`)
    | (?P<comment>(?<![^\s;&|(])\#[^\n]*)
    | (?P<single>'[^']*'?)
    | (?P<double>"(?:\\.|[^"\\])*"?)
    | (?P<plain>(?:\\.|[^\s;&|()'"`<>\\$])+|\$(?!\()|\\)
    """,
    re.VERBOSE | re.DOTALL,
)


def _simple_commands(command: str) -> Iterator[list[str]]:
    """The simple commands of a command line as words: quotes taken off, redirections and here-documents left out."""
    words: list[str] = []
    word: list[str] | None = None
    waiting: list[str] = []
    skip = False
    at = 0
    while at < len(command):
        piece = _PIECE.match(command, at)
        if piece is None:
            at += 1
            continue
        at = piece.end()
        kind, said = piece.lastgroup, piece.group()
        if kind == "mark" or kind == "here":
            waiting.append(piece.group("mark").strip("'\""))
            continue
        if kind in ("single", "double", "plain"):
            word = word if word is not None else []
            word.append(said[1:].removesuffix(said[0]) if kind != "plain" else said.replace("\\", ""))
            continue
        if word is not None:
            if not skip:
                words.append("".join(word))
            word, skip = None, False
        if kind == "redirect":
            skip = not said.rstrip()[-1:].isdigit() and not said.endswith("-")
        elif kind == "end":
            if said == "\n" and waiting:
                at = _after_documents(command, at, waiting)
                waiting = []
            skip = False
            if words:
                yield words
                words = []
    if word is not None and not skip:
        words.append("".join(word))
    if words:
        yield words


def _after_documents(command: str, at: int, marks: list[str]) -> int:
    """Where the command line goes on after the here-documents that begin at ``at``."""
    for mark in marks:
        while at < len(command):
            end = command.find("\n", at)
            end = len(command) if end < 0 else end
            line = command[at:end].strip("\t\r ")
            at = end + 1
            if line == mark:
                break
    return at


_ASSIGNS = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\+?=")
_KEYWORDS = frozenset({"if", "then", "else", "elif", "do", "while", "until", "!", "{", "}", "time", "fi", "done"})


def _look_through(words: list[str]) -> list[str]:
    """A simple command without assignments, keywords and the runners before the program that does the work."""
    at = 0
    while at < len(words):
        word = words[at]
        if _ASSIGNS.match(word) or word in _KEYWORDS:
            at += 1
            continue
        name = _name(word)
        if name in WRAPPERS:
            at = _after_options(words, at + 1, WRAPPERS[name])
            continue
        run = RUNNERS.get(name)
        if run is None:
            break
        after = _after_options(words, at + 1, 0)
        if run and (after >= len(words) or words[after] not in run):
            break
        at = _after_options(words, after + 1, 0) if run else after
    return words[at:]


_WITH_VALUE = frozenset(
    {
        "-u", "-k", "-s", "-p", "-c", "-C", "-w", "--with", "--package", "--python", "--filter", "-F", "--env-file",
        "--directory", "--project", "--group", "--extra", "--cwd", "--prefix", "--dir", "-e", "--signal",
    }
)  # fmt: skip


def _after_options(words: list[str], at: int, values: int) -> int:
    """Where the next program or subcommand stands, past options, assignments and ``values`` plain words."""
    while at < len(words):
        word = words[at]
        if word == "--":
            return at + 1
        if word.startswith("-") and len(word) > 1:
            at += 2 if word in _WITH_VALUE else 1
        elif _ASSIGNS.match(word):
            at += 1
        elif values:
            values -= 1
            at += 1
        else:
            break
    return at


def _name(word: str) -> str:
    """A program's bare name: no folder, no Windows ending, no version pinned with ``@``."""
    name = word.replace("\\", "/").rpartition("/")[2]
    for ending in (".exe", ".cmd", ".bat"):
        name = name.removesuffix(ending)
    return name.partition("@")[0] or name


def _script_of(words: list[str]) -> str | None:
    """The command line in ``bash -c "…"``, if it is one."""
    for at, word in enumerate(words[1:4], 1):
        if word.startswith("-") and not word.startswith("--") and word.endswith("c") and at + 1 < len(words):
            return words[at + 1]
    return None


# ------------------------------------------------------------------------------------------ what is checked


def _kind(name: str, args: list[str], program: str) -> Check | None:
    if not _ASKS_ONLY.isdisjoint(args[:12]) and not (name in TASK_RUNNERS and "--" in args):
        return None
    if name in TESTERS:
        return "test"
    if name in LINTERS:
        return "lint"
    if name in CHECKERS:
        return "lint" if not CHECKERS[name].isdisjoint(args) else None
    if name in BUILDERS:
        return "build"
    if name.startswith("python") or name in ("py", "pypy", "pypy3"):
        return _python(args)
    if name in TASK_RUNNERS:
        return _task(name, args)
    if name in SUBCOMMANDS:
        return _subcommand(name, args)
    if name == "tsc":
        return "lint" if "--noEmit" in args else "build"
    if name in ("node", "deno", "ruby", "php", "perl") or name in SHELLS:
        if "--test" in args:
            return "test"
        script = next((word for word in args if not word.startswith("-")), "")
        return by_name(_name(script)) if "." in script else None
    return by_name(name) if "/" in program or program.endswith(".sh") else None


def _python(args: list[str]) -> Check | None:
    """``python -m pytest``, ``python -m build``, ``python manage.py test``, ``python tests/test_x.py``."""
    for at, word in enumerate(args):
        if word == "-m" and at + 1 < len(args):
            module = args[at + 1]
            if module == "unittest":
                return "test"
            return "build" if module == "build" else _kind(module.partition(".")[0], args[at + 2 :], module)
        if word == "-c":
            return None
        if not word.startswith("-"):
            script = _name(word)
            if script in ("manage.py", "setup.py") and at + 1 < len(args):
                return {"test": "test", "build": "build", "check": "lint"}.get(args[at + 1])  # type: ignore[return-value]
            return by_name(script)
    return None


def _task(name: str, args: list[str]) -> Check | None:
    """A task by its name: ``npm run test:unit``, ``make lint``, ``just build``, ``yarn test``, ``yarn jest``."""
    calls = TASK_RUNNERS[name]
    at = _after_options(args, 0, 0)
    rest = args[at:]
    if not rest:
        return "build" if name in ("make", "gmake", "ninja") else None
    if name == "npm" and rest[0] in ("t", "tst"):
        return "test"
    if rest[0] in calls:
        rest = rest[_after_options(rest, 1, 0) :]
        if not rest:
            return None
    elif calls and rest[0] in ("install", "add", "i", "ci", "remove", "exec", "why", "info", "view"):
        return None
    if rest[0] == "run-script":
        rest = rest[1:]
    for word in rest if name in ("make", "gmake", "ninja", "rake", "mvn", "mvnw", "gradle", "gradlew") else rest[:1]:
        kind = by_name(word.rpartition(":")[2] if name.startswith(("gradle", "mvn")) else word, name)
        if kind is not None:
            return kind
    if name in ("yarn", "pnpm", "bun", "composer") and _name(rest[0]) != name:
        return _kind(_name(rest[0]), rest[1:], "")
    return None


def _subcommand(name: str, args: list[str]) -> Check | None:
    table = SUBCOMMANDS[name]
    at = _after_options(args, 0, 0)
    if at < len(args) and args[at].startswith("+"):
        at = _after_options(args, at + 1, 0)
    word = args[at] if at < len(args) else ""
    if word in ("run", "r") and name in ("turbo", "nx", "lerna", "cypress", "golangci-lint", "pre-commit"):
        after = args[_after_options(args, at + 1, 0) :]
        if name in ("turbo", "nx", "lerna"):
            return by_name(after[0].rpartition(":")[2] or after[0]) if after else None
    kind = table.get(word)
    if kind == "lint" and word in ("fmt", "format"):
        return "lint" if not CHECK_ONLY.isdisjoint(args) else None
    if name == "cargo" and kind == "test" and "--no-run" in args:
        return "build"
    if name == "cmake":
        return "build" if "--build" in args else None
    return kind


CHECK_ONLY = frozenset({"--check", "-check", "--verify-no-changes", "--diff", "-d", "-l"})

_SCRIPTS = frozenset({"sh", "bash", "zsh", "py", "js", "mjs", "cjs", "ts", "rb", "php", "pl", "ps1"})
_WORD = re.compile(r"[A-Z]?[a-z0-9]+|[A-Z]+")
_TEST_WORDS = frozenset({"test", "tests", "spec", "specs", "e2e", "unittest", "unittests", "pytest", "jest", "vitest"})
_LINT_WORDS = frozenset({"lint", "lints", "typecheck", "types", "tsc", "eslint", "mypy", "ruff", "clippy", "format"})
_BUILD_WORDS = frozenset({"build", "compile", "bundle", "dist", "assemble", "package"})
_PACKAGE_MANAGERS = frozenset({"npm", "pnpm", "yarn", "bun"})
_NO_WORDS = frozenset({"install", "setup", "watch", "clean", "deps", "data", "fixtures", "publish", "deploy"})


def by_name(task: str, runner: str = "") -> Check | None:
    """What a task or script is for, by the words of its name: ``test:unit``, ``run-lint.sh``, ``buildRelease``."""
    if "." in task:
        stem, _, ending = task.rpartition(".")
        task = (
            stem if ending in ("sh", "bash", "zsh", "py", "js", "mjs", "cjs", "ts", "rb", "php", "pl", "ps1") else task
        )
    words = [word.lower() for word in _WORD.findall(task)]
    if not words or not _NO_WORDS.isdisjoint(words):
        return None
    if not _TEST_WORDS.isdisjoint(words):
        return "test"
    if words in (["check"], ["verify"]) and runner not in _PACKAGE_MANAGERS:
        return "test"
    if not _LINT_WORDS.isdisjoint(words) or "check" in words:
        return "lint" if "format" not in words or "check" in words else None
    if not _BUILD_WORDS.isdisjoint(words) or (words == ["all"] and runner in ("make", "gmake", "ninja")):
        return "build"
    return None


# ------------------------------------------------------------------------------------------------ how it went

_TAIL = 4000

_FAILED = re.compile(
    r"\b[1-9]\d* (?:failed|errors?)\b[^\n]* in [\d.]+ ?m?s\b"
    r"|^\s*(?:Tests?|Test Suites|Test Files):?\s+[1-9]\d* failed\b"
    r"|^\s*[1-9]\d* (?:failing|failed)\b"
    r"|\bexamples?, [1-9]\d* failures?\b"
    r"|\btest result: FAILED\b|^--- FAIL:|^FAIL\s|^FAILURES!|^FAILED \((?:failures|errors)="
    r"|\berror TS\d+:|^error(?:\[E\d+\])?: could not compile\b|^Found [1-9]\d* errors?\b"
    r"|[✖✗] [1-9]\d* problems? \([1-9]\d* errors?"
    r"|\bBUILD FAIL(?:ED|URE)\b|^Failed!\s|^make(?:\[\d+\])?: \*\*\*|^npm ERR!|\bELIFECYCLE\b",
    re.MULTILINE,
)
"""How the common tools sum up a failure. Not merely the word: passing tests print errors they expected."""

_PASSED = re.compile(
    r"\b\d+ (?:passed|passing)\b|test result: ok|^ok\s|^PASS\b|^OK\b|\b0 (?:failures|errors|failed)\b|"
    r"All checks passed|no issues found|BUILD SUCCESS|^Passed!|Build succeeded",
    re.MULTILINE,
)

_FAILING_WORDS = ("fail", "error", "problem", "***", "err!", "elifecycle")
"""One of these stands, in small letters, in every line that sums up a failure."""

Outcome = Literal["passed", "failed"]


def outcome(text: str, ok: bool | None) -> Outcome | None:
    """How a check went, from its recorded outcome and the end of what it printed.

    A pipe such as ``pytest | tail`` gives the exit code of its last part, so printed failures outweigh ``ok``;
    without either the outcome is not known.
    """
    if ok is False:
        return "failed"
    tail = text[-_TAIL:]
    small = tail.lower()
    if any(word in small for word in _FAILING_WORDS) and _sums_up_failure(tail):
        return "failed"
    return "passed" if ok or _PASSED.search(tail) else None


def _sums_up_failure(tail: str) -> bool:
    """Whether a line sums up a failure. Lines without a telling word are passed over: the pattern is slow on text."""
    for line in tail.split("\n"):
        small = line.lower()
        if any(word in small for word in _FAILING_WORDS) and _FAILED.search(line):
            return True
    return False


_TELLING = (
    re.compile(r"\bexpected\b.{0,120}\b(?:received|got|but|to)\b|^\s*AssertionError\b|^E\s+\S", re.IGNORECASE),
    re.compile(r"^\s*(?:--- FAIL:|FAIL(?:ED)?\b|not ok\b|[✕✗×✖●]\s|panic:|thread '.*' panicked)"),
    re.compile(r"\b(?:error|exception)\b\s*[:\[(]|\berror TS\d+|^\S+:\d+(?::\d+)?: ", re.IGNORECASE),
)
"""What says most about a failure, best first: what was expected, which test failed, what the error was."""

_COUNTS = (
    re.compile(r"^\W*Tests?:?\s.*\b\d+ (?:passed|passing)\b"),
    re.compile(r"\b\d+ (?:passed|passing)\b"),
    re.compile(r"\b\d+ (?:examples?|tests?|specs?|assertions?)\b.*\b0 (?:failures|errors|failed)\b"),
    _PASSED,
)
"""How the common tools count what passed, the line that counts single tests first."""

_COLOURS = re.compile(r"\x1b\[[0-9;]*m")
_BLANKS = re.compile(r"\s+")


def passing_line(text: str) -> str:
    """The line of a passed check's output that counts what passed; empty where none does.

    Looked for in the last 4,000 characters, from the end; colours and rules around it are left out.
    """
    lines = _COLOURS.sub("", text[-_TAIL:]).split("\n")
    for pattern in _COUNTS:
        for line in reversed(lines):
            if len(line) <= 400 and pattern.search(line):
                return _BLANKS.sub(" ", line.strip(" \t\r=-·•✓✔")).strip()
    return ""


_EXIT = re.compile(r"^(?:Exit code|Error: Exit code|Process exited with code)\s+\d+\s*$")


def telling_line(text: str) -> str:
    """The line of a failed command's output that tells most, for a list; the whole stays one key away.

    Looked for in the first and the last 4,000 characters. Where nothing stands out, the first line that is more
    than an exit code.
    """
    head = text[:_TAIL]
    lines = head.split("\n") + (text[-_TAIL:].split("\n") if len(text) > _TAIL else [])
    lines = [line for line in (line[:400].strip() for line in lines) if line]
    for pattern in _TELLING:
        for line in lines:
            if pattern.search(line):
                return line
    return next((line for line in lines if not _EXIT.match(line)), lines[0] if lines else "")
