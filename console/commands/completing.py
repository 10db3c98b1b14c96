"""What a shell may complete: addresses in the store. Never says a word, whatever goes wrong."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import TYPE_CHECKING

import click
from click.shell_completion import CompletionItem

from console.commands.call import Call, Given

if TYPE_CHECKING:
    from storage.archive import Archive
    from storage.queries.models import SessionRow

MOST = 50
"""Addresses offered at once, those of the newest things."""

FORMS = ("session/", "turn/", "snapshot/")
"""Beginnings of addresses that are completed."""


def addresses(ctx: click.Context, _parameter: click.Parameter | None, incomplete: str) -> list[CompletionItem]:
    """Addresses that begin as what is typed; what they name is the help some shells show.

    Sessions, with ``#`` behind one its prompts and problems (or, with some of an event's digits, any event), turns
    and snapshots.
    """
    given = ctx.find_object(Given) or Given()
    try:
        with Call(store_option=ctx.params.get("store") or given.store).archive() as archive:
            return list(islice(_fitting(archive, incomplete), MOST))
    except Exception:
        # The person is in the middle of a line: there is nowhere to put an error.
        return []


def sessions(ctx: click.Context, _parameter: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Ids of sessions that begin as what is typed."""
    found = addresses(ctx, None, f"session/{incomplete.removeprefix('session/')}")
    return [CompletionItem(item.value.removeprefix("session/"), help=item.help) for item in found]


def _fitting(archive: Archive, typed: str) -> Iterator[CompletionItem]:
    form, _, rest = typed.partition("/")
    if form == "session" and "#" in rest:
        yield from _events(archive, *rest.split("#", 1))
        return
    if form == "turn" and "/" in rest:
        yield from _turns(archive, *rest.split("/", 1))
        return
    for row in archive.sessions(limit=1_000).rows:
        for beginning in ("session/", "turn/"):
            address = f"{beginning}{row.uid}" + ("/" if beginning == "turn/" else "")
            # What is empty yet may become any address: a session's is the one that is meant most often.
            if address.startswith(typed) and (beginning == "session/" or typed.startswith("t")):
                yield CompletionItem(address, help=_line(row.title))
    if typed and "snapshot/".startswith(typed[:9]):
        for snapshot in archive.snapshots.page(limit=1_000).rows:
            address = f"snapshot/{snapshot.uid}"
            if address.startswith(typed):
                yield CompletionItem(address, help=_line(snapshot.question))


def _one(archive: Archive, id: str) -> SessionRow | None:
    near = archive.find_sessions(id)
    return near[0] if len(near) == 1 else None


def _events(archive: Archive, id: str, prefix: str) -> Iterator[CompletionItem]:
    """Events of a session whose id begins with some digits; without any the prompts and the problems."""
    from affidavit.session.event import event_hex
    from storage.archive import EventFilter

    row = _one(archive, id)
    if row is None:
        return
    if prefix:
        found = list(archive.find_event(row.key, prefix))
    else:
        prompts = archive.events(row.key, EventFilter(kinds=frozenset({"user.message"})), limit=MOST).rows
        problems = archive.events(row.key, EventFilter(problems_only=True), limit=MOST).rows
        found = sorted({*prompts, *problems}, key=lambda event: (event.sort, event.key))
    for event in found:
        yield CompletionItem(f"session/{id}#{event_hex(event.id)}", help=_line(event.summary))


def _turns(archive: Archive, id: str, number: str) -> Iterator[CompletionItem]:
    row = _one(archive, id)
    for turn in archive.turns(row.key) if row is not None else ():
        if turn.turn and str(turn.turn).startswith(number):
            yield CompletionItem(f"turn/{id}/{turn.turn}", help=_line(turn.summary))


def _line(text: str | None) -> str:
    from affidavit.text.display import one_line

    return one_line(text or "", 60)
