"""What our own lines of type ``context.projected`` say: an event that tells what a model input was made of, and why."""

from __future__ import annotations

from typing import Any

from affidavit.session.event import Draft, Reading
from storage.readers.lenient import compact, one_line

Record = dict[str, Any]

TYPE = "context.projected"


def type_of(value: Record) -> str | None:
    """The type of a line that names none, by what it holds: the ledger itself may stand in a file."""
    return TYPE if "modelInputId" in value and "included" in value and "excluded" in value else None


def projected(value: Record, reading: Reading) -> None:
    """The decision ledger of one model input."""
    held = value.get("ledger")
    ledger: Record = held if isinstance(held, dict) else value
    turn = value.get("turn", ledger.get("turnId"))
    if not reading.lane and type(turn) in (str, int) and turn != "":
        reading.prompt = str(turn)
    included, excluded = _objects(ledger, "included"), _objects(ledger, "excluded")
    tokens = ledger.get("estimatedTokens")
    size = f", about {tokens} tokens" if type(tokens) is int else ""
    draft = Draft(
        TYPE,
        "runtime",
        "\n".join([*map(_shown, included), *map(_left_out, excluded), *_tools(ledger)]) or compact(ledger),
        summary=one_line(f"{len(included)} sources shown, {len(excluded)} left out{size}"),
    )
    draft.refs = tuple(_refs(value, ledger))
    reading.drafts.append(draft)


def _shown(one: Record) -> str:
    return (
        f"shown     {_said(one, 'mode')} · {_said(one, 'sourceKind')} {_said(one, 'sourceId')} · {_said(one, 'reason')}"
    )


def _left_out(one: Record) -> str:
    return f"left out  {_said(one, 'sourceKind')} {_said(one, 'sourceId')} · {_said(one, 'reason')}"


def _tools(ledger: Record) -> list[str]:
    return [
        f"tool      {_said(one, 'name')} {'shown' if one.get('visible') is True else 'hidden'} · {_said(one, 'reason')}"
        for one in _objects(ledger, "tools")
    ]


def _refs(value: Record, ledger: Record) -> list[str]:
    said = [value.get("modelInputRef"), ledger.get("contextHash")]
    listed = ledger.get("retrievalSnapshotIds")
    said += [f"snapshot/{one}" for one in listed if type(one) is str] if isinstance(listed, list) else []
    return [one for one in said if type(one) is str and one]


def _objects(ledger: Record, name: str) -> list[Record]:
    listed = ledger.get(name)
    return [one for one in listed if isinstance(one, dict)] if isinstance(listed, list) else []


def _said(one: Record, key: str) -> str:
    value = one.get(key)
    return value if type(value) is str and value else "?"
