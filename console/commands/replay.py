"""``affidavit replay``: what a model was given, from what was recorded alone."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

import click

from affidavit.session.address import ContextAddress, SessionAddress, TurnAddress, parse
from console.commands import showing_inputs
from console.commands.call import Call, Refused, command
from console.commands.completing import addresses
from console.commands.resolve import find_event, find_session, find_turn

if TYPE_CHECKING:
    from storage.archive import Archive
    from storage.queries.inputs import Inputs, ModelInput
    from storage.queries.models import SessionRow

PRINTS = (
    "address, result, missing[], session, request, requests, knownFrom, event, turn, lane, at, model, derived, "
    "replaced, estimatedTokens, tokenMethod, reportedTokens{}, blocks[{number, address, kind, source, trust, mode, "
    "fetched, new, tokens, hash, text, problem}], snapshots[{id, address, verdict}], modelInput{ref, text, "
    "contextHash, actual, verdict, visibleTools[]}, findings[{kind, events[], detail}], "
    "notRecorded[]; of a turn requests[…]"
)


@command("replay", "Give back what a model was given", prints=PRINTS)
@click.argument("address", metavar="ADDRESS", shell_complete=addresses)
def replay_command(call: Call, address: str) -> int:
    """Give back what a model was given in a request, from what was recorded alone: nothing is searched or run.

    ADDRESS is context/SESSION/N, an event (the request it came of, or the first that saw it) or turn/SESSION/N (all
    its requests). The result is exact, partial (what is missing is named) or not_reconstructable. Exit code 1 where a
    recorded model input is not the one that was hashed.
    """
    wanted = parse(address)
    with call.archive() as archive:
        session, inputs, given = _inputs(archive, wanted)
        code = 0
        if isinstance(wanted, TurnAddress) and call.output.json:
            with call.output.listing("requests", before={"address": str(wanted)}) as (write, _):
                for one in given:
                    write(showing_inputs.replay_document(session, one, inputs.findings(one)))
                    code |= one.replay.verdict == "differs"
        else:
            for one in given:
                showing_inputs.show(call, session, one, inputs.findings(one), replay=True)
                code |= one.replay.verdict == "differs"
    return code


def _inputs(archive: Archive, address: object) -> tuple[SessionRow, Inputs, Iterable[ModelInput]]:
    match address:
        case ContextAddress(session=id, number=number):
            session = find_session(archive, id)
            inputs = archive.inputs(session.key)
            return session, inputs, [inputs.input(showing_inputs.find_request(inputs, session, number))]
        case SessionAddress(id=id, event=str() as prefix):
            session = find_session(archive, id)
            inputs = archive.inputs(session.key)
            request = inputs.requests.at(find_event(archive, session, prefix))
            if request is None:
                raise Refused("no model request followed this event in its lane")
            return session, inputs, [inputs.input(request)]
        case TurnAddress(session=id, number=number):
            session = find_session(archive, id)
            find_turn(archive, session, number)
            inputs = archive.inputs(session.key)
            return session, inputs, (inputs.input(request) for request in inputs.requests.of_turn(number))
    raise Refused("only a model request, an event or a turn can be replayed", "context/SESSION/N names a request")
