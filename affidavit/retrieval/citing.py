"""Citations in what a model wrote: where each leads, and whether what is said to stand there does.

Labels are opaque: those of the snapshots a model was given are looked for as they are. Something in brackets that looks
like a label and is none of them is a citation of something the model was not given.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Literal, NamedTuple
from unicodedata import normalize

CitationVerdict = Literal["exact", "misattributed", "moved", "normalised", "absent", "never_visible", "ambiguous"]

CITATION_VERDICTS: dict[CitationVerdict, str] = {
    "absent": "what is quoted stands in nothing that was recorded",
    "never_visible": "the model was not given it",
    "misattributed": "what is quoted stands in another item",
    "ambiguous": "several snapshots have this label, and the citation does not say which",
    "moved": "what is quoted stands in the item, but not where it is said to",
    "normalised": "what is quoted stands in the item but for spaces, quotation marks, case or Unicode form",
    "exact": "what is cited is there",
}
"""Every verdict on a citation with what it means, the worst first."""

MAX_QUOTES = 200
MAX_CITATIONS = 2000
"""Quotes and citations of one text that are looked at."""

SHORTEST_QUOTE = 8


class Given(NamedTuple):
    """A text a model was given under a label. ``first_line``: the number its first line has in its source."""

    snapshot: str
    label: str
    source_ref: str
    text: str
    first_line: int | None = None


class Kept(NamedTuple):
    """A text the model was not given: a candidate that was turned away, or what was cut from an item."""

    name: str
    text: str


class Cited(NamedTuple):
    """A citation as it was written: the label, the quote that goes with it, the lines and the snapshot it names, and
    where it stands (characters of the text)."""

    label: str
    quote: str | None = None
    lines: tuple[int, int] | None = None
    snapshot: str | None = None
    start: int = 0
    end: int = 0


class Resolved(NamedTuple):
    """Where a citation leads: the verdict, the item it names, the item the quote stands in, and the quote's place in
    that item's text (characters)."""

    cited: Cited
    verdict: CitationVerdict
    item: Given | None = None
    stands_in: Given | Kept | None = None
    start: int | None = None
    end: int | None = None
    detail: str = ""


def resolve(cited: Cited, given: Sequence[Given], kept: Sequence[Kept] = ()) -> Resolved:
    """Resolve one citation against what the model was given, and what was kept from it."""
    items = [item for item in given if item.label == cited.label and cited.snapshot in (None, item.snapshot)]
    if len({item.snapshot for item in items}) > 1:
        holding = [item for item in items if cited.quote and _find(cited.quote, item.text)[0] == "exact"]
        if len(holding) != 1:
            names = ", ".join(sorted({item.snapshot for item in items}))
            return Resolved(cited, "ambiguous", detail=f"in {names}")
        items = holding
    if not items:
        return _not_given(cited, given, kept)
    item = items[0]
    if cited.quote is None:
        return _placed(cited, item, 0, 0) if cited.lines else Resolved(cited, "exact", item, item)
    how, start, end = _find(cited.quote, item.text)
    if how == "exact":
        return _placed(cited, item, start, end)
    if how == "normalised":
        return Resolved(cited, "normalised", item, item, start, end)
    return _elsewhere(cited, item, given, kept)


def _not_given(cited: Cited, given: Sequence[Given], kept: Sequence[Kept]) -> Resolved:
    """A label of nothing the model was given: who else has the quote is said, and that it was not visible."""
    others: tuple[Given | Kept, ...] = (*given, *kept)
    for other in others:
        if cited.quote and _find(cited.quote, other.text)[0]:
            verdict: CitationVerdict = "misattributed" if isinstance(other, Given) else "never_visible"
            return Resolved(cited, verdict, None, other, detail="no item has this label")
    return Resolved(cited, "never_visible", detail="no item has this label")


def _elsewhere(cited: Cited, item: Given, given: Sequence[Given], kept: Sequence[Kept]) -> Resolved:
    """A quote that does not stand in the item it is ascribed to."""
    quote = cited.quote or ""
    for other in given:
        how, start, end = _find(quote, other.text)
        if how:
            return Resolved(cited, "misattributed", item, other, start, end, f"it stands in [{other.label}]")
    for hidden in kept:
        if _find(quote, hidden.text)[0]:
            return Resolved(cited, "never_visible", item, hidden, detail=f"it stands in {hidden.name}")
    return Resolved(cited, "absent", item)


def _placed(cited: Cited, item: Given, start: int, end: int) -> Resolved:
    """Whether the lines a citation names are those the quote stands in."""
    if cited.lines is None or item.first_line is None:
        return Resolved(cited, "exact", item, item, start, end)
    if cited.quote is None:
        last = item.first_line + item.text.rstrip("\n").count("\n")
        if item.first_line <= cited.lines[0] and cited.lines[1] <= last:
            return Resolved(cited, "exact", item, item)
        return Resolved(cited, "never_visible", item, detail=f"it shows lines {item.first_line} to {last}")
    first = item.first_line + item.text.count("\n", 0, start)
    last = first + item.text.count("\n", start, end)
    if (first, last) == cited.lines or (cited.lines[0] <= first and last <= cited.lines[1]):
        return Resolved(cited, "exact", item, item, start, end)
    return Resolved(cited, "moved", item, item, start, end, f"it stands at line {first}")


