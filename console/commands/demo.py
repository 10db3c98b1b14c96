"""``affidavit demo``: sessions that tell stories, in a store of their own, and a copy somebody tampered with."""

from __future__ import annotations

import os
import shlex
from typing import TYPE_CHECKING

import click

from affidavit.session.address import parse, shell_command
from console.commands.call import Call, command
from console.settings import PROGRAM
from console.words import plural

if TYPE_CHECKING:
    from sample_sessions.demo import DemoResult


@command("demo", "Sample sessions in a store of their own", prints="store, sessions, tamperedStore")
@click.option("--no-open", is_flag=True, help="Only make the stores, and say what to look at.")
def demo_command(call: Call, no_open: bool) -> int:
    """Make the demo and open the console on it: sample sessions that tell stories, the same every time.

    Its store lies beside your own and is never mixed with it; so does a copy in which one recorded answer was
    changed, for verify to find.
    """
    from sample_sessions.demo import build

    made = build(os.path.dirname(call.store))
    if call.output.json:
        call.output.document(
            {"store": made.store, "sessions": len(made.sessions), "tamperedStore": made.tampered_store}
        )
        return 0
    if not no_open:
        from console.commands.open import open_store

        return open_store(call, made.store, demo=True)
    _print(call, made)
    return 0


def _print(call: Call, made: DemoResult) -> None:
    say = call.output.say
    here = ("--store", made.store)
    say(f"{plural(len(made.sessions), 'sample session')} in {made.store}")
    say()
    for session in made.sessions:
        say(f"  session/{session.id}  {session.title}")
    say()
    say("What to look at:")
    say()
    say("  " + shlex.join([PROGRAM, *here]))
    say("      the console: enter opens a session, } goes to the next problem, ? lists the keys")
    say("  " + shell_command(parse(f"session/{made.sessions[0].id}"), "show", *here))
    say("      the same as words; --json as data, --raw as the very bytes")
    say("  " + shlex.join([PROGRAM, "verify", *here]))
    say("      everything holds")
    say("  " + shlex.join([PROGRAM, "verify", "--store", made.tampered_store]))
    say("      somebody changed one answer in this copy; verify names it and ends with 1")
    say("  " + shell_command(parse(made.tampered), "show", "--store", made.tampered_store))
    say("      the answer as it was changed")
