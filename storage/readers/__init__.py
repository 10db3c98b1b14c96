"""Readers: one file a format, each turning one record's bytes into what it says.

To add a format: write ``storage/readers/NAME.py`` with a :class:`Reader`, list it in :func:`readers`, put
synthetic fixtures beside its test. Nothing else needs to know. :mod:`storage.readers.lenient` helps with values whose
shape nobody vouches for.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any, Protocol, runtime_checkable

from affidavit.session.event import Reading


class Reader(Protocol):
    """Reads one foreign format.

    ``name`` is the format id (``claude-code``), also shown as ``agent``; ``title`` what people call it.
    A reader is stateless between records: everything that depends on neighbours is derived later.
    """

    name: str
    title: str

    def claims(self, path: str, samples: Sequence[Any]) -> float:
        """How surely (0 to 1) a file is of this format, from its first parsed records; ``path`` may only break ties.

        ``samples`` are the JSON values of the first 200 non-blank lines that parsed, at least one.
        """
        ...

    def scope(self, path: str) -> tuple[str | None, str]:
        """(native session id or ``None``, lane) that a file's place among its neighbours implies."""
        ...

    def read(self, value: Any, scope: tuple[str | None, str]) -> Reading:
        """What one record says. ``value`` is its parsed JSON; ``scope`` what :meth:`scope` gave for its file.

        Where that gave no session, ``scope`` names the one the file's first records do: a record that names another
        belongs to that one.

        Must never raise on any JSON value: what it does not know is ``Reading("unknown", …)`` with one
        ``unknown`` draft, what has another shape than expected is read as far as it goes and flagged ``shape``.
        """
        ...


@runtime_checkable
class Documents(Protocol):
    """A reader of files that are one document each, whatever stands in them, besides logs.

    Such a file is one record. Its format is the reader's name, ``+`` and the document's name.
    """

    def document(self, path: str, head: bytes) -> str | None:
        """The name of the document a file is by its place; ``head`` is how it begins. ``None``: it is no document."""
        ...

    def read_document(self, name: str, value: bytes, whole: bytes, scope: tuple[str | None, str]) -> Reading:
        """What a document says. ``value`` is its content, ``whole`` that with the white space around it."""
        ...


def base_of(format: str) -> str:
    """The format whose sessions a source speaks of: of a document the reader's name."""
    return format.partition("+")[0]


def is_document(format: str) -> bool:
    """Whether a source is one document."""
    return "+" in format


@cache
def readers() -> dict[str, Reader]:
    """Every reader by its name."""
    from storage.readers.claude_code import ClaudeCode
    from storage.readers.codex import Codex
    from storage.readers.own import Own
    from storage.readers.rules import Rules

    return {reader.name: reader for reader in (ClaudeCode(), Codex(), Own(), Rules())}
