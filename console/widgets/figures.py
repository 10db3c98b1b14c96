"""Figures as the console writes them: units said once, thousands apart, times in UTC."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

_APART = " "


def number(value: int) -> str:
    """``51204`` as ``51 204``."""
    return f"{value:,}".replace(",", _APART)


def short(value: int) -> str:
    """A count in at most five characters: ``31.4k``, ``210k``, ``1.2M``."""
    if value < 1000:
        return str(value)
    for size, unit in ((1_000, "k"), (1_000_000, "M"), (1_000_000_000, "G"), (1_000_000_000_000, "T")):
        scaled = value / size
        if scaled < 99.95:
            return f"{scaled:.1f}{unit}"
        if scaled < 999.5:
            return f"{scaled:.0f}{unit}"
    return f"{value:.0e}"


def size(octets: int) -> str:
    """A number of bytes: ``812 B``, ``1.2 kB``, ``34 MB``."""
    if octets < 1000:
        return f"{octets} B"
    text = short(octets)
    return f"{text[:-1]} {text[-1]}B"


def duration(millis: int) -> str:
    """A length of time: ``12 ms``, ``2.4 s``, ``3 min 05``, ``2 h 10``."""
    sign = "-" if millis < 0 else ""
    millis = abs(millis)
    if millis < 100:
        return f"{sign}{millis} ms"
    if millis < 99_950:
        return f"{sign}{millis / 1000:.1f} s"
    seconds = round(millis / 1000)
    if seconds < 3600:
        return f"{sign}{seconds // 60} min {seconds % 60:02}"
    minutes = seconds // 60
    return f"{sign}{minutes // 60} h {minutes % 60:02}"


def instant(micros: int) -> datetime:
    """The UTC time of so many microseconds since 1970; the nearest one a calendar has, if it is out of range."""
    try:
        return datetime(1970, 1, 1, tzinfo=UTC) + timedelta(microseconds=micros)
    except OverflowError:
        return datetime.max.replace(tzinfo=UTC) if micros > 0 else datetime.min.replace(tzinfo=UTC)


def clock(micros: int | None) -> str:
    """Time of day, ``10:02:11``; as many dashes where no time is recorded."""
    return instant(micros).strftime("%H:%M:%S") if micros is not None else "--:--:--"


def moment(micros: int | None) -> str:
    """Date and time to the millisecond: ``14 May 2025 10:02:17.123 UTC``."""
    if micros is None:
        return "no time recorded"
    at = instant(micros)
    return f"{at.day} {at:%b} {at.year} {at:%H:%M:%S}.{at.microsecond // 1000:03} UTC"


def day(micros: int | None, now: datetime) -> str:
    """When something began, in at most twelve characters: ``today 10:02``, ``Mon 12 May``, ``12 May 2023``."""
    if micros is None:
        return "no time"
    at = instant(micros)
    ago = (now.astimezone(UTC).date() - at.date()).days
    if ago == 0:
        return f"today {at:%H:%M}"
    if ago == 1:
        return f"yest. {at:%H:%M}"
    if 1 < ago < 300:
        return f"{at:%a} {at.day} {at:%b}"
    return f"{at.day} {at:%b} {at.year}"


def date(micros: int | None) -> str:
    """A day, ``Sat 16 May``; nothing where no time is recorded."""
    if micros is None:
        return ""
    at = instant(micros)
    return f"{at:%a} {at.day} {at:%b}"


def span(start: int | None, end: int | None) -> str:
    """From when to when: ``14 May 2025 10:02-10:19 UTC``."""
    if start is None:
        return "no time recorded"
    at = instant(start)
    first = f"{at.day} {at:%b} {at.year} {at:%H:%M}"
    if end is None or end == start:
        return f"{first} UTC"
    to = instant(end)
    if to.date() == at.date():
        return f"{first}–{to:%H:%M} UTC"
    return f"{first} – {to.day} {to:%b} {to:%H:%M} UTC"


def ago(then: datetime, now: datetime) -> str:
    """How long ago in words: ``just now``, ``6 min ago``, ``3 h ago``, ``2 days ago``."""
    seconds = max((now - then).total_seconds(), 0)
    if seconds < 60:
        return "just now"
    if seconds < 3600:
        return f"{seconds // 60:.0f} min ago"
    if seconds < 86_400:
        return f"{seconds // 3600:.0f} h ago"
    days = int(seconds // 86_400)
    return f"{days} day{'s' if days > 1 else ''} ago"


def plural(count: int, one: str, many: str | None = None) -> str:
    """``3 turns``, ``1 turn``."""
    return f"{number(count)} {one if count == 1 else many or one + 's'}"


def iso(micros: int | None) -> str | None:
    """A time as JSON writes it, ``2025-05-14T10:02:17.123456Z``; ``None`` stays."""
    return None if micros is None else instant(micros).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
