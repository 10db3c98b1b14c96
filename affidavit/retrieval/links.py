"""The chain from a source to what a model was given, each link held against what was recorded of it.

    source → kept range → visible text → block → model input

Everything is computed from recorded bytes. A link of which a side was not recorded says so; nothing is rendered anew.
"""

from __future__ import annotations

from collections.abc import Sequence
from difflib import SequenceMatcher
from typing import Any, Final, NamedTuple

from affidavit.proof.verdict import HashVerdict, hash_verdict, text_hash
from affidavit.retrieval import recorded
from affidavit.retrieval.blackening import visible

Object = dict[str, Any]

NAMES: Final = ("source", "kept", "visible", "block", "modelInput")
"""The links, from the source on."""

MAX_DIFF_LINES: Final = 400
MAX_COMPARED: Final = 4000


class Link(NamedTuple):
    """One link: its name, its verdict, the hash that was expected and the one that is there, and why in a few words.

    ``wanted`` and ``given``: the two texts of a link that compares texts, for :func:`difference`.
    """

    name: str
    verdict: HashVerdict
    expected: str | None = None
    actual: str | None = None
    detail: str = ""
    wanted: str | None = None
    given: str | None = None


def links_of(line: Object, item: Object, *, source: bytes | None = None, model_input: str | None = None) -> list[Link]:
    """The links of one selected item of a recorded snapshot.

    ``source``: the bytes of its source in the version it names, ``None`` where they are not at hand; ``model_input``:
    the text the model was given, likewise.
    """
    block = recorded.block_of(line)
    text = recorded.visible_text(item, block)
    recorded_hash = item.get("visibleTextHash")
    actual = None if text is None else text_hash(text)
    return [
        _source(item, source),
        _kept(item, source, text),
        Link("visible", hash_verdict(text, recorded_hash), _said(recorded_hash), actual, given=text),
        _in_block(item, block, text),
        _in_input(block, text, model_input),
    ]


def block_link(line: Object) -> Link:
    """The whole block against the hash recorded of it."""
    block = recorded.block_of(line)
    expected = recorded.obj(recorded.body_of(line), "contextProjection").get("visibleTextHash")
    if block is None:
        return Link("block", "text_missing" if expected else "hash_not_recorded", _said(expected))
    return Link("block", hash_verdict(block.data, expected), _said(expected), block.hash, given=block.text)


def _source(item: Object, source: bytes | None) -> Link:
    expected = item.get("sourceDigest")
    if source is None and expected is None:
        return Link("source", "hash_not_recorded", detail="neither its bytes nor their hash are recorded")
    return Link(
        "source", hash_verdict(source, expected), _said(expected), None if source is None else text_hash(source)
    )


def _kept(item: Object, source: bytes | None, text: str | None) -> Link:
    """What the kept ranges of the source give, against the visible text."""
    trimming = recorded.obj(item, "trimming")
    kept = _ranges(trimming.get("kept"))
    whole = _ranges([item.get("sourceRange")])
    if trimming.get("of") != "source" or not kept or not whole:
        return Link("kept", "hash_not_recorded", detail="which bytes of the source it is, is not recorded")
    if source is None or text is None:
        return Link("kept", "text_missing", detail="its source is not at hand" if source is None else "its text is not")
    first, last = whole[0]
    if last > len(source):
        return Link("kept", "differs", detail=f"the source has {len(source)} bytes, the text ends at {last}")
    part = source[first:last]
    black = [(r.get("from"), r.get("to"), str(r.get("kind"))) for r in recorded.objects(item, "redactions")]
    if any(type(a) is not int or type(b) is not int for a, b, _ in black):
        return Link("kept", "hash_not_recorded", detail="a redaction has no range")
    made = visible(part, [(a - first, b - first) for a, b in kept], black)  # type: ignore[arg-type]
    verdict = hash_verdict(text, text_hash(made))
    return Link("kept", verdict, text_hash(made), text_hash(text), wanted=made, given=text)


