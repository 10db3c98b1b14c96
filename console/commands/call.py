"""What every command has in common: its options, its settings, its store and where it writes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property, wraps
from typing import TYPE_CHECKING, Any, TypeVar

import click

from console.output import Output
from console.settings import Settings, load, store_path

if TYPE_CHECKING:
    from storage.archive import Archive

COMPLETION_VARIABLE = "_AFFIDAVIT_COMPLETE"
"""What a shell sets when it asks for completions."""

JSON_EPILOG = "With --json: "
"""What stands before the shape of a command's document in its help."""

SHARED = frozenset({"store", "json", "mask"})
"""Options of many commands; help lists them behind a command's own."""

Decorated = TypeVar("Decorated", bound=Callable[..., Any])


class Refused(Exception):
    """A command that cannot or will not be done. ``hint`` says what would help. Exit code 2."""

    def __init__(self, reason: str, hint: str = "") -> None:
        super().__init__(reason)
        self.reason = reason
        self.hint = hint


@dataclass(frozen=True, slots=True)
class Given:
    """What stood before the command's name, and holds for any command."""

    store: str | None = None
    mask: bool = False
    read_only: bool = False
    no_mouse: bool = False


@dataclass
class Call:
    """One run of one command."""

    store_option: str | None = None
    json: bool = False
    mask_option: bool = False
    output: Output = field(init=False)

    def __post_init__(self) -> None:
        self.output = Output(json=self.json, mask=self.mask_option)

    @cached_property
    def settings(self) -> Settings:
        """What the settings file says; raises ``SettingsError``."""
        settings = load()
        # Set in the settings file, a mask is for people's eyes; a program that reads JSON asks for it by name.
        self.output.mask = self.output.mask or (settings.mask and not self.json)
        return settings

    @cached_property
    def store(self) -> str:
        """Path of the store this command works on."""
        return named_store(self.store_option, self.settings)

    def archive(self) -> Archive:
        """The store, opened for reading; raises ``StoreError``."""
        from storage.archive import Archive

        return Archive.open(self.store)


def named_store(option: str | None, settings: Settings) -> str:
    """Path of the store to use; raises :class:`Refused` for a URL that names no file."""
    try:
        return store_path(option, settings)
    except ValueError as error:
        raise Refused(str(error)) from None


def store_option(function: Decorated) -> Decorated:
    return click.option(
        "--store", metavar="PATH", help="The store to use, instead of AFFIDAVIT_STORE or the default one."
    )(function)


def json_option(function: Decorated) -> Decorated:
    return click.option("--json", "json", is_flag=True, help="Print one JSON document instead of words.")(function)


def mask_option(function: Decorated) -> Decorated:
    return click.option(
        "--mask", is_flag=True, help="Hide paths, mail addresses, hosts and secrets in what is printed."
    )(function)


def command(
    name: str, about: str, *, prints: str | None, store: bool = True, mask: bool = True
) -> Callable[[Callable[..., int]], click.Command]:
    """Makes a function ``(call, …) -> exit code`` a command with the options that all commands share.

    ``about`` is its line in the list of commands; the function's docstring is its help. ``prints`` is the shape of
    the JSON document it prints (``None``: it prints none, and has no ``--json``).
    """

    def decorate(function: Callable[..., int]) -> click.Command:
        @wraps(function)
        def run(**options: Any) -> int:
            given = click.get_current_context().find_object(Given) or Given()
            if given.read_only or given.no_mouse:
                raise click.UsageError("--read-only and --no-mouse are for the console, not for " + name)
            call = Call(
                store_option=options.pop("store", None) or given.store,
                json=options.pop("json", False),
                mask_option=options.pop("mask", False) or given.mask,
            )
            return function(call, **options)

        for option, wanted in ((mask_option, mask), (json_option, prints is not None), (store_option, store)):
            if wanted:
                run = option(run)
        epilog = None if prints is None else JSON_EPILOG + prints
        made = click.command(name, short_help=about, epilog=epilog)(run)
        made.params.sort(key=lambda parameter: parameter.name in SHARED)
        return made

    return decorate
