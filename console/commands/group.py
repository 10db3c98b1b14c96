"""The top of the command line: verbs by name, an address in a verb's place, and nothing guessed."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

import click

from console.commands import COMMANDS
from console.commands.call import Given, mask_option, store_option

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

_OPEN = "console.commands.open"


class Verbs(click.Group):
    """Commands that are imported when they are asked for. A first word with a ``/`` is an address to open."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        module = COMMANDS.get(cmd_name)
        if module is None:
            return None
        command = getattr(import_module(f"console.commands.{module}"), f"{cmd_name.replace('-', '_')}_command")
        assert isinstance(command, click.Command)
        return command

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """Commands; where an address is begun, addresses."""
        found = super().shell_complete(ctx, incomplete)
        from console.commands.completing import FORMS, addresses

        if incomplete and any(form.startswith(incomplete[: len(form)]) for form in FORMS):
            found += addresses(ctx, None, incomplete)
        return found

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        word = args[0]
        command = self.get_command(ctx, word)
        if command is not None:
            return word, command, args[1:]
        if "/" in word:
            from affidavit.session.address import parse

            parse(word)
            opening = import_module(_OPEN).open_command
            return word, opening, args
        raise click.UsageError(f"there is no command {word!r}" + _nearest(word), ctx)


def _nearest(word: str) -> str:
    from difflib import get_close_matches

    near = get_close_matches(word.lower(), COMMANDS, n=2, cutoff=0.6)
    return "; did you mean " + " or ".join(near) + "?" if near else ""


@click.group(
    cls=Verbs,
    invoke_without_command=True,
    options_metavar="[OPTIONS]",
    subcommand_metavar="[ADDRESS | COMMAND [ARGS]...]",
    context_settings={"help_option_names": ["--help", "-h"], "max_content_width": 100},
)
@store_option
@mask_option
@click.option("--read-only", is_flag=True, help="Open the console so that nothing in it can write.")
@click.option("--no-mouse", is_flag=True, help="Leave the mouse to the terminal, which can then select text.")
@click.option("--version", is_flag=True, help="Say which version this is, and stop.")
@click.pass_context
def affidavit(
    ctx: click.Context, store: str | None, mask: bool, read_only: bool, no_mouse: bool, version: bool
) -> int | None:
    """See what an AI coding agent saw and did, and prove that none of it was changed afterwards.

    Without a command this opens the console, at ADDRESS if one is given, such as session/ID#EVENT.

    Exit codes: 0 done and everything holds; 1 a check did not hold; 2 wrong usage, an unusable input or a refused
    command; 3 done, but part of the input could not be read; 130 interrupted.
    """
    if version:
        from console.main import version_line

        click.echo(version_line())
        ctx.exit(0)
    ctx.obj = Given(store=store, mask=mask, read_only=read_only, no_mouse=no_mouse)
    if ctx.invoked_subcommand is None and not ctx.args and not ctx._protected_args:
        return int(import_module(_OPEN).open_console(ctx.obj, None))
    return None
