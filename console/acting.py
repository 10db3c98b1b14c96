"""Who gives a command that decides, and what is said where it is refused."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING

import click

from console.commands.call import Call, Decorated, Refused
from console.settings import me

if TYPE_CHECKING:
    from affidavit.policy.actors import Actor, Refusal


def actor_of(call: Call, who: str | None, environment: Mapping[str, str] = os.environ) -> Actor:
    """Who acts: ``who`` where it is said, else the machine's user; with the agent the environment shows."""
    from affidavit.policy.actors import Actor, agent_in

    user = me(call.settings)
    return Actor(user if who is None else who, user, agent_in(environment))


def said_no(call: Call, refusal: Refusal) -> Refused:
    """The refusal to raise; with ``--json`` its code stands in the document, too."""
    if call.output.json:
        call.output.document({"refused": {"code": refusal.code, "reason": refusal.reason}})
    return Refused(f"refused ({refusal.code}): {refusal.reason}")


def one_line(_: click.Context, option: click.Parameter, said: str | None) -> str | None:
    """Refuses what is no line of words: decisions are read in lists."""
    if said is not None and (not said.strip() or not said.isprintable()):
        raise click.BadParameter("must be words on one line", param=option)
    return said


def deciding(function: Decorated) -> Decorated:
    """The options of every command that decides: ``who`` and ``reason``."""
    reason = click.option("--reason", required=True, metavar="TEXT", callback=one_line, help="Why; kept with it.")
    who = click.option("--as", "who", metavar="WHO", callback=one_line, help="Who decides; you, unless said.")
    return who(reason(function))
