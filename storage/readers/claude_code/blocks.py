"""Content blocks as words: what a person reads where the model was given text, pictures and documents."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from storage.readers.lenient import compact, lines_of, obj, size, text


def _medium(name: str, block: dict[str, Any]) -> str:
    """A picture or document: named by kind, medium and size; its bytes are never text."""
    source = obj(block.get("source"))
    if type(source.get("data")) is str:
        if source.get("type") == "text":
            return lines_of(source["data"])
        held = f"{lines_of(source.get('media_type')) or 'unknown medium'}, {size(len(source['data']))}"
    else:
        held = lines_of(source.get("url") or source.get("file_id") or source.get("content"))
    title = text(block.get("title"))
    return f"[{name} {held}]" + (f" {title}" if title else "")


def _found(block: dict[str, Any]) -> str:
    where = " ".join(filter(None, (text(block.get("title")), text(block.get("url")) or text(block.get("source")))))
    said = words(block.get("content"))[0]
    return "\n".join(filter(None, (where, said)))


SPOKEN: dict[str, Callable[[dict[str, Any]], str]] = {
    "text": lambda block: lines_of(block.get("text")),
    "image": lambda block: _medium("image", block),
    "document": lambda block: _medium("document", block),
    "tool_reference": lambda block: f"[tool {lines_of(block.get('tool_name'))}]",
    "search_result": _found,
    "web_search_result": _found,
    "container_upload": lambda block: f"[file {lines_of(block.get('file_id'))}]",
}
"""Blocks that are content, and how each is put in words."""


def words(content: Any) -> tuple[str, bool]:
    """(readable text of a message's or a result's content, whether it had the shape it should have).

    Text stands whole; blocks of no known type stand as JSON, so that nothing is hidden.
    """
    if type(content) is str:
        return content, True
    if type(content) is list:
        parts = []
        good = True
        for block in content:
            kind = block.get("type") if type(block) is dict else None
            speak = SPOKEN.get(kind) if type(kind) is str else None
            if speak is None:
                good = good and type(kind) is str
                parts.append(block if type(block) is str else compact(block))
            else:
                parts.append(speak(block))
        return "\n".join(parts), good
    if type(content) is dict and type(content.get("type")) is str:
        return words([content])
    return ("", True) if content is None else (compact(content), False)
