"""What the project's files may say, and that their links lead somewhere."""

from __future__ import annotations

import re
import subprocess
import tomllib
from itertools import chain
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent

HOSTS = ("py" + "pi.org", "python" + "hosted", "npm" + "js.org", "deb." + "debian", "crates" + ".io")
PLACES = ("/work" + "/main", "/work" + "/shared", "/work" + "/.library", "/ro" + "ot/", "/opt" + "/wheels")
"""Written in two halves, so that this file does not hold what it looks for."""


def committed() -> list[Path]:
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=True).stdout
    return [ROOT / name for name in listed.decode().split("\0") if name and (ROOT / name).is_file()]


@pytest.fixture(scope="module")
def texts() -> dict[str, str]:
    try:
        files = committed()
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("not a git checkout")
    found = {}
    for path in files:
        if path.suffix not in (".png", ".db", ".zst"):
            found[str(path.relative_to(ROOT))] = path.read_text("utf-8", "replace")
    return found


def test_no_file_names_a_package_registry_or_a_place_on_somebodys_machine(texts: dict[str, str]) -> None:
    found = [
        f"{name}: {word}"
        for name, text in texts.items()
        for word in (*HOSTS, *PLACES)
        if word in text and name != "tests/test_repository.py"
    ]
    assert found == []


def test_only_tests_and_benchmarks_look_beside_the_project(texts: dict[str, str]) -> None:
    found = [
        name for name, text in texts.items() if "../shared" in text and not name.startswith(("tests/", "benchmarks/"))
    ]
    assert found == []


def test_every_relative_link_of_the_pages_leads_to_a_file(texts: dict[str, str]) -> None:
    dead = []
    for name, text in texts.items():
        if not name.endswith(".md"):
            continue
        for target in re.findall(r"\]\(([^)\s]+)\)|<img [^>]*src=\"([^\"]+)\"", text):
            link = (target[0] or target[1]).partition("#")[0]
            if link and "://" not in link and not (ROOT / name).parent.joinpath(link).exists():
                dead.append(f"{name}: {link}")
    assert dead == []


def test_every_direct_dependency_is_pinned_and_has_its_reason(texts: dict[str, str]) -> None:
    project = tomllib.loads(texts["pyproject.toml"])["project"]
    wanted = [*project["dependencies"], *chain(*project["optional-dependencies"].values())]
    names = {re.split(r"[<>=;\[ ]", word, maxsplit=1)[0].lower() for word in wanted}
    pinned = {line.partition("==")[0].lower() for line in texts["constraints.txt"].splitlines() if "==" in line}
    assert names - pinned == set()
    reasons = {word.lower() for word in re.findall(r"^\| `([^`]+)`", texts["docs/dependencies.md"], re.MULTILINE)}
    assert names ^ reasons == set()


def test_constraints_hold_versions_and_no_addresses(texts: dict[str, str]) -> None:
    for line in texts["constraints.txt"].splitlines():
        assert line.startswith("#") or re.fullmatch(r"[A-Za-z0-9_.-]+==[0-9][0-9a-z.]*(; .+)?", line), line


def test_the_page_on_proof_lists_every_class_of_failure(texts: dict[str, str]) -> None:
    from storage.verify import FAILURES

    table = texts["docs/proof.md"].partition("## Classes of failure")[2].partition("\n## ")[0]
    assert dict(re.findall(r"^\| `(\w+)` \| (.+) \|$", table, re.MULTILINE)) == FAILURES


def test_an_installed_copy_holds_every_file_of_the_packages(texts: dict[str, str]) -> None:
    """Only folders with ``__init__.py``, and data files that are named as such, are installed."""
    tool = tomllib.loads(texts["pyproject.toml"])["tool"]["setuptools"]
    data = tool["package-data"]
    left_out = []
    for name in texts:
        path = Path(name)
        if path.parts[0] not in ("affidavit", "storage", "console", "sample_sessions"):
            continue
        if path.suffix == ".py":
            installed = f"{path.parent}/__init__.py" in texts
        else:
            installed = any(path.match(pattern) for pattern in data.get(path.parts[0], []))
        if not installed:
            left_out.append(name)
    assert left_out == []


def test_every_command_the_pages_name_exists(texts: dict[str, str]) -> None:
    from console.commands import COMMANDS

    pages = {name: text for name, text in texts.items() if name.endswith(".md")}
    named = {
        (name, verb)
        for name, text in pages.items()
        for verb in re.findall(r"(?:`|^|\| )(?:\.venv/bin/)?affidavit ([a-z]+(?:-[a-z]+)*)\b(?!/)", text, re.MULTILINE)
    }
    assert {verb for _, verb in named} >= {"import", "verify", "show", "demo"}
    assert {(name, verb) for name, verb in named if verb not in COMMANDS} == set()


def test_every_make_target_the_pages_name_exists(texts: dict[str, str]) -> None:
    targets = set(re.findall(r"^([a-z]+):", texts["Makefile"], re.MULTILINE))
    named = {
        word
        for name in ("README.md", "CONTRIBUTING.md")
        for words in re.findall(r"(?:`|^)make ((?:[a-z]+ ?)+)", texts[name], re.MULTILINE)
        for word in words.split()
    }
    assert named - targets == set()
    assert {"demo", "test"} <= named
