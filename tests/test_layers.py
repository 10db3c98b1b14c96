"""The layers hold: who may know whom, and what may be loaded before there is a need for it."""

from __future__ import annotations

import ast
import os
import pkgutil
import subprocess
import sys
from pathlib import Path

import pytest

import sample_sessions

ROOT = Path(__file__).resolve().parent.parent
PACKAGES = ("affidavit", "storage", "console", "sample_sessions")
CODE = (*PACKAGES, "tests", "benchmarks", "docs")

TERMINAL = {"textual", "rich", "click"}
DATABASE = {"sqlite3", "pysqlite3", "sqlalchemy", "sqlmodel", "alembic"}
ONLY_IN_DRIVER = {"sqlite3", "pysqlite3", "_sqlite3"}


def loaded_after(code: str, **environment: str) -> set[str]:
    """Names of the top-level packages that a fresh interpreter holds once ``code`` has run."""
    code += "\nimport sys as _s\nprint('\\nloaded:', *sorted({n.partition('.')[0] for n in _s.modules}))"
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=ROOT,
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode == 0, done.stderr
    return set(done.stdout.rpartition("loaded:")[2].split())


def modules_of(package: str) -> list[str]:
    """Every module of a package, but those that are commands and run when they are imported."""
    inside = pkgutil.walk_packages([str(ROOT / package)], package + ".")
    return [package, *(m.name for m in inside if m.name.rpartition(".")[2] not in ("__main__", "env"))]


def run_command(*words: str) -> str:
    return (
        f"import sys\nsys.argv = {['affidavit', *words]!r}\nfrom console.main import main\n"
        "try:\n    main()\nexcept SystemExit as end:\n    assert not end.code, end.code\n"
    )


def test_the_domain_loads_neither_a_database_nor_a_terminal() -> None:
    names = modules_of("affidavit")
    assert "affidavit.session.event" in names
    assert loaded_after("import " + ", ".join(names)) & (TERMINAL | DATABASE | {"storage", "console"}) == set()


def test_storage_loads_no_terminal() -> None:
    names = modules_of("storage")
    assert "storage.readers" in names
    assert loaded_after("import " + ", ".join(names)) & (TERMINAL | {"console"}) == set()


def test_a_plain_interpreter_is_free_of_what_these_tests_look_for() -> None:
    assert loaded_after("pass") & (TERMINAL | DATABASE | set(PACKAGES)) == set()


UNTIL_FIRST_ROWS = """
import asyncio, sys
import console.commands.open as door
from console.app import AffidavitApp
from console.main import main

async def leave(pilot):
    for _ in range(200):
        await pilot.pause(0.05)
        if "failing" in pilot.app.export_screenshot():
            pilot.app.exit(return_code=0)
            return
    raise SystemExit("the first rows did not come")

AffidavitApp.open = lambda app: app.run(headless=True, size=(120, 40), auto_pilot=leave)
door.console_can_open = lambda: None
assert main(["--store", sys.argv[1]]) == 0
"""


def test_the_console_shows_its_first_rows_without_a_mapper_of_tables(tmp_path: Path) -> None:
    store = sample_sessions.build(tmp_path).store
    loaded = loaded_after(f"import sys\nsys.argv = ['-c', {store!r}]\n{UNTIL_FIRST_ROWS}")
    assert "textual" in loaded
    assert loaded & {"sqlalchemy", "sqlmodel", "alembic", "pydantic"} == set()


def imports_of(path: Path) -> set[tuple[int, str]]:
    """(line, top-level package) of every import in a file, by statement or by a call with a constant name."""
    found = set()
    for node in ast.walk(ast.parse(path.read_bytes(), str(path))):
        if isinstance(node, ast.Import):
            found |= {(node.lineno, alias.name.partition(".")[0]) for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            found.add((node.lineno, node.module.partition(".")[0]))
        elif isinstance(node, ast.Call) and node.args and isinstance(node.args[0], ast.Constant):
            name = getattr(node.func, "id", None) or getattr(node.func, "attr", None)
            if name in ("import_module", "__import__", "importorskip") and isinstance(node.args[0].value, str):
                found.add((node.lineno, node.args[0].value.partition(".")[0]))
    return found


def python_files(*folders: str) -> list[Path]:
    return [path for folder in folders for path in sorted((ROOT / folder).rglob("*.py"))]


def test_one_module_alone_opens_sqlite() -> None:
    """Two SQLite libraries with one file open in one process lose each other's locks."""
    driver = ROOT / "storage" / "driver.py"
    elsewhere = [
        f"{path.relative_to(ROOT)}:{line}"
        for path in python_files(*CODE)
        if path != driver
        for line, name in imports_of(path)
        if name in ONLY_IN_DRIVER
    ]
    assert elsewhere == []
    assert {name for _, name in imports_of(driver)} & ONLY_IN_DRIVER


def test_only_the_console_imports_textual() -> None:
    elsewhere = [
        f"{path.relative_to(ROOT)}:{line}"
        for path in python_files("affidavit", "storage", "sample_sessions", "benchmarks")
        for line, name in imports_of(path)
        if name == "textual"
    ]
    assert elsewhere == []


@pytest.mark.parametrize(
    "words", [("--version",), ("--help",), ("config", "path"), ("completion", "bash")], ids=" ".join
)
def test_small_commands_load_neither_database_nor_screen(words: tuple[str, ...]) -> None:
    loaded = loaded_after(run_command(*words))
    assert "console" in loaded
    assert loaded & {"sqlalchemy", "sqlmodel", "alembic", "pydantic", "textual"} == set()
    if words == ("--version",):
        assert loaded & ({"rich", "orjson", "zstandard"} | DATABASE) == set()


def test_what_speaks_to_agents_is_loaded_only_where_an_agent_is_served() -> None:
    assert loaded_after(run_command("mcp", "--help")) & {"mcp", "mcp_types", "anyio"} == set()
