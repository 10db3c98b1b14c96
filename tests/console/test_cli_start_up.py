"""What each command loads: nothing heavy that it does not need."""

from __future__ import annotations

import subprocess
import sys

import pytest

from tests.journeys.driving import ROOT, affidavit
from tests.storage.claude_fixtures import SESSION, lines, session

SCREEN = {"textual"}
MODELS = {"sqlalchemy", "sqlmodel", "alembic", "pydantic"}


def loaded(*words: str, code: int = 0) -> set[str]:
    """Top-level packages that a command has loaded by its end."""
    script = (
        "import sys\nfrom console.main import main\n"
        f"code = main({list(words)!r})\n"
        "print('loaded:', *{name.partition('.')[0] for name in sys.modules}, file=sys.stderr)\nsys.exit(code)"
    )
    done = subprocess.run([sys.executable, "-c", script], cwd=ROOT, capture_output=True, timeout=60, check=False)
    assert done.returncode == code, done.stderr.decode()
    return set(done.stderr.decode().rpartition("loaded:")[2].split())


@pytest.fixture
def log(tmp_path):
    """A log that is already in the store."""
    path = tmp_path / f"{SESSION}.jsonl"
    path.write_bytes(lines(session()))
    assert affidavit("import", str(path)).code == 0
    return path


@pytest.mark.parametrize(
    "words",
    [
        ("sessions",),
        ("sessions", "--json"),
        ("show", f"session/{SESSION}"),
        ("show", f"session/{SESSION}", "--json"),
        ("show", f"session/{SESSION}", "--raw"),
        ("search", "role"),
        ("verify", f"session/{SESSION}"),
        ("doctor",),
        ("config", "check"),
        ("--help",),
    ],
)
@pytest.mark.usefixtures("log")
def test_reading_loads_neither_screens_nor_models(words):
    assert loaded(*words) & (SCREEN | MODELS) == set()


def test_importing_into_a_store_that_is_there_loads_no_models(log):
    assert loaded("import", str(log)) & (SCREEN | MODELS) == set()


@pytest.mark.usefixtures("log")
def test_checking_what_is_new_loads_no_models():
    assert loaded("verify", "--since-last") & SCREEN == set()
    assert loaded("verify", "--since-last") & (SCREEN | MODELS) == set()


def test_a_refused_console_loads_no_screens():
    assert loaded(code=2) & (SCREEN | MODELS) == set()
    assert loaded("session/s1", code=2) & (SCREEN | MODELS) == set()


def test_a_listing_loads_neither_readers_nor_decompression():
    assert affidavit("record", stdin=b'{"type":"session.event","session":"a","kind":"note"}\n').code == 0
    assert loaded("sessions") & {"zstandard", "rapidfuzz"} == set()
