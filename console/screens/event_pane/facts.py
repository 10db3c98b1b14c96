"""What is known of an event besides its text, as short lines: pure, and made in a reading thread."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from affidavit.session.event import FLAGS, event_hex
from console.screens.timeline.words import told
from console.widgets import figures
from console.widgets.ink import Ink, Line, left
from console.widgets.safe import Outside, hidden

if TYPE_CHECKING:
    from storage.queries.models import EventDetail, EventRow, LaneRow, SessionRow

MOST_COPIES = 5
"""Other places of a record that are named."""

LABEL = 8
"""Cells of a fact's name."""


@dataclass(frozen=True, slots=True)
class Told:
    """An event ready to be shown. ``number`` is the ledger entry that covers it, ``text`` the safe whole text."""

    row: EventRow
    head: tuple[Line, ...]
    tail: tuple[Line, ...]
    lines: Sequence[str]
    voice: str
    number: int | None
    address: str


def address(uid: str, row: EventRow) -> str:
    """The address of an event."""
    return f"session/{uid}#{event_hex(row.id)}"


def fact(name: str, *inks: Ink) -> Line:
    """One fact: its name, then what it is."""
    return (Ink("quiet", left(name, LABEL)), *inks)


def facts(
    detail: EventDetail,
    lane: LaneRow | None,
    pair: EventRow | None,
    outside: Outside,
) -> tuple[Line, ...]:
    """What an event is: stands above its text."""
    row = detail.row
    glyph, _word, ink, voice = told(row)
    where = f"turn {row.turn}" if row.turn else "before turn 1"
    kind = "check" if row.kind == "verification" else row.kind
    head: list[Line] = [
        (Ink(ink, f"{glyph} ".lstrip() + kind), Ink("quiet", f"   {where} · "), *_lane(lane, row, outside)),
        (Ink("quiet", figures.moment(row.at)), *_took(row)),
    ]
    if row.tool:
        head.append(fact("tool", Ink(voice, outside.line(row.tool))))
    if pair is not None:
        head.append(fact("led to" if row.kind == "tool.intent" else "from", *_pair(pair, outside)))
    if row.model or row.tokens:
        head.append(fact("model", Ink("outside", outside.line(row.model) or "not recorded"), *_tokens(row)))
    head.extend(fact("refers", Ink("outside", outside.line(ref))) for ref in detail.refs[:40])
    if len(detail.refs) > 40:
        head.append(fact("", Ink("quiet", f"and {len(detail.refs) - 40} more")))
    head.extend(_copies(detail, outside))
    head.extend(_warnings(detail))
    return (*head, ())


def _copies(detail: EventDetail, outside: Outside) -> list[Line]:
    """Where else the record stands."""
    shown = detail.copies[:MOST_COPIES]
    lines = [
        fact("also in", Ink("outside", outside.line(place.file)), Ink("quiet", f" line {place.line}"))
        for place in shown
    ]
    if shown and detail.row.copies - 1 > len(shown):
        lines.append(fact("", Ink("quiet", f"and {detail.row.copies - 1 - len(shown)} more")))
    return lines


def _lane(lane: LaneRow | None, row: EventRow, outside: Outside) -> Line:
    if row.lane == 0:
        return (Ink("quiet", "main"),)
    named = outside.line((lane.title or lane.name) if lane is not None else "", 40)
    return (Ink("quiet", f"sub-agent {row.lane} "), Ink("agent", named))


def _took(row: EventRow) -> Line:
    inks: list[Ink] = []
    if row.millis is not None:
        inks.append(Ink("text", f" · {figures.duration(row.millis)}"))
    if row.ok is not None and row.kind != "tool.intent":
        inks.append(Ink("holds", " · ✓ ok") if row.ok else Ink("fails", " · ✗ failed"))
    if row.copies > 1:
        inks.append(Ink("quiet", f" · ×{row.copies} in the log"))
    return tuple(inks)


def _pair(pair: EventRow, outside: Outside) -> Line:
    glyph, word, ink, voice = told(pair)
    took = f" {figures.duration(pair.millis)}" if pair.millis is not None else ""
    return (Ink(ink, f"{glyph} {word}{took} "), Ink(voice, outside.line(pair.summary, 120)))


def _tokens(row: EventRow) -> Line:
    tokens = row.tokens
    if tokens is None:
        return ()
    said = f"   tokens in {figures.short(tokens.input)} · out {figures.short(tokens.output)}"
    if tokens.cache_read or tokens.cache_write:
        said += f" · cache {figures.short(tokens.cache_read)} read, {figures.short(tokens.cache_write)} written"
    return (Ink("quiet", said),)


def _warnings(detail: EventDetail) -> list[Line]:
    row = detail.row
    lines: list[Line] = []
    if row.abandoned:
        lines.append((Ink("gone", f"╎ abandoned: on branch {row.branch}, not on the main chain"),))
    if row.inferred:
        lines.append((Ink("guess", "~ inferred from other records, not recorded itself"),))
    if detail.withheld_by is not None:
        by = figures.number(detail.withheld_by)
        why = Ink("text", "the recorded bytes were erased; every proof still holds")
        lines.append((Ink("person", f"! withheld by entry {by} "), why))
    lines.extend(
        (Ink("person", f"! {flag.replace('_', ' ')} "), Ink("text", FLAGS.get(flag, ""))) for flag in row.flags
    )
    count = hidden(detail.text)
    if count:
        signs = figures.plural(count, "hidden character")
        lines.append((Ink("person", f"! {signs} "), Ink("text", "made visible in the text below")))
    return lines


def _says(recorded: str, at: int | None) -> bool:
    """Whether a recorded time is written as the very instant that is shown, so that showing both adds nothing."""
    try:
        instant = datetime.fromisoformat(recorded)
    except ValueError:
        return False
    return at is not None and instant.utcoffset() == timedelta(0) and instant == figures.instant(at)


def origin(
    detail: EventDetail, session: SessionRow, standing: Callable[[int | None, str], Line], outside: Outside
) -> tuple[Line, ...]:
    """Where an event's bytes came from, how they are proven, and how to come back: stands below its text."""
    source = detail.source
    first, last = figures.number(source.offset), figures.number(source.offset + source.length)
    lines: list[Line] = [
        fact("source", Ink("outside", outside.line(source.file))),
        fact("", Ink("text", f"line {figures.number(source.line)} · bytes {first}–{last}")),
        fact("proof", *standing(source.entry, address(session.uid, detail.row))),
        fact("address", Ink("quiet", address(session.uid, detail.row))),
    ]
    if detail.recorded_at is not None and not _says(detail.recorded_at, detail.row.at):
        lines.insert(0, fact("logged", Ink("outside", outside.line(detail.recorded_at, 60))))
    return ((), *lines)
