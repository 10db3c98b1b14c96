"""What every test stands on: an empty home, one time zone, one language, no colours chosen, repeatable cases."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from affidavit.policy.actors import AGENT_MARKERS

ROOT = Path(__file__).resolve().parent.parent
SOAK = os.environ.get("AFFIDAVIT_SOAK", "") not in ("", "0")

UNSET = (
    "CLAUDE_CONFIG_DIR",
    "COLORFGBG",
    "COLORTERM",
    "COLUMNS",
    "DISPLAY",
    "EDITOR",
    "FORCE_COLOR",
    "LINES",
    "NO_COLOR",
    "PAGER",
    "SSH_CONNECTION",
    "SSH_TTY",
    "STY",
    "TERM_PROGRAM",
    "TEXTUAL",
    "TMUX",
    "TMUX_PANE",
    "VISUAL",
    "WAYLAND_DISPLAY",
    "WT_SESSION",
)
"""What the person running the tests may have set: display, clipboard, pager, colours must not matter."""

settings.register_profile(
    "share",
    deadline=None,
    derandomize=True,
    database=None,
    max_examples=60,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.register_profile(
    "soak",
    deadline=None,
    derandomize=False,
    database=None,
    max_examples=2000,
    print_blob=True,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("soak" if SOAK else "share")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Tests marked ``soak`` run only where the full figures were asked for."""
    if SOAK:
        return
    skip = pytest.mark.skip(reason="full figures: make soak")
    for item in items:
        if "soak" in item.keywords:
            item.add_marker(skip)


@pytest.fixture(autouse=True)
def home(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty home folder, and an environment that says nothing about who runs the tests or where."""
    folder = tmp_path_factory.mktemp("home")
    for name in list(os.environ):
        # The plugin that compares pictures keeps its folder in a variable of its own.
        chosen = name.startswith(("AFFIDAVIT_", "LC_", "XDG_", "TEXTUAL_")) and not name.startswith("TEXTUAL_SNAPSHOT_")
        if name in UNSET or name in AGENT_MARKERS or chosen:
            monkeypatch.delenv(name)
    for name, value in {
        "HOME": str(folder),
        "USERPROFILE": str(folder),
        "XDG_CACHE_HOME": str(folder / "cache"),
        "XDG_CONFIG_HOME": str(folder / "config"),
        "XDG_DATA_HOME": str(folder / "data"),
        "XDG_RUNTIME_DIR": str(folder),
        "XDG_STATE_HOME": str(folder / "state"),
        "AFFIDAVIT_STORE": str(folder / "store.db"),
        "LANG": "C.UTF-8",
        "LC_ALL": "C.UTF-8",
        "PYTHONUTF8": "1",
        "TERM": "xterm-256color",
        "TZ": "UTC",
        "USER": "tester",
        "LOGNAME": "tester",
    }.items():
        monkeypatch.setenv(name, value)
    return folder


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder of real logs and public vectors that may lie beside the project; skips where it is not."""
    folder = ROOT.parent / "shared"
    if not (folder / "samples").is_dir():
        pytest.skip("no folder of public samples beside the project")
    return folder


@pytest.fixture(scope="session")
def figure() -> Callable[[int, int], int]:
    """``figure(share, full)``: how often a long test goes round in ``make test``, and in ``make soak``."""
    return lambda share, full: full if SOAK else share
