"""Settings a person writes down, and where the platform wants things kept.

The settings file is TOML. What it says is checked before anything runs on it: a mistake is told with file,
line, key and the nearest valid spelling, and no command guesses what was meant.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from console.written import Problem, line_of, nearest, read_table

PROGRAM = "affidavit"
THEMES = ("auto", "dark", "light", "contrast", "ansi-dark", "ansi-light")
"""What ``theme`` may be; ``auto`` follows what the terminal says of its background."""


@dataclass(frozen=True, slots=True)
class Settings:
    """What the settings file says; a field nobody set has the value shown here.

    ``me``: who acts (``None``: the user of the operating system). ``store``: path of the store (``None``: the
    default place). ``theme``: one of :data:`THEMES`. ``mouse``: whether the console takes the mouse.
    ``copy_command``: a program and its arguments that reads the text to copy from its standard input.
    ``mask``: hide paths, mail addresses, hosts and secrets wherever people read.
    """

    me: str | None = None
    store: str | None = None
    theme: str = "auto"
    mouse: bool = True
    copy_command: tuple[str, ...] | None = None
    mask: bool = False


class SettingsError(Exception):
    """The settings file cannot be used; ``problems`` lists every mistake in it."""

    def __init__(self, problems: list[Problem]) -> None:
        super().__init__("\n".join(map(str, problems)))
        self.problems = problems


def config_file() -> Path:
    """Where the settings file is looked for; it need not exist."""
    return _places("config") / "config.toml"


def keys_file() -> Path:
    """Where the key map is looked for; it need not exist."""
    return _places("config") / "keys.toml"


def filters_file() -> Path:
    """Where saved filters are kept; made when the first is."""
    return _places("config") / "filters.toml"


def state_folder() -> Path:
    """Where the program keeps its log, the marks of finished verifications and copies nobody took. May not exist."""
    return _places("state")


def default_store() -> Path:
    """The store used when nobody names one."""
    return _places("data") / "store.db"


def demo_store() -> Path:
    """The store of the sample sessions, apart from the person's own."""
    return _places("data") / "demo.db"


def _places(which: str) -> Path:
    from platformdirs import PlatformDirs

    folders = PlatformDirs(PROGRAM, appauthor=False)
    return {
        "config": folders.user_config_path,
        "data": folders.user_data_path,
        "state": folders.user_state_path,
    }[which]


def store_path(option: str | None, settings: Settings, environment: Mapping[str, str] = os.environ) -> str:
    """The store to use: the option, else ``AFFIDAVIT_STORE``, else the settings file, else the default place.

    A URL names a file as ``sqlite:///PATH``; any other raises ``ValueError``.
    """
    named = option or environment.get("AFFIDAVIT_STORE") or settings.store
    if named and "://" in named:
        scheme, _, named = named.partition(":///")
        if scheme != "sqlite" or not named:
            raise ValueError(f"a store is a file: give its path, or sqlite:///PATH ({scheme!r} is neither)")
    return os.path.abspath(os.path.expanduser(named)) if named else str(default_store())


def me(settings: Settings) -> str:
    """Who acts: as the settings say, else the user of the operating system."""
    import getpass

    try:
        return settings.me or getpass.getuser()
    except (OSError, KeyError, ImportError):
        return "unknown"


def load(file: Path | None = None) -> Settings:
    """The settings in ``file`` (default: :func:`config_file`). Raises :class:`SettingsError`."""
    settings, problems = read(config_file() if file is None else file)
    if problems:
        raise SettingsError(problems)
    return settings


def read(file: Path) -> tuple[Settings, list[Problem]]:
    """What the file says as far as it can be used, and every mistake in it. No file: no settings, no mistakes."""
    table, text, problems = read_table(file)
    return (Settings(), problems) if problems else _checked(str(file), text, table)


def _checked(name: str, text: str, table: dict[str, Any]) -> tuple[Settings, list[Problem]]:
    values: dict[str, Any] = {}
    problems: list[Problem] = []
    for key, value in table.items():
        check = _CHECKS.get(key)
        if check is None:
            near = nearest(key.replace("-", "_"), _CHECKS)
            problems.append(Problem(name, line_of(text, key), key, "there is no such setting", near))
            continue
        try:
            values[key] = check(value)
        except ValueError as error:
            problems.append(Problem(name, line_of(text, key), key, str(error)))
    if "store" in values:
        beside = os.path.dirname(os.path.abspath(name))
        values["store"] = os.path.join(beside, os.path.expanduser(values["store"]))
    return Settings(**values), problems


def _words(value: Any) -> str:
    if not isinstance(value, str) or not value.strip() or not value.isprintable():
        raise ValueError("must be a text in quotes, not empty, without control characters")
    return value


def _switch(value: Any) -> bool:
    if not isinstance(value, bool):
        raise ValueError("must be true or false")
    return value


def _theme(value: Any) -> str:
    if value not in THEMES:
        raise ValueError("must be one of " + ", ".join(THEMES))
    return str(value)


def _command(value: Any) -> tuple[str, ...]:
    import shlex

    if isinstance(value, str):
        try:
            value = shlex.split(value)
        except ValueError as error:
            raise ValueError(f"cannot be split into words: {error}".lower()) from None
    if not isinstance(value, list) or not value or not all(isinstance(word, str) for word in value):
        raise ValueError('must be a command, as "xclip -selection clipboard" or ["xclip", "-selection", "clipboard"]')
    if not value[0] or any("\0" in word for word in value):
        raise ValueError("names no program")
    return tuple(value)


_CHECKS: dict[str, Callable[[Any], Any]] = {
    "me": _words,
    "store": _words,
    "theme": _theme,
    "mouse": _switch,
    "copy_command": _command,
    "mask": _switch,
}
