"""A place in a rule file as people write it: ``path``, ``path:88``, ``path:88-126`` or ``path#heading``."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from console.commands.call import Refused

if TYPE_CHECKING:
    from storage.queries.rules import RuleSection

_LINES = re.compile(r"(?s)(.+?):([1-9]\d{0,8})(?:-([1-9]\d{0,8}))?")


@dataclass(frozen=True, slots=True)
class RuleRef:
    """``first``, ``last``: lines from 1, ``None`` for all; ``anchor``: a heading as it stands behind a ``#``."""

    path: str
    first: int | None = None
    last: int | None = None
    anchor: str | None = None


def readings(text: str) -> list[RuleRef]:
    """What a text can mean, the most literal first: a file's own name may hold a colon or a ``#``."""
    found = [RuleRef(text)]
    if lines := _LINES.fullmatch(text):
        first = int(lines[2])
        found.append(RuleRef(lines[1], first, int(lines[3] or first)))
    path, hash, anchor = text.rpartition("#")
    if hash and path and anchor:
        found.append(RuleRef(path, anchor=anchor))
    return found


def lines_of(ref: RuleRef, sections: Sequence[RuleSection]) -> tuple[int, int]:
    """(first, last) line that a place means in a file of these sections; raises :class:`Refused`."""
    end = sections[-1].last
    if ref.anchor is not None:
        return _under(ref.anchor, sections)
    if ref.first is None or ref.last is None:
        return 1, end
    if not ref.first <= ref.last or ref.first > end:
        raise Refused(f"{ref.path} has lines 1 to {end}")
    return ref.first, min(ref.last, end)


def _under(anchor: str, sections: Sequence[RuleSection]) -> tuple[int, int]:
    """The lines of a heading with all that stands under it."""
    for at, section in enumerate(sections):
        if section.level and _slug(section.headings[-1]) == _slug(anchor):
            last = section.last
            for below in sections[at + 1 :]:
                if below.level <= section.level:
                    break
                last = below.last
            return section.first, last
    raise Refused(f"no heading of this file is called {anchor!r}", "affidavit rules PATH --json lists them")


def _slug(heading: str) -> str:
    """A heading as GitHub makes an anchor of it."""
    return re.sub(r"[^\w\- ]", "", heading.strip().lower()).replace(" ", "-")
