"""Making a text fit: which lines of it are kept, and the record of what was cut."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from affidavit.retrieval.blackening import GAP, Lines, Range, visible
from affidavit.retrieval.signals import Task
from affidavit.retrieval.terms import words
from affidavit.text.tokens import estimate_tokens

_PROHIBITION = re.compile(
    r"\b(?:do not|don't|must not|mustn't|never|shall not|may not|cannot|forbidden|prohibited|not allowed)\b"
    r"|禁止|しないこと|してはならない|してはいけない|不得|不要|不允许|严禁",
    re.IGNORECASE,
)

_GAP_TOKENS = estimate_tokens(f"\n{GAP}\n")


def forbids(text: str) -> bool:
    """Whether a text says that something must not be done."""
    return _PROHIBITION.search(text) is not None


def worth(line: str, task: Task) -> float:
    """How much of what a task looks for a line says."""
    plain = line.lower()
    said = set(words(line))
    return (
        sum(word in said for word in task.words)
        + 2.0 * sum(name in line for name in task.identifiers)
        + 3.0 * sum(error in plain for error in task.errors)
        + 2.0 * sum(name in plain for name in task.test_names)
    )


def keep_lines(
    data: bytes,
    redactions: Sequence[tuple[int, int, str]],
    tokens: int,
    policy: str,
    worth: Callable[[str], float],
    *,
    trusted: bool = True,
) -> list[Range]:
    """Byte ranges of a text to keep, so that what :func:`visible` makes of them costs at most ``tokens``.

    ``keep-matched-lines``: prohibitions and the lines of most worth are kept, then those around them; ``head``: from
    the beginning. What a text that is not ``trusted`` forbids is a line like any other. Empty: nothing fits.
    """
    lines = Lines(data, redactions)
    if estimate_tokens(lines.text) <= tokens:
        return [(0, len(data))]
    kept = _by_worth(lines, tokens, worth, trusted) if policy == "keep-matched-lines" else _from_head(lines, tokens)
    ranges = _ranges(lines, kept)
    while ranges and estimate_tokens(visible(data, ranges, redactions)) > tokens:
        kept = kept[:-1]
        ranges = _ranges(lines, kept)
    return ranges or _part_of_line(lines, data, redactions, tokens, worth)


def cut_ranges(kept: Sequence[Range], size: int) -> list[Range]:
    """What of a text of ``size`` bytes is not kept."""
    cut, at = [], 0
    for start, end in kept:
        if start > at:
            cut.append((at, start))
        at = end
    if at < size:
        cut.append((at, size))
    return cut


MOST_PEAKS = 8
"""Lines that what is kept of a text gathers around."""


def _by_worth(lines: Lines, tokens: int, worth: Callable[[str], float], trusted: bool) -> list[int]:
    """Numbers of the lines kept: those that say most and all that forbid, then the lines around them, ever wider."""
    values = [worth(line) for line in lines.lines]
    highest = max(values, default=0.0)
    forbidding = [trusted and forbids(line) for line in lines.lines]
    telling = [at for at, value in enumerate(values) if forbidding[at] or (value > 0 and value >= highest / 2)]
    peaks = sorted(telling, key=lambda at: (not forbidding[at], -values[at], at))[:MOST_PEAKS]
    costs = [estimate_tokens(line) for line in lines.lines]
    kept: list[int] = []
    taken: set[int] = set()
    left = tokens - 2 * _GAP_TOKENS
    growing = [(peak, 0) for peak in peaks]
    distance = 0
    while growing:
        still: list[tuple[int, int]] = []
        for peak, way in growing:
            at = peak + way * distance
            if not 0 <= at < len(costs):
                continue
            gaps = 1 - (at - 1 in taken) - (at + 1 in taken)
            cost = 0 if at in taken else costs[at] + (gaps * _GAP_TOKENS if taken else 0)
            if cost > left:
                continue  # what lies behind a line that does not fit would stand alone
            if at not in taken:
                kept.append(at)
                taken.add(at)
                left -= cost
            still += [(peak, way)] if way else [(peak, -1), (peak, 1)]
        growing, distance = still, distance + 1
    return kept or _from_head(lines, tokens)


def _from_head(lines: Lines, tokens: int) -> list[int]:
    kept: list[int] = []
    left = tokens - _GAP_TOKENS
    for at, line in enumerate(lines.lines):
        left -= estimate_tokens(line)
        if left < 0:
            break
        kept.append(at)
    return kept


def _ranges(lines: Lines, kept: Sequence[int]) -> list[Range]:
    """Lines as byte ranges of the source, neighbours joined."""
    starts = [0]
    for line in lines.lines:
        starts.append(starts[-1] + len(line))
    ranges: list[Range] = []
    for at in sorted(kept):
        start, end = lines.source(starts[at]), lines.source(starts[at + 1], end=True)
        if ranges and start <= ranges[-1][1]:
            ranges[-1] = (ranges[-1][0], max(end, ranges[-1][1]))
        else:
            ranges.append((start, end))
    return ranges


def _part_of_line(
    lines: Lines,
    data: bytes,
    redactions: Sequence[tuple[int, int, str]],
    tokens: int,
    worth: Callable[[str], float],
) -> list[Range]:
    """The beginning of the line that is worth most, as much of it as fits."""
    if not lines.lines:
        return []
    at = max(range(len(lines.lines)), key=lambda at: (worth(lines.lines[at]), -at))
    start = sum(map(len, lines.lines[:at]))
    low, high = 0, len(lines.lines[at])
    while low < high:  # the longest beginning that fits
        middle = (low + high + 1) // 2
        kept = [(lines.source(start), lines.source(start + middle))]
        if estimate_tokens(visible(data, kept, redactions)) <= tokens:
            low = middle
        else:
            high = middle - 1
    first, last = lines.source(start), lines.source(start + low)
    return [(first, last)] if last > first else []
