"""A recorded snapshot as it stands in its line, whoever wrote it: nothing is assumed of its shape, nothing raises.

A line of type ``retrieval.snapshot`` holds the snapshot under ``snapshot``, or its fields beside ``type``; the text of
the block the model was given may stand beside it as ``block``. An item's visible text stands in the item itself, or
is a range of that block. No models here: a list of thousands of snapshots is read with this.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from affidavit.proof.verdict import hash_verdict, text_hash, worst
from affidavit.retrieval.words import FILTER_STAGES, REASONS

Object = dict[str, Any]

OF_THE_LINE = frozenset({"type", "session", "lane", "turn", "parent", "at", "snapshot", "block"})
"""Fields of a line that are not the snapshot's."""

COUNTS = ("recalled", "filtered", "rankedOut", "trimmed", "selected", "redacted")
"""The counts of ``candidateStats``."""


def body_of(line: Object) -> Object:
    """The snapshot a line holds."""
    body = line.get("snapshot")
    if isinstance(body, dict):
        return body
    return {key: value for key, value in line.items() if key not in OF_THE_LINE}


class Block(NamedTuple):
    """The text of the block a model was given, with its bytes and their hash.

    ``hashes``: what it may be referred to by, also the hash recorded of it, which differs where it was altered.
    """

    text: str
    data: bytes
    hash: str
    hashes: tuple[Any, ...]


def block_of(line: Object) -> Block | None:
    """The block a line holds, ``None`` where it stands elsewhere or nowhere."""
    text = line.get("block")
    if not isinstance(text, str):
        return None
    data = text.encode("utf-8", "surrogatepass")
    hash = text_hash(data)
    hashes = (None, hash, obj(body_of(line), "contextProjection").get("visibleTextHash"))
    return Block(text, data, hash, hashes)


def objects(body: Object, name: str) -> list[Object]:
    """The objects of a list; what is none is passed over."""
    listed = body.get(name)
    return [one for one in listed if isinstance(one, dict)] if isinstance(listed, list) else []


def obj(body: Object, name: str) -> Object:
    """An object, an empty one where it is none."""
    value = body.get(name)
    return value if isinstance(value, dict) else {}


def word(body: Object, name: str) -> str | None:
    """A text, ``None`` where it is none or empty."""
    value = body.get(name)
    return value if isinstance(value, str) and value else None


def counts(body: Object) -> dict[str, int | None]:
    """The counts as they were recorded, ``None`` where one was not.

    Where only part of them was, what follows from the named rejected items and the accounting is filled in: those of
    stage ``rank`` are ranked out, those of stage ``budget`` trimmed.
    """
    stats = obj(body, "candidateStats")
    found: dict[str, int | None] = {name: _count(stats.get(name)) for name in COUNTS}
    if found["selected"] is None and isinstance(body.get("selectedItems"), list):
        found["selected"] = len(objects(body, "selectedItems"))
    rejected = objects(body, "rejectedItems")
    recalled, selected = found["recalled"], found["selected"]
    if recalled is None or selected is None or len(rejected) != recalled - selected:
        return found
    stages = [stage_of(item) for item in rejected]
    if None in stages:
        return found
    named = {
        "filtered": sum(stage in FILTER_STAGES for stage in stages),
        "rankedOut": stages.count("rank"),
        "trimmed": stages.count("budget"),
    }
    for name, count in named.items():
        if found[name] is None:
            found[name] = count
    return found


def stage_of(item: Object) -> str | None:
    """The stage at which a candidate was turned away: as recorded, or the one its reason belongs to."""
    stage = word(item, "stage")
    if stage is None and (reason := word(item, "reason")) in REASONS:
        return REASONS[str(reason)].stage
    return stage


def _count(value: Any) -> int | None:
    return value if type(value) is int and 0 <= value < 1 << 53 else None


class Seen(NamedTuple):
    """A text the model was given: its citation label, the text (``None``: not recorded), what was recorded as its
    hash, the hash it has, and the verdict."""

    citation: str | None
    text: str | None
    expected: Any
    actual: str | None
    verdict: str


def visible_text(item: Object, block: Block | None) -> str | None:
    """The text of a selected item the model was given, ``None`` where it was not recorded."""
    text = item.get("visibleText")
    if isinstance(text, str):
        return text
    place = item.get("textRef")
    if block is None or not isinstance(place, dict) or place.get("payload") not in block.hashes:
        return None
    first, end = _count(place.get("from")), _count(place.get("to"))
    if first is None or end is None or not first <= end <= len(block.data):
        return None
    try:
        return block.data[first:end].decode("utf-8", "surrogatepass")
    except UnicodeDecodeError:
        return None


def seen(line: Object) -> Iterator[Seen]:
    """Every selected item's text, held against the hash recorded of it."""
    block = block_of(line)
    for item in objects(body_of(line), "selectedItems"):
        yield _seen(word(item, "citationId"), visible_text(item, block), item.get("visibleTextHash"))


def block_seen(line: Object) -> Seen | None:
    """The whole block, held against its hash; ``None`` where neither its text nor a hash stands in the line."""
    block, expected = block_of(line), obj(body_of(line), "contextProjection").get("visibleTextHash")
    return None if block is None and expected is None else _seen(None, block and block.text, expected)


def _seen(citation: str | None, text: str | None, expected: Any) -> Seen:
    actual = None if text is None else text_hash(text)
    return Seen(citation, text, expected, actual, hash_verdict(text, expected))


def verdict(line: Object) -> str | None:
    """The worst of a snapshot's hash verdicts, ``None`` where the model was given nothing.

    A block whose text is kept elsewhere does not count.
    """
    verdicts = [one.verdict for one in seen(line)]
    block = block_seen(line)
    if block is not None and block.text is not None:
        verdicts.append(block.verdict)
    return worst(verdicts)
