"""The account an import gives: of every file, and of everything in it that could not be read."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

COUNTED: Final = ("records", "mapped", "unknown", "duplicates", "unreadable", "bytes")
"""What a file's account counts."""


@dataclass(slots=True)
class FileReport:
    """One file's account: records = mapped + unknown + duplicates + unreadable. ``skipped``: a key of ``SKIPS``."""

    path: str
    format: str | None = None
    records: int = 0
    mapped: int = 0
    unknown: int = 0
    duplicates: int = 0
    unreadable: int = 0
    bytes: int = 0
    skipped: str | None = None
    named: bool = False
    note: str | None = None
    """Something to say of this file: that it grew, was replaced, or could not be read to its end."""
    anew: bool = False
    """It no longer begins as what was taken of it before, and is read as a new revision."""
    stopped: bool = False
    """The system gave an error where it was read; what was read before that is kept."""


@dataclass(slots=True)
class ImportReport:
    """What an import did. ``sessions`` and ``events`` count what it brought into the store."""

    files: list[FileReport] = field(default_factory=list)
    sessions: int = 0
    events: int = 0
    unreadable_list: list[tuple[str, int, int, str]] = field(default_factory=list)
    pending: list[tuple[str, int]] = field(default_factory=list)
    bytes: int = 0
    interrupted: bool = False

    def total(self, name: str) -> int:
        """Sum of one of the counts over all files."""
        return sum(getattr(file, name) for file in self.files)
