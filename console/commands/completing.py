"""What a shell may complete: addresses of the sessions in the store. Never says a word, whatever goes wrong."""

from __future__ import annotations

import click
from click.shell_completion import CompletionItem

from console.commands.call import Call, Given

MOST = 50
"""Addresses offered at once, of the newest sessions."""


def addresses(ctx: click.Context, _parameter: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Addresses of sessions that begin as what is typed; their titles are the help some shells show."""
    from affidavit.text.display import one_line

    given = ctx.find_object(Given) or Given()
    try:
        with Call(store_option=ctx.params.get("store") or given.store).archive() as archive:
            rows = archive.sessions(limit=1_000).rows
        found = [row for row in rows if f"session/{row.uid}".startswith(incomplete)]
        return [CompletionItem(f"session/{row.uid}", help=one_line(row.title, 60)) for row in found[:MOST]]
    except Exception:
        # The person is in the middle of a line: there is nowhere to put an error.
        return []
