"""Files Claude Code keeps beside its logs that are one document each, told by their place.

======================================================  ====================================================
``…/SESSION/tool-results/NAME``                         an output too long for the log, which names this file
``…/file-history/SESSION/HASH@vN``                      a version of a file, as a snapshot in the log names it
``…/todos/SESSION-agent-AGENT.json``                    what an agent had to do, as it stood at the end
``…/tasks/SESSION/N.json``                              a thing to do that several agents share
======================================================  ====================================================

Each is an artifact of its session, in a lane of such files: no record says when it was written.
"""

from __future__ import annotations

import re
from hashlib import sha256
from typing import Any, NamedTuple

import orjson

from affidavit.session.event import Draft, Reading
from storage.readers.claude_code.calls import summed_up
from storage.readers.lenient import size_of, text

LANE = "files"
TITLE = "files kept beside the log"

ID = r"[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}"
"""How sessions are named; files of other programs may lie in folders of the same names."""

PLACES = (
    ("tool-results", re.compile(rf"(?:^|/)(?P<session>{ID})/tool-results/(?P<name>[^/]+)$")),
    ("file-history", re.compile(rf"(?:^|/)file-history/(?P<session>{ID})/(?P<name>[^/]+@v\d+)$")),
    ("todos", re.compile(rf"(?:^|/)todos/(?P<name>(?P<session>{ID})-agent-[^/]+\.json)$")),
    ("tasks", re.compile(rf"(?:^|/)tasks/(?P<session>{ID})/(?P<name>\d+\.json)$")),
)

BINARY = 8192
"""A NUL this near to the beginning says that the bytes are no text."""


class Document(NamedTuple):
    """A file that is one document: ``name`` tells it apart among those of its session."""

    session: str
    name: str


def document_at(path: str) -> Document | None:
    """The document a path names by its place, if it does."""
    path = path.replace("\\", "/")
    for kind, place in PLACES:
        if kind in path and (found := place.search(path)):
            return Document(found["session"], f"{kind}/{found['name']}")
    return None


def read_document(name: str, value: bytes, whole: bytes) -> Reading:
    """A document as the artifact ``whole``, and one event with its text. Never raises.

    ``value`` is ``whole`` without the white space around it. What has the same name and other content is another
    version.
    """
    kind = name.partition("/")[0]
    said, media = _text(value, name)
    reading = Reading(native=f"{name}={sha256(value).hexdigest()[:16]}", lane=LANE, lane_facts={"title": TITLE})
    reading.kept = "artifact", (sha256(whole).digest(), media, name, len(whole))
    about = _stands(kind, value) or f"{name.partition('/')[2]} ({size_of(len(whole))})"
    draft = Draft("note", "runtime", said, summary=f"{CALLED.get(kind, 'file')}: {about}")
    draft.refs = ("sha256:" + sha256(whole).hexdigest(),)
    reading.drafts.append(draft)
    return reading


CALLED = {
    "tool-results": "output kept in a file",
    "file-history": "version of a file",
    "todos": "to do",
    "tasks": "to do",
}


def _text(value: bytes, name: str) -> tuple[str, str]:
    """(text, media type) of a document's bytes."""
    if b"\0" not in value[:BINARY]:
        try:
            return value.decode(), "application/json" if name.endswith(".json") else "text/plain"
        except UnicodeDecodeError:
            pass  # said below, as for bytes with a NUL among them
    return f"[{size_of(len(value))} that are no text]", "application/octet-stream"


def _stands(kind: str, value: bytes) -> str:
    """What is to be done and how far it is, of a list or a single thing."""
    if kind not in ("todos", "tasks"):
        return ""
    try:
        held: Any = orjson.loads(value)
    except ValueError:
        return ""
    if type(held) is list:
        return summed_up("TodoWrite", {"todos": held})
    if type(held) is dict:
        told = {"taskId": held.get("id"), "status": held.get("status")}
        return f"{summed_up('TaskUpdate', told)} {text(held.get('subject'))}".strip()
    return ""
