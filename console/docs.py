"""Pages made from the code: ``python -m console.docs`` writes them, ``--check`` says which are stale.

The command line from its commands, the keys from the registry of actions, the JSON Schema from the models.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click

from console.commands.call import JSON_EPILOG
from console.commands.group import affidavit
from console.settings import PROGRAM

if TYPE_CHECKING:
    from console.actions import Action

FOLDER = Path(__file__).resolve().parent.parent / "docs"
MADE = "<!-- Made by python -m console.docs; change the code instead. -->"

EXIT_CODES = (
    ("0", "done, and everything holds"),
    ("1", "a check did not hold, or there are findings"),
    ("2", "wrong usage, an unusable input or a refused command"),
    ("3", "done, but part of the input could not be read; all of it is listed"),
    ("130", "interrupted; what was done before is kept"),
)


NAMED = (
    ("session/ID", "a session"),
    ("session/ID#EVENT", "one event of it"),
    ("turn/SESSION/7", "its 7th turn"),
    ("candidate/ID@2", "a memory candidate, at its 2nd version"),
    ("memory/ID@3", "a governed memory, at its 3rd version"),
    ("entry/1234", "a ledger entry"),
    ("payload/SHA256", "a recorded body"),
)
"""The addresses that lead somewhere in this version."""


def pages() -> dict[str, str]:
    """Every page by its path below ``docs/``."""
    return {"cli.md": command_line(), "keys.md": keys(), "schema/lines.json": schema()}


def command_line() -> str:
    """The page of the command line."""
    context = click.Context(affidavit, info_name=PROGRAM, **affidavit.context_settings)
    parts = ["# The command line", MADE, *_command(affidavit, context, 2)]
    parts += ["## Exit codes", _table(("code", "means"), EXIT_CODES), "Of several, 2 comes before 1 before 3."]
    forms = [(f"`{form}`", names) for form, names in NAMED]
    parts += [
        "## Addresses",
        "Everything a person can look at has one. A unique prefix of an id is enough; quote `#` for your shell.",
        _table(("address", "names"), forms),
    ]
    for name, child in _commands(affidavit, context):
        parts += _command(child, name, 2)
    return "\n\n".join(parts) + "\n"


def _commands(group: click.Group, context: click.Context) -> Iterator[tuple[click.Context, click.Command]]:
    for name in group.list_commands(context):
        child = group.get_command(context, name)
        assert child is not None
        inner = click.Context(child, info_name=name, parent=context)
        if isinstance(child, click.Group):
            yield from _commands(child, inner)
        else:
            yield inner, child


def _command(command: click.Command, context: click.Context, level: int) -> list[str]:
    usage = " ".join([context.command_path, *command.collect_usage_pieces(context)])
    parts = ["#" * level + f" `{context.command_path}`", f"    {usage}"]
    parts += [" ".join(part.split()) for part in (command.help or "").split("\n\n")]
    if command.epilog:
        words, _, shape = command.epilog.partition(JSON_EPILOG)
        parts.append(f"{words}With `--json`: `{shape}`")
    options = [
        record
        for parameter in command.get_params(context)
        if isinstance(parameter, click.Option) and (record := parameter.get_help_record(context))
    ]
    if options:
        parts.append(_table(("option", "does"), [(f"`{names}`", words) for names, words in options]))
    return parts


def keys() -> str:
    """The page of the console's keys."""
    from console.actions import ACTIONS

    told = (
        "In the console `?` lists the keys that work where you are, and runs them. Other keys can be given to the "
        "actions by their names, see [settings](configuration.md)."
    )
    parts = ["# The keys", MADE, told]
    for group in dict.fromkeys(action.group for action in ACTIONS):
        rows = [
            (
                _keys_of(action) or "in the palette",
                f"`{action.id}`",
                action.tooltip,
            )
            for action in ACTIONS
            if action.group == group
        ]
        parts += [f"## {group}", _table(("key", "name", "does"), rows)]
    return "\n\n".join(parts) + "\n"


def _keys_of(action: Action) -> str:
    from console.actions import key_text

    return " ".join(f"`{key_text(key)}`" for key in action.keys)


def schema() -> str:
    """The JSON Schema of the lines a program may write."""
    from affidavit.lines import json_schema

    return json.dumps(json_schema(), indent=2, ensure_ascii=False) + "\n"


def _table(titles: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> str:
    cells = [titles, ("---",) * len(titles), *rows]
    return "\n".join("| " + " | ".join(cell.replace("|", "\\|") for cell in row) + " |" for row in cells)


def main(arguments: list[str], tell: Callable[[str], object] = print) -> int:
    """Writes the pages, or with ``--check`` says which are not what the code would make (exit code 1)."""
    stale = []
    for name, text in pages().items():
        file = FOLDER / name
        if file.is_file() and file.read_text("utf-8") == text:
            continue
        stale.append(name)
        if "--check" not in arguments:
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text, "utf-8")
            tell(f"written: docs/{name}")
    if stale and "--check" in arguments:
        tell("stale: " + ", ".join(f"docs/{name}" for name in stale) + "; run python -m console.docs")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