def _in_block(item: Object, block: recorded.Block | None, text: str | None) -> Link:
    """The visible text against the bytes of the block its reference names."""
    if block is None:
        return Link("block", "text_missing", detail="the block's text is not recorded")
    if text is None:
        return Link("block", "text_missing", detail="its text is not recorded")
    place = item.get("textRef")
    spots = _ranges([place])
    if not spots or not isinstance(place, dict):
        found = text in block.text
        return Link(
            "block", "match" if found else "differs", text_hash(text), detail="" if found else "not in the block"
        )
    if place.get("payload") not in block.hashes:
        return Link("block", "differs", _said(place.get("payload")), block.hash, "it refers to another block")
    first, last = spots[0]
    given = block.data[first:last].decode("utf-8", "replace")
    return Link(
        "block", hash_verdict(given, text_hash(text)), text_hash(text), text_hash(given), wanted=text, given=given
    )


def _in_input(block: recorded.Block | None, text: str | None, model_input: str | None) -> Link:
    """The block, or where it is not recorded the visible text, in what the model was given."""
    wanted = text if block is None else block.text
    if model_input is None:
        return Link("modelInput", "text_missing", detail="the model's input is not recorded")
    if wanted is None:
        return Link("modelInput", "text_missing", detail="what should be in it is not recorded")
    expected = text_hash(wanted)
    if wanted in model_input:
        return Link("modelInput", "match", expected, expected)
    if _loosely(wanted) in _loosely(model_input):
        return Link("modelInput", "line_ending_or_unicode", expected)
    return Link(
        "modelInput", "differs", expected, detail="it is not in the model's input", wanted=wanted, given=model_input
    )


def _loosely(text: str) -> str:
    from unicodedata import normalize

    return normalize("NFC", text.replace("\r\n", "\n").replace("\r", "\n"))


def _ranges(listed: Any) -> list[tuple[int, int]]:
    """Byte ranges of a list, in order and apart; empty where one is none."""
    found: list[tuple[int, int]] = []
    for one in listed if isinstance(listed, list) else ():
        first, last = (one.get("from"), one.get("to")) if isinstance(one, dict) else (None, None)
        if type(first) is not int or type(last) is not int or not (found[-1][1] if found else 0) <= first <= last:
            return []
        found.append((first, last))
    return found


def _said(hash: Any) -> str | None:
    return hash if isinstance(hash, str) else None


class DiffLine(NamedTuple):
    """A line of a difference: ``-`` only wanted, ``+`` only given, a space in both, ``…`` where more was left out."""

    sign: str
    text: str


def difference(wanted: str, given: str, most: int = MAX_DIFF_LINES) -> list[DiffLine]:
    """Two texts line by line, with three lines around what differs; at most ``most`` lines. Line endings count."""
    old, new = _lines(wanted), _lines(given)
    start = 0
    while start < min(len(old), len(new)) and old[start] == new[start]:
        start += 1
    end = 0
    while end < min(len(old), len(new)) - start and old[-1 - end] == new[-1 - end]:
        end += 1
    a, b = old[start : len(old) - end], new[start : len(new) - end]
    result = [DiffLine(" ", line) for line in old[max(0, start - 3) : start]]
    if max(len(a), len(b)) > MAX_COMPARED:
        result += [DiffLine("-", line) for line in a] + [DiffLine("+", line) for line in b]
    else:
        result += _changed(a, b)
    result += [DiffLine(" ", line) for line in old[len(old) - end : len(old) - end + 3]]
    if len(result) > most:
        return [*result[:most], DiffLine("…", f"{len(result) - most} more lines")]
    return result


def _changed(a: Sequence[str], b: Sequence[str]) -> list[DiffLine]:
    result: list[DiffLine] = []
    for tag, a1, a2, b1, b2 in SequenceMatcher(None, a, b, autojunk=False).get_opcodes():
        if tag == "equal":
            same = [DiffLine(" ", line) for line in a[a1:a2]]
            result += same if len(same) <= 6 else [*same[:3], DiffLine("…", f"{len(same) - 6} lines alike"), *same[-3:]]
        else:
            result += [DiffLine("-", line) for line in a[a1:a2]] + [DiffLine("+", line) for line in b[b1:b2]]
    return result


def _lines(text: str) -> list[str]:
    """Lines with their endings told, so that texts which differ only there differ."""
    lines = text.split("\n")
    return [line[:-1] + "␍" if line.endswith("\r") else line for line in lines]
