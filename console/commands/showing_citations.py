"""What a model's words and actions cite, on the command line."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from console.commands.call import Call

if TYPE_CHECKING:
    from affidavit.context.failures import Found
    from affidavit.retrieval.citing import Given, Resolved
    from storage.queries.citations import Cites

Object = dict[str, Any]


def document(cites: Cites | None, smells: list[Found]) -> Object:
    """``citations`` and ``findings`` of an event as JSON."""
    odd = [{**_finding(one.kind, None, one.detail), "sources": list(one.ids)} for one in smells]
    if cites is None:
        return {"citations": [], "findings": odd}
    uncited = [_finding("uncited_use", one.item, one.passage, one.start, one.end) for one in cites.uncited]
    against = [_finding("does_not_support_the_action", one.item, one.reason) for one in cites.unsupported]
    return {"citations": [_citation(one) for one in cites.citations], "findings": [*uncited, *against, *odd]}


def _finding(kind: str, item: Given | None, detail: str, start: int | None = None, end: int | None = None) -> Object:
    return {
        "kind": kind,
        "citationId": item.label if item else None,
        "address": _address(item.snapshot, item.label) if item else None,
        "start": start,
        "end": end,
        "detail": detail,
    }


def _citation(one: Resolved) -> Object:
    item = one.item
    return {
        "citationId": one.cited.label,
        "verdict": one.verdict,
        "address": _address(item.snapshot, item.label) if item else None,
        "sourceRef": item.source_ref if item else None,
        "quote": one.cited.quote,
        "start": one.cited.start,
        "end": one.cited.end,
        "standsIn": _stands_in(one),
        "detail": one.detail,
    }


def _stands_in(one: Resolved) -> Object | None:
    """Where the quote stands: the item or what was kept back, and from which character to which."""
    from affidavit.retrieval.citing import Given

    if one.stands_in is None:
        return None
    if isinstance(one.stands_in, Given):
        place = _address(one.stands_in.snapshot, one.stands_in.label)
        return {"address": place, "start": one.start, "end": one.end}
    return {"address": None, "name": one.stands_in.name}


def _address(snapshot: str, label: str) -> str:
    return f"snapshot/{snapshot}/{label}"


def say(call: Call, cites: Cites | None, smells: list[Found]) -> None:
    """Print what an event cites, and what is odd about it."""
    if smells:
        from affidavit.context.failures import SMELLS

        call.output.say()
        words = {str(kind): said for kind, said in SMELLS.items()}
        for odd in smells:
            call.output.say(f"  ! {words.get(odd.kind, odd.kind)}: {odd.detail} {', '.join(odd.ids)}".rstrip())
    if cites is None or not (cites.citations or cites.uncited or cites.unsupported):
        return
    from affidavit.retrieval.citing import CITATION_VERDICTS

    output = call.output
    output.say()
    for one in cites.citations:
        mark = "✓" if one.verdict == "exact" else "~" if one.verdict in ("normalised", "moved") else "✗"
        said = CITATION_VERDICTS[one.verdict] + (f" ({one.detail})" if one.detail else "")
        output.say(f"  {mark} [{one.cited.label}] {one.verdict}: {said}")
    for use in cites.uncited:
        output.say(f"  ! uncited use of [{use.item.label}]: {use.passage}")
    for against in cites.unsupported:
        named = f"[{against.item.label}]" if against.item else "its evidence"
        output.say(f"  ! {named} does not support the action: {against.reason}")
