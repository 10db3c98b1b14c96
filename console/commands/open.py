"""``affidavit [ADDRESS]``: the console."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

import click

from affidavit.session.address import parse
from affidavit.text.display import one_line
from console.commands.call import Call, Given, Refused, mask_option, named_store, store_option
from console.machine import background, console_can_open
from console.settings import PROGRAM

if TYPE_CHECKING:
    from storage.archive import Archive


@click.command("affidavit")
@click.argument("address")
@store_option
@mask_option
@click.option("--read-only", is_flag=True, help="Nothing in the console can write.")
@click.option("--no-mouse", is_flag=True, help="Leave the mouse to the terminal, which can then select text.")
def open_command(address: str, store: str | None, mask: bool, read_only: bool, no_mouse: bool) -> int:
    """Open the console at ADDRESS."""
    before = click.get_current_context().find_object(Given) or Given()
    given = Given(
        store=store or before.store,
        mask=mask or before.mask,
        read_only=read_only or before.read_only,
        no_mouse=no_mouse or before.no_mouse,
    )
    return open_console(given, address)


def open_console(given: Given, address: str | None) -> int:
    """Opens the console on the store in use, at an address if one is given."""
    call = Call(store_option=given.store, mask_option=given.mask)
    return open_store(call, call.store, address, read_only=given.read_only, no_mouse=given.no_mouse)


def open_store(
    call: Call,
    path: str,
    address: str | None = None,
    *,
    read_only: bool = False,
    no_mouse: bool = False,
    demo: bool = False,
) -> int:
    """Runs the console on a store until the person leaves; where none can be drawn, says which command prints instead.

    A missing store is no error: the console then offers what can be imported.
    """
    start = None if address is None else str(parse(address))
    settings = call.settings
    reason = console_can_open()
    if reason is not None:
        instead = [PROGRAM, "sessions"] if start is None else [PROGRAM, "show", start]
        if path != named_store(None, settings):
            instead += ["--store", path]
        raise Refused(f"the console cannot open: {reason}", f"{shlex.join(instead)} prints the same as plain text")
    from console import key_map, saved_filters
    from console.app import AffidavitApp
    from console.program import Program
    from console.settings import filters_file, keys_file

    def archive() -> Archive:
        from storage.archive import Archive

        return Archive.open(path)

    keys, problems = key_map.read(keys_file())
    problems += saved_filters.read(filters_file())[1]
    app = AffidavitApp(
        archive,
        services=Program(path, settings, demo=demo),
        start=start,
        read_only=read_only,
        mouse=settings.mouse and not no_mouse,
        mask=call.output.mask,
        keys=keys,
        told=[one_line(str(problem), 400) for problem in problems],
        theme=background() if settings.theme == "auto" else settings.theme,
    )
    app.open()
    if app.crash is not None:
        raise app.crash
    return app.return_code or 0
