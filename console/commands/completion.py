"""``affidavit completion``: the script that lets a shell complete commands and options."""

from __future__ import annotations

import click

from console.commands.call import COMPLETION_VARIABLE, Call, command
from console.settings import PROGRAM


@command("completion", "Print the script that completes in a shell", prints=None, store=False, mask=False)
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
def completion_command(call: Call, shell: str) -> int:
    """Print the script that completes this command in SHELL.

    For bash: eval "$(affidavit completion bash)" in ~/.bashrc. For zsh the same in ~/.zshrc. For fish:
    affidavit completion fish > ~/.config/fish/completions/affidavit.fish
    """
    from click.shell_completion import get_completion_class

    from console.commands.group import affidavit

    kind = get_completion_class(shell)
    if kind is None:
        raise click.UsageError(f"no completion is known for {shell}")
    call.output.say(kind(affidavit, {}, PROGRAM, COMPLETION_VARIABLE).source().strip("\n"))
    return 0