def _find(quote: str, text: str) -> tuple[Literal["exact", "normalised", ""], int, int]:
    """Where a quote stands in a text, as it is or normalised; an ellipsis in it stands for anything between."""
    at = text.find(quote)
    if at >= 0:
        return "exact", at, at + len(quote)
    folded, places = _folded(text)
    parts = [part for part in (_folded(part)[0].strip() for part in re.split(r"…|\.\.\.", quote)) if part]
    if not parts:
        return "", 0, 0
    start = end = -1
    for part in parts:
        at = folded.find(part, max(end, 0))
        if at < 0:
            return "", 0, 0
        start = at if start < 0 else start
        end = at + len(part)
    return "normalised", places[start], places[end - 1] + 1


_QUOTES = str.maketrans(dict.fromkeys("“”„«»「」『』", '"') | dict.fromkeys("‘’‚`´", "'") | {"–": "-", "—": "-"})


def _folded(text: str) -> tuple[str, list[int]]:
    """A text without case, runs of spaces and kinds of marks, and for each character the place it came from."""
    out: list[str] = []
    places: list[int] = []
    for at, character in enumerate(text):
        for folded in normalize("NFKC", character).translate(_QUOTES).lower():
            if folded.isspace():
                if out and out[-1] == " ":
                    continue
                folded = " "
            out.append(folded)
            places.append(at)
    joined = "".join(out)
    composed = normalize("NFC", joined)
    # Composing changes how many characters there are; places are then only as near as that allows.
    return (joined, places) if len(composed) == len(joined) else (composed, _stretched(places, len(composed)))


def _stretched(places: list[int], length: int) -> list[int]:
    return [places[min(at * len(places) // length, len(places) - 1)] for at in range(length)]


_LABEL = re.compile(r"\[([A-Za-z][\w-]{0,30}#\d{1,6})\]")
_LINES = re.compile(
    r"\s{0,3}\(?(?:lines?|L|Zeilen?|行)\s{0,2}(\d{1,7})(?:\s{0,2}[-–]\s{0,2}L?(\d{1,7}))?\)?", re.IGNORECASE
)
_QUOTED = re.compile(
    r'"([^"\n]{8,2000})"|“([^“”\n]{8,2000})”|「([^「」\n]{8,2000})」|`([^`\n]{8,2000})`|^> ?(.{8,2000})$', re.M
)


def citations_in(text: str, labels: Sequence[str]) -> list[Cited]:
    """Every citation in a text: the labels given, as they are, and what looks like one.

    A quotation in the same sentence or line, the nearest one, goes with the label; so do line numbers right behind it.
    """
    found: list[Cited] = []
    quotes = [(match.start(), match.end(), next(g for g in match.groups() if g)) for match in _QUOTED.finditer(text)]
    for start, end, label in islice(_labels_in(text, labels), MAX_CITATIONS):
        lines = _LINES.match(text, end)
        span = (int(lines[1]), int(lines[2] or lines[1])) if lines else None
        sentence = sentence_around(text, start, end)
        near = [quote for quote in quotes[:MAX_QUOTES] if sentence[0] <= quote[0] and quote[1] <= sentence[1]]
        quote = min(near, key=lambda quote: min(abs(start - quote[1]), abs(quote[0] - end)), default=None)
        found.append(Cited(label, quote[2] if quote else None, span, None, start, end))
    return found


def _labels_in(text: str, labels: Sequence[str]) -> Iterator[tuple[int, int, str]]:
    known = sorted({label for label in labels if label}, key=len, reverse=True)
    spots: dict[int, tuple[int, str]] = {match.start(): (match.end(), match[1]) for match in _LABEL.finditer(text)}
    for label in known:
        at = text.find(f"[{label}]")
        while at >= 0:
            spots.setdefault(at, (at + len(label) + 2, label))
            at = text.find(f"[{label}]", at + 1)
    for start in sorted(spots):
        yield start, *spots[start]


_END = re.compile(r"[.!?](?=\s)|[。！？]|\n")


def sentence_around(text: str, start: int, end: int) -> tuple[int, int]:
    """The sentence a place stands in, and the quoted lines right before it, as (start, end)."""
    behind = max(0, start - 2500)
    first = max((match.end() for match in _END.finditer(text, behind, start)), default=behind)
    after = _END.search(text, end)
    last = after.end() if after else len(text)
    while first and text[first - 1] == "\n":
        line = text.rfind("\n", 0, first - 1) + 1
        if not text[line:first].startswith(">"):
            break
        first = line
    return first, last
