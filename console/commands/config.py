"""``affidavit config``: where the settings are, and whether they can be used."""

from __future__ import annotations

import click

from console import settings
from console.commands.call import Call, command


@click.group("config", no_args_is_help=False, short_help="Where the settings are, and whether they hold")
def config_command() -> None:
    """Where the settings file is, and whether what it says can be used."""


@command(
    "path",
    "Print where the settings file is",
    prints="config, exists, keys, filters, state, defaultStore, demoStore",
    store=False,
)
def config_path(call: Call) -> int:
    """Print where the settings file is looked for; with --json also where everything else lies."""
    if call.output.json:
        call.output.document(
            {
                "config": str(settings.config_file()),
                "exists": settings.config_file().exists(),
                "keys": str(settings.keys_file()),
                "filters": str(settings.filters_file()),
                "state": str(settings.state_folder()),
                "defaultStore": str(settings.default_store()),
                "demoStore": str(settings.demo_store()),
            }
        )
    else:
        call.output.say(str(settings.config_file()))
    return 0


@command(
    "check",
    "Say what is wrong with the settings",
    prints="config, exists, holds, problems[{file, line, key, reason, hint}]",
    store=False,
)
def config_check(call: Call) -> int:
    """Read settings, key map and saved filters, and say what is wrong with them. Exit code 1 if anything is."""
    from console import key_map, saved_filters

    file, keys, filters = settings.config_file(), settings.keys_file(), settings.filters_file()
    _, problems = settings.read(file)
    problems += key_map.read(keys)[1] + saved_filters.read(filters)[1]
    if call.output.json:
        found = [{"file": p.file, "line": p.line, "key": p.key, "reason": p.reason, "hint": p.hint} for p in problems]
        call.output.document({"config": str(file), "exists": file.exists(), "holds": not problems, "problems": found})
        return 1 if problems else 0
    for problem in problems:
        call.output.say(str(problem))
    for each, without in (
        (file, "every setting has its default"),
        (keys, "every action has its own keys"),
        (filters, "no filter was saved"),
    ):
        if any(problem.file == str(each) for problem in problems):
            continue
        call.output.say(f"{each} is in order" if each.exists() else f"{each} does not exist; {without}")
    return 1 if problems else 0


config_command.add_command(config_path)
config_command.add_command(config_check)
