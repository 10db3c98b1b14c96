"""What deciding gives: entries to be appended, before they have salts and numbers."""

from __future__ import annotations

from typing import Any, Literal, NamedTuple


class Content(NamedTuple):
    """What an entry commits to and a later redaction may erase."""

    role: str
    media: str
    data: bytes


class Head(NamedTuple):
    """The newest entry of an object's stream: the stream, its place in it (from 0) and its ledger index."""

    stream: str
    sseq: int
    entry: int


class Proposed(NamedTuple):
    """An entry a decision wants to have appended, behind ``after`` (``None``: the first about its object).

    ``id`` comes with the command, so that appending twice is appending once. ``body`` holds no text from outside.
    ``actor``: what kind of actor gave the command.
    """

    id: str
    type: str
    after: Head | None
    body: dict[str, Any]
    contents: tuple[Content, ...]
    actor: Literal["person", "agent"] = "person"
