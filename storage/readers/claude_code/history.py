"""``history.jsonl``: every prompt typed in any project, kept for as long as a person likes; the logs are not.

Prompts of one project are one session of their own, told apart from the sessions they were typed in: most of those say
the same again, and of those that were cleaned up this is all there is.
"""

from __future__ import annotations

from typing import Any

from affidavit.session.event import Draft, Reading, session_uid
from affidavit.session.times import iso
from storage.readers.claude_code.user import begin_turn
from storage.readers.lenient import count, lines_of, obj, one_line, text

Record = dict[str, Any]

HISTORY = "history:"
"""The id of a history's session begins with this; the project's folder follows."""


def is_history(record: Record) -> bool:
    """Whether a record without a type is a line of the history."""
    return type(record.get("display")) is str and "project" in record and "timestamp" in record


def read_history(record: Record, reading: Reading) -> None:
    """A prompt, and what was pasted into it."""
    project = text(record.get("project"))
    name = project.replace("\\", "/").rstrip("/").rpartition("/")[2] or "an unnamed folder"
    reading.session = HISTORY + project
    reading.lane = ""
    reading.facts = {"title.ai": f"Prompts typed in {one_line(name, 100)}"}
    if project:
        reading.facts["cwd"] = project
    at = count(record["timestamp"])
    reading.at = iso(at * 1000) if at is not None else lines_of(record["timestamp"])
    said = record["display"]
    whole = "\n\n".join((said, *_pasted(record.get("pastedContents"))))
    typed_in = text(record.get("sessionId"))
    refs = ("session/" + session_uid("claude-code", typed_in),) if typed_in else ()
    reading.drafts.append(Draft("user.message", "user", whole, refs=refs, flags=() if said else ("withheld_or_empty",)))
    begin_turn(None, whole, reading)
    reading.queue = None


def _pasted(contents: Any) -> list[str]:
    """What was pasted, under the number the prompt names it by; of a large one the log holds only a digest."""
    shown = []
    for number, part in obj(contents).items():
        about = obj(part)
        held = lines_of(about.get("content")) if "content" in about else ""
        if not held:
            kept = text(about.get("contentHash"))
            held = f"[kept apart as {kept}]" if kept else lines_of(part)
        shown.append(f"[{one_line(str(number), 20)}]\n{held}")
    return shown
