"""How numbers, sizes and times are said to people."""

from __future__ import annotations

from affidavit.session.times import iso
from console.widgets.figures import number

__all__ = ["CHECKED", "HASH_MARKS", "clock", "count", "duration", "moment", "number", "plural", "size"]

CHECKED = {"streams": "source chains", "rows": "table rows", "searchable": "search index"}
"""What people call a thing that verification counts, where that is another word."""

HASH_MARKS = {
    "match": "✓ match",
    "line_ending_or_unicode": "~ line endings or Unicode form",
    "differs": "✗ differs",
    "text_missing": "? text missing",
    "hash_not_recorded": "? no hash",
    "unknown_algorithm": "? unknown kind of hash",
}
"""Hash verdicts as people read them."""


def plural(many: int, thing: str) -> str:
    """``1 session``, ``2 sessions``, ``1 200 entries``, ``3 branches``; ``thing`` is one of them."""
    if many == 1:
        return f"1 {thing}"
    if thing.endswith("y"):
        return f"{number(many)} {thing[:-1]}ies"
    return f"{number(many)} {thing}" + ("es" if thing.endswith("ch") else "s")


def count(many: int) -> str:
    """A count in at most five characters: ``640``, ``31.4k``, ``2.1M``."""
    for unit, sign in ((1_000_000_000, "G"), (1_000_000, "M"), (1_000, "k")):
        if many >= unit:
            value = many / unit
            return f"{value:.0f}{sign}" if value >= 100 else f"{value:.1f}{sign}"
    return str(many)


def size(octets: int) -> str:
    """Bytes in decimal units: ``512 bytes``, ``1.2 kB``, ``34.1 MB``."""
    for unit, sign in ((1_000_000_000, "GB"), (1_000_000, "MB"), (1_000, "kB")):
        if octets >= unit:
            return f"{octets / unit:.1f} {sign}"
    return plural(octets, "byte")


def moment(micros: int | None) -> str:
    """UTC to the minute, ``2026-05-14 10:02``; nothing where no time was recorded."""
    text = iso(micros)
    return "" if text is None else text[:16].replace("T", " ")


def clock(micros: int | None) -> str:
    """UTC time of day, ``10:02:11``; eight blanks where no time was recorded."""
    text = iso(micros)
    return " " * 8 if text is None else text[11:19]


def duration(millis: int) -> str:
    """``120 ms``, ``2.4 s``, ``3 min 20 s``, ``2 h 5 min``."""
    if millis < 0:
        return "-" + duration(-millis)
    if millis < 1_000:
        return f"{millis} ms"
    if millis < 60_000:
        return f"{millis / 1_000:.1f} s"
    minutes, seconds = divmod(millis // 1_000, 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes} min" if hours else f"{minutes} min {seconds} s"
