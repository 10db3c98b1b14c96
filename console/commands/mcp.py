"""``affidavit mcp``: the server an agent asks over the Model Context Protocol."""

from __future__ import annotations

import os
from datetime import UTC, datetime
from importlib.util import find_spec
from typing import Any

import click

from affidavit.text.marks import marked
from console.commands.call import Call, Refused, command
from console.settings import me

SETTLED = ("user", "repo")


@command("mcp", "Serve agents over the Model Context Protocol", prints=None, mask=False)
@click.option(
    "--workspace",
    metavar="DIR",
    help="The project's folder, whose files may be searched; where it is started, unless said.",
)
@click.option(
    "--scope",
    "scopes",
    metavar="LEVEL:KEY",
    multiple=True,
    help="Which repo it is, and which user, as memories name them.",
)
@click.option("--agent", metavar="NAME", help="Which agent asks, where memories are for one.")
@click.option("--space", "memory_space", metavar="NAME", help="The memory space asked.")
@click.option("--route", metavar="NAME", help="The route asked on.")
def mcp_command(call: Call, workspace: str | None, scopes: tuple[str, ...], **asked: str | None) -> int:
    """Answer one agent on standard input and output until it closes its end. An agent's settings start this.

    The agent has four tools: recall_memory, propose_memory, retrieve_evidence and report_use. What it may find is
    settled here and not by what it sends. Every call is a record of a session of its own, written before anything is
    handed over; where nothing can be written, nothing is. No tool decides: what an agent proposes waits in the queue.

    It needs the mcp package: pip install 'affidavit[mcp]'.
    """
    if find_spec("mcp") is None:
        raise Refused("the Model Context Protocol's package is not installed", "pip install 'affidavit[mcp]'")
    from console.mcp.server import serve
    from storage.agent_asking import AgentSession, Asker
    from storage.store import Store, StoreError

    folder = _folder(call, workspace)
    places = {} if folder is None else {"workspace": folder, "repo": folder}
    scope = {"user": me(call.settings), **places, **_settled(scopes)}
    scope = {level: marked(key) for level, key in scope.items()}
    named = {name: marked(said) for name, said in asked.items() if said is not None}
    asker = Asker(user=scope["user"], scope=scope, folder=folder, **named)
    try:
        Store.open(call.store, create=True).close()
    except StoreError as error:
        if error.reason not in ("read_only", "locked"):
            raise
        call.output.tell(f"{error}; nothing is handed over while nothing can be recorded")
    serve(AgentSession(call.store, asker, clock=_now))
    return 0


def _folder(call: Call, workspace: str | None) -> str | None:
    """The project's folder. Where none is named, a home folder or a disk's root is none: it would be read whole."""
    folder = os.path.realpath(workspace or os.getcwd())
    if not os.path.isdir(folder):
        raise Refused(f"{workspace!r} is no folder")
    if workspace is None and folder in (os.path.realpath(os.path.expanduser("~")), os.path.dirname(folder)):
        call.output.tell(f"{folder} is no project: no file is searched; name the project's folder with --workspace")
        return None
    return folder


def _settled(scopes: tuple[str, ...]) -> dict[str, Any]:
    found = {}
    for scope in scopes:
        level, _, key = scope.partition(":")
        if level not in SETTLED or not key:
            raise click.UsageError(f"--scope takes LEVEL:KEY with a level of {' or '.join(SETTLED)}; not {scope!r}")
        found[level] = key
    return found


def _now() -> datetime:
    return datetime.now(UTC)
