"""What stands in two streams of one log: said once, whichever stream says it first, and known to stand in both.

Some clients record what went to and came from the model, and beside it what their terminal showed of that. Where one
stream is missing, or lacks something, the other tells it; where both have it, the second is a repetition. The third
time a person says "go on" is told from the second by how often each stream has said it.
"""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import sha256
from typing import Protocol

ITEM, CALL, NOTICE, ONCE = "item", "call", "notice", "once"
"""Streams, as the first of :attr:`affidavit.session.event.Reading.queue` names them: ``item`` of the conversation;
``call`` of it, which nothing said before makes a repetition; ``notice`` of the terminal; ``once``: a notice of
something that happens once, so that any record of it before makes it a repetition."""

STREAMS = frozenset({ITEM, CALL, NOTICE, ONCE})

Echo = tuple[int, int, int]
"""(the event that said it last, times notices said it, times items did)."""

Echoes = dict[tuple[int, int], Echo]
"""By session and hash of what was said."""


class Known(Protocol):
    """What must be known of everything folded before."""

    def echo(self, session: int, said: int) -> Echo | None: ...


def hash_of(kind: str, said: str) -> int:
    """By which the same is found in the other stream: 64 bits of SHA-256, as a signed integer."""
    names = f"{kind}\0{said}".encode("utf-8", "surrogatepass")
    return int.from_bytes(sha256(names).digest()[:8], "big", signed=True)


def heard(stream: str, said: Sequence[int], session: int, n: int, known: Known, echoes: Echoes) -> int | None:
    """A record ``n`` of a ``stream`` says these: the event it repeats, if all of them were said by the other one.

    ``echoes``: of this batch; they are brought up to date.
    """
    before = [echoes.get((session, one)) or known.echo(session, one) or (n, 0, 0) for one in said]
    if stream == CALL:
        repeats = False
    elif stream == ONCE:
        repeats = all(notices + items for _, notices, items in before)
    elif stream == NOTICE:
        repeats = all(notices < items for _, notices, items in before)
    else:
        repeats = all(items < notices for _, notices, items in before)
    more = (0, 1) if stream in (ITEM, CALL) else (1, 0)
    for one, (event, notices, items) in zip(said, before, strict=True):
        echoes[session, one] = (event if repeats else n, notices + more[0], items + more[1])
    return before[0][0] if repeats else None
